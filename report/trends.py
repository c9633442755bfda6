"""A kind of figure: values with their intervals in the order of time, and what was to be reached.

Takes a `Figure` and returns a drawing of paper width, as the other charts do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from faultatlas.data.old.results import Figure, Series
from faultatlas.report import canvas, formatting
from faultatlas.report.canvas import DOUBLE_COLUMN, GAP, LEGEND_LINE, LINE, SINGLE_COLUMN
from faultatlas.report.inks import MUTED, VERMILLION, inks_for

TALL = 150.0  # of the plot
SHAPES = ("o", "s", "D", "^")  # a series is told by its shape as well as by its colour
WIDEST_BAND = 90.0
EDGE = 1.0
WHISKER = 3.5


@dataclass(frozen=True)
class _Plot:
    """Where values stand on the page."""

    left: float
    foot: float
    band: float  # of a category
    step: float  # from a series to the next, in a category
    low: float
    high: float

    def height(self, value: float) -> float:
        return self.foot + TALL * (value - self.low) / (self.high - self.low)

    def place(self, category: int, series: int, of: int) -> float:
        """The series of a category stand close together around its middle."""
        return self.left + self.band * (category + 0.5) + self.step * (series - (of - 1) / 2)


def trend(figure: Figure, page: float | None = None) -> Drawing:
    """Points with interval bars, joined where they follow each other, and the threshold."""
    if not figure.categories or not any(map(_number, _values(figure.series))):
        return canvas.empty_page()
    percent = formatting.is_percent(figure.unit)
    ticks = _ticks(figure, 100.0 if percent else 1.0)
    marks = [formatting.printed(tick, "%" if percent else "") for tick in ticks]
    left = max(map(canvas.width, marks)) + 2 * GAP + EDGE
    limits = sorted({value for value in figure.threshold if value is not None})
    notes = [f"threshold {formatting.printed(value, '%' if percent else '')}" for value in limits]
    right = max(map(canvas.width, notes), default=-GAP) + GAP + EDGE
    step = _widest_value(figure) + GAP
    pages = (page,) if page else (SINGLE_COLUMN, DOUBLE_COLUMN)
    band = _band(figure, step, left + right, pages)
    wide = left + band * len(figure.categories) + right
    heads = [_head(category, band - GAP) for category in figure.categories]
    inks = inks_for(series.label for series in figure.series)
    legend = canvas.legend_rows(list(inks), wide - left) if len(figure.series) > 1 else []
    foot = LINE * max(map(len, heads)) + 2 * GAP
    above = LEGEND_LINE * len(legend) + LINE + 2 * GAP
    drawing, axes = canvas.page(wide, foot + TALL + above)
    plot = _Plot(left, foot, band, step, ticks[0], ticks[-1])
    for tick, mark in zip(ticks, marks, strict=True):
        y = plot.height(tick)
        canvas.rule(axes, (left, y), (wide - right, y))
        axes.text(left - GAP, y, mark, ha="right", va="center_baseline", color=MUTED)
    _draw_thresholds(axes, plot, figure.threshold, notes, limits)
    for at, series in enumerate(figure.series):
        xs = [plot.place(index, at, len(figure.series)) for index in range(len(figure.categories))]
        shape = SHAPES[at % len(SHAPES)]
        _draw_series(axes, plot, series, xs, (inks[series.label].fill, shape), percent=percent)
    for index, lines in enumerate(heads):
        x = left + band * (index + 0.5)
        text = "\n".join(lines)
        axes.text(x, foot - GAP, text, ha="center", va="top", linespacing=1.1)
    top = foot + TALL + above
    for number, row in enumerate(legend):
        y = top - LEGEND_LINE * number - 5
        for label, offset in row:
            shape = SHAPES[list(inks).index(label) % len(SHAPES)]
            _point(axes, (left + offset + 4, y), inks[label].fill, shape)
            axes.text(left + offset + 12, y, canvas.clean(label), va="center_baseline")
    return drawing


def _values(all_series: Iterable[Series]) -> list[float | None]:
    return [value for series in all_series for value in series.values]


def _number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _ticks(figure: Figure, one: float) -> list[float]:
    """Where the lines of the scale stand: from 0 to one, further where a value lies beyond."""
    every = [0.0, one, *figure.threshold]
    for series in figure.series:
        every += [*series.values, *series.low, *series.high]
    known = [value for value in every if value is not None and math.isfinite(value)]
    low, high = min(known), max(known)
    if (low, high) == (0.0, one):
        return [one * fifth / 5 for fifth in range(6)]
    return [round(float(tick), 9) for tick in MaxNLocator(nbins=7).tick_values(low, high)]


def _widest_value(figure: Figure) -> float:
    percent = formatting.is_percent(figure.unit)
    values = [value for value in _values(figure.series) if value is not None]
    return max(canvas.width(_written(value, percent=percent)) for value in values)


def _head(category: str, room: float) -> list[str]:
    """A category in lines none of which is wider than the room, unless a word is."""
    wanted = room
    lines = canvas.wrapped(category, wanted)
    while max(map(canvas.width, lines)) > room and wanted > room / 2:
        wanted *= 0.95
        lines = canvas.wrapped(category, wanted)
    return lines


def _band(figure: Figure, step: float, around: float, pages: Sequence[float]) -> float:
    """The width of a category: its values side by side, a page that is filled or outgrown."""
    least = step * len(figure.series)
    words = (word for category in figure.categories for word in canvas.clean(category).split())
    least = max(least, min(max(map(canvas.width, words), default=0.0) + 2 * GAP, WIDEST_BAND))
    count = len(figure.categories)
    for page in pages:
        if least * count <= page - around:
            return max(least, (page - around) / count)
    return least


def _draw_thresholds(
    axes: Axes,
    plot: _Plot,
    thresholds: Sequence[float | None],
    notes: Sequence[str],
    limits: Sequence[float],
) -> None:
    for index, value in enumerate(thresholds):
        if value is not None:
            ends = [plot.left + plot.band * index, plot.left + plot.band * (index + 1)]
            y = plot.height(value)
            axes.plot(ends, [y, y], color=VERMILLION, linewidth=1.0, dashes=(4, 2), zorder=1)
    end = plot.left + plot.band * len(thresholds)
    lowest = -math.inf
    for value, note in zip(limits, notes, strict=True):
        y = max(plot.height(value), lowest + LINE)
        axes.text(end + GAP, y, note, va="center_baseline")
        lowest = y


def _draw_series(
    axes: Axes,
    plot: _Plot,
    series: Series,
    xs: Sequence[float],
    look: tuple[str, str],
    *,
    percent: bool,
) -> None:
    colour, shape = look
    lows = series.low or (None,) * len(xs)
    highs = series.high or (None,) * len(xs)
    before: tuple[float, float] | None = None
    for x, value, low, high in zip(xs, series.values, lows, highs, strict=True):
        if value is None or not math.isfinite(value):
            before = None  # a gap stays a gap
            continue
        point = (x, plot.height(value))
        top = point[1]
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            _whisker(axes, x, (plot.height(low), plot.height(high)), colour)
            top = max(top, plot.height(high))
        if before:
            ends = ([before[0], x], [before[1], point[1]])
            axes.plot(*ends, color=colour, linewidth=0.8, alpha=0.45, zorder=2)
        _point(axes, point, colour, shape)
        patch = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        text = _written(value, percent=percent)
        axes.text(x, top + GAP + 1, text, ha="center", va="baseline", bbox=patch, zorder=4)
        before = point


def _whisker(axes: Axes, x: float, ends: tuple[float, float], colour: str) -> None:
    axes.plot([x, x], ends, color=colour, linewidth=1.2, zorder=3, clip_on=False)
    for y in ends:
        across = [x - WHISKER, x + WHISKER]
        axes.plot(across, [y, y], color=colour, linewidth=1.2, zorder=3, clip_on=False)


def _point(axes: Axes, centre: tuple[float, float], colour: str, shape: str) -> None:
    axes.plot(
        *([part] for part in centre), shape, color=colour, markersize=4.5, markeredgewidth=0.5,
        markeredgecolor="white", zorder=3.5, clip_on=False,
    )  # fmt: skip


def _written(value: float, *, percent: bool) -> str:
    return formatting.percent(value) if percent else formatting.number(value)
