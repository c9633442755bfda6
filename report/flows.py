"""A kind of figure: what goes through steps, and what leaves at each, as in PRISMA 2020.

Takes a `Figure` and returns a drawing of paper width, as the other charts do.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch, Rectangle

from faultatlas.data.old.results import Box, Exit, Figure, Part
from faultatlas.report import canvas, formatting
from faultatlas.report.canvas import GAP, LINE, SINGLE_COLUMN
from faultatlas.report.inks import MUTED, RULE, TEXT

PAD = 5.0  # inside a box
BETWEEN = 15.0  # boxes, downwards: room for an arrow
ACROSS = 17.0  # from a box to what leaves it
STRIP = 15.0  # the phase at the left
EDGE = 0.8
MAIN, ASIDE, OPEN = "#EAF3F9", "white", "#F6F7F8"  # told apart by place and edge as well
MOST_LINES = 4


@dataclass(frozen=True)
class _Text:
    """The lines of a box; the first ones are its name."""

    title: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def tall(self) -> float:
        return LINE * (len(self.title) + len(self.lines)) + 2 * PAD


@dataclass(frozen=True)
class _Row:
    """A box, what leaves it, and how tall both are together."""

    box: Box
    text: _Text
    exits: tuple[tuple[Exit, _Text], ...]
    least: float  # so that the name of its phase fits beside it

    @property
    def aside(self) -> float:
        return sum(text.tall for _exit, text in self.exits) + GAP * max(len(self.exits) - 1, 0)

    @property
    def tall(self) -> float:
        return max(self.text.tall, self.aside, self.least)


def flow(figure: Figure, wide: float | None = None) -> Drawing:
    """Boxes downwards with their counts; beside each what leaves, and why."""
    if not figure.boxes:
        return canvas.empty_page()
    page = max(wide or SINGLE_COLUMN, SINGLE_COLUMN)
    phases = Counter(box.phase for box in figure.boxes)
    left = (STRIP + GAP if any(phases) else 0.0) + EDGE
    aside = any(box.exits for box in figure.boxes)
    room = (page - left - EDGE - ACROSS) * 0.5 if aside else page - left - EDGE
    rows = [
        _Row(
            box,
            _text(box.label, box.count, box.parts, room),
            tuple((each, _text(each.label, each.count, each.parts, room)) for each in box.exits),
            (canvas.width(canvas.clean(box.phase)) + 2 * GAP) / phases[box.phase],
        )
        for box in figure.boxes
    ]
    height = sum(row.tall for row in rows) + BETWEEN * (len(rows) - 1) + 2 * EDGE
    drawing, axes = canvas.page(page, height)
    tops = _tops(rows, height - EDGE)
    for row, top in zip(rows, tops, strict=True):
        middle = top - row.tall / 2
        _draw_box(axes, (left, middle + row.text.tall / 2), row.text, room, MAIN)
        _draw_exits(axes, row, (left + room, middle), room)
    for (above, top), (below, next_top) in itertools.pairwise(zip(rows, tops, strict=True)):
        foot = top - above.tall / 2 - above.text.tall / 2
        head = next_top - below.tall / 2 + below.text.tall / 2
        _arrow(axes, (left + room / 2, foot), (left + room / 2, head))
    if any(phases):
        _draw_phases(axes, rows, tops)
    return drawing


def _tops(rows: Sequence[_Row], start: float) -> list[float]:
    tops = [start]
    for row in rows[:-1]:
        tops.append(tops[-1] - row.tall - BETWEEN)
    return tops


def _text(label: str, count: int, parts: Sequence[Part], room: float) -> _Text:
    inside = room - 2 * PAD
    title = _lines(f"{canvas.clean(label)} (n = {formatting.count(count)})", inside)
    lines: list[str] = []
    for part in parts:
        name = f"{canvas.clean(part.label)} (n = {formatting.count(part.count)})"
        first, *rest = _lines(name, inside - 2 * GAP)
        lines += [f"\N{BULLET} {first}", *(f"   {each}" for each in rest)]
    return _Text(tuple(title), tuple(lines))


def _lines(text: str, room: float) -> list[str]:
    """The text in lines none of which is wider than the room; a count is not torn apart."""
    glued = text.replace("n = ", "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    letters = max(int(room * len(glued) / max(canvas.width(glued), 1.0)), 8)
    for most in range(letters + 6, 5, -1):
        lines = textwrap.wrap(glued, most, break_on_hyphens=True) or [""]
        if max(map(canvas.width, lines)) <= room:
            break
    kept = lines
    if len(lines) > MOST_LINES:  # what is left out is marked
        *first, cut = lines[: MOST_LINES - 1]
        kept = [*first, f"{cut[:-2].rstrip()}…", lines[-1]]
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in kept]


def _draw_box(
    axes: Axes,
    corner: tuple[float, float],
    text: _Text,
    room: float,
    fill: str,
    *,
    dashed: bool = False,
) -> None:
    """A box whose upper left corner is given."""
    x, top = corner
    patch = Rectangle(
        (x, top - text.tall), room, text.tall, facecolor=fill, linewidth=0.8,
        edgecolor=MUTED, linestyle=(0, (3, 2)) if dashed else "solid",
    )  # fmt: skip
    patch.set_clip_on(False)
    axes.add_patch(patch)
    y = top - PAD - LINE / 2
    for line in text.title:
        axes.text(x + PAD, y, line, va="center_baseline", color=TEXT)
        y -= LINE
    for line in text.lines:
        axes.text(x + PAD, y, line, va="center_baseline", color=MUTED if dashed else TEXT)
        y -= LINE


def _draw_exits(axes: Axes, row: _Row, start: tuple[float, float], room: float) -> None:
    x, middle = start
    top = middle + row.aside / 2
    for each, text in row.exits:
        fill = OPEN if each.is_open else ASIDE
        _draw_box(axes, (x + ACROSS, top), text, room, fill, dashed=each.is_open)
        half = row.text.tall / 2 - PAD
        y = top - text.tall / 2
        begin = min(max(y, middle - half), middle + half)
        _arrow(axes, (x, begin), (x + ACROSS, y))
        top -= text.tall + GAP


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>,head_length=3.2,head_width=1.7", mutation_scale=1.0,
        shrinkA=0, shrinkB=0, linewidth=0.8, color=MUTED,
    )  # fmt: skip
    arrow.set_clip_on(False)
    axes.add_patch(arrow)


def _draw_phases(axes: Axes, rows: Sequence[_Row], tops: Sequence[float]) -> None:
    """The name of each phase beside its boxes, upright."""
    for phase, group in itertools.groupby(
        zip(rows, tops, strict=True), key=lambda pair: pair[0].box.phase
    ):
        if not phase:
            continue
        own = list(group)
        top, foot = own[0][1], own[-1][1] - own[-1][0].tall
        patch = Rectangle((EDGE, foot), STRIP, top - foot, facecolor=RULE, edgecolor="none")
        patch.set_clip_on(False)
        axes.add_patch(patch)
        where = (EDGE + STRIP / 2, (top + foot) / 2)
        axes.text(*where, canvas.clean(phase), rotation=90, ha="center", va="center")
