"""`miner forget ID|AUTHOR`: an artifact or a person goes out of every table and every stored
response, and out of the file; a tombstone keeps later fetches from bringing it back.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.data.schema import quoted
from faultatlas.miner import archive
from faultatlas.miner.commits.forgetting import erase_people, named_in_commits, written_by
from faultatlas.miner.ending import noting
from faultatlas.miner.keeping.erased_bugs import bugs_about, remove_folders
from faultatlas.miner.keeping.erased_columns import ERASED, NOTES, Column
from faultatlas.miner.keeping.erased_labels import drop_what_is_left
from faultatlas.miner.keeping.erased_posts import words_of
from faultatlas.miner.keeping.erased_words import Words
from faultatlas.miner.keeping.erasing import Forgotten, Found, without
from faultatlas.miner.keeping.subjects import Subject, subject_of
from faultatlas.miner.rebuild import host_of, rebuild_in
from faultatlas.miner.study_key import check_key, who_in
from faultatlas.miner.tombstones import bury, expect_gaps, forgotten, names

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.miner.payload import Who

Progress = Callable[[int, int], None]  # responses read, and in all

# Where a link may be found besides comments; `text` and `hash` are those of duplicates.
_PLACES = ("title", "body", "message", "timeline", "tracker", "text", "hash")


@dataclass
class Removal:
    """What went, or would go."""

    subject: str  # an artifact id or a pseudonym
    kind: str
    artifacts: list[str] = field(default_factory=list)  # with the issues that a person wrote
    removed: dict[str, int] = field(default_factory=dict)  # rows by table
    texts_changed: int = 0  # rows that are left, without the name
    responses_changed: int = 0
    responses_removed: int = 0
    was_forgotten: bool = False  # before, already

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)

    def words(self) -> str:
        """For a person."""
        rows = ", ".join(f"{count:,} {table}" for table, count in self.removed.items())
        others = len(self.artifacts) if self.kind == "person" else len(self.artifacts) - 1
        also = f" with {others:,} artifact{'s' * (others != 1)}" if others > 0 else ""
        return (
            f"{self.subject}{also}: rows: {rows or 'none'}; texts: {self.texts_changed:,} changed; "
            f"responses: {self.responses_removed:,} removed, {self.responses_changed:,} changed"
        )


class _Undo(Exception):  # noqa: N818  (no error: it ends a transaction that was only looked at)
    pass


def plan_forget(
    study: Study, text: str, progress: Progress = lambda _done, _total: None
) -> Removal:
    """What `forget` would do: it is done and undone, so that the numbers are exact."""
    run = provenance.begin("miner forget", {})
    _require(study)
    with suppress(_Undo), study.writing() as writer:
        removal = _forget_in(writer, study, text, run, progress)
        raise _Undo
    return removal


def forget(study: Study, text: str, progress: Progress = lambda _done, _total: None) -> Removal:
    """Remove an artifact or a person for good. What was typed is stored nowhere."""
    run = provenance.begin("miner forget", {})
    _require(study)
    with study.writing() as writer:
        bugs = bugs_about(writer)
        removal = _forget_in(writer, study, text, run, progress)
        # Before the rows are gone for good: of a bug without rows nobody would know the folder.
        remove_folders(study.directory, bugs - bugs_about(writer))
        run.arguments["subject"] = removal.subject
        provenance.record(writer, run, "running")
    with noting(study, run):
        compact(study, removal.subject)
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
    return removal


def compact(study: Study, what: str) -> None:
    """Write the file anew: deleted rows stand in it until then."""
    try:
        study.compact()
    except StudyError as error:
        raise StudyError(
            f"{what} is out of all tables, but not out of unused parts of the file: "
            f"{error.message}",
            "When there is room again, run `miner forget` for it: the file is then written anew.",
        ) from error


def _require(study: Study) -> None:
    with study.reading():
        pass


def _forget_in(writer: Writer, study: Study, text: str, run: Run, progress: Progress) -> Removal:
    check_key(writer, study.directory, run.run_id)  # with another key nobody would be found
    people = who_in(study.directory)
    subject = subject_of(writer, text, people)
    asked = Forgotten(frozenset(subject.artifacts), frozenset(subject.people))
    found = search(writer, asked, people, progress)
    before = forgotten(writer)
    meant = {*subject.artifacts, *subject.people}
    there_already = (before.artifacts | before.people) & meant
    seen = meant & (found.people | found.artifacts | _in_tables(writer, asked)) | there_already
    if not seen:
        raise _unknown(subject, text)
    buried = asked.people & seen
    tombstones = {*subject.lasting_names, *found.written}
    bury(writer, "person", buried, run.run_id, run.started_at)
    bury(writer, "artifact", tombstones, run.run_id, run.started_at)
    removal = erase_in(writer, study, asked.with_found(found, names(writer, found.written)))
    removal.subject = subject.shown or ", ".join(sorted(buried))
    removal.kind = "person" if subject.people else "artifact"
    removal.artifacts = sorted(tombstones)
    removal.was_forgotten = bool(there_already)
    return removal


def erase_in(writer: Writer, study: Study, what: Forgotten) -> Removal:
    """Take it out of all responses and tables, in the caller's transaction."""
    removal = Removal("", "")
    before = _sizes(writer)
    read = _read_whole(writer)
    people = who_in(study.directory)
    for number, exchange in archive.replay(writer):
        left, _found = without(exchange, what, people(host_of(exchange.project)))
        if left is None:
            writer.execute("DELETE FROM store.response WHERE number = ?", [number])
            removal.responses_removed += 1
        elif left is not exchange:
            _store_again(writer, number, left)
            removal.responses_changed += 1
    rebuild_in(writer, study)
    expect_gaps(writer, read)
    for table in _tables_with(writer, "artifact_id"):
        writer.execute(
            f"DELETE FROM {_sql(table)} WHERE list_contains(?, artifact_id)",
            [sorted(what.artifacts)],
        )
    drop_what_is_left(writer)
    for table in NOTES:
        writer.execute(f"DELETE FROM {table}")
    _drop_links_of_comments(writer)
    changed = {("store.commit", each) for each in erase_people(writer, what.people, people)}
    changed |= _erase_words(writer, what, people)
    removal.texts_changed = len(changed)
    after = _sizes(writer)
    removal.removed = {
        table.removeprefix("store."): count - after[table]
        for table, count in before.items()
        if count > after[table] and table not in ("store.response", *NOTES)
    }
    return removal


def search(
    reader: Reader, asked: Forgotten, people: Callable[[str], Who], progress: Progress
) -> Found:
    """What the responses and the commits hold of it."""
    found = Found(
        people=named_in_commits(reader, asked.people, people),
        written=written_by(reader, asked.people),
    )
    total = reader.value("SELECT count(*) FROM store.response")
    for done, (_number, exchange) in enumerate(archive.replay(reader), 1):
        found.add(without(exchange, asked, people(host_of(exchange.project)))[1])
        progress(done, total)
    return found


def _read_whole(reader: Reader) -> list[str]:
    """Issues that lack no comment."""
    rows = reader.rows(
        "SELECT artifact_id FROM store.issue LEFT JOIN (SELECT artifact_id, count(*) AS live "
        "FROM store.comment WHERE gone_at IS NULL GROUP BY ALL) USING (artifact_id) "
        "WHERE coalesce(live, 0) >= comment_count"
    )
    return [row["artifact_id"] for row in rows]


def _in_tables(reader: Reader, asked: Forgotten) -> set[str]:
    """The artifacts that a table names; labels may be there without the issue."""
    found: set[str] = set()
    for table in _tables_with(reader, "artifact_id"):
        rows = reader.rows(
            f"SELECT DISTINCT artifact_id FROM {_sql(table)} WHERE list_contains(?, artifact_id)",
            [sorted(asked.artifacts)],
        )
        found.update(row["artifact_id"] for row in rows)
    return found


def _unknown(subject: Subject, text: str) -> StudyError:
    if subject.people:
        return StudyError(
            f"nobody called {shown(text)} is in this study",
            "Give the login as the tracker spells it, github:LOGIN or gitee:LOGIN for one of "
            "them, https://stackoverflow.com/users/NUMBER, or a pseudonym from a column such as "
            "issues.author.",
        )
    return StudyError(
        f"{subject.shown} is not in this study",
        "Give the address of an issue, or an id from a column artifact_id.",
    )


def _store_again(writer: Writer, number: int, exchange: archive.Exchange) -> None:
    writer.execute(
        "UPDATE store.response SET response_id = ?, request = ?, url = ?, final_url = ?, "
        "headers = ?, size = ?, body = ? WHERE number = ?",
        [
            exchange.response_id,
            json.dumps(exchange.request, sort_keys=True),
            exchange.url,
            exchange.final_url,
            json.dumps(exchange.headers, sort_keys=True),
            len(exchange.body),
            archive.packed(exchange.body),
            number,
        ],
    )


def _drop_links_of_comments(writer: Writer) -> None:
    """Links that were found in comments that are no longer there; they have their words."""
    writer.execute(
        "DELETE FROM store.link WHERE NOT list_contains(?, found_in) "
        "AND NOT starts_with(found_in, 'via ') AND found_in NOT IN (SELECT comment_id FROM "
        "store.comment UNION ALL SELECT comment_id FROM store.reply)",
        [list(_PLACES)],
    )


def _erase_words(
    writer: Writer, what: Forgotten, people: Callable[[str], Who]
) -> set[tuple[str, Any]]:
    """Take names out of everything that is no response and not made from one.

    A row whose key has such a name goes, and so does the place where a walk about it stopped;
    elsewhere the name is replaced. Gives the rows in which it was.
    """
    projects = {
        host_of(row["project"]): row["project"]
        for row in writer.rows("SELECT DISTINCT project FROM store.response ORDER BY project")
    }
    projects.setdefault("github.com", "github:any/project")  # commits name its people
    keys = _keys(writer)
    changed: set[tuple[str, Any]] = set()
    for host, project in projects.items():
        words = words_of(what.artifacts, what.people, people(host), project)
        for column in ERASED:
            is_key = column.name in keys[column.table]
            changed |= _erase_in_column(writer, words, column, is_key=is_key)
    return changed


def _erase_in_column(
    writer: Writer, words: Words, at: Column, *, is_key: bool
) -> set[tuple[str, Any]]:
    changed: set[tuple[str, Any]] = set()
    identity = "artifact_id" if at.table == "store.commit" else "rowid"
    # The runs of this command name what the tombstones name.
    other = "WHERE command <> 'miner forget'" if at.table == "store.run" else ""
    for old in writer.rows(f"SELECT DISTINCT {at.name} AS text FROM {at.table} {other}"):
        new = _erased(words, old["text"], at)
        if new == old["text"]:
            continue
        meant = f"FROM {at.table} WHERE {at.name} = ?"
        if is_key or at.table == "store.checkpoint":
            writer.execute(f"DELETE {meant}", [old["text"]])
            continue
        rows = writer.rows(f"SELECT {identity} AS it {meant}", [old["text"]])
        changed.update((at.table, row["it"]) for row in rows)
        writer.execute(
            f"UPDATE {at.table} SET {at.name} = ? WHERE {at.name} = ?", [new, old["text"]]
        )
    return changed


def _erased(words: Words, text: str | None, at: Column) -> str | None:
    if text is None:
        return None
    act = words.erased_argument if at.is_typed else words.erased_note
    try:
        value = json.loads(text)
    except ValueError:
        return act(text)
    if not isinstance(value, dict | list):
        return act(text)
    kept = _erased_values(act, value, at.only, is_meant=not at.only)
    return text if kept == value else json.dumps(kept, ensure_ascii=False, sort_keys=True)


def _erased_values(
    act: Callable[[str], str], value: Any, only: frozenset[str], *, is_meant: bool
) -> Any:
    if isinstance(value, str):
        return act(value) if is_meant else value
    if isinstance(value, list):
        return [_erased_values(act, item, only, is_meant=is_meant) for item in value]
    if isinstance(value, dict):
        return {
            name: _erased_values(act, item, only, is_meant=is_meant or name in only)
            for name, item in value.items()
        }
    return value


def _keys(reader: Reader) -> defaultdict[str, list[str]]:
    """The columns of each table's primary key."""
    rows = reader.rows(
        "SELECT 'store.' || table_name AS name, constraint_column_names AS columns "
        "FROM duckdb_constraints() WHERE schema_name = 'store' "
        "AND constraint_type = 'PRIMARY KEY'"
    )
    return defaultdict(list, {row["name"]: row["columns"] for row in rows})


def _tables_with(reader: Reader, column: str) -> list[str]:
    rows = reader.rows(
        "SELECT 'store.' || table_name AS name FROM duckdb_columns() "
        "WHERE schema_name = 'store' AND column_name = ? ORDER BY name",
        [column],
    )
    return [row["name"] for row in rows]


def _sizes(reader: Reader) -> dict[str, int]:
    rows = reader.rows(
        "SELECT 'store.' || table_name AS name FROM duckdb_tables() "
        "WHERE schema_name = 'store' ORDER BY name"
    )
    return {row["name"]: reader.value(f"SELECT count(*) FROM {_sql(row['name'])}") for row in rows}


def _sql(table: str) -> str:
    """`store.name` as a statement takes it: a study that somebody sent may have odd tables."""
    return f"store.{quoted(table.removeprefix('store.'))}"
