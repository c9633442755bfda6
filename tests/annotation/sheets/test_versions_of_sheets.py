"""Sheets after the taxonomy has changed, and sheets for one rater."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from labelling import Labelled
from openpyxl import load_workbook
from population import Population

from faultatlas.annotation.sheets.layout import LONG

Command = Callable[..., CompletedProcess[str]]

SWAPPED = """\
changes:
  - from: "1.0.0"
    steps:
      - {rename: a, to: b, reason: it was the wrong way round}
      - {rename: b, to: a, reason: it was the wrong way round}
"""


def test_a_sheet_means_the_same_after_its_taxonomy_changed(
    tmp_path: Path, command: Command
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy({"a": "", "b": ""})
    sheet = tmp_path / "sheet.csv"
    rows = [f"https://github.com/o/r/issues/{number},a,b" for number in range(1, 4)]
    sheet.write_text("\n".join(["URL,ann,ben", *rows]) + "\n", encoding="utf-8")
    asked = ("--item", "URL", "--rater-columns", "ann", "--rater-columns", "ben", "--json")
    command("annotation", "import", "first", sheet, *asked, "--taxonomy", "tree")
    file = tmp_path / "taxonomies" / "tree.yaml"
    labelled.taxonomy({"a": "", "b": ""}, version="2.0.0")
    text = file.read_text(encoding="utf-8").replace("Name of a", "x").replace("Name of b", "y")
    text = text.replace("name: x", "name: Name of b").replace("name: y", "name: Name of a")
    file.write_text(text + SWAPPED, encoding="utf-8")
    assert command("annotation", "taxonomy", "migrate", "tree").returncode == 0
    again = json.loads(command("annotation", "import", "first", sheet, *asked).stdout)
    assert again["taxonomy_version"] == "1.0.0"
    with labelled.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM store.answer") == 6
    done = command("annotation", "import", "first", sheet, *asked[:-1], "--version", "2.0.0")
    assert done.returncode == 0, done.stderr
    with labelled.study.reading() as reader:
        rows_now = reader.rows("SELECT taxonomy_version AS v, count(*) AS n FROM labels GROUP BY 1")
    assert {row["v"]: row["n"] for row in rows_now} == {"1.0.0": 6, "2.0.0": 6}
    told = command("annotation", "export", "first", tmp_path / "old.csv")
    assert "6 answers given in other versions" in told.stderr
    back = json.loads(
        command("annotation", "import", "first", tmp_path / "old.csv", "--json").stdout
    )
    assert (back["answers"]["new"], back["answers"]["changed"]) == (0, 0)


def test_a_sheet_for_one_rater_has_her_items_in_her_order_and_nothing_of_others(
    tmp_path: Path, command: Command
) -> None:
    Population.at(tmp_path).issues(*(f"body {number}" for number in range(12)))
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    command("annotation", "sample", "all", "--size", "12")
    done = command("annotation", "round", "first", "--sample", "all", "--taxonomy", "tree",
                   "--rater", "ann", "--rater", "ben", "--overlap", "50")  # fmt: skip
    assert done.returncode == 0, done.stderr
    with labelled.study.reading() as reader:
        wanted = reader.rows(
            "SELECT item_id FROM assignments WHERE rater = 'ann' ORDER BY position"
        )
    items = [row["item_id"] for row in wanted]
    labelled.say("first", {items[0]: {"ben": "b1"}})
    sheet = tmp_path / "ann.xlsx"
    assert command("annotation", "export", "first", sheet, "--rater", "ann").returncode == 0
    book = load_workbook(sheet)
    rows = [dict(zip(LONG, row, strict=True)) for row in book["labels"].iter_rows(values_only=True)]
    assert [row["item"] for row in rows[1:]] == items
    assert {(row["rater"], row["codes"]) for row in rows[1:]} == {("ann", None)}
    offered = [row[0] for row in book["codes"].iter_rows(min_row=2, values_only=True) if row[0]]
    assert offered == ["a1", "a2", "b1", "b2", "~unclear", "~not-a-fault", "~new"]
    # She fills it in, and it needs no options to come back.
    for number, code in enumerate(("a1", "~unclear", "b2"), start=2):
        book["labels"].cell(number, LONG.index("codes") + 1, code)
        book["labels"].cell(number, LONG.index("confidence") + 1, number)
    book.save(sheet)
    done = command("annotation", "import", "first", sheet, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answers"]["new"] == 3
    with labelled.study.reading() as reader:
        said = reader.rows("SELECT * FROM labels WHERE rater = 'ann' ORDER BY confidence")
    assert [(row["item_id"], row["code"], row["confidence"]) for row in said] == [
        (items[0], "a1", 2), (items[1], "~unclear", 3), (items[2], "b2", 4),
    ]  # fmt: skip
    refused = command("annotation", "export", "first", tmp_path / "x.csv", "--rater", "carl")
    assert refused.returncode == 1
    assert "Known: ann, ben." in refused.stderr


def test_independent_labels_do_not_change_after_a_gate_was_decided(
    tmp_path: Path, command: Command
) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    said = {f"github:o/r#{at}": {"ann": "a1", "ben": ("a1", "b1")[at % 2]} for at in range(1, 9)}
    labelled.round("pilot", said, statistic="percent", threshold=0.9)
    assert command("annotation", "agreement", "pilot", "--gate", "-q").returncode == 1
    sheet = tmp_path / "sheet.csv"
    command("annotation", "export", "pilot", sheet)
    text = sheet.read_text(encoding="utf-8-sig").replace(",a1,b1,", ",a1,a1,")
    sheet.write_text(text, encoding="utf-8")
    refused = command("annotation", "import", "pilot", sheet)
    assert refused.returncode == 1
    assert "4 independent labels would change after the gate" in refused.stderr
    with labelled.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM store.answer") == 16
    sheet.write_text(text.replace("independent", "negotiated"), encoding="utf-8")
    assert command("annotation", "import", "pilot", sheet).returncode == 0
    sheet.write_text(text, encoding="utf-8")
    options = ("--corrections", "--version", "1.0.0")
    assert command("annotation", "import", "pilot", sheet, *options).returncode == 0
    with labelled.study.reading() as reader:
        said = reader.value("SELECT arguments FROM runs ORDER BY started_at DESC LIMIT 1")
    assert json.loads(said)["corrections"] is True
    assert json.loads(said)["version"] == "1.0.0"


def test_a_code_of_a_newer_version_names_the_option(tmp_path: Path, command: Command) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy({"a": "", "b": ""})
    labelled.round("first", {"github:o/r#1": {"ann": "a"}})
    labelled.taxonomy({"a": "", "b": "", "c": ""}, version="1.1.0")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("item,ben\ngithub:o/r#1,c\n", encoding="utf-8")
    done = command(
        "annotation", "import", "first", sheet, "--item", "item", "--rater-columns", "ben"
    )
    assert "'c' is a code of tree 1.1.0" in done.stderr
    assert "--version 1.1.0" in done.stderr
