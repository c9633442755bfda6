"""Figures for paper and page: vector files whose bytes depend on the data alone.

The face of drawing; matplotlib is loaded when something is drawn. Not for exploring
data: a figure shows what a `Result` holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from data.results import Figure
from report.formatting import file_stem

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def draw(figure: Figure) -> Drawing:
    """The figure at paper width, attached to no window and no global state."""
    from report import canvas, charts, trends

    painters = {
        "shares": charts.shares,
        "bars": charts.bars,
        "matrix": charts.matrix,
        "trend": trends.trend,
    }
    with canvas.settings():
        return painters[figure.kind](figure)


def save(figure: Figure, folder: Path) -> list[Path]:
    """Write `<name>.svg` and `<name>.pdf`; the same figure gives the same bytes."""
    from report import canvas

    stem = file_stem(figure.name)
    svg, pdf = folder / f"{stem}.svg", folder / f"{stem}.pdf"
    with canvas.settings():
        drawing = draw(figure)
        drawing.savefig(svg, format="svg", metadata={"Date": None})
        drawing.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    return [svg, pdf]
