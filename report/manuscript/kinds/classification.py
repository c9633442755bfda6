"""Accuracy, precision, recall and F1 from counts, or F1 from precision and recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from faultatlas.report.manuscript.comparing import computed_from
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "classification"
ABOUT = "accuracy, precision, recall or F1 from counts; F1 also from precision and recall"
FIELDS = {
    "metric": "accuracy, precision, recall or f1",
    "tp": "true positives (with fp, fn and, for accuracy, tn)",
    "fp": "false positives",
    "fn": "false negatives",
    "tn": "true negatives",
    "precision": "for F1 without counts",
    "recall": "for F1 without counts",
}
EXAMPLE = """
printed = "0.22"
metric = "f1"
precision = "0.25"
recall = "0.20"
"""
_METRICS: dict[str, tuple[tuple[str, ...], Callable[[Sequence[float]], float]]] = {
    "accuracy": (
        ("tp", "tn", "fp", "fn"), lambda n: (n[0] + n[1]) / sum(n)
    ),
    "precision": (("tp", "fp"), lambda n: n[0] / (n[0] + n[1])),
    "recall": (("tp", "fn"), lambda n: n[0] / (n[0] + n[1])),
    "f1": (("tp", "fp", "fn"), lambda n: 2 * n[0] / (2 * n[0] + n[1] + n[2])),
}  # fmt: skip


def check(entry: Entry) -> Outcome:
    """The measure that is printed."""
    metric = entry.choice("metric", tuple(_METRICS))
    if metric == "f1" and entry.has("precision"):
        inputs = [entry.number("precision"), entry.number("recall")]
        return computed_from(entry, [each.as_fraction() for each in inputs], _f1, fraction=True)
    names, compute = _METRICS[metric]
    return computed_from(entry, [entry.number(name) for name in names], compute, fraction=True)


def _f1(both: Sequence[float]) -> float:
    return 2 * both[0] * both[1] / (both[0] + both[1])
