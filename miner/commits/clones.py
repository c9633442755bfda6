"""What REPO|PATH means: a folder with a repository, or a clone that is kept for a name or URL.

Clones are bare and stand in the user's cache, one for each project. One appears whole or not at
all: it is made under another name first. A password in a URL reaches git by its environment, so
that neither the clone nor a list of processes shows it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from data.errors import StudyError
from data.identity import local_project, project_of, shown
from data.redaction import SHORTEST, remember_secret
from miner import projects
from miner.commits import git
from miner.commits.git import GitFailed, Place

_BRANCHES = "+refs/heads/*:refs/heads/*"
_HEAD = re.compile(rb"ref: (refs/heads/[^\t\n]+)\tHEAD")
_NETWORK = (
    "--no-pager", "-c", "core.hooksPath=" + os.devnull, "-c", "gc.auto=0", "-c",
    "maintenance.auto=false", "-c", "fetch.unpackLimit=1", "-c", "fetch.writeCommitGraph=false",
    "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false",
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
    if is_word and not _is_alias(text) and not Path(text).is_dir():
        projects.find(text)  # says which names are near
    folder = Path(text).expanduser()
    if not _is_alias(text) and "://" not in text and folder.is_dir():
        return _local(folder)
    if text.startswith((".", "/", "~")):
        raise StudyError(f"there is no folder {shown(text)}", "Give the folder of a repository.")
    url, project = _address(text)
    return Wanted(project, without_login(url), clones() / f"{_folder_of(project)}.git", url)


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


def without_login(url: str) -> str:
    """A URL that may be stored and shown."""
    parts = urlsplit(url) if "://" in url else None
    if parts is None:
        return url
    login, _, host = parts.netloc.rpartition("@")
    name = login.partition(":")[0]
    # The user of ssh addresses is part of where they lead, and no secret.
    kept = f"{name}@{host}" if name and parts.scheme in ("ssh", "git+ssh") else host
    return urlunsplit((parts.scheme, kept, parts.path, "", ""))


def refresh(it: Wanted, tell: Callable[[str], None]) -> None:
    """Make the clone, or fetch what is new in it."""
    if it.url is None:
        return
    it.folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(it.folder):
        if it.folder.is_dir():
            tell(f"fetching what is new in {it.place}")
            _sweep(it.folder)
            _fetch(it, it.folder)
        else:
            tell(f"cloning {it.place}")
            _clone(it)


def _is_alias(text: str) -> bool:
    return text.strip().lower() in {row[0] for row in projects.aliases_table().rows}


def _local(folder: Path) -> Wanted:
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
    return Wanted(project, str(folder.resolve()), folder.resolve())


def _address(text: str) -> tuple[str, str]:
    """Where to clone from, and the project's name."""
    if "://" in text or re.match(r"[^/]+@[^/]+:", text):
        if not re.match(r"(?:https?|ssh|git|file)://|[^/:]+@[^/:]+:[^-]", text):
            raise StudyError(
                f"{shown(text)} is no address to clone from", "Use https, ssh, git or file."
            )
        if text.startswith("file://"):
            return text, local_project(urlsplit(text).path)
        # An address of a page in a repository is one of the repository.
        project = project_of(without_login(text))
        parts = urlsplit(text)
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


def _folder_of(project: str) -> str:
    """Below the cache; no project's name leads out of it."""
    first = project.partition("/")[0]
    name = project if "." in first or ":" in first or first == "local" else f"github.com/{project}"
    parts = [part.replace(":", "%3a") for part in name.split("/")]
    if any(part in ("", ".", "..") for part in parts):
        raise StudyError(f"{shown(project)} is no name of a repository", "Check it.")
    return "/".join(parts)


def _clone(it: Wanted) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f".{it.folder.name}.", dir=it.folder.parent))
    try:
        _git(it, "init", "--quiet", "--bare", "--template=", str(draft))
        _fetch(it, draft)
        draft.rename(it.folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _fetch(it: Wanted, folder: Path) -> None:
    where = f"--git-dir={folder}"
    clean = without_login(it.url or "")
    _git(
        it, where, "fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-write-fetch-head",
        "--no-recurse-submodules", "--update-head-ok", clean, _BRANCHES,
    )  # fmt: skip
    # What the default branch is called may change as well.
    head = _HEAD.search(_git(it, "ls-remote", "--symref", clean, "HEAD"))
    if head:
        _git(it, where, "symbolic-ref", "HEAD", head[1].decode(errors="surrogateescape"))


def _git(it: Wanted, *words: str) -> bytes:
    try:
        return git.run([*_NETWORK, *words], {**git.connected(), **_login(it.url or "")})
    except GitFailed as error:
        raise StudyError(
            f"{it.place} cannot be cloned or fetched: {error}",
            "Check the name, the network and your access (git's own credentials are used), then "
            "run this again; or give the folder of a clone that you have.",
        ) from None


def _login(url: str) -> dict[str, str]:
    """Settings by which git adds the login to the address itself."""
    clean = without_login(url)
    parts = urlsplit(url) if "://" in url else None
    if parts is None or clean == url or "@" not in parts.netloc:
        return {}
    if parts.password and len(parts.password) >= SHORTEST:
        remember_secret(parts.password)
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    whole = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"url.{whole}.insteadOf",
        f"GIT_CONFIG_VALUE_{count}": clean,
    }


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Only one of our processes fetches into a clone."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for left in folder.parent.glob(f".{folder.name}.*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


def _sweep(folder: Path) -> None:
    """Remove what a killed fetch has left: nobody else writes here while we have the lock."""
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
