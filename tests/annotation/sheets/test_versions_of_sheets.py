"""Sheets after the taxonomy has changed, and sheets for one rater."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from labelling import Labelled
from population import Population

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
    sheet = tmp_path / "ann.csv"
    assert command("annotation", "export", "first", sheet, "--rater", "ann").returncode == 0
    with sheet.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["item"] for row in rows] == items
    assert "ben" not in rows[0]
    assert {row["ann"] + row["final"] for row in rows} == {""}
    refused = command("annotation", "export", "first", tmp_path / "x.csv", "--rater", "carl")
    assert refused.returncode == 1
    assert "Its raters: ann, ben." in refused.stderr
