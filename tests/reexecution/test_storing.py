"""Bugs, runs and verdicts as rows of the study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executed import content_of, judged, made_bug, made_run, made_runs, new_study, put
from settled import put_final

from faultatlas.analysis.reexecution.bugs import EnvironmentSpec, Oracle, Symptom
from faultatlas.analysis.reexecution.runs import Device, Isolation, Outcome
from faultatlas.analysis.reexecution.storing import bug_folder, register, registered, store
from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget, plan_forget

ISSUE = "https://github.com/Example/Lib/issues/7"
ARTIFACT = "github:example/lib#7"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path / "study")


def rows(study: Study, query: str) -> list[dict[str, Any]]:
    with study.reading() as reader:
        return reader.rows(query)


def values(study: Study, query: str) -> list[Any]:
    return [next(iter(row.values())) for row in rows(study, query)]


def everything(study: Study) -> dict[str, list[dict[str, Any]]]:
    names = ("bug", "bug_draw", "bug_sample", "execution", "verdict", "run")
    return {name: rows(study, f"SELECT * FROM store.{name} ORDER BY ALL") for name in names}


# Bugs


def test_a_bug_is_registered_with_what_it_is_about(study: Study) -> None:
    bug = made_bug("set/a", "keras", url=ISSUE, own_oracle={"suite": "test_suite.py"})
    found = register(study, [bug, made_bug("set/b", url="no address")], content_of=content_of)
    assert (found.new, found.changed, found.unchanged) == (("set/a", "set/b"), (), 0)
    first, second = rows(study, "SELECT * FROM bugs ORDER BY bug_id")
    assert (first["artifact_id"], second["artifact_id"]) == (ARTIFACT, None)
    assert (first["set_name"], first["framework"], first["sides"]) == (
        "set",
        "keras",
        ["buggy", "fixed"],
    )
    assert first["own_oracle"] == '{"suite": "test_suite.py"}'
    assert [each.bug_id for each in registered(study)] == ["set/a", "set/b"]
    assert registered(study, ["other"]) == []


def test_registering_the_same_again_writes_nothing(study: Study) -> None:
    register(study, [made_bug("set/a")], content_of=content_of)
    before = everything(study)
    assert register(study, [made_bug("set/a")], content_of=content_of).unchanged == 1
    assert everything(study) == before


def test_a_changed_bug_keeps_the_old_verdict_with_the_old_content(study: Study) -> None:
    bug = made_bug("set/a")
    put(study, [(bug, "verified")])
    changed = replace(bug, environment=EnvironmentSpec("3.6"))
    assert register(study, [changed], content_of=content_of).changed == ("set/a",)
    assert rows(study, "SELECT * FROM verdicts") == []
    (old,) = rows(study, "SELECT content, is_current, verdict FROM verdict_history")
    assert old == {"content": content_of(bug), "is_current": False, "verdict": "verified"}
    store(study, [], [judged(changed, "invalid", "interpreter")])
    assert values(study, "SELECT verdict FROM verdicts") == ["invalid"]
    register(study, [bug], content_of=content_of)
    assert values(study, "SELECT verdict FROM verdicts") == ["verified"]


def test_a_changed_oracle_is_told_and_is_no_other_content(study: Study) -> None:
    bug = made_bug("set/a")
    put(study, [(bug, "verified")])
    assert values(study, "SELECT oracle_is_current FROM verdicts") == [True]
    other = replace(bug, oracle=Oracle(Symptom.CRASH, exception="ValueError"))
    register(study, [other], content_of=content_of)
    assert values(study, "SELECT oracle_is_current FROM verdicts") == [False]
    store(study, [], [judged(other)])
    assert values(study, "SELECT oracle_is_current FROM verdicts") == [True]


def test_where_the_study_lies_is_not_stored(tmp_path: Path) -> None:
    study = new_study(tmp_path / "my study, 2nd")
    bug = made_bug("set/a", title=f"fails in {study.directory}/reexecution/a b/x.py")
    run = replace(made_run(bug), problem=f"in {study.directory}/reexecution: no such file")
    store(study, [run], [judged(bug)])
    assert values(study, "SELECT title FROM bugs") == ["fails in <path>/a b/x.py"]
    assert values(study, "SELECT problem FROM executions") == [
        "in <path>/reexecution: no such file"
    ]


@pytest.mark.parametrize(
    ("name", "copied", "where"),
    [
        ("set/a", "set/a", "study"),
        ("set/a", "set/b", "study"),
        ("shipped/a", "shipped/a", "study"),
        ("shipped/a", "shipped/b", "program"),
    ],
)
def test_files_are_looked_for_in_the_study_then_with_the_program(
    study: Study, name: str, copied: str, where: str
) -> None:
    (study.directory / "bugs" / copied).mkdir(parents=True)
    found = bug_folder(study, name)
    assert (found == study.directory / "bugs" / name) == (where == "study")
    if where == "program":
        assert found.parts[-3:] == ("reexecution", "shipped", "a")


def test_labels_of_the_study_come_first(study: Study) -> None:
    labels = {"fault": "1.1", "taxonomy": "humbatova", "property": "correctness"}
    bugs = [made_bug("set/a", url=ISSUE, labels=labels), made_bug("set/b", labels=labels)]
    register(study, bugs, content_of=content_of)
    with study.writing() as writer:
        put_final(writer, ARTIFACT, "hang", taxonomy="symptoms", round_name="one")
        put_final(writer, ARTIFACT, "4.2", taxonomy="humbatova", round_name="two")
        put_final(writer, ARTIFACT, "~unclear", taxonomy="testing-properties", round_name="three")
    columns = "symptom, symptom_from, fault, fault_from, property, property_from"
    first, second = (tuple(row.values()) for row in rows(study, f"SELECT {columns} FROM bugs"))
    assert first == ("hang", "study", "4.2", "study", "correctness", "bug.toml")
    assert second == ("crash", "bug.toml", "1.1", "bug.toml", "correctness", "bug.toml")


def test_what_is_hostile_is_stored_clean(study: Study) -> None:
    bug = made_bug(
        "set/a",
        title="\x1b[2J @octocat broke \ud800 /home/ann/x.py",
        environment=EnvironmentSpec(requirements=("--find-links /home/ann/wheels/x", "numpy==1")),
        own_oracle={"x": float("nan"), "place": "/home/ann/secret/y"},
    )
    register(study, [bug], content_of=content_of)
    run = made_run(bug, problem="no\n/root/.cache/env/python", versions={"a": "/root/x/y"})
    said = judged(bug, detail="ann@example.org\tat /root/x/y/z.py", evidence={"p": float("inf")})
    store(study, [run], [said])
    kept = repr(everything(study))
    for secret in ("ann", "octocat", "/root", "\\x1b", "ud800"):
        assert secret not in kept


# Runs and verdicts


def test_runs_and_verdicts_are_stored_once(study: Study) -> None:
    bug = made_bug("set/a", url=ISSUE)
    stored = store(study, made_runs(bug), [judged(bug)])
    assert (stored.executions, stored.verdicts) == (6, 1)
    before = everything(study)
    again = store(study, made_runs(bug), [judged(bug)])
    assert (again.executions, again.verdicts) == (0, 0)
    assert everything(study) == before
    more = store(study, [*made_runs(bug), made_run(bug, seed=4)], [judged(bug)])
    assert (more.executions, more.verdicts) == (1, 0)


def test_an_execution_says_what_the_run_said(study: Study) -> None:
    bug = made_bug("set/a", url=ISSUE)
    run = made_run(
        bug,
        "fixed",
        7,
        outcome=Outcome.TIMED_OUT,
        exit_code=None,
        signal=9,
        device=Device("cuda", "A100", "GPU-1234", 40_000, 812, 31.5),
        isolation=Isolation("namespaces", network=True),
        repairs=("pin",),
        fidelity=("repaired", "declared"),
    )
    store(study, [run], [judged(bug, device="cuda")])
    (row,) = rows(study, "SELECT * FROM executions")
    wanted = {
        "bug_id": "set/a", "artifact_id": ARTIFACT, "side": "fixed", "seed": 7, "attempt": 1,
        "device": "cuda", "environment": "env-1", "isolation": "namespaces",
        "outcome": "timed out", "duration_s": 0.5, "exit_code": None, "signal": 9,
        "has_network": True, "device_peak_mb": 812, "fidelity": ["declared", "repaired"],
    }  # fmt: skip
    assert {name: row[name] for name in wanted} == wanted
    assert str(row["started_at"]) == "2026-01-02 03:04:07"
    assert "GPU-1234" not in repr(row)
    (verdict,) = rows(study, "SELECT * FROM verdicts")
    assert (verdict["fidelity"], verdict["isolations"], verdict["run_count"]) == (
        ["declared", "repaired"],
        ["namespaces"],
        1,
    )


def test_another_verdict_is_another_row_and_the_newest_holds(study: Study) -> None:
    bug = made_bug("set/a")
    for verdict, reason in (("flaky", "disagreement"), ("verified", ""), ("flaky", "disagreement")):
        assert store(study, [], [judged(bug, verdict, reason)]).verdicts == 1
        assert values(study, "SELECT verdict FROM verdicts") == [verdict]
    assert values(study, "SELECT number FROM verdict_history ORDER BY number") == [1, 2, 3]


def test_the_newest_holds_also_within_one_run_of_the_program(study: Study) -> None:
    from faultatlas.data import provenance

    run = provenance.begin("analysis reexecute", {})
    bug = made_bug("set/a")
    for shown in range(5):
        store(study, [], [judged(bug, buggy_shown=shown)], run=run, outcome="running")
        assert values(study, "SELECT buggy_shown FROM verdicts") == [shown]


@pytest.mark.parametrize("order", [("cpu", "cuda"), ("cuda", "cpu")])
def test_what_one_device_could_not_run_another_may_have(
    study: Study, order: tuple[str, str]
) -> None:
    bug = made_bug("set/a")
    said = {
        "cpu": judged(bug, "infrastructure", "device"),
        "cuda": judged(bug, "verified", device="cuda"),
    }
    for device in order:
        store(study, [], [said[device]])
    assert values(study, "SELECT verdict FROM verdicts") == ["verified"]


def test_what_is_claimed_stands_beside_ours(study: Study) -> None:
    bug = made_bug("set/a", claimed_verdict="verified", own_oracle={"raises": "ValueError"})
    put(study, [(bug, "not reproduced")])
    (row,) = rows(study, "SELECT verdict, claimed_verdict, own_oracle FROM verdicts")
    assert row == {
        "verdict": "not reproduced",
        "claimed_verdict": "verified",
        "own_oracle": '{"raises": "ValueError"}',
    }


# Forgetting


def test_a_forgotten_artifact_takes_its_bugs_runs_and_files_with_it(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "compact", lambda _study: None)  # no matter here, and slow
    gone, kept = made_bug("set/gone", url=ISSUE), made_bug("set/kept")
    put(study, [(gone, "verified"), (kept, "invalid")])
    folders = [
        study.directory / part / bug.bug_id
        for part in ("bugs", "reexecution")
        for bug in (gone, kept)
    ]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "x").write_text("x", encoding="utf-8")
    assert plan_forget(study, ARTIFACT).removed["execution"] == 6
    assert all(folder.exists() for folder in folders)

    removed = forget(study, ARTIFACT).removed

    assert {name: removed[name] for name in ("bug", "execution", "verdict")} == {
        "bug": 1,
        "execution": 6,
        "verdict": 1,
    }
    assert values(study, "SELECT bug_id FROM bugs") == ["set/kept"]
    assert [folder.exists() for folder in folders] == [False, True, False, True]
    assert register(study, [gone], content_of=content_of).forgotten == ("set/gone",)
    assert store(study, made_runs(gone), [judged(gone)]).executions == 0
    assert values(study, "SELECT bug_id FROM bugs") == ["set/kept"]


def test_no_folder_outside_the_study_is_removed(study: Study, tmp_path: Path) -> None:
    from faultatlas.miner.keeping.erased_bugs import remove_folders

    outside = tmp_path / "outside" / "a"
    outside.mkdir(parents=True)
    (study.directory / "bugs").mkdir(parents=True)
    (study.directory / "bugs" / "linked").symlink_to(tmp_path / "outside")
    remove_folders(study.directory, ["../../outside/a", "linked/a", "set/absent"])
    assert outside.is_dir()


def test_what_is_stored_is_not_cleaned_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call of many runs ends at once; a run that began at another time is another one."""
    from faultatlas.analysis.reexecution import storing

    bug = made_bug("set/a")
    put(study, [(bug, "verified")])
    cleaned: list[Any] = []
    whole = storing._execution_row  # noqa: SLF001
    monkeypatch.setattr(storing, "_execution_row", lambda run: (cleaned.append(run), whole(run))[1])
    assert store(study, made_runs(bug), [judged(bug)]).executions == 0
    assert cleaned == []
    later = made_run(bug, started_at="2026-01-02T03:05:00+00:00")
    lost = made_run(bug, "fixed", 4, outcome=Outcome.LOST, started_at="")
    assert store(study, [later, lost], []).executions == 2
    assert store(study, [later, lost], []).executions == 0
