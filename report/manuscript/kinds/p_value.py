"""A p-value against its statistic and degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.report.manuscript.comparing import computed_from, failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "p-value"
ABOUT = "a p-value against its statistic: t, z, chi2, F or r"
FIELDS = {
    "statistic": "t, z, chi2, F or r",
    "value": "the statistic",
    "df": "degrees of freedom; of F two; not for z",
    "sides": "2 unless told; 1 for t, z and r (optional)",
}
EXAMPLE = """
printed = "0.15"
statistic = "t"
value = "1.45"
df = "698"
"""
POSSIBLE = "chi2 and F are not negative, and r lies between -1 and 1"
_DEGREES = {"t": 1, "z": 0, "chi2": 1, "F": 2, "r": 1}


def check(entry: Entry) -> Outcome:
    """The p-value of the statistic; what it could be before rounding is near."""
    statistic = entry.choice("statistic", tuple(_DEGREES))
    value = entry.number("value")
    degrees = [each.value for each in entry.numbers("df")] if entry.has("df") else []
    if len(degrees) != _DEGREES[statistic] or any(each <= 0 for each in degrees):
        raise entry.error(f"{statistic} has {_DEGREES[statistic]} degrees of freedom above 0")
    sides = entry.choice("sides", (2, 1))
    squared = statistic in ("chi2", "F")
    if (squared and value.value < 0) or (statistic == "r" and abs(value.value) >= 1):
        entry.numbers("printed")
        reason = f"{statistic} = {value.text} is not possible"
        return Outcome(failed(entry), "-", POSSIBLE, reason)
    return computed_from(entry, [value], lambda values: tail(statistic, values[0], degrees, sides))


def tail(statistic: str, value: float, degrees: Sequence[float], sides: int = 2) -> float:
    """The probability of a statistic at least so large."""
    from scipy import stats

    if statistic == "chi2":
        return float(stats.chi2.sf(value, degrees[0]))
    if statistic == "F":
        return float(stats.f.sf(value, *degrees))
    if statistic == "z":
        return float(sides * stats.norm.sf(abs(value)))
    if statistic == "r":
        value *= (degrees[0] / (1 - value**2)) ** 0.5
    return float(sides * stats.t.sf(abs(value), degrees[0]))
