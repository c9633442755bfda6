"""The versions that were new when a bug was: a guess where nobody declared them.

All dates are ISO 8601 days, so that they compare as text.
"""

from __future__ import annotations

import csv
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

# Wheels of before 2016 were few: what is only known as source is tried with these.
_OLD_PYTHON = "2.7"
_PARTS = 4  # of a version that are compared with a bound


@dataclass(frozen=True)
class Release:
    """A version of a package, its day, and the Pythons that have a wheel of it."""

    version: str
    day: str
    pythons: tuple[str, ...]


Bound = tuple[str, str]  # '>=', '>', '<=' or '<', and a version


def is_within(version: str, bounds: Iterable[Bound]) -> bool:
    """Whether a version keeps to all bounds; 1.0 and 1.0.0 are the same."""
    compared = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
    return all(compared[sign](_padded(version), _padded(bound)) for sign, bound in bounds)


def lowest(package: str, bounds: Iterable[Bound]) -> Release | None:
    """The lowest version that keeps to bounds, whenever it came out."""
    asked = list(bounds)
    fitting = [each for each in releases(package) if is_within(each.version, asked)]
    return min(fitting, key=lambda each: _key(each.version), default=None)


def newest(
    package: str, day: str, *, python: str = "", prefix: str = "", bounds: Sequence[Bound] = ()
) -> Release | None:
    """The highest version that was out on that day; for a Python only those with a wheel.

    `prefix` keeps to a series: '0.12.' or '1.'.
    """
    fitting = [
        each
        for each in releases(package)
        if each.day <= day
        and f"{each.version}.".startswith(prefix)
        and (not python or not each.pythons or python in each.pythons)
        and is_within(each.version, bounds)
    ]
    return max(fitting, key=lambda each: _key(each.version), default=None)


def released(package: str, version: str) -> Release | None:
    """That version of a package, if it is known."""
    return next((each for each in releases(package) if each.version == version), None)


def python_on(day: str) -> str:
    """The Python that was a year old: what people had, rather than what was out that morning."""
    year, rest = day[:4], day[4:]
    before = f"{int(year) - 1:04d}{rest}" if year.isdigit() else day
    fitting = [each for each in releases("python") if each.day <= before]
    return max(fitting, key=lambda each: _key(each.version)).version if fitting else _OLD_PYTHON


def python_for(package: str, version: str, day: str = "") -> str:
    """The newest Python that this version has a wheel for, of those that were out; '' if unknown.

    A Python that came after the day of the bug is not taken, even if a wheel came later.
    """
    found = released(package, version)
    if found is None:
        return ""
    known = [
        each.version
        for each in releases("python")
        if each.version in found.pythons and each.day <= (day or found.day)
    ]
    return max(known, key=_key, default="")


@lru_cache(maxsize=64)
def releases(package: str) -> tuple[Release, ...]:
    """All that is known of a package, by the day."""
    return tuple(sorted(_table().get(_name(package), ()), key=lambda each: each.day))


@lru_cache(maxsize=1)
def _table() -> dict[str, list[Release]]:
    text = (files(__package__) / "releases.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    found: dict[str, list[Release]] = {}
    for package, version, day, pythons in csv.reader(lines):
        found.setdefault(package, []).append(Release(version, day, tuple(pythons.split())))
    return found


def _name(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def _padded(version: str) -> tuple[int, ...]:
    return (*_key(version)[:_PARTS], *(0,) * _PARTS)[:_PARTS]


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
