"""The per-bug results of the techniques, as their files have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.replication.package import Cells, Package, number_of
from faultatlas.data.errors import StudyError

BOTH_FILE = "results/buglocator_bluir.csv"  # no header
BLIA_FILE = "results/blia.csv"  # a header of numbers: 6, 8, 11, 12
BJXNET_FILE = "results/bjxnet.csv"  # a header in place of the first row's result
TITLES = {"buglocator": "BugLocator", "bluir": "BLUiR", "blia": "BLIA"}
FILE_OF = {"buglocator": BOTH_FILE, "bluir": BOTH_FILE, "blia": BLIA_FILE}


@dataclass(frozen=True)
class Localized:
    """What a technique did for a bug: rank of the first buggy file, reciprocal rank, precision."""

    project: str
    bug: str
    rank: int | None
    rr: float
    ap: float


def localized(package: Package, technique: str) -> list[Localized]:
    """The bugs of a technique."""
    if technique == "blia":
        # The last two columns have no names; they are read as those of the other file.
        rows = package.rows(BLIA_FILE)[1:]
        numbers = [_numbers(BLIA_FILE, line, cells, (2, 3)) for line, cells in rows]
        found = [
            Localized(_text(cells, 0), _text(cells, 1), None, rr, ap)
            for (_line, cells), (rr, ap) in zip(rows, numbers, strict=True)
        ]
    else:
        rows = [row for row in package.rows(BOTH_FILE) if _text(row[1], 3) == technique]
        numbers = [_numbers(BOTH_FILE, line, cells, (5, 6, 7)) for line, cells in rows]
        found = [
            Localized(_text(cells, 0), _text(cells, 2), int(rank), rr, ap)
            for (_line, cells), (rank, rr, ap) in zip(rows, numbers, strict=True)
        ]
    if not found:
        raise StudyError(
            f"{FILE_OF[technique]} has no results of {TITLES[technique]}",
            "Give the file as it was published.",
        )
    return found


def bjxnet_rows(package: Package) -> list[tuple[float, ...]]:
    """The columns Top@1, Top@5 and MRR, row by row."""
    rows = package.rows(BJXNET_FILE)[1:]
    return [_numbers(BJXNET_FILE, line, cells, (4, 5, 6)) for line, cells in rows]


def rows_that_follow(package: Package) -> tuple[int, int]:
    """Rows of bjXnet that are a sum of the same line of the other file, of how many.

    Top@1 is then RR + 0.1, Top@5 RR + 0.2 and MRR AP + 0.1, each at most 1.
    """
    others = dict(package.rows(BOTH_FILE))
    found = 0
    rows = package.rows(BJXNET_FILE)[1:]
    for line, cells in rows:
        other = others.get(line)
        if other is None or other[:3] != cells[:3]:
            continue
        rr, ap = _numbers(BOTH_FILE, line, other, (6, 7))
        wanted = (rr + 0.1, rr + 0.2, ap + 0.1)
        given = _numbers(BJXNET_FILE, line, cells, (4, 5, 6))
        found += all(
            abs(one - min(1.0, two)) < 1e-9 for one, two in zip(given, wanted, strict=True)
        )
    return found, len(rows)


def _numbers(file: str, line: int, cells: Cells, columns: Sequence[int]) -> tuple[float, ...]:
    found = [number_of(_text(cells, at)) for at in columns]
    known = tuple(each for each in found if each is not None and abs(each) < float("inf"))
    if len(known) < len(columns):
        raise StudyError(
            f"{file} row {line} has no numbers in its last columns",
            "Give the file as it was published.",
        )
    return known


def _text(cells: Cells, at: int) -> str:
    return (cells[at] or "").strip() if at < len(cells) else ""
