"""Commits and their changes as Arrow tables, and where they go in the study.

Columns are filled one by one and bytes are handed over as they are: a Python object for each
row would cost more than git itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from faultatlas.data.old import arrow_rows
from faultatlas.miner.commits import columns
from faultatlas.miner.commits.functions import Change
from faultatlas.miner.commits.messages import Message, Signature
from faultatlas.miner.commits.patches import LONGEST_TEXT, File, Hunk

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Writer

_CHANGES = ("store.commit_file", "store.commit_hunk", "store.commit_function")
DERIVED = ("store.commit", "store.commit_diff", *_CHANGES)
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


_REPEATED = frozenset({"artifact_id", "change", "kind"})


# Artifact, lexicon, words, how they were read, and the run that wrote the text.
Hit = tuple[str, str, Sequence[str], str, str]


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

    def add_hunks(self, artifact_id: str, hunks: Sequence[Hunk]) -> None:
        """Hunks of a commit's files."""
        texts = [_kept(hunk) for hunk in hunks]
        filled = self.hunks
        filled["artifact_id"] += [artifact_id] * len(hunks)
        filled["file"] += [hunk.file.position for hunk in hunks]
        filled["position"] += [hunk.position for hunk in hunks]
        filled["old_start"] += [hunk.old_start for hunk in hunks]
        filled["old_lines"] += [hunk.old_lines for hunk in hunks]
        filled["new_start"] += [hunk.new_start for hunk in hunks]
        filled["new_lines"] += [hunk.new_lines for hunk in hunks]
        filled["section"] += [hunk.section or None for hunk in hunks]
        filled["text"] += texts
        self.size += sum(map(len, texts)) + 200 * len(texts)

    def add_files(self, artifact_id: str, files: Sequence[File]) -> None:
        """Files of a commit, when their hunks are counted."""
        filled = self.files
        filled["artifact_id"] += [artifact_id] * len(files)
        filled["position"] += [file.position for file in files]
        filled["path"] += [file.path for file in files]
        filled["old_path"] += [file.old_path for file in files]
        filled["path_bytes"] += [_odd_names(file) for file in files]
        filled["change"] += [file.change for file in files]
        filled["similarity"] += [file.similarity for file in files]
        filled["old_mode"] += [_unless_zero(file.old_mode) for file in files]
        filled["new_mode"] += [_unless_zero(file.new_mode) for file in files]
        filled["old_blob"] += [_unless_zero(file.old_blob) for file in files]
        filled["new_blob"] += [_unless_zero(file.new_blob) for file in files]
        filled["added"] += [file.added if file.is_counted else None for file in files]
        filled["deleted"] += [file.deleted if file.is_counted else None for file in files]
        filled["hunks"] += [file.hunks if file.is_counted else None for file in files]
        filled["problem"] += [_problem(file) for file in files]
        self.size += 400 * len(files)

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

    def write(self, writer: Writer, run_id: str) -> None:
        """Store all of it."""
        writer.execute("SET threads = 1")  # for one thread it is less work, and git has the other
        for name, filled in zip(_CHANGES, (self.files, self.hunks, self.functions), strict=True):
            if filled["artifact_id"]:
                arrow_rows.insert(writer, name, _table(filled))
        if self.finished:
            arrow_rows.insert(writer, "store.commit_diff", _finished_table(self.finished, run_id))
        writer.execute("RESET threads")  # else it stays so for whoever writes next


def clear_changes(writer: Writer, artifacts: Sequence[str]) -> None:
    """Take away the changes of commits that are to be read again."""
    for table in ("store.commit_diff", *_CHANGES):
        writer.execute(
            f"DELETE FROM {table} WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
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
    count = len(messages)
    authors = [each.author for each in messages]
    committers = [each.committer for each in messages]
    return columns.table(
        {
            "artifact_id": columns.texts([told.prefix + each.sha for each in messages]),
            "project": columns.repeated([told.project] * count),
            "sha": columns.texts([each.sha for each in messages]),
            "parents": columns.lists([each.parents for each in messages]),
            "author": columns.texts([author for author, _committer in people]),
            "author_epoch": columns.integers(
                [each.epoch if each else None for each in authors], "int64"
            ),
            "author_zone": columns.texts([each.zone if each else None for each in authors]),
            "committer": columns.texts([committer for _author, committer in people]),
            "committer_epoch": columns.integers(
                [each.epoch if each else None for each in committers], "int64"
            ),
            "committer_zone": columns.texts([each.zone if each else None for each in committers]),
            "created_at": columns.integers([_microseconds(each) for each in authors], "timestamp"),
            "message": columns.texts([each.text for each in messages]),
            "encoding": columns.texts([each.encoding for each in messages]),
            "problem": columns.texts([each.problem for each in messages]),
            "run_id": columns.repeated([told.run_id] * count),
            "fetched_at": columns.integers([_since_1970(told.read_at)] * count, "timestamp"),
        }
    )


def hit_table(hits: Sequence[Hit], run_id: str) -> pa.Table:
    """Rows of `store.keyword_hit`."""
    return columns.table(
        {
            "artifact_id": columns.texts([each[0] for each in hits]),
            "lexicon": columns.texts([each[1] for each in hits]),
            "words": columns.lists([each[2] for each in hits]),
            "reading": columns.texts([each[3] for each in hits]),
            "text_run": columns.texts([each[4] for each in hits]),
            "run_id": columns.texts([run_id] * len(hits)),
        }
    )


def _finished_table(finished: Sequence[Finished], run_id: str) -> pa.Table:
    return columns.table(
        {
            "artifact_id": columns.texts([each.artifact_id for each in finished]),
            "diff": columns.texts([each.diff for each in finished]),
            "functions_read": columns.booleans([each.functions for each in finished]),
            "problem": columns.texts([each.problem for each in finished]),
            "run_id": columns.repeated([run_id] * len(finished)),
        }
    )


def _microseconds(signature: Signature | None) -> int | None:
    """The time of a signature, where the calendar has it."""
    if signature is None or signature.epoch is None:
        return None
    return signature.epoch * 1_000_000 if _FIRST_S <= signature.epoch <= _LAST_S else None


def _since_1970(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001  (UTC)


def _table(filled: dict[str, list[Any]]) -> pa.Table:
    return columns.table(
        {
            name: columns.integers(values)
            if name in _INTEGERS
            else columns.blobs(values)
            if name == "path_bytes"
            else columns.repeated(values)
            if name in _REPEATED
            else columns.texts(values)
            for name, values in filled.items()
        }
    )


def _kept(hunk: Hunk) -> bytes:
    """The lines of a hunk, as many as are kept."""
    text = hunk.text.rstrip(b"\n")
    if len(text) <= LONGEST_TEXT:
        return text
    hunk.file.cut += 1
    at = text.rfind(b"\n", 0, LONGEST_TEXT)
    return text[: at if at > 0 else LONGEST_TEXT]


def _problem(file: File) -> str | None:
    if file.cut and file.problem is None:
        return f"cut: {file.cut} hunks are kept to {LONGEST_TEXT // 1024} KiB each"
    return file.problem


def _odd_names(file: File) -> bytes | None:
    """Both names, where one is not UTF-8."""
    path, old = file.path, file.old_path or b""
    if path.isascii() and old.isascii():
        return None
    names = old + b"\0" + path
    try:
        names.decode()
    except UnicodeDecodeError:
        return names
    return None


def _unless_zero(value: bytes) -> bytes | None:
    return value if value.strip(b"0") else None
