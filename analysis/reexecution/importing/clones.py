"""Versions of a project out of a clone: read from its objects, nothing of it is executed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from faultatlas.analysis.reexecution.artifacts.places import (
    IGNORED,
    is_behind_link,
    leaves,
    wrong_path,
)
from faultatlas.analysis.reexecution.importing.copying import MOST_MB, TooLargeError
from faultatlas.data.errors import StudyError

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LINK = "120000"  # git's mode of one
_LEAVES = "is a link that leaves the folder"


def find_clone(folder: Path, project: str, url: str) -> Path | None:
    """A clone of a project: in `clones/` of the set or beside it, or one that was mined."""
    names = dict.fromkeys((project, f"{project}.git", Path(url.rstrip("/")).name))
    for root in (folder, folder.parent):
        for name in filter(None, names):
            found = root / "clones" / name
            # No link leads out of a set; what lies beside it is the user's own.
            if found.is_dir() and (root != folder or not is_behind_link(found, root)):
                return found
    from faultatlas.miner.commits import clones

    try:
        kept = clones.wanted(url).folder if url else None
    except StudyError:
        return None
    return kept if kept and kept.is_dir() else None


def day_of(clone: Path, commit: str) -> str:
    """The day of a commit; '' where it is not there."""
    from faultatlas.miner.commits import git

    if not _COMMIT.fullmatch(commit):
        return ""
    try:
        with git.viewing(git.discover(clone)) as view:
            return view.run("show", "-s", "--format=%cs", commit).decode().strip()
    except git.GitFailed:
        return ""


def export(
    clone: Path, commit: str, target: Path, only: Collection[str] | None = None
) -> list[str]:
    """Write the files of a commit, or those of `only`; what was left out is said.

    Raises StudyError for a commit that the clone does not have, TooLargeError for a large one.
    """
    from faultatlas.miner.commits import git

    if not _COMMIT.fullmatch(commit):
        raise StudyError(f"{commit[:60]!r} is no commit", "Mend the metadata of the bug.")
    left_out: list[str] = []
    links: list[str] = []
    with git.viewing(git.discover(clone)) as view:
        try:
            listed = view.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        except git.GitFailed as error:
            raise StudyError(
                f"the clone of the project does not have commit {commit[:12]}: {error}",
                "Fetch its whole history (git fetch --unshallow), then import again.",
            ) from None
        entries = [entry for entry in map(_entry, listed.split(b"\0")) if entry]
        if only is not None:
            entries = [entry for entry in entries if entry[2] in only]
            absent = sorted({*only} - {entry[2] for entry in entries})
            left_out += [f"{path} is not in commit {commit[:12]}" for path in absent]
        entries.sort(key=lambda entry: entry[0] == _LINK)  # nothing is written through one
        size = sum(entry[3] for entry in entries) / 1024 / 1024
        if size > MOST_MB:
            raise TooLargeError(f"has {size:,.0f} MB, more than {MOST_MB}: it was left out")
        lines = [sha.encode() for _, sha, _, _ in entries]
        with view.streaming("cat-file", "--batch", "--buffer", lines=lines) as stream:
            for mode, _, path, _ in entries:
                kind, content = git.one_object(stream)
                if kind != "blob" or content is None:
                    left_out.append(f"{path} is not in the clone")
                    continue
                why = _write(target, path, mode, content)
                if why:
                    left_out.append(f"{path} {why}: it was left out")
                elif mode == _LINK:
                    links.append(path)
    return left_out + _without_leaving(target, links)


def _entry(line: bytes) -> tuple[str, str, str, int] | None:
    """Mode, hash, path and size of a file; None for submodules and paths that nobody can have."""
    head, _, raw = line.partition(b"\t")
    words = head.decode(errors="replace").split()
    path = os.fsdecode(raw)
    if len(words) != 4 or words[1] != "blob" or not words[3].isdigit():
        return None
    if wrong_path(path) or set(path.split("/")) & IGNORED:
        return None
    return words[0], words[2], path, int(words[3])


def _write(target: Path, path: str, mode: str, content: bytes) -> str:
    """Why it was not written; '' where it was."""
    file = target / path
    if why := _in_the_way(target, path):
        return why
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    if mode == _LINK:
        where = os.fsdecode(content)
        if not where or "\0" in where or where.startswith("/"):
            return _LEAVES
        file.symlink_to(where)
        return ""
    file.write_bytes(content)
    if mode == "100755":
        file.chmod(0o755)
    return ""


def _in_the_way(target: Path, path: str) -> str:
    """Why nothing can be written there, which is known before any folder is made; '' if it can."""
    for above in reversed(PurePosixPath(path).parents[:-1]):
        here = target / above
        if here.is_symlink():
            return "lies behind a link"
        if here.exists() and not here.is_dir():
            return "lies behind a file"
    here = target / path
    return "is a folder already" if here.is_dir() and not here.is_symlink() else ""


def _without_leaving(target: Path, links: Collection[str]) -> list[str]:
    """Links lead through each other: where one ends is known when all are there."""
    leaving = [path for path in links if leaves(target / path, target)]
    for path in leaving:
        (target / path).unlink(missing_ok=True)
    return [f"{path} {_LEAVES}: it was left out" for path in leaving]
