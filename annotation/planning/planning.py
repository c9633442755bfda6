"""`annotation round`: from the options to rounds with items, raters and orders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annotation.planning.assigning import assigned, parts_of
from annotation.planning.gates import Hold, go_on, hold_on
from annotation.rounds import (
    Assignment,
    Item,
    Round,
    checked_name,
    find_round,
    put_assignments,
    put_items,
    put_round,
    round_names,
)
from annotation.samples.storage import find_sample
from data import provenance
from data.errors import StudyError
from data.settings import STATISTICS, Settings, read_settings

if TYPE_CHECKING:
    from data.provenance import Run
    from data.store import Reader, Study, Writer
    from data.taxonomy import Taxonomy

DEFAULT_SEED = 1
_NEXT = """
SELECT s.artifact_id, s.stratum, a.kind IS NOT NULL AS is_there
FROM store.sampled s LEFT JOIN artifacts a USING (artifact_id)
WHERE s.sample = $1 AND s.artifact_id NOT IN (
    SELECT i.artifact_id FROM store.item i JOIN store.round r USING (round)
    WHERE r.sample = $1 AND r.taxonomy = $2
)
ORDER BY s.position
"""


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    name: str
    sample: str | None = None
    taxonomy: str | None = None
    raters: tuple[str, ...] = ()
    size: int | None = None
    parts: int | None = None
    overlap: float | None = None
    raters_per_item: int | None = None
    gate: float | None = None
    statistic: str | None = None
    after: str | None = None
    seed: int | None = None
    suggestions: bool = False

    def arguments(self) -> dict[str, Any]:
        """What was given: the same arguments are the same rounds."""
        given = {key: value for key, value in vars(self).items() if value not in (None, (), False)}
        return {**given, "raters": list(self.raters)}

    @property
    def plans(self) -> bool:
        """Whether they say more than a name."""
        return self != Options(self.name)


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
    if not options.plans and despite is None:
        with study.reading() as reader:
            return Outcome((_planned(reader, options.name),), is_new=False)
    run = provenance.begin("annotation round", options.arguments())
    with study.writing() as writer:
        if options.plans:
            outcome = _plan(writer, study, options, run)
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


def _plan(writer: Writer, study: Study, options: Options, run: Run) -> Outcome:
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
    if options.after is not None:
        find_round(writer, options.after)
    items, missing = _next_items(writer, options, taxonomy)
    wanted = items if options.size is None else items[: options.size]
    remarks = []
    if options.size is not None and options.size > len(items):
        remarks.append(f"the sample has only {len(items):,} more, not {options.size:,}")
    settings = read_settings(study.directory)
    overlap, each = _overlap(options)
    provenance.record(writer, run, "ok")
    after = options.after
    parts = parts_of([item.artifact_id for item in wanted], len(names))
    known = {item.item_id: item for item in wanted}
    for name, part in zip(names, parts, strict=True):
        seed = DEFAULT_SEED if options.seed is None else options.seed
        who = assigned(part, options.raters, overlap=overlap, each=each, seed=seed)
        statistic, threshold = _gate(options, settings, who)
        new = Round(
            name, "designed", taxonomy.name, taxonomy.version, taxonomy.choice, options.raters,
            sample=options.sample, after=after, overlap=_share_of_all(who, options, len(part)),
            seed=seed, statistic=statistic, threshold=threshold, suggestions=options.suggestions,
        )  # fmt: skip
        put_round(writer, new, taxonomy, run)
        put_items(writer, name, [known[item] for item in part], run)
        put_assignments(writer, name, who, run)
        after = name
    remarks += _remarks(writer, options, settings, names[0])
    return Outcome(
        tuple(_planned(writer, name) for name in names),
        True, tuple(missing), len(items) - len(wanted), tuple(remarks),
    )  # fmt: skip


def _names(options: Options) -> list[str]:
    checked_name(options.name)
    if options.parts is None:
        return [options.name]
    return [f"{options.name}-{number}" for number in range(1, options.parts + 1)]


def _taxonomy(study: Study, options: Options) -> Taxonomy:
    from data.taxonomy_library import TaxonomyLibrary

    if not options.taxonomy:
        raise StudyError(
            f"it is not said with which taxonomy round {options.name!r} labels",
            "Name one: --taxonomy T. See them: annotation taxonomy list",
        )
    if not options.raters:
        raise StudyError("a round has no raters", "Name them: --rater ann --rater ben.")
    return TaxonomyLibrary(study.directory).taxonomy(options.taxonomy)


def _next_items(
    reader: Reader, options: Options, taxonomy: Taxonomy
) -> tuple[list[Item], list[str]]:
    """What no round of this sample and taxonomy has yet, in the order of the sample."""
    rows = reader.rows(_NEXT, [options.sample, taxonomy.name])
    missing = [row["artifact_id"] for row in rows if not row["is_there"]]
    items = [
        Item(row["artifact_id"], row["artifact_id"], row["stratum"])
        for row in rows
        if row["is_there"]
    ]
    if not items:
        raise StudyError(
            f"sample {options.sample!r} has nothing left that rounds with {taxonomy.name} do not "
            "have",
            f"Draw more: annotation sample {options.sample} --extend --size N",
        )
    return items, missing


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


def _gate(
    options: Options, settings: Settings, who: Sequence[Assignment]
) -> tuple[str | None, float | None]:
    """The statistic and what it must reach: fixed now, before there are labels."""
    statistic = options.statistic or settings.statistic
    threshold = settings.threshold if options.gate is None else options.gate
    if statistic is not None and statistic not in STATISTICS:
        raise StudyError(
            f"there is no statistic {statistic!r}", f"Take one of {', '.join(STATISTICS)}."
        )
    if threshold is not None and not -1 <= threshold <= 1:
        raise StudyError(f"a gate of {threshold:g}", "It lies between -1 and 1: --gate 0.7.")
    if options.gate is not None and statistic is None:
        raise StudyError(
            "a gate needs a statistic that is fixed before the first label",
            'Write it into study.toml ([agreement] statistic = "krippendorff"), or give '
            "--statistic.",
        )
    if statistic == "cohen" and len(options.raters) > 2:
        raise StudyError(
            f"Cohen's kappa is for two raters, and {len(options.raters)} are named",
            "Take pairwise, fleiss or krippendorff, in study.toml or with --statistic.",
        )
    if max(Counter(each.item_id for each in who).values()) < 2:
        if options.gate is not None:
            raise StudyError(
                "no item has two raters, so that agreement cannot be measured",
                "Leave --gate out, or give an --overlap or --raters-per-item 2.",
            )
        threshold = None
    return statistic, threshold if statistic else None


def _remarks(reader: Reader, options: Options, settings: Settings, first: str) -> list[str]:
    made = find_round(reader, first)
    found = []
    if made.statistic is None:
        found.append(
            "no statistic of agreement was fixed beforehand: study.toml or --statistic does that"
        )
    elif settings.statistic is not None and options.statistic not in (None, settings.statistic):
        found.append(f"study.toml says {settings.statistic}, this round holds to {made.statistic}")
    if made.after is None:
        earlier = reader.rows(
            "SELECT round FROM store.round WHERE sample = ? AND taxonomy = ? AND threshold IS NOT "
            "NULL AND run_id <> (SELECT run_id FROM store.round WHERE round = ?) "
            "ORDER BY created_at DESC, round DESC LIMIT 1",
            [made.sample, made.taxonomy, first],
        )
        found += [
            f"round {row['round']} of this sample has a gate that does not hold this round up: "
            f"--after {row['round']} would"
            for row in earlier
        ]
    return found


def _refuse_other(reader: Reader, name: str, options: Options, run: Run) -> None:
    """A round that is there is not planned otherwise."""
    rows = reader.rows(
        "SELECT arguments FROM store.round JOIN store.run USING (run_id) WHERE round = ? "
        "AND command = 'annotation round'",
        [name],
    )
    was = json.loads(rows[0]["arguments"]) if rows else None
    if was == json.loads(json.dumps(run.arguments)):
        return
    differing = sorted(
        key for key in {*(was or {}), *run.arguments}
        if (was or {}).get(key) != run.arguments.get(key)
    )  # fmt: skip
    raise StudyError(
        f"round {name!r} is there already, and was planned otherwise"
        + (f" ({', '.join(differing)})" if was else ""),
        f"Take another name than {options.name!r}. See it: annotation status {name}",
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
