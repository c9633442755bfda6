"""What `annotation agreement` does: measure, decide, store, show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.agreement.cautions import changed_words
from faultatlas.annotation.agreement.choices import By, Choice, Special, variant
from faultatlas.annotation.agreement.gate import NEAR, Gate, decide, put_gate, what_next
from faultatlas.annotation.agreement.overview import Overview, survey
from faultatlas.annotation.agreement.printed import Printed, read_printed
from faultatlas.annotation.agreement.result import result_of
from faultatlas.annotation.rounds import find_round
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.agreement.overview import Entry
    from faultatlas.data.old.results import Result
    from faultatlas.data.store import Reader, Study
    from faultatlas.report.old.console import Output


_FIXED = "fixed"


@dataclass(frozen=True)
class GateOption:
    """`--gate`: by the fixed threshold, or by one that is given now."""

    threshold: float | None = None

    @property
    def given(self) -> str:
        """As `read_gate` reads it."""
        return _FIXED if self.threshold is None else repr(self.threshold)


def read_gate(text: str | None) -> GateOption | None:
    """What stands behind `--gate`: a threshold, or `fixed`."""
    if text is None or text == _FIXED:
        return None if text is None else GateOption()
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not -1 <= threshold <= 1:
        raise StudyError(
            f"--gate {text}: a threshold lies between -1 and 1",
            "Write --gate alone for the one that was fixed beforehand, or a number with a point: "
            "--gate=0.7. A round is named before it: annotation agreement ROUND --gate",
        )
    return GateOption(threshold)


def measure_rounds(
    study: Study,
    output: Output,
    choice: Choice,
    *,
    by: Sequence[By] = (),
    printed: tuple[Printed, ...] = (),
    gate: GateOption | None = None,
) -> None:
    """Measure, store and show; a gate that was not passed is refused in the end."""
    from faultatlas.report.publish import publish, show

    beyond = _beyond(by, printed, gate)
    run = provenance.begin("annotation agreement", {**choice.parameters, **beyond})
    with study.reading() as reader:
        overview = survey(reader, study.directory, choice, printed)
        unmeasured = _unmeasured(reader, study.directory, overview, gate)
    gates = tuple(_decided(entry, gate, choice) for entry in overview.entries) if gate else ()
    if gates:
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
            for each in gates:
                put_gate(writer, each, run)
    result = result_of(overview, gates, by, beyond)
    show(output, result, publish(study, result, run))
    _tell(output, overview, gates, unmeasured)


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters; nothing is decided or stored."""
    choice = Choice(
        rounds=tuple(parameters.get("round", ())),
        stage=parameters.get("stage", "independent"),
        version=parameters.get("version"),
        statistic=parameters.get("statistic"),
        raters=tuple(parameters.get("rater", ())),
        first=parameters.get("first"),
        special=Special(parameters.get("special", Special.AS_CODE)),
        scale=parameters["scale"],
        resamples=parameters["resamples"],
        seed=parameters["seed"],
    )
    by = tuple(map(By, parameters.get("by", ())))
    printed = tuple(map(read_printed, parameters.get("printed", ())))
    gate = read_gate(parameters.get("gate"))
    with study.reading() as reader:
        overview = survey(reader, study.directory, choice, printed)
    gates = tuple(_decided(entry, gate, choice) for entry in overview.entries) if gate else ()
    return result_of(overview, gates, by, _beyond(by, printed, gate))


def _beyond(
    by: Sequence[By], printed: Sequence[Printed], gate: GateOption | None
) -> dict[str, Any]:
    """What else the result was called with."""
    options = {
        "by": [each.value for each in by],
        "printed": [each.given for each in printed],
        "gate": gate.given if gate else "",
    }
    return {name: value for name, value in options.items() if value}


def _unmeasured(
    reader: Reader, directory: Path, overview: Overview, option: GateOption | None
) -> tuple[str, ...]:
    """The rounds that have a threshold to reach and no item that two raters labelled."""
    if option is None:
        return ()
    everywhere = option.threshold is not None or read_settings(directory).threshold is not None
    return tuple(
        name
        for name in overview.left_out
        if everywhere or find_round(reader, name).threshold is not None
    )


def _decided(entry: Entry, option: GateOption, choice: Choice) -> Gate:
    """The decision on a round, and what was not as it was fixed."""
    threshold = entry.fixed.threshold if option.threshold is None else option.threshold
    if threshold is None:
        raise StudyError(
            f"round {entry.name!r} has no threshold to reach",
            "Fix a statistic and a threshold in study.toml before rounds are made ([agreement] "
            'statistic = "krippendorff", threshold = 0.7), or give one now: --gate=0.7',
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
    if option.threshold is not None and option.threshold != own:
        fixed = "none was fixed" if own is None else f"{own:g} was fixed beforehand"
        remarks.append(f"the threshold {option.threshold:g} was given now ({fixed})")
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


def _tell(
    output: Output, overview: Overview, gates: Sequence[Gate], unmeasured: Sequence[str]
) -> None:
    if overview.left_out:
        output.tell("left out, no item has two raters' labels: " + ", ".join(overview.left_out))
    failed = [each for each in gates if not each.is_passed]
    for each in gates:
        if each.is_passed:
            output.tell(f"gate passed: {each.round}: {each.reason}. {what_next(each)}")
    said = [f"gate not passed: {each.round}: {each.reason}" for each in failed]
    hints = [what_next(each) for each in failed]
    if unmeasured:
        nothing = "it could not be measured, no item has two raters' labels"
        said += [f"gate not passed: {name}: {nothing}" for name in unmeasured]
        hints.append("To decide on some rounds only, name them: annotation agreement ROUND --gate")
    if said:
        raise StudyError("; ".join(said), " ".join(dict.fromkeys(hints)))
