"""The Python files that commits change, read from the repository for their functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from miner.commits.functions import (
    LARGEST,
    Change,
    Definition,
    changed_lines,
    changes,
    definitions,
)
from miner.commits.git import GitFailed, View, one_object
from miner.commits.patches import File, Hunk

_REGULAR = (b"100644", b"100755", b"100664")
_MOST_KEPT = 4_000  # files whose definitions are remembered: a version is often asked for twice


@dataclass(slots=True)
class Candidate:
    """A Python file of a commit, with the lines that change."""

    file: File
    deleted: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)

    def add(self, hunk: Hunk) -> None:
        """Take the lines of a hunk; they come in their order."""
        deleted, added = changed_lines(hunk.text, hunk.old_start, hunk.new_start)
        self.deleted += deleted
        self.added += added


def is_python(file: File) -> bool:
    """Whether there are functions to look for, on either side."""
    names = (file.path, file.old_path or b"")
    sides = [mode for mode in (file.old_mode, file.new_mode) if mode != b"000000"]
    return any(name.endswith((b".py", b".pyi", b".pyx")) for name in names) and all(
        mode in _REGULAR for mode in sides
    )


class Definitions:
    """The definitions in versions of files, each version read and parsed once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[bytes, tuple[Definition, ...] | None] = {}

    def changes(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, list[Change]]]:
        """What happens to the functions of each file; without files that are too large."""
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        self._read(candidates)
        for each in candidates:
            old, new = (self._of(blob) for blob in (each.file.old_blob, each.file.new_blob))
            if old is not None and new is not None:
                yield each, changes(old, new, each.deleted, each.added)

    def _of(self, blob: bytes) -> tuple[Definition, ...] | None:
        return () if not blob.strip(b"0") else self._known.get(blob)

    def _read(self, candidates: Sequence[Candidate]) -> None:
        wanted = dict.fromkeys(
            blob
            for each in candidates
            for blob in (each.file.old_blob, each.file.new_blob)
            if blob.strip(b"0") and blob not in self._known
        )
        if not wanted:
            return
        try:
            with self._view.streaming("cat-file", "--batch", "--buffer", lines=wanted) as stream:
                for blob in wanted:
                    _kind, content = one_object(stream, LARGEST)
                    self._known[blob] = None if content is None else definitions(content)
        except GitFailed:  # what is damaged has no functions; the patch was read before
            return
