"""The 26 kinds of checks of `report manuscript`: right and wrong numbers, nonsense, drafts."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import compare
from golden.stage import Stage
from program import Call, Ended

LONGEST = 30_000  # the findings: a status that changes is to be seen
# What the old program called numbers that follow, or do not, from others of a paper.
_OLD_STATUSES = {
    "consistent": "reproduced", "does not follow": "not reproduced", "cannot be checked": "no data",
}  # fmt: skip
# Entries of shipped claims files that only one program has: contradictions that only the new one
# finds, and K047, the sum of search hits, which is none because searches overlap.
_OF_ONE_PROGRAM = ("table-6.", "table-22.", "table-30.", "table-1.hits")
_NONSENSE = ("3.4", "true", '"x1"', "[]", "{}", '"1e999"', "[[]]")


def run(stage: Stage) -> None:
    kinds = _entries(stage.inputs / "right.toml")
    assert len(kinds) == 26
    for name in ("right", "wrong", "verdicts"):
        _check(stage, name, stage.inputs / f"{name}.toml")
    wrong = _entries(stage.inputs / "wrong.toml")
    codes = {kind: _ended(stage, text).code for kind, text in wrong.items()}
    stage.value("wrong one by one", codes)
    _check(stage, "several", *(stage.inputs / f"{name}.toml" for name in ("right", "wrong")))
    stage.value("refused", [_refused(text, _ended(stage, text)) for text in _refused_texts(stage)])
    _nonsense(stage, kinds)
    for draft in ("paper.tex", "sentences.md", "tables.txt", "empty.md"):
        _draft(stage, draft)
    _check(stage, "shipped", "--shipped", "all")
    _check(stage, "shipped study", "--shipped", "maintenance")
    for label, words in (("no such study", ["--shipped", "x"]), ("no such file", ["x.toml"]),
                         ("a folder", [stage.inputs]), ("nothing", [])):  # fmt: skip
        stage.run(label, "report", "manuscript", *words, study=None, names="none")


def _entries(path: Path) -> dict[str, str]:
    """The text of each claim in a file, by the kind of its check."""
    texts = path.read_text(encoding="utf-8").split("\n\n")
    return {tomllib.loads(text)["claim"][0]["kind"]: text for text in texts}


def _refused_texts(stage: Stage) -> list[str]:
    return [
        *json.loads((stage.inputs / "refused.json").read_text(encoding="utf-8")),
        "a = " + "[" * 5000,
        '[[claim]]\nid = "a"\nkind = "sum"\nparts = ["1"]\nprinted = ' + "9" * 5000,
        "#" * 1_000_001,
    ]


def _nonsense(stage: Stage, kinds: dict[str, str]) -> None:
    """Each field of each kind has a value that is no number."""
    count, accepted = 0, []
    for kind, text in kinds.items():
        for field in set(re.findall(r"^(\w+) =", text, re.MULTILINE)) - {"id", "kind"}:
            for bad in _NONSENSE:
                count += 1
                changed = re.sub(rf"(?m)^{field} = .*$", f"{field} = {bad}", text)
                found = _findings(_ended(stage, changed))
                accepted += [[kind, field, bad, finding[-1]] for finding in found]
    stage.value("nonsense", count)
    stage.value("nonsense that is accepted", sorted(accepted))


def _draft(stage: Stage, name: str) -> None:
    out = stage.folder / f"{name}.toml"
    _check(stage, name, "--draft", stage.inputs / name)
    _check(stage, f"{name} written", "--draft", stage.inputs / name, "--write", out)
    if out.exists():
        stage.value(f"{name}: claims file", tomllib.loads(out.read_text(encoding="utf-8")))
        _check(stage, f"{name} read", out)
        _check(stage, f"{name} written twice", "--draft", stage.inputs / name, "--write", out)


def _ended(stage: Stage, text: str) -> Ended:
    """How the command ends for a claims file with this text."""
    path = stage.folder / "one.toml"
    path.write_text(text, encoding="utf-8")
    return stage.call(Call("report", ["manuscript", str(path), "--json"], str(stage.folder)))


def _refused(text: str, ended: Ended) -> list[Any]:
    """The exit code, the line at which TOML ends, and how many findings there are all the same.

    The old program names no line of an entry, the new one does.
    """
    code, *lines = compare.ended(ended.code, ended.err, "lines")["value"]
    return [code, *(() if _is_toml(text) else lines), len(_findings(ended))]


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _check(stage: Stage, label: str, *words: object) -> None:
    ended = stage.run(label, "report", "manuscript", *words, "--json", study=None, names="none")
    stage.value(f"{label}: findings", _findings(ended))


def _findings(ended: Ended) -> list[list[Any]]:
    """What became of each entry: the one place that knows the JSON of the command."""
    columns = ("entry_id", "figure_id", "kind", "place", "value", "status")
    if not ended.out:
        return []
    document = json.loads(ended.out)
    if "manuscripts" in document:  # the old program
        rows = [row for manuscript in document["manuscripts"] for row in manuscript["findings"]]
    else:
        rows = [
            {**row, "status": _OLD_STATUSES.get(row["status"], row["status"])}
            for row in document["tables"].get("findings", [])
        ]
    return [
        [row[column] for column in columns]
        for row in rows
        if not row["entry_id"].startswith(_OF_ONE_PROGRAM)
    ]
