"""Top@k, MRR and MAP of the techniques from their per-bug results, beside Table 8.

Only the results on deep learning systems are in the package, and none of DNNLOC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faultatlas.analysis.replication.agreeing import share
from faultatlas.analysis.replication.figures import Also, Value
from faultatlas.analysis.replication.localization.means import mean
from faultatlas.analysis.replication.localization.results import (
    BJXNET_FILE,
    BLIA_FILE,
    BOTH_FILE,
    FILE_OF,
    TITLES,
    Localized,
    bjxnet_rows,
    localized,
    rows_that_follow,
)
from faultatlas.analysis.replication.localization.tables import beside_table
from faultatlas.analysis.replication.package import Package

_TOP = (1, 5, 10)
# Table 8: Top@1, Top@5, Top@10, MRR, MAP on deep learning systems.
_TABLE_8 = {
    "buglocator": ("0.344", "0.547", "0.615", "0.371", "0.314"),
    "bluir": ("0.201", "0.472", "0.585", "0.316", "0.257"),
    "blia": ("0.411", "0.609", "0.719", "0.423", "0.355"),
    "bjxnet": ("0.500", "0.700", "0.800", "0.500", "0.440"),
}
# Table 8: MRR and MAP on traditional systems.
_TRADITIONAL = {"buglocator": (0.526, 0.459), "bluir": (0.453, 0.385), "blia": (0.611, 0.539)}


def _means(found: list[Localized]) -> tuple[float, float]:
    return (
        sum(each.rr for each in found) / len(found),
        sum(each.ap for each in found) / len(found),
    )


@dataclass(frozen=True)
class Losses:
    """Beside the losses of a technique: what its rows would make of them."""

    technique: str

    def __call__(self, package: Package) -> str:
        """The means, the printed ones, and the losses with the printed traditional values."""
        found = localized(package, self.technique)
        ours = _means(found)
        printed = _TABLE_8[self.technique][-2:]
        losses = [
            100 * (before - after) / before
            for before, after in zip(_TRADITIONAL[self.technique], ours, strict=True)
        ]
        return (
            f"its {len(found):,} rows on deep learning systems give MRR {ours[0]:.3f} and MAP "
            f"{ours[1]:.3f} (printed {' and '.join(printed)}), which against the printed "
            f"traditional values is a loss of {losses[0]:.2f} / {losses[1]:.2f}"
        )


def bjxnet_losses(package: Package) -> str:
    """Beside the losses of bjXnet: what its file holds."""
    follow, total = rows_that_follow(package)
    means = [sum(column) / total for column in zip(*bjxnet_rows(package), strict=True)]
    return (
        f"the column MRR of its file has the mean {means[2]:.3f} (printed "
        f"{_TABLE_8['bjxnet'][3]}); {follow:,} of its {total:,} rows are sums of another file's"
    )


def experimental_bugs(package: Package) -> str:
    """Beside the size of the data: bugs and projects with results."""
    bugs = {(each.project, each.bug) for each in localized(package, "bluir")}
    projects = {project for project, _bug in bugs}
    return f"the files of results have {len(bugs):,} bugs of {len(projects)} projects"


def from_results(package: Package) -> Also:
    """The measures of each technique that is there."""
    values = [
        value
        for technique in TITLES
        if package.names(FILE_OF[technique])
        for value in _measures(package, technique)
    ]
    notes = []
    if package.names(BLIA_FILE):
        notes.append(_about_blia(package))
    if package.names(BJXNET_FILE):
        values += _bjxnet(package)
    if not package.missing((BJXNET_FILE, BOTH_FILE)):
        follow, total = rows_that_follow(package)
        values.append(
            replace(
                share("bjxnet.rows-that-follow", follow, total, files=(BJXNET_FILE, BOTH_FILE)),
                statement="Rows (%) of bjXnet that are sums of the same line of the other file",
            )
        )
        notes.append(
            f"bjXnet: in {follow:,} of {total:,} rows of its file Top@1, Top@5 and MRR are "
            "RR + 0.1, RR + 0.2 and AP + 0.1, at most 1, of the same line of the file of "
            "BugLocator and BLUiR. Its means are shown as they are, without intervals."
        )
    table = beside_table("techniques", "Techniques on deep learning systems beside Table 8", values)
    return Also(tuple(values), (table,) if values else (), notes=tuple(notes))


def _measures(package: Package, technique: str) -> Iterator[Value]:
    found = localized(package, technique)
    title, file = TITLES[technique], FILE_OF[technique]
    *tops, mrr, average = _TABLE_8[technique]
    rows = f"cells[4] = '{technique}'" if file == BOTH_FILE else "line > 1"
    ranks = [each.rank for each in found if each.rank is not None]
    for at, printed in zip(_TOP if ranks else (), tops, strict=False):
        hits = share(f"{technique}.top-{at}", sum(rank <= at for rank in ranks), len(ranks))
        low, high = (None if end is None else end / 100 for end in (hits.low, hits.high))
        yield replace(
            hits, value=(hits.count or 0) / len(ranks), unit="coefficient", low=low, high=high,
            files=(file,), rows=rows, statement=f"Top@{at} of {title}", printed=printed,
        )  # fmt: skip
    for name, numbers, printed in (
        ("mrr", [each.rr for each in found], mrr),
        ("map", [each.ap for each in found], average),
    ):
        yield mean(
            f"{technique}.{name}", numbers, seed=package.seed, files=(file,), rows=rows,
            statement=f"{name.upper()} of {title}", printed=printed,
        )  # fmt: skip


def _about_blia(package: Package) -> str:
    found = localized(package, "blia")
    exact = sum(each.rr > 0 and abs(1 / each.rr - round(1 / each.rr)) < 1e-6 for each in found)
    return (
        "BLIA: the columns of its file are called 6, 8, 11 and 12; the last two are read as "
        f"reciprocal rank and average precision. {exact:,} of {len(found):,} values of the former "
        "are one over a whole number, so that they give no rank and no Top@k."
    )


def _bjxnet(package: Package) -> Iterator[Value]:
    columns = list(zip(*bjxnet_rows(package), strict=True))
    names = (("top-1", "Top@1", 0), ("top-5", "Top@5", 1), ("mrr", "MRR", 3))
    for numbers, (key, title, at) in zip(columns, names, strict=False):
        yield Value(
            f"bjxnet.{key}", sum(numbers) / len(numbers), "coefficient", total=len(numbers),
            files=(BJXNET_FILE,), rows="line > 1", printed=_TABLE_8["bjxnet"][at],
            statement=f"Mean of the column {title} of bjXnet",
        )  # fmt: skip
