"""Numbers in sentences: p-values, estimates, tests, and what scales call them."""

from __future__ import annotations

from typing import Any

from faultatlas.analysis.statistics import scales
from faultatlas.analysis.statistics.estimates import Estimate, Test
from faultatlas.data.old.results import Cell
from faultatlas.report import formatting

LEAST_P = 1e-300  # below, a computer has no room for the number


def is_below(p_value: float | None, level: float) -> bool:
    """Whether there is a p-value and it is below a level; 0 is one, too."""
    return p_value is not None and p_value < level


def p_cell(p_value: float | None) -> Cell:
    """A p-value in a table: never 0."""
    return "< 1e-300" if is_below(p_value, LEAST_P) else p_value


def p_text(p_value: float | None) -> str:
    """`p = 0.012`, `p = 7.7e-21`."""
    if p_value is None:
        return "no p-value"
    return "p < 1e-300" if p_value < LEAST_P else f"p = {formatting.number(p_value)}"


def estimate_text(name: str, found: Estimate, scale: str = "", *, degrees: int = 1) -> str:
    """`Cramer's V 0.337 (0.267 to 0.408; medium after Cohen (w, as Cramer's V))`."""
    if found.value is None:
        return f"{name}: none ({found.reason})"
    said = f"{formatting.number(found.low or 0.0)} to {formatting.number(found.high or 0.0)}"
    if scale:
        title = scales.SCALES[scale].title
        said += f"; {scales.word(scale, found.value, degrees=degrees)} after {title}"
    return f"{name} {formatting.number(found.value)} ({said})"


def test_text(test: Test) -> str:
    """A test with its statistic, degrees of freedom and p-value."""
    if test.p_value is None:
        return f"{test.name}: {test.reason}"
    parts = []
    if test.statistic is not None:
        parts.append(f"statistic {formatting.number(float(test.statistic))}")
    if test.degrees is not None:
        parts.append(degrees_text(test.degrees))
    parts += [p_text(test.p_value), *([test.detail] if test.detail else [])]
    return f"{test.name}: {', '.join(parts)}"


def degrees_text(degrees: float) -> str:
    """`1 degree of freedom`."""
    return f"{degrees:,.4g} {'degree' if degrees == 1 else 'degrees'} of freedom"


def estimate_document(found: Estimate, scale: str = "", *, degrees: int = 1) -> dict[str, Any]:
    """An estimate as plain values."""
    plain: dict[str, Any] = {
        "value": found.value,
        "interval": [found.low, found.high],
        "n": found.n,
        "method": found.method,
        **({"reason": found.reason} if found.reason else {}),
    }
    if scale:
        plain["word"] = scales.word(scale, found.value, degrees=degrees)
        plain["scale"] = scales.SCALES[scale].title
    return plain


def test_document(test: Test) -> dict[str, Any]:
    """A test as plain values."""
    return {
        "test": test.name,
        "statistic": test.statistic,
        "degrees": test.degrees,
        "p": test.p_value,
        "n": test.n,
        **({"detail": test.detail} if test.detail else {}),
        **({"reason": test.reason} if test.reason else {}),
    }


def scale_note(scale: str) -> str:
    """The source of a scale's words."""
    known = scales.SCALES[scale]
    return f"Words of {known.title}: {known.source}."
