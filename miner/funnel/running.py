"""Runs the funnel: each step on what the one before let through, all in one transaction.

A step whose question, artifacts and counts are the same as before keeps its run and time, so
that running the funnel again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data import provenance
from data.errors import StudyError
from data.sampling import drawn, sample_size
from data.store import STATEMENT_ERRORS
from miner.funnel.steps import ALL, Step
from miner.lexicon import Lexicon, lexicon
from miner.prose import prose

if TYPE_CHECKING:
    from data.provenance import Run
    from data.store import Study, Writer

Progress = Callable[[int, int], None]  # texts read, and in all

# What a step has before it: `now`. Its answer is gathered in `passing`.
_BEGIN = """
CREATE OR REPLACE TEMP TABLE now AS
SELECT artifact_id, source, kind FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL
"""
_SAME = """
SELECT
    NOT EXISTS (
        SELECT artifact_id FROM passing
        EXCEPT SELECT artifact_id FROM store.selected WHERE step = ?
    )
    AND (SELECT count(*) FROM passing) = (SELECT count(*) FROM store.selected WHERE step = ?)
    AND NOT EXISTS (
        SELECT source, kind, rows_in, rows_out FROM counted
        EXCEPT SELECT source, kind, rows_in, rows_out FROM store.funnel_count WHERE step = ?
    )
    AND (SELECT count(*) FROM counted) = (SELECT count(*) FROM store.funnel_count WHERE step = ?)
    AND EXISTS (
        SELECT 1 FROM store.funnel_step
        WHERE step = ? AND position = ? AND definition = ?::JSON AND predicate = ?
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
    change: Callable[[Writer], list[Step]],
    progress: Progress = lambda _done, _total: None,
) -> list[str]:
    """Put the steps that `change` names in the place of those that are there, and compute them.

    Gives the names of the steps that changed.
    """
    with study.writing() as writer:
        steps = change(writer)
        changed = _forget_others(writer, steps)
        writer.execute(_BEGIN)
        writer.execute(
            "CREATE OR REPLACE TEMP TABLE place AS SELECT DISTINCT source, kind FROM now"
        )
        writer.execute("CREATE OR REPLACE TEMP TABLE passing AS SELECT artifact_id FROM now")
        changed += _keep(writer, _Place(ALL, 0, "everything that was mined", "{}"), run)
        for position, step in enumerate(steps, 1):
            _run(writer, step, study.directory, run, progress)
            place = _Place(step.name, position, step.predicate, step.definition())
            changed += _keep(writer, place, run)
            writer.execute("DELETE FROM now WHERE artifact_id NOT IN (FROM passing)")
        if changed:
            provenance.record(writer, run, "ok")
        return changed


def condition_query(where: str) -> str:
    """The candidates for which a condition holds; its own line, as it may end in a comment."""
    return f"SELECT artifact_id FROM candidates WHERE (\n{where}\n)"


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
    for table in ("funnel_step", "funnel_count", "selected"):
        writer.execute(f"DELETE FROM store.{table} WHERE step = ?", [name])


def _keep(writer: Writer, place: _Place, run: Run) -> list[str]:
    """Store what a step let through, if it is not what is stored."""
    writer.execute(
        # Also for a source of which nothing is left: a funnel shows where it ended.
        "CREATE OR REPLACE TEMP TABLE counted AS SELECT source, kind, "
        "count(now.artifact_id) AS rows_in, count(passing.artifact_id) AS rows_out "
        "FROM place LEFT JOIN now USING (source, kind) LEFT JOIN passing USING (artifact_id) "
        "GROUP BY ALL"
    )
    known = [place.step] * 5 + [place.position, place.definition, place.predicate]
    if writer.value(_SAME, known):
        return []
    _clear(writer, place.step)
    writer.execute(
        "INSERT INTO store.funnel_step VALUES (?, ?, ?, ?, ?, ?)",
        [*astuple(place), run.run_id, run.started_at],
    )
    writer.execute(
        "INSERT INTO store.funnel_count SELECT ?, source, kind, rows_in, rows_out FROM counted "
        "ORDER BY ALL",
        [place.step],
    )
    writer.execute(
        "INSERT INTO store.selected SELECT ?, artifact_id FROM passing ORDER BY artifact_id",
        [place.step],
    )
    return [place.step]


def _run(writer: Writer, step: Step, directory: Path, run: Run, progress: Progress) -> None:
    """Fill `passing` with what a step lets through."""
    _refuse_odd_sql(writer, step)
    kinds = "kind IN (SELECT unnest(?::VARCHAR[]))" if step.on else "len(?) = 0"
    on = [list(step.on)]
    where = f"artifact_id IN ({condition_query(step.where)})" if step.where else "true"
    try:
        writer.execute(
            "CREATE OR REPLACE TEMP TABLE asked AS SELECT artifact_id, source, kind FROM now "
            f"WHERE {kinds} AND {where}",
            on,
        )
    except STATEMENT_ERRORS as error:
        raise condition_problem(step.name, str(error)) from error
    if step.lexicons:
        _read_words(writer, step, directory, run, progress)
    if step.draw:
        _draw(writer, step)
    writer.execute(
        "CREATE OR REPLACE TEMP TABLE passing AS SELECT artifact_id FROM asked "
        f"UNION ALL SELECT artifact_id FROM now WHERE NOT ({kinds})",
        on,
    )


def _refuse_odd_sql(writer: Writer, step: Step) -> None:
    """Before anything is run: what a user wrote must be one condition or one value."""
    draw = step.draw
    values = [each for each in (draw.by, draw.highest) if each] if draw else []
    queries = [f"SELECT (\n{each}\n) FROM candidates" for each in values]
    if step.where:
        queries.append(condition_query(step.where))
    for query in queries:
        if problem := writer.problem(query):
            raise condition_problem(step.name, problem)


def condition_problem(name: str, said: str) -> StudyError:
    """A condition that DuckDB does not take."""
    words = " ".join(said.partition("\n\n")[0].split())
    return StudyError(
        f"the condition of step {name!r} does not work: {words}",
        "Columns are those of the view candidates (docs/schema.md); texts stand in single quotes: "
        "--where \"kind = 'post' AND accepted_answer_id IS NOT NULL\".",
    )


def _read_words(writer: Writer, step: Step, directory: Path, run: Run, progress: Progress) -> None:
    """Leave in `asked` what has words of the lexicons, and store which."""
    wanted = [lexicon(name, directory) for name in step.lexicons]
    needed = 1 if step.any_lexicon else len(wanted)
    hits: dict[str, list[tuple[str, tuple[str, ...]]]] = {each.name: [] for each in wanted}
    passing: list[str] = []
    total = writer.value("SELECT count(*) FROM asked")
    done = 0
    for batch in writer.batches(
        "SELECT artifact_id, a.kind, title, body FROM artifacts a JOIN asked USING (artifact_id)"
    ):
        for artifact, kind, title, body in zip(*(each.to_pylist() for each in batch), strict=True):
            text = prose(kind, title, body, code=step.code, quotes=step.quotes)
            found = [(each.name, each.hits(text)) for each in wanted]
            for name, words in found:
                if words:
                    hits[name].append((artifact, words))
            if sum(bool(words) for _name, words in found) >= needed:
                passing.append(artifact)
        done += batch.num_rows
        progress(done, total)
    for each in wanted:
        reading = each.reading(code=step.code, quotes=step.quotes)
        _keep_hits(writer, each, reading, hits[each.name], run)
    _only(writer, passing)


def _keep_hits(
    writer: Writer,
    words: Lexicon,
    reading: str,
    hits: list[tuple[str, tuple[str, ...]]],
    run: Run,
) -> None:
    """Store the words that were found in what was asked; rows that say the same stay."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "artifact_id": pa.array([artifact for artifact, _words in hits], pa.string()),
        "words": pa.array([list(found) for _artifact, found in hits], pa.list_(pa.string())),
    }
    writer.execute("CREATE OR REPLACE TEMP TABLE hit (artifact_id VARCHAR, words VARCHAR[])")
    writer.insert("hit", pa.table(columns))
    writer.execute(
        "DELETE FROM store.keyword_hit WHERE lexicon = ? "
        "AND artifact_id IN (SELECT artifact_id FROM asked) "
        "AND NOT EXISTS (SELECT 1 FROM hit WHERE hit.artifact_id = keyword_hit.artifact_id "
        "AND hit.words = keyword_hit.words AND keyword_hit.reading = ?)",
        [words.name, reading],
    )
    writer.execute(
        "INSERT INTO store.keyword_hit SELECT artifact_id, ?, words, ?, ? FROM hit "
        "WHERE artifact_id NOT IN (SELECT artifact_id FROM store.keyword_hit WHERE lexicon = ?) "
        "ORDER BY artifact_id",
        [words.name, reading, run.run_id, words.name],
    )


def _draw(writer: Writer, step: Step) -> None:
    """Leave a sample in `asked`."""
    draw = step.draw
    assert draw is not None  # noqa: S101  (the caller has looked)
    group = f"(\n{draw.by}\n)::VARCHAR" if draw.by else "''"
    value = f"(\n{draw.highest}\n)" if draw.highest else "NULL"
    try:
        rows = writer.rows(
            f"SELECT coalesce({group}, '') AS stratum, artifact_id, {value} AS value "
            "FROM candidates WHERE artifact_id IN (SELECT artifact_id FROM asked)"
        )
    except STATEMENT_ERRORS as error:
        raise condition_problem(step.name, str(error)) from error
    strata: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        strata.setdefault(row["stratum"], []).append(row)
    chosen: list[str] = []
    for stratum, frame in strata.items():
        size = (
            min(draw.size, len(frame))
            if draw.size is not None
            else sample_size(
                len(frame),
                draw.confidence,
                draw.margin,
                rounding="up" if draw.rounding == "up" else "nearest",
            )
        )
        ordered = drawn((row["artifact_id"] for row in frame), len(frame), draw.seed, stratum)
        if draw.highest:  # among equals, the order of the draw decides
            values = {row["artifact_id"]: row["value"] for row in frame}
            known = [each for each in ordered if values[each] is not None]
            ordered = sorted(known, key=values.__getitem__, reverse=True) + [
                each for each in ordered if values[each] is None
            ]
        chosen += ordered[:size]
    _only(writer, chosen)


def _only(writer: Writer, artifacts: list[str]) -> None:
    import pyarrow as pa

    writer.execute("CREATE OR REPLACE TEMP TABLE kept (artifact_id VARCHAR)")
    writer.insert("kept", pa.table({"artifact_id": pa.array(artifacts, pa.string())}))
    writer.execute("DELETE FROM asked WHERE artifact_id NOT IN (FROM kept)")
