"""The changes of commits: one git for all of them, and around what is missing, one by one.

Git prints patches until it meets an object that it cannot read, and ends there. So it is asked
for everything at once first. Where that fails, the files of the commits that are left are
listed, which needs no contents, and their objects are looked for: commits that lack nothing are
read as before, and of the others what can be read, with the rest named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Protocol

from faultatlas.miner.commits import patches
from faultatlas.miner.commits.git import GitFailed, View
from faultatlas.miner.commits.lacking import unreadable, without_readable
from faultatlas.miner.commits.messages import objects
from faultatlas.miner.commits.patches import SUBMODULE, Commit, End, File, Hunk, Whole
from faultatlas.report.formatting import counted

_AT_ONCE = 500  # commits that are looked through together when something is missing
_NAMES_AT_ONCE, _BYTES_AT_ONCE = 500, 60_000  # on a command line
_LISTING = (
    "diff-tree", "--stdin", "--always", f"--format={patches.MARK}%H", "--raw", "--no-abbrev",
    "-r", "--root", "-M100%", "-l1000", "--no-ext-diff", "--ignore-submodules=none",
    "--no-relative",
)  # fmt: skip
_TREE = re.compile(rb"tree ([0-9a-f]{40,64})\n")
_PARENT = re.compile(rb"\nparent ([0-9a-f]{40,64})(?=\n)")


class Sink(Protocol):
    """Who takes the changes, in the order in which they are read."""

    def begin(self, sha: str) -> None:
        """Changes of this commit come."""

    def hunks(self, hunks: Sequence[Hunk]) -> None:
        """Some hunks of it."""

    def finish(self, files: Sequence[File], diff: str = "read", problem: str | None = None) -> None:
        """The commit is complete."""

    def undo(self) -> None:
        """The commit that was begun, or finished last, was not: forget what came of it."""


def read(view: View, shas: Sequence[str], sink: Sink) -> None:
    """Read the changes of commits that have one parent or none."""
    cut = [sha for sha in shas if sha in view.shallow]
    for sha in cut:
        sink.begin(sha)
        sink.finish([], "unreadable", "its parents are not in this shallow clone")
    whole = [sha for sha in shas if sha not in view.shallow] if cut else list(shas)
    rest = _optimistic(view, whole, sink)
    for at in range(0, len(rest), _AT_ONCE):
        _around(view, rest[at : at + _AT_ONCE], sink)


def _optimistic(view: View, shas: Sequence[str], sink: Sink) -> list[str]:
    """Read all; returns those that are left when git could not, or left them out."""
    if not shas:
        return []
    begun = 0  # up to the commit at hand
    skipped: list[str] = []
    try:
        with view.streaming(*patches.WORDS, lines=(sha.encode() for sha in shas)) as stream:
            for event in patches.read(stream):
                if isinstance(event, Whole | Commit):
                    sha = event.commit.sha if isinstance(event, Whole) else event.sha
                    at = _position(shas, sha, begun)
                    skipped += shas[begun:at]
                    begun = at + 1
                    sink.begin(sha)
                if isinstance(event, Whole):
                    sink.hunks(event.hunks)
                    _finish(sink, event)
                elif isinstance(event, Hunk):
                    sink.hunks([event])
                elif isinstance(event, End):
                    _finish(sink, event)
    except GitFailed:
        # The last one is not whole: git ended in it, or before the next.
        if begun:
            sink.undo()
            begun -= 1
    return [*skipped, *shas[begun:]]


def _position(shas: Sequence[str], sha: str, start: int) -> int:
    """Where a commit stands: git leaves out what it does not have, without a word."""
    if start < len(shas) and shas[start] == sha:
        return start
    try:
        return shas.index(sha, start)
    except ValueError:
        raise GitFailed(f"git printed {sha!r}, which is no commit that it was asked for") from None


def _finish(sink: Sink, end: End | Whole) -> None:
    if end.is_whole:
        sink.finish(end.commit.files)
    else:
        sink.finish(end.commit.files, "part", "git printed another number of patches than files")


def _around(view: View, shas: Sequence[str], sink: Sink) -> None:
    """Read commits some of which lack something."""
    listed = _listed(view, shas)
    wanted = {
        blob for files in listed.values() if isinstance(files, list) for blob in _needed(files)
    }
    missing = view.missing(sorted(wanted))
    whole = [
        sha
        for sha, files in listed.items()
        if isinstance(files, list) and missing.isdisjoint(_needed(files))
    ]
    rest = set(_optimistic(view, whole, sink))
    for sha, files in listed.items():
        if isinstance(files, str):
            sink.begin(sha)
            sink.finish([], "unreadable", files)
        elif sha in rest or not missing.isdisjoint(_needed(files)):
            _one(view, sha, files, dict.fromkeys(missing, "missing"), sink)


def _listed(view: View, shas: Sequence[str]) -> dict[str, list[File] | str]:
    """The files of commits, or why there is no list of them."""
    found: dict[str, list[File] | str] = dict(_without_trees(view, shas))
    waiting = [sha for sha in shas if sha not in found]
    while waiting:
        read: list[Commit] = []
        try:
            with view.streaming(*_LISTING, lines=(sha.encode() for sha in waiting)) as stream:
                for commit in _commits(stream):
                    read.append(commit)  # noqa: PERF402  (it may end in an error)
        except GitFailed as error:
            # It ended in the last one that it printed or in the one behind it.
            if len(waiting) == 1:
                found[waiting[0]] = without_readable(view, str(error))
                break
            for sha in waiting[max(len(read) - 1, 0) : len(read) + 1]:
                found.update(_listed_alone(view, sha))
            found.update({commit.sha: commit.files for commit in read[:-1]})
            waiting = waiting[len(read) + 1 :]
        else:
            found.update({commit.sha: commit.files for commit in read})
            break
    return {sha: found.get(sha, "git does not list its files") for sha in shas}


def _commits(stream: IO[bytes]) -> Iterator[Commit]:
    found = (event.commit if isinstance(event, Whole) else event for event in patches.read(stream))
    return (each for each in found if isinstance(each, Commit))


def _listed_alone(view: View, sha: str) -> dict[str, list[File] | str]:
    try:
        with view.streaming(*_LISTING, lines=[sha.encode()]) as stream:
            return {commit.sha: commit.files for commit in _commits(stream)}
    except GitFailed as error:
        return {sha: without_readable(view, str(error))}


def _without_trees(view: View, shas: Sequence[str]) -> dict[str, str]:
    """Commits of which a tree, or that of the parent, is not there: nothing can be listed."""
    trees: dict[str, str] = {}
    parents: dict[str, str] = {}
    gone: dict[str, str] = {}
    for sha, content in objects(view, shas):
        if content is None:
            gone[sha] = f"commit {sha} is missing or damaged"
        elif tree := _TREE.match(content):
            trees[sha] = tree[1].decode()
            if parent := _PARENT.search(content.partition(b"\n\n")[0] + b"\n"):
                parents[sha] = parent[1].decode()
    others = sorted(set(parents.values()) - trees.keys())
    absent = {sha for sha, content in objects(view, others) if content is None}
    for sha, content in objects(view, [each for each in others if each not in absent]):
        if content and (tree := _TREE.match(content)):
            trees[sha] = tree[1].decode()
    missing = view.missing(sorted(set(trees.values())))
    for sha in shas:
        above = parents.get(sha)
        if above in absent:
            gone[sha] = f"parent {above} is missing or damaged"
            continue
        lost = [trees[each] for each in (sha, above) if each in trees and trees[each] in missing]
        if lost and sha not in gone:
            gone[sha] = f"missing: tree {', tree '.join(dict.fromkeys(lost))}"
    return gone


def _needed(files: Sequence[File]) -> set[str]:
    """The blobs without which the patch of these files cannot be made."""
    found: set[str] = set()
    for file in files:
        found.update(_blobs(file))
    return found


def _blobs(file: File) -> list[str]:
    if file.old_blob == file.new_blob:  # renamed, or another mode
        return []
    sides = ((file.old_mode, file.old_blob), (file.new_mode, file.new_blob))
    return [blob.decode() for mode, blob in sides if mode != SUBMODULE and blob.strip(b"0")]


def _one(view: View, sha: str, files: Sequence[File], bad: dict[str, str], sink: Sink) -> None:
    """Read a commit around what is missing, or what turns out to be damaged."""
    readable = [file for file in files if not any(blob in bad for blob in _blobs(file))]
    sink.begin(sha)
    shown: list[File] = []
    for group in _groups(readable):
        try:
            shown += _patch(view, sha, group, len(shown), sink.hunks)
        except GitFailed as error:
            sink.undo()
            damaged = unreadable(view, _needed(readable))
            if damaged:
                _one(view, sha, files, {**bad, **dict.fromkeys(damaged, "damaged")}, sink)
            else:
                sink.begin(sha)
                sink.finish([], "unreadable", without_readable(view, str(error)))
            return
    lost = [file for file in files if any(blob in bad for blob in _blobs(file))]
    for position, file in enumerate(lost, len(shown) + 1):
        file.position = position
        file.problem = "; ".join(
            f"blob {blob} is {bad[blob]}" for blob in _blobs(file) if blob in bad
        )
    if lost:
        sink.finish([*shown, *lost], "part", _summary(lost))
    else:
        sink.finish(shown)


def _summary(lost: Sequence[File]) -> str:
    return f"{counted(len(lost), 'file')} cannot be read: {lost[0].problem}"


def _groups(files: Sequence[File]) -> list[list[bytes]]:
    """The names of files, as many together as a command line takes."""
    groups: list[list[bytes]] = []
    room = 0
    for file in files:
        names = [name for name in {file.path, file.old_path} if name is not None]
        length = sum(map(len, names)) + 2
        if not groups or len(groups[-1]) >= _NAMES_AT_ONCE or length > room:
            groups.append([])
            room = _BYTES_AT_ONCE
        groups[-1] += names
        room -= length
    return groups


def _patch(
    view: View,
    sha: str,
    names: Sequence[bytes],
    behind: int,
    take: Callable[[Sequence[Hunk]], None],
) -> list[File]:
    """Some files of a commit; their positions begin behind that one."""
    words = [word for word in patches.WORDS if word != "--stdin"]
    files: list[File] = []
    with view.streaming(*words, sha, "--", *names) as stream:
        for event in patches.read(stream):
            if isinstance(event, Whole | Commit):
                files = event.commit.files if isinstance(event, Whole) else event.files
                for file in files:
                    file.position += behind
            if isinstance(event, Whole):
                take(event.hunks)
            elif isinstance(event, Hunk):
                take([event])
    return files
