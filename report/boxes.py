"""A kind of figure: how values spread in groups, as boxes with a median and lines to their ends.

Takes a `Figure` and returns a drawing of paper width, as the other charts do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from faultatlas.data.old.results import Figure
from faultatlas.report import canvas, formatting
from faultatlas.report.canvas import DOUBLE_COLUMN, GAP, LINE, SINGLE_COLUMN
from faultatlas.report.inks import MUTED, SKY, TEXT, Ink

THICK = 12.0
MARGIN = 2 * GAP
EDGE = 6.0


def boxes(figure: Figure, wide: float | None = None) -> Drawing:
    """A row for each group: from the first to the third quartile, the median, the ends."""
    known = [value for series in figure.series for value in series.values if value is not None]
    if not known or not all(map(math.isfinite, known)):
        return canvas.empty_page()
    longest = max(canvas.width(canvas.clean(category)) for category in figure.categories)
    whole = wide or (DOUBLE_COLUMN if longest > 0.4 * SINGLE_COLUMN else SINGLE_COLUMN)
    labels = [canvas.wrapped(category, 0.42 * whole) for category in figure.categories]
    left = max(canvas.width(line) for lines in labels for line in lines) + MARGIN + 1
    ticks = _ticks(min(known), max(known), room=whole - left)
    marks = [formatting.printed(tick) for tick in ticks]
    right = canvas.width(marks[-1]) / 2 + EDGE
    heights = [max(THICK, LINE * len(lines)) + 7 for lines in labels]
    foot = 2 * LINE + GAP
    drawing, axes = canvas.page(whole, foot + sum(heights) + GAP)
    scale = (whole - left - right) / ((ticks[-1] - ticks[0]) or 1)

    def place(value: float) -> float:
        return left + (value - ticks[0]) * scale

    top = foot + sum(heights)
    for tick, mark in zip(ticks, marks, strict=True):
        canvas.rule(axes, (place(tick), foot - GAP), (place(tick), top))
        axes.text(place(tick), foot - GAP - 1, mark, ha="center", va="top", color=MUTED)
    middle = (left + whole - right) / 2
    axes.text(middle, 1, canvas.clean(figure.unit), ha="center", va="bottom")
    for series, lines, tall in zip(figure.series, labels, heights, strict=True):
        canvas.row_label(axes, (left - MARGIN, top - tall / 2), lines)
        ends = [place(value) for value in series.values if value is not None]
        if len(ends) == 5:
            _box(axes, ends, top - tall / 2)
        top -= tall
    return drawing


def _box(axes: Axes, ends: Sequence[float], y: float) -> None:
    low, first, median, third, high = ends
    for start, end in ((low, first), (third, high)):
        canvas.rule(axes, (start, y), (end, y), front=True)
    for end in (low, high):
        canvas.rule(axes, (end, y - 3), (end, y + 3), front=True)
    canvas.box(axes, (first, y - THICK / 2), (max(third - first, 0.5), THICK), Ink(SKY))
    across = [y - THICK / 2, y + THICK / 2]
    axes.plot([median, median], across, color=TEXT, linewidth=1.4, zorder=4, clip_on=False)


def _ticks(low: float, high: float, room: float) -> list[float]:
    """Where the lines of the scale stand, no more than have room for their numbers."""
    widest = max(canvas.width(formatting.printed(round(end, 3))) for end in (low, high)) + 2 * GAP
    most = max(2, min(7, int(room / widest)))
    places = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10])
    return [round(float(tick), 9) for tick in places.tick_values(low, high)]
