"""The mutation experiments: average output differences, illegal mutants, backbone and task head."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import fmean

from faultatlas.analysis.replication.agreeing import share
from faultatlas.analysis.replication.figures import Found, Value
from faultatlas.analysis.replication.package import Package, number_of
from faultatlas.data.evidence import mutation_table

FAILED = -100.0  # a mutant that could not be converted
# The paper leaves out outliers and does not say from where on; found by trial in the public data.
OUTLIER = 1e4
_FIRST = 2  # columns before the three distances
_PAIRS = ("mindspore-pytorch", "pytorch-onnx", "mindspore-onnx")
_PAIR = re.compile(r"\(([^,()]+),([^,()]+)\)")

Distances = tuple[float | None, ...]

FILES = tuple(f"mutation/{each.file.lower()}.csv" for each in mutation_table())


def distances(package: Package, file: str) -> list[Distances]:
    """The distances between three pairs of frameworks, for each mutant; None for an empty cell."""
    return [
        tuple(number_of(cells[at]) if at < len(cells) else None for at in range(_FIRST, _FIRST + 3))
        for _line, cells in package.rows(file)[1:]
    ]


def printed_averages() -> tuple[str, ...]:
    """The 45 printed averages, operator by operator."""
    return tuple(text for each in mutation_table() for text in each.averages)


def printed_illegal() -> tuple[str, ...]:
    """The 15 printed rates."""
    return tuple(each.illegal_percent for each in mutation_table())


def averages(package: Package) -> Found:
    """The mean over complete rows of what is neither failed nor an outlier."""
    values = []
    for each, file in zip(mutation_table(), FILES, strict=True):
        rows = [row for row in distances(package, file) if all(map(_is_number, row))]
        for at, pair in enumerate(_PAIRS):
            kept = [number for row in rows if 0 <= (number := row[at] or 0.0) < OUTLIER]
            mean = fmean(kept) if kept else math.nan
            values.append(
                Value(f"{each.operator.lower()}.{pair}", mean, total=len(kept), files=(file,))
            )
    note = (
        f"the mean over complete rows of distances from 0 to below {OUTLIER:,.0f}; the paper does "
        "not state where outliers begin"
    )
    return Found(tuple(values), note=note)


def illegal_rates(package: Package) -> Found:
    """The share of distances that are failed, missing or not finite."""
    values = []
    for each, file in zip(mutation_table(), FILES, strict=True):
        cells = [number for row in distances(package, file) for number in row]
        bad = sum(
            number is None or number == FAILED or not math.isfinite(number) for number in cells
        )
        values.append(share(each.operator.lower(), bad, len(cells), files=(file,)))
    note = (
        "the share of cells that are failed, missing or not finite; the first decimal counts, the "
        "second was always printed as 0"
    )
    return Found(tuple(values), note=note)


def backbone_beats_head(package: Package) -> Found:
    """How often a mutated backbone gives larger differences than a mutated task head."""
    pairs = {file: _pairs(package, file) for file in package.names("mutation_position/*.csv")}
    every = [pair for found in pairs.values() for pair in found]
    if not every:
        return Found((), note="no pair of distances that are both valid")
    readings = [f"{_model(file)} {_rate(found)}" for file, found in pairs.items() if found]
    return Found(
        (share("share", _wins(every), len(every)),),
        note="share of valid pairs over all models; the paper does not state the denominator",
        readings=f"{', '.join(readings)}; {_operators(package)}",
    )


def _operators(package: Package) -> str:
    """By averages of each operator and pair of frameworks, model by model."""
    told = []
    for file in package.names("mutation_position/*.csv"):
        found = [
            (fmean(first for first, _second in group), fmean(second for _first, second in group))
            for group in _by_operator(package, file)
        ]
        if found:
            told.append(f"{_model(file)} {_rate(found)}")
    return f"of operators' averages: {', '.join(told)}"


def _by_operator(package: Package, file: str) -> Iterable[list[tuple[float, float]]]:
    rows = sorted(package.rows(file)[1:], key=lambda row: row[1][0] or "")
    for _operator, group in groupby(rows, key=lambda row: row[1][0]):
        cells = [each for _line, each in group]
        for at in range(_FIRST, _FIRST + 3):
            valid = [pair for row in cells if (pair := _valid(row, at))]
            if valid:
                yield valid


def _pairs(package: Package, file: str) -> list[tuple[float, float]]:
    return [
        pair
        for _line, cells in package.rows(file)[1:]
        for at in range(_FIRST, _FIRST + 3)
        if (pair := _valid(cells, at))
    ]


def _valid(cells: Sequence[str | None], at: int) -> tuple[float, float] | None:
    """Backbone and head, if both were measured."""
    found = _PAIR.fullmatch((cells[at] or "").strip()) if at < len(cells) else None
    if not found:
        return None
    first, second = number_of(found[1]), number_of(found[2])
    if first is None or second is None:
        return None
    is_valid = all(math.isfinite(each) and each != FAILED for each in (first, second))
    return (first, second) if is_valid else None


def _wins(pairs: Iterable[tuple[float, float]]) -> int:
    return sum(first > second for first, second in pairs)


def _rate(pairs: Sequence[tuple[float, float]]) -> str:
    return f"{100 * _wins(pairs) / len(pairs):.1f} % of {len(pairs)}"


def _model(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".csv")


def _is_number(number: float | None) -> bool:
    return number is not None and not math.isnan(number)
