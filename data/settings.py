"""The choices of a study: `study.toml`, read and checked.

What is fixed there before the first label is what a reviewer asks for: which statistic of
agreement, what it must reach, and by which scale it is called substantial.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import StudyError

SETTINGS = "study.toml"
STATISTICS = ("krippendorff", "fleiss", "cohen", "gwet", "percent", "pairwise")
SCALES = ("landis-koch", "krippendorff", "altman", "mchugh")

TEXT = """\
# Choices of this study. Lines that begin with # say nothing yet.
# Own taxonomies go into taxonomies/, crosswalks into crosswalks/, one YAML file each.

# What stands above the report of the study.
#[study]
#title = "Faults of deep learning frameworks"

# Agreement between raters: fixed before the first label, so that nobody can choose the
# statistic that looks best. Rounds that begin afterwards hold to it.
#[agreement]
#statistic = "krippendorff"  # or fleiss, cohen, gwet, percent, pairwise
#threshold = 0.7             # a round must reach it before the next one begins
#scale = "landis-koch"       # or krippendorff, altman, mchugh: what a value is called
"""

_KEYS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "agreement": {"statistic": str, "threshold": (int, float), "scale": str},
    "study": {"title": str},
}


@dataclass(frozen=True)
class Settings:
    """What `study.toml` says; None where it says nothing."""

    statistic: str | None = None
    threshold: float | None = None
    scale: str = SCALES[0]
    title: str = ""  # of the report


def read_settings(directory: Path) -> Settings:
    """The settings of a study; without a file, or in a study to come, none are set."""
    path = directory / SETTINGS
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}", "It is a text file in UTF-8.") from None
    try:
        plain = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path}: {error}", "Mend the line; text stands in quotes.") from None
    if problems := _problems(plain):
        raise StudyError(
            f"{path}: {'; '.join(problems)}", f"Mend {SETTINGS}; docs/labelling.md explains it."
        )
    agreement = plain.get("agreement", {})
    threshold = agreement.get("threshold")
    return Settings(
        statistic=agreement.get("statistic"),
        threshold=None if threshold is None else float(threshold),
        scale=agreement.get("scale", SCALES[0]),
        title=plain.get("study", {}).get("title", ""),
    )


def _problems(plain: dict[str, Any]) -> list[str]:
    found = [problem for name, values in plain.items() for problem in _unknown(name, values)]
    return found or _impossible(plain.get("agreement", {}))


def _unknown(section: str, values: Any) -> list[str]:
    """Sections and keys that there are not, and values of another kind."""
    if section not in _KEYS:
        return [f"nothing is called {section!r}; known: [{'], ['.join(_KEYS)}]"]
    if not isinstance(values, dict):
        return [f"{section} is a section: write [{section}] above its lines"]
    problems = []
    for key, value in values.items():
        kind = _KEYS[section].get(key)
        if kind is None:
            problems.append(f"[{section}] has no {key!r}; known: {', '.join(_KEYS[section])}")
        elif not isinstance(value, kind) or isinstance(value, bool):
            problems.append(f"[{section}] {key} = {value!r} is no {_called(kind)}")
    return problems


def _impossible(agreement: dict[str, Any]) -> list[str]:
    """Values of the right kind that mean nothing."""
    problems = [
        f"{key} = {agreement[key]!r}; known: {', '.join(known)}"
        for key, known in (("statistic", STATISTICS), ("scale", SCALES))
        if agreement.get(key, known[0]) not in known
    ]
    if not -1 <= agreement.get("threshold", 0) <= 1:
        problems.append(f"threshold = {agreement['threshold']}: it lies between -1 and 1")
    if "threshold" in agreement and "statistic" not in agreement:
        problems.append("a threshold says nothing without a statistic")
    return problems


def _called(kind: type | tuple[type, ...]) -> str:
    return "text in quotes" if kind is str else "number"
