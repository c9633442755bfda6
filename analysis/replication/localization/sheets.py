"""The two raters' sheets of Denchmark bugs, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from faultatlas.analysis.replication.package import Package, Record
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded
from faultatlas.data.taxonomy_library import TaxonomyLibrary

SHEETS = {"rater1": "sheets/rater1.xlsx", "rater2": "sheets/rater2.xlsx"}
FIRST = SHEETS["rater1"]
BOTH = tuple(SHEETS.values())
TYPES = ("ndl", "model", "training", "tensor", "api", "gpu")  # in the order of Table 29
NDL = "ndl"

_PROJECT, _BUG, _DL, _TYPE = "User/Project", "Bug/Issue ID", "DL Bugs", "DL Bug Type"
_EXTRINSIC, _INTRINSIC = "Extrinsic Bug", "Intrinsic Bug"
_COLUMNS = (_PROJECT, _BUG, _DL, _TYPE, _EXTRINSIC, _INTRINSIC)


@dataclass(frozen=True)
class Labelled:
    """A bug as one rater labelled it; None where the cells do not say it."""

    line: int
    project: str
    bug: str
    is_dl: bool | None
    code: str | None  # of the taxonomy dl-bugs
    spelled: str  # the type in the rater's words
    is_extrinsic: bool | None

    @property
    def key(self) -> tuple[str, str]:
        """What the results of the techniques call it."""
        return self.project, self.bug


def labelled(package: Package, file: str) -> list[Labelled]:
    """The bugs of a sheet; a row without a number of the bug is none, such as the last one.

    As in the rounds: a bug that does not concern deep learning has that as its type, whatever
    stands beside it.
    """
    tree = TaxonomyLibrary(as_shipped=True).taxonomy("dl-bugs")
    found = []
    project = ""
    for record in package.records(file, _COLUMNS, _sheet(package, file)):
        project = record[_PROJECT].strip() or project
        if not record[_BUG].strip():
            continue
        is_dl = _yes_or_no(record[_DL])
        spelled = record[_TYPE].strip()
        found.append(
            Labelled(
                record.line,
                project,
                record[_BUG].strip(),
                is_dl,
                NDL if is_dl is False else tree.find(spelled),
                spelled,
                _is_extrinsic(record),
            )
        )
    if not found:
        raise StudyError(f"{file} of {package.name} names no bug", f"Its column {_BUG} is empty.")
    return found


def paired(package: Package) -> Iterator[tuple[Labelled, Labelled]]:
    """What both raters said of a bug; one that stands twice in a sheet is two."""
    first, second = (_numbered(labelled(package, file)) for file in BOTH)
    return ((first[key], second[key]) for key in first if key in second)


def is_yes(package: Package, file: str, *, extrinsic: bool) -> str:
    """The rows in which a rater says that a bug is extrinsic, or of deep learning, as SQL."""
    wanted = _EXTRINSIC if extrinsic else _DL
    header = [folded(cell or "") for cell in package.rows(file, _sheet(package, file))[0][1]]
    at, bug = (header.index(folded(name)) + 1 for name in (wanted, _BUG))
    return f"line > 1 AND trim(cells[{bug}]) <> '' AND lower(trim(cells[{at}])) = 'yes'"


def _numbered(rows: list[Labelled]) -> dict[tuple[str, str, int], Labelled]:
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for each in rows:
        seen[each.key] += 1
        found[(*each.key, seen[each.key])] = each
    return found


def _sheet(package: Package, file: str) -> str:
    return next(iter(package.sheets(file)), "")


def _yes_or_no(cell: str) -> bool | None:
    return {"yes": True, "no": False}.get(folded(cell))


def _is_extrinsic(record: Record) -> bool | None:
    """One of the two columns says yes; None where both or none do."""
    extrinsic, intrinsic = (_yes_or_no(record[name]) is True for name in (_EXTRINSIC, _INTRINSIC))
    return extrinsic if extrinsic != intrinsic else None
