"""The choices of a study: `study.toml`, read and checked.

Fixed there before the first label is what a reviewer asks for: which statistic of agreement, what
it must reach, and by which scale it is called substantial.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping

Statistic = Literal["krippendorff", "fleiss", "cohen", "gwet", "percent", "pairwise"]
Scale = Literal["landis-koch", "krippendorff", "altman", "mchugh"]

SETTINGS = "study.toml"
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
SCALES: tuple[Scale, ...] = get_args(Scale)

TEXT = """\
# Choices of this study. Lines that begin with # are not in force.
# Your own taxonomies go into taxonomies/, crosswalks into crosswalks/, one YAML file each.

# The title of the report, and what a package of the study is published with.
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
# statistic that looks best. It holds for rounds that are planned afterwards.
#[agreement]
#statistic = "krippendorff"  # or fleiss, cohen, gwet, percent, pairwise
#threshold = 0.7             # a round must reach it before the next one begins
#scale = "landis-koch"       # or krippendorff, altman, mchugh: what a value is called

#[report]
#figures = false             # pages and reports without figures; tables and numbers stay
"""

_FORMS = {
    "orcid": (re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]"), "0000-0002-1825-0097"),
    "date": (re.compile(r"\d{4}-\d{2}-\d{2}"), "2026-01-31"),
    "doi": (re.compile(r"10\.\d{4,9}/\S+"), "10.5281/zenodo.1234567"),
    "paper": (re.compile(r"10\.\d{4,9}/\S+"), "10.1145/3377811.3380395"),
    "licence": (re.compile(r"[A-Za-z0-9.+-]+"), "CC-BY-4.0"),
}
_CONFIG = {"extra": "forbid"}  # for pydantic


@dataclass(frozen=True)
class Author:
    """Who made the study; `name` is family name, comma, given names."""

    __pydantic_config__ = _CONFIG

    name: str
    orcid: str = ""
    affiliation: str = ""

    def __post_init__(self) -> None:
        _require_forms(self)
        if not self.name.strip():
            raise ValueError("an author needs a name")


@dataclass(frozen=True)
class About:
    """What a study is published with; empty where nothing is said."""

    __pydantic_config__ = _CONFIG

    title: str = ""
    description: str = ""
    authors: list[Author] = field(default_factory=list)
    licence: str = ""  # SPDX
    keywords: list[str] = field(default_factory=list)
    doi: str = ""  # of the package
    paper: str = ""  # DOI of what it belongs to
    version: str = ""
    date: str = ""  # YYYY-MM-DD

    def __post_init__(self) -> None:
        _require_forms(self)


@dataclass(frozen=True)
class AgreementRule:
    """The section [agreement]: fixed before the first label."""

    __pydantic_config__ = _CONFIG

    statistic: Statistic | None = None
    threshold: Annotated[float, Strict()] | None = None  # no "0.7" for a number
    scale: Scale = SCALES[0]

    def __post_init__(self) -> None:
        if self.threshold is not None and not -1 <= self.threshold <= 1:
            raise ValueError(f"threshold = {self.threshold:g}: expected a number from -1 to 1")
        if self.threshold is not None and self.statistic is None:
            raise ValueError("a threshold needs a statistic")


@dataclass(frozen=True)
class ReportSettings:
    """The section [report]."""

    __pydantic_config__ = _CONFIG

    figures: Annotated[bool, Strict()] = True


@dataclass(frozen=True)
class _File:
    __pydantic_config__ = _CONFIG

    study: About = field(default_factory=About)
    agreement: AgreementRule = field(default_factory=AgreementRule)
    report: ReportSettings = field(default_factory=ReportSettings)


@dataclass(frozen=True)
class Settings:
    """What `study.toml` says; None where it says nothing."""

    statistic: str | None = None
    threshold: float | None = None
    scale: str = SCALES[0]
    figures: bool = True  # whether pages and reports have figures
    about: About = field(default_factory=About)

    @property
    def title(self) -> str:
        """The title of the report."""
        return self.about.title


def read_settings(directory: Path) -> Settings:
    """The settings of a study; without a file, or without a study, none are set."""
    from faultatlas.data.config_files import read_toml

    path = directory / SETTINGS
    if not path.exists():
        return Settings()
    file = read_toml(path, _File, hint=f"Fix {SETTINGS} (see docs/labelling.md).")
    rule = file.agreement
    return Settings(rule.statistic, rule.threshold, rule.scale, file.report.figures, file.study)


def _require_forms(section: Author | About) -> None:
    """Refuse what no archive would accept: an ORCID or a DOI of another form."""
    values: Mapping[str, Any] = vars(section)
    for key, (form, example) in _FORMS.items():
        value = values.get(key, "")
        if value and not form.fullmatch(value):
            raise ValueError(f"{key} = {value!r}: it must look like {example}")
