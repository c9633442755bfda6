"""Comparisons as tables and figures."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.analysis.statistics import scales
from faultatlas.analysis.statistics.estimates import Estimate
from faultatlas.analysis.tallies import printed as printed_numbers
from faultatlas.analysis.tallies import words
from faultatlas.analysis.tallies.comparing import Comparison
from faultatlas.analysis.tallies.comparison_result import SCALES
from faultatlas.data.old.results import Cell, Column, Figure, Series, Table
from faultatlas.report import formatting


def tables(
    found: Sequence[Comparison], beside: Sequence[printed_numbers.Beside]
) -> tuple[Table, ...]:
    """The groups, the pairs, and where there are several groups the test of all."""
    made = [_groups(found), _pairs(found)]
    if any(each.overall for each in found):
        made.append(_overall(found))
    return tuple(made + ([printed_numbers.table(beside)] if beside else []))


def _groups(found: Sequence[Comparison]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            each.measured.value, group.name, group.n, *group.quartiles, group.mean, group.deviation,
            group.least, group.most, group.normality.statistic,
            words.p_cell(group.normality.p_value), group.normality.name,
        )
        for each in found
        for group in each.groups
    ]  # fmt: skip
    columns = (
        Column("value", "Value"),
        Column("group", "Group"),
        Column("n", "n", "count"),
        Column("first_quartile", "25 %", "number"),
        Column("median", "Median", "number"),
        Column("third_quartile", "75 %", "number"),
        Column("mean", "Mean", "number"),
        Column("deviation", "Std. dev.", "number"),
        Column("least", "Least", "number", aside=True),
        Column("most", "Most", "number", aside=True),
        Column("w", "W", "number", aside=True),
        Column("normality_p", "p (normal)", "number"),
        Column("normality", "Test of normality", aside=True),
    )
    return Table("groups", "Groups", columns, tuple(rows))


def _pairs(found: Sequence[Comparison]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            each.measured.value, f"{pair.first} - {pair.second}", pair.test.name,
            pair.test.statistic, words.p_cell(pair.test.p_value), words.p_cell(pair.adjusted),
            pair.d.value, scales.word(SCALES[0], pair.d.value),
            pair.delta.value, scales.word(SCALES[1], pair.delta.value),
            _ends(pair.d), _ends(pair.delta), pair.g.value, _ends(pair.g),
            pair.difference.value if pair.difference else None,
            _ends(pair.difference) if pair.difference else "",
        )
        for each in found
        for pair in each.pairs
    ]  # fmt: skip
    columns = (
        Column("value", "Value"),
        Column("pair", "Groups"),
        Column("test", "Test", aside=True),
        Column("statistic", "Statistic", "number", aside=True),
        Column("p", "p", "number", aside=True),
        Column("adjusted", "p after Holm", "number"),
        Column("d", "Cohen's d", "number"),
        Column("d_word", "In words"),
        Column("delta", "Cliff's delta", "number"),
        Column("delta_word", "In words"),
        Column("d_interval", "95 % of d", "interval"),
        Column("delta_interval", "95 % of delta", "interval"),
        Column("g", "Hedges' g", "number", aside=True),
        Column("g_interval", "95 % of g", "interval", aside=True),
        Column("difference", "Difference of means", "number", aside=True),
        Column("difference_interval", "95 %", "interval", aside=True),
    )
    titles = " and ".join(scales.SCALES[scale].title for scale in SCALES)
    note = f"First minus second. In words: after {titles}."
    return Table("pairs", "Groups beside each other", columns, tuple(rows), note)


def _overall(found: Sequence[Comparison]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        if each.overall and each.epsilon:
            word = scales.word("eta-squared", each.epsilon.value)
            rows.append(
                (each.measured.value, each.overall.name, each.overall.statistic,
                 words.p_cell(each.overall.p_value), each.epsilon.value, _ends(each.epsilon), word)
            )  # fmt: skip
    columns = (
        Column("value", "Value"),
        Column("test", "Test"),
        Column("statistic", "Statistic", "number"),
        Column("p", "p", "number"),
        Column("epsilon", "Epsilon squared", "number"),
        Column("interval", "95 %", "interval"),
        Column("word", "In words"),
    )
    return Table(
        "overall", "All groups", columns, tuple(rows),
        f"In words: after {scales.SCALES['eta-squared'].title}.",
    )  # fmt: skip


def figures(found: Sequence[Comparison]) -> tuple[Figure, ...]:
    """The spread of each value in its groups."""
    return tuple(
        Figure(
            f"values-{at}" if len(found) > 1 else "values",
            f"{each.measured.value} by group",
            "boxes",
            "Boxes from the first to the third quartile with the median; lines to the last value "
            "within one and a half of their distance. The same numbers are in the table groups.",
            categories=tuple(f"{group.name} (n = {group.n:,})" for group in each.groups),
            series=tuple(
                Series(group.name, five_numbers(each.measured.groups[group.name], group.quartiles))
                for group in each.groups
            ),
            unit=each.measured.value,
        )
        for at, each in enumerate(found, 1)
    )


def five_numbers(
    values: Sequence[float], quartiles: tuple[float, float, float]
) -> tuple[float, ...]:
    """The ends of the lines, the quartiles and the median (Tukey 1977)."""
    low, middle, high = quartiles
    reach = 1.5 * (high - low)
    inside = [value for value in values if low - reach <= value <= high + reach]
    return (min(*inside, low), low, middle, high, max(*inside, high))


def _ends(found: Estimate) -> str:
    return formatting.interval(found.low, found.high)
