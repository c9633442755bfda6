"""The installation that runs now, for bugs that ask for nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import site
import sys
import sysconfig
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from faultatlas.analysis.reexecution.environments.interpreters import Interpreter
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
from faultatlas.analysis.reexecution.runs import Outcome

_MOST = 500  # packages that are followed
_PLAIN = re.compile(r"[A-Za-z0-9][\w.\[\],-]{0,60}\s?(?:[<>=!~]=?[\w.*+!]{1,30},?){0,4}")
_NAMED = 5  # of them in a message
_LONGEST_CHAIN = 40  # of links: then the kernel gives up too


@cache
def satisfied(requirements: tuple[str, ...]) -> dict[str, str] | None:
    """The versions that fulfil the requirements and all that they need; None where some do not.

    Nothing is imported: only what installers left beside the packages is read.
    """
    found: dict[str, str] = {}
    bare = [line.split(" #")[0].strip() for line in requirements]
    # A requirement, and the extra that it comes with; an option, which means a place of its own,
    # is no requirement and ends it below.
    left = [(line, "") for line in bare if line and not line.startswith("#")]
    seen: set[tuple[str, str]] = set()
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            wanted = Requirement(one[0])
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": one[1]}):
                continue
            there = _distribution(canonicalize_name(wanted.name))
            if there is None or wanted.url or len(found) > _MOST:
                return None
            if not wanted.specifier.contains(there.version, prereleases=True):
                return None
        except ValueError:  # no requirement, a marker that compares what cannot be, no version
            return None
        found[canonicalize_name(wanted.name)] = there.version
        for text in there.requires or ():
            left += [(text, extra) for extra in ("", *sorted(wanted.extras))]
    return dict(sorted(found.items()))


def command_for(requirements: tuple[str, ...]) -> str:
    """How the user installs what is missing here; only what is a plain requirement is named."""
    lines = [line.split(" #")[0].strip() for line in requirements]
    wanted = [line for line in lines if line and satisfied((line,)) is None]
    plain = [line for line in wanted if _PLAIN.fullmatch(line)]
    more = " ..." if len(plain) < len(wanted) or len(plain) > _NAMED else ""
    return f"pip install {' '.join(shlex.quote(line) for line in plain[:_NAMED])}{more}"


@cache
def _folders() -> tuple[str, ...]:
    """Where packages of this installation lie; not those of the user's home, which runs hide."""
    named = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return tuple(dict.fromkeys(folder for folder in named if Path(folder).is_dir()))


@cache
def _distribution(name: str) -> metadata.Distribution | None:
    return next(iter(metadata.distributions(name=name, path=list(_folders()))), None)


def forget() -> None:
    """Look again the next time: something was installed."""
    for known in (satisfied, _folders, _distribution):
        known.cache_clear()


def key(versions: dict[str, str]) -> str:
    """What stands for this installation in a run's record."""
    said = [sys.version, sys.platform, *(f"{name}=={one}" for name, one in versions.items())]
    return f"host-{hashlib.sha256(repr(said).encode()).hexdigest()[:16]}"


@cache
def readonly() -> tuple[Path, ...]:
    """What a sandbox must show so that this interpreter starts."""
    return shown(Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix))


def shown_of(venv: Path, interpreter: Interpreter) -> tuple[Path, ...]:
    """The same of an environment: its `python` is the interpreter, or a copy that lies in it.

    Packages may have put a link there that leads elsewhere: nothing of that is shown.
    """
    python = venv / "bin" / "python"
    real = Path(os.path.realpath(python))
    is_own = real.is_relative_to(os.path.realpath(venv))
    steps = [Path(os.path.realpath(step)) for step in _steps(python)]
    if not (is_own or real == Path(os.path.realpath(interpreter.path))) or set(steps) - {real}:
        raise EnvironmentProblem(
            Outcome.NO_ENVIRONMENT, "a package put another program in the place of python"
        )
    return shown(python, venv, interpreter.prefix)


def shown(python: Path, *folders: Path) -> tuple[Path, ...]:
    """The folders, and every link on the way from `python` to the real interpreter."""
    places = [*folders, *_steps(python)]
    real = Path(os.path.realpath(python))
    if real.parent.name == "bin":
        places.append(real.parent.parent)
    places += [Path(os.path.realpath(folder)) for folder in folders]
    kept: list[Path] = []
    for place in sorted(set(places)):
        # The path itself, not what it leads to: a link inside a shown folder may point anywhere.
        if place.exists() and not any(place.is_relative_to(other) for other in kept):
            kept.append(place)
    return tuple(kept)


def _steps(python: Path) -> list[Path]:
    """Every place that a link leads to, on the way to what it means in the end."""
    found: list[Path] = []
    step = python
    while step.is_symlink() and len(found) < _LONGEST_CHAIN:
        step = Path(os.path.normpath(step.parent / step.readlink()))
        found.append(step)
    return found
