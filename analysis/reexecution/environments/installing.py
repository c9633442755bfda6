"""Running the installer: in bubblewrap where it is, with a clean environment and a time limit.

Two kinds of commands: those that only unpack wheels (no package's code runs; they write into the
cache), and those that run a package's own `setup.py`. The latter see the interpreter, the bug's
folder (read-only), a scratch folder and the network, and nothing else of this host: neither the
home folder nor a study, nor the cache that other environments come from. What they leave in the
scratch folder no other kind of command ever sees: those begin in an empty one.
Where there is no bubblewrap, what would have to be built is refused unless told otherwise.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from faultatlas.analysis.reexecution.environments.limiting import BeyondError, Guard
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem, clean
from faultatlas.analysis.reexecution.runs import Outcome

_LOG_BYTES = 4_000_000
# Settings of the user's that an installer needs; those with a password never reach a build.
_PASSED = (
    "UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
    "UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_TORCH_BACKEND",
    "UV_INSECURE_HOST", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "no_proxy", "all_proxy",
)  # fmt: skip
# What a program of the system needs to start, to find hosts and to trust them.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SETTINGS = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "ssl", "pki", "ca-certificates",
    "crypto-policies", "resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf",
    "passwd", "group", "localtime", "protocols", "services", "mime.types",
)  # fmt: skip
# Stays beside the command, and ends all that comes from it when the command has ended, or we have:
# also what made a session of its own, where there is no bubblewrap that would hold it.
_KEEPER = """
import ctypes, json, os, resource, signal, sys
parent, memory, groups = json.loads(sys.argv[1])
words = sys.argv[2:]
prctl = ctypes.CDLL(None).prctl

def end_all(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        for name in os.listdir("/proc"):
            try:
                with open("/proc/" + name + "/stat", "rb") as file:
                    above = file.read().rpartition(b")")[2].split()[1]
                if int(above) == os.getpid():
                    os.kill(int(name), signal.SIGKILL)
            except (OSError, ValueError, IndexError):
                pass
        try:
            os.wait()
        except ChildProcessError:
            os._exit(code)

code = 128 + signal.SIGTERM
signal.signal(signal.SIGTERM, end_all)
prctl(36, 1)  # orphans of ours come to us
prctl(1, signal.SIGTERM)  # when the parent dies
if os.getppid() != parent:
    os._exit(125)
for group in groups:  # first of all: whatever comes from here is in there
    try:
        with open(group, "w") as file:
            file.write("0")
    except OSError:
        pass
keeper = os.getpid()
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    prctl(1, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(125)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory if hard < 0 else min(memory, hard), hard))
    try:
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, ("%s: %s\\n" % (words[0], error.strerror)).encode())
    os._exit(127)
ended, status = os.wait()
while ended != child:
    ended, status = os.wait()
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
end_all()
"""
_GRACE_S = 2.0  # for the keeper to end what it keeps
_MEMORY = 16 << 30  # of address space, for each process of a build


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    log: str


@dataclass
class Workshop:
    """Where commands run for one environment: what they may see and write, and until when."""

    root: Path  # the cache: written by commands that run no package's code
    folder: Path  # the environment, inside it
    readonly: tuple[Path, ...] = ()  # the interpreter, the bug's folder
    isolation: str = "auto"  # none: builds run without a sandbox
    ends_at: float = field(default_factory=lambda: time.monotonic() + 1800.0)
    seconds: float = 1800.0

    @property
    def is_sandboxed(self) -> bool:
        """Whether commands run inside bubblewrap."""
        return self.isolation != "none" and has_bubblewrap()

    @property
    def may_build(self) -> bool:
        """Whether a package's own build script may be run."""
        return self.is_sandboxed or self.isolation == "none"

    @property
    def scratch(self) -> Path:
        """A folder on the disk for one build; it is /tmp inside the sandbox."""
        return self.folder / "tmp"

    @property
    def asked(self) -> Path:
        """What we tell commands in files: builds read it, under the same path, and no more."""
        return self.folder / "asked"

    def inside(self, name: str) -> str:
        """What a file of the scratch folder is called by a command."""
        return f"/tmp/{name}" if self.is_sandboxed else str(self.scratch / name)  # noqa: S108

    def run(
        self,
        words: Sequence[str],
        *,
        trusted: bool,
        more: Mapping[str, str],
        writable: Sequence[Path] = (),
        anew: bool = False,
    ) -> Answer:
        """Run a command to its end; `trusted` where no package's own code is run.

        It stands in the scratch folder; `anew`, or where it is trusted, in one that is empty.
        """
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise self._too_long("")
        with self._desk(anew=anew or trusted) as desk:
            home = "/tmp" if self.is_sandboxed else str(desk)  # noqa: S108 - inside the sandbox
            variables = {**_variables(trusted=trusted), "HOME": home, "TMPDIR": home, **more}
            words = list(words)
            if self.is_sandboxed:
                seen = [self.root] if trusted else [*writable]
                words = [*self._walls(desk, seen, variables), *words]
            return self._answer(words, variables, desk, left, trusted=trusted)

    @contextmanager
    def _desk(self, *, anew: bool) -> Iterator[Path]:
        """Where a command stands."""
        if not anew:
            self.scratch.mkdir(parents=True, exist_ok=True)
            yield self.scratch
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        desk = Path(tempfile.mkdtemp(prefix="desk-", dir=self.folder))
        try:
            yield desk
        finally:
            shutil.rmtree(desk, ignore_errors=True)

    def _answer(
        self,
        words: list[str],
        variables: dict[str, str],
        desk: Path,
        left: float,
        *,
        trusted: bool,
    ) -> Answer:
        downloads = self.root / "uv" if trusted else None
        try:
            code, log = _supervised(
                words, variables, desk, left, writes=self.folder, downloads=downloads
            )
        except subprocess.TimeoutExpired as error:
            said = error.output or b""
            raise self._too_long(clean(said.decode("utf-8", "replace"))) from None
        except BeyondError as error:
            whose = Outcome.NOT_STARTED if error.is_host else Outcome.NO_ENVIRONMENT
            line = error.text if error.is_host else f"building its packages {error.text}"
            raise EnvironmentProblem(whose, line, error.log) from None
        return Answer(code, log)

    def _too_long(self, log: str) -> EnvironmentProblem:
        last = [line.strip() for line in log.splitlines() if line.strip()][-1:]
        doing = f" (it was at: {last[0][:200]})" if last else ""
        return EnvironmentProblem(
            Outcome.NOT_STARTED,
            f"the environment was not built within {self.seconds:.0f} s{doing}",
            log,
        )

    def _walls(
        self, desk: Path, writable: Sequence[Path], variables: Mapping[str, str]
    ) -> list[str]:
        words = ["bwrap", "--die-with-parent", "--new-session", "--unshare-all", "--share-net"]
        words += ["--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--dir", "/etc"]
        for name in _SYSTEM:
            place = Path(name)
            if place.is_symlink():
                words += ["--symlink", str(place.readlink()), name]
            elif place.is_dir():
                words += ["--ro-bind", name, name]
        for name in _SETTINGS:
            place = Path("/etc") / name
            if place.exists():
                words += ["--ro-bind", os.path.realpath(place), str(place)]
        words += ["--bind", str(desk), "/tmp"]  # noqa: S108 - inside the sandbox
        for place in self._shown(variables):
            words += ["--ro-bind", str(place), str(place)]
        for place in writable:
            words += ["--bind", str(place), str(place)]
        return [*words, "--chdir", "/tmp", "--"]  # noqa: S108 - inside the sandbox

    def _shown(self, variables: Mapping[str, str]) -> list[Path]:
        """What is visible besides the system; parents first, so that nothing hides another."""
        uv = find_uv()
        named = [variables.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT")]
        named += [variables.get("UV_CONFIG_FILE", "")]
        places = [*self.readonly, self.asked, *(Path(name) for name in named if name)]
        places += [Path(uv), Path(os.path.realpath(uv))] if uv else []
        shown = {place for place in places if place.is_absolute() and place.exists()}
        inside_system = tuple(f"{name}/" for name in _SYSTEM)
        return sorted(
            place for place in shown if not f"{place}/".startswith((*inside_system, "/etc/ssl/"))
        )


def _supervised(
    words: list[str],
    variables: dict[str, str],
    folder: Path,
    seconds: float,
    *,
    writes: Path | None = None,
    downloads: Path | None = None,
) -> tuple[int, str]:
    """Exit code and output; nothing that it started is left when this returns.

    `writes` and `downloads` are folders in which it may not write without end.
    """
    with (
        tempfile.TemporaryFile(dir=folder) as log,
        closing(Guard(folder, writes, downloads)) as guard,
    ):
        told = json.dumps([os.getpid(), _MEMORY, guard.entrances])
        keeper = [sys.executable, "-I", "-S", "-c", _KEEPER, told]
        child = subprocess.Popen(
            [*keeper, *words] if sys.platform == "linux" else words,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=folder,
            start_new_session=True,
        )
        late: subprocess.TimeoutExpired | None = None
        beyond: BeyondError | None = None
        try:
            guard.wait(child, log, seconds)
        except subprocess.TimeoutExpired as error:
            late = error
        except BeyondError as error:
            beyond = error
        finally:
            _ended(child)
        size = log.seek(0, os.SEEK_END)
        log.seek(0)
        said = log.read(_LOG_BYTES // 2)
        if size > _LOG_BYTES // 2:
            log.seek(max(_LOG_BYTES // 2, size - _LOG_BYTES // 2))
            said += b"\n[...]\n" + log.read()
    if late is not None:
        raise subprocess.TimeoutExpired(words, seconds, output=said)
    if beyond is not None:
        beyond.log = clean(said.decode("utf-8", "replace"))
        raise beyond
    return child.returncode, clean(said.decode("utf-8", "replace"))


def _ended(child: subprocess.Popen[bytes]) -> None:
    """The command and all that it started, gone: its keeper sees to that; if not, its group."""
    if child.poll() is None:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _variables(*, trusted: bool) -> dict[str, str]:
    """The environment of an installer: no tokens, and no passwords where others' code runs."""
    passed = {name: os.environ[name] for name in _PASSED if os.environ.get(name)}
    if not trusted:
        passed = {name: value for name, value in passed.items() if not _may_be_secret(value)}
    own = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "PYTHONNOUSERSITE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "MAKEFLAGS": f"-j{os.cpu_count() or 1}",
    }
    settings = _uv_settings(trusted=trusted)
    if settings:
        own["UV_CONFIG_FILE"] = settings
    else:
        own["UV_NO_CONFIG"] = "1"
    return {**passed, **own}


def _uv_settings(*, trusted: bool) -> str:
    """The user's settings of uv: a mirror, for instance; not where a password stands in them."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    for place in (Path(home) / "uv" / "uv.toml", Path("/etc/uv/uv.toml")):
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if trusted or not _may_be_secret(text):
            return str(place)
    return ""


def _may_be_secret(text: str) -> bool:
    """Whether a password may stand in it: user:password@host, with an address around it or not."""
    is_path = text.startswith("/")  # of certificates
    return not is_path and ("@" in text or "password" in text.lower())


def find_uv() -> str | None:
    """The `uv` of the extra `reexecution`, or the one on the path."""
    return _found_uv()


@cache
def _found_uv() -> str | None:
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, OSError):
        return shutil.which("uv")


def need_uv() -> str:
    """The path of uv."""
    uv = find_uv()
    if uv is None:
        raise EnvironmentProblem(
            Outcome.NOT_STARTED,
            "uv is not here, which builds environments; "
            "install it: pip install 'faultatlas[reexecution]'",
        )
    return uv


def has_bubblewrap() -> bool:
    """Whether bubblewrap is here and may make namespaces."""
    return _tried_bubblewrap()


def forget() -> None:
    """Look again the next time: something was installed."""
    for known in (_found_uv, _tried_bubblewrap):
        known.cache_clear()


@cache
def _tried_bubblewrap() -> bool:
    if shutil.which("bwrap") is None:
        return False
    words = ["bwrap", "--unshare-all", "--share-net", "--ro-bind", "/", "/", "--", "true"]
    try:
        ended = subprocess.run(words, check=False, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return False
    return ended.returncode == 0
