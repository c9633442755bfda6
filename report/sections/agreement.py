"""Agreement of raters, before and after discussion, from the stored results; and the gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from faultatlas.data.old.results import Cell, Column, Result, Table
from faultatlas.report.formatting import day, interval
from faultatlas.report.sections import Material, Section, part_of
from faultatlas.report.sections.findings import is_shown

POSITION = 50
KEY = "agreement"
ANALYSIS = "agreement"

_LEADS = (
    "The statistic that was fixed before the first label leads; it is not chosen by its value. "
    "Labels after discussion are no independent ratings: their agreement says how far the "
    "discussion led, not how reliable the taxonomy is."
)
_NOT_MEASURED = (
    "Items were labelled by two raters or more, but agreement was not measured: "
    "run `annotation agreement`."
)
LABELLED_TWICE = (
    "SELECT round, item_id FROM labels WHERE stage = 'independent' AND is_current "
    "GROUP BY round, item_id HAVING count(DISTINCT rater) > 1"
)


def section(material: Material) -> Section | None:
    """Agreement; None where no two raters labelled the same item."""
    results = material.of(ANALYSIS)
    gates = material.reader.rows(
        "SELECT round, stage, statistic, threshold, value, low, high, items, is_passed, reason, "
        "decided_at::VARCHAR AS decided_at FROM gates "
        "ORDER BY gates.decided_at, round, stage, run_id"
    )
    if not results and not gates:
        if not material.has(LABELLED_TWICE):
            return None
        return Section(KEY, "Agreement", text=(_NOT_MEASURED,))
    tables = (_measured(results), _gates(gates))
    return Section(
        KEY,
        "Agreement",
        text=(_LEADS,),
        tables=tuple(table for table in tables if table.rows),
        parts=tuple(part_of(each) for each in results if is_shown(material, each)),
    )


def entries(results: list[Result]) -> Iterator[tuple[str, dict[str, Any]]]:
    """By round, or rounds together, what was measured: as `annotation agreement` stores it."""
    for result in results:
        for group in ("rounds", "together"):
            found = result.document.get(group)
            for name, entry in (found or {}).items():
                if isinstance(entry, dict) and isinstance(entry.get("statistics"), dict):
                    yield name, entry


def _measured(results: list[Result]) -> Table:
    rows = [_row(name, entry) for name, entry in entries(results)]
    return Table(
        "measured",
        "Agreement by round and stage",
        (
            Column("round", "Round"),
            Column("stage", "Labels"),
            Column("statistic", "Statistic"),
            Column("value", "Value", "number"),
            Column("interval", "95 % interval", "interval"),
            Column("word", "In words"),
            Column("items", "Items", "count"),
            Column("raters", "Raters", "count"),
            Column("fixed", "Fixed beforehand"),
            Column("threshold", "Threshold", "number"),
        ),
        tuple(sorted(set(rows), key=lambda row: [str(cell) for cell in row])),
    )


def _row(name: str, entry: dict[str, Any]) -> tuple[Cell, ...]:
    main = entry["statistics"].get(entry.get("main"), {})
    ends = main.get("bootstrap") or {}
    if ends.get("low") is None:
        ends = main.get("analytic") or {}
    after = "after discussion" if entry.get("stage") == "negotiated" else "independent"
    return (
        name,
        after,
        main.get("title"),
        main.get("value"),
        interval(ends.get("low"), ends.get("high")),
        main.get("word") or None,
        main.get("items"),
        main.get("raters"),
        entry.get("fixed_beforehand"),
        entry.get("threshold"),
    )


def _gates(gates: list[dict[str, Any]]) -> Table:
    return Table(
        "gates",
        "Gates: whether agreement was high enough to go on",
        (
            Column("round", "Round"),
            Column("stage", "Labels"),
            Column("statistic", "Statistic"),
            Column("threshold", "Threshold", "number"),
            Column("value", "Value", "number"),
            Column("interval", "95 % interval", "interval"),
            Column("passed", "Passed"),
            Column("reason", "Reason"),
            Column("decided", "Decided"),
        ),
        tuple(
            (
                each["round"], each["stage"], each["statistic"], each["threshold"], each["value"],
                interval(each["low"], each["high"]), each["is_passed"], each["reason"],
                day(each["decided_at"]),
            )
            for each in gates
        ),
    )  # fmt: skip
