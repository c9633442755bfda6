"""`annotation round`: from the options to rounds with items, raters and orders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.planning.assigning import assigned, parts_of
from faultatlas.annotation.planning.gates import Hold, go_on, hold_on
from faultatlas.annotation.planning.next_items import NextItems, next_items
from faultatlas.annotation.planning.options import DEFAULT_SEED, Options
from faultatlas.annotation.planning.rules import fixed_gate, gate_remarks, round_before
from faultatlas.annotation.rounds import (
    Assignment,
    Round,
    find_round,
    put_assignments,
    put_items,
    put_round,
    refuse_alike,
    round_names,
)
from faultatlas.annotation.samples.storage import find_sample
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.data.taxonomy import Taxonomy

_DEFAULTS = {"seed": DEFAULT_SEED}  # giving them says nothing


@dataclass(frozen=True)
class Planned:
    """A round as it was planned."""

    round: Round
    items: int
    shared: int  # by all raters
    of_raters: dict[str, int]
    hold: Hold


@dataclass(frozen=True)
class Outcome:
    """What the command did."""

    rounds: tuple[Planned, ...]
    is_new: bool
    missing: tuple[str, ...] = ()  # of the sample, and no longer in the study
    left: int = 0  # in the sample afterwards
    remarks: tuple[str, ...] = field(default=())

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rounds": [
                {
                    "round": each.round.name,
                    "sample": each.round.sample,
                    "taxonomy": each.round.taxonomy,
                    "taxonomy_version": each.round.taxonomy_version,
                    "items": each.items,
                    "labelled_by_all": each.shared,
                    "raters": each.of_raters,
                    "after": each.round.after,
                    "statistic": each.round.statistic,
                    "threshold": each.round.threshold,
                    "seed": each.round.seed,
                    "suggestions": each.round.suggestions,
                    "gate": each.hold.state,
                    "gate_words": each.hold.words,
                }
                for each in self.rounds
            ],
            "is_new": self.is_new,
            "missing": list(self.missing),
            "left": self.left,
            "remarks": list(self.remarks),
        }


def run_round(study: Study, options: Options, despite: str | None) -> Outcome:
    """Plan rounds, say why one goes on in spite of a gate, or both."""
    with study.reading():  # nothing is made for a study that is not there
        pass
    options = options.checked()
    if not options.plans and despite is None:
        with study.reading() as reader:
            return Outcome((_planned(reader, options.name),), is_new=False)
    run = provenance.begin("annotation round", options.arguments())
    with study.writing() as writer:
        if options.plans:
            outcome = plan_rounds(writer, study, options, run)
        else:
            outcome = Outcome((_planned(writer, options.name),), is_new=False)
        if despite is not None:
            if not outcome.is_new:
                run = provenance.begin("annotation round", {"name": options.name,
                                                            "despite_gate": despite})  # fmt: skip
            if go_on(writer, outcome.rounds[0].round, despite, run):
                provenance.record(writer, run, "ok")
        names = [each.round.name for each in outcome.rounds]
        return Outcome(
            tuple(_planned(writer, name) for name in names),
            outcome.is_new, outcome.missing, outcome.left, outcome.remarks,
        )  # fmt: skip


def plan_rounds(
    writer: Writer,
    study: Study,
    options: Options,
    run: Run,
    *,
    items: NextItems | None = None,
    choice: str = "",
) -> Outcome:
    """Plan rounds in a transaction: of the next items of the sample unless others are given.

    `choice` says how many codes an item may have, where the taxonomy says otherwise.
    """
    names = _names(options)
    if there := sorted({*names, options.name} & {*round_names(writer)}):
        _refuse_other(writer, there[0], options, run)
        return Outcome(tuple(_planned(writer, name) for name in names), is_new=False)
    taxonomy = _taxonomy(study, options)
    if not options.sample:
        raise StudyError(
            f"it is not said what round {options.name!r} labels",
            "Name a sample: --sample S. See them: annotation sample",
        )
    find_sample(writer, options.sample)
    _refuse_alike(writer, options.raters)
    after = round_before(writer, options, taxonomy.name)
    found = items or next_items(writer, options.sample, taxonomy.name)
    wanted = list(found.items[: options.size])
    remarks = found.remarks(wanted)
    if options.size is not None and options.size > len(found.items):
        remarks.append(f"the sample has only {len(found.items):,} more, not {options.size:,}")
    settings = read_settings(study.directory)
    overlap, each = _overlap(options)
    provenance.record(writer, run, "ok")
    parts = parts_of([item.artifact_id for item in wanted], len(names))
    known = {item.item_id: item for item in wanted}
    for name, part in zip(names, parts, strict=True):
        seed = DEFAULT_SEED if options.seed is None else options.seed
        who = assigned(part, options.raters, overlap=overlap, each=each, seed=seed)
        statistic, threshold = fixed_gate(options, settings, who)
        new = Round(
            name, "designed", taxonomy.name, taxonomy.version, choice or taxonomy.choice,
            options.raters, sample=options.sample, after=after,
            overlap=_share_of_all(who, options, len(part)), seed=seed, statistic=statistic,
            threshold=threshold, suggestions=options.suggestions,
        )  # fmt: skip
        put_round(writer, new, taxonomy, run)
        put_items(writer, name, [known[item] for item in part], run)
        put_assignments(writer, name, who, run)
        after = name
    rounds = tuple(_planned(writer, name) for name in names)
    remarks += gate_remarks(writer, options, settings, [each.round for each in rounds])
    left = len(found.items) - len(wanted)
    return Outcome(
        rounds, True, found.missing, left, tuple(remarks)
    )  # fmt: skip


def _names(options: Options) -> list[str]:
    if options.parts is None:
        return [options.name]
    return [f"{options.name}-{number}" for number in range(1, options.parts + 1)]


def _refuse_alike(reader: Reader, raters: Sequence[str]) -> None:
    """Raters whose names differ by case only are taken for one who was misspelt."""
    seen: dict[str, str] = {}
    for rater in raters:
        refuse_alike(reader, rater)
        if seen.setdefault(rater.casefold(), rater) != rater:
            raise StudyError(
                f"raters {seen[rater.casefold()]!r} and {rater!r} differ by case only",
                "Name each rater once; two people need names that are easier to tell apart.",
            )


def _taxonomy(study: Study, options: Options) -> Taxonomy:
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    if not options.taxonomy:
        raise StudyError(
            f"it is not said with which taxonomy round {options.name!r} labels",
            "Name one: --taxonomy T. See them: annotation taxonomy list",
        )
    if not options.raters:
        raise StudyError("a round has no raters", "Name them: --rater ann --rater ben.")
    return TaxonomyLibrary(study.directory).taxonomy(options.taxonomy)


def _overlap(options: Options) -> tuple[float, int]:
    """Percent that all raters label, and how many raters every other item has."""
    if options.overlap is None:
        return (100.0, 1) if options.raters_per_item is None else (0.0, options.raters_per_item)
    return options.overlap, options.raters_per_item or 1


def _share_of_all(who: Sequence[Assignment], options: Options, items: int) -> float:
    """The overlap as it was asked for; without one, what it comes to."""
    if options.overlap is not None:
        return options.overlap
    return 100.0 * _shared(Counter(each.item_id for each in who), len(options.raters)) / items


def _shared(times: Counter[str], raters: int) -> int:
    return sum(count == raters for count in times.values())


def _refuse_other(reader: Reader, name: str, options: Options, run: Run) -> None:
    """A round that is there is not planned otherwise."""
    rows = reader.rows(
        "SELECT arguments FROM store.round JOIN store.run USING (run_id) WHERE round = ? "
        "AND command = 'annotation round'",
        [name],
    )
    was = _DEFAULTS | json.loads(rows[0]["arguments"]) if rows else None
    asked = _DEFAULTS | json.loads(json.dumps(run.arguments))
    if was == asked:
        return
    differing = sorted(
        key for key in {*(was or {}), *asked} if (was or {}).get(key) != asked.get(key)
    )
    raise StudyError(
        f"round {name!r} is there already, and was planned otherwise"
        + (f" ({', '.join(differing)})" if was else ""),
        f"Take another name than {options.name!r}. See it: annotation status {typed(name)}",
    )


def _planned(reader: Reader, name: str) -> Planned:
    found = find_round(reader, name)
    rows = reader.rows("SELECT item_id, rater FROM store.assignment WHERE round = ?", [name])
    of_raters = Counter(row["rater"] for row in rows)
    times = Counter(row["item_id"] for row in rows)
    items = reader.value("SELECT count(*) FROM store.item WHERE round = ?", [name])
    return Planned(
        found,
        items,
        _shared(times, len(found.raters)),
        {rater: of_raters[rater] for rater in found.raters},
        hold_on(reader, found),
    )
