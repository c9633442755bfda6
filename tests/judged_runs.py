"""Bugs and runs as judging is given them, made up; nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.bugs import (
    Bug,
    Commands,
    EnvironmentSpec,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.judging import judge
from faultatlas.analysis.reexecution.runs import Device, Evidence, Outcome, Run
from faultatlas.analysis.reexecution.verdicts import Judgement

BUG = "made/one"


def bug(symptom: Symptom = Symptom.CRASH, *, sides: str = "buggy fixed", **oracle: Any) -> Bug:
    """A bug with this oracle; both sides start train.py. `labels` and `limits` may be given."""
    labels, limits = oracle.pop("labels", Labels()), oracle.pop("limits", Limits())
    commands = Commands((("python", "train.py"),))
    return Bug(
        bug_id=BUG,
        folder=Path("made"),
        title="made up",
        url="",
        source="own",
        labels=labels,
        environment=EnvironmentSpec(),
        data=(),
        runs=dict.fromkeys(sides.split(), commands),
        clean=(),
        outputs=(),
        oracle=Oracle(symptom, **oracle),
        limits=limits,
        fidelity=(),
        own_oracle={},
    )


def ran(side: str, seed: int, stdout: str = "", stderr: str = "", **fields: Any) -> Evidence:
    """A run that ended well, unless `fields` of the run say otherwise."""
    outputs, checked = fields.pop("outputs", {}), fields.pop("check_wrote", "")
    given: dict[str, Any] = {
        "outcome": Outcome.EXITED,
        "exit_code": 0,
        "duration_s": 1.0,
        "cpu_s": 1.0,
        "output_bytes": len(stdout) + len(stderr),
        "attempt": 1,
        "content": "c0ffee",
    }
    if fields.pop("on_gpu", False):
        given["device"] = Device("cuda")
    run = Run(BUG, side=side, seed=seed, **{**given, **fields})
    return Evidence(run, stdout, stderr, outputs, checked)


def traceback(
    error: str = "ValueError: shapes (3,4) and (5,6) not aligned",
    *,
    function: str = "fit",
    file: str = "/bug/train.py",
    line: int = 12,
) -> str:
    """The end of a log, with a frame of a library as the innermost."""
    return (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line {line + 20}, in <module>\n'
        f"    {function}(x)\n"
        f'  File "{file}", line {line}, in {function}\n'
        "    return np.dot(x, w)\n"
        "           ^^^^^^^^^^^^\n"
        '  File "/env/lib/python3.12/site-packages/numpy/core.py", line 741, in dot\n'
        "    return multiarray(a, b)\n"
        f"{error}\n"
    )


def crashed(side: str, seed: int, error: str = "", **fields: Any) -> Evidence:
    """A run that ended with a traceback; `function` is where it stood."""
    places = {name: fields.pop(name) for name in ("function", "file", "line") if name in fields}
    text = traceback(error, **places) if error else traceback(**places)
    return ran(side, seed, "epoch 1\n", text, **{"exit_code": 1, **fields})


def cut(side: str, seed: int, stdout: str = "", **fields: Any) -> Evidence:
    """A run that was cut at its limit of time."""
    given = {"outcome": Outcome.TIMED_OUT, "exit_code": None, "signal": 9, "duration_s": 600.0}
    return ran(side, seed, stdout, **{**given, **fields})


def good(side: str, seed: int, stdout: str = "loss: 0.25\n", **fields: Any) -> Evidence:
    """A run that did its work."""
    return ran(side, seed, stdout, **fields)


def swapped(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The same with buggy as fixed and fixed as buggy."""
    other = {"buggy": "fixed", "fixed": "buggy"}
    return [replace(each, run=replace(each.run, side=other[each.run.side])) for each in evidence]


def told(judgement: Judgement) -> tuple[str, str]:
    """Verdict and reason as words."""
    return str(judgement.verdict), str(judgement.reason)


def verdict(of: Bug, evidence: Sequence[Evidence], seeds: int = 3) -> tuple[str, str, int]:
    """Verdict, reason and how many runs a side are wanted."""
    found = judge(of, evidence, seeds)
    return (*told(found), found.wanted)
