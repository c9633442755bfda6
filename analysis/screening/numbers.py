"""The numbers of a flow diagram as claims, tables and plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from faultatlas.analysis.screening.fates import Fates
from faultatlas.data.old.results import Box, Claim, Column, Table, rows_of
from faultatlas.data.schema import literal

ANALYSIS = "prisma"


def claims_of(fates: Fates, boxes: Sequence[Box]) -> tuple[Claim, ...]:
    """Every number of the diagram, with the rows behind it."""
    return tuple(_claims(fates, boxes))


def _claims(fates: Fates, boxes: Sequence[Box]) -> Iterator[Claim]:
    known = "FROM paper_records SEMI JOIN papers USING (artifact_id)"
    row = "SELECT record_id, artifact_id, source, run_id"
    records = fates.records
    if not records.bare:
        query = f"{row} {known} ORDER BY record_id"
        yield _claim("records", "Records identified", boxes[0].count, "records.total", query)
    for source, n in records.sources.items():
        query = f"{row} {known} WHERE source = {literal(source)} ORDER BY record_id"
        what = f"Records identified in {source}"
        yield _claim(f"records.{_word(source)}", what, n, f"records.sources.{_word(source)}", query)
    matched = sum(records.matched_by.values())
    if matched == boxes[0].count - fates.papers:
        query = f"{row}, matched_by {known} WHERE matched_by IS NOT NULL ORDER BY record_id"
        yield _claim("duplicates", "Duplicates removed", matched, "records.duplicates", query)
    query = "SELECT artifact_id, title, run_id FROM papers ORDER BY artifact_id"
    yield _claim("papers", "Papers after duplicates were removed", fates.papers, "papers", query)
    yield from _of_fates(fates, None)
    for (position, step), box in zip(fates.steps, boxes[2:], strict=False):
        past = f"(fate = 'included' OR position >= {position})"
        path = f"screening.{_word(step)}"
        screened = f"Papers that came to screening by {step}"
        yield _claim(f"{path}.papers", screened, box.count, f"{path}.papers", _rows(past))
        total = fates.count("excluded", position)
        where = f"fate = 'excluded' AND position = {position}"
        said = f"Papers excluded by {step}"
        yield _claim(f"{path}.excluded", said, total, f"{path}.excluded.total", _rows(where))
        yield from _of_fates(fates, position)
    rows = _rows("fate = 'included'")
    yield _claim("included", boxes[-1].label, boxes[-1].count, "included", rows)


def _of_fates(fates: Fates, position: int | None) -> Iterator[Claim]:
    """The numbers of one step, or of those before screening."""
    for (fate, at, reason), n in sorted(fates.counts.items(), key=str):
        if at == position and fate != "included":
            yield _of_fate(fates, fate, position, reason, n)


def _of_fate(fates: Fates, fate: str, position: int | None, reason: str | None, n: int) -> Claim:
    """Papers of one fate, step and reason."""
    where = f"fate = '{fate}'"
    where += "" if position is None else f" AND position = {position}"
    where += "" if reason is None else f" AND reason = {literal(reason)}"
    if position is None:
        path = f"selection.{fate}" + (f".{_word(reason)}" if reason else "")
        said = {
            "removed": f"Papers that step {reason} of the funnel removed",
            "gone": "Papers that are gone from their source, unscreened",
            "late": "Papers that were mined after the funnel ran",
        }[fate]
        return _claim(path, said, n, path, _rows(where))
    step = dict(fates.steps)[position]
    path = f"screening.{_word(step)}.{fate}" + (f".{_word(reason)}" if reason else "")
    said = {
        "excluded": f"Papers excluded by {step}: {fates.names.get(reason or '', reason)}",
        "undecided": f"Papers that screening by {step} has not decided yet",
        "waiting": f"Papers that wait for screening by {step}",
    }[fate]
    return _claim(path, said, n, path, _rows(where))


def _claim(words: str, statement: str, n: int, path: str, rows: str) -> Claim:
    unit = "records" if path.startswith("records") else "papers"
    query = f"{ANALYSIS}(): {path}"
    return Claim(f"{ANALYSIS}.{words}", statement, n, unit, query, rows_query=rows)


def _rows(where: str) -> str:
    return f"SELECT artifact_id, run_id FROM paper_fates WHERE {where} ORDER BY artifact_id"


def _word(text: str | None) -> str:
    from faultatlas.analysis.tallies.naming import key

    return key(str(text).replace(" ", "-"))


def document_of(fates: Fates, boxes: Sequence[Box]) -> dict[str, Any]:
    """The same numbers as plain values."""
    screening: dict[str, Any] = {}
    for (position, step), box in zip(fates.steps, boxes[2:], strict=False):
        reasons = fates.reasons("excluded", position)
        screening[_word(step)] = {
            "papers": box.count,
            "excluded": {
                **{_word(code): n for code, n in reasons.items()},
                "total": sum(reasons.values()),
            },
            "undecided": fates.count("undecided", position),
            "waiting": fates.count("waiting", position),
        }
    removed = {_word(step): n for step, n in fates.reasons("removed").items()}
    return {
        "records": {
            "total": boxes[0].count,
            "sources": {_word(name): n for name, n in fates.records.sources.items()},
            "duplicates": boxes[0].count - fates.papers,
            "matched_by": dict(fates.records.matched_by),
        },
        "papers": fates.papers,
        "selection": {
            "removed": removed, "gone": fates.count("gone"), "late": fates.count("late"),
        },
        "screening": screening,
        "included": boxes[-1].count,
        "open": open_of(boxes),
    }  # fmt: skip


def open_of(boxes: Sequence[Box]) -> int:
    """Papers whose fate is not known yet."""
    return sum(each.count for box in boxes for each in box.exits if each.is_open)


_FLOW = (
    Column("phase", "Phase"),
    Column("label", "Step"),
    Column("count", "n", "count"),
    Column("left", "Left", "count"),
    Column("open", "Open", "count"),
)
_LEFT = (
    Column("label", "Step"),
    Column("exit", "What left"),
    Column("reason", "Reason"),
    Column("count", "n", "count"),
)


def tables_of(boxes: Sequence[Box]) -> tuple[Table, ...]:
    """The diagram as tables: the steps, and what left at each of them."""
    steps = [
        {
            "phase": box.phase, "label": box.label, "count": box.count,
            "left": sum(each.count for each in box.exits if not each.is_open),
            "open": sum(each.count for each in box.exits if each.is_open),
        }
        for box in boxes
    ]  # fmt: skip
    left = [
        {"label": box.label, "exit": each.label, "reason": reason, "count": n}
        for box in boxes
        for each in box.exits
        for reason, n in [(part.label, part.count) for part in each.parts] or [("", each.count)]
    ]
    note = "Each step has what the one before has, but for what left and what is open."
    return (
        Table("flow-steps", "Flow of papers", _FLOW, rows_of(_FLOW, steps), note),
        Table("left", "What left, and why", _LEFT, rows_of(_LEFT, left)),
    )
