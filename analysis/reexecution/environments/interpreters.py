"""The Python interpreters of this host: on the path, of pyenv, of uv; each is asked what it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from faultatlas.analysis.reexecution.environments.folders import cache_folder
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
from faultatlas.analysis.reexecution.runs import Outcome

_SECONDS = 10.0  # an interpreter that takes longer to say its version is not used
_NAME = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")
# Without `site`, sys.prefix is the installation's own, also where a virtual environment is asked.
_QUESTION = (
    "import json, os, sys; i = sys.version_info; u = getattr(os, 'uname', lambda: [''] * 5)(); "
    "print(json.dumps([list(i[:3]), i[3], i[4], getattr(getattr(sys, 'implementation', None), "
    "'name', 'pypy' if hasattr(sys, 'pypy_version_info') else 'cpython'), "
    "os.path.realpath(sys.executable), sys.prefix, sys.platform, u[4], "
    "64 if sys.maxsize > 2 ** 32 else 32]))"
)


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that can be started."""

    version: str
    path: Path
    source: str  # running, path, pyenv, uv
    prefix: Path = Path()  # its installation: what a sandbox binds
    platform: str = ""  # linux-x86_64

    @property
    def minor(self) -> tuple[int, int]:
        """Its language version."""
        release = Version(self.version).release
        return release[0], release[1]


def discover() -> list[Interpreter]:
    """All CPython interpreters of this host, newest first; one for each version."""
    return list(_discovered(_surroundings()))


def forget() -> None:
    """Look again the next time: something was installed."""
    _discovered.cache_clear()


def choose(python: str, among: Iterable[Interpreter] | None = None) -> Interpreter:
    """The interpreter for 'any', 'host', '3.6', '3.7.16' or '>=3.8,<3.12'.

    Of a declared patch release the nearest is taken when that one is not here. Another minor
    version never is: that would be another language.
    """
    wanted = python.strip() or "any"
    found = list(among) if among is not None else discover()
    fitting = _fitting(wanted, found)
    if not fitting:
        here = ", ".join(dict.fromkeys(one.version for one in found)) or "none"
        minor = re.sub(r"[^\d.].*$", "", wanted.lstrip("=~<>! ")) or "3.11"
        raise EnvironmentProblem(
            Outcome.NO_INTERPRETER,
            f"Python {wanted} is not on this host (found: {here}); "
            f"install it: pyenv install {minor}, or uv python install {minor}",
        )
    return fitting[0]


def _fitting(wanted: str, found: list[Interpreter]) -> list[Interpreter]:
    """Those that may be taken, the best first."""
    running = sys.version_info[:2]
    newest = sorted(found, key=lambda one: Version(one.version), reverse=True)
    if wanted in {"any", "host"}:
        final = [one for one in newest if not Version(one.version).is_prerelease]
        return sorted(final, key=lambda one: one.minor != running)
    plain = re.fullmatch(r"(?:==)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+|\*))?", wanted)
    if plain is None:
        try:
            allowed = SpecifierSet(wanted)
        except InvalidSpecifier:
            raise EnvironmentProblem(
                Outcome.NO_ENVIRONMENT,
                f"python = {wanted!r} is no version; write any, 3.6, 3.7.16 or >=3.8,<3.12",
            ) from None
        inside = [one for one in newest if allowed.contains(one.version, prereleases=False)]
        return sorted(inside, key=lambda one: one.minor != running)
    major, minor, patch = plain.groups()
    same = [
        one
        for one in newest
        if one.minor[0] == int(major) and (minor is None or one.minor[1] == int(minor))
    ]
    final = [one for one in same if not Version(one.version).is_prerelease]
    if minor is None:
        return sorted(final, key=lambda one: one.minor != running)
    if patch in {None, "*"}:
        return final
    return sorted(final, key=lambda one: abs(Version(one.version).micro - int(patch)))


def _surroundings() -> tuple[str, ...]:
    """All that decides where interpreters are looked for."""
    names = ("PATH", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "HOME")
    return tuple(os.environ.get(name, "") for name in names)


@cache
def _discovered(surroundings: tuple[str, ...]) -> tuple[Interpreter, ...]:
    path, pyenv, uv, data, home = surroundings
    places = [(Path(sys.executable), "running")]
    root = Path(pyenv) if pyenv else Path(home) / ".pyenv"
    # Its shims are slow scripts, and lead to the versions that are looked at below.
    places += [(file, "path") for file in _on_path(path) if file.parent != root / "shims"]
    places += [(file, "pyenv") for file in _installed(root / "versions")]
    managed = Path(uv) if uv else Path(data or Path(home) / ".local/share") / "uv" / "python"
    places += [(file, "uv") for file in _installed(managed)]
    once: dict[Path, str] = {}
    for file, source in places:
        once.setdefault(Path(os.path.realpath(file)), source)
    if not once:
        return ()
    answers = _answers(once)
    versions: dict[str, Interpreter] = {}
    for one in answers:
        if one is not None:
            versions.setdefault(one.version, one)
    ordered = sorted(versions.values(), key=lambda one: Version(one.version), reverse=True)
    return tuple(ordered)


def _answers(places: dict[Path, str]) -> list[Interpreter | None]:
    """What each says, or said before: an unchanged file is not asked again."""
    memory = cache_folder() / "interpreters.json"
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    known = known if isinstance(known, dict) else {}
    said: dict[str, str] = {}

    def one(place: tuple[Path, str]) -> Interpreter | None:
        path, source = place
        try:
            state = path.stat()
        except OSError:
            return None
        mark = f"{path}|{state.st_mtime_ns}|{state.st_size}"
        answer = known.get(mark)
        found = _understood(answer, source) if isinstance(answer, str) else None
        if found is None or not found.path.exists():
            answer = _asked(path)
            found = _understood(answer, source) if answer is not None else None
        # A script may lead elsewhere tomorrow: only what is an interpreter itself is remembered.
        if found is not None and found.path == path and answer is not None:
            said[mark] = answer
        return found

    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(one, places.items()))
    if any(known.get(mark) != answer for mark, answer in said.items()):
        with suppress(OSError):
            memory.parent.mkdir(parents=True, exist_ok=True)
            draft = memory.with_name(f"{memory.name}.{uuid.uuid4().hex}")
            draft.write_text(json.dumps(said), encoding="utf-8")
            draft.replace(memory)
    return answers


def _on_path(path: str) -> list[Path]:
    found = []
    for folder in path.split(os.pathsep):
        if not folder or not Path(folder).is_absolute():
            continue  # never what happens to lie in the current directory
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
        except OSError:
            continue
        found += [Path(folder) / name for name in names if _NAME.fullmatch(name)]
    return [file for file in found if os.access(file, os.X_OK) and file.is_file()]


def _installed(folder: Path) -> list[Path]:
    """One interpreter of each installation below a folder."""
    try:
        homes = sorted(home for home in folder.iterdir() if home.is_dir())
    except OSError:
        return []
    names = ("bin/python", "bin/python3", "python.exe", "install/bin/python3")
    found = []
    for home in homes:
        here = [home / name for name in names if (home / name).is_file()]
        found += here[:1]
    return found


def _asked(path: Path) -> str | None:
    """What the interpreter says about itself; None where it does not answer (a dead shim)."""
    # Python 2 does not know -I.
    for options in (("-I", "-S"), ("-E", "-s", "-S")):
        try:
            ended = subprocess.run(
                [str(path), *options, "-c", _QUESTION],
                check=False,
                capture_output=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                cwd="/" if os.name == "posix" else None,
                env=_plain(),
            )
        except (OSError, subprocess.SubprocessError):
            return None
        if ended.returncode == 0:
            return ended.stdout.decode("utf-8", "replace")
        if b"-I" not in ended.stderr:
            return None
    return None


def _plain() -> dict[str, str]:
    kept = ("PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "SYSTEMROOT", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _understood(answer: str, source: str) -> Interpreter | None:
    try:
        release, level, serial, kind, executable, prefix, system, machine, bits = json.loads(answer)
        version = ".".join(str(int(part)) for part in release)
        if level != "final":
            version += f"{ {'alpha': 'a', 'beta': 'b', 'candidate': 'rc'}[level] }{int(serial)}"
        Version(version)
    except (ValueError, TypeError, KeyError, InvalidVersion):
        return None
    if kind != "cpython":
        return None
    # A virtual environment may hold a copy of the interpreter: the installation's own is taken.
    own = Path(prefix) / "bin" / "python{}.{}".format(*release)
    system = "linux" if system.startswith("linux") else system
    return Interpreter(
        version=version,
        path=Path(os.path.realpath(own)) if own.is_file() else Path(executable),
        source=source,
        prefix=Path(prefix),
        platform=f"{system}-{machine}" if bits == 64 else f"{system}-{machine}-{bits}",
    )
