"""Sheets as files: CSV and XLSX as strangers write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from labelling import tree_text
from openpyxl import Workbook

from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.data import sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import Sheet as Grid
from faultatlas.data.sheets import read_sheet
from faultatlas.data.taxonomy_library import taxonomy_of_text


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
    return [tuple(row.cells.get(name, "") for name in grid.columns) for row in grid.rows]


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
    grid = read_sheet(csv_file(tmp_path, content), **options)
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
        read_sheet(csv_file(tmp_path, content), **options)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_columns_are_found_but_for_case_and_blanks_or_by_a_pattern(tmp_path: Path) -> None:
    grid = read_sheet(csv_file(tmp_path, "FINAL TAG,DL Bugs ,Conflicts,tag1,tag2\n1,2,3,4,5\n"))
    assert grid.column("final_tag") == "FINAL TAG"
    assert grid.column("dl bugs") == "DL Bugs "
    assert grid.column("Conflict*") == "Conflicts"
    with pytest.raises(StudyError, match="'tag\\*' may be 'tag1' or 'tag2'"):
        grid.column("tag*")


def test_a_workbook_is_read_as_text_without_its_empty_rows(tmp_path: Path) -> None:
    rows = [("url", None, "n", "yes"), ("x", "nameless", 12, True), (None,) * 4, (" ",)]
    path = workbook(tmp_path, *rows, *[(None,)] * 900, ("y", None, 1.5, None))
    grid = read_sheet(path)
    assert grid.columns == ("url", "n", "yes")
    assert table(grid) == [("x", "12", "TRUE"), ("y", "1.5", "")]
    assert [row.number for row in grid.rows] == [2, 905]
    assert (grid.name, grid.others) == ("Sheet", ("'second'",))
    with pytest.raises(StudyError) as refused:
        read_sheet(path, sheet="third")
    assert refused.value.hint == "Its sheets: Sheet, second."
    with pytest.raises(StudyError, match="no rows below the header of its sheet 'second'"):
        read_sheet(path, sheet="SECOND")


def test_a_formula_without_a_value_is_refused_where_it_matters(tmp_path: Path) -> None:
    grid = read_sheet(workbook(tmp_path, ("a", "b"), ("x", "=1+1"), ("y", "z"), (None, "=2")))
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
    assert table(read_sheet(replaced)) == [("x",)]


def test_a_workbook_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in (b"a,b\n", b"PK\x03\x04 and nothing", b""):
        path = csv_file(tmp_path, content, "s.xlsx")
        with pytest.raises(StudyError, match="is not an XLSX workbook") as refused:
            read_sheet(path)
        assert "save it as .xlsx" in refused.value.hint
    with pytest.raises(StudyError, match=r"does not read \.ods files"):
        read_sheet(tmp_path / "s.ods")
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read_sheet(tmp_path / "missing.xlsx")
    good = workbook(tmp_path, ("a",), ("x",))
    monkeypatch.setattr(sheets, "MOST_UNPACKED", 1024)
    with pytest.raises(StudyError, match="when it is unpacked"):
        read_sheet(good)
    monkeypatch.setattr(sheets, "MOST_BYTES", 3)
    with pytest.raises(StudyError, match="is larger than"):
        read_sheet(csv_file(tmp_path, "a\n1\n"))


def patched(path: Path, member: str, old: bytes, new: bytes) -> Path:
    """The workbook with something else in one of its parts."""
    changed = path.with_name("patched.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(changed, "w") as target:
        parts = {name: source.read(name) for name in source.namelist()}
        if member == STRINGS:  # which openpyxl reads, but writes into the sheets
            parts[STRINGS] = old
            kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
            override = b'<Override PartName="/%b" ContentType="%b"/></Types>'
            parts[TYPES] = parts[TYPES].replace(b"</Types>", override % (STRINGS.encode(), kind))
        assert old in parts[member]
        parts[member] = parts[member].replace(old, new, 1)
        for name, content in parts.items():
            target.writestr(name, content)
    return changed


SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
TYPES = "[Content_Types].xml"
ENTITY = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'


@pytest.mark.parametrize(
    ("member", "old", "new", "message"),
    [
        (SHEET, b"<worksheet", ENTITY + b"<worksheet", "document type"),
        (STRINGS, b"<sst/>", ENTITY + b"<sst><si><t>&a;</t></si></sst>", "document type"),
        ("xl/workbook.xml", b"<workbook", ENTITY + b"<workbook", "document type"),
        (SHEET, b'<row r="2"', b'<row r="9999999999"', "has a row 9999999999"),
        (SHEET, b'<row r="2"', b'<row r="nan"', "has a row nan"),
        (SHEET, b'<row r="2"', b"<row <", "is not an XLSX workbook"),
    ],
)
def test_a_hostile_workbook_is_refused(
    member: str, old: bytes, new: bytes, message: str, tmp_path: Path
) -> None:
    path = patched(workbook(tmp_path, ("a",), ("x",)), member, old, new)
    with pytest.raises(StudyError, match=message):
        read_sheet(path)


def test_a_workbook_that_is_damaged_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path, ("a", "b", "c"), ("x",), ("y",))
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(SHEET).header_offset + 30 + len(SHEET)
    content = bytearray(path.read_bytes())
    for place in range(start, start + 8):
        content[place] ^= 0xFF
    with pytest.raises(StudyError, match="is not an XLSX workbook"):
        read_sheet(csv_file(tmp_path, bytes(content), "damaged.xlsx"))
    for most in (4, 5):  # five cells are written; two rows of three columns are read
        monkeypatch.setattr(sheets, "MOST_CELLS", most)
        with pytest.raises(StudyError, match=f"more than {most} cells"):
            read_sheet(path)


def test_a_formula_that_gives_nothing_has_a_value(tmp_path: Path) -> None:
    path = workbook(tmp_path, ("a", "b"), ("x", "=A1"))
    computed = patched(path, SHEET, b'<c r="B2">', b'<c r="B2" t="str">')
    grid = read_sheet(computed)
    assert grid.cell(grid.rows[0], "b") == ""
    with pytest.raises(StudyError, match="has no value"):
        read_sheet(path).cell(read_sheet(path).rows[0], "b")


def test_hidden_sheets_numbers_and_cells_outside_the_header(tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].title = "old"
    book.worksheets[0].sheet_state = "hidden"
    for row in (("a", "b"), ("1.1", 1.1, None, "note"), ("x", "y")):
        if row == ("a", "b"):
            book.create_sheet("new")
        book["new"].append(row)
    book.active = 1
    book.save(tmp_path / "s.xlsx")
    grid = read_sheet(tmp_path / "s.xlsx")
    assert (grid.name, grid.others, grid.outside) == ("new", ("'old' (hidden)",), (2,))
    first = grid.rows[0]
    assert first.numbers == {"b"}
    text = tree_text({"1.1": "", "1.10": ""}, name="num")
    book_of_codes = Codebook(taxonomy_of_text(text, "num"))
    said = book_of_codes.of_cell(grid, first, "a")
    assert said is not None
    assert said.codes == ("1.1",)
    assert book_of_codes.of_cell(grid, first, "b") is None
    assert "the number 1.1, which may be 1.1 or 1.10" in book_of_codes.errors[0]
