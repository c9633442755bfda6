"""`annotation agreement`: measure how far raters agree, and decide on the gate of a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from faultatlas.annotation.agreement.cautions import changed_words
from faultatlas.annotation.agreement.choices import KEYS, By, Choice, Special, variant
from faultatlas.annotation.agreement.gate import NEAR, Gate, decide, put_gate, what_next
from faultatlas.annotation.agreement.overview import survey
from faultatlas.annotation.agreement.printed import read_printed
from faultatlas.annotation.agreement.result import result_of
from faultatlas.annotation.rounds import find_round
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import Run
from faultatlas.data.results import Result
from faultatlas.data.settings import SCALES, read_settings
from faultatlas.data.study import Study
from faultatlas.report.command import Requires, Resolved, command
from faultatlas.report.console import Console

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.agreement.overview import Entry, Overview
    from faultatlas.data.study import Reader


def _scale(study: Study, arguments: Mapping[str, Any]) -> str:
    """The scale that was asked for, or that of study.toml."""
    return arguments["scale"] or read_settings(study.directory).scale


@command("agreement", stores=True)
def agreement(
    study: Study,
    console: Console,
    run: Run,
    rounds: Annotated[
        tuple[str, ...], Argument(metavar="ROUND", help="Rounds; all of them if none is named.")
    ] = (),
    *,
    by: Annotated[
        tuple[Literal["round", "pair", "category", "stratum", "level"], ...],
        Option(help="Also show agreement for each of these. Repeatable."),
    ] = (),
    gate: Annotated[
        bool,
        Option(
            "--gate",
            help="Decide on the gate of each round: exit with 0 if agreement reaches the threshold "
            "that was fixed beforehand, with 1 if it does not or cannot be measured.",
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        Option(
            metavar="X",
            help="Threshold of the gate, instead of the one that was fixed beforehand.",
        ),
        Requires("gate"),
    ] = None,
    stage: Annotated[
        Literal["independent", "negotiated"], Option(help="Labels before or after discussion.")
    ] = "independent",
    version: Annotated[
        str | None, Option(metavar="V", help="Carry the labels to this version of the taxonomy.")
    ] = None,
    statistic: Annotated[
        str | None,
        Option(help=f"Lead with this statistic instead of the fixed one: {', '.join(KEYS)}."),
    ] = None,
    rater: Annotated[
        tuple[str, ...], Option(help="Only this rater, and others named so. Repeatable.")
    ] = (),
    first: Annotated[
        int | None, Option(min=2, metavar="N", help="Only the first N raters of each item.")
    ] = None,
    special: Annotated[
        Literal["as-code", "missing"], Option(help="What answers such as unclear count as.")
    ] = "as-code",
    scale: Annotated[
        str,
        Option(
            help=f"Words for values: {', '.join(SCALES)}.", show_default="the scale of study.toml"
        ),
        Resolved(_scale),
    ] = "",
    printed: Annotated[
        tuple[str, ...],
        Option(
            metavar="VALUE",
            help="A value that a paper printed, to compare with ours: 0.80, cohen=0.80 or "
            "ROUND:cohen=0.80. Repeatable.",
        ),
    ] = (),
    resamples: Annotated[
        int, Option(min=0, max=1_000_000, help="Resamples of the bootstrap; 0: no bootstrap.")
    ] = 2000,
    seed: Annotated[int, Option(min=0, help="Seed of the bootstrap.")] = 0,
) -> Result:
    """Measure how far raters agree, for each round and over all of them.

    The statistic that was fixed when the round was made comes first, then all others, each with its
    intervals and the word of a named scale. Writes a report to `out/`: tables, the codes that
    raters confuse, and the trend over rounds.

    Examples:

        annotation agreement pilot

        annotation agreement pilot --by category --by pair

        annotation agreement pilot --gate

        annotation agreement --json

        annotation agreement types --statistic cohen --printed 0.80
    """
    if threshold is not None and not -1 <= threshold <= 1:
        raise StudyError(f"--threshold {threshold:g} is not between -1 and 1", "See --help.")
    choice = Choice(
        rounds=tuple(dict.fromkeys(rounds)),
        stage=stage,
        version=version,
        statistic=statistic,
        raters=tuple(dict.fromkeys(rater)),
        first=first,
        special=Special(special),
        scale=scale,
        resamples=resamples,
        seed=seed,
    )
    with study.reading() as reader:
        overview = survey(reader, study.directory, choice, tuple(map(read_printed, printed)))
        unmeasured = _unmeasured(reader, study.directory, overview, threshold) if gate else ()
    gates = tuple(_decided(entry, threshold, choice) for entry in overview.entries) if gate else ()
    if gates and not study.dry_run:
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
            for decision in gates:
                put_gate(writer, decision, run)
    for decision in gates:
        if decision.is_passed:
            console.tell(f"gate passed: {decision.round}: {decision.reason}. {what_next(decision)}")
    if overview.left_out:
        console.tell(
            "omitted, because no item has labels of two raters: " + ", ".join(overview.left_out)
        )
    result = result_of(overview, gates, tuple(map(By, by)))
    return replace(result, missing=tuple(_not_passed(gates, unmeasured)))


def _not_passed(gates: Sequence[Gate], unmeasured: Sequence[str]) -> list[str]:
    reasons = [
        f"gate not passed: {decision.round}: {decision.reason}. {what_next(decision)}"
        for decision in gates
        if not decision.is_passed
    ]
    reasons += [
        f"gate not passed: {name}: no item has labels of two raters, so agreement cannot be "
        "measured. To decide on some rounds only, name them: annotation agreement ROUND --gate"
        for name in unmeasured
    ]
    return reasons


def _unmeasured(
    reader: Reader, directory: Path, overview: Overview, threshold: float | None
) -> tuple[str, ...]:
    """The rounds that have a threshold to reach and no item that two raters labelled."""
    everywhere = threshold is not None or read_settings(directory).threshold is not None
    return tuple(
        name
        for name in overview.left_out
        if everywhere or find_round(reader, name).threshold is not None
    )


def _decided(entry: Entry, given: float | None, choice: Choice) -> Gate:
    """The decision on a round, and what was not as it was fixed."""
    threshold = entry.fixed.threshold if given is None else given
    if threshold is None:
        raise StudyError(
            f"round {entry.name!r} has no threshold to reach",
            "Fix a statistic and a threshold in study.toml before rounds are made ([agreement] "
            'statistic = "krippendorff", threshold = 0.7), or give one now: --gate --threshold 0.7',
        )
    remarks = [] if entry.fixed.beforehand else [entry.fixed.said]
    [of] = entry.found.rated.rounds
    own = of.threshold
    if of.origin == "imported":
        remarks.append("this gate was not fixed before the labels: the round was imported")
    changed = entry.found.rated.changed
    if changed:
        remarks.append(changed_words(changed))
    undiscussed = bool(changed) and entry.found.rated.stage == "independent"
    if given is not None and given != own:
        fixed = "none was fixed" if own is None else f"{own:g} was fixed beforehand"
        remarks.append(f"the threshold {given:g} was given now ({fixed})")
    elif own is None:
        remarks.append(f"the threshold {threshold:g} is that of study.toml, not of the round")
    if entry.found.rated.unfinished:
        remarks.append(f"{entry.found.rated.unfinished:,} labels are still to come")
    lowered = own is not None and threshold < own - NEAR
    planned = variant(of.statistic or "", is_multiple=entry.found.rated.is_multiple)
    other = of.statistic is not None and entry.found.main.key != planned
    return decide(
        entry.name,
        entry.found.main,
        entry.found.rated.stage,
        threshold,
        remarks,
        off_plan=lowered or other or undiscussed or bool(choice.chosen_of(of.taxonomy_version)),
    )
