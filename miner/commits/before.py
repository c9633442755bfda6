"""A file as it was before a commit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.data.study import Study
from faultatlas.miner.commits import clones, git, patches
from faultatlas.miner.commits.git import GitFailed, View
from faultatlas.miner.commits.patches import SUBMODULE, Commit, File

if TYPE_CHECKING:
    from collections.abc import Callable

_HASH = re.compile(r"[0-9a-f]{4,64}")
_SHOWN = 5
_INCOMPLETE = "Fetch what is missing (git fetch --refetch), or name a full clone of it."


@dataclass(frozen=True)
class Before:
    """A version of a file."""

    sha: str
    path: str  # that was asked for
    old_path: str
    blob: str
    content: bytes


def file_before(
    directory: Path, repository: str | None, sha: str, path: str, tell: Callable[[str], None]
) -> Before:
    """The file before that commit, at the path that it had in the first parent."""
    sha = sha.lower()
    if not _HASH.fullmatch(sha):
        raise StudyError(f"{shown(sha)} is no hash of a commit", "Give at least 4 of its digits.")
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise StudyError(
            f"{shown(path)} is no path in a repository", "Give it as commit_files.path has it."
        )
    with _opened(directory, repository, sha, tell) as (view, whole):
        try:
            old_path, blob = _version(view, whole, path.encode(errors="surrogateescape"))
        except GitFailed as error:
            raise StudyError(
                f"{whole} cannot be compared with its parent: {error}", _INCOMPLETE
            ) from None
        try:
            content = view.run("cat-file", "blob", blob)
        except GitFailed as error:
            raise StudyError(
                f"{shown(path)} before {whole} is blob {blob}, which cannot be read: {error}",
                _INCOMPLETE,
            ) from None
        return Before(whole, path, old_path.decode(errors="surrogateescape"), blob, content)


@contextmanager
def _opened(
    directory: Path, repository: str | None, sha: str, tell: Callable[[str], None]
) -> Iterator[tuple[View, str]]:
    """A repository with that commit, and the commit's whole hash."""
    if repository is not None:
        it = clones.wanted(repository)
        if it.is_clone and not it.folder.is_dir():
            clones.refresh(it, tell)
        with git.viewing(clones.open_place(it)) as view:
            yield view, _commit(view, sha)
        return
    whole, places = _known(directory, sha)
    with ExitStack() as opened:
        problem: StudyError | None = None
        for place in places:
            try:
                view = opened.enter_context(git.viewing(clones.open_place(clones.at(place))))
                found = _commit(view, whole)
            except StudyError as error:
                problem = problem or error
            else:
                yield view, found
                return
        raise problem or StudyError(
            f"it is not known where commit {whole} is", "Name the repository as well."
        )


def _known(directory: Path, prefix: str) -> tuple[str, list[str]]:
    """The only commit of the study that begins like this, and where it may be: newest first."""
    study = Study(directory, tell=lambda _message: None)
    found, places = [], []
    if study.exists:
        with study.reading() as reader:
            found = reader.rows(
                "SELECT sha, string_agg(project, ', ' ORDER BY project) AS projects "
                "FROM store.commit WHERE starts_with(sha, ?) GROUP BY sha ORDER BY sha LIMIT ?",
                [prefix, _SHOWN + 1],
            )
            places = reader.rows(
                "SELECT place, max(number) AS newest FROM store.git_walk "
                "JOIN store.commit USING (project) WHERE starts_with(sha, ?) "
                "GROUP BY place ORDER BY newest DESC",
                [prefix],
            )
    if len(found) > 1:
        raise _several(prefix, [f"{row['sha']} ({row['projects']})" for row in found])
    if not found:
        raise StudyError(
            f"this study has no commit {prefix}",
            "Name the repository as well: miner commits REPO --show-before SHA PATH.",
        )
    return found[0]["sha"], [row["place"] for row in places]


def _commit(view: View, prefix: str) -> str:
    """The whole hash of the only commit that begins like this."""
    try:
        objects = view.run("rev-parse", f"--disambiguate={prefix}").splitlines()
        form = "--batch-check=%(objecttype) %(objectname)"
        kinds = view.run("cat-file", form, lines=objects).decode().split("\n")
    except GitFailed:
        kinds = []
    commits = [
        name for kind, _, name in (line.partition(" ") for line in kinds) if kind == "commit"
    ]
    if len(commits) > 1:
        raise _several(prefix, sorted(commits))
    if not commits:
        where = view.place.git_dir
        raise StudyError(
            f"there is no commit {prefix} in {where}", "Fetch first, or name another repository."
        )
    return commits[0]


def _several(prefix: str, commits: list[str]) -> StudyError:
    listed = ", ".join(commits[:_SHOWN]) + (", ..." if len(commits) > _SHOWN else "")
    return StudyError(
        f"{prefix} is ambiguous: it is the beginning of {listed}", "Give more of its digits."
    )


def _version(view: View, sha: str, path: bytes) -> tuple[bytes, str]:
    """Path and blob before the commit."""
    parents = view.run("rev-list", "--parents", "-n1", sha).split()[1:]
    if sha in view.shallow:
        raise StudyError(f"the parents of {sha} are not in this shallow clone", "Clone it whole.")
    if not parents:
        raise StudyError(
            f"{sha} is the first commit: there is nothing before it",
            "Name a later one: SELECT sha FROM commits WHERE len(parents) > 0 lists them.",
        )
    parent = parents[0].decode()
    for file in _files(view, parent, sha):
        if file.path == path or (file.status == b"D" and file.old_path == path):
            if file.old_path is None:
                raise StudyError(
                    f"{shown(path.decode(errors='replace'))} was added by {sha}: "
                    "there is no version before it",
                    "SELECT path, old_path, change FROM commit_files shows what it changed.",
                )
            if file.old_mode == SUBMODULE:
                was = file.old_blob.decode()
                raise StudyError("it is a submodule, no file", f"It was at {was}.")
            return file.old_path, file.old_blob.decode()
    entry = view.run("ls-tree", "-z", parent, "--", path)
    about, _, name = entry.partition(b"\0")[0].partition(b"\t")
    words = about.split()
    # Of a folder with a slash behind it git lists what is inside.
    if len(words) != 3 or words[1] != b"blob" or name != path:
        raise StudyError(
            f"there is no file {shown(path.decode(errors='replace'))} before {sha}",
            "Give the path as commit_files.path has it.",
        )
    return name, words[2].decode()


def _files(view: View, parent: str, sha: str) -> list[File]:
    words = (
        "diff-tree", "-r", "--raw", "--no-abbrev", "-M", "-l1000", "--no-ext-diff",
        "--ignore-submodules=none", parent, sha,
    )  # fmt: skip
    try:
        listed = view.run(*words)
    except GitFailed:  # what is missing may be needed for finding renamed files only
        listed = view.run(*(word if word != "-M" else "-M100%" for word in words))
    found = patches.listed(b"\x01" + sha.encode() + b"\n" + listed)
    assert isinstance(found, Commit)  # noqa: S101
    return found.files
