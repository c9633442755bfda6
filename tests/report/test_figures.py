"""Figures: the same bytes everywhere, every number readable, nothing cut, no label a program."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure as Drawing

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Bar, Figure, FigureKind, Part, Series
from faultatlas.report import figures
from faultatlas.report.canvas import DOUBLE_COLUMN, SINGLE_COLUMN, TYPE_SIZE, luminance, settings
from faultatlas.report.figures import draw, save
from faultatlas.report.inks import PALETTE, PART_INKS, Ink, inks_for

SHARES = Figure(
    name="gap",
    title="Research versus practice",
    kind="shares",
    description="Of 96 faults, 44 are targeted.",
    bars=(
        Bar(
            "Faults",
            (
                Part("Targeted", 44),
                Part("Untargeted", 46),
                Part("Not mentioned", 2),
                Part("New", 4),
            ),
        ),
        Bar(
            "Occurrences on GitHub and Stack Overflow",
            (Part("Targeted", 70), Part("Untargeted", 79)),
        ),
        Bar(
            "Interviews", (Part("Targeted", 118), Part("Untargeted", 106), Part("Not mentioned", 2))
        ),
    ),
)
BARS = Figure(
    name="frameworks",
    title="Frameworks",
    kind="bars",
    description="Shares by framework.",
    categories=(
        "Installation and deployment",
        "A long category that needs more than a line of type",
    ),
    series=(Series("PyTorch", (12.5, 30.0)), Series("TensorFlow", (None, 2.25))),
    unit="percent",
)
RESIDUALS = Figure(
    name="residuals",
    title="Residuals",
    kind="bars",
    description="Residuals.",
    categories=("Model", "Training"),
    series=(Series("residual", (-2.31, 1.2)),),
)
INTERVALS = replace(
    BARS,
    name="intervals",
    series=(
        Series("PyTorch", (12.5, 30.0), (5.0, 20.0), (40.0, 55.0)),
        Series("TensorFlow", (None, 0.0), (None, 0.0), (None, 16.1)),
    ),
)
MATRIX = Figure(
    name="techniques",
    title="Techniques",
    kind="matrix",
    description="Papers by fault and technique.",
    categories=tuple(f"Technique number {i} with a rather long name" for i in range(20)),
    series=tuple(
        Series(f"Fault category {row}", tuple(float((row * col) % 5) for col in range(20)))
        for row in range(18)
    ),
)
TREND = Figure(
    name="trend",
    title="Agreement by round",
    kind="trend",
    description="Agreement rises.",
    categories=("pilot (n=25)", "a-second-part-of-it (n=1,200)", "third", "the last of them"),
    series=(
        Series(
            "before discussion",
            (0.58, 0.72, None, 0.81),
            (0.3, 0.5, None, 0.7),
            (0.8, 0.9, None, 1.0),
        ),
        Series(
            "after discussion", (0.87, 0.9, 0.92, 1.0), (0.7, 0.8, 0.85, 1.0), (1.0, 1.0, 1.0, 1.0)
        ),
    ),
    threshold=(0.7, 0.7, 0.7, 0.72),
)
HOSTILE = "$\\frac{1}{ <script>alert(1)</script> & \x00\x1b[31m \u202e 你好 --> ]]>"
EVIL = Figure(
    name="evil",
    title=HOSTILE,
    kind="shares",
    description=HOSTILE,
    bars=(Bar(HOSTILE * 5, (Part(HOSTILE, 3), Part("", 4))),),
)
ALL = pytest.mark.parametrize(
    "figure",
    [SHARES, BARS, RESIDUALS, INTERVALS, MATRIX, TREND, EVIL],
    ids=lambda figure: figure.name,
)


def laid_out(figure: Figure) -> Drawing:
    drawing = draw(figure)
    drawing.set_dpi(720)  # fine enough that letters have the widths that vector files give them
    with settings():
        drawing.draw_without_rendering()
    return drawing


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in draw(figure).axes[0].texts]


@ALL
def test_same_figure_gives_the_same_bytes(figure: Figure, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = save(figure, tmp_path / "a")
    figures._made.cache_clear()  # noqa: SLF001  (drawn anew)
    for first, second in zip(one, save(figure, tmp_path / "b"), strict=True):
        assert first.read_bytes() == second.read_bytes()


@ALL
def test_a_figure_of_a_paper_is_what_its_width_asks_for(figure: Figure, tmp_path: Path) -> None:
    """Also where the drawing of another file was taken, because it is as wide."""
    written = figures.save_for_paper(figure, tmp_path)
    assert "2col" in written
    for name in written:
        room = {"1col": SINGLE_COLUMN, "2col": DOUBLE_COLUMN}[name]
        with settings():
            draw(figure, room).savefig(tmp_path / "fresh.svg", metadata={"Date": None})
        drawn = (tmp_path / f"{figure.name}-{name}.svg").read_bytes()
        assert drawn == (tmp_path / "fresh.svg").read_bytes()


def test_bytes_do_not_depend_on_the_process_or_on_the_users_settings(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 30\nsvg.fonttype: none\naxes.facecolor: red\n"
    )
    program = (
        "import sys; from pathlib import Path; from faultatlas.data.old.results import *;"
        "from faultatlas.report.figures import save;"
        f"save({MATRIX!r}, Path(sys.argv[1])); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        check=True,
        cwd=Path(__file__).parents[2],
        env={
            **os.environ,
            "MATPLOTLIBRC": str(tmp_path),
            "PYTHONHASHSEED": "7",
            "TZ": "Asia/Tokyo",
        },
    )
    (tmp_path / "here").mkdir()
    for path in save(MATRIX, tmp_path / "here"):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


@ALL
def test_files_are_vector_and_undated(figure: Figure, tmp_path: Path) -> None:
    svg, pdf = save(figure, tmp_path)
    assert (svg.name, pdf.name) == (f"{figure.name}.svg", f"{figure.name}.pdf")
    elements = {element.tag.split("}")[1] for element in ET.fromstring(svg.read_text()).iter()}  # noqa: S314
    assert not elements & {"image", "script", "text", "date"}
    assert b"CreationDate" not in pdf.read_bytes()
    assert b"/Type3" not in pdf.read_bytes()  # publishers refuse such fonts


@ALL
def test_nothing_is_cut_and_type_is_8_points(figure: Figure) -> None:
    drawing = laid_out(figure)
    page = drawing.bbox
    for text in drawing.axes[0].texts:
        box = text.get_window_extent()
        if box.width:
            assert page.x0 <= box.x0 <= box.x1 <= page.x1, text.get_text()
            assert page.y0 <= box.y0 <= box.y1 <= page.y1, text.get_text()
        assert text.get_fontsize() == TYPE_SIZE


@pytest.mark.parametrize("figure", [SHARES, BARS, RESIDUALS, TREND], ids=lambda figure: figure.name)
def test_no_label_lies_over_another(figure: Figure) -> None:
    drawing = laid_out(figure)
    for one, other in itertools.combinations(drawing.axes[0].texts, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent()), (one, other)


def test_shares_write_percentage_count_and_n() -> None:
    written = texts(SHARES)
    for expected in ("45.8 % (44)", "47.9 % (46)", "2.1 % (2)", "4.2 % (4)", "53.0 % (79)"):
        assert expected in written
    assert {"n = 96", "n = 149", "n = 226"} <= set(written)


def test_bars_write_values_and_leave_out_what_is_missing() -> None:
    assert [text for text in texts(BARS) if text.endswith("%")] == ["12.5 %", "30.0 %", "2.2 %"]
    assert {"-2.310", "1.200"} <= set(texts(RESIDUALS))


@pytest.mark.parametrize("wide", [None, SINGLE_COLUMN])
def test_shares_with_intervals_stand_on_an_axis_and_their_numbers_beside_it(
    wide: float | None,
) -> None:
    axes: Any = draw(INTERVALS, wide).axes[0]
    places = {text.get_text(): text.get_position()[0] for text in axes.texts}
    zero, whole = places["0"], places["100 %"]
    upright = {line.get_xdata()[0] for line in axes.lines if len({*line.get_xdata()}) == 1}
    ends = {round(100 * (x - zero) / (whole - zero), 1) for x in upright}
    assert {0.0, 16.1, 55.0, 100.0} <= ends
    numbers = {text: x for text, x in places.items() if text.startswith(("0.0 %", "12.5", "30.0"))}
    assert len(numbers) == 3
    # In a column of their own: none can be taken for the end of an interval.
    assert len(set(numbers.values())) == 1
    assert min(numbers.values()) > whole


def test_numbers_of_shares_say_the_interval_where_there_is_room() -> None:
    short = replace(INTERVALS, categories=("a", "b"))
    assert any(text.startswith("30.0 % (") and text.endswith("55.0)") for text in texts(short))


def test_matrix_writes_numbers_and_leaves_zero_blank() -> None:
    numbers = [text for text in texts(MATRIX) if text.isdigit()]
    nonzero = [value for series in MATRIX.series for value in series.values if value]
    assert sorted(numbers) == sorted(f"{value:.0f}" for value in nonzero)


def test_trend_writes_values_and_thresholds_and_leaves_a_gap_where_nothing_was_measured() -> None:
    written = texts(TREND)
    values = [text for text in written if len(text) == len("0.580") and text[1] == "."]
    assert sorted(values) == ["0.580", "0.720", "0.810", "0.870", "0.900", "0.920", "1.000"]
    assert [text for text in written if text.startswith("threshold")] == [
        "threshold 0.7",
        "threshold 0.72",
    ]
    assert {"before discussion", "after discussion", "0", "0.2", "1"} <= set(written)


def test_trend_below_zero_and_of_many_rounds_stays_whole() -> None:
    below = replace(
        TREND,
        categories=tuple(f"round {at}" for at in range(14)),
        series=(Series("x", (-0.31,) * 14, (-0.62,) * 14, (0.1,) * 14),),
        threshold=(0.667,) * 14,
    )
    assert "-0.75" in texts(below)
    test_nothing_is_cut_and_type_is_8_points(below)
    test_no_label_lies_over_another(below)


def test_paper_widths() -> None:
    assert draw(SHARES).get_figwidth() * 72 == pytest.approx(DOUBLE_COLUMN)
    assert draw(RESIDUALS).get_figwidth() * 72 == pytest.approx(SINGLE_COLUMN)
    assert draw(TREND).get_figwidth() * 72 == pytest.approx(DOUBLE_COLUMN)
    assert draw(MATRIX).get_figwidth() * 72 <= DOUBLE_COLUMN + 1


def test_statuses_keep_their_colours_and_others_get_the_next() -> None:
    inks = inks_for(["Other", "Untargeted", "Targeted", "Another"])
    assert inks["Untargeted"] == PART_INKS["Untargeted"]
    assert len({ink.fill for ink in inks.values()}) == 4


@pytest.mark.parametrize("inks", [PALETTE, tuple(PART_INKS.values())], ids=["palette", "statuses"])
def test_inks_differ_in_grey_print(inks: tuple[Ink, ...]) -> None:
    for one, other in itertools.combinations(inks, 2):
        light, dark = sorted((luminance(one.fill), luminance(other.fill)), reverse=True)
        assert one.hatch != other.hatch or (light + 0.05) / (dark + 0.05) > 1.2


@pytest.mark.parametrize("kind", ["shares", "bars", "matrix", "trend"])
def test_figure_without_data_says_so(kind: FigureKind) -> None:
    nothing = Figure("x", "X", kind, "Nothing.")
    zero = (Bar("a", (Part("p", 0),)),)
    assert texts(nothing) == ["no data"]
    assert texts(replace(nothing, bars=zero, categories=("a",))) == ["no data"]
    assert texts(replace(nothing, categories=("a",), series=(Series("s", (None,)),))) == ["no data"]


def test_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="name of a file"):
        save(Figure("../up", "X", "bars", ""), tmp_path)
