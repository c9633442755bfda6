"""An environment for scripts whose authors declared none, or only a part of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from faultatlas.analysis.reexecution.importing.scripts import is_python_2
from faultatlas.analysis.reexecution.importing.versions_by_date import (
    Bound,
    lowest,
    newest,
    python_for,
    python_on,
    released,
)

# Written before TensorFlow 2, or for it.
_OLD_API = re.compile(
    r"tf\.(?:Session|placeholder|contrib|InteractiveSession|initialize_all_variables"
    r"|global_variables_initializer|get_variable|app\.|set_random_seed|variable_scope)"
)
# Whose version it is stands before it: keras has one too.
_OWN = r"(?<![\w.])(\w+)\.(?:__version__|VERSION|version\.VERSION)\s*"
_EXACT = re.compile(rf"{_OWN}==\s*['\"]([\d.]+\w*)['\"]")
_SERIES = re.compile(rf"{_OWN}\[[^\]]*\]\s*==\s*['\"]([\d.]+)['\"]")
_BOUND = re.compile(rf"assert\b[^\n]*?{_OWN}(>=|<=|>|<)\s*['\"](\d+(?:\.\d+){{0,3}})['\"]")
_ALIAS = re.compile(r"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_BEFORE_VERSIONS = re.compile(r"(\d+\.\d+\.\d+) version tensorflow", re.IGNORECASE)
_LAST_OF_1 = "1.15.5"
_TODAY = "9999-12-31"


@dataclass(frozen=True)
class Guess:
    """Python, lines of requirements, and which of it was guessed."""

    python: str
    requirements: tuple[str, ...]
    guessed: tuple[str, ...]


def asserted(texts: Iterable[str]) -> str:
    """The version of TensorFlow that scripts assert: '1.8.0', a series '0.12.', or ''."""
    for text in texts:
        names = _names(text)
        for pattern in (_EXACT, _SERIES):
            for whose, version in pattern.findall(text):
                if whose in names:
                    return str(version)
        if found := _BEFORE_VERSIONS.search(text):
            return found[1]
    return ""


def _names(text: str) -> set[str]:
    """What a script calls TensorFlow."""
    known = {alias: module for module, alias in _ALIAS.findall(text)}
    called = {"tensorflow": "tensorflow", "tf": "tensorflow", **known}
    return {name for name, module in called.items() if module.partition(".")[0] == "tensorflow"}


def bounds_of(texts: Iterable[str]) -> tuple[Bound, ...]:
    """Versions of TensorFlow that scripts assert as bounds: ('>=', '1.0')."""
    found = [
        (sign, version)
        for text in texts
        for whose, sign, version in _BOUND.findall(text)
        if whose in _names(text)
    ]
    return tuple(dict.fromkeys(found))


def guess(texts: Iterable[str], packages: list[str], *, day: str, tensorflow: str = "",
          python: str = "", bounds: tuple[Bound, ...] = ()) -> Guess:  # fmt: skip
    """What was new on that day, or goes with the TensorFlow that is declared."""
    texts = list(texts)
    guessed: list[str] = []
    wanted = list(packages)
    version = _tensorflow(texts, day, tensorflow, bounds) if "tensorflow" in packages else ""
    if "keras" in packages and not version:
        found = newest("tensorflow", day or _TODAY)
        wanted.append("tensorflow" if found else "theano")
        version = found.version if found else ""
    if "tensorflow" in wanted:
        wanted.append("numpy")  # the one that was new with it: later ones warn, or break it
        if version != tensorflow:
            guessed.append("tensorflow")
    known = released("tensorflow", version)
    day = day or (known.day if known else "")
    if not python:
        guessed.append("python")
        python = _python(texts, version, day)
    lines = [f"tensorflow=={version}"] if version else []
    for package in dict.fromkeys(wanted):
        if package == "tensorflow":
            continue
        found = newest(package, day or _TODAY, python=python)
        lines.append(f"{package}=={found.version}" if found else package)
        guessed.append(package)
    if version.startswith(("0.", "1.", "2.0", "2.1.", "2.2.", "2.3.", "2.4.", "2.5.")):
        lines.append("protobuf<3.21")  # the pure ones behind it cannot read what it was built with
    return Guess(python, tuple(lines), tuple(dict.fromkeys(guessed)))


def _tensorflow(texts: list[str], day: str, declared: str, bounds: tuple[Bound, ...]) -> str:
    """Declared, or the newest of that day that keeps to the bounds, or the lowest that does."""
    if declared and not declared.endswith("."):
        return declared
    if declared:
        found = newest("tensorflow", _TODAY, prefix=declared)
        return found.version if found else declared.rstrip(".")
    old = any(_OLD_API.search(text) for text in texts)
    found = newest("tensorflow", day or _TODAY, prefix="1." if old else "", bounds=bounds)
    if found is None and bounds:
        of_the_day = newest("tensorflow", day or _TODAY, bounds=bounds)
        found = of_the_day or lowest("tensorflow", bounds)
    if found is None:
        found = newest("tensorflow", _TODAY, prefix="0.") if old else None
    return found.version if found else _LAST_OF_1


def _python(texts: list[str], tensorflow: str, day: str) -> str:
    if any(is_python_2(text) for text in texts):
        return "2.7"
    if found := tensorflow and python_for("tensorflow", tensorflow):
        return found
    # Those before 0.12 were never on the package index.
    return "3.5" if tensorflow.startswith("0.") else python_on(day or "2020-01-01")
