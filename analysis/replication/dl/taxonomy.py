"""The taxonomy that comes out of rounds and interviews: its leaves and its categories."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from faultatlas.analysis.replication.dl import sheets
from faultatlas.analysis.replication.figures import Found, Value
from faultatlas.analysis.replication.package import Package
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

STATS = "stats.xlsx"
_LEVELS = 3
_NEW, _ALL = "new categories (high level)", "total categories (high level)"


def leaves(package: Package) -> tuple[set[str], set[str]]:
    """The leaves of the rounds, and those that only the interviews have."""
    of_rounds = {row.leaf for row in sheets.inserted(package)}
    return of_rounds, {row.leaf for row in sheets.accepted(package)} - of_rounds


def leaves_of_interviews(package: Package) -> Found:
    """The leaves that the interviews add, and all of them."""
    of_rounds, of_interviews = leaves(package)
    rows = [row for row in sheets.accepted(package) if row.leaf in of_interviews]
    where = sheets.sheet_of(package, sheets.CODING).where(sheets.lines(rows))
    total = len(of_rounds) + len(of_interviews)
    return Found(
        (
            Value("interviews", len(of_interviews), "leaves", files=(sheets.CODING,), rows=where),
            Value("all", total, "leaves"),
        ),
        text=f"{len(of_interviews)}; {total}",
        note="the small range of feature values is a leaf of its own, as in the published figure",
    )


def categories(package: Package) -> Found:
    """The categories above the leaves by level, and what the package says of them itself."""
    tree = sheets.faults()
    known = [code for code in set().union(*leaves(package)) if code in tree]
    above = {code for leaf in known for code in tree.ancestors(leaf)}
    levels = Counter(len(tree.ancestors(code)) + 1 for code in above)
    counts = [levels[level] for level in range(1, _LEVELS + 1)]
    return Found(
        tuple(Value(f"level-{at}", count, "categories") for at, count in enumerate(counts, 1)),
        text="/".join(map(str, counts)),
        contradiction=_own_contradiction(package),
    )


def _own_contradiction(package: Package) -> str:
    """Where the entries of the package by round do not add up to its total."""
    entries: dict[str, list[list[int]]] = {_NEW: [], _ALL: []}
    for _line, cells in sheets.sheet_of(package, STATS).rows:
        for name, beside in pairwise(cells):
            numbers = (beside or "").split("/")
            if folded(name or "") in entries and all(map(str.isdecimal, numbers)):
                entries[folded(name or "")].append([int(each) for each in numbers])
    if not all(entries.values()) or len({len(e) for each in entries.values() for e in each}) > 1:
        raise StudyError(f"{STATS} does not say how many categories there are", "See the file.")
    added = [sum(column) for column in zip(*entries[_NEW], strict=True)]
    [total, *_more] = entries[_ALL]
    if added == total:
        return ""
    parts = " + ".join("/".join(map(str, each)) for each in entries[_NEW])
    return (
        f"{STATS} gives {'/'.join(map(str, total))} in all, and its entries {parts} sum to "
        f"{'/'.join(map(str, added))}"
    )
