"""`miner merge OTHER`: what another study of the team has fetched and labelled, in this one.

Stored responses are what is merged; the mined tables are derived from all of them again, with
this study's key, in the order in which they were fetched. So the newest word about an issue wins,
whoever heard it, and pseudonyms agree. The other study is only read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from data import provenance
from data.errors import StudyError
from miner import archive, forgetting
from miner.erasing import Forgotten
from miner.forget import erase_in
from miner.ingest import check_key, who_in
from miner.rebuild import host_of, rebuild_in

if TYPE_CHECKING:
    from data.provenance import Run
    from data.store import Reader, Study, Writer

Progress = Callable[[int, int], None]  # responses read, and in all

# Rows that stand beside the responses; taken where this study has none of that key.
_BESIDE = {
    "store.run": ("run_id",),
    "store.traffic": ("run_id", "project"),
    "store.checkpoint": ("stream",),
    "store.part_read": ("artifact_id", "part"),
    "store.wanted": ("artifact_id",),
    "store.search_slice": ("search",),
    "store.forgotten": ("subject",),
    "store.final_label": ("round",),
}


def merge(
    study: Study, other: Study, run: Run, progress: Progress = lambda _done, _total: None
) -> dict[str, Any]:
    """Bring the other study's evidence and labels into this one, in one transaction."""
    _refuse(study, other)
    with other.reading() as source, study.writing() as writer:
        provenance.record(writer, run, "ok")
        check_key(writer, study.directory, run.run_id)
        _refuse_other_labels(source, writer)
        before = forgetting.forgotten(writer)
        taken = {
            table.removeprefix("store."): _take(source, writer, table, key)
            for table, key in _BESIDE.items()
        }
        responses = _take_responses(study, source, writer, progress)
        theirs = forgetting.forgotten(writer).artifacts - before.artifacts
        if theirs:
            erase_in(writer, study, Forgotten(theirs, frozenset()))
        elif responses:
            rebuild_in(writer, study)
        people = source.value("SELECT count(*) FROM store.forgotten WHERE kind = 'person'")
    return {
        "from": str(other.directory),
        "responses": responses,
        "rows": {table: count for table, count in taken.items() if count},
        # Their pseudonyms are made with another key: nobody can tell who they are here.
        "forgotten_people_unknown_here": int(people or 0),
    }


def _refuse(study: Study, other: Study) -> None:
    if not other.exists:
        raise StudyError(f"there is no study in {other.directory}", "Check the path.")
    if study.directory.resolve() == other.directory.resolve():
        raise StudyError("a study cannot be merged into itself", "Name another study.")
    with study.writing():
        pass  # makes it, or brings it to this version
    theirs, ours = other.schema_version(), study.schema_version()
    if theirs < ours:
        raise StudyError(
            f"{other.directory} was written by an older faultatlas (schema {theirs}, here {ours})",
            f"Open it once with this one: miner status --study {other.directory}",
        )


def _refuse_other_labels(source: Reader, writer: Writer) -> None:
    """A round that both have must be the same; which of two labels holds, nobody can tell."""
    query = "SELECT * EXCLUDE run_id FROM store.final_label WHERE round = ? ORDER BY ALL"
    for row in source.rows("SELECT DISTINCT round FROM store.final_label ORDER BY ALL"):
        ours = writer.rows(query, [row["round"]])
        if ours and ours != source.rows(query, [row["round"]]):
            raise StudyError(
                f"both studies have a round {row['round']}, with different labels",
                "Import one of them under another name, then merge. Nothing was changed.",
            )


def _take(source: Reader, writer: Writer, table: str, key: tuple[str, ...]) -> int:
    names = ", ".join(key)
    known = {tuple(row.values()) for row in writer.rows(f"SELECT DISTINCT {names} FROM {table}")}
    theirs = source.arrow(f"SELECT * FROM {table}")
    columns = [theirs.column(name).to_pylist() for name in key]
    new = [at for at, value in enumerate(zip(*columns, strict=True)) if value not in known]
    return writer.insert(table, theirs.take(new)) if new else 0


def _take_responses(study: Study, source: Reader, writer: Writer, progress: Progress) -> int:
    """Store what is not here yet, then number all by the time they were fetched."""
    people = who_in(study.directory)
    found = writer.rows("SELECT response_id, fetched_at FROM store.response")
    known = {(row["response_id"], row["fetched_at"]) for row in found}
    total = source.value("SELECT count(*) FROM store.response")
    taken = 0
    for done, (_number, theirs) in enumerate(archive.replay(source), 1):
        exchange = forgetting.cleaned(writer, theirs, people(host_of(theirs.project)))
        if (exchange.response_id, exchange.fetched_at) not in known:
            archive.keep(writer, exchange)
            taken += 1
        progress(done, total)
    if taken:
        writer.execute(
            "UPDATE store.response SET number = ordered.later FROM (SELECT number AS earlier, "
            "max(number) OVER () + row_number() OVER (ORDER BY fetched_at, number) AS later "
            "FROM store.response) ordered WHERE number = ordered.earlier"
        )
    return taken
