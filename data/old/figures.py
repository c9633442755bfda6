"""The status of published figures whose check by hand no program repeats yet."""

from __future__ import annotations

from faultatlas.data import evidence
from faultatlas.data.evidence import PublishedFigure


def status_by_hand(figure: PublishedFigure) -> str:
    """The status that the wording of the check by hand means."""
    rules = {rule.wording: rule.status for rule in evidence.status_rules()}
    return rules[figure.wording]
