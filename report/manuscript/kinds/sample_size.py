"""A sample size against the formula: Cochran, with and without the finite correction."""

from __future__ import annotations

import math

from faultatlas.data.sampling import CONFIDENCES, MARGINS, Precision, Rounding
from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "sample-size"
ABOUT = "a sample size against confidence, margin and population (Cochran 1977)"
FIELDS = {
    "population": "what was sampled from, or several candidates; without: very many (optional)",
    "confidence": "in percent; 95 unless told (optional)",
    "margin": "in percent; 5 unless told (optional)",
}
EXAMPLE = """
printed = "380"
population = "38,463"
"""
_ROUNDINGS: dict[Rounding, str] = {"nearest": "rounded to the nearest", "up": "rounded up"}


def check(entry: Entry) -> Outcome:
    """The size for each population, by both ways of rounding."""
    printed = entry.only_printed()
    confidence, margin = (
        _percent(entry, "confidence", CONFIDENCES),
        _percent(entry, "margin", MARGINS),
    )
    populations = entry.numbers("population") if entry.has("population") else []
    sizes = [each.value for each in populations] or [math.inf]
    if min(sizes) < 1:
        raise entry.error("a population has at least one member")
    rule = f"{Precision(confidence, margin).formula()} or rounded up"
    for rounding, words in _ROUNDINGS.items():
        precision = Precision(confidence, margin, rounding)
        for size in sizes:
            if precision.size(size) == printed.value:
                exact = precision.exact(size)
                reason = f"{exact:.2f} {words}{'' if math.isinf(size) else f' (N = {size:,.0f})'}"
                return Outcome("consistent", f"{printed.value:,.0f}", rule, reason, printed.value)
    return _differs(entry, printed, Precision(confidence, margin), sizes, rule)


def _differs(
    entry: Entry, printed: Printed, precision: Precision, sizes: list[float], rule: str
) -> Outcome:
    if sizes == [math.inf] and printed.value < precision.unlimited():
        return _of_some_population(printed, precision, rule)
    needed = [precision.size(size) for size in sizes]
    computed = "; ".join(
        f"{n:,}" if math.isinf(size) else f"N={size:,.0f}: {n:,}"
        for size, n in zip(sizes, needed, strict=True)
    )
    value = float(needed[0]) if len(needed) == 1 else None
    if printed.value > max(needed):
        reason = f"{printed.text} is more than the formula asks for, so that the margin holds"
        return Outcome("does not follow", computed, rule, reason, value)
    return Outcome(failed(entry), computed, rule, f"no population gives {printed.text}", value)


def _of_some_population(printed: Printed, precision: Precision, rule: str) -> Outcome:
    """A size that a finite population explains, which the paper may state elsewhere."""
    endless = precision.unlimited()
    fitting = (endless - 1) * printed.value / (endless - printed.value)
    reason = f"no population is given; {printed.text} is the size for about {fitting:,.0f}"
    return Outcome("cannot be checked", f"N={fitting:.0f}", rule, reason)


def _percent(entry: Entry, name: str, limits: tuple[float, float]) -> float:
    value = entry.number(name, {"confidence": "95", "margin": "5"}[name]).value
    if not limits[0] <= value <= limits[1]:
        raise entry.error(f"{name} = {value:g}", f"in percent, {limits[0]} to {limits[1]}")
    return value
