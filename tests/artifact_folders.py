"""Folders of bugs as people and sets have them, written for tests of artifacts and importers."""

from __future__ import annotations

from pathlib import Path

BUG = """\
[bug]
id = "own/axis-1"
title = "The mean is taken over the wrong axis"
url = "https://example.org/issues/1"
source = "own"
[labels]
symptom = "crash"
fault = "1.1.L2"
taxonomy = "humbatova"
property = "correctness"
framework = "numpy"
[run.buggy]
commands = [["python", "train.py"]]
[run.fixed]
commands = [["python", "train.py"]]
[oracle]
symptom = "crash"
"""


def written(folder: Path, files: dict[str, str]) -> Path:
    """The folder with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def artifact(folder: Path, more: str = "", *, toml: str = BUG, **files: str) -> Path:
    """A whole artifact; `more` stands at the end of its `bug.toml`."""
    sides = {"buggy/train.py": "raise ValueError(1)\n", "fixed/train.py": "print(1)\n"}
    return written(folder, {"bug.toml": toml + more, **sides, **files})


def conf(**said: str) -> str:
    """A `conf.ini` as the set has them."""
    values = {
        "python": "3.6",
        "source": "github",
        "framework": "keras",
        "url": "https://example.org/project/commit/abc1234",
        "property": "Correctness",
        "bug_type": "Wrong loss function calculation",
        "root_cause": "Wrong loss function calculation",
        "symptom": "Crash",
        "description": "Nothing but a test.",
        **said,
    }
    entry = values.pop("entry_point", "pytest")
    lines = "\n".join(f"{key} = {value}" for key, value in values.items())
    return f"[DEFAULT]\n{lines}\n\n[RUN]\nentry_point = {entry}\n"


def suite(command: str, check: str, *, fixed_runs: str = "fixed") -> str:
    """A `test_suite.py`; `{side}` in command and check is the side."""
    runs = "".join(
        f"def run_{side}():\n    os.system({command.format(side=side)!r})\n\n"
        for side in ("buggy", "fixed")
    )
    called = {"buggy": "buggy", "fixed": fixed_runs}
    tests = "".join(
        f"def test_{side}():\n{check.format(side=side, called=called[side])}\n\n" for side in called
    )
    return f"import json\nimport os\nimport pytest\n\n{runs}{tests}"


RAISES = "    with pytest.raises(Exception):\n        run_{called}()"
ACCURACY = """\
    run_{called}()
    file = open(file="{side}/result.json", mode='r')
    result = json.load(file)
    accuracy = result.get('accuracy')
    assert accuracy >= 0.8"""
SCRIPT = """\
import json
accuracy = 0.5
file = open(file="{side}/result.json", mode="w")
json.dump({{"accuracy": accuracy}}, file)
"""


def defect4ml(folder: Path, **bugs: dict[str, str]) -> Path:
    """A set in the form of defect4ML; names of bugs begin with `b`, which is taken away."""
    for name, files in bugs.items():
        plain = {
            "conf.ini": conf(),
            "requirements.txt": "numpy==1.19.5\n",
            "test_suite.py": suite("python {side}/script.py", RAISES),
            "buggy/script.py": "raise ValueError(1)\n",
            "fixed/script.py": "print(1)\n",
        }
        written(
            folder / "bugs" / name.removeprefix("b"),
            {path: text for path, text in {**plain, **files}.items() if text != "-"},
        )
    return folder
