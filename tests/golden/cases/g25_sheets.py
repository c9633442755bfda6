"""90 sheets as strangers write them: which labels they give, or which rows are refused."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import zipfile
from pathlib import Path
from typing import Any

from golden.stage import Stage
from openpyxl import Workbook, load_workbook

LONGEST = 40_000
_SHEET, _STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
_ENTITY = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'
_LABELS = (
    "SELECT round, item_id, artifact_id, rater, stage, code, confidence, comment, proposed, "
    "taxonomy_version, is_current, origin FROM labels"
)
_ITEMS = "SELECT round, item_id, artifact_id, stratum, place FROM items"
_FINAL = "SELECT round, item_id, code, settled_by FROM final_labels"


def run(stage: Stage) -> None:
    (stage.study() / "taxonomies").mkdir()
    for name in ("tree", "num", "many"):
        shutil.copy(stage.inputs / f"{name}.yaml", stage.study() / "taxonomies")
    sheets = json.loads((stage.inputs / "sheets.json").read_text(encoding="utf-8"))
    for label, sheet in sheets.items():
        for name, content in sheet["files"].items():
            _write(stage.folder / name, content, sheet.get("encoding", "utf-8"))
        for number, words in enumerate(sheet["imports"]):
            again = f" {number}" if number else ""
            _import(stage, f"{label}{again}", words)
    _hostile(stage)
    stage.query("labels", _LABELS)
    stage.query("items", _ITEMS)
    stage.query("final labels", _FINAL)
    stage.query("rounds", "SELECT round, origin, taxonomy, raters, choice FROM rounds")
    for path in sorted((stage.study() / "spellings").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            # The fourth column says why; an apostrophe keeps a spreadsheet from computing a cell.
            rows = [[cell.removeprefix("'") for cell in row[:3]] for row in csv.reader(file)]
        stage.value(f"spellings {path.stem}", rows)
    _export(stage)


def _import(stage: Stage, label: str, words: str) -> None:
    """Import into a round; refused, the rows are observed that standard error names."""
    given = shlex.split(words.format(folder=stage.folder, spellings=stage.study() / "spellings"))
    stage.run(label, "annotation", "import", *given, names="lines")


def _write(path: Path, content: Any, encoding: str) -> None:
    """A file of text, or a workbook of rows."""
    if isinstance(content, str):
        path.write_bytes(content.encode(encoding))
        return
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in content.items():
        sheet = book.create_sheet(name.removeprefix("hidden "))
        for row in rows:
            sheet.append(row)
        if name.startswith("hidden "):
            sheet.sheet_state = "hidden"
        else:
            book.active = len(book.worksheets) - 1
    book.save(path)


def _hostile(stage: Stage) -> None:
    """Workbooks that are damaged, or would do harm to who reads them."""
    plain = stage.folder / "plain.xlsx"
    _write(plain, {"Sheet": [["item", "ann"], ["o/r#1", "a1"], ["o/r#2", "b1"]]}, "")
    strings = f"{_ENTITY}<sst><si><t>&a;</t></si></sst>"
    kind = f'<Override PartName="/{_STRINGS}" ContentType="{_KIND}"/></Types>'
    changes = {
        "entity in the sheet": {_SHEET: ("<worksheet", f"{_ENTITY}<worksheet")},
        "entity in strings": {_STRINGS: ("", strings), "[Content_Types].xml": ("</Types>", kind)},
        "entity in the book": {"xl/workbook.xml": ("<workbook", f"{_ENTITY}<workbook")},
        "far row": {_SHEET: ('<row r="2"', '<row r="9999999999"')},
        "row that is no number": {_SHEET: ('<row r="2"', '<row r="nan"')},
        "broken sheet": {_SHEET: ('<row r="2"', "<row <")},
        "wide claim": {_SHEET: ('ref="A1:B3"', 'ref="A1:XFD1048576"')},
    }
    words = f"hostile {{folder}}/hostile.xlsx {_WIDE}"
    for label, parts in changes.items():
        _patch(plain, stage.folder / "hostile.xlsx", parts)
        _import(stage, label, words)
    data = plain.read_bytes()
    with zipfile.ZipFile(plain) as archive:
        start = archive.getinfo(_SHEET).header_offset + 30 + len(_SHEET)
    flipped = bytes(byte ^ (0xFF if start <= at < start + 8 else 0) for at, byte in enumerate(data))
    contents = {
        "damaged": flipped, "cut": data[: len(data) // 2], "no workbook": b"",
        "text": b"item,ann\n", "no zip": b"PK\x03\x04 and nothing",
    }  # fmt: skip
    for label, content in contents.items():
        (stage.folder / "hostile.xlsx").write_bytes(content)
        _import(stage, label, words)


_WIDE = "--item item --taxonomy tree --rater-columns ann"


def _patch(source: Path, target: Path, parts: dict[str, tuple[str, str]]) -> None:
    """A workbook with something else in some of its parts."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in {**dict.fromkeys(old.namelist()), **parts}:
            text = old.read(name) if name in old.namelist() else b""
            before, after = parts.get(name, ("", ""))
            assert before.encode() in text, name
            new.writestr(name, text.replace(before.encode(), after.encode(), 1))


# Back into sheets


def _export(stage: Stage) -> None:
    """What rounds hold as sheets, which give the same labels when they are imported again."""
    exported = json.loads((stage.inputs / "exports.json").read_text(encoding="utf-8"))
    for label, (name, file, words) in exported.items():
        path = stage.folder / file
        ended = stage.run(label, "annotation", "export", name, path, *shlex.split(words),
                          names="none")  # fmt: skip
        if ended.code == 0:
            stage.value(f"{label}: cells", _cells(path))
            _import(stage, f"{label} read", shlex.join([name, str(path)]))
    stage.query("labels again", _LABELS)
    _for_one_rater(stage)


def _cells(path: Path) -> list[list[Any]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))
    rows = load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [["" if cell is None else cell for cell in row] for row in rows]


def _for_one_rater(stage: Stage) -> None:
    """A sheet for one rater is filled in as a workbook, and needs no options to come back."""
    sheet = stage.folder / "one.xlsx"
    stage.run("one rater", "annotation", "export", "wide", sheet, "--rater", "bob")
    book = load_workbook(sheet)
    page = book.worksheets[0]
    head = [cell.value for cell in page[1]]
    stage.value("one rater: items", [page.cell(row, head.index("item") + 1).value
                                     for row in range(2, page.max_row + 1)])  # fmt: skip
    for row, code in enumerate(("a1", "~unclear", "b2"), 2):
        page.cell(row, head.index("codes") + 1, code)
        page.cell(row, head.index("confidence") + 1, row)
    book.save(sheet)
    _import(stage, "one rater read", shlex.join(["wide", str(sheet)]))
    stage.query("one rater", f"{_LABELS} WHERE round = 'wide' AND rater = 'bob'")
