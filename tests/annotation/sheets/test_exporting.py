"""Sheets that are written can be opened safely, and give the same labels when they come back."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from labelling import SMALL, Labelled
from openpyxl import load_workbook

from faultatlas.annotation.labels import STAGES, Answer, append
from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import export_sheet, import_sheets
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import csv_text, original, safe_cell
from faultatlas.data.study import Study

LEAVES = ("a1", "a2", "b1", "b2", "~unclear", "~not-a-fault", "~new")
NAMES = st.sampled_from(["ann", "=1+1", "@bob", "-c", "'d", "'=e", "f g"])
ITEMS = st.sampled_from(["github:o/r#1", "github:o/r#1~2", "stackoverflow:5", "doi:10.1145/1.2"])
TEXT = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=12)
NOTES = st.none() | TEXT.filter(str.strip)
ANSWERS = st.dictionaries(
    st.tuples(ITEMS, NAMES, st.sampled_from(STAGES)),
    st.tuples(
        st.lists(st.sampled_from(LEAVES), min_size=1, max_size=2, unique=True),
        st.none() | st.sampled_from([1.0, 2.5, 5.0]),
        NOTES,
        NOTES,
        st.none()
        | st.datetimes(datetime.fromisoformat("2000-01-01"), datetime.fromisoformat("2100-01-01")),
    ),
    min_size=1,
    max_size=8,
)
# Without shrinking: an example takes a second, and a smaller one is no clearer.
law = settings(max_examples=12, phases=[Phase.generate])


def desk(folder: Path) -> Labelled:
    labelled = Labelled.at(folder)
    labelled.taxonomy(SMALL, choice="multiple")
    return labelled


def fill(labelled: Labelled, name: str, answers: dict[Any, Any]) -> Study:
    """Makes a round with these answers."""
    items = dict.fromkeys(item for item, _rater, _stage in answers)
    raters = list(dict.fromkeys(rater for _item, rater, _stage in answers))
    labelled.round(name, {item: {} for item in items}, raters=raters)
    run = provenance.begin("by hand", {})
    with labelled.study.writing() as writer:
        provenance.record(writer, run, "ok")
        given = [
            Answer(item, rater, tuple(codes), "1.0.0", "by hand", stage, sure, comment, proposed,
                   labelled_at=when)
            for (item, rater, stage), (codes, sure, comment, proposed, when) in answers.items()
        ]  # fmt: skip
        append(writer, name, given, run)
    return labelled.study


def said(study: Study, columns: str, name: str, stage: str = "") -> list[tuple[Any, ...]]:
    with study.reading() as reader:
        rows = reader.rows(
            f"SELECT {columns} FROM labels WHERE round = ? AND ? IN ('', stage) ORDER BY ALL",
            [name, stage],
        )
    return [tuple(row.values()) for row in rows]


EVERYTHING = "item_id, artifact_id, rater, stage, code, confidence, comment, proposed, labelled_at"


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Labelled, Labelled]:
    """Two studies, for all examples: to make one takes longest."""
    return desk(tmp_path_factory.mktemp("one")), desk(tmp_path_factory.mktemp("two"))


@law
@given(answers=ANSWERS, suffix=st.sampled_from(["csv", "xlsx"]))
def test_what_is_exported_and_imported_again_gives_the_same_labels(
    desks: tuple[Labelled, Labelled], answers: dict[Any, Any], suffix: str
) -> None:
    folder = desks[0].study.directory
    name = f"r{len(list(folder.glob('long-*')))}"
    study, other = fill(desks[0], name, answers), desks[1].study
    long, wide = folder / f"long-{name}.{suffix}", folder / f"wide-{name}.{suffix}"
    export_sheet(study, name, long, stage="", is_long=True, replace=False)
    export_sheet(study, name, wide, stage="", is_long=False, replace=False)

    import_sheets(other, name, [str(long)], Asked(), taxonomy_name="tree")
    assert said(other, EVERYTHING, name) == said(study, EVERYTHING, name)
    import_sheets(other, f"{name}-wide", [str(wide)], Asked(), taxonomy_name="tree")
    codes = "item_id, rater, code"
    assert said(other, codes, f"{name}-wide") == said(study, codes, name, "independent")

    # Back where they came from, they change nothing: not even notes that the sheet lacks.
    for path in (long, wide):
        back = import_sheets(study, name, [str(path)], Asked()).document
        assert (back["answers"]["new"], back["answers"]["changed"]) == (0, 0)


@settings(law, max_examples=200)
@given(st.text(st.sampled_from("'=+-@\t\r\n ab")))
def test_a_safe_text_begins_no_formula_and_is_undone(text: str) -> None:
    assert not safe_cell(text).startswith(("\t", "\r", "\n"))
    assert not safe_cell(text).lstrip().startswith(("=", "+", "-", "@"))
    assert original(safe_cell(text)) == text


@settings(law, max_examples=100)
@given(st.lists(st.lists(st.text("ab\r\n\t,;\"'=\x07"), min_size=1, max_size=3), max_size=3))
def test_no_cell_of_a_csv_file_becomes_two_rows(rows: list[list[str]]) -> None:
    read = csv.reader(io.StringIO(csv_text(rows), newline=""), strict=True)
    assert [[original(cell) for cell in row] for row in read] == rows


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_what_a_file_cannot_hold_changes_no_comment(suffix: str, tmp_path: Path) -> None:
    notes = ('see\r=HYPERLINK("http://x")', "bell\x07", "a\r\nb", "\n=1")
    answers = {
        (f"github:o/r#{number}", "ann", "independent"): (["a1"], 3.333333333, note, note, None)
        for number, note in enumerate(notes, start=1)
    }
    study = fill(desk(tmp_path / "study"), "r", answers)
    path = tmp_path / f"s.{suffix}"
    export_sheet(study, "r", path, stage="", is_long=True, replace=False)
    back = import_sheets(study, "r", [str(path)], Asked()).document
    assert (back["rows"], back["answers"]) == (4, {"new": 0, "changed": 0, "known": 4})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    hostile = ([LEAVES[0]], None, '=HYPERLINK("http://x","y")', None, None)
    return fill(
        desk(tmp_path / "study"),
        "r",
        {("github:o/r#1", "=cmd|' /C calc'!A0", "independent"): hostile},
    )


def test_a_spreadsheet_program_finds_no_formula(study: Study, tmp_path: Path) -> None:
    for is_long in (True, False):
        for suffix in ("csv", "xlsx"):
            path = tmp_path / f"{is_long}.{suffix}"
            export_sheet(study, "r", path, stage="", is_long=is_long, replace=False)
        with (tmp_path / f"{is_long}.csv").open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        book = load_workbook(tmp_path / f"{is_long}.xlsx")
        for row in book.worksheets[0].iter_rows():
            assert {cell.data_type for cell in row} <= {"s", "n", "inlineStr"}
            cells += [str(cell.value or "") for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert [cell for cell in cells if cell.startswith("'=cmd")]


def test_the_same_labels_give_the_same_bytes(study: Study, tmp_path: Path) -> None:
    for name in ("a.csv", "a.xlsx"):
        first, second = tmp_path / name, tmp_path / f"again-{name}"
        for path in (first, second):
            export_sheet(study, "r", path, stage="", is_long=False, replace=False)
        assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {each.date_time[0] for each in archive.infolist()} == {1980}
        years = set(re.findall(rb">(\d{4})-\d\d-\d\dT", archive.read("docProps/core.xml")))
    assert years == {b"1980"}


def test_a_sheet_that_may_be_filled_in_is_not_replaced_unasked(
    study: Study, tmp_path: Path
) -> None:
    path = tmp_path / "s.csv"
    path.write_text("filled in", encoding="utf-8")
    with pytest.raises(StudyError, match="is there already"):
        export_sheet(study, "r", path, stage="", is_long=False, replace=False)
    assert path.read_text(encoding="utf-8") == "filled in"
    export_sheet(study, "r", path, stage="", is_long=False, replace=True)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfitem,url,title,stratum,")
    with pytest.raises(StudyError, match=r"neither \.csv nor \.xlsx"):
        export_sheet(study, "r", tmp_path / "s.ods", stage="", is_long=False, replace=False)
    with pytest.raises(StudyError, match="there is no round 'q'"):
        export_sheet(study, "q", tmp_path / "q.csv", stage="", is_long=False, replace=False)


def test_the_wide_sheet_shows_what_became_final(tmp_path: Path) -> None:
    labelled = Labelled.at(tmp_path / "study")
    labelled.taxonomy()
    sheet = tmp_path / "in.csv"
    sheet.write_text("item,ann,f\no/r#1,a1,a2\no/r#2,,b1\n", encoding="utf-8")
    asked = Asked(item="item", rater_columns=("ann",), final="f")
    import_sheets(labelled.study, "r", [str(sheet)], asked, taxonomy_name="tree")
    export_sheet(labelled.study, "r", tmp_path / "out.csv", stage="", is_long=False, replace=False)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["item", "url", "title", "stratum", "stage", "ann", "final", "settled_by"],
        [
            "github:o/r#1",
            "https://github.com/o/r/issues/1",
            "",
            "",
            "independent",
            "a1",
            "a2",
            "imported",
        ],
        [
            "github:o/r#2",
            "https://github.com/o/r/issues/2",
            "",
            "",
            "independent",
            "",
            "b1",
            "imported",
        ],
    ]
    again = import_sheets(labelled.study, "r", [str(tmp_path / "out.csv")], Asked()).document
    assert (again["answers"]["known"], again["known"], again["stored"]) == (1, 2, 0)
