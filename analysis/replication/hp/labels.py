"""The labels of the high-priority defects: agreement, final labels, subtypes by framework."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.replication.agreeing import agreement, share
from faultatlas.analysis.replication.figures import Also, Found, Value
from faultatlas.analysis.replication.package import Package
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Cell, Column, Figure, Series, Table
from faultatlas.data.taxonomy import folded
from faultatlas.data.taxonomy_library import TaxonomyLibrary

FRAMEWORKS = {"mindspore": "MindSpore", "pytorch": "PyTorch", "tensorflow": "TensorFlow"}
ALL = tuple(f"labels/{name}.csv" for name in FRAMEWORKS)
ANY = ("labels/*.csv",)
_TITLE = "Final labels by framework, as the package's sheets have them"
_AS_PACKAGED = (
    "Counted in the package's sheets: a final label that this study settled anew is not in it."
)
_TIED = 2
_FINAL = "cells[-1]"  # as the public sheets have it: behind the volunteers


@dataclass(frozen=True)
class Labelled:
    """A defect: what each volunteer said, "" for nothing, and the final label."""

    url: str
    ratings: tuple[str, ...]
    final: str

    @property
    def modes(self) -> tuple[str, ...]:
        """The labels that most volunteers gave."""
        counts = Counter(filter(None, self.ratings))
        most = max(counts.values(), default=0)
        return tuple(code for code, count in counts.items() if count == most)


def labelled(package: Package, file: str) -> list[Labelled]:
    """The defects of one framework."""
    records = package.records(file, ("URL", "Final_label"))
    columns = [name for name in (records[0].cells if records else ()) if _is_rater(name)]
    if not columns:
        raise StudyError(f"{file} has no column of a volunteer", "They are called volunteer_1, ...")
    return [
        Labelled(
            record["URL"].strip(),
            tuple(record[column].strip() for column in columns),
            record["Final_label"].strip(),
        )
        for record in records
    ]


def _is_rater(column: str) -> bool:
    return folded(column).startswith("volunteer")


def _everything(package: Package, files: Sequence[str]) -> list[Labelled]:
    return [each for file in files for each in labelled(package, file)]


@dataclass(frozen=True)
class Kappa:
    """Fleiss' kappa of the six volunteers over some frameworks."""

    files: tuple[str, ...]

    def __call__(self, package: Package) -> Found:
        """The kappa with its interval."""
        rows = [
            [code or None for code in each.ratings] for each in _everything(package, self.files)
        ]
        value = agreement("kappa", rows, seed=package.seed, files=self.files)
        return Found((value,) if value else (), note="" if value else "too few labels")


@dataclass(frozen=True)
class ShareOf:
    """The share of some subtypes, or of a whole type, among all defects."""

    codes: tuple[str, ...]

    def __call__(self, package: Package) -> Found:
        """The share with its interval."""
        finals = [each.final for each in _everything(package, ALL)]
        count = sum(self.holds(code) for code in finals)
        where = " OR ".join(f"{_FINAL} LIKE '{code}%'" for code in self.codes)
        return Found((share("share", count, len(finals), rows=f"line > 1 AND ({where})"),))

    def holds(self, code: str) -> bool:
        """Whether a final label is one of these, or below one."""
        return any(code.startswith(each) for each in self.codes)


def most_common_type(package: Package) -> Found:
    """The letter of the most frequent of the seven types."""
    counts = Counter(each.final[:1] for each in _everything(package, ALL) if each.final)
    most = min(counts, key=lambda code: (-counts[code], code))
    told = ", ".join(f"{code} {counts[code]}" for code in sorted(counts))
    total = sum(counts.values())
    return Found((Value("type", most, count=counts[most], total=total),), note=told)


def final_is_mode(package: Package) -> Found:
    """How many final labels are a most frequent label of the volunteers."""
    files = package.names("labels/*.csv")
    rows = [each for each in _everything(package, files) if each.final]
    if not rows:
        return Found((), note="no row has a final label")
    hits = sum(each.final in each.modes for each in rows)
    tied = sum(len(each.modes) >= _TIED for each in rows)
    absent = [title for name, title in FRAMEWORKS.items() if f"labels/{name}.csv" not in files]
    urls = len({each.url for each in rows})
    text = f"{hits:,} of {len(rows):,}"
    note = f"{text} defects, {urls:,} URLs"
    note += f", without {', '.join(absent)}" if absent else ""
    alike = sum(len(set(each.ratings)) == 1 for each in rows)
    readings = f"unanimous {_percent(alike, len(rows))}, tied {_percent(tied, len(rows))}"
    found = share("share", hits, len(rows))
    low, high = (None if end is None else end / 100 for end in (found.low, found.high))
    value = Value(
        "share", hits / len(rows), "coefficient", hits, len(rows), low, high, found.method
    )
    return Found((value,), text, note, readings=readings)


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %"


def by_framework(package: Package) -> Also:
    """How often each subtype is the final label, in each framework that is there."""
    files = {name: f"labels/{name}.csv" for name in FRAMEWORKS}
    there = {name: file for name, file in files.items() if package.names(file)}
    if not there:
        return Also()
    finals = {name: [each.final for each in labelled(package, there[name])] for name in there}
    tree = TaxonomyLibrary(as_shipped=True).taxonomy("hp-defects")
    known = [node.code for node in tree.selectable]
    other = sorted({code for codes in finals.values() for code in codes} - {*known, ""})
    values = tuple(
        share(
            f"{name}.{code.lower()}", codes.count(code), len(codes), files=(there[name],),
            rows=f"line > 1 AND {_FINAL} = '{code}'",
            statement=f"Share (%) of subtype {code} among the {FRAMEWORKS[name]} defects",
        )
        for name, codes in finals.items()
        for code in known
    )  # fmt: skip
    columns = (
        Column("code", "Subtype", "code"),
        Column("name", "Name"),
        *(Column(name, FRAMEWORKS[name], "count") for name in there),
        Column("together", "Together", "count"),
    )
    counts = {code: [codes.count(code) for codes in finals.values()] for code in (*known, *other)}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (code, tree.node(code).name if code in tree else "not a subtype", *each, sum(each))
        for code, each in counts.items()
    )
    total = [len(codes) for codes in finals.values()]
    table = Table(
        "subtypes", _TITLE, columns, (*rows, ("", "All", *total, sum(total))), _AS_PACKAGED
    )
    figure = Figure(
        "subtypes", _TITLE, "bars",
        "Bars: how often each subtype is the final label, a colour for each framework. "
        f"{_AS_PACKAGED}",
        categories=tuple(known),
        series=tuple(
            Series(FRAMEWORKS[name], tuple(float(codes.count(code)) for code in known))
            for name, codes in finals.items()
        ),
    )  # fmt: skip
    absent = [title for name, title in FRAMEWORKS.items() if name not in there]
    note = (
        f"Not in the folder: the labels of {', '.join(absent)}. What needs them has no data; the "
        "counts of the others stand in the table of subtypes."
    )
    return Also(values, (table,), (figure,), (note,) if absent else ())
