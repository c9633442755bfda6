"""The techniques on the bugs of each label of the first sheet, beside Tables 22, 28 and 30."""

from __future__ import annotations

from collections.abc import Iterator

from faultatlas.analysis.replication.figures import Also, Value
from faultatlas.analysis.replication.localization.means import mean
from faultatlas.analysis.replication.localization.results import (
    BLIA_FILE,
    BOTH_FILE,
    FILE_OF,
    TITLES,
    Localized,
    localized,
)
from faultatlas.analysis.replication.localization.sheets import FIRST, TYPES, Labelled, labelled
from faultatlas.analysis.replication.localization.tables import beside_table
from faultatlas.analysis.replication.outcomes import judged_beside
from faultatlas.analysis.replication.package import Package
from faultatlas.data.old.results import Cell, Column, Table

NEEDS = (FIRST, BOTH_FILE, BLIA_FILE)
_GROUPS = (*TYPES, "extrinsic", "intrinsic")
# Table 28 (ndl), Table 22 (the other types) and Table 30, in the order of the groups.
_PRINTED = {
    ("buglocator", "map"): ("0.362", "0.368", "0.312", "0.235", "0.446", "0.183", "0.287", "0.359"),
    ("bluir", "map"): ("0.292", "0.293", "0.403", "0.601", "0.258", "0.266", "0.277", "0.369"),
    ("blia", "map"): ("0.437", "0.357", "0.345", "0.448", "0.395", "0.290", "0.321", "0.449"),
    ("buglocator", "mrr"): ("0.417", "0.532", "0.386", "0.358", "0.378", "0.223", "0.371", "0.489"),
    ("bluir", "mrr"): ("0.334", "0.387", "0.427", "0.621", "0.424", "0.311", "0.296", "0.445"),
    ("blia", "mrr"): ("0.381", "0.472", "0.419", "0.553", "0.447", "0.327", "0.385", "0.518"),
}


def gpu_bugs(package: Package) -> str:
    """Beside the bound on GPU bugs: the techniques on those of the first sheet."""
    bugs = [each for each in labelled(package, FIRST) if _is_in("gpu", each)]
    found = {name: _of(bugs, _results(package, name)) for name in TITLES}
    return f"of the {len(bugs)} GPU bugs of the first sheet those with results give " + ", ".join(
        f"{sum(each.ap for each in rows) / len(rows):.3f} ({TITLES[name]}, {len(rows)} bugs)"
        for name, rows in found.items()
        if rows
    )


def by_label(package: Package) -> Also:
    """MAP and MRR of each technique on the bugs of each label."""
    if package.missing(NEEDS):
        return Also()
    values = tuple(_values(package))
    note = (
        "The paper says that it averages three samples of 100 bugs of each kind. These are the "
        "bugs of the first sheet that have results."
    )
    long = beside_table(
        "by-label-values", "MAP and MRR by the labels of the first sheet, one by one", values,
        folded=True,
    )  # fmt: skip
    return Also(values, (_table(values, note), long))


def _values(package: Package) -> Iterator[Value]:
    rows = labelled(package, FIRST)
    for technique, title in TITLES.items():
        results = _results(package, technique)
        for at, group in enumerate(_GROUPS):
            found = _of([each for each in rows if _is_in(group, each)], results)
            measured = {"map": [each.ap for each in found], "mrr": [each.rr for each in found]}
            for measure, numbers in measured.items() if found else ():
                yield mean(
                    f"labelled.{group}.{technique}.{measure}", numbers, seed=package.seed,
                    files=(FIRST, FILE_OF[technique]), printed=_PRINTED[technique, measure][at],
                    statement=f"{measure.upper()} of {title} on {group} bugs of the first sheet",
                )  # fmt: skip


def _is_in(group: str, bug: Labelled) -> bool:
    if group in TYPES:
        return bug.code == group
    return bug.is_extrinsic is (group == "extrinsic")


def _results(package: Package, technique: str) -> dict[tuple[str, str], Localized]:
    return {(each.project, each.bug): each for each in localized(package, technique)}


def _of(bugs: list[Labelled], results: dict[tuple[str, str], Localized]) -> list[Localized]:
    """The results of these bugs, of each once."""
    keys = dict.fromkeys(each.key for each in bugs)
    return [results[key] for key in keys if key in results]


def _table(values: tuple[Value, ...], note: str) -> Table:
    """MAP: a row for each label, ours and the printed one for each technique."""
    known = {each.key: each for each in values}
    columns = [Column("label", "Label", "code"), Column("bugs", "Bugs with results", "count")]
    for technique, title in TITLES.items():
        columns += [
            Column(technique, title, "number"),
            Column(f"{technique}_printed", "Printed", "number"),
        ]
    rows = []
    for group in _GROUPS:
        found = [known.get(f"labelled.{group}.{technique}.map") for technique in TITLES]
        cells: list[Cell] = [group, max((each.total or 0 for each in found if each), default=0)]
        for each in found:
            printed = judged_beside(each)[0] if each else None
            cells += [each.value if each else None, printed.value if printed else None]
        rows.append(tuple(cells))
    title = "MAP by the labels of the first sheet beside Tables 22, 28 and 30"
    return Table("by-label", title, tuple(columns), tuple(rows), note)
