"""A taxonomy over three versions: what became of labels, what waits, what agreement each gives."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from golden.stage import Stage

LONGEST = 6_000
_VERSIONS = ("1.0.0", "2.0.0", "3.0.0")


def run(stage: Stage) -> None:
    (stage.study() / "taxonomies").mkdir()
    _become(stage, "1.0.0")
    _labels(stage)
    _refused(stage)
    _second(stage)
    _third(stage)
    for version in _VERSIONS:
        _agreement(stage, version)
    stage.claims("all")
    _labels_of_several_codes(stage)


def _become(stage: Stage, version: str, old: str = "", new: str = "", study: str = "study") -> None:
    """The file of a version, in which a text may be another."""
    text = (stage.inputs / f"tree-{version}.yaml").read_text(encoding="utf-8")
    assert old in text
    path = stage.study(study) / "taxonomies" / "tree.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _taxonomy(stage: Stage, label: str, *words: object, names: str = "lines") -> Any:
    ended = stage.run(label, "annotation", "taxonomy", *words, "--json", names=names)
    return json.loads(ended.out) if ended.out else {}


def _views(stage: Stage, label: str) -> None:
    stage.query(
        f"{label} labels",
        "SELECT round, item_id, rater, taxonomy_version, code, proposed, stage, is_current, origin "
        "FROM labels",
    )
    stage.query(
        f"{label} final labels",
        "SELECT round, item_id, artifact_id, taxonomy_version, code, settled_by FROM final_labels",
    )


def _labels(stage: Stage) -> None:
    """60 labels of three raters, 20 final ones."""
    words = ("--item", "item", "--taxonomy", "tree", "--rater-columns", "r[0-9]")
    sheet = stage.inputs / "labels.csv"
    stage.run("import", "annotation", "import", "pilot", sheet, *words, "--final", "final")
    _views(stage, "first")
    _agreement(stage, "first")


def _agreement(stage: Stage, version: str) -> None:
    words = () if version == "first" else ("--version", version)
    stage.run(f"agreement {version}", "annotation", "agreement", "pilot", "--resamples", "20",
              "--by", "pair", "--by", "category", *words)  # fmt: skip


def _diff(stage: Stage, label: str, *words: str) -> str:
    """What is said to have changed, and how many labels that touches; the lines to add."""
    found = _taxonomy(stage, label, "diff", "tree", *words)
    changes = [
        [change["kind"], change["old"], change["new"],
         [[touch["round"], touch["labels"], touch["count"]] for touch in change["touches"]]]
        for change in found.get("changes", ())
    ]  # fmt: skip
    stage.value(f"{label}: changes", sorted(changes, key=json.dumps))
    return str(found.get("block") or "")


def _refused(stage: Stage) -> None:
    """Files that leave something unsaid, or say what cannot be."""
    refused = json.loads((stage.inputs / "refused.json").read_text(encoding="utf-8"))
    for label, (old, new) in refused.items():
        _become(stage, "2.0.0", old, new)
        _taxonomy(stage, f"{label}: validate", "validate")
        _taxonomy(stage, f"{label}: migrate", "migrate", "tree")
    _become(stage, "1.0.0", "code: a1", "code: a9")
    _taxonomy(stage, "same version", "diff", "tree")
    _views(stage, "after refusals")


def _second(stage: Stage) -> None:
    """A split, a rename, a move and codes that are retired; labels are given again by sheet."""
    _become(stage, "2.0.0", "changes:", "x-changes:")
    _taxonomy(stage, "unknown field", "diff", "tree")
    text = (stage.inputs / "tree-2.0.0.yaml").read_text(encoding="utf-8")
    bare, _, _changes = text.partition("changes:")
    path = stage.study() / "taxonomies" / "tree.yaml"
    path.write_text(bare, encoding="utf-8")
    block = _diff(stage, "proposed")
    path.write_text(f"{bare}{block}\n", encoding="utf-8")
    _taxonomy(stage, "proposed: validate", "validate")
    _become(stage, "2.0.0")
    _diff(stage, "declared")
    _taxonomy(stage, "dry run", "migrate", "tree", "--dry-run")
    _views(stage, "dry run")
    _migrate(stage, "second")
    _migrate(stage, "second again")
    sheet = stage.folder / "wrong.csv"
    stage.run("wrong", "annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    first = {row["item"] for row in _rows(sheet)[:2]}
    for number, new in enumerate(("nothing", "b1", "a2x; a2y", "~unclear; a2x")):
        _fill(sheet, lambda row, new=new: new * (row["item"] in first))
        _taxonomy(stage, f"wrong {number}", "relabel", "pilot", "--from", sheet)
    _relabel(stage, "2.0.0", "ann.csv", "--rater", "r1")
    _relabel(stage, "2.0.0", "all.csv")
    stage.run("sheet is there", "annotation", "taxonomy", "relabel", "pilot", "--to",
              stage.folder / "all.csv", names="none")  # fmt: skip
    stage.run("no sheet", "annotation", "taxonomy", "relabel", "pilot", "--to",
              stage.folder / "all.ods", names="none")  # fmt: skip
    stage.run("back", "annotation", "taxonomy", "migrate", "tree", "--to", "1.0.0", names="none")
    _become(stage, "2.0.0", "{retire: c2, to: ~unclear}", "{retire: c2, to: c1}")
    _taxonomy(stage, "rewritten", "migrate", "tree")
    _become(stage, "2.0.0")
    stage.run("settled again", "annotation", "adjudicate", "pilot", "--settle", "--version",
              "2.0.0", names="none")  # fmt: skip
    _views(stage, "settled again")


def _migrate(stage: Stage, label: str) -> None:
    found = _taxonomy(stage, label, "migrate", "tree")
    keys = ("round", "labels", "carried", "waiting", "ended", "answered")
    rows = [[counts[key] for key in keys] for counts in found["rounds"]]
    stage.value(f"{label}: rounds", rows)
    _views(stage, label)
    _waiting(stage, label)


def _waiting(stage: Stage, label: str) -> None:
    """The queue of labels that must be given again, as the sheet has it."""
    sheet = stage.folder / "waiting.csv"
    stage.run(f"{label}: queue", "annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    if sheet.exists():
        stage.value(f"{label}: waiting", [_chosen(row) for row in _rows(sheet)])
        sheet.unlink()


def _relabel(stage: Stage, version: str, name: str, *words: str) -> None:
    """Fills in every second label that waits, twice in the same way."""
    sheet = stage.folder / name
    stage.run(f"{version} {name}", "annotation", "taxonomy", "relabel", "pilot", "--to", sheet,
              *words)  # fmt: skip
    if not sheet.exists():
        return
    any_code = "d1" if version == "3.0.0" else "b1"

    def new(row: dict[str, str]) -> str:
        place = int(row["item"].partition("#")[2])
        return (_codes(row["choices"]) or [any_code] * 2)[place % 2] if place % 3 else ""

    _fill(sheet, new)
    for time in ("once", "twice"):
        found = _taxonomy(stage, f"{version} {name} {time}", "relabel", "pilot", "--from", sheet)
        stage.value(f"{version} {name} {time}: left", found.get("left"))
    _views(stage, f"{version} {name}")
    _waiting(stage, f"{version} {name}")


def _third(stage: Stage) -> None:
    """A merge, and parts that are merged again: nothing of them waits any longer."""
    _become(stage, "3.0.0")
    _diff(stage, "from the second", "2.0.0", "3.0.0")
    _diff(stage, "from the first", "1.0.0", "3.0.0")
    _taxonomy(stage, "no such version", "diff", "tree", "1.0.0", "7.0.0")
    _migrate(stage, "third")
    _relabel(stage, "3.0.0", "third.csv")
    words = ("--item", "item", "--rater-columns", "r[0-9]", "--version", "3.0.0")
    stage.run("labels of the third", "annotation", "import", "pilot", stage.inputs / "later.csv",
              *words)  # fmt: skip
    stage.run("code of another", "annotation", "import", "pilot", stage.inputs / "later.csv",
              *words[:-1], "2.0.0", names="lines")  # fmt: skip
    for version in _VERSIONS:
        sheet = stage.folder / f"as-{version}.csv"
        stage.run(f"export {version}", "annotation", "export", "pilot", sheet, "--version", version)
        stage.value(f"cells {version}", _rows(sheet))
    _views(stage, "third labelled")
    for level in ("1", "2"):
        stage.run(f"distribution {level}", "analysis", "distribution", "tree", "--level", level)
    stage.run("saturation", "annotation", "taxonomy", "saturation", "pilot", "--batch", "5")
    stage.run("no agreement", "annotation", "agreement", "pilot", "--version", "7.0.0",
              names="none")  # fmt: skip


def _labels_of_several_codes(stage: Stage) -> None:
    """Each code is followed by itself where an item may have several."""
    (stage.study("several") / "taxonomies").mkdir()
    single, multiple = "choice: single", "choice: multiple"
    _become(stage, "1.0.0", single, multiple, "several")
    words = ("--item", "item", "--taxonomy", "tree", "--rater-columns", "r[0-9]")
    stage.run("import several", "annotation", "import", "pilot", stage.inputs / "several.csv",
              *words, study="several")  # fmt: skip
    _become(stage, "2.0.0", single, multiple, "several")
    stage.run("migrate several", "annotation", "taxonomy", "migrate", "tree", study="several")
    sheet = stage.folder / "several.csv"
    given = ("annotation", "taxonomy", "relabel", "pilot")
    stage.run("several out", *given, "--to", sheet, study="several")
    stage.value("several waiting", [_chosen(row) for row in _rows(sheet)])
    for number, new in enumerate(("a2x; a2y", "~unclear; a2x", "")):
        _fill(sheet, lambda row, new=new: new if row["code"] == "a2" else "")
        stage.run(f"several {number}", *given, "--from", sheet, study="several", names="lines")
    stage.query("several", "SELECT item_id, rater, taxonomy_version, code, is_current FROM labels",
                study="several")  # fmt: skip
    stage.run("agreement of several", "annotation", "agreement", "pilot", "--resamples", "20",
              "--version", "2.0.0", study="several")  # fmt: skip
    stage.claims("several", study="several")


def _rows(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _chosen(row: dict[str, str]) -> list[Any]:
    return [row["item"], row["rater"], row["code"], _codes(row["choices"]), row["new"]]


def _codes(choices: str) -> list[str]:
    """The codes among which a label is chosen; none where any code may be."""
    return [code for code in choices.split("; ") if code.isalnum()]


def _fill(sheet: Path, new: Any) -> None:
    """Fills in `new`, as a person does."""
    rows = _rows(sheet)
    with sheet.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, rows[0])
        lines.writeheader()
        lines.writerows({**row, "new": new(row)} for row in rows)
