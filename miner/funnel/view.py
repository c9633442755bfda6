"""The funnel as a table: one line for each step, one column for each source or group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.queries import condition_problem, refuse_odd_value
from faultatlas.miner.funnel.steps import stored_steps
from faultatlas.report.formatting import count

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

_MOST_COLUMNS = 6
_WIDEST = 34  # of all headings together: a terminal must not leave a column of counts out
_KINDS = {"issue": "issues", "pull": "pull requests", "commit": "commits", "post": "posts",
          "paper": "papers"}  # fmt: skip
# Counts were stored with the first step: what is forgotten is gone from the artifacts it had.
_STALE = """
WITH mined AS (
    SELECT artifact_id, run_id FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL
), seen AS (
    SELECT artifact_id FROM store.funnel_member WHERE step = 'all'
)
SELECT
    (SELECT coalesce(sum(rows_out), 0)::BIGINT FROM store.funnel_count WHERE step = 'all') AS seen,
    (SELECT count(*) FROM mined) AS mined,
    (SELECT count(*) FROM mined ANTI JOIN seen USING (artifact_id)) AS new,
    (SELECT count(DISTINCT artifact_id) FROM mined JOIN store.keyword_hit h USING (artifact_id)
        JOIN (SELECT unnest($1::VARCHAR[]) AS lexicon, unnest($2::VARCHAR[]) AS manner) used
        ON h.lexicon = used.lexicon AND regexp_extract(reading, '[+].*') = manner
        WHERE text_run <> mined.run_id) AS changed
"""


def funnel(study: Study, by: str | None = None) -> dict[str, Any]:
    """Steps with the counts in and out of each source, or of each group of `by`."""
    with study.reading() as reader:
        steps = reader.rows(
            "SELECT step, position, predicate, ran_at, run_id FROM store.funnel_step "
            "ORDER BY position"
        )
        counts = reader.rows(
            "SELECT step, source, kind, rows_in, rows_out, rows_unknown FROM funnel ORDER BY ALL"
        )
        groups = _groups(reader, by) if by and steps else []
        used = sorted({each for step in stored_steps(reader) for each in step.readings})
        asked = [[lexicon for lexicon, _manner in used], [manner for _lexicon, manner in used]]
        (fresh,) = reader.rows(_STALE, asked)
    for step in steps:
        step["ran_at"] = f"{step['ran_at']:%Y-%m-%dT%H:%M:%SZ}"
        step["counts"] = [
            {name: row[name] for name in ("source", "kind", "rows_in", "rows_out")}
            for row in counts
            if row["step"] == step["step"]
        ]
        step["unknown"] = _unknown(counts, step["step"])
        if by:
            step["groups"] = {
                row["stratum"]: row["rows_out"] for row in groups if row["step"] == step["step"]
            }
    return {
        "study": str(study.directory),
        "by": by,
        "steps": steps,
        "new": fresh["new"],
        "gone": fresh["seen"] + fresh["new"] - fresh["mined"],
        "texts_changed": fresh["changed"],
    }


def _unknown(counts: Sequence[Mapping[str, Any]], step: str) -> dict[str, int]:
    """By kind, how many the condition of a step says nothing about."""
    found: dict[str, int] = {}
    for row in counts:
        if row["step"] == step and row["rows_unknown"]:
            found[row["kind"]] = found.get(row["kind"], 0) + row["rows_unknown"]
    return found


def unknown_words(step: Mapping[str, Any]) -> str:
    """What to tell of artifacts that a condition says nothing about; nothing without any."""
    unknown: Mapping[str, int] = step["unknown"]
    if not unknown:
        return ""
    said = [f"{count(number)} {_KINDS.get(kind, kind)}" for kind, number in unknown.items()]
    came: dict[str, int] = {}
    for row in step["counts"]:
        came[row["kind"]] = came.get(row["kind"], 0) + row["rows_in"]
    known = [kind for kind, number in came.items() if number > unknown.get(kind, 0)]
    whole = [kind for kind, number in unknown.items() if number == came[kind]]
    told = (
        f"step {step['step']!r}: the condition is unknown for {_listed(said)}, which were left out"
    )
    flags = " ".join(f"--on {kind}" for kind in known)
    return f"{told}; {flags} lets them pass" if known and whole else told


def _listed(said: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))


def _groups(reader: Reader, by: str) -> list[dict[str, Any]]:
    refuse_odd_value(reader, "--by", by)
    try:
        return reader.rows(
            f"SELECT step, coalesce((\n{by}\n)::VARCHAR, '(none)') AS stratum, "
            "count(*) AS rows_out FROM store.funnel_member JOIN candidates USING (artifact_id) "
            "GROUP BY ALL ORDER BY ALL"
        )
    except STATEMENT_ERRORS as error:
        raise condition_problem("--by", str(error)) from error


def funnel_table(found: Mapping[str, Any]) -> Table | None:
    """The same for a reader; None without steps."""
    steps: Sequence[Mapping[str, Any]] = found["steps"]
    if not steps:
        return None
    cells = [_cells(step, found["by"]) for step in steps]
    names = sorted({name for row in cells for name in row})
    widths = [max(map(len, name.split())) for name in names if name]
    if len(names) > _MOST_COLUMNS or sum(widths) > _WIDEST:
        return _long(found, cells, names)
    columns = (
        Column("step", "Step"),
        *(Column(f"group_{at}", name, "count") for at, name in enumerate(names, 1)),
        Column("predicate", "Asks for"),
    )
    rows = tuple(
        (step["step"], *(row.get(name, 0) for name in names), step["predicate"])
        for step, row in zip(steps, cells, strict=True)
    )
    return Table("funnel", "Funnel", columns, rows, _note(found))


def _long(found: Mapping[str, Any], cells: list[dict[str, int]], names: list[str]) -> Table:
    """With many groups: one line for each of them, and below what the steps ask for."""
    steps: Sequence[Mapping[str, Any]] = found["steps"]
    columns = (
        Column("group", "Group"),
        *(Column(f"step_{at}", step["step"], "count") for at, step in enumerate(steps)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(row.get(name, 0) for row in cells)) for name in names
    )
    asked = "; ".join(f"{step['step']}: {step['predicate']}" for step in steps)
    note = " ".join(filter(None, (f"Steps ask for {asked}.", _note(found))))
    return Table("funnel", "Funnel", columns, rows, note)


def _cells(step: Mapping[str, Any], by: str | None) -> dict[str, int]:
    if by:
        return dict(step["groups"])
    return {
        f"{row['source']} {_KINDS.get(row['kind'], row['kind'])}": row["rows_out"]
        for row in step["counts"]
    }


def _note(found: Mapping[str, Any]) -> str:
    parts = []
    if found["new"]:
        parts.append(f"{count(found['new'])} artifacts were mined since")
    if found["gone"] > 0:
        parts.append(f"{count(found['gone'])} are gone since")
    if found["texts_changed"]:
        parts.append(f"{count(found['texts_changed'])} texts were changed since")
    return f"{'; '.join(parts)}: `miner filter --again` counts anew." if parts else ""
