"""The shipped facts: counts, statuses, papers, readings and published figures.

Facts with their sources (`sources.csv`), as CSV files in this folder; no text of a paper.
What they add up to is computed by the analyses, never written down here.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

# What the columns of these names hold.
Status = Literal["targeted", "untargeted", "new", "not-mentioned"]
Support = Literal["explicit", "theme", "group", "evaluation"]

_COUNTS = ("mindspore", "pytorch", "tensorflow", "detected")


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

    `file` is what the package calls it. `averages` are the output differences between MindSpore
    and PyTorch, PyTorch and ONNX, MindSpore and ONNX. The rates were printed with a second
    decimal that is always 0; it is left out.
    """

    operator: str
    file: str
    illegal_percent: str
    seconds: str
    averages: tuple[str, str, str]


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
    return {
        row["code"]: Occurrences(
            row["code"], int(row["github"]), int(row["stackoverflow"]), int(row["interviews"])
        )
        for row in _rows("occurrences")
    }


def survey_statuses() -> dict[str, SurveyStatus]:
    """The survey's own status for each leaf of `humbatova`."""
    return {row["code"]: SurveyStatus(**row) for row in _rows("statuses")}


def tag_spellings() -> dict[str, str]:
    """Tags of the interviews of dl-faults that neither a name nor an alias of a leaf spells."""
    return {row["spelling"]: row["code"] for row in _rows("tag_spellings")}


def figure_boxes() -> dict[str, int]:
    """Leaves of `humbatova` that are not one box of the published figure, and how many they are."""
    return {row["code"]: int(row["boxes"]) for row in _rows("figure_boxes")}


def new_faults() -> tuple[NewFault, ...]:
    """The faults that the survey adds to the taxonomy."""
    return tuple(NewFault(**row) for row in _rows("new_faults"))


def papers() -> tuple[Paper, ...]:
    """The papers that the survey discusses by name."""
    return tuple(
        Paper(
            paper=row["paper"],
            first_author=row["first_author"],
            year=int(row["year"]),
            name=row["name"],
            venue=row["venue"],
            reference=row["reference"],
            note=row["note"],
        )
        for row in _rows("papers")
    )


def paper_codes() -> tuple[PaperCode, ...]:
    """The technique and fault codes of those papers."""
    return tuple(PaperCode(**row) for row in _rows("paper_codes"))


def readings() -> tuple[Reading, ...]:
    """Every way that was tried to count the survey's shares, the misses included."""
    return tuple(
        Reading(
            share_of=row["share_of"],
            reading=row["reading"],
            targeted=int(row["targeted"]),
            untargeted=int(row["untargeted"]),
            new=int(row["new"]),
            denominator=int(row["denominator"]),
            post_hoc=row["post_hoc"] == "yes",
            main=row["main"] == "yes",
        )
        for row in _rows("readings")
    )


def published_figures() -> tuple[PublishedFigure, ...]:
    """The figures that the studies printed."""
    return tuple(
        PublishedFigure(figure_id=row["id"], **{key: row[key] for key in row if key != "id"})
        for row in _rows("published")
    )


def defect_types() -> tuple[DefectType, ...]:
    """The subtypes of `hp-defects` with their counts."""
    return tuple(
        DefectType(row["code"], *(int(row[name]) for name in _COUNTS)) for row in _rows("hp_types")
    )


def mutation_table() -> tuple[MutationOperator, ...]:
    """What `hp-defects` printed of each mutation operator."""
    return tuple(
        MutationOperator(
            row["operator"],
            row["file"],
            row["illegal_percent"],
            row["seconds"],
            (row["mindspore_pytorch"], row["pytorch_onnx"], row["mindspore_onnx"]),
        )
        for row in _rows("mutation_table")
    )


def status_rules() -> tuple[StatusRule, ...]:
    """How the wordings of the checks become statuses."""
    return tuple(StatusRule(**row) for row in _rows("status_rule"))


def components() -> dict[str, str]:
    """Category of `humbatova` (or new fault) to the larger component it belongs to."""
    return {row["category"]: row["component"] for row in _rows("components")}


def sources() -> tuple[Source, ...]:
    """Where the facts come from."""
    return tuple(
        Source(
            row["id"],
            row["citation"],
            row["doi"],
            row["licence"],
            row["redistributable"] == "true",
            row["taken"],
        )
        for row in _rows("sources")
    )


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files("faultatlas.data").joinpath("evidence", f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
