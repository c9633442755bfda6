"""Agreement on tables of ratings: published ones, made-up ones and degenerate ones; and gates."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from typing import Any

from golden.stage import Stage

_BY = ("round", "pair", "category", "stratum", "level")


def run(stage: Stage) -> None:
    study = stage.study()
    stage.settings('[agreement]\nstatistic = "cohen"\nthreshold = 0.7\n')
    (study / "taxonomies").mkdir()
    for name in ("tree", "many"):
        shutil.copy(stage.inputs / f"{name}.yaml", study / "taxonomies")
    tables = json.loads((stage.inputs / "tables.json").read_text(encoding="utf-8"))
    for name, table in tables.items():
        _import(stage, name, **table)
    every = [word for part in _BY for word in ("--by", part)]
    stage.run("every round", "annotation", "agreement", "--resamples", "50", *every)
    for call in (stage.inputs / "calls.txt").read_text(encoding="utf-8").splitlines():
        stage.run(call, *shlex.split(call))
    stage.claims("all")
    stage.query(
        "gates",
        "SELECT round, stage, statistic, threshold, value, low, high, items, is_passed FROM gates",
    )
    stage.views("ratings", "labels", "rounds")


def _import(
    stage: Stage, name: str, rows: list[list[str]], taxonomy: str = "tree", strata: Any = ()
) -> None:
    """A sheet with a column for each rater."""
    sheet = stage.folder / f"{name}.csv"
    raters = [f"r{number}" for number, _ in enumerate(rows[0], 1)]
    with sheet.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["item", *raters, "stratum"])
        for number, row in enumerate(rows, 1):
            stratum = strata[number - 1] if strata else ""
            lines.writerow([f"github:o/{name.replace(' ', '-')}#{number}", *row, stratum])
    words = ("--item", "item", "--rater-columns", "r[0-9]", "--taxonomy", taxonomy)
    more = ("--stratum", "stratum") if strata else ()
    stage.run(f"import {name}", "annotation", "import", name, sheet, *words, *more)
