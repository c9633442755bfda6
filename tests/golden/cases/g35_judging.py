"""What recorded runs show and what is concluded from them: bugs that were run, judged again.

The evidence is that of the tests of judging and of oracles: a single run of an oracle test stands
three times, beside three runs of the other side that did their work.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from golden.stage import Stage

_PROGRAM = "pass\n"  # its hash is in that of a bug's content


def run(stage: Stage) -> None:
    evidence = json.loads((stage.inputs / "evidence.json").read_text(encoding="utf-8"))
    for number, judged in enumerate(evidence["judged"], 1):
        name = f"made/{number:03}"
        _put_bug(stage.folder / "artifacts" / f"{number:03}", name, evidence["bugs"][judged["bug"]])
        home = stage.study() / "reexecution" / name
        for record, side, seed, *texts in judged["runs"]:
            fields = {
                "bug_id": name, "content": judged["content"], "side": side, "seed": seed,
                **evidence["records"][record],
            }  # fmt: skip
            _put_run(home, fields, *texts, pool=evidence["texts"])
    stage.run("import", "analysis", "bugs", "import", stage.folder / "artifacts")
    ended = stage.run("judge", "analysis", "reexecute", "--judge-again", names="none")
    wanting = [line.strip(" -") for line in ended.err.splitlines() if "made/" in line]
    stage.value("wants more runs", sorted(_id(line) for line in wanting))
    stage.query("bugs", "SELECT bug_id, symptom, content FROM bugs")
    stage.views("judged", "verdicts")


def _id(line: str) -> str:
    return line[line.index("made/") :][: len("made/000")]


def _put_bug(folder: Path, name: str, description: str) -> None:
    folder.mkdir(parents=True)
    (folder / "bug.toml").write_text(description.replace("made/case", name), encoding="utf-8")
    for side in ("buggy", "fixed"):
        if f"[run.{side}]" in description:
            (folder / side).mkdir()
            (folder / side / "train.py").write_text(_PROGRAM, encoding="utf-8")


def _put_run(
    home: Path, fields: dict[str, Any], stdout: int, stderr: int, outputs: dict[str, int],
    checked: int, pool: list[str],
) -> None:  # fmt: skip
    """A run's folder, as the program leaves it."""
    device = fields.get("device", {}).get("kind", "cpu")
    attempt = fields.setdefault("attempt", 1)
    folder = home / f"{fields['content'][:16]}-{device}"
    folder = folder / f"{fields['side']}-{fields['seed']}-{attempt}"
    folder.mkdir(parents=True)
    written = {"run.json": json.dumps(fields), "stdout": pool[stdout], "stderr": pool[stderr]}
    if pool[checked]:
        written["check-stdout"] = pool[checked]
    written |= {f"outputs/{name}": pool[text] for name, text in outputs.items()}
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
