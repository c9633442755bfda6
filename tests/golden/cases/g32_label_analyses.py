"""Distribution, association, comparison, trend, methods, challenges and own claims of one study."""

from __future__ import annotations

import json
import shlex
import shutil

from golden.stage import Stage

_ROUNDS = (  # name, taxonomy, more words
    ("types", "hp-defects", ("--stratum", "how")),
    ("few", "hp-defects", ("--stratum", "how")),
    ("two", "tree", ()),
    ("found", "hp-defects", ("--stratum", "tool")),
)
_TABLES = ("*/[!c]*.csv", "*/c[!l]*.csv")  # but claims.csv


def run(stage: Stage) -> None:
    study = stage.study()
    (study / "taxonomies").mkdir()
    shutil.copy(stage.inputs / "tree.yaml", study / "taxonomies")
    shutil.copy(stage.inputs / "claims.toml", study)
    stage.run("posts", "miner", "posts", "--tag", "python", "--tag", "keras",
              "--from-dump", stage.inputs / "Posts.xml")  # fmt: skip
    stage.run("link", "miner", "link")
    for name, taxonomy, more in _ROUNDS:
        sheet = stage.inputs / f"{name}.csv"
        words = ("--item", "item", "--final", "final", "--taxonomy", taxonomy, *more)
        stage.run(f"labels {name}", "annotation", "import", name, sheet, *words)
    words = ("--item", "interview:pilot/{Interview}", "--final", "Themes", "--stratum", "Who")
    stage.run("labels talks", "annotation", "import", "talks", stage.inputs / "talks.csv", *words,
              "--taxonomy", "challenges")  # fmt: skip
    for call in (stage.inputs / "calls.txt").read_text(encoding="utf-8").splitlines():
        stage.run(call, *(word.format(inputs=stage.inputs) for word in shlex.split(call)))
    stage.claims("all")
    stage.files("all", study / "out", *_TABLES)

    shutil.copy(stage.inputs / "printed.toml", study / "claims.toml")
    stage.run("printed numbers", "analysis", "claims")
    stage.claims("printed numbers", "claims")
    refused = json.loads((stage.inputs / "refused.json").read_text(encoding="utf-8"))
    for number, text in enumerate(refused):
        (study / "claims.toml").write_text(text, encoding="utf-8")
        stage.run(f"refused {number}", "analysis", "claims")
