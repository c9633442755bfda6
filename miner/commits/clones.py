"""What REPO|PATH means: a folder with a repository, or a clone that is kept for a name or URL.

Clones are bare and stand in the user's cache, one for each project. One appears whole or not at
all: it is made under another name first. Git gets a git directory of ours in every call: without
one it would follow the settings of whatever folder the user stands in.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlunsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import local_project, project_of, shown
from faultatlas.miner import projects
from faultatlas.miner.commits import git, logins
from faultatlas.miner.commits.git import SHA256, GitFailed, Place
from faultatlas.miner.commits.logins import without_login

_BRANCHES = "+refs/heads/*:refs/heads/*"
_HEAD = re.compile(rb"^ref: (refs/heads/[^\t\n]+)\tHEAD$", re.MULTILINE)
_HASH = re.compile(rb"^([0-9a-f]+)\t", re.MULTILINE)
_DRAFT = "%draft-"  # no name of a clone has this in it
_NETWORK = (
    "--no-pager", "-c", "core.hooksPath=" + os.devnull, "-c", "gc.auto=0", "-c",
    "maintenance.auto=false", "-c", "fetch.unpackLimit=1", "-c", "fetch.writeCommitGraph=false",
    "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "core.askPass=",
    "-c", "credential.interactive=false",
)  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """A repository that was named."""

    project: str  # as ids have it
    place: str  # folder or address, without a password
    folder: Path  # of the repository, or of the clone
    url: str | None = None  # where the clone is fetched from, as it was typed

    @property
    def is_clone(self) -> bool:
        """Whether it is kept in the cache."""
        return self.url is not None


def wanted(text: str) -> Wanted:
    """What was typed: an alias, a folder, owner/name or a URL, in this order."""
    if not text or text.startswith("-") or "\0" in text:
        raise StudyError(f"{shown(text)} names no repository", "Give a folder, owner/name or URL.")
    is_word = re.fullmatch("[A-Za-z0-9_-]+", text)
    folder = _folder(text)
    if is_word and not _is_alias(text) and folder is None:
        projects.find(text)  # says which names are near
    if folder is not None and not _is_alias(text) and "://" not in text:
        return _local(folder)
    if text.startswith((".", "/", "~")):
        raise StudyError(f"there is no folder {shown(text)}", "Give the folder of a repository.")
    url, project = _address(text)
    logins.remember(url)
    place = without_login(url)
    return Wanted(project, place, clones() / f"{_folder_of(project, place)}.git", url)


def at(place: str) -> Wanted:
    """The repository that a walk has recorded; nothing is fetched."""
    if "://" in place or not Path(place).is_absolute():
        return wanted(place)
    if not Path(place).is_dir():
        raise StudyError(f"the repository {place} is not there any more", "Put it back.")
    return _local(Path(place))


def clones() -> Path:
    """The folder of all clones."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "faultatlas" / "clones"


def refresh(it: Wanted, tell: Callable[[str], None]) -> None:
    """Make the clone, or fetch what is new in it."""
    if it.url is None:
        return
    git.check_version()
    it.folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(it, tell) as lock:
        if it.folder.is_dir():
            tell(f"fetching what is new in {it.place}")
            _fetch(it, it.folder, _listed(it, it.folder, lock), lock)
        else:
            tell(f"cloning {it.place}")
            _clone(it, lock)


def _is_alias(text: str) -> bool:
    return text.strip().lower() in {row[0] for row in projects.aliases_table().rows}


def _folder(text: str) -> Path | None:
    try:
        folder = Path(text).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):  # too long, not ours to see, or of a user that does not exist
        return None


def _local(folder: Path) -> Wanted:
    name = str(folder.resolve())
    if "\n" in name or name.encode(errors="ignore").decode() != name:
        raise StudyError(
            f"a study cannot keep the folder's name {shown(name)}: it is not UTF-8, or has a line "
            "break in it",
            "Rename the folder, or move the repository to another one.",
        )
    place = git.discover(folder)
    url = git.remote_url(place)
    project = None
    if url:
        with suppress(StudyError):  # a remote that is a folder, or of no known form
            project = project_of(url)
    if project is None:
        common = place.common_dir
        named = common.parent if common.name == ".git" else common
        project = local_project(named.name or "root")
    return Wanted(project, name, folder.resolve())


def _address(text: str) -> tuple[str, str]:
    """Where to clone from, and the project's name."""
    if "://" in text or re.match(r"[^/]+@[^/]+:", text):
        known = re.match(r"(?:https?|ssh|git|file)://|[^/:]+@[^/:]+:[^-]", text)
        if not known or not text.isprintable():
            raise StudyError(
                f"{shown(text)} is no address to clone from", "Use https, ssh, git or file."
            )
        if text.startswith("file://"):
            return text, local_project(logins.split(text).path)
        # An address of a page in a repository is one of the repository.
        project = project_of(without_login(text))
        parts = logins.split(text)
        if parts.hostname == "github.com" and parts.scheme == "https":
            return urlunsplit(("https", parts.netloc, f"/{project}.git", "", "")), project
        return text, project
    found = projects.find(text) if _is_alias(text) else None
    project = found.repository if found else project_of(text)
    if project.startswith("local/"):
        raise StudyError(f"{shown(text)} names no repository to clone", "Give its folder.")
    first = project.partition("/")[0]
    has_host = "." in first or ":" in first
    return f"https://{'' if has_host else 'github.com/'}{project}.git", project


def _folder_of(project: str, place: str) -> str:
    """Below the cache; no project's name leads out of it."""
    first = project.partition("/")[0]
    name = project if "." in first or ":" in first or first == "local" else f"github.com/{project}"
    parts = [part.replace(":", "%3a") for part in name.split("/")]
    if any(part in ("", ".", "..") for part in parts):
        raise StudyError(f"{shown(project)} is no name of a repository", "Check it.")
    if place.startswith("file://"):  # many folders have one name
        parts[-1] += f"-{hashlib.sha256(place.rstrip('/').encode()).hexdigest()[:12]}"
    return "/".join(parts)


def _clone(it: Wanted, lock: Sequence[int]) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f".{it.folder.name}{_DRAFT}", dir=it.folder.parent))
    try:
        listed = _listed(it, draft, lock)
        first = _HASH.search(listed)
        algorithm = "sha256" if first and len(first[1]) == SHA256 else "sha1"
        wanted = ("--bare", "--template=", f"--object-format={algorithm}")
        _git(it, draft, lock, "init", "--quiet", *wanted)
        _fetch(it, draft, listed, lock)
        draft.rename(it.folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _listed(it: Wanted, folder: Path, lock: Sequence[int]) -> bytes:
    """What the server has: which branch HEAD is, and hashes, which tell the algorithm."""
    clean = without_login(it.url or "")
    return _git(it, folder, lock, "ls-remote", "--symref", clean, "HEAD", "refs/heads/*")


def _fetch(it: Wanted, folder: Path, listed: bytes, lock: Sequence[int]) -> None:
    clean = without_login(it.url or "")
    _git(
        it, folder, lock, "fetch", "--quiet", "--prune", "--force", "--no-tags",
        "--no-write-fetch-head", "--no-recurse-submodules", "--update-head-ok", clean, _BRANCHES,
    )  # fmt: skip
    # What the default branch is called may change as well.
    if head := _HEAD.search(listed):
        name = head[1].decode(errors="surrogateescape")
        _git(it, folder, lock, "symbolic-ref", "HEAD", name)


def _git(it: Wanted, folder: Path, lock: Sequence[int], *words: str) -> bytes:
    environment = {**git.connected(folder), **logins.settings(it.url or "")}
    try:
        return git.run([*_NETWORK, f"--git-dir={folder}", *words], environment, inherited=lock)
    except GitFailed as error:
        raise StudyError(
            f"{it.place} cannot be cloned or fetched: {error}",
            "Check the name, the network and your access (git's own credentials are used), then "
            "run this again; or give the folder of a clone that you have.",
        ) from None


@contextmanager
def _locked(it: Wanted, tell: Callable[[str], None]) -> Iterator[Sequence[int]]:
    """Only one of our processes fetches into a clone; gives the descriptors for git to inherit.

    A git whose parent was killed goes on and still has them: its files are not swept away. It is
    not waited for, since a program that keeps passwords may have them, too, and never end.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield ()
        return
    name, folder = it.folder.name, it.folder.parent
    with (folder / f"{name}.lock").open("w") as ours, (folder / f"{name}.busy").open("w") as gits:
        try:
            fcntl.flock(ours, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another process that fetches {it.place}")
            fcntl.flock(ours, fcntl.LOCK_EX)
        with suppress(BlockingIOError):
            fcntl.flock(gits, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _sweep(it.folder)
        fcntl.flock(gits, fcntl.LOCK_SH)
        yield (gits.fileno(),)


def _sweep(folder: Path) -> None:
    """Remove what a killed fetch has left: nobody writes here now."""
    for left in folder.parent.glob(f".{folder.name}{_DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/*/tmp_obj_*"):
        for left in folder.glob(pattern):
            with suppress(OSError):
                left.unlink()
    for left in folder.glob("objects/tmp_objdir-*"):
        shutil.rmtree(left, ignore_errors=True)


def open_place(it: Wanted) -> Place:
    """The repository as it is on disk."""
    if it.is_clone and not it.folder.is_dir():
        raise StudyError(
            f"the clone of {it.place} is not in the cache ({it.folder})",
            f"Make it again: miner commits {it.place}",
        )
    return git.discover(it.folder)
