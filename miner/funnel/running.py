"""Runs the funnel: each step on what the one before let through, all in one transaction.

Words are looked for before that, so that nobody waits while texts are read. A step whose
question, artifacts and counts are the same as before keeps its run and time, so that running the
funnel again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.queries import condition_problem, frame
from faultatlas.miner.ending import is_noted, noting
from faultatlas.miner.funnel.conditions import refuse_odd_sql
from faultatlas.miner.funnel.drawing import draw_sample, refuse_unordered
from faultatlas.miner.funnel.steps import ALL, Step, stored_steps
from faultatlas.miner.funnel.words import (
    Progress,
    drop_superseded,
    lacking,
    read_words,
    read_words_here,
    wanted,
    wanted_by,
)

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer

_FEW = 500  # texts that are read while others wait

# What comes to a step is in `now`, what it says of that in `asked`.
_BEGIN = """
CREATE OR REPLACE TEMP TABLE asked AS
SELECT artifact_id, source, kind, true AS passes, false AS is_other, false AS is_unknown
FROM artifacts
WHERE gone_at IS NULL AND kind IS NOT NULL
"""
# Also for a source of which nothing is left: a funnel shows where it ended.
_COUNT = """
CREATE OR REPLACE TEMP TABLE counted AS
SELECT source, kind, count(artifact_id) AS rows_in, count(*) FILTER (passes) AS rows_out,
    count(*) FILTER (is_unknown) AS rows_unknown
FROM place LEFT JOIN asked USING (source, kind) GROUP BY ALL
"""
_SAME = """
SELECT
    EXISTS (
        FROM store.funnel_step
        WHERE step = $1 AND position = $2 AND definition = $3::JSON AND predicate = $4
    )
    AND (SELECT count(*) FROM counted) = (SELECT count(*) FROM store.funnel_count WHERE step = $1)
    AND NOT EXISTS (
        FROM counted EXCEPT SELECT * EXCLUDE step FROM store.funnel_count WHERE step = $1
    )
    AND (SELECT coalesce(sum(rows_out), 0) FROM counted)
        = (SELECT count(*) FROM store.funnel_member WHERE step = $1)
    AND NOT EXISTS (
        FROM (FROM asked WHERE passes) ANTI JOIN (FROM store.funnel_member WHERE step = $1)
        USING (artifact_id)
    )
"""


@dataclass(frozen=True)
class _Place:
    """A step as it is stored."""

    step: str
    position: int
    predicate: str
    definition: str


def run_steps(
    study: Study,
    run: Run,
    change: Callable[[Reader], list[Step]],
    progress: Progress = lambda _done, _total: None,
) -> list[str]:
    """Put the steps that `change` names in the place of those that are there, and compute them.

    Gives the names of the steps that changed.
    """
    with noting(study, run):
        for is_last in (False, False, True):
            with study.writing() as writer:
                before, steps = stored_steps(writer), change(writer)
                _check(writer, steps)
                sought = wanted(steps, study.directory)
                todo = lacking(writer, sought)
                # Others must not wait for long; but if they write as fast as we read, they must.
                if len(todo) <= _FEW or is_last:
                    read_words_here(writer, run, todo)
                    changed = _compute(writer, study.directory, run, steps)
                    drop_superseded(writer, before, sought)
                    if changed or todo or is_noted(writer, run):
                        provenance.record(writer, run, "ok")
                    return changed
            read_words(study, run, todo, progress)
    raise AssertionError("the last time it is computed")


def _compute(writer: Writer, directory: Path, run: Run, steps: Sequence[Step]) -> list[str]:
    changed = _forget_others(writer, steps)
    writer.execute(_BEGIN)
    writer.execute("CREATE OR REPLACE TEMP TABLE place AS SELECT DISTINCT source, kind FROM asked")
    changed += _keep(writer, _Place(ALL, 0, "everything that was mined", "{}"), run)
    for position, step in enumerate(steps, 1):
        writer.execute(
            "CREATE OR REPLACE TEMP TABLE now AS SELECT artifact_id, source, kind FROM asked "
            "WHERE passes"
        )
        _run(writer, step, directory)
        place = _Place(step.name, position, step.predicate, step.definition())
        changed += _keep(writer, place, run)
    return changed


def _check(reader: Reader, steps: Sequence[Step]) -> None:
    for step in steps:
        refuse_odd_sql(reader, step)
        if step.draw:
            refuse_unordered(reader, step.name, step.draw)


def _forget_others(writer: Writer, steps: Sequence[Step]) -> list[str]:
    """Take steps out that are no longer there."""
    names = [ALL, *(step.name for step in steps)]
    rows = writer.rows(
        "SELECT step FROM store.funnel_step WHERE NOT list_contains(?, step)", [names]
    )
    for row in rows:
        _clear(writer, row["step"])
    return [row["step"] for row in rows]


def _clear(writer: Writer, name: str) -> None:
    for table in ("funnel_step", "funnel_count", "funnel_member"):
        writer.execute(f"DELETE FROM store.{table} WHERE step = ?", [name])


def _keep(writer: Writer, place: _Place, run: Run) -> list[str]:
    """Store what a step let through, if it is not what is stored."""
    writer.execute(_COUNT)
    if writer.value(_SAME, [place.step, place.position, place.definition, place.predicate]):
        return []
    _clear(writer, place.step)
    writer.execute(
        "INSERT INTO store.funnel_step VALUES (?, ?, ?, ?, ?, ?)",
        [*astuple(place), run.run_id, run.started_at],
    )
    writer.execute(
        "INSERT INTO store.funnel_count SELECT ?, * FROM counted ORDER BY ALL", [place.step]
    )
    writer.execute(
        "INSERT INTO store.funnel_member SELECT ?, artifact_id FROM asked WHERE passes "
        "ORDER BY artifact_id",
        [place.step],
    )
    return [place.step]


def _run(writer: Writer, step: Step, directory: Path) -> None:
    """Say in `asked` of each that comes to a step whether it passes."""
    is_other = "len($1::VARCHAR[]) > 0 AND NOT list_contains($1::VARCHAR[], kind)"
    values: list[Any] = [list(step.on)]
    joined, holds, has_words = "now", "true", "true"
    if step.where:
        holds = "holds"
        joined += (
            f" JOIN (SELECT artifact_id, ((\n{step.where}\n))::BOOLEAN AS holds "
            f"FROM {frame(writer, step.where)}) USING (artifact_id)"
        )
    if step.lexicons:
        sought = wanted_by(step, directory)
        has_words = "coalesce(lexicons, 0) >= $4::INTEGER"
        joined += (
            " LEFT JOIN (SELECT artifact_id, count(*) AS lexicons FROM store.keyword_hit JOIN "
            "(SELECT unnest($2::VARCHAR[]) AS lexicon, unnest($3::VARCHAR[]) AS reading) "
            "USING (lexicon, reading) WHERE len(words) > 0 GROUP BY ALL) USING (artifact_id)"
        )
        values += [[each.lexicon.name for each in sought], [each.reading for each in sought]]
        values.append(1 if step.any_lexicon else len(sought))
    try:
        writer.execute(
            f"CREATE OR REPLACE TEMP TABLE asked AS SELECT artifact_id, source, kind, {is_other} "
            f"AS is_other, is_other OR (coalesce({holds}, false) AND {has_words}) AS passes, "
            f"NOT is_other AND {holds} IS NULL AS is_unknown FROM {joined}",
            values,
        )
        if step.draw:
            draw_sample(writer, step.draw)
    except STATEMENT_ERRORS as error:
        raise condition_problem(f"step {step.name!r}", str(error)) from error
