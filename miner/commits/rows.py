"""Commits and their changes as Arrow tables, and where they go in the study.

Columns are filled one by one and bytes are handed over as they are: a Python object for each
row would cost more than git itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from miner.commits.functions import Change
from miner.commits.messages import Message
from miner.commits.patches import LONGEST_TEXT, File, Hunk

if TYPE_CHECKING:
    import pyarrow as pa

    from data.store import Writer

DERIVED = (
    "store.commit", "store.commit_file", "store.commit_hunk", "store.commit_function",
)  # fmt: skip
_CHANGES = DERIVED[1:]
_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799  # the years 1 to 9999

_FILES = (
    "artifact_id", "position", "path", "old_path", "path_bytes", "change", "similarity",
    "old_mode", "new_mode", "old_blob", "new_blob", "added", "deleted", "hunks", "problem",
)  # fmt: skip
_HUNKS = (
    "artifact_id", "file", "position", "old_start", "old_lines", "new_start", "new_lines",
    "section", "text",
)  # fmt: skip
_FUNCTIONS = (
    "artifact_id", "file", "name", "kind", "change", "old_start", "old_end", "new_start",
    "new_end",
)  # fmt: skip
_INTEGERS = frozenset(
    {"position", "similarity", "added", "deleted", "hunks", "file", "old_start", "old_lines",
     "new_start", "new_lines", "old_end", "new_end"}
)  # fmt: skip
_BYTES = frozenset({"section", "text"})


@dataclass(frozen=True, slots=True)
class Finished:
    """That the changes of a commit were read, and how far."""

    artifact_id: str
    diff: str
    problem: str | None
    functions: bool


@dataclass
class Batch:
    """Changes that are written together."""

    files: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _FILES})
    hunks: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _HUNKS})
    functions: dict[str, list[Any]] = field(
        default_factory=lambda: {name: [] for name in _FUNCTIONS}
    )
    finished: list[Finished] = field(default_factory=list)
    size: int = 0  # bytes of text, about

    def add_hunk(self, artifact_id: str, hunk: Hunk, position: int) -> None:
        """A hunk of the file at that position."""
        text = hunk.text.rstrip(b"\n")
        if len(text) > LONGEST_TEXT:
            text = text[: text.rfind(b"\n", 0, LONGEST_TEXT) if b"\n" in text[:LONGEST_TEXT] else LONGEST_TEXT]
            hunk.file.cut += 1
        row = (
            artifact_id, position, hunk.position, hunk.old_start, hunk.old_lines,
            hunk.new_start, hunk.new_lines, hunk.section or None, text,
        )  # fmt: skip
        for column, value in zip(self.hunks.values(), row, strict=True):
            column.append(value)
        self.size += len(text) + 200

    def add_file(self, artifact_id: str, file: File, position: int) -> None:
        """A file, when its hunks are counted."""
        is_text = not file.is_binary and file.problem is None
        problem = file.problem
        if file.cut:
            problem = f"cut: of {file.cut} hunks only the first {LONGEST_TEXT // 1024} KiB are kept"
        path, old_path, raw = _names(file)
        row = (
            artifact_id, position, path, old_path, raw, file.change, file.similarity,
            _mode(file.old_mode), _mode(file.new_mode), _blob(file.old_blob), _blob(file.new_blob),
            file.added if is_text else None, file.deleted if is_text else None,
            file.hunks if is_text else None, problem,
        )  # fmt: skip
        for column, value in zip(self.files.values(), row, strict=True):
            column.append(value)
        self.size += 400

    def add_function(self, artifact_id: str, position: int, change: Change) -> None:
        """A changed function of the file at that position."""
        old, new = change.old, change.new
        row = (
            artifact_id, position, change.name, change.kind, change.change,
            old.start if old else None, old.end if old else None,
            new.start if new else None, new.end if new else None,
        )  # fmt: skip
        for column, value in zip(self.functions.values(), row, strict=True):
            column.append(value)

    def forget(self, artifact_id: str) -> None:
        """Drop the rows of the commit that came last: it could not be read to its end."""
        for table in (self.files, self.hunks, self.functions):
            ids = table["artifact_id"]
            keep = len(ids)
            while keep and ids[keep - 1] == artifact_id:
                keep -= 1
            for column in table.values():
                del column[keep:]

    def write(self, writer: Writer) -> None:
        """Store all of it."""
        for name, columns in zip(_CHANGES, (self.files, self.hunks, self.functions), strict=True):
            if columns["artifact_id"]:
                writer.insert(name, _table(columns))
        if self.finished:
            writer.execute(
                "UPDATE store.commit SET diff = u.diff, functions_read = u.functions, "
                "problem = nullif(concat_ws('; ', CASE WHEN starts_with(commit.problem, 'message') "
                "THEN commit.problem END, u.problem), '') "
                "FROM (SELECT unnest(?::VARCHAR[]) AS artifact_id, unnest(?::VARCHAR[]) AS diff, "
                "unnest(?::BOOLEAN[]) AS functions, unnest(?::VARCHAR[]) AS problem) AS u "
                "WHERE commit.artifact_id = u.artifact_id",
                [
                    [each.artifact_id for each in self.finished],
                    [each.diff for each in self.finished],
                    [each.functions for each in self.finished],
                    [each.problem for each in self.finished],
                ],
            )


def clear_changes(writer: Writer, artifacts: Sequence[str]) -> None:
    """Take away the changes of commits that are to be read again."""
    for table in _CHANGES:
        writer.execute(
            f"DELETE FROM {table} WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(artifacts)],
        )
    writer.execute(
        "UPDATE store.commit SET diff = NULL, functions_read = false "
        "WHERE diff IS NOT NULL AND artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(artifacts)],
    )


@dataclass(frozen=True)
class Told:
    """What every commit row of a reading has in common."""

    prefix: str  # of ids
    project: str
    run_id: str
    read_at: datetime


def commit_table(
    messages: Sequence[Message], people: Sequence[tuple[str | None, str | None]], told: Told
) -> pa.Table:
    """Rows of `store.commit`."""
    import pyarrow as pa

    count = len(messages)
    authors = [each.author for each in messages]
    committers = [each.committer for each in messages]
    created = [
        each.epoch * 1_000_000 if each and each.epoch is not None and _FIRST_S <= each.epoch <= _LAST_S else None
        for each in authors
    ]
    text = pa.string()
    return pa.table(
        {
            "artifact_id": pa.array([told.prefix + each.sha for each in messages], text),
            "project": pa.array([told.project] * count, text),
            "sha": pa.array([each.sha for each in messages], text),
            "parents": pa.array([each.parents for each in messages], pa.list_(text)),
            "author": pa.array([author for author, _committer in people], text),
            "author_epoch": pa.array([each.epoch if each else None for each in authors], pa.int64()),
            "author_zone": pa.array([each.zone if each else None for each in authors], text),
            "committer": pa.array([committer for _author, committer in people], text),
            "committer_epoch": pa.array(
                [each.epoch if each else None for each in committers], pa.int64()
            ),
            "committer_zone": pa.array([each.zone if each else None for each in committers], text),
            "created_at": pa.array(created, pa.timestamp("us")),
            "message": pa.array([each.text for each in messages], text),
            "encoding": pa.array([each.encoding for each in messages], text),
            "problem": pa.array([each.problem for each in messages], text),
            "run_id": pa.array([told.run_id] * count, text),
            "fetched_at": pa.array([told.read_at] * count, pa.timestamp("us")),
        }
    )


def hit_table(hits: Sequence[tuple[str, str, Sequence[str], str]], run_id: str) -> pa.Table:
    """Rows of `store.keyword_hit`."""
    import pyarrow as pa

    text = pa.string()
    return pa.table(
        {
            "artifact_id": pa.array([each[0] for each in hits], text),
            "lexicon": pa.array([each[1] for each in hits], text),
            "words": pa.array([list(each[2]) for each in hits], pa.list_(text)),
            "reading": pa.array([each[3] for each in hits], text),
            "run_id": pa.array([run_id] * len(hits), text),
        }
    )


def _table(columns: dict[str, list[Any]]) -> pa.Table:
    import pyarrow as pa

    made = {}
    for name, values in columns.items():
        if name in _INTEGERS:
            made[name] = pa.array(values, pa.int32())
        elif name in _BYTES:
            made[name] = _decoded(values)
        elif name == "path_bytes":
            made[name] = pa.array(values, pa.binary())
        else:
            made[name] = pa.array(values, pa.string())
    return pa.table(made)


def _decoded(values: Sequence[bytes | None]) -> pa.Array:
    """Bytes as text; those that are not UTF-8, or hold a NUL, with replacements."""
    import pyarrow as pa

    try:
        found = pa.array(values, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        found = pa.array(
            [None if value is None else value.decode(errors="replace") for value in values],
            pa.string(),
        )
    return found


def _names(file: File) -> tuple[str, str | None, bytes | None]:
    try:
        return file.path.decode(), None if file.old_path is None else file.old_path.decode(), None
    except UnicodeDecodeError:
        old = file.old_path
        return (
            file.path.decode(errors="replace"),
            None if old is None else old.decode(errors="replace"),
            (old or b"") + b"\0" + file.path,
        )


def _mode(mode: bytes) -> str | None:
    return mode.decode() if mode.strip(b"0") else None


def _blob(blob: bytes) -> str | None:
    return blob.decode() if blob.strip(b"0") else None
