"""Sheets as files: CSV and XLSX as strangers write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from annotation.sheets import csv_files, workbooks
from annotation.sheets.files import read_grid
from annotation.sheets.grids import Grid
from data.errors import StudyError


def csv_file(folder: Path, content: str | bytes, name: str = "s.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(folder: Path, *rows: tuple[object, ...], name: str = "s.xlsx") -> Path:
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.create_sheet("second").append(["other"])
    book.save(folder / name)
    return folder / name


def table(grid: Grid) -> list[tuple[str, ...]]:
    return [tuple(row.cells.values()) for row in grid.rows]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n", {}),
        ("a;b\n1;é\n".encode(), {}),
        ("a\tb\n1\té\n".encode(), {}),
        ("a|b\r\n1|é\r\n".encode(), {}),
        ("a,b\n1,é\n".encode("cp1252"), {"encoding": "cp1252"}),
        ("a,b\n1,é\n".encode("utf-16"), {"encoding": "utf-16"}),
        ("a%b\n1%é\n".encode(), {"delimiter": "%"}),
        ('"a";"b"\n1;é\n'.encode(), {"delimiter": "semicolon"}),
        (b"a,b,\n1,\xc3\xa9,\n,,\n", {}),
    ],
)
def test_csv_however_it_was_saved(content: bytes, options: dict[str, str], tmp_path: Path) -> None:
    grid = read_grid(csv_file(tmp_path, content), **options)
    assert (grid.columns, table(grid)) == (("a", "b"), [("1", "é")])


@pytest.mark.parametrize(
    ("content", "options", "message", "hint"),
    [
        ("a,b\n1,é\n".encode("cp1252"), {}, ":2: is not UTF-8", "--encoding cp1252"),
        ("a,b\n".encode("utf-16"), {}, ":1: is not UTF-8", "--encoding utf-16"),
        (b"PK\x03\x04\xff", {}, ":1: is not UTF-8", ".xlsx"),
        ("a\né\n".encode("cp1252"), {"encoding": "utf-8"}, ":2: is not utf-8", "--encoding"),
        (b"a\n", {"encoding": "klingon"}, "cannot be read as 'klingon'", "Encodings"),
        (b"a\n", {"delimiter": "ab"}, "'ab' cannot separate columns", "semicolon"),
        (b"a,b\n1,2,3\n", {}, ":2: has 3 cells; the header has 2 columns", "quotes"),
        (b"a,b\n", {}, "has no rows below its header", "Check"),
        (b"a\n1\n", {"sheet": "x"}, "is a CSV file", "--sheet"),
    ],
)
def test_csv_that_cannot_be_read_is_answered_with_the_next_step(
    content: bytes, options: dict[str, str], message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(StudyError) as refused:
        read_grid(csv_file(tmp_path, content), **options)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_columns_are_found_but_for_case_and_blanks_or_by_a_pattern(tmp_path: Path) -> None:
    grid = read_grid(csv_file(tmp_path, "FINAL TAG,DL Bugs ,Conflicts,tag1,tag2\n1,2,3,4,5\n"))
    assert grid.column("final_tag") == "FINAL TAG"
    assert grid.column("dl bugs") == "DL Bugs "
    assert grid.column("Conflict*") == "Conflicts"
    with pytest.raises(StudyError, match="'tag\\*' may be 'tag1' or 'tag2'"):
        grid.column("tag*")


def test_a_workbook_is_read_as_text_without_its_empty_rows(tmp_path: Path) -> None:
    rows = [("url", None, "n", "yes"), ("x", "nameless", 12, True), (None,) * 4, (" ",)]
    path = workbook(tmp_path, *rows, *[(None,)] * 900, ("y", None, 1.5, None))
    grid = read_grid(path)
    assert grid.columns == ("url", "n", "yes")
    assert table(grid) == [("x", "12", "TRUE"), ("y", "1.5", "")]
    assert [row.number for row in grid.rows] == [2, 905]
    assert (grid.sheet, grid.others) == ("Sheet", ("second",))
    with pytest.raises(StudyError) as refused:
        read_grid(path, sheet="third")
    assert refused.value.hint == "Its sheets: Sheet, second."
    with pytest.raises(StudyError, match="no rows below the header of its sheet 'second'"):
        read_grid(path, sheet="SECOND")


def test_a_formula_without_a_value_is_refused_where_it_matters(tmp_path: Path) -> None:
    grid = read_grid(workbook(tmp_path, ("a", "b"), ("x", "=1+1"), ("y", "z"), (None, "=2")))
    first, second, third = grid.rows
    assert grid.cell(first, "a") == "x"
    assert grid.cell(second, "b") == "z"
    for row in (first, third):
        with pytest.raises(StudyError, match="the formula in 'b' has no value"):
            grid.cell(row, "b")


def test_a_wide_claim_of_an_empty_sheet_costs_nothing(tmp_path: Path) -> None:
    path = workbook(tmp_path, ("a",), ("x",))
    replaced = tmp_path / "claims.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(replaced, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b'ref="A1:A2"', b'ref="A1:XFD1048576"'))
    assert table(read_grid(replaced)) == [("x",)]


def test_a_workbook_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in (b"a,b\n", b"PK\x03\x04 and nothing", b""):
        path = csv_file(tmp_path, content, "s.xlsx")
        with pytest.raises(StudyError, match="is no XLSX workbook") as refused:
            read_grid(path)
        assert "save it as .xlsx" in refused.value.hint
    with pytest.raises(StudyError, match=r"\.ods is not read here"):
        read_grid(tmp_path / "s.ods")
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read_grid(tmp_path / "missing.xlsx")
    good = workbook(tmp_path, ("a",), ("x",))
    monkeypatch.setattr(workbooks, "MOST_BYTES", 1024)
    with pytest.raises(StudyError, match="when it is unpacked"):
        read_grid(good)
    monkeypatch.setattr(csv_files, "MOST_BYTES", 3)
    with pytest.raises(StudyError, match="is larger than"):
        read_grid(csv_file(tmp_path, "a\n1\n"))


def test_entities_of_a_workbook_are_not_expanded(tmp_path: Path) -> None:
    path = workbook(tmp_path, ("a",), ("x",))
    hostile = tmp_path / "hostile.xlsx"
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(hostile, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content = bomb + content.replace(b"<v>1</v>", b"<v>&a;</v>")
            new.writestr(name, content)
    with pytest.raises(StudyError, match="is no XLSX workbook"):
        read_grid(hostile)
