"""`miner merge OTHER`: what another study of the team has fetched and labelled, in this one.

Stored responses are what is merged; the mined tables are derived from all of them again, with
this study's key, in the order in which they were fetched. So the newest word about an issue wins,
whoever heard it, and pseudonyms agree. What either study has forgotten is forgotten afterwards.
The other study is only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.people import pseudonym, study_key
from faultatlas.data.schema import VERSION_TABLE, quoted, schema
from faultatlas.miner import archive
from faultatlas.miner.keeping.erasing import Forgotten, without
from faultatlas.miner.keeping.forget import compact, erase_in, search
from faultatlas.miner.keeping.merging_commits import TABLES as COMMITS
from faultatlas.miner.keeping.merging_commits import take_commits
from faultatlas.miner.keeping.merging_labels import TABLES as LABELS
from faultatlas.miner.keeping.merging_labels import take_labels
from faultatlas.miner.rebuild import host_of, rebuild_in
from faultatlas.miner.study_key import check_key, who_in
from faultatlas.miner.tombstones import bury, forgotten, names

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.miner.payload import Who

Progress = Callable[[int, int], None]  # responses read, and in all

_RULES = schema().merge_rules()
# Rows that stand beside the responses; taken where this study has none of that key.
_BESIDE = {f"store.{table}": rule.key for table, rule in _RULES.items() if rule.how == "new"}
# A verification that was broken off is begun again: with half of its marks the rest would be gone.
_TAKEN = {f"store.{table}": rule.where for table, rule in _RULES.items() if rule.where}
_ELSEWHERE = {
    f"store.{table}"
    for table, rule in _RULES.items()
    if rule.how in {"derived", "responses"} or table == "key_check"
} | {f"store.{VERSION_TABLE}"}
_KEY = re.compile(r"[0-9a-f]{64}\n?")


@dataclass(frozen=True)
class _People:
    """Whom the other study has forgotten and this one has not."""

    known: frozenset[str] = frozenset()  # as this study calls them
    unknown: int = 0


def merge(
    study: Study, other: Study, run: Run, progress: Progress = lambda _done, _total: None
) -> dict[str, Any]:
    """Bring the other study's evidence and labels into this one, in one transaction."""
    _refuse(study, other)
    with other.reading() as source, study.writing() as writer:
        before = forgotten(writer)
        taken = {"store.forgotten": _take(source, writer, "store.forgotten", [])}
        gone = sorted(forgotten(writer).artifacts)
        for table in sorted(_BESIDE.keys() - taken.keys()):
            taken[table] = _take(source, writer, table, gone)
        taken |= take_labels(source, writer, gone)
        if has_one_key := _has_one_key(study, source):
            taken |= take_commits(source, writer, forgotten(writer))
        responses = _take_responses(study, source, writer, progress)
        people = _people(study, other.directory, source, writer, before.people)
        if responses or any(taken.values()):
            check_key(writer, study.directory, run.run_id)
            provenance.record(writer, run, "ok")
            _derive(writer, study, run, people)
        is_new = forgotten(writer).artifacts - before.artifacts or people.known
        left_out = _left_out(source, COMMITS if has_one_key else ())
    if is_new:
        compact(study, "what the other study has forgotten")
    return {
        "from": str(other.directory),
        "responses": responses,
        "rows": {table.removeprefix("store."): count for table, count in taken.items() if count},
        "left_out": left_out,
        # Their pseudonyms are made with another key: who they are here, nobody can tell.
        "forgotten_people_unknown_here": people.unknown,
    }


def _refuse(study: Study, other: Study) -> None:
    if not other.exists:
        raise StudyError(f"there is no study in {other.directory}", "Check the path.")
    if study.exists and study.database.samefile(other.database):
        raise StudyError("a study cannot be merged into itself", "Name another study.")


def _take(source: Reader, writer: Writer, table: str, gone: list[str]) -> int:
    """Rows of the other study whose key is not here, without those of forgotten artifacts."""
    names_of_key = _BESIDE[table]
    known = {
        tuple(row.values())
        for row in writer.rows(f"SELECT DISTINCT {', '.join(names_of_key)} FROM {table}")
    }
    condition = _TAKEN.get(table)
    where = f"WHERE {condition}" if condition else ""
    theirs = source.arrow(f"SELECT * FROM {table} {where}", [gone] if condition else [])
    columns = [theirs.column(name).to_pylist() for name in names_of_key]
    new = [at for at, value in enumerate(zip(*columns, strict=True)) if value not in known]
    return arrow_rows.insert(writer, table, theirs.take(new)) if new else 0


def _take_responses(study: Study, source: Reader, writer: Writer, progress: Progress) -> int:
    """Store what is not here yet, then number all by the time they were fetched."""
    people, gone = who_in(study.directory), forgotten(writer)
    found = writer.rows("SELECT response_id, fetched_at FROM store.response")
    known = {(row["response_id"], row["fetched_at"]) for row in found}
    total = source.value("SELECT count(*) FROM store.response")
    taken = 0
    for done, (_number, theirs) in enumerate(archive.replay(source), 1):
        left, seen = without(theirs, gone, people(host_of(theirs.project)))
        bury(writer, "artifact", seen.written, theirs.run_id, theirs.fetched_at)
        gone = gone.with_found(seen, ())  # in a dump, comments on an answer come after it
        if left is not None and (left.response_id, left.fetched_at) not in known:
            archive.keep(writer, left)
            taken += 1
        progress(done, total)
    if taken:
        writer.execute(
            "UPDATE store.response SET number = ordered.later FROM (SELECT number AS earlier, "
            "max(number) OVER () + row_number() OVER (ORDER BY fetched_at, number) AS later "
            "FROM store.response) ordered WHERE number = ordered.earlier"
        )
    return taken


def _people(
    study: Study, directory: Path, source: Reader, writer: Writer, before: frozenset[str]
) -> _People:
    """Whom the other study has forgotten. With another key, their logins tell, if they are here."""
    rows = source.rows("SELECT subject FROM store.forgotten WHERE kind = 'person'")
    theirs = frozenset(row["subject"] for row in rows) - before
    if not theirs or _has_one_key(study, source):
        return _People(theirs)
    ours, mark = study_key(study.directory), source.value("SELECT fingerprint FROM store.key_check")
    key = _key_of(directory)
    if key is None or pseudonym(key, "", "fingerprint") != mark:
        return _People(unknown=len(theirs))
    found: dict[str, str] = {}

    def who_there(host: str) -> Who:
        def who(login: str | None) -> str | None:
            name = pseudonym(key, host, login)
            if login is not None and name is not None and name in theirs:
                found[name] = pseudonym(ours, host, login)
            return name

        return who

    search(writer, Forgotten(people=theirs), who_there, lambda _done, _total: None)
    return _People(frozenset(found.values()), len(theirs) - len(found))


def _has_one_key(study: Study, source: Reader) -> bool:
    """Whether both studies give everybody the same pseudonym."""
    mark = source.value("SELECT fingerprint FROM store.key_check")
    return bool(pseudonym(study_key(study.directory), "", "fingerprint") == mark)


def _key_of(directory: Path) -> bytes | None:
    """The other study's key, if it is there; unlike `study_key` this changes nothing."""
    try:
        text = (directory / "study.key").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    return bytes.fromhex(text) if _KEY.fullmatch(text) else None


def _derive(writer: Writer, study: Study, run: Run, people: _People) -> None:
    """The mined tables from all responses, without what either study has forgotten."""
    gone = forgotten(writer)
    everybody = gone.people | people.known
    if not gone.artifacts and not everybody:
        rebuild_in(writer, study)
        return
    found = search(
        writer,
        Forgotten(people=people.known),
        who_in(study.directory),
        lambda _done, _total: None,
    )
    bury(writer, "person", people.known, run.run_id, run.started_at)
    bury(writer, "artifact", found.written, run.run_id, run.started_at)
    asked = Forgotten(gone.artifacts, everybody)
    erase_in(writer, study, asked.with_found(found, names(writer, found.written)))


def _left_out(source: Reader, taken: Iterable[str]) -> dict[str, int]:
    """Rows of tables that are not merged, such as results: analyses are made again."""
    rows = source.rows(
        "SELECT table_name AS name FROM duckdb_tables() WHERE schema_name = 'store' ORDER BY name"
    )
    merged = {table.removeprefix("store.") for table in (*_BESIDE, *_ELSEWHERE, *LABELS, *taken)}
    tables = [row["name"] for row in rows if row["name"] not in merged]
    counts = {name: source.value(f"SELECT count(*) FROM store.{quoted(name)}") for name in tables}
    return {name: count for name, count in counts.items() if count}
