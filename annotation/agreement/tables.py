"""What was measured, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faultatlas.annotation.agreement.choices import By
from faultatlas.annotation.agreement.measuring import code_label
from faultatlas.annotation.agreement.printed import interval_of
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.gate import Gate
    from faultatlas.annotation.agreement.measuring import Measured, Part
    from faultatlas.annotation.agreement.overview import Entry, Overview
    from faultatlas.annotation.agreement.sources import Rated

MOST_CONFUSED = 10
FIXED = "fixed beforehand"

_ROUND = Column("round", "Round")
_WHERE = {
    By.CATEGORY: ("categories", "categories", "Code"),
    By.PAIR: ("pairs", "pairs of raters", "Raters"),
    By.STRATUM: ("strata", "strata", "Stratum"),
    By.LEVEL: ("levels", "levels of the taxonomy", "Level"),
}


def all_tables(
    overview: Overview, gates: Sequence[Gate], by: Iterable[By], scale: Scale
) -> tuple[Table, ...]:
    """Every table that has a row; what was asked for stands open, the rest is folded."""
    opened = set(by)
    entries = (*overview.entries, *overview.pools)
    several = len(entries) > 1
    tables = [
        _gates(gates),
        _rounds(entries, scale) if several else None,
        _statistics(entries, scale, folded=several and By.ROUND not in opened),
        _printed(entries),
        _cautions(entries),
        *(_parts(each, entries, scale, folded=each not in opened) for each in _WHERE),
        _confused(entries),
    ]
    return tuple(table for table in tables if table is not None and table.rows)


class Scale:
    """A named scale, and its words."""

    def __init__(self, name: str) -> None:
        from faultatlas.analysis.statistics.scales import SCALES

        self.name = name
        self.title = SCALES[name].title
        self.source = SCALES[name].source

    def word(self, measured: Measured) -> str:
        """What it calls a value. Percent agreement includes chance: no scale is made for it."""
        from faultatlas.analysis.statistics.scales import word

        return "" if measured.key == "percent" else word(self.name, measured.estimate.value)


def measure_columns(scale: Scale) -> tuple[Column, ...]:
    """The columns of a value with all that belongs to it."""
    return (
        Column("value", "Value", "number"),
        Column("interval", "95 % interval", "interval"),
        Column("analytic", "Analytic interval", "interval", aside=True),
        Column("word", scale.title),
        Column("items", "Items", "count"),
        Column("raters", "Raters", "count", aside=True),
        Column("ratings", "Ratings", "count", aside=True),
    )


def measure_cells(measured: Measured, scale: Scale) -> tuple[Cell, ...]:
    """The cells of those columns."""
    estimate = measured.estimate
    return (
        estimate.value,
        formatting.interval(*interval_of(measured)),
        formatting.interval(estimate.low, estimate.high),
        scale.word(measured),
        estimate.items,
        estimate.raters,
        estimate.ratings,
    )


def _gates(gates: Sequence[Gate]) -> Table:
    return Table(
        "gate",
        "Gate",
        (
            _ROUND,
            Column("stage", "Labels"),
            Column("value", "Value", "number"),
            Column("interval", "95 % interval", "interval"),
            Column("threshold", "Threshold", "number"),
            Column("passed", "Passed"),
            Column("reason", "Why", aside=True),
        ),
        tuple(
            (
                each.round,
                each.stage,
                each.value,
                formatting.interval(each.low, each.high),
                each.threshold,
                each.is_passed,
                each.reason,
            )
            for each in gates
        ),
    )


def _rounds(entries: Sequence[Entry], scale: Scale) -> Table:
    return Table(
        "rounds",
        "Agreement by round",
        (
            _ROUND,
            Column("statistic", "Statistic"),
            *measure_columns(scale),
            Column("fixed", "Fixed", aside=True),
        ),
        tuple(
            (
                entry.name,
                entry.found.main.title,
                *measure_cells(entry.found.main, scale),
                FIXED if entry.fixed.beforehand else "no",
            )
            for entry in entries
        ),
    )


def _statistics(entries: Sequence[Entry], scale: Scale, *, folded: bool) -> Table:
    several = len(entries) > 1
    rows = []
    for entry in entries:
        for at, measured in enumerate(entry.found.measures):
            leading = at == 0 and entry.fixed.beforehand
            note = FIXED if leading else measured.estimate.reason
            cells = (measured.title, note, *measure_cells(measured, scale))
            rows.append((entry.name, *cells) if several else cells)
    return Table(
        "statistics",
        "All statistics",
        (
            *([_ROUND] if several else []),
            Column("statistic", "Statistic"),
            Column("note", "Note"),
            *measure_columns(scale),
        ),
        tuple(rows),
        folded=folded,
    )


def _printed(entries: Sequence[Entry]) -> Table:
    return Table(
        "printed",
        "Printed and computed",
        (
            _ROUND,
            Column("statistic", "Statistic"),
            Column("printed", "Printed"),
            Column("computed", "Computed", "number"),
            Column("interval", "95 % interval", "interval"),
            Column("status", "Status", "status"),
            Column("reason", "Why", aside=True),
        ),
        tuple(
            (
                entry.name,
                measured.title,
                comparison.printed.text,
                measured.estimate.value,
                formatting.interval(*interval_of(measured)),
                comparison.status,
                comparison.reason,
            )
            for entry in entries
            for measured, comparison in entry.compared
        ),
    )


def _cautions(entries: Sequence[Entry]) -> Table:
    """What holds of several rounds in the same words stands there once."""
    of: dict[tuple[str, str, str], list[str]] = {}
    for entry in entries:
        for each in entry.cautions:
            of.setdefault((each.kind, each.message, each.source), []).append(entry.name)
    several = len(entries) > 1
    return Table(
        "cautions",
        "To keep in mind",
        (
            *([Column("rounds", "Rounds")] if several else []),
            Column("kind", "Kind", "code", aside=True),
            Column("caution", "Caution"),
            Column("source", "Source of the rule", aside=True),
        ),
        tuple(
            (*([_all_or_some(names, len(entries))] if several else []), kind, message, source)
            for (kind, message, source), names in of.items()
        ),
    )


def _all_or_some(names: Sequence[str], of: int) -> str:
    return "all" if len(names) == of else ", ".join(names)


def _parts(by: By, entries: Sequence[Entry], scale: Scale, *, folded: bool) -> Table:
    name, title, heading = _WHERE[by]
    several = len(entries) > 1
    coded = by is By.CATEGORY
    rows = []
    for entry in entries:
        for part in parts_of(by, entry):
            cells: tuple[Cell, ...] = (
                *((part.key,) if coded else ()),
                part.label,
                *measure_cells(part.measured, scale),
                part.percent,
                *((part.count,) if by in _COUNTED else ()),
                part.measured.estimate.reason,
            )
            rows.append((entry.name, *cells) if several else cells)
    titles = {part.measured.title for entry in entries for part in parts_of(by, entry)}
    return Table(
        name,
        f"Agreement by {title}: {', '.join(sorted(titles))}",
        (
            *([_ROUND] if several else []),
            *([Column("code", "Code", "code")] if coded else []),
            Column("part", "Name" if coded else heading),
            *measure_columns(scale),
            Column("agreeing", "Agreeing", "percent"),
            *([Column(*_COUNTED[by], "count")] if by in _COUNTED else []),
            Column("note", "Note", aside=True),
        ),
        tuple(rows),
        note=_NOTES.get(by, ""),
        folded=folded,
    )


_COUNTED: dict[By, tuple[str, str]] = {
    By.CATEGORY: ("given", "Given"),
    By.LEVEL: ("codes", "Codes"),
}
_NOTES = {
    By.CATEGORY: "This code or another (Fleiss 1971), of the items with two ratings or more. "
    "Agreeing: when one rater gives the code, how often another does. Given: ratings with it.",
    By.LEVEL: "Codes rolled up to a level of the tree; answers that are no code stay.",
}


def parts_of(by: By, entry: Entry) -> tuple[Part, ...]:
    """The parts that an agreement was measured for."""
    found = entry.found
    return {
        By.CATEGORY: found.categories,
        By.PAIR: found.pairs,
        By.STRATUM: found.strata,
        By.LEVEL: found.levels,
    }.get(by, ())


def _confused(entries: Sequence[Entry]) -> Table:
    """The most confused codes, of all rounds together where they can be."""
    pooled = [entry for entry in entries if entry.path[0] == "together"]
    covered = {each.name for entry in pooled for each in entry.found.rated.rounds}
    shown = [
        *pooled,
        *(each for each in entries if each not in pooled and each.name not in covered),
    ]
    several = len(shown) > 1
    rows: list[tuple[Cell, ...]] = []
    for entry in shown:
        rated = entry.found.rated
        rows.extend(
            (
                *([entry.name] if several else []),
                each.one,
                code_label(rated, each.one),
                each.other,
                code_label(rated, each.other),
                each.pairs,
                100 * each.share,
                100 * each.of_either,
            )
            for each in entry.found.confused[:MOST_CONFUSED]
        )
    return Table(
        "confused",
        "Codes most often taken for each other",
        (
            *([_ROUND] if several else []),
            Column("one", "Code", "code"),
            Column("one_name", "Name", aside=True),
            Column("other", "and code", "code"),
            Column("other_name", "Its name", aside=True),
            Column("pairs", "Pairs", "count"),
            Column("share", "Of disagreements", "percent"),
            Column("of_either", "Of pairs with either", "percent"),
        ),
        tuple(rows),
        note="Pairs of ratings of one item.",
    )


def named_code(rated: Rated, code: str) -> str:
    """A code with its name."""
    name = code_label(rated, code)
    return name if name == code else f"{code} {name}"
