"""Figures for paper and page: vector files whose bytes depend on the data alone.

The face of drawing; matplotlib is loaded when something is drawn. Not for exploring
data: a figure shows what a `Result` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.old.results import Figure
from faultatlas.report.formatting import file_stem

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


# What figures of a paper are called behind their name: as wide as a column, as wide as the page.
SINGLE, DOUBLE = "1col", "2col"

_SAME = 0.01  # points: another way of getting at the same width


def draw(figure: Figure, wide: float | None = None) -> Drawing:
    """The figure at paper width, attached to no window and no global state.

    It is as wide as asked for, in points, or as its content needs; it outgrows the width rather
    than that its type gets smaller.
    """
    from faultatlas.report import alignments, boxes, canvas, charts, flows, trends

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
    return _save(figure, None, folder, file_stem(figure.name))


def save_svg(figure: Figure, folder: Path) -> str:
    """Write `<name>.svg` alone, and give what is in it."""
    svg = _file(figure, None, "svg")
    (folder / f"{file_stem(figure.name)}.svg").write_bytes(svg)
    return svg.decode("utf-8")


def narrow_svg(figure: Figure) -> str:
    """The figure for a phone: as wide as a column, if it fits there and is not so already."""
    from faultatlas.report import canvas

    room = canvas.SINGLE_COLUMN
    if _width(figure, None) <= room + 1 or _width(figure, room) > room + 1:
        return ""
    return _file(figure, room, "svg").decode("utf-8")


def save_for_paper(figure: Figure, folder: Path) -> list[str]:
    """Write the figure as wide as a column (`<name>-1col`) and as a page of two (`<name>-2col`).

    Gives the widths that it was written in: what does not fit into a column is not squeezed.
    """
    from faultatlas.report import canvas

    stem = file_stem(figure.name)
    written = []
    for name, room in ((SINGLE, canvas.SINGLE_COLUMN), (DOUBLE, canvas.DOUBLE_COLUMN)):
        if name == DOUBLE or _width(figure, room) <= room + 1:
            _save(figure, room, folder, f"{stem}-{name}")
            written.append(name)
    return written


def _save(figure: Figure, wide: float | None, folder: Path, stem: str) -> list[Path]:
    paths = []
    for kind in ("svg", "pdf"):
        path = folder / f"{stem}.{kind}"
        path.write_bytes(_file(figure, wide, kind))
        paths.append(path)
    return paths


def _file(figure: Figure, wide: float | None, kind: str) -> bytes:
    """What the file holds; drawn as wide as it needs, most figures fill a column or a page."""
    same = wide is None or abs(_width(figure, None) - wide) < _SAME
    return _made(replace(figure, name=""), None if same else wide).file(kind)


def _width(figure: Figure, wide: float | None) -> float:
    """How wide the figure comes out, in points."""
    return _made(replace(figure, name=""), wide).drawing.get_figwidth() * 72


@lru_cache(maxsize=32)
def _made(figure: Figure, wide: float | None) -> _Made:
    """A report, and the pages of its results, ask for the same figure several times."""
    return _Made(draw(figure, wide))


@contextmanager
def _plain_fonts() -> Iterator[None]:
    """Embedded fonts without the tables that lay out text: in a PDF every letter has its place.

    To cut them down to the letters of a figure is most of the time that its PDF takes.
    """
    from fontTools.subset import Options

    kept = Options._drop_tables_default  # noqa: SLF001  (matplotlib leaves no other way in)
    Options._drop_tables_default = [*kept, "GDEF", "GPOS", "GSUB"]  # noqa: SLF001
    try:
        yield
    finally:
        Options._drop_tables_default = kept  # noqa: SLF001


@dataclass
class _Made:
    """A drawing, and its files as far as they were asked for."""

    drawing: Drawing
    files: dict[str, bytes] = field(default_factory=dict)

    def file(self, kind: str) -> bytes:
        """SVG or PDF, without the time."""
        from faultatlas.report import canvas

        if kind not in self.files:
            undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
            written = BytesIO()
            with canvas.settings(), _plain_fonts():
                self.drawing.savefig(written, format=kind, metadata=undated)
            self.files[kind] = written.getvalue()
        return self.files[kind]
