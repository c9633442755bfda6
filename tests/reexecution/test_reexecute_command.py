"""`analysis reexecute` from bugs to an estimate, as a user sees it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import sandboxed
from bug_making import make_bug

from faultatlas.analysis.reexecution import calling, collecting
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.sampler import Job
from faultatlas.analysis.reexecution.session import Session
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.report.old.console import Output

sys.path.append(str(Path(__file__).parent))
import pool_tasks

Command = Callable[..., CompletedProcess[str]]
CRASH, WORKS = "raise ValueError('shape')", "print('done')"
WAIT_S = 60


@pytest.fixture(autouse=True)
def needed(monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxed.needs("bubblewrap")
    monkeypatch.setattr(
        "faultatlas.report.publish.write_result", lambda _result, folder, **_: folder / "page"
    )
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def bugs(tmp_path: Path) -> Path:
    """A folder with a bug for each of four verdicts."""
    home = tmp_path / "somewhere"
    make_bug(home / "fixed-well", buggy=CRASH, fixed=WORKS, claims={"verdict": "flaky"})
    make_bug(home / "fixed-not", buggy=CRASH, fixed=CRASH)
    make_bug(home / "never-happens", buggy=WORKS, fixed=WORKS)
    make_bug(home / "no-fix", buggy=CRASH, fixed=None)
    return home


def documented(ended: CompletedProcess[str]) -> dict[str, Any]:
    found = json.loads(ended.stdout)
    assert isinstance(found, dict)
    return found


def verdicts(ended: CompletedProcess[str]) -> dict[str, tuple[str, str]]:
    found = documented(ended)["bugs"]
    return {each["bug_id"].partition("/")[2]: (each["verdict"], each["reason"]) for each in found}


EXPECTED = {
    "fixed-not": ("invalid", "artifact defect"),
    "fixed-well": ("verified", ""),
    "never-happens": ("not reproduced", "not triggered"),
    "no-fix": ("reproduced", "fix not shown"),
}


def test_from_an_import_to_an_estimate(
    bugs: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = command("analysis", "reexecute", "--import", bugs, "--study", "s")
    assert imported.returncode == 0, imported.stderr
    assert "imported 4 bugs" in imported.stderr
    assert not (tmp_path / "s" / "reexecution").exists()  # nothing was run unasked

    first = command("analysis", "reexecute", "--study", "s", "--json")
    assert first.returncode == 0, first.stderr
    assert verdicts(first) == EXPECTED
    found = documented(first)
    assert {each["runs_made_now"] for each in found["bugs"]} == {6, 3}
    assert (found["left"], found["is_whole"]) == ([], True)
    assert all(each["low"] <= each["value"] <= each["high"] for each in found["claims"][:2])
    assert [each["claimed"] for each in found["bugs"] if "well" in each["bug_id"]] == ["flaky"]

    again = command("analysis", "reexecute", "--study", "s")
    assert again.returncode == 0, again.stderr
    assert "4 bugs of made" in again.stdout
    assert "95 %" in again.stdout  # the estimate has its interval
    assert "Report:" in again.stdout

    # Without a sandbox, an interpreter or uv: judging needs none of them.
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("faultatlas.analysis.reexecution.sandbox.choosing.offer", None)
    judged = command("analysis", "reexecute", "--study", "s", "--judge-again", "--json")
    assert judged.returncode == 0, judged.stderr
    assert verdicts(judged) == EXPECTED
    assert {each["runs_made_now"] for each in documented(judged)["bugs"]} == {0}

    with Study(tmp_path / "s").reading() as reader:
        assert reader.value("SELECT count(*) FROM executions") == 21
        ended = reader.rows("SELECT outcome FROM runs")
        assert {row["outcome"] for row in ended} == {"ok"}
        assert reader.value("SELECT count(*) FROM results") == 3


def estimates(folder: Path) -> list[str]:
    with Study(folder).reading() as reader:
        return [row["result"] for row in reader.rows("SELECT DISTINCT result FROM results")]


def test_to_judge_again_renews_the_estimate_that_there_is(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    drawn = command("analysis", "reexecute", "--sample", "2", "--json")
    assert drawn.returncode == 0, drawn.stderr
    before = estimates(tmp_path)
    assert len(before) == 1
    judged = command("analysis", "reexecute", "--judge-again", "--json")
    assert judged.returncode == 0, judged.stderr
    assert documented(judged)["estimate"]["sample"] == documented(drawn)["sample"]["sample"]
    assert estimates(tmp_path) == before
    chosen = documented(drawn)["sample"]["bug_ids"][0]
    judged = command("analysis", "reexecute", "--judge-again", chosen, "--json")
    assert documented(judged)["estimate"]["sample"] == documented(drawn)["sample"]["sample"]
    assert estimates(tmp_path) == before

    # Bugs that are picked by hand say nothing about their set; all of a sample do about it.
    one = command("analysis", "reexecute", "fixed-well")
    assert one.returncode == 0, one.stderr
    assert "no rate was estimated. Next: analysis reexecute --sample N" in " ".join(
        one.stdout.split()
    )
    assert "made/fixed-well (verified, claimed flaky)" in " ".join(one.stdout.split())
    assert estimates(tmp_path) == before
    named = documented(drawn)["sample"]["bug_ids"]
    both = command("analysis", "reexecute", *named, "--json")
    assert documented(both)["estimate"]["sample"] == documented(drawn)["sample"]["sample"]
    assert estimates(tmp_path) == before
    every = command("analysis", "reexecute", "made/*", "-v")
    assert "the author says flaky" in every.stdout
    assert sorted(estimates(tmp_path)) == sorted([*before, "reproducibility-set-made"])


def test_swapped_sides_turn_the_verdict(bugs: Path, command: Command, tmp_path: Path) -> None:
    command("analysis", "reexecute", "--import", bugs, "fixed-well")
    folder = tmp_path / "bugs" / "made" / "fixed-well"
    (folder / "buggy").rename(folder / "other")
    (folder / "fixed").rename(folder / "buggy")
    (folder / "other").rename(folder / "fixed")
    swapped = command("analysis", "reexecute", "fixed-well", "--json")
    assert swapped.returncode == 0, swapped.stderr
    assert verdicts(swapped) == {"fixed-well": ("not reproduced", "reversed")}


def test_a_study_without_bugs_takes_the_shipped_ones(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    make_bug(shipped / "one", bug_id="shipped/one", buggy=CRASH, fixed=WORKS)
    make_bug(shipped / "two", bug_id="shipped/two", buggy=CRASH, fixed=WORKS)
    monkeypatch.setattr(collecting, "_SHIPPED", shipped)
    listed = command("analysis", "reexecute", "--list")
    assert "2 bugs of shipped" in listed.stdout
    assert [line.split() for line in listed.stdout.splitlines() if line.startswith("one ")] == [
        ["one", "crash"]
    ]
    ended = command("analysis", "reexecute", "--sample", "1", "--seeds", "3", "--json")
    assert ended.returncode == 0, ended.stderr
    assert "took the 2 that come with the program" in ended.stderr
    assert "1 of 2 bugs of shipped" in ended.stderr
    assert len(documented(ended)["bugs"]) == 1
    assert (tmp_path / "bugs" / "shipped" / "two" / "bug.toml").is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--workers", "2", "--cluster", "tcp://h:1"), "--cluster and --workers do not go"),
        (("crash", "--sample", "3"), "--sample and naming bugs do not go"),
        (("--stratify", "framework"), "--stratify says nothing without --sample"),
        (("--seed", "3"), "--seed says nothing without --sample"),
        (("--as", "defect4ml"), "--as says nothing without --import"),
        (("--judge-again", "--seeds", "5"), "--judge-again and --seeds do not go"),
        (("--judge-again", "--import", "x"), "--judge-again and --import do not go"),
        (("--judge-again", "--sample", "3"), "--judge-again and --sample do not go"),
        (("--validate", "--budget", "1h"), "--validate and --budget do not go"),
        (("--list", "--sample", "3"), "--list and --sample do not go"),
        (("--seeds", "0"), "--seeds 0 is no number"),
        (("--seeds", "2"), "Give one from 3 to 50. Fewer than 3 runs of each side decide nothing"),
        (("--workers", "-1"), "--workers -1 is no number"),
        (("--budget", "soon"), "'soon' is not a duration"),
        (("--cache-gb", "0"), "--cache-gb 0 is no number of gigabytes"),
        (("--judge-again", "--cache-gb", "9"), "--judge-again and --cache-gb do not go"),
        (("--sample", "0"), "--sample 0 is no number of bugs"),
        (("--isolation", "none"), "without isolation"),
        (("--judge-again",), "no runs of these bugs are stored"),
    ],
)
def test_contradictions_are_refused(
    words: tuple[str, ...], told: str, command: Command, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make_bug(tmp_path / "bugs" / "made" / "crash", buggy=CRASH, fixed=WORKS)
    monkeypatch.setattr(collecting, "_SHIPPED", tmp_path / "bugs")
    ended = command("analysis", "reexecute", *words)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert told in ended.stderr
    assert not (tmp_path / "reexecution").exists()


def test_nothing_to_judge_again_in_a_mistyped_study(command: Command, tmp_path: Path) -> None:
    ended = command("analysis", "reexecute", "--judge-again", "--study", tmp_path / "nope")
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: there is no study in {tmp_path / 'nope'}\n")
    assert not (tmp_path / "nope").exists()


def test_a_sample_of_none_leaves_nothing_behind(command: Command, tmp_path: Path) -> None:
    assert command("analysis", "reexecute", "--sample", "0").returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_of_a_bug(bugs: Path, command: Command) -> None:
    ended = command("analysis", "reexecute", "--validate", bugs / "no-fix" / "bug.toml")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "bug.toml is a file" in ended.stderr


def test_all_problems_are_listed(bugs: Path, command: Command, tmp_path: Path) -> None:
    good = command("analysis", "reexecute", "--validate", bugs / "fixed-well")
    assert good.returncode == 0, good.stdout
    assert "1 bug: 0 errors" in good.stdout
    (bugs / "no-fix" / "bug.toml").write_text("[bug]\nid = 3\n")
    shutil.rmtree(bugs / "fixed-well" / "buggy")
    bad = command("analysis", "reexecute", "--validate", bugs)
    assert bad.returncode == 1
    assert "no-fix:" in bad.stdout
    assert "fixed-well:" in bad.stdout
    assert "error: bug.toml" in bad.stdout
    found = documented(command("analysis", "reexecute", "--validate", bugs, "--json"))
    assert found["errors"] >= 2
    assert len(found["bugs"]) == 4
    nowhere = command("analysis", "reexecute", "--validate", tmp_path / "nowhere")
    assert nowhere.returncode == 1
    assert "there is no folder" in nowhere.stderr


def test_an_import_goes_on_past_broken_bugs_and_says_what_changed(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    (bugs / "no-fix" / "bug.toml").write_text("[bug\n")
    (bugs / "never-happens" / "buggy" / "secret").symlink_to("/etc/passwd")
    first = command("analysis", "reexecute", "--import", bugs, "--json")
    assert first.returncode == 1
    found = documented(first)
    assert found["new"] == ["made/fixed-not", "made/fixed-well", "made/never-happens"]
    assert (len(found["problems"]), len(found["notes"])) == (1, 1)
    assert "no-fix" in found["problems"][0]
    assert "secret was left out" in found["notes"][0]
    assert "no-fix" in first.stderr
    kept = tmp_path / "bugs" / "made" / "never-happens" / "buggy"
    assert sorted(each.name for each in kept.iterdir()) == ["main.py"]

    shutil.rmtree(bugs / "no-fix")
    (bugs / "never-happens" / "buggy" / "secret").unlink()
    (bugs / "fixed-well" / "buggy" / "main.py").write_text("raise KeyError(1)")
    second = command("analysis", "reexecute", "--import", bugs)
    assert second.returncode == 0, second.stderr
    assert "1 changed, 2 as before" in second.stderr
    assert "made/fixed-well" in second.stderr
    changed = tmp_path / "bugs" / "made" / "fixed-well" / "buggy" / "main.py"
    assert changed.read_text() == "raise KeyError(1)"
    assert not list((tmp_path / "bugs").glob(".importing*"))
    for words, told in (
        (("--import", bugs, "--as", "what"), "there is no importer what"),
        (("--import", tmp_path / "nowhere"), "is no folder"),
        (
            ("--import", tmp_path / "bugs" / "made" / "fixed-not" / "buggy"),
            "no importer recognises",
        ),
    ):
        refused = command("analysis", "reexecute", *words)
        assert refused.returncode == 1
        assert told in refused.stderr


def test_a_bug_whose_files_leave_their_side_keeps_no_other_out(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    (bugs / "never-happens" / "buggy" / "other").symlink_to("../fixed/main.py")
    found = documented(command("analysis", "reexecute", "--import", bugs, "--json"))
    assert found["new"] == ["made/fixed-not", "made/fixed-well", "made/no-fix"]
    assert found["problems"] == [
        "made/never-happens: buggy 'other' is a link that leaves the folder"
    ]
    shutil.copytree(bugs / "never-happens", tmp_path / "bugs/made/never-happens", symlinks=True)
    listed = command("analysis", "reexecute", "--list")
    assert listed.returncode == 0, listed.stderr
    assert "fixed-well" in listed.stdout


def test_bugs_are_named_with_patterns(bugs: Path, command: Command) -> None:
    command("analysis", "reexecute", "--import", bugs)
    some = command("analysis", "reexecute", "made/no*", "--json")
    assert set(verdicts(some)) == {"no-fix"}
    listed = documented(command("analysis", "reexecute", "--list", "--json"))["bugs"]
    assert {each["bug"]: each["verdict"] for each in listed}["made/no-fix"] == "reproduced"
    unknown = command("analysis", "reexecute", "fixed-wel")
    assert unknown.returncode == 1
    assert "Did you mean fixed-well or fixed-not? `" in unknown.stderr  # each bug once
    part = command("analysis", "reexecute", "well")
    assert "Did you mean fixed-well? `" in part.stderr
    whole = command("analysis", "reexecute", "made/fixed-wel")
    assert "Did you mean made/fixed-well or " in whole.stderr
    other = command("analysis", "reexecute", "--set", "other")
    assert "the study has no set 'other'" in other.stderr


def test_what_the_host_still_lacks_is_not_tried_again(command: Command, tmp_path: Path) -> None:
    home = tmp_path / "bugs" / "made"
    make_bug(
        home / "needs", buggy=CRASH, fixed=WORKS, requirements=["a-package-of-nobody>=1"],
        environment={"python": "host"},
    )  # fmt: skip
    for made in (1, 0):
        ended = command("analysis", "reexecute", "--json")
        assert ended.returncode == 0, ended.stderr
        assert [each["runs_made_now"] for each in documented(ended)["bugs"]] == [made]
        assert verdicts(ended) == {"needs": ("infrastructure", "interpreter")}


def test_a_bug_that_cannot_be_read_is_left_and_told(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    shutil.rmtree(tmp_path / "bugs" / "made" / "no-fix")
    (tmp_path / "bugs" / "made" / "fixed-not" / "bug.toml").write_text("[bug")
    ended = command("analysis", "reexecute", "no-fix", "never*", "fixed-not", "--json")
    assert ended.returncode == 1
    assert {each["bug_id"] for each in documented(ended)["left"]} == {
        "made/no-fix",
        "made/fixed-not",
    }
    assert "2 bugs of 3 not judged" in ended.stderr
    assert set(verdicts(ended)) == {"never-happens"}


def test_a_bug_whose_files_are_spoilt_meanwhile_stops_no_other(
    bugs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("analysis", "reexecute", "--import", bugs)

    def spoilt(bug: Bug) -> str:
        if bug.bug_id == "made/fixed-well":
            raise StudyError("its files leave the folder", "Bring them in.")
        return content_hash(bug)

    for module in ("session", "calling"):
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(f"faultatlas.analysis.reexecution.{module}.content_hash", spoilt)
            for words in ((), ("--judge-again",)):
                ended = command("analysis", "reexecute", "fixed-well", "no-fix", "--json", *words)
                assert ended.returncode == 1
                assert set(verdicts(ended)) == {"no-fix"}
                (left,) = documented(ended)["left"]
                assert left["bug_id"] == "made/fixed-well"
                assert "leave the folder" in left["why"]


def test_what_lies_in_the_wrong_place_or_cannot_be_read_is_named(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    home = tmp_path / "bugs" / "made"
    shutil.copytree(home / "fixed-well", home / "copied")
    (home / "broken").mkdir()
    (home / "broken" / "bug.toml").write_text("[bug")
    (home / "no-fix" / "bug.toml").write_text("[bug")
    (home / "fixed-not" / "bug.toml").unlink()
    listed = command("analysis", "reexecute", "--list")
    assert listed.returncode == 0, listed.stderr
    assert "made/copied: its bug.toml says that it is made/fixed-well" in listed.stderr
    assert "made/broken: bug.toml: is no TOML" in listed.stderr
    assert "2 bugs cannot be run as they are now" in listed.stderr
    assert "made/no-fix: bug.toml: is no TOML" in listed.stderr
    assert "made/fixed-not: the bug.toml in" in listed.stderr
    wrong = command("analysis", "reexecute", "--validate")
    assert wrong.returncode == 1
    told = " ".join(wrong.stdout.split())
    assert "is made/fixed-well, and the folder lies in made/copied" in told
    assert "made/broken:" in wrong.stdout
    assert "warning:" not in wrong.stdout  # they bury errors
    assert "-v shows the warnings" in wrong.stdout
    named = command("analysis", "reexecute", "--validate", "bugs/made/copied", "-v")
    assert "the folder lies in made/copied" in " ".join(named.stdout.split())
    assert "warning: bug.toml: [labels] fault" in named.stdout
    ended = command("analysis", "reexecute", "--budget", "0s")
    assert "made/copied: its bug.toml says" in ended.stderr
    for name in ("broken", "made/broken"):
        ended = command("analysis", "reexecute", name)
        assert "error: made/broken is not taken: bug.toml: is no TOML" in ended.stderr
        assert "made/broken" in command("analysis", "reexecute", "--validate", name).stdout
    ended = command("analysis", "reexecute", "no-fix", "fixed-not")
    assert ended.returncode == 1
    assert "goes on from there" not in ended.stderr  # it would not
    assert "Mend what cannot be read" in ended.stderr


def test_a_bug_that_is_not_taken_makes_it_no_success(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs / "no-fix")
    assert command("analysis", "reexecute").returncode == 0
    (tmp_path / "bugs" / "made" / "broken").mkdir()
    (tmp_path / "bugs" / "made" / "broken" / "bug.toml").write_text("[bug")
    ended = command("analysis", "reexecute")
    assert ended.returncode == 1
    assert "made/broken: bug.toml: is no TOML" in ended.stderr


def test_what_cannot_be_run_is_refused_before_a_sample_is_drawn(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        ended = command("analysis", "reexecute", "--sample", "2", "--cluster", address)
    assert ended.returncode == 1
    assert "cannot be reached" in ended.stderr
    with Study(tmp_path).reading() as reader:
        assert reader.value("SELECT count(*) FROM bug_samples") == 0


def test_the_bugs_of_another_study_are_imported_as_they_are(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--study", "far/away/one", "--import", bugs)
    ended = command("analysis", "reexecute", "--study", "two", "--import", "far/away/one")
    assert ended.returncode == 0, ended.stderr
    assert "imported 4 bugs as bugs" in ended.stderr
    assert (tmp_path / "two" / "bugs" / "made" / "no-fix" / "bug.toml").is_file()
    # Deeper down they are not found, and never taken for pairs of scripts.
    ended = command("analysis", "reexecute", "--study", "three", "--import", "far")
    assert ended.returncode == 1
    assert "no importer recognises" in ended.stderr


def test_names_are_looked_at_before_a_study_is_made(command: Command, tmp_path: Path) -> None:
    for words in (("nosuch",), ("--set", "nosuch")):
        ended = command("analysis", "reexecute", *words)
        assert ended.returncode == 1
        assert "nosuch" in ended.stderr
    assert not list(tmp_path.glob("bugs"))
    assert not list(tmp_path.glob("*.duckdb"))


def test_after_an_invalid_verdict_the_log_is_named(bugs: Path, command: Command) -> None:
    command("analysis", "reexecute", "--import", bugs)
    ended = command("analysis", "reexecute", "fixed-not")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    (folder,) = [each.split(": ")[1] for each in lines if each.startswith("- made/fixed-not: ")]
    assert "ValueError: shape" in (Path(folder) / "buggy-1-1" / "stderr").read_text()
    assert "--validate` says what is wrong with files of made/fixed-not" in " ".join(
        ended.stdout.split()
    )
    assert "6 new runs, 0 kept from before." in ended.stdout
    again = command("analysis", "reexecute", "fixed-not")
    assert "0 new runs, 6 kept from before." in again.stdout


def test_judging_again_names_bugs_that_were_changed_since(
    bugs: Path, command: Command, tmp_path: Path
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    assert command("analysis", "reexecute", "n*").returncode == 0
    (tmp_path / "bugs" / "made" / "no-fix" / "buggy" / "main.py").write_text("raise KeyError")
    ended = command("analysis", "reexecute", "--judge-again", "--json")
    assert ended.returncode == 1
    assert set(verdicts(ended)) == {"never-happens"}  # of what never ran nothing is said
    (left,) = documented(ended)["left"]
    assert left["bug_id"] == "made/no-fix"
    assert "changed since it was run" in left["why"]
    assert "goes on from there" not in ended.stderr  # it would run nothing
    assert "Run made/no-fix: analysis reexecute." in ended.stderr
    # Runs on a processor are none on a GPU.
    other = command("analysis", "reexecute", "--judge-again", "--device", "cuda")
    assert other.returncode == 1
    assert "no runs of these bugs are stored" in other.stderr


def test_the_room_for_environments_reaches_the_workers(tmp_path: Path) -> None:
    asked = calling._asked(calling.Call(cache_gb=50), None)  # noqa: SLF001
    study = Study(tmp_path)
    bug = read(make_bug(tmp_path / "bug", buggy="1", fixed="2"))
    session = Session(study, asked, Output(), provenance.begin("reexecute", {}))
    assert session._task(Job(bug, "0" * 16), "buggy", 1, 1).budget_mb == 50_000  # noqa: SLF001


def test_after_the_budget_it_is_said_what_is_left(bugs: Path, command: Command) -> None:
    command("analysis", "reexecute", "--import", bugs)
    ended = command("analysis", "reexecute", "--budget", "0s")
    assert ended.returncode == 1
    assert "4 bugs of 4 not judged" in ended.stderr
    assert "made/fixed-well: the budget is used up, 6 runs left" in ended.stderr
    assert "goes on from there" in ended.stderr
    whole = command("analysis", "reexecute", "no-fix", "--budget", "1h")
    assert whole.returncode == 0, whole.stderr


def test_a_full_disk_is_told_and_a_rerun_completes(
    bugs: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("analysis", "reexecute", "--import", bugs)
    with monkeypatch.context() as full:
        full.setattr("faultatlas.analysis.reexecution.executing.execute", pool_tasks.until_full)
        full.setenv(pool_tasks.ROOM, "7")
        ended = command("analysis", "reexecute", "--workers", "1", "fixed-*")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no room left to write" in ended.stderr
    assert "1 of 2 bugs are judged" in ended.stderr
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("run.json")}
    assert len(before) == 7
    again = command("analysis", "reexecute", "fixed-*", "--json")
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert set(verdicts(again)) == {"fixed-well", "fixed-not"}


def test_an_interrupt_ends_what_runs_and_keeps_what_had_ended(
    command: Command, tmp_path: Path
) -> None:
    home = tmp_path / "bugs" / "made"
    make_bug(home / "a-quick", buggy=CRASH, fixed=WORKS)
    slow = "import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(600)"
    words = {"commands": [["python", "main.py", str(tmp_path)]]}
    make_bug(home / "b-slow", buggy=slow, fixed=slow, run={"buggy": words, "fixed": words})
    listed = command("analysis", "reexecute", "--list")
    assert listed.returncode == 0
    program = Path(sys.executable).with_name("analysis")
    line = [program, "reexecute", "--workers", "1", "--study", tmp_path]
    with subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"STUDY": ""}) as process:  # fmt: skip
        end = time.monotonic() + WAIT_S
        while not list(tmp_path.rglob("workspace/started")):
            assert time.monotonic() < end
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (130, "")
    assert "1 of 2 bugs are judged; finished runs are kept" in errors
    assert errors.endswith("interrupted; what was stored is complete\n")
    assert "Traceback" not in errors
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _names(path, tmp_path)]
    assert left == []
    assert len(list((tmp_path / "reexecution").rglob("run.json"))) == 6
    assert not list((tmp_path / "reexecution").rglob("workspace"))
    with Study(tmp_path).reading() as reader:
        assert reader.value("SELECT verdict FROM verdicts") == "verified"
        assert reader.value("SELECT outcome FROM runs ORDER BY started_at DESC") == "interrupted"


def _names(path: Path, folder: Path) -> bool:
    try:
        return os.fsencode(folder) in path.read_bytes()
    except OSError:
        return False


def test_ids_are_listed_unbroken_and_with_what_the_oracle_looks_for(
    command: Command, tmp_path: Path
) -> None:
    home = tmp_path / "bugs" / "tensorflow-program-bugs"
    for number in range(2):
        name = f"stackoverflow-apim-1{number}"
        make_bug(home / name, bug_id=f"{home.name}/{name}", buggy=CRASH, fixed=None)
    listed = command("analysis", "reexecute", "--list")
    assert "\nstackoverflow-apim-11 " in listed.stdout
    assert "2 bugs of tensorflow-program-bugs" in listed.stdout
    assert "crash" in listed.stdout
    make_bug(tmp_path / "bugs" / "made" / "x", buggy=CRASH, fixed=None)
    listed = command("analysis", "reexecute", "--list")
    assert "\nstackoverflow-apim-11 " in listed.stdout
    assert "1 bug of made" in listed.stdout
    assert max(map(len, listed.stdout.splitlines())) <= 80


def test_long_names_fit_a_terminal_of_80_columns(command: Command, tmp_path: Path) -> None:
    home = tmp_path / "bugs" / "made"
    name = "a-name-" + "as-long-as-a-title-of-a-question-" * 2 + "is"
    make_bug(home / name, buggy=CRASH, fixed=None)
    make_bug(home / "x", buggy=CRASH, fixed=None)
    ended = command("analysis", "reexecute")
    assert ended.returncode == 0, ended.stderr
    assert max(len(line) for line in ended.stdout.splitlines() if "Report:" not in line) <= 80
    assert name in "".join(line.split(" ")[0] for line in ended.stdout.splitlines())
