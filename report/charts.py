"""Three kinds of figure: shares of a whole, grouped bars, a matrix of numbers.

Each takes a `Figure`, and how wide it should be, and returns a drawing of paper width.
Nothing here reads a study or writes a file; how ink gets on the page is `canvas`'s business.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from faultatlas.data.old.results import Bar, Figure, Series
from faultatlas.report import canvas, formatting
from faultatlas.report.canvas import DOUBLE_COLUMN, GAP, LEGEND_LINE, LINE, SINGLE_COLUMN
from faultatlas.report.inks import MUTED, Ink, inks_for

MARGIN = 2 * GAP  # between a row's label and its marks
EDGE = 1.0  # so that no letter is cut at the rim
HEAD_LINE = 8.8
DEEPEST_HEAD = 165.0
_WHOLE = 100.0  # percent
_STROKE = 2.0  # half of the one that ends an interval


# --- shares --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Segment:
    label: str
    text: str
    x: float
    wide: float

    @property
    def centre(self) -> float:
        return self.x + self.wide / 2

    @property
    def fits(self) -> bool:
        return canvas.width(self.text) + GAP <= self.wide


def shares(figure: Figure, wide: float | None = None) -> Drawing:
    """Stacked bars of 100 %, every segment with its percentage and count."""
    if not any(map(_total, figure.bars)):
        return canvas.empty_page()
    thick, between = 20.0, 9.0
    page = wide or DOUBLE_COLUMN
    labels = [canvas.wrapped(bar.label, min(130, 0.28 * page)) for bar in figure.bars]
    totals = [f"n = {formatting.count(_total(bar))}" for bar in figure.bars]
    left = _widest(*labels, totals) + MARGIN + EDGE
    inks = inks_for(part.label for bar in figure.bars for part in bar.parts if part.count > 0)
    legend = canvas.legend_rows(list(inks), page - left - EDGE)
    segments = [_segments(bar, left, page) for bar in figure.bars]
    heights = [
        max(
            thick + (LINE + GAP + 1 if any(not s.fits for s in row) else 0), LINE * (len(lines) + 1)
        )
        for row, lines in zip(segments, labels, strict=True)
    ]
    above = LEGEND_LINE * len(legend) + GAP
    height = above + sum(heights) + between * (len(heights) - 1) + 1
    drawing, axes = canvas.page(page, height)
    canvas.draw_legend(axes, (left, height), legend, inks)
    top = height - above
    for row, lines, total, tall in zip(segments, labels, totals, heights, strict=True):
        middle = top - thick / 2
        canvas.row_label(axes, (left - MARGIN, middle), lines, total)
        if not row:
            axes.text(left, middle, "no data", va="center_baseline", color=MUTED)
        for segment in row:
            ink = inks[segment.label]
            canvas.box(axes, (segment.x, top - thick), (segment.wide, thick), ink)
            if segment.fits:
                canvas.label_on(axes, (segment.centre, middle), segment.text, ink)
        narrow = [segment for segment in row if not segment.fits]
        _label_below(axes, narrow, top - thick, page - EDGE)
        top -= tall + between
    return drawing


def _total(bar: Bar) -> int:
    return sum(max(part.count, 0) for part in bar.parts)


def _segments(bar: Bar, left: float, page: float) -> list[_Segment]:
    total = _total(bar)
    segments: list[_Segment] = []
    x = left
    for part in bar.parts:
        if part.count > 0:
            wide = (page - left - EDGE) * part.count / total
            text = f"{formatting.share(part.count, total)} ({formatting.count(part.count)})"
            segments.append(_Segment(part.label, text, x, wide))
            x += wide
    return segments


def _label_below(axes: Axes, segments: Sequence[_Segment], y: float, limit: float) -> None:
    """Labels of the narrow segments under the bar, from the right, none over another."""
    for segment in reversed(segments):
        wide = canvas.width(segment.text)
        end = min(limit, segment.centre + wide / 2)
        if end < wide:
            return  # more slivers than room; the table has them all
        foot = min(max(segment.centre, end - wide + GAP), end - GAP)
        canvas.rule(axes, (segment.centre, y), (foot, y - GAP), front=True)
        axes.text(end, y - GAP - 1.5, segment.text, ha="right", va="top")
        limit = end - wide - 2 * GAP


# --- bars ----------------------------------------------------------------------------


def bars(figure: Figure, wide: float | None = None) -> Drawing:
    """Horizontal bars from a common zero, grouped by category, each with its value.

    Where a series has intervals, a thin line runs from end to end; shares with intervals stand
    on an axis from 0 to 100 %, and their numbers in a column beside it.
    """
    values = _finite(figure)
    if not values or not figure.categories:
        return canvas.empty_page()
    many = len(figure.series) > 1
    has_axis = _are_shares(figure, values)
    longest = max(canvas.width(canvas.clean(category)) for category in figure.categories)
    if wide is None:
        wide = DOUBLE_COLUMN if many or longest > 0.5 * SINGLE_COLUMN else SINGLE_COLUMN
    labels = [canvas.wrapped(category, 0.42 * wide) for category in figure.categories]
    left = _widest(*labels) + MARGIN + EDGE
    write = _writer(values, figure.unit)
    numbers = _numbers(figure, write, 0.65 * wide - left if has_axis else 0.0)
    room = _widest(*numbers) + GAP
    ends = [end for series in figure.series for end in (*series.low, *series.high) if end]
    ends += [_WHOLE] if has_axis else []
    low, high = min(0.0, *values, *ends), max(0.0, *values, *ends)
    start = left + (room if low < 0 else 0)
    scale = (wide - start - room - EDGE) / ((high - low) or 1)
    zero = start - low * scale
    thick = 11.0 if many else 12.0
    inks = inks_for(series.label for series in figure.series)
    legend = canvas.legend_rows(list(inks), wide - left) if many else []
    above = LEGEND_LINE * len(legend) + (GAP if legend else 0)
    heights = [max(thick * len(figure.series), LINE * len(lines)) + 6 for lines in labels]
    foot = LINE + GAP if has_axis else 0.0
    height = sum(heights) + above + foot
    drawing, axes = canvas.page(wide, height)
    canvas.draw_legend(axes, (left, height), legend, inks)
    if has_axis:
        _draw_axis(axes, (zero, foot), height - above, scale)
    canvas.rule(axes, (zero, foot), (zero, height - above), front=True)
    top = height - above
    for index, (lines, tall) in enumerate(zip(labels, heights, strict=True)):
        canvas.row_label(axes, (left - MARGIN, top - tall / 2), lines)
        y = top - tall / 2 + thick * len(figure.series) / 2
        for series, texts in zip(figure.series, numbers, strict=True):
            y -= thick
            value = series.values[index]
            if value is not None and math.isfinite(value):
                size = (value * scale, thick - 1.5)
                canvas.box(axes, (zero, y + 0.75), size, inks[series.label])
                side, gap = ("right", -GAP) if value < 0 else ("left", GAP)
                far = _interval(axes, series, index, (zero, scale, y + thick / 2)) or value
                x = zero + (_WHOLE if has_axis else far) * scale + 0.75 * gap
                axes.text(x, y + thick / 2, texts[index], ha=side, va="center_baseline")
        top -= tall
    return drawing


def _are_shares(figure: Figure, values: Sequence[float]) -> bool:
    """Whether all of it lies between 0 and 100 %, with intervals."""
    ends = [
        end for each in figure.series for end in (*each.low, *each.high) if end is not None
    ]  # fmt: skip
    every = (*values, *ends)
    return (
        bool(ends)
        and formatting.is_percent(figure.unit)
        and 0 <= min(every) <= max(every) <= _WHOLE
    )


def _numbers(figure: Figure, write: Callable[[float], str], room: float) -> list[list[str]]:
    """What stands beside each bar: its value, and its interval if there is room for that."""
    plain = [[_written(write, value) for value in series.values] for series in figure.series]
    full = [
        [
            f"{text} ({_ends(low, high)})" if text and low is not None else text
            for text, low, high in itertools.zip_longest(texts, series.low, series.high)
        ]
        for texts, series in zip(plain, figure.series, strict=True)
    ]
    return full if _widest(*full) <= room else plain


def _ends(low: float | None, high: float | None) -> str:
    """The ends of an interval of shares; the value has the unit."""
    return formatting.interval(low, high, "percent").removesuffix(" %")


def _written(write: Callable[[float], str], value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else write(value)


def _draw_axis(axes: Axes, origin: tuple[float, float], top: float, scale: float) -> None:
    """Faint lines at round shares, with what they are below."""
    zero, foot = origin
    step = 25 if 25 * scale > canvas.width("100 %") else 50
    for share in range(0, int(_WHOLE) + 1, step):
        x = zero + share * scale
        canvas.rule(axes, (x, foot), (x, top))
        text = f"{share} %" if share == _WHOLE else str(share)
        axes.text(x, foot - GAP / 2, text, ha="center", va="top", color=MUTED)


def _interval(
    axes: Axes, series: Series, index: int, place: tuple[float, float, float]
) -> float | None:
    """The line of an interval; its end that lies farther from zero, if there is one.

    It is light on the bar and dark beside it, with a stroke at either end.
    """
    ends = [each[index] for each in (series.low, series.high) if index < len(each)]
    low, high = (*ends, None, None)[:2]
    value = series.values[index]
    if low is None or high is None or value is None:
        return None
    zero, scale, y = place
    near, far = sorted((low, high), key=abs)
    inside, outside = zero + near * scale, zero + far * scale
    edge = zero + value * scale
    for x1, x2, tone in ((inside, edge, "white"), (edge, outside, MUTED)):
        canvas.rule(axes, (x1, y), (x2, y), front=True, tone=tone)
    for x, tone in ((inside, "white" if abs(near) < abs(value) else MUTED), (outside, MUTED)):
        canvas.rule(axes, (x, y - _STROKE), (x, y + _STROKE), front=True, tone=tone)
    return far


# --- matrix --------------------------------------------------------------------------


def matrix(figure: Figure, page: float | None = None) -> Drawing:
    """A heat map with the numbers in its cells; zero is blank, missing is hatched."""
    values = _finite(figure)
    if not values or not figure.categories:
        return canvas.empty_page()
    page = page or DOUBLE_COLUMN
    rows = [canvas.wrapped(series.label, min(150, 0.36 * page)) for series in figure.series]
    heights = [max(15.5, LINE * len(lines) + 3) for lines in rows]
    left = _widest(*rows) + MARGIN + EDGE
    # The unit belongs in the caption; in a cell it would only be ink.
    write = _writer(values, "%" if formatting.is_percent(figure.unit) else "", bare=True)
    widest = _widest([write(value) for value in values]) + 5
    # With too many columns the figure outgrows the page rather than its type its reader.
    room = (page - left - 1) / len(figure.categories)
    wide = max(widest, 15.0, min(44.0, room))
    heads, upright = _heads(figure.categories, wide)
    above = GAP + 2 * EDGE + (_widest(*heads) if upright else LINE * max(map(len, heads)))
    right = left + wide * len(figure.categories)
    drawing, axes = canvas.page(right + 1, above + sum(heights) + 1)
    top = 1 + sum(heights)
    for index, lines in enumerate(heads):
        _draw_head(axes, (left + (index + 0.5) * wide, top + GAP), lines, upright=upright)
    for index in range(len(figure.categories) + 1):
        canvas.rule(axes, (left + index * wide, 1), (left + index * wide, top + above))
    canvas.rule(axes, (left, 1), (right, 1))
    largest = max(map(abs, values)) or 1.0
    for series, lines, tall in zip(figure.series, rows, heights, strict=True):
        canvas.rule(axes, (left, top), (right, top))
        canvas.row_label(axes, (left - MARGIN, top - tall / 2), lines)
        for index, value in enumerate(series.values):
            corner, size = (left + index * wide, top - tall), (wide, tall)
            if value is None or not math.isfinite(value):
                canvas.box(axes, corner, size, Ink("#F1F2F4", "////"))
            elif value:
                ink = Ink(canvas.shade(value / largest))
                canvas.box(axes, corner, size, ink)
                centre = (corner[0] + wide / 2, corner[1] + tall / 2)
                canvas.label_on(axes, centre, write(value), ink)
        top -= tall
    return drawing


def _heads(categories: Sequence[str], wide: float) -> tuple[list[list[str]], bool]:
    """The column headings in lines, and whether they must stand upright to be readable."""
    flat = [canvas.wrapped(category, wide - GAP) for category in categories]
    if all(len(lines) <= 3 for lines in flat) and _widest(*flat) <= wide - 1:
        return flat, False
    most = max(1, int(wide / HEAD_LINE))
    longest = max(canvas.width(canvas.clean(category)) for category in categories)
    # Words rarely break where it would be best, so a line gets a little more than its share.
    depth = min(max(1.2 * longest / most, 60), DEEPEST_HEAD)
    return [canvas.wrapped(category, depth, most) for category in categories], True


def _draw_head(
    axes: Axes, foot: tuple[float, float], lines: Sequence[str], *, upright: bool
) -> None:
    x, y = foot
    if not upright:
        axes.text(x, y, "\n".join(lines), ha="center", va="bottom", linespacing=1.1)
        return
    x -= HEAD_LINE * (len(lines) - 1) / 2
    for line in lines:
        axes.text(x, y, line, rotation=90, rotation_mode="anchor", ha="left", va="center_baseline")
        x += HEAD_LINE


# --- all -----------------------------------------------------------------------------


def _finite(figure: Figure) -> list[float]:
    every = itertools.chain.from_iterable(series.values for series in figure.series)
    return [value for value in every if value is not None and math.isfinite(value)]


def _writer(values: Sequence[float], unit: str, *, bare: bool = False) -> Callable[[float], str]:
    """How the values of one figure are written: all of them whole, or none."""
    whole = all(value == int(value) for value in values)
    name = "" if bare else f" {formatting.plain(unit)}".rstrip()

    def write(value: float) -> str:
        if formatting.is_percent(unit):
            return formatting.percent(value).removesuffix(" %" if bare else "")
        return (formatting.count(value) if whole else formatting.number(float(value))) + name

    return write


def _widest(*groups: Sequence[str]) -> float:
    return max(canvas.width(line) for line in itertools.chain.from_iterable(groups))
