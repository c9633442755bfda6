"""A page to draw on in points: boxes with hatching, text that can be measured.

The vocabulary of the charts; knows nothing of results. Loads matplotlib, so only
drawing code imports it. Everything is placed by hand, in the font that matplotlib
ships, so that no layout engine, user setting or installed font moves anything.
"""

from __future__ import annotations

import functools
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

from faultatlas.report import formatting
from faultatlas.report.inks import BLUE, MUTED, RULE, TEXT, VERMILLION, Ink

# The text widths that ACM and IEEE two-column styles have in common.
SINGLE_COLUMN = 240.0
DOUBLE_COLUMN = 504.0

TYPE_SIZE = 8.0
LINE = 9.8
GAP = 4.0
LEGEND_LINE = 13.0
LONGEST_LABEL = 90  # characters; the table beside the figure has the rest

_FONT = "DejaVu Sans"

LegendRows = list[list[tuple[str, float]]]


@contextmanager
def settings() -> Iterator[None]:
    """Our settings of matplotlib, and nobody else's, while drawing and saving."""
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # a user's matplotlibrc must not change a report
        mpl.rcParams.update(
            {
                "font.family": _FONT,
                "font.size": TYPE_SIZE,
                "text.color": TEXT,
                "text.parse_math": False,  # a mined "$" is a dollar sign
                "hatch.linewidth": 0.5,
                "svg.fonttype": "path",  # looks the same where the font is not installed
                "svg.hashsalt": "faultatlas",
                "pdf.fonttype": 42,  # ACM and IEEE refuse Type 3 fonts
            }
        )
        # A script that the font lacks is drawn as boxes; the page and the tables have the text.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        yield


def page(wide: float, tall: float) -> tuple[Drawing, Axes]:
    """An empty page whose coordinates are points from the lower left corner."""
    drawing = Drawing(figsize=(wide / 72, tall / 72), facecolor="white")
    FigureCanvasAgg(drawing)
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, wide), ylim=(0, tall))
    axes.set_axis_off()
    return drawing, axes


def empty_page() -> Drawing:
    """What stands in for a figure without data."""
    drawing, axes = page(SINGLE_COLUMN, 40)
    axes.text(SINGLE_COLUMN / 2, 20, "no data", ha="center", va="center", color=MUTED)
    return drawing


def box(axes: Axes, corner: tuple[float, float], size: tuple[float, float], ink: Ink) -> None:
    """A filled rectangle; hatching and edge are drawn light on dark and dark on light."""
    pale = luminance(ink.fill) > 0.8
    edge = RULE if pale else "white"
    fill = Rectangle(corner, *size, facecolor=ink.fill, edgecolor=edge, linewidth=0.8)
    fill.set_clip_on(False)
    axes.add_artist(fill)
    if ink.hatch:
        line = (0.36, 0.40, 0.44, 0.55) if pale else (1.0, 1.0, 1.0, 0.6)
        hatching = Rectangle(corner, *size, fill=False, edgecolor=line, linewidth=0)
        hatching.set_hatch(ink.hatch)
        hatching.set_clip_on(False)
        axes.add_artist(hatching)


def rule(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    front: bool = False,
    tone: str = "",
) -> None:
    """A thin line, behind everything else or in front of the boxes."""
    xs, ys = [start[0], end[0]], [start[1], end[1]]
    tone = tone or (MUTED if front else RULE)
    line = Line2D(xs, ys, color=tone, linewidth=0.6, zorder=2 if front else 0)
    line.set_clip_on(False)
    axes.add_artist(line)  # `plot` would look after limits that are fixed


def ribbon(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    thick: float,
    colour: str,
    *,
    flat: bool = False,
) -> None:
    """A line so many points thick that leaves its start upright and reaches its end upright.

    It lets through what lies below it; a flat one goes straight.
    """
    (x1, y1), (x2, y2) = start, end
    middle = (y1 + y2) / 2
    bent = [(x1, y1), (x1, middle), (x2, middle), (x2, y2)]
    way = Path([start, end]) if flat else Path(bent, [Path.MOVETO, *[Path.CURVE4] * 3])
    line = PathPatch(
        way, facecolor="none", edgecolor=colour, linewidth=thick, alpha=0.5, capstyle="butt"
    )
    line.set_clip_on(False)
    axes.add_artist(line)


def label_on(axes: Axes, centre: tuple[float, float], text: str, ink: Ink) -> None:
    """A label on a box, in the tone that reads best there."""
    colour = TEXT if luminance(ink.fill) > 0.25 else "white"
    patch = {"facecolor": ink.fill, "edgecolor": "none", "pad": 1.5} if ink.hatch else None
    x, y = centre
    axes.text(x, y, text, ha="center", va="center_baseline", color=colour, bbox=patch)


def row_label(
    axes: Axes, anchor: tuple[float, float], lines: Sequence[str], below: str = ""
) -> None:
    """Lines that end at the anchor, centred on its height; `below` is a quieter last one."""
    x, y = anchor
    tones = [(line, TEXT) for line in lines] + ([(below, MUTED)] if below else [])
    y += LINE * (len(tones) - 1) / 2
    for line, tone in tones:
        axes.text(x, y, line, ha="right", va="center_baseline", color=tone)
        y -= LINE


def legend_rows(labels: Sequence[str], room: float) -> LegendRows:
    """The labels with their offsets, in as many rows as they need."""
    rows: LegendRows = [[]]
    x = 0.0
    for label in labels:
        wide = 12 + width(clean(label))
        if rows[-1] and x + wide > room:
            rows.append([])
            x = 0.0
        rows[-1].append((label, x))
        x += wide + 14
    return rows


def draw_legend(
    axes: Axes, corner: tuple[float, float], rows: LegendRows, inks: Mapping[str, Ink]
) -> None:
    """Swatches and labels, downwards from the upper left corner."""
    left, top = corner
    for index, row in enumerate(rows):
        y = top - LEGEND_LINE * index - 9
        for label, offset in row:
            box(axes, (left + offset + 0.5, y), (8, 8), inks[label])
            axes.text(left + offset + 12, y + 4, clean(label), va="center_baseline")


def clean(label: str) -> str:
    """A label on one line, shortened where it would crowd out the figure."""
    text = " ".join(formatting.plain(label).split())
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1].rstrip() + "…"


@functools.lru_cache(maxsize=10_000)
def width(text: str) -> float:
    """The width of a line in points."""
    font = FontProperties(family=_FONT, size=TYPE_SIZE)
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(wide)


def wrapped(label: str, room: float, most: int | None = None) -> list[str]:
    """The label in lines that are about as wide as `room`, `most` of them at most."""
    text = clean(label)
    letters = int(room * len(text) / width(text)) if width(text) else 0
    return textwrap.wrap(text, max(letters, 4), max_lines=most, placeholder="…") or [""]


def shade(strength: float) -> str:
    """White to blue, or to vermillion below zero; the faintest tint still shows."""
    red, green, blue = to_rgb(BLUE if strength > 0 else VERMILLION)
    weight = 0.10 + 0.90 * min(abs(strength), 1)
    return to_hex((1 - weight * (1 - red), 1 - weight * (1 - green), 1 - weight * (1 - blue)))


def luminance(fill: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(fill)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
