"""The Python files that commits change, read from the repository for their functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from faultatlas.miner.commits.functions import (
    LARGEST,
    Change,
    Definition,
    Source,
    changed_lines,
    changes,
)
from faultatlas.miner.commits.git import GitFailed, View, one_object
from faultatlas.miner.commits.patches import File, Hunk

_REGULAR = (b"100644", b"100755", b"100664")
_MOST_KEPT = 4_000  # files whose definitions are remembered: a version is often asked for twice


@dataclass(slots=True)
class Candidate:
    """A Python file of a commit, with the lines that change."""

    file: File
    deleted: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    spans: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, hunk: Hunk) -> None:
        """Take the lines of a hunk; they come in their order."""
        deleted, added = changed_lines(hunk.text, hunk.old_start, hunk.new_start)
        self.deleted += deleted
        self.added += added
        self.spans.append((hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines))


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
        self._known: dict[bytes, tuple[Definition, ...]] = {}

    def changes(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, list[Change]]]:
        """What happens to the functions of each file; without files that are too large."""
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        wanted = [blob for each in candidates for blob in _blobs(each.file)]
        if not wanted:
            return
        words = ("cat-file", "--batch", "--buffer")
        # What is damaged has no functions; the patch was read before.
        with suppress(GitFailed), self._view.streaming(*words, lines=wanted) as stream:
            for each in candidates:
                contents = {blob: one_object(stream, LARGEST)[1] for blob in _blobs(each.file)}
                if None not in contents.values():
                    yield each, self._changes(each, contents)

    def _changes(self, each: Candidate, contents: Mapping[bytes, bytes | None]) -> list[Change]:
        old, new = each.file.old_blob, each.file.new_blob
        source = None
        if old in contents and old not in self._known:
            source = Source(contents[old] or b"")
            self._known[old] = source.definitions()
        if new in contents and new not in self._known:
            self._known[new] = Source(contents[new] or b"", source, each.spans).definitions()
        before, after = (self._known[blob] if blob in contents else () for blob in (old, new))
        return changes(before, after, each.deleted, each.added)


def _blobs(file: File) -> list[bytes]:
    """Those of both sides, where there are any."""
    return [blob for blob in (file.old_blob, file.new_blob) if blob.strip(b"0")]
