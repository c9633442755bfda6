"""What `analysis reexecute` prints of verdicts and of bugs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from bug_making import make_bug
from executed import content_of, made_bug, made_run, new_study
from typer.models import OptionInfo

from faultatlas.analysis.reexecution import collecting
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sampler import Done, Job
from faultatlas.analysis.reexecution.showing import Shown, show, show_bugs
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.analysis.studies import reexecute
from faultatlas.data import provenance
from faultatlas.report.old.console import Output


def done(bug: Bug, verdict: Verdict, reason: Reason | None = None, **of: Any) -> Done:
    runs = of.pop("runs", (made_run(bug), made_run(bug, side="fixed")))
    judgement = Judgement(verdict, reason or Reason(""), "what was seen")
    return Done(Job(bug, content_of(bug)), judgement, runs, **of)


def printed(capsys: pytest.CaptureFixture[str], ended: list[Done], **flags: bool) -> str:
    run = provenance.begin("analysis reexecute", {})
    show(Output(**flags), Shown(run, None, ended, {}, None, is_whole=True))
    return capsys.readouterr().out


def test_one_order_whichever_run_ended_first(capsys: pytest.CaptureFixture[str]) -> None:
    bugs = [made_bug(f"set/{name}") for name in ("c", "a", "b")]
    out = printed(capsys, [done(bug, Verdict.VERIFIED) for bug in bugs])
    rows = [line[0] for line in out.splitlines() if line.endswith(" 2 ")]
    assert rows == ["a", "b", "c"]


def test_a_run_that_never_started_is_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    bug = made_bug("set/gpu", labels={"about_gpu": True})
    idle = made_run(bug, outcome=Outcome.NO_INTERPRETER)
    out = printed(capsys, [done(bug, Verdict.INFRASTRUCTURE, Reason.DEVICE, runs=(idle,), fresh=1)])
    (row,) = [line for line in out.splitlines() if line.startswith("gpu ")]
    assert row.split() == ["gpu", "infrastructure", "device", "0"]
    assert "1 new run, 0 kept from before; 1 did not start." in out


def test_validation_is_named_where_it_has_something_to_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make_bug(tmp_path / "good", bug_id="set/good", buggy="x = 1\n", fixed="x = 2\n")
    make_bug(tmp_path / "bad", bug_id="set/bad", buggy="x = 1\n", fixed="x = 1\n")
    bugs = [read(tmp_path / name) for name in ("good", "bad")]
    out = printed(capsys, [done(bug, Verdict.INVALID, Reason.ARTIFACT_DEFECT) for bug in bugs])
    assert "--validate` says what is wrong with files of set/bad." in " ".join(out.split())
    assert "--validate" not in printed(
        capsys, [done(bugs[0], Verdict.INVALID, Reason.ARTIFACT_DEFECT)]
    )


def test_a_list_has_a_line_for_each_bug_and_says_what_has_no_room(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_bugs(Output(), new_study(tmp_path / "study"), [])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    there = {folder.name for folder in collecting.shipped()}
    assert {line.split()[0] for line in lines[6:-1]} == there
    assert lines[4].split() == ["Bug", "Oracle", "Claimed"]
    assert lines[-1] == "Not shown: Framework, Symptom."
    assert len(lines) == 7 + len(there)


def test_a_full_list_has_everything_and_breaks_no_word(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_bugs(Output(verbose=True), new_study(tmp_path / "study"), [])
    out = capsys.readouterr().out
    assert "  Claimed: verified; Framework: numpy; Symptom: incorrect-functionality" in out
    assert "Not shown" not in out


def test_help_names_every_importer() -> None:
    (told,) = [
        each.help
        for each in get_args(get_type_hints(reexecute.command, include_extras=True)["importer"])
        if isinstance(each, OptionInfo)
    ]
    assert told is not None
    assert all(name in told for name in collecting.importer_names())
