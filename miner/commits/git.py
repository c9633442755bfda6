"""Runs git so that nothing but the objects of a repository decides what it prints.

Reading goes through a view: an empty git directory of our own, whose object store is the
repository's. What the repository's or the user's settings say about diffs, programs to run,
replaced objects or other servers is never read, and an object that is missing is not fetched.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import redact

SHA256 = 64  # digits
OLDEST = (2, 32)  # the first that lets the user's settings be left out
_PIPE = 1 << 20  # bytes: with a small one git and we wait for each other all the time
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "LANGUAGE": "C"}
_UNASKED = {
    # Programs that ask for a password, and what to run instead of them.
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",  # not on the terminal either
    "GCM_INTERACTIVE": "never",
}
_SEALED = {
    **_QUIET,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PAGER": "cat",
}
_WORDS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
_VIEW = """\
[core]
	repositoryformatversion = 1
	bare = true
	commitGraph = false
	quotePath = false
	attributesFile = {nothing}
	hooksPath = {nothing}
[extensions]
	objectFormat = {algorithm}
[gc]
	auto = 0
[attr]
	tree = {empty}
"""
_EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class GitFailed(Exception):  # noqa: N818  (git's failure, not ours; every caller says what it means)
    """Git ended with an error; the message is its own."""


@dataclass(frozen=True)
class Place:
    """A repository on disk."""

    git_dir: Path  # of a linked worktree its own: it has the HEAD
    common_dir: Path
    algorithm: str


def sealed() -> dict[str, str]:
    """An environment in which only the repository's own settings can change anything."""
    return {**_without_git(), **_SEALED}


def connected(git_dir: Path) -> dict[str, str]:
    """An environment for fetching: the user's settings and helpers hold, questions do not."""
    environment = {**_users(), **_QUIET, **_UNASKED}
    environment["GIT_ALLOW_PROTOCOL"] = "https:http:ssh:git:file"
    if not {"GIT_SSH_COMMAND", "GIT_SSH"} & set(environment):
        try:
            run([f"--git-dir={git_dir}", "config", "--get", "core.sshCommand"], environment)
        except GitFailed:
            environment["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
    return environment


def _users() -> dict[str, str]:
    """The user's environment without what names a repository, or prints what is sent."""
    inner = ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "NAMESPACE", "COMMON_DIR")
    named = {*(f"GIT_{name}" for name in inner), "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
    return {
        name: value
        for name, value in os.environ.items()
        if name not in named and not name.startswith(("GIT_TRACE", "GIT_CURL_VERBOSE"))
    }


def _without_git() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def run(
    words: Sequence[str | bytes | Path],
    environment: dict[str, str],
    given: IO[bytes] | None = None,
    inherited: Sequence[int] = (),
) -> bytes:
    """What git prints; it and the programs that it starts keep the inherited descriptors open."""
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(
            ["git", *words],
            env=environment,
            stdin=given or subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            pass_fds=inherited,
        ) as process:
            output, errors = process.communicate()
    except FileNotFoundError:
        raise _no_git() from None
    if process.returncode:
        raise GitFailed(said(errors) or f"git ended with {process.returncode}")
    return output


def said(errors: bytes) -> str:
    """The last lines of git's complaint, fit to be shown."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return redact("; ".join((fatal or lines)[-3:]))[:500]


def _no_git() -> StudyError:
    return StudyError("git is not installed, or not on the path", "Install git, then try again.")


def check_version() -> None:
    """Refuse a git that is too old, before it does something else than we think."""
    program = shutil.which("git")
    if program is None:
        raise _no_git()
    found = re.match(r"git version (\d+)\.(\d+)", _version(program))
    if found and (int(found[1]), int(found[2])) < OLDEST:
        raise StudyError(
            f"git {found[1]}.{found[2]} ({program}) is too old",
            f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.",
        )


@cache
def _version(program: str) -> str:
    return subprocess.run(
        [program, "version"], capture_output=True, check=False, text=True, errors="replace"
    ).stdout


def discover(folder: Path) -> Place:
    """The repository in a folder: bare, with files, or a linked worktree; not one around it."""
    check_version()
    folder = folder.resolve()
    try:
        try:
            return _discovered(folder, ())
        except GitFailed as error:
            if "dubious ownership" not in str(error):
                raise
            return _discovered(folder, _trusted())
    except (GitFailed, ValueError) as error:
        if "dubious ownership" in str(error):
            raise StudyError(
                f"{folder} belongs to somebody else, so git does not read it",
                f"If you trust it: git config --global --add safe.directory "
                f"{shlex.quote(str(folder))}",
            ) from None
        raise StudyError(
            f"{folder} is no git repository: {error}",
            "Give the folder of a repository, owner/name, or a URL.",
        ) from None


def _discovered(folder: Path, trusted: Sequence[str]) -> Place:
    environment = {**sealed(), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    settings = [word for each in trusted for word in ("-c", f"safe.directory={each}")]
    words = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"]
    found = run([*_WORDS, *settings, "-C", folder, *words], environment)
    git_dir, common_dir = (Path(os.fsdecode(line)) for line in found.splitlines())
    algorithm = run(
        [*_WORDS, f"--git-dir={git_dir}", "rev-parse", "--show-object-format"], environment
    )
    return Place(git_dir, common_dir, algorithm.decode().strip())


def _trusted() -> list[str]:
    """Folders of others that the user has allowed; an empty one takes back those before it."""
    words = ["config", "--null", "--get-all", "safe.directory"]
    try:
        # No repository: one that is not trusted yet must not say so itself.
        listed = run(words, {**_users(), **_QUIET, "GIT_DIR": os.devnull})
    except GitFailed:
        return []
    return [os.fsdecode(each) for each in listed.split(b"\0")[:-1]]


def branches(place: Place) -> dict[str, str]:
    """HEAD and all branches with what they point to; of a clone also those of its remotes."""
    where = [*_WORDS, f"--git-dir={place.git_dir}"]
    form = "--format=%(objectname) %(symref) %(refname)"
    try:
        listed = run([*where, "for-each-ref", form, "refs/heads", "refs/remotes"], sealed())
    except GitFailed as error:
        raise StudyError(
            f"the branches of {place.git_dir} cannot be read: {error}",
            "Repair the repository (git fsck names what is wrong), or clone it again.",
        ) from None
    found: dict[str, str] = {}
    for line in listed.splitlines():
        sha, symref, name = line.split(b" ", 2)
        if not symref:
            found[name.decode(errors="backslashreplace")] = sha.decode()
    try:
        head = run([*where, "rev-parse", "--quiet", "--verify", "HEAD"], sealed())
        found["HEAD"] = head.decode().strip()
    except GitFailed:
        pass
    return dict(sorted(found.items()))


def remote_url(place: Place) -> str | None:
    """Where it was cloned from, as its settings say."""
    try:
        words = [f"--git-dir={place.git_dir}", "config", "--get", "remote.origin.url"]
        return run([*_WORDS, *words], sealed()).decode(errors="replace").strip() or None
    except GitFailed:
        return None


@contextmanager
def viewing(place: Place) -> Iterator[View]:
    """The objects of a repository, without its settings."""
    with tempfile.TemporaryDirectory(prefix="faultatlas-git-") as folder:
        view = Path(folder)
        for name in ("objects", "refs"):
            (view / name).mkdir()
        (view / "HEAD").write_text("ref: refs/heads/none\n")
        (view / "config").write_text(
            _VIEW.format(
                nothing=os.devnull, algorithm=place.algorithm, empty=_EMPTY_TREE[place.algorithm]
            )
        )
        shallow = place.common_dir / "shallow"
        cut = shallow.read_bytes() if shallow.is_file() else b""
        if cut:
            (view / "shallow").write_bytes(cut)
        yield View(view, place, frozenset(cut.decode(errors="replace").split()))


class View:
    """Git commands on the objects of a repository."""

    def __init__(self, folder: Path, place: Place, shallow: frozenset[str]) -> None:
        self.place = place
        self.shallow = shallow  # commits whose parents were left out of the clone
        self._words = (*_WORDS, f"--git-dir={folder}")
        self._environment = {
            **sealed(),
            "GIT_OBJECT_DIRECTORY": str(place.common_dir / "objects"),
        }

    def run(self, *words: str | bytes, lines: Iterable[bytes] = ()) -> bytes:
        """What a command prints, given these lines."""
        with _file_of(lines) as given:
            return run([*self._words, *words], self._environment, given)

    @contextmanager
    def streaming(self, *words: str | bytes, lines: Iterable[bytes] = ()) -> Iterator[IO[bytes]]:
        """The output of a command, to be read to its end; raises when git failed."""
        with _file_of(lines) as given, tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    ["git", *self._words, *words], env=self._environment,
                    stdin=given, stdout=subprocess.PIPE, stderr=errors, pipesize=_PIPE,
                )  # fmt: skip
            except FileNotFoundError:
                raise _no_git() from None
            assert process.stdout is not None  # noqa: S101  (it is a pipe)
            with process, process.stdout as output:
                try:
                    yield output
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                errors.seek(0)
                raise GitFailed(said(errors.read()) or f"git ended with {process.returncode}")

    @contextmanager
    def asking(self) -> Iterator[Callable[[str], bytes | None]]:
        """A function that gives the content of a commit; None where there is none."""
        words = ["git", *self._words, "cat-file", "--batch"]
        started: list[subprocess.Popen[bytes]] = []

        def ask(sha: str) -> bytes | None:
            if not started or started[-1].poll() is not None:
                pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
                environment = self._environment
                started.append(
                    subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, stderr=quiet)
                )
            process = started[-1]
            assert process.stdin is not None  # noqa: S101  (they are pipes)
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(sha.encode() + b"\n")
            process.stdin.flush()
            kind, content = one_object(process.stdout)
            if kind == "":  # it ends at a damaged one; the next question starts another
                process.wait()
            return content if kind == "commit" else None

        try:
            yield ask
        finally:
            for process in started:
                with suppress(BrokenPipeError):
                    process.communicate()

    def missing(self, objects: Iterable[str]) -> set[str]:
        """Those of the objects that are not there."""
        lines = [each.encode() for each in objects]
        found = self.run("cat-file", "--batch-check=%(objectname)", "--buffer", lines=lines)
        return {
            name.decode()
            for name, line in zip(lines, found.splitlines(), strict=True)
            if line.endswith(b" missing")
        }


def one_object(stream: IO[bytes], largest: int | None = None) -> tuple[str, bytes | None]:
    """Kind and content of what `cat-file --batch` prints next; no kind at the end.

    Without content where it is missing, or has more than the largest number of bytes.
    """
    head = stream.readline()
    words = head.split()
    if not head.endswith(b"\n"):
        return "", None
    if len(words) != 3 or not words[2].isdigit():
        return "missing", None
    size, kind = int(words[2]), words[1].decode(errors="replace")
    if largest is not None and size > largest:
        left = size + 1
        while left and (part := stream.read(min(left, 1 << 20))):
            left -= len(part)
        return kind, None
    content = stream.read(size + 1)
    return (kind, content[:-1]) if len(content) > size else ("", None)


@contextmanager
def _file_of(lines: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """A file to read from: with a pipe, git and we could wait for each other."""
    with tempfile.TemporaryFile() as file:
        file.writelines(line + b"\n" for line in lines)
        file.seek(0)
        yield file
