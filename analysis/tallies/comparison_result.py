"""Comparisons as tables, figures, claims and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from faultatlas.analysis.statistics import groups
from faultatlas.analysis.tallies import printed as printed_numbers
from faultatlas.analysis.tallies import words
from faultatlas.analysis.tallies.comparing import LEVEL, Comparison, Pair
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.data.old.results import Claim
from faultatlas.report import formatting

ANALYSIS = "compare"
PRINTABLE = ("p", "d", "g", "delta")
SOURCES = groups.SOURCES
SCALES = ("cohen-d", "cliff-delta")


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
                    max(pair.test.p_value, words.LEAST_P),
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
                ("g", "Hedges' g", pair.g),
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
        total = f"{sum(group.n for group in each.groups):,}"
        if each.measured.paired:
            total = formatting.counted(each.groups[0].n, "pair")
        told.append(f"{each.measured.value}: n = {total}; {each.why}.")
        if len(each.pairs) == 1:
            (pair,) = each.pairs
            told.append(
                f"{words.test_text(pair.test)}; "
                f"{words.estimate_text('d', pair.d, SCALES[0])}; "
                f"{words.estimate_text('delta', pair.delta, SCALES[1])}."
            )
        elif each.overall and each.epsilon:
            apart = sum(words.is_below(pair.adjusted, LEVEL) for pair in each.pairs)
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
        f"{each.measured.value}: {each.why}."
        + ("" if each.measured.paired else f" {words.test_text(each.variances)}.")
        for each in found
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


def _status(printed: dict[str, printed_numbers.Beside], measure: str) -> dict[str, Any]:
    if measure not in printed:
        return {}
    each = printed[measure]
    return {"printed": each.printed.value, "status": each.status, "reason": each.reason}
