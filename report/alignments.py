"""A kind of figure: boxes above, boxes below, and lines between them as thick as they are weighty.

Takes a `Figure` and returns a drawing of one column where the boxes fit there, else of two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from faultatlas.data.old.results import Figure, Link, Node
from faultatlas.report import canvas, formatting
from faultatlas.report.canvas import DOUBLE_COLUMN, GAP, LEGEND_LINE, LINE, SINGLE_COLUMN
from faultatlas.report.inks import BLUE, GREEN, MUTED, PART_INKS, Ink, inks_for

BOX = 15.0  # height
SLOT = 21.0  # the least room of a box in one column
BETWEEN_GROUPS = 9.0
DEEPEST = 104.0  # of an upright label
SHORT, TALL = 95.0, 150.0  # of the lines, in one column and in two
THICKEST = 2.0  # points for one, where there is room
KEY_LINE = 8.0  # the thickest line of the key
HEAD_LINE = 8.8
EDGE = 1.0
GREY = Ink("#E4E7EB")


@dataclass(frozen=True)
class _Placed:
    """A box on the page: its middle and width."""

    node: Node
    x: float
    wide: float
    label: list[str]


@dataclass(frozen=True)
class _Side:
    """The boxes above or below, with the headings of their groups."""

    boxes: tuple[_Placed, ...]
    headings: tuple[tuple[list[str], float, float], ...]  # lines, from, to

    @property
    def depth(self) -> float:
        """Of the upright labels."""
        return max(canvas.width(line) for box in self.boxes for line in box.label) + GAP

    @property
    def heading(self) -> float:
        """Height of the headings."""
        return max((LINE * len(lines) + GAP for lines, _, _ in self.headings), default=0.0)


def alignment(figure: Figure, asked: float | None = None) -> Drawing:
    """Boxes with upright labels above and below; a line for each link.

    It is as wide as asked for; where the boxes need more room, as wide as they need.
    """
    if not figure.above or not figure.below:
        return canvas.empty_page()
    needed = max(map(_needed, (figure.above, figure.below)))
    wide = max(needed, asked or (SINGLE_COLUMN if needed <= SINGLE_COLUMN else DOUBLE_COLUMN))
    tall = SHORT if wide <= SINGLE_COLUMN else TALL
    above, below = _side(figure.above, wide), _side(figure.below, wide)
    inks = inks_for(sorted({p.label for node in figure.above for p in node.parts}, key=_known))
    legend = canvas.legend_rows(list(inks), wide)
    key = LEGEND_LINE * (len(legend) + 1) + GAP
    foot = below.heading + below.depth + BOX
    height = foot + tall + LINE + BOX + above.depth + above.heading + key + 2 * EDGE
    drawing, axes = canvas.page(wide, height)
    canvas.draw_legend(axes, (0, height), legend, inks)
    thick = _thickness(figure, above, below)
    _draw_key(axes, height - LEGEND_LINE * len(legend) - 5, figure, thick)
    low, high = foot + EDGE, foot + EDGE + tall
    _draw_links(axes, figure.links, (above, below), (high, low), thick)
    for box in above.boxes:
        _draw_split(axes, box, high + LINE, inks)
        axes.text(box.x, high + LINE / 2, formatting.count(box.node.count), ha="center",
                  va="center_baseline", color=MUTED)  # fmt: skip
        _upright(axes, (box.x, high + LINE + BOX + GAP), box.label, side="left")
    for box in below.boxes:
        corner = (box.x - box.wide / 2, low - BOX)
        canvas.box(axes, corner, (box.wide, BOX), GREY)
        centre = (box.x, low - BOX / 2)
        canvas.label_on(axes, centre, formatting.count(box.node.count), GREY)
        _upright(axes, (box.x, low - BOX - GAP), box.label, side="right")
    _draw_headings(axes, above, high + LINE + BOX + above.depth + GAP, up=True)
    _draw_headings(axes, below, low - BOX - below.depth - GAP, up=False)
    return drawing


# --- where things stand --------------------------------------------------------------


def _needed(nodes: Sequence[Node]) -> float:
    """The least width of a side."""
    groups = len(list(itertools.groupby(nodes, _group)))
    return SLOT * len(nodes) + _gaps(groups, len(nodes)) + 2 * EDGE


def _gaps(groups: int, boxes: int) -> float:
    """Room between groups; where every box is a group of its own there is none."""
    return BETWEEN_GROUPS * (groups - 1) if groups < boxes else 0.0


def _side(nodes: Sequence[Node], wide: float) -> _Side:
    groups = [(name, list(members)) for name, members in itertools.groupby(nodes, _group)]
    gaps = _gaps(len(groups), len(nodes))
    step = gaps / max(len(groups) - 1, 1)
    slot = (wide - 2 * EDGE - gaps) / len(nodes)
    x = EDGE
    boxes: list[_Placed] = []
    headings = []
    for name, members in groups:
        start = x
        for node in members:
            label = _label(node.label, slot, DEEPEST)
            boxes.append(_Placed(node, x + slot / 2, min(slot - 3, 40.0), label))
            x += slot
        if name and [node.label for node in members] != [name]:
            headings.append((_whole_words(name, x - start + step - 2, 3), start + 1.5, x - 1.5))
        x += step
    return _Side(tuple(boxes), tuple(headings))


def _group(node: Node) -> str:
    return node.group


def _label(text: str, slot: float, deepest: float) -> list[str]:
    """An upright label in as many lines as the slot has room for."""
    most = max(1, int(slot / HEAD_LINE))
    longest = canvas.width(canvas.clean(text))
    depth = longest if longest <= 0.6 * deepest else max(1.2 * longest / most, 0.6 * deepest)
    return _whole_words(text, min(depth, deepest), most)


def _whole_words(text: str, room: float, most: int) -> list[str]:
    """The text in lines as wide as the room; a word that needs more gets more."""
    plain = canvas.clean(text)
    longest = max((len(word) for word in plain.replace("-", "- ").split()), default=0)
    needed = (longest + 0.5) * canvas.width(plain) / max(len(plain), 1)
    return canvas.wrapped(plain, max(room, needed), most)


def _known(label: str) -> tuple[int, str]:
    """Statuses in the order that every figure has them in."""
    known = list(PART_INKS)
    return (known.index(label) if label in known else len(known), label)


def _thickness(figure: Figure, above: _Side, below: _Side) -> float:
    """Points for a weight of one: the lines of a box are together no wider than it is."""
    widest = THICKEST
    for side, end in ((above, "above"), (below, "below")):
        for box in side.boxes:
            weight = sum(link.weight for link in figure.links if getattr(link, end) == box.node.key)
            if weight:
                widest = min(widest, (box.wide - 2) / weight)
    return widest


# --- drawing -------------------------------------------------------------------------


def _draw_links(
    axes: Axes,
    links: Sequence[Link],
    sides: tuple[_Side, _Side],
    heights: tuple[float, float],
    thick: float,
) -> None:
    """Lines that leave and reach a box side by side, in the order of their other ends."""
    above = {box.node.key: box for box in sides[0].boxes}
    below = {box.node.key: box for box in sides[1].boxes}
    tops = _ports(links, above, below, thick, lambda link: (link.above, link.below))
    feet = _ports(links, below, above, thick, lambda link: (link.below, link.above))
    for link in sorted(links, key=lambda each: -each.weight):
        new = all(part.label == "New" for part in above[link.above].node.parts)
        start, end = (tops[link], heights[0]), (feet[link], heights[1])
        canvas.ribbon(axes, start, end, thick * link.weight, GREEN if new else BLUE)


def _ports(
    links: Sequence[Link],
    here: Mapping[str, _Placed],
    there: Mapping[str, _Placed],
    thick: float,
    ends: Callable[[Link], tuple[str, str]],
) -> dict[Link, float]:
    """Where each line leaves its box, by the place of its other end."""
    found: dict[Link, float] = {}
    for key, box in here.items():
        mine = [link for link in links if ends(link)[0] == key]
        mine.sort(key=lambda link: there[ends(link)[1]].x)
        x = box.x - thick * sum(link.weight for link in mine) / 2
        for link in mine:
            found[link] = x + thick * link.weight / 2
            x += thick * link.weight
    return found


def _draw_split(axes: Axes, box: _Placed, foot: float, inks: Mapping[str, Ink]) -> None:
    """A box in parts, as wide as they are many."""
    total = sum(part.count for part in box.node.parts)
    x = box.x - box.wide / 2
    for part in box.node.parts:
        wide = box.wide * part.count / total
        canvas.box(axes, (x, foot), (wide, BOX), inks[part.label])
        x += wide


def _upright(axes: Axes, anchor: tuple[float, float], lines: Sequence[str], *, side: str) -> None:
    x, y = anchor
    x -= HEAD_LINE * (len(lines) - 1) / 2
    for line in lines:
        axes.text(x, y, line, rotation=90, rotation_mode="anchor", ha=side, va="center_baseline")
        x += HEAD_LINE


def _draw_headings(axes: Axes, side: _Side, y: float, *, up: bool) -> None:
    for lines, start, end in side.headings:
        canvas.rule(axes, (start, y), (end, y), front=True)
        text, place = "\n".join(lines), "bottom" if up else "top"
        x = (start + end) / 2
        axes.text(x, y + (2 if up else -2), text, ha="center", va=place, linespacing=1.1)


def _draw_key(axes: Axes, y: float, figure: Figure, thick: float) -> None:
    """How thick a line is for one, and for as many as a line of the key has room for."""
    heaviest = max((link.weight for link in figure.links), default=0)
    heaviest = min(heaviest, max(1, int(KEY_LINE / thick)))
    unit = formatting.plain(figure.unit)
    x = 0.5
    for weight in sorted({1, heaviest} - {0}):
        canvas.ribbon(axes, (x, y), (x + 14, y), thick * weight, BLUE, flat=True)
        text = f"{formatting.count(weight)} {unit.removesuffix('s') if weight == 1 else unit}"
        axes.text(x + 18, y, text, va="center_baseline")
        x += 18 + canvas.width(text) + 12
    axes.text(x, y, f"numbers: {unit}", va="center_baseline", color=MUTED)
