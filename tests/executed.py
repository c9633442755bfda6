"""Bugs, runs and verdicts built directly, without a folder and without a run."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.bugs import (
    Bug,
    Commands,
    EnvironmentSpec,
    Fidelity,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.drawing import draw
from faultatlas.analysis.reexecution.runs import Device, Isolation, Outcome, Run
from faultatlas.analysis.reexecution.storing import Judged, register, store
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.data.study import Study


@cache
def _empty() -> Path:
    folder = Path(tempfile.mkdtemp()) / "study"
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    with Study(folder).writing():
        pass
    return folder


def new_study(folder: Path) -> Study:
    """A study without rows: to make one takes seven times as long as to copy it."""
    return Study(Path(shutil.copytree(_empty(), folder)))


def made_bug(bug_id: str, framework: str = "numpy", symptom: str = "crash", **other: Any) -> Bug:
    """A bug; `other` are fields of it, and `labels` further labels."""
    labels = {"framework": framework, "symptom": symptom, **other.pop("labels", {})}
    fields: dict[str, Any] = {
        "bug_id": bug_id,
        "folder": Path("/nowhere") / bug_id,
        "title": f"Bug {bug_id}",
        "url": "",
        "source": "own",
        "labels": Labels(**labels),
        "environment": EnvironmentSpec(),
        "data": (),
        "runs": {side: Commands((("python", "main.py"),)) for side in ("buggy", "fixed")},
        "clean": (),
        "outputs": (),
        "oracle": Oracle(Symptom.CRASH),
        "limits": Limits(),
        "fidelity": (Fidelity.DECLARED,),
        "own_oracle": {},
    }
    return Bug(**{**fields, **other})


def content_of(bug: Bug) -> str:
    """Stands for the hash of what is run; the same unless the environment changes."""
    return f"content of {bug.bug_id} with {bug.environment.python}"


def made_run(bug: Bug, side: str = "buggy", seed: int = 1, **other: Any) -> Run:
    """A run of it."""
    fields: dict[str, Any] = {
        "outcome": Outcome.EXITED,
        "exit_code": 1 if side == "buggy" else 0,
        "duration_s": 0.5,
        "environment": "env-1",
        "isolation": Isolation("bubblewrap", memory="cgroup v2", processes="cgroup v2"),
        "device": Device("cpu"),
        "started_at": f"2026-01-02T03:04:0{seed}+00:00",
    }
    return Run(bug.bug_id, content_of(bug), side, seed, 1, **{**fields, **other})


def made_runs(bug: Bug, **other: Any) -> list[Run]:
    """Three of each side."""
    return [made_run(bug, side, seed, **other) for side in ("buggy", "fixed") for seed in (1, 2, 3)]


def judged(bug: Bug, verdict: str = "verified", reason: str = "", **other: Any) -> Judged:
    """The verdict on it."""
    device = other.pop("device", "cpu")
    fields: dict[str, Any] = {
        "detail": f"{verdict} for a test",
        "rule": "all and none",
        "buggy_runs": 3,
        "buggy_shown": 3 if verdict in {"verified", "reproduced"} else 0,
        "fixed_runs": 3,
    }
    said = Judgement(Verdict(verdict), Reason(reason), **{**fields, **other})
    return Judged(bug, content_of(bug), said, device)


REASONS = {
    "verified": "",
    "reproduced": "fix not shown",
    "not reproduced": "not triggered",
    "flaky": "disagreement",
    "invalid": "missing dependency",
    "infrastructure": "host",
}


def executed_bugs(study: Study) -> None:
    """Some bugs of two frameworks with a verdict of each kind, and a sample of them."""
    bugs = [made_bug(f"made/{at}", "keras" if at % 2 else "numpy") for at in range(8)]
    put(study, zip(bugs, [*REASONS, "verified", None], strict=True))
    draw(study, 6, ("framework",))


def put(study: Study, verdicts: Iterable[tuple[Bug, str | None]]) -> None:
    """Bugs with their verdicts and six runs each; None for a bug that was not attempted."""
    listed = list(verdicts)
    register(study, [bug for bug, _verdict in listed], content_of=content_of)
    tried = [(bug, verdict) for bug, verdict in listed if verdict is not None]
    store(
        study,
        [run for bug, _verdict in tried for run in made_runs(bug)],
        [judged(bug, verdict, REASONS[verdict]) for bug, verdict in tried],
    )
