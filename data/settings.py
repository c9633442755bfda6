"""The choices of a study: `study.toml`, read and checked.

What is fixed there before the first label is what a reviewer asks for: which statistic of
agreement, what it must reach, and by which scale it is called substantial.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError

SETTINGS = "study.toml"
STATISTICS = ("krippendorff", "fleiss", "cohen", "gwet", "percent", "pairwise")
SCALES = ("landis-koch", "krippendorff", "altman", "mchugh")

TEXT = """\
# Choices of this study. Lines that begin with # say nothing yet.
# Own taxonomies go into taxonomies/, crosswalks into crosswalks/, one YAML file each.

# What stands above the report of the study, and what a package of it is published with.
#[study]
#title = "Faults of deep learning frameworks"
#description = "What fails in deep learning frameworks, and who finds it."
#authors = [{name = "Doe, Jane", orcid = "0000-0002-1825-0097", affiliation = "A University"}]
#licence = "CC-BY-4.0"          # of data, an SPDX id
#keywords = ["deep learning", "bugs"]
#doi = "10.5281/zenodo.1234567" # of the package, once it has one
#paper = "10.1145/3377811.3380395"
#version = "1.0.0"
#date = "2026-01-31"

# Agreement between raters: fixed before the first label, so that nobody can choose the
# statistic that looks best. Rounds that begin afterwards hold to it.
#[agreement]
#statistic = "krippendorff"  # or fleiss, cohen, gwet, percent, pairwise
#threshold = 0.7             # a round must reach it before the next one begins
#scale = "landis-koch"       # or krippendorff, altman, mchugh: what a value is called

#[report]
#figures = false             # pages and reports without drawings; tables and numbers stay
"""

_KEYS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "agreement": {"statistic": str, "threshold": (int, float), "scale": str},
    "study": {
        **dict.fromkeys(
            ("title", "description", "licence", "doi", "paper", "version", "date"), str
        ),
        "authors": list,
        "keywords": list,
    },
    "report": {"figures": bool},
}
_AUTHOR = ("name", "orcid", "affiliation")
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_LICENCE = re.compile(r"[A-Za-z0-9.+-]+")


@dataclass(frozen=True)
class Author:
    """Who made the study; `name` is family name, comma, given names."""

    name: str
    orcid: str = ""
    affiliation: str = ""


@dataclass(frozen=True)
class About:
    """What a study is published with; empty where nothing is said."""

    title: str = ""
    description: str = ""
    authors: tuple[Author, ...] = ()
    licence: str = ""  # SPDX
    keywords: tuple[str, ...] = ()
    doi: str = ""  # of the package
    paper: str = ""  # DOI of what it belongs to
    version: str = ""
    date: str = ""  # YYYY-MM-DD


@dataclass(frozen=True)
class Settings:
    """What `study.toml` says; None where it says nothing."""

    statistic: str | None = None
    threshold: float | None = None
    scale: str = SCALES[0]
    figures: bool = True  # whether pages and reports have drawings
    about: About = field(default_factory=About)

    @property
    def title(self) -> str:
        """What stands above the report."""
        return self.about.title


def read_settings(directory: Path) -> Settings:
    """The settings of a study; without a file, or in a study to come, none are set."""
    import tomllib  # not at the top: a cli imports this module

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
        figures=plain.get("report", {}).get("figures", True),
        about=_about(plain.get("study", {})),
    )


def _about(study: dict[str, Any]) -> About:
    authors = tuple(Author(**each) for each in study.get("authors", ()))
    keywords = tuple(study.get("keywords", ()))
    return About(**{**study, "authors": authors, "keywords": keywords})


def _problems(plain: dict[str, Any]) -> list[str]:
    found = [problem for name, values in plain.items() for problem in _unknown(name, values)]
    if found:
        return found
    return _impossible(plain.get("agreement", {})) + _unpublishable(plain.get("study", {}))


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
        elif not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
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


def _unpublishable(study: dict[str, Any]) -> list[str]:
    """What no archive would take: an id of another form, an author without a name."""
    authors, keywords = study.get("authors", []), study.get("keywords", [])
    problems = [
        f"author {each!r}: write {{name = ..., orcid = ..., affiliation = ...}}"
        for each in authors
        if not isinstance(each, dict)
        or not each.get("name")
        or not set(each) <= {*_AUTHOR}
        or not all(isinstance(value, str) for value in each.values())
    ]
    if not all(isinstance(each, str) for each in keywords):
        problems.append("keywords are texts in quotes")
    orcids = [each.get("orcid", "") for each in authors if isinstance(each, dict)]
    forms = [
        *((f"orcid = {each!r}", _ORCID, each, "0000-0002-1825-0097") for each in orcids),
        *(
            (f"{key} = {study.get(key)!r}", form, study.get(key, ""), such)
            for key, form, such in (
                ("date", _DAY, "2026-01-31"),
                ("doi", _DOI, "10.5281/zenodo.1234567"),
                ("paper", _DOI, "10.1145/3377811.3380395"),
                ("licence", _LICENCE, "CC-BY-4.0"),
            )
        ),
    ]
    return problems + [
        f"{said}: it looks like {such}"
        for said, form, value, such in forms
        if isinstance(value, str) and value and not form.fullmatch(value)
    ]


def _called(kind: type | tuple[type, ...]) -> str:
    names: dict[Any, str] = {str: "text in quotes", list: "list", bool: "true or false"}
    return names.get(kind, "number")
