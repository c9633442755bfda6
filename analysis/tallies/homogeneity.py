"""Whether groups are alike: the test, Cramer's V with its interval, and which cells differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faultatlas.analysis.statistics import tables
from faultatlas.analysis.statistics.estimates import Estimate, Test
from faultatlas.analysis.tallies import words
from faultatlas.data.old.results import Cell, Column, Table

SCALE = "cramer-v"
INDEPENDENT = (
    "Assumed: the observations are independent of each other, each in one row and one column."
)


@dataclass(frozen=True)
class Association:
    """A table of counts without empty rows and columns, and what was found of it."""

    counts: tuple[tuple[int, ...], ...]
    test: Test
    expected: tables.ExpectedCounts
    v: Estimate
    corrected: Estimate

    @property
    def degrees(self) -> int:
        """The smaller side less one, by which the words for V depend."""
        return min(len(self.counts), len(self.counts[0])) - 1

    @property
    def summary(self) -> str:
        """Test and effect in a sentence."""
        effect = words.estimate_text("Cramer's V", self.v, SCALE, degrees=self.degrees)
        return f"{words.test_text(self.test)}; {effect}; n = {self.test.n:,}."

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was checked and what is assumed."""
        return (
            f"{tables.RULE} Here {self.expected.summary}: {self.test.name}.",
            INDEPENDENT,
            words.scale_note(SCALE),
        )

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            **words.test_document(self.test),
            "smallest_expected": self.expected.smallest,
            "expected_below_5": self.expected.below_five,
            "cells": self.expected.cells,
            "v": words.estimate_document(self.v, SCALE, degrees=self.degrees),
            "v_corrected": words.estimate_document(self.corrected, SCALE, degrees=self.degrees),
        }


def associated(counts: Sequence[Sequence[int]], seed: int) -> Association | None:
    """What there is to say of a table; None without two rows and two columns."""
    kept = tables.without_empty(counts)
    found = tables.independence(kept, seed=seed)
    if found is None:
        return None
    return Association(
        tuple(map(tuple, kept)),
        found.test,
        found.expected,
        tables.cramer_v(kept),
        tables.corrected_v(kept),
    )


MEASURES = (
    Column("measure", "Measure"),
    Column("value", "Value", "number"),
    Column("low", "95 % from", "number"),
    Column("high", "to", "number"),
    Column("word", "In words"),
    Column("method", "Method", aside=True),
)


def measure_row(
    name: str, found: Estimate, scale: str = "", *, degrees: int = 1
) -> tuple[Cell, ...]:
    """An estimate as a row of `MEASURES`."""
    plain = words.estimate_document(found, scale, degrees=degrees)
    method = found.method if not found.reason else f"{found.method}: {found.reason}"
    return (name, found.value, found.low, found.high, plain.get("word", ""), method)


def measures_table(found: Association, name: str, title: str) -> Table:
    """The test and the effect sizes."""
    rows: list[tuple[Cell, ...]] = [
        (f"p ({found.test.name})", words.p_cell(found.test.p_value), None, None, "",
         found.test.detail),
    ]  # fmt: skip
    if found.test.statistic is not None:
        rows.append(
            (f"Statistic, {words.degrees_text(found.test.degrees or 0)}", found.test.statistic,
             None, None, "", "")
        )  # fmt: skip
    rows += [
        measure_row("Cramer's V", found.v, SCALE, degrees=found.degrees),
        measure_row("Cramer's V, bias corrected", found.corrected, SCALE, degrees=found.degrees),
    ]
    return Table(name, title, MEASURES, tuple(rows), note=found.assumptions[0])
