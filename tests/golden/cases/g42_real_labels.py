"""2,000 real labels of six raters in two sheets, and everything that is computed of them."""

from __future__ import annotations

import re
from pathlib import Path

from golden.stage import Stage

REAL = True
LONGEST = 60_000  # the claims: a number that changes is to be seen
_LABELS = "SELECT round, rater, code, count(*), min(item_id), max(item_id) FROM labels GROUP BY ALL"
_FINAL = "SELECT round, code, count(*), min(item_id), max(item_id) FROM final_labels GROUP BY ALL"


def run(stage: Stage) -> None:
    assert stage.real_data
    for name in ("pytorch", "mindspore"):
        sheet = stage.real_data / "hp_defects" / f"{name}.csv"
        words = ("--item", "URL", "--rater-columns", "volunteer_*", "--final", "Final_label")
        stage.run(f"import {name}", "annotation", "import", name, sheet, *words,
                  "--taxonomy", "hp-defects")  # fmt: skip
    stage.query("labels", _LABELS)
    stage.query("final labels", _FINAL)
    by = ("--by", "pair", "--by", "category", "--by", "level")
    stage.run("agreement", "annotation", "agreement", "--resamples", "50", *by)
    stage.run("gate", "annotation", "agreement", "pytorch", "--gate", "--threshold", "0.9",
              "--statistic", "fleiss", "--resamples", "0")  # fmt: skip
    stage.run("accuracy", "annotation", "adjudicate", "pytorch", "--accuracy")
    stage.run("saturation", "annotation", "taxonomy", "saturation", "pytorch", "mindspore")
    stage.run("distribution", "analysis", "distribution", "hp-defects", "--by", "round")
    stage.run("first level", "analysis", "distribution", "hp-defects", "--level", "1")
    stage.run("gap", "analysis", "coverage-gap", "--evidence", "study")
    stage.run("associate", "analysis", "associate", "hp-defects:1", "round")
    stage.run("build", "report", "build")
    stage.claims("built")
    tables = {path.name for path in stage.study().glob("out/*/*.csv")} - {"claims.csv"}
    stage.numbers("built", stage.study(), *(f"out/*/{name}" for name in sorted(tables)))
    for page in sorted(stage.study().glob("out/*/report.html")):
        _page(stage, page)
    stage.run("check", "report", "claims", "check")
    sheet = stage.folder / "pytorch.csv"
    stage.run("export", "annotation", "export", "pytorch", sheet)
    stage.run("import again", "annotation", "import", "pytorch", sheet)
    stage.query("labels again", _LABELS)
    stage.query("final labels again", _FINAL)


def _page(stage: Stage, page: Path) -> None:
    """The numbers in the tables of a page: what else it says may count its figures."""
    tables = re.findall(r"<table\b.*?</table>", page.read_text(encoding="utf-8"), re.DOTALL)
    copy = stage.folder / f"{page.parent.name}.html"
    copy.write_text("\n".join(tables), encoding="utf-8")
    stage.numbers("built", stage.folder, copy.name)
