"""Figures for paper and page: vector files whose bytes depend on the data alone.

The face of drawing; matplotlib is loaded when something is drawn. Not for exploring
data: a figure shows what a `Result` holds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from data.results import Figure
from report.formatting import file_stem

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


# What figures of a paper are called behind their name: as wide as a column, as wide as the page.
SINGLE, DOUBLE = "1col", "2col"


def draw(figure: Figure, wide: float | None = None) -> Drawing:
    """The figure at paper width, attached to no window and no global state.

    It is as wide as asked for, in points, or as its content needs; it outgrows the width rather
    than that its type gets smaller.
    """
    from report import alignments, boxes, canvas, charts, flows, trends

    painters: dict[str, Callable[[Figure, float | None], Drawing]] = {
        "shares": charts.shares,
        "bars": charts.bars,
        "boxes": boxes.boxes,
        "matrix": charts.matrix,
        "trend": trends.trend,
        "alignment": alignments.alignment,
        "flow": flows.flow,
    }
    with canvas.settings():
        return painters[figure.kind](figure, wide)


def save(figure: Figure, folder: Path) -> list[Path]:
    """Write `<name>.svg` and `<name>.pdf`; the same figure gives the same bytes."""
    return _save(draw(figure), folder, file_stem(figure.name))


def save_svg(figure: Figure, folder: Path) -> str:
    """Write `<name>.svg` alone, and give what is in it."""
    path = folder / f"{file_stem(figure.name)}.svg"
    _save_as(draw(figure), path)
    return path.read_text(encoding="utf-8")


def save_for_paper(figure: Figure, folder: Path) -> list[str]:
    """Write the figure as wide as a column (`<name>-1col`) and as a page of two (`<name>-2col`).

    Gives the widths that it was written in: what does not fit into a column is not squeezed.
    """
    from report import canvas

    stem = file_stem(figure.name)
    written = []
    for name, room in ((SINGLE, canvas.SINGLE_COLUMN), (DOUBLE, canvas.DOUBLE_COLUMN)):
        drawing = draw(figure, room)
        if name == DOUBLE or drawing.get_figwidth() * 72 <= room + 1:
            _save(drawing, folder, f"{stem}-{name}")
            written.append(name)
    return written


def _save(drawing: Drawing, folder: Path, stem: str) -> list[Path]:
    paths = [folder / f"{stem}.{suffix}" for suffix in ("svg", "pdf")]
    for path in paths:
        _save_as(drawing, path)
    return paths


def _save_as(drawing: Drawing, path: Path) -> None:
    from report import canvas

    kind = path.suffix.removeprefix(".")
    undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
    with canvas.settings():
        drawing.savefig(path, format=kind, metadata=undated)
