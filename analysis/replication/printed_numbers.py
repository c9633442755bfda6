"""Figures that follow from other numbers of the same paper: the manuscript checker has them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from faultatlas.report.manuscript.check import by_figure, check, shipped_studies

if TYPE_CHECKING:
    from faultatlas.data.evidence import PublishedFigure
    from faultatlas.report.manuscript.check import FigureFinding


def from_printed_numbers(figure: PublishedFigure) -> FigureFinding | None:
    """What the numbers printed beside a figure give; None if none are recorded."""
    return _findings(figure.study).get(figure.figure_id)


@cache
def _findings(study: str) -> dict[str, FigureFinding]:
    return by_figure(check(study)) if study in shipped_studies() else {}
