"""Sizes of samples without a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table
from faultatlas.data.sampling import Precision


def sizes(populations: Sequence[int], precision: Precision) -> dict[str, Any]:
    """The size for each population; without any, for one without end."""
    for population in populations:
        if population < 1:
            raise StudyError(f"a population of {population}", "Count it: it has at least one.")
    wanted: list[float] = list(populations) or [math.inf]
    return {
        "confidence": precision.confidence,
        "margin": precision.margin,
        "rounding": precision.rounding,
        "sizes": [
            {
                "population": None if math.isinf(each) else each,
                "exact": precision.exact(each),
                "size": precision.size(each),
                "rule": precision.words(each),
            }
            for each in wanted
        ],
    }


def sizes_table(found: dict[str, Any]) -> Table:
    """The same for a reader."""
    columns = (
        Column("population", "Population", "count"),
        Column("exact", "Exact", "interval"),
        Column("size", "Sample", "count"),
    )
    rows = tuple(
        (math.inf if each["population"] is None else each["population"], f"{each['exact']:.2f}",
         each["size"])
        for each in found["sizes"]
    )  # fmt: skip
    how = "up" if found["rounding"] == "up" else "to the nearest number"
    note = (
        f"{found['confidence']:g} % confidence, {found['margin']:g} % margin, share 50 %, with the "
        f"correction for a finite population (Cochran 1977), rounded {how}."
    )
    return Table("sizes", "Sample sizes", columns, rows, note)
