"""Comparisons as tables, figures, claims and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.statistics import effect_scales, effects, tests
from analysis.statistics.estimates import Estimate
from analysis.tallies import printed as printed_numbers
from analysis.tallies import words
from analysis.tallies.comparing import LEVEL, Comparison, Pair
from analysis.tallies.naming import called, key
from data.results import Cell, Claim, Column, Figure, Series, Table
from report import formatting

ANALYSIS = "compare"
PRINTABLE = ("p", "d", "g", "delta")
SOURCES = (*tests.SOURCES, *effects.SOURCES)
SCALES = ("cohen-d", "cliff-delta")


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
            group.least, group.most, group.normality.statistic, group.normality.p_value,
            group.normality.name,
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
            pair.test.statistic, pair.test.p_value, pair.adjusted,
            pair.d.value, effect_scales.word(SCALES[0], pair.d.value),
            pair.delta.value, effect_scales.word(SCALES[1], pair.delta.value),
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
    titles = " and ".join(effect_scales.SCALES[scale].title for scale in SCALES)
    note = f"First minus second. In words: after {titles}."
    return Table("pairs", "Groups beside each other", columns, tuple(rows), note)


def _overall(found: Sequence[Comparison]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        if each.overall and each.epsilon:
            word = effect_scales.word("eta-squared", each.epsilon.value)
            rows.append(
                (each.measured.value, each.overall.name, each.overall.statistic,
                 each.overall.p_value, each.epsilon.value, _ends(each.epsilon), word)
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
        f"In words: after {effect_scales.SCALES['eta-squared'].title}.",
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


def claims(
    found: Sequence[Comparison],
    name: str,
    parameters: dict[str, Any],
    beside: Sequence[printed_numbers.Beside],
) -> tuple[Claim, ...]:
    """The p-value and the effect sizes of every pair."""
    query = called(ANALYSIS, parameters)
    printed = {each.printed.key: each for each in beside}
    made = []
    for each in found:
        for pair in each.pairs:
            where = f"{key(each.measured.value)}.{_pair_key(pair)}"
            what = f"{each.measured.value} of {pair.first} and {pair.second}"
            ask = each.measured.rows_query
            rows = ask([pair.first, pair.second]) if ask else None
            if pair.test.p_value is None:
                continue
            made.append(
                Claim(
                    f"{name}.{where}.p",
                    f"p-value of {what} ({pair.test.name})",
                    pair.test.p_value,
                    "p",
                    f"{query}: values.{where}.test.p",
                    total=pair.test.n,
                    method=pair.test.detail or pair.test.name,
                    rows_query=rows,
                    **_status(printed, "p"),
                )
            )
            for measure, title, effect in (
                ("d", "Cohen's d", pair.d),
                ("delta", "Cliff's delta", pair.delta),
            ):
                if effect.value is None:
                    continue
                made.append(
                    Claim(
                        f"{name}.{where}.{measure}",
                        f"{title} of {what}",
                        effect.value,
                        "",
                        f"{query}: values.{where}.{measure}.value",
                        total=effect.n,
                        low=effect.low,
                        high=effect.high,
                        method=effect.method,
                        rows_query=rows,
                        **_status(printed, measure),
                    )
                )
    return tuple(made)


def document(found: Sequence[Comparison]) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "values": {key(each.measured.value): _plain(each) for each in found},
        "level": LEVEL,
    }


def summary(
    found: Sequence[Comparison], beside: Sequence[printed_numbers.Beside]
) -> tuple[str, ...]:
    """What was compared and found."""
    told = []
    for each in found:
        total = sum(group.n for group in each.groups)
        told.append(f"{each.measured.value}: n = {total:,}; {each.why}.")
        if len(each.pairs) == 1:
            (pair,) = each.pairs
            told.append(
                f"{words.test_text(pair.test)}; "
                f"{words.estimate_text('d', pair.d, SCALES[0])}; "
                f"{words.estimate_text('delta', pair.delta, SCALES[1])}."
            )
        elif each.overall and each.epsilon:
            apart = sum((pair.adjusted or 1) < LEVEL for pair in each.pairs)
            told.append(
                f"{words.test_text(each.overall)}; "
                f"{words.estimate_text('epsilon squared', each.epsilon, 'eta-squared')}; {apart} "
                f"of {len(each.pairs)} pairs differ ({LEVEL} after Holm)."
            )
    return (*told, *map(printed_numbers.sentence, beside))


def notes(found: Sequence[Comparison]) -> tuple[str, ...]:
    """What was checked and what is assumed."""
    counted = list(dict.fromkeys(note for each in found for note in each.measured.notes))
    pairs = sum(len(each.pairs) for each in found)
    chosen = [
        f"{each.measured.value}: {each.why}. {words.test_text(each.variances)}." for each in found
    ]
    assumed = (
        "Assumed: the values are independent of each other, but for the pairs of a paired test. "
        "With many values a test of normality refuses small deviations, too; Cliff's delta needs "
        "no normality."
    )
    over = f"p-values are adjusted after Holm over {formatting.counted(pairs, 'pair')} of groups."
    scales = (*SCALES, *(["eta-squared"] if any(each.epsilon for each in found) else []))
    return (*counted, *chosen, assumed, over, *map(words.scale_note, scales))


def _plain(each: Comparison) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "why": each.why,
        "groups": {
            key(group.name): {
                "n": group.n, "mean": group.mean, "deviation": group.deviation,
                "quartiles": list(group.quartiles),
                "normality": words.test_document(group.normality),
            }
            for group in each.groups
        },
        "variances": words.test_document(each.variances),
    }  # fmt: skip
    for pair in each.pairs:
        plain[_pair_key(pair)] = {
            "test": words.test_document(pair.test),
            "adjusted": pair.adjusted,
            "d": words.estimate_document(pair.d, SCALES[0]),
            "g": words.estimate_document(pair.g, SCALES[0]),
            "delta": words.estimate_document(pair.delta, SCALES[1]),
        }
    if each.overall and each.epsilon:
        plain["overall"] = words.test_document(each.overall)
        plain["epsilon"] = words.estimate_document(each.epsilon, "eta-squared")
    return plain


def _pair_key(pair: Pair) -> str:
    return f"{key(pair.first)}-and-{key(pair.second)}"


def _ends(found: Estimate) -> str:
    return formatting.interval(found.low, found.high)


def _status(printed: dict[str, printed_numbers.Beside], measure: str) -> dict[str, Any]:
    if measure not in printed:
        return {}
    each = printed[measure]
    return {"printed": each.printed.value, "status": each.status, "reason": each.reason}
