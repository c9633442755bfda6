"""Every spelling of an artifact has one id, and what names none is refused with its line."""

from __future__ import annotations

import csv
from pathlib import Path

from golden.stage import Stage

_COLUMNS = ("--item", "item", "--final", "final", "--taxonomy", "humbatova")
_AT_ONCE = 5  # so many lines an error names at least


def run(stage: Stage) -> None:
    accepted = stage.inputs / "accepted.csv"
    stage.run("accepted", "annotation", "import", "accepted", accepted, *_COLUMNS)
    stage.views("accepted", "items", "final_labels")
    head, *right = _rows(accepted)
    _, *wrong = _rows(stage.inputs / "refused.csv")
    for start in range(0, len(wrong), _AT_ONCE):
        pairs = zip(right, wrong[start : start + _AT_ONCE], strict=False)
        sheet = stage.folder / f"refused-{start}.csv"
        with sheet.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *(row for pair in pairs for row in pair)])
        words = ("import", "refused", sheet, *_COLUMNS)
        stage.run(sheet.stem, "annotation", *words, names="lines", study="refused")
    tokens = [row[0] for row in wrong if "hunter2" in row[0]]
    assert tokens
    for start, text in enumerate(tokens):
        sheet = stage.folder / f"token-{start}.csv"
        with sheet.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, [text, right[0][1]]])
        ended = stage.run(sheet.stem, "annotation", "import", "tokens", sheet, *_COLUMNS,
                          names="lines", study="refused")  # fmt: skip
        stage.value(f"{sheet.stem}: token shown", "hunter2" in ended.out + ended.err)


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
