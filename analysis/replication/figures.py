"""How a study says what it printed and how each figure comes out of its package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultatlas.annotation.sheets.asking import Asked

if TYPE_CHECKING:
    from faultatlas.analysis.replication.package import Package
    from faultatlas.data.old.results import Figure, Table


@dataclass(frozen=True)
class Wanted:
    """A file of a package, or several of one kind.

    `name` is what the file is called in the study, whatever the folder calls it; a star in it is
    what the file's own name has in place of the pattern's star, in lower case.
    `places` are patterns of its path, tried in their order: case does not count, and they may
    match the end of a longer path.
    """

    name: str
    places: tuple[str, ...]
    about: str
    encoding: str = ""  # of a CSV file, if it is not UTF-8


@dataclass(frozen=True)
class RoundPlan:
    """A round of labels in a package: imported as `annotation import` would.

    `files` are names of files; `ann=one.xlsx` for the sheet of one rater. Without one of them
    there is no round.
    """

    name: str
    files: tuple[str, ...]
    taxonomy: str
    asked: Asked
    otherwise: str = ""
    stage: str = ""
    accept: bool = False  # spellings that the importer proposes
    # What the spellings of its rows mean, a code or "-" to leave them out: with `accept`.
    spellings: Callable[[Package], Mapping[str, str]] | None = None


@dataclass(frozen=True)
class Value:
    """A number of a figure, or a name. `rows` narrows the rows behind it: a condition in SQL.

    `printed` is what the paper prints for a value beyond the published figures.
    """

    key: str
    value: float | str
    unit: str = ""  # percent, coefficient, or what is counted
    count: int | None = None
    total: int | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    files: tuple[str, ...] = ()  # those behind it; none: all that the figure needs
    rows: str = ""
    statement: str = ""  # none: that of the figure, with the key
    printed: str = ""


@dataclass(frozen=True)
class Found:
    """What the rows give for a figure.

    `text` is what a reader sees, if the values do not say it; `note` says in short how it was
    computed, `readings` what other ways to compute it give. What the paper or the package says
    against itself is a `contradiction`: found in the rows, not known beforehand.
    """

    values: tuple[Value, ...]
    text: str = ""
    note: str = ""
    contradiction: str = ""
    readings: str = ""


@dataclass(frozen=True)
class Recomputed:
    """A figure that the files give.

    `needs` are names of files, with stars; all of them must be there (`dl-faults:round_1.xlsx`
    is a file of another package). `printed` are the printed numbers, where the text of the
    shipped figure does not have them; what was printed and is a word is compared as a word.
    Without the files other printed numbers may give it: `or_printed`. Files of another package
    that say it better than shipped facts, if all are there, are `rather`.
    """

    figure_id: str
    needs: tuple[str, ...]
    compute: Callable[[Package], Found]
    printed: tuple[str, ...] = ()
    basis: str = "package"
    or_printed: bool = False
    rather: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrintedOnly:
    """A figure that follows from other printed numbers: the manuscript checker computes it.

    Where files say something of it, too, `beside` tells it: the status stays that of the printed
    numbers. Its values are those of `also`, with claims of their own.
    """

    figure_id: str
    needs: tuple[str, ...] = ()
    beside: Callable[[Package], str] | None = None


@dataclass(frozen=True)
class Unavailable:
    """A figure that no file of the package gives."""

    figure_id: str
    reason: str


Plan = Recomputed | PrintedOnly | Unavailable


@dataclass(frozen=True)
class Also:
    """What a package shows beyond the published figures."""

    values: tuple[Value, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


def nothing_else(_package: Package) -> Also:
    """For a study that shows nothing else."""
    return Also()


@dataclass(frozen=True)
class PublishedStudy:
    """A published study: what its package has and what follows from it."""

    name: str
    title: str
    source: str  # id of data/evidence/sources.csv
    figures: Sequence[Plan]
    files: Sequence[Wanted] = ()
    rounds: Sequence[RoundPlan] = ()
    also: Callable[[Package], Also] = field(default=nothing_else)
    data_of: str = ""  # the study whose public package it was made from, if not its own
