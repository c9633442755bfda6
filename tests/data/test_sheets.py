"""Files of strangers cost no more than they are worth, and what is written executes nothing."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import Workbook

from faultatlas.data import sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import csv_text, raw_rows, read_sheet

SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>url</t></is></c></row>'


def workbook(path: Path, rows: str, *, header: str = HEADER) -> Path:
    """A workbook whose sheet has these rows, in XML."""
    Workbook().save(path.with_suffix(".empty"))
    text = f'<worksheet xmlns="{NAMESPACE}"><sheetData>{header}{rows}</sheetData></worksheet>'
    with (
        zipfile.ZipFile(path.with_suffix(".empty")) as empty,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in empty.namelist():
            archive.writestr(name, text if name == SHEET else empty.read(name))
    return path


def wide(path: Path, count: int) -> Path:
    """A workbook with a cell in the first and the last column of so many rows."""
    rows = "".join(
        f'<row r="{number}"><c r="A{number}"><v>{number}</v></c>'
        f'<c r="XFD{number}"><v>1</v></c></row>'
        for number in range(2, count + 2)
    )
    return workbook(path, rows)


def test_a_cell_in_the_last_column_of_every_row_costs_nothing(tmp_path: Path) -> None:
    path = wide(tmp_path / "wide.xlsx", 20_000)
    assert path.stat().st_size < 300_000
    begun = time.process_time()
    sheet = read_sheet(path)
    assert time.process_time() - begun < 5  # 0.6 s; padded to the last column, it was 16 s
    assert sheet.columns == ("url",)
    assert [row.cells["url"] for row in sheet.rows[:2]] == ["2", "3"]
    assert len(sheet.rows) == len(sheet.outside) == 20_000
    path = wide(tmp_path / "less.xlsx", 2_000)
    tracemalloc.start()
    read_sheet(path)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_small_file_with_millions_of_cells_is_refused(tmp_path: Path) -> None:
    many = "".join(f'<row r="{number}">{"<c/>" * 16_000}</row>' for number in range(2, 140))
    path = workbook(tmp_path / "many.xlsx", many)
    assert path.stat().st_size < 100_000
    with pytest.raises(StudyError, match="more than 2,000,000 cells"):
        read_sheet(path)
    one_row = workbook(tmp_path / "row.xlsx", f'<row r="2">{"<c/>" * 300_000}</row>')
    with pytest.raises(StudyError, match="more than 2,000,000 cells"):
        read_sheet(one_row)


def test_a_workbook_with_a_part_of_millions_of_elements_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_CELLS", 1_000)
    path = workbook(tmp_path / "s.xlsx", '<row r="2"><c r="A2"><v>1</v></c></row>')
    assert read_sheet(path).rows[0].cells == {"url": "1"}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/more.xml", f"<a>{'<b/>' * 1_001}</a>")
    with pytest.raises(StudyError, match="more than 1,000 cells"):
        read_sheet(path)


def test_missing_rows_cost_nothing_and_rows_without_numbers_are_counted(tmp_path: Path) -> None:
    names = "".join(f'<c t="inlineStr"><is><t>c{number}</t></is></c>' for number in range(1, 2_001))
    far = '<row r="1048575"><c r="B1048575"><v>1</v></c></row><row><c><v>2</v></c></row>'
    path = workbook(tmp_path / "far.xlsx", far, header=f'<row r="1">{names}</row>')
    assert [(row.number, dict(row.cells)) for row in read_sheet(path).rows] == [
        (1_048_575, {"c2": "1"}), (1_048_576, {"c1": "2"}),
    ]  # fmt: skip


def test_rows_as_they_are_have_every_sheet_and_no_header(tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].append([None, "a", None])
    book.create_sheet("hidden").append([1.0])
    book["hidden"].sheet_state = "hidden"
    book.save(tmp_path / "s.xlsx")
    assert raw_rows(tmp_path / "s.xlsx") == [("Sheet", 1, [None, "a"]), ("hidden", 1, ["1"])]
    (tmp_path / "s.csv").write_text("a,,c\n,,\nd\n", encoding="utf-8")
    assert raw_rows(tmp_path / "s.csv") == [("", 1, ["a", None, "c"]), ("", 3, ["d"])]


def test_more_cells_than_fit_into_memory_are_refused_in_csv_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_CELLS", 3)
    (tmp_path / "s.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    with pytest.raises(StudyError, match="more than 3 cells"):
        read_sheet(tmp_path / "s.csv")


def test_utf_16_is_read_without_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes("a\né\n".encode("utf-16-le"))
    assert read_sheet(tmp_path / "s.csv", encoding="utf-16").rows[0].cells == {"a": "é"}


def test_no_cell_that_is_written_is_executed_and_numbers_stay_numbers() -> None:
    texts = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", " =1", "\t=1", "\rx", "'=1", "plain"]
    (row,) = csv.reader(io.StringIO(csv_text([texts]), newline=""), strict=True)
    assert row == [*(f"'{text}" for text in texts[:-1]), "plain"]
    moment = datetime(2024, 1, 2)  # noqa: DTZ001 - as the study holds them
    values = [None, True, -0.25, -3, 1e-21, Decimal("-1.50"), moment, ["=1", None], b"\x01"]
    assert csv_text([values]) == (
        ',true,-0.25,-3,1e-21,-1.50,2024-01-02T00:00:00,"[""=1"", null]",01\n'
    )
