"""Versions of a project out of a clone: read from its objects, nothing of it is executed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from analysis.reexecution.artifacts.places import IGNORED, wrong_path
from analysis.reexecution.importing.copying import MOST_MB, TooLargeError
from data.errors import StudyError

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


def find_clone(folder: Path, project: str, url: str) -> Path | None:
    """A clone of a project: in `clones/` of the set or beside it, or one that was mined."""
    names = dict.fromkeys((project, f"{project}.git", Path(url.rstrip("/")).name))
    for home in (folder / "clones", folder.parent / "clones"):
        for name in filter(None, names):
            if (home / name).is_dir():
                return home / name
    from miner.commits import clones

    try:
        kept = clones.wanted(url).folder if url else None
    except StudyError:
        return None
    return kept if kept and kept.is_dir() else None


def day_of(clone: Path, commit: str) -> str:
    """The day of a commit; '' where it is not there."""
    from miner.commits import git

    if not _COMMIT.fullmatch(commit):
        return ""
    try:
        with git.viewing(git.discover(clone)) as view:
            return view.run("show", "-s", "--format=%cs", commit).decode().strip()
    except git.GitFailed:
        return ""


def export(clone: Path, commit: str, target: Path, only: Iterable[str] = ()) -> list[str]:
    """Write the files of a commit, or some of them; what was left out is said.

    Raises StudyError for a commit that the clone does not have, TooLargeError for a large one.
    """
    from miner.commits import git

    if not _COMMIT.fullmatch(commit):
        raise StudyError(f"{commit[:60]!r} is no commit", "Mend the metadata of the bug.")
    wanted = set(only)
    left_out: list[str] = []
    with git.viewing(git.discover(clone)) as view:
        try:
            listed = view.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        except git.GitFailed as error:
            raise StudyError(
                f"the clone of the project does not have commit {commit[:12]}: {error}",
                "Fetch its whole history (git fetch --unshallow), then import again.",
            ) from None
        entries = [entry for entry in map(_entry, listed.split(b"\0")) if entry]
        entries = [entry for entry in entries if not wanted or entry[2] in wanted]
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
                left_out += _write(target, path, mode, content)
    return left_out


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


def _write(target: Path, path: str, mode: str, content: bytes) -> list[str]:
    file = target / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.parent.resolve().is_relative_to(target.resolve()):
        return [f"{path} lies behind a link: it was left out"]
    if mode == "120000":
        where = os.fsdecode(content)
        inside = os.path.normpath(os.path.join(os.path.dirname(path), where))  # noqa: PTH118, PTH120
        if where.startswith("/") or inside.startswith(".."):
            return [f"{path} is a link that leaves the folder: it was left out"]
        file.unlink(missing_ok=True)
        file.symlink_to(where)
        return []
    file.unlink(missing_ok=True)
    file.write_bytes(content)
    if mode == "100755":
        file.chmod(0o755)
    return []
