"""The shipped facts: counts, statuses, papers, readings and published figures.

Facts with their sources (`sources.csv`), as CSV files in this folder; no text of a paper.
What they add up to is computed by the analyses, never written down here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

# What the columns of these names hold.
Status = Literal["targeted", "untargeted", "new", "not-mentioned"]
Support = Literal["explicit", "theme", "group", "evaluation"]

T = TypeVar("T")

_READ: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "bool": lambda text: text in {"yes", "true"},
}


@dataclass(frozen=True)
class Occurrences:
    """How often a leaf of the fault taxonomy was seen, by source."""

    code: str
    github: int
    stackoverflow: int
    interviews: int

    @property
    def artifacts(self) -> int:
        """GitHub and Stack Overflow together."""
        return self.github + self.stackoverflow


@dataclass(frozen=True)
class SurveyStatus:
    """What the survey says of a leaf, and whether it names the leaf or its category."""

    code: str
    status: str
    basis: str
    place: str
    note: str


@dataclass(frozen=True)
class NewFault:
    """A fault that papers target but the taxonomy of faults did not have."""

    code: str
    name: str
    parent: str
    place: str
    note: str


@dataclass(frozen=True)
class Paper:
    """A paper on debugging techniques that the survey discusses."""

    paper: str
    first_author: str
    year: int
    name: str
    venue: str
    reference: str
    note: str

    @property
    def label(self) -> str:
        """How a reader knows it."""
        return self.name or f"{self.first_author} {self.year}"


@dataclass(frozen=True)
class PaperCode:
    """A technique or a fault that a paper was coded with, and how well that is supported."""

    paper: str
    taxonomy: str
    code: str
    support: str
    place: str
    note: str


@dataclass(frozen=True)
class Reading:
    """One way to count a published share from the public data."""

    share_of: str
    reading: str
    targeted: int
    untargeted: int
    new: int
    denominator: int
    post_hoc: bool
    main: bool


@dataclass(frozen=True)
class PublishedFigure:
    """A figure that a study printed, and what its public data gives.

    `wording` is what the check by hand called it. Its status is computed, never written down.
    """

    figure_id: str
    study: str
    place: str
    statement: str
    printed: str
    computed: str
    data: str
    wording: str
    note: str


@dataclass(frozen=True)
class DefectType:
    """A subtype of `hp-defects`: its final labels in each framework.

    `detected` is how many high-priority defects of it testing methods detected (Section 5.2).
    """

    code: str
    mindspore: int
    pytorch: int
    tensorflow: int
    detected: int

    @property
    def labelled(self) -> int:
        """In the three frameworks together."""
        return self.mindspore + self.pytorch + self.tensorflow


@dataclass(frozen=True)
class MutationOperator:
    """A row of the table on mutation operators of `hp-defects`, with the printed digits.

    `file` is its name in the package. The last three are output differences between frameworks.
    The rates were printed with a second decimal that is always 0; it is omitted.
    """

    operator: str
    file: str
    illegal_percent: str
    seconds: str
    mindspore_pytorch: str
    pytorch_onnx: str
    mindspore_onnx: str

    @property
    def averages(self) -> tuple[str, str, str]:
        """The output differences, as they were printed."""
        return self.mindspore_pytorch, self.pytorch_onnx, self.mindspore_onnx


@dataclass(frozen=True)
class StatusRule:
    """Which status a wording of the checks by hand means, and why."""

    wording: str
    status: str
    reason: str


@dataclass(frozen=True)
class Source:
    """Where facts were taken from."""

    source_id: str
    citation: str
    doi: str
    licence: str
    redistributable: bool  # whether the licence lets everybody hand its rows on
    taken: str


def occurrences() -> dict[str, Occurrences]:
    """Counts for each leaf of `humbatova`."""
    return {row.code: row for row in _facts(Occurrences, "occurrences")}


def survey_statuses() -> dict[str, SurveyStatus]:
    """The survey's own status for each leaf of `humbatova`."""
    return {row.code: row for row in _facts(SurveyStatus, "statuses")}


def tag_spellings() -> dict[str, str]:
    """Tags of the interviews of dl-faults that neither a name nor an alias of a leaf spells."""
    return {row["spelling"]: row["code"] for row in _rows("tag_spellings")}


def figure_boxes() -> dict[str, int]:
    """Leaves of `humbatova` that are not one box of the published figure, and how many they are."""
    return {row["code"]: int(row["boxes"]) for row in _rows("figure_boxes")}


def new_faults() -> tuple[NewFault, ...]:
    """The faults that the survey adds to the taxonomy."""
    return _facts(NewFault, "new_faults")


def papers() -> tuple[Paper, ...]:
    """The papers that the survey discusses by name."""
    return _facts(Paper, "papers")


def paper_codes() -> tuple[PaperCode, ...]:
    """The technique and fault codes of those papers."""
    return _facts(PaperCode, "paper_codes")


def readings() -> tuple[Reading, ...]:
    """Every way that was tried to count the survey's shares, the misses included."""
    return _facts(Reading, "readings")


def published_figures() -> tuple[PublishedFigure, ...]:
    """The figures that the studies printed."""
    return _facts(PublishedFigure, "published")


def defect_types() -> tuple[DefectType, ...]:
    """The subtypes of `hp-defects` with their counts."""
    return _facts(DefectType, "hp_types")


def mutation_table() -> tuple[MutationOperator, ...]:
    """What `hp-defects` printed of each mutation operator."""
    return _facts(MutationOperator, "mutation_table")


def status_rules() -> tuple[StatusRule, ...]:
    """How the wordings of the checks become statuses."""
    return _facts(StatusRule, "status_rule")


def components() -> dict[str, str]:
    """Category of `humbatova` (or new fault) to the larger component it belongs to."""
    return {row["category"]: row["component"] for row in _rows("components")}


def sources() -> tuple[Source, ...]:
    """Where the facts come from."""
    return _facts(Source, "sources")


def _facts(kind: type[T], name: str) -> tuple[T, ...]:
    """The rows of a file, each column read as the field of the same name says."""
    columns: Any = kind  # a dataclass
    read = {field.name: _READ[str(field.type)] for field in fields(columns)}
    return tuple(
        kind(**{key: parse(row[key]) for key, parse in read.items()}) for row in _rows(name)
    )


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files("faultatlas.data").joinpath("evidence", f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
