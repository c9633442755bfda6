"""A file as it was before a commit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from data.errors import StudyError
from data.identity import shown
from data.store import Study
from miner.commits import clones, git, patches
from miner.commits.clones import Wanted
from miner.commits.git import GitFailed, View
from miner.commits.patches import SUBMODULE, Commit, File

if TYPE_CHECKING:
    from collections.abc import Callable

_HASH = re.compile(r"[0-9a-f]{4,64}")


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
    with _opened(directory, repository, sha, tell) as view:
        whole = _commit(view, sha)
        old_path, blob = _version(view, whole, path.encode(errors="surrogateescape"))
        try:
            content = view.run("cat-file", "blob", blob)
        except GitFailed as error:
            raise StudyError(
                f"{shown(path)} before {whole} is blob {blob}, which cannot be read: {error}",
                "Fetch it into the repository (git fetch --refetch, or a full clone).",
            ) from None
        return Before(whole, path, old_path.decode(errors="surrogateescape"), blob, content)


@contextmanager
def _opened(
    directory: Path, repository: str | None, sha: str, tell: Callable[[str], None]
) -> Iterator[View]:
    if repository is not None:
        it = clones.wanted(repository)
        if it.is_clone and not it.folder.is_dir():
            clones.refresh(it, tell)
    else:
        it = _known(directory, sha)
    with git.viewing(clones.open_place(it)) as view:
        yield view


def _known(directory: Path, sha: str) -> Wanted:
    """The repository in which the study has found a commit."""
    study = Study(directory, tell=lambda _message: None)
    rows = []
    if study.exists:
        with study.reading() as reader:
            rows = reader.rows(
                "SELECT DISTINCT place, max(number) AS newest FROM store.git_walk "
                "JOIN store.commit USING (project) WHERE starts_with(sha, ?) "
                "GROUP BY place ORDER BY newest DESC",
                [sha],
            )
    problem = None
    for row in rows:
        try:
            it = clones.at(row["place"])
            clones.open_place(it)
        except StudyError as error:
            problem = error
        else:
            return it
    raise problem or StudyError(
        f"this study has no commit {sha}",
        "Name the repository as well: miner commits REPO --show-before SHA PATH.",
    )


def _commit(view: View, sha: str) -> str:
    try:
        return view.run("rev-parse", "--verify", "--quiet", f"{sha}^{{commit}}").decode().strip()
    except GitFailed as error:
        several = "ambiguous" in str(error)
        raise StudyError(
            f"{sha} is {'the beginning of several hashes' if several else 'no commit'} there",
            "Give more of its digits." if several else "Fetch first, or name another repository.",
        ) from None


def _version(view: View, sha: str, path: bytes) -> tuple[bytes, str]:
    """Path and blob before the commit."""
    parents = view.run("rev-list", "--parents", "-n1", sha).split()[1:]
    if sha in view.shallow:
        raise StudyError(f"the parents of {sha} are not in this shallow clone", "Clone it whole.")
    if not parents:
        raise StudyError(f"{sha} is the first commit: there is nothing before it", "")
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
    if len(words) != 3 or words[1] != b"blob":
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
