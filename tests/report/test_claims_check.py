"""`report claims check`: every number comes out again, or the claim is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from labelling import Labelled
from recomputed import recomputed
from undrawn import undrawn

from faultatlas.data import provenance
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study
from faultatlas.report.claims import check

Command = Callable[..., CompletedProcess[str]]

OWN = """
[claims.a1]
statement = "Labels that are a1"
numerator = "SELECT count(*) FROM labels WHERE code = 'a1' AND is_current"
denominator = "SELECT count(*) FROM labels WHERE is_current"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture
def labelled(made: Path, tmp_path: Path, command: Command) -> Labelled:
    """A round with its agreement, an own claim, and the shipped survey; made once and copied."""
    if any(made.iterdir()):
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
        return Labelled.at(tmp_path)
    labelled = Labelled.at(undrawn(tmp_path))
    labelled.taxonomy()
    said = {f"github:o/r#{n}": {"ann": "a1", "bob": "a1" if n < 9 else "b1"} for n in range(1, 11)}
    labelled.round("pilot", said)
    (tmp_path / "claims.toml").write_text(OWN, encoding="utf-8")
    for call in (("annotation", "agreement", "pilot", "--resamples", "0"), ("analysis", "claims"),
                 ("analysis", "coverage-gap")):  # fmt: skip
        assert command(*call, "-q").returncode == 0
    shutil.copytree(tmp_path, made, dirs_exist_ok=True)
    return labelled


@pytest.mark.usefixtures("labelled")
def test_numbers_that_come_out_are_counted(command: Command) -> None:
    done = command("report", "claims", "check")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(command("report", "claims", "check", "--json").stdout)["data"]
    assert f"All {found['claims']} numbers of 3 results match what is stored" in done.stdout
    assert found["claims"] > 10
    assert found["differences"] == found["reworded"] == []


def test_a_changed_label_fails_the_check_and_names_the_claims_until_a_new_build(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    before = (tmp_path / "study.duckdb").read_bytes()
    assert command("report", "claims", "check").returncode == 0
    assert (tmp_path / "study.duckdb").read_bytes() == before, "checking writes nothing"

    labelled.say("pilot", {"github:o/r#1": {"bob": "b1"}})
    done = command("report", "claims", "check", "--json")
    assert done.returncode == 1
    assert "agreement-pilot.percent" in done.stderr
    assert "claims.a1" in done.stderr
    assert "coverage-gap" not in done.stderr
    differences = {
        each["claim_id"]: each for each in json.loads(done.stdout)["data"]["differences"]
    }
    own = differences["claims.a1"]
    assert (own["stored"]["count"], own["now"]["count"]) == (18, 17)
    assert own["differs"] == ["count", "high", "low", "value"]
    shown = command("report", "claims", "check", "claims")
    assert "90.0 %" in shown.stdout
    assert "85.0 %" in shown.stdout

    changed = check.refresh(labelled.study).changed
    assert {result.name for result in changed} == {"agreement-pilot", "claims"}
    assert command("report", "claims", "check").returncode == 0


def test_claims_that_went_came_or_cannot_be_computed_are_differences(
    labelled: Labelled, command: Command
) -> None:
    run = provenance.begin("test", {})
    gap = recomputed(labelled.study, "coverage-gap")
    odd = Claim("coverage-gap.moon", "Faults on the moon", 4.0, "faults", "coverage-gap(): moon")
    odd_gap = Result(**{**vars(gap), "claims": (odd, *gap.claims[1:])})
    lost = Claim("weather.rain", "Days with rain", 3.0, "days", "weather(): rain")
    provenance.save(labelled.study, odd_gap, run)
    provenance.save(labelled.study, Result("weather", "weather", "W", {}, claims=(lost,)), run)
    done = command("report", "claims", "check", "--json")
    assert done.returncode == 1
    found = {each["claim_id"]: each for each in json.loads(done.stdout)["data"]["differences"]}
    assert found.keys() == {"coverage-gap.moon", gap.claims[0].claim_id, "weather.rain"}
    assert found["coverage-gap.moon"]["now"] is None
    assert found[gap.claims[0].claim_id]["stored"] is None
    assert "does not have" in found["weather.rain"]["problem"]
    shown = command("report", "claims", "check").stdout
    assert "cannot be computed" in " ".join(shown.split())
    assert command("report", "claims", "check", "agreement-pilot").returncode == 0


def test_a_number_that_was_changed_in_the_list_of_claims_alone_is_found(
    labelled: Labelled, command: Command
) -> None:
    # What is listed, exported and traced is not the result itself: the check looks at both.
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.claim SET value = 91 WHERE claim_id = 'claims.a1'")
        writer.execute("DELETE FROM store.claim WHERE claim_id = 'agreement-pilot.percent'")
    done = command("report", "claims", "check", "--json")
    found = {each["claim_id"]: each for each in json.loads(done.stdout)["data"]["differences"]}
    assert found.keys() == {"claims.a1", "agreement-pilot.percent"}
    assert (found["claims.a1"]["stored"]["value"], found["claims.a1"]["now"]["value"]) == (91, 90)
    assert found["agreement-pilot.percent"]["stored"] is None
    changed = check.refresh(labelled.study).changed
    assert {result.name for result in changed} == {"agreement-pilot", "claims"}
    assert command("report", "claims", "check").returncode == 0


def test_a_study_without_results_is_told_so(tmp_path: Path, command: Command) -> None:
    with Study(tmp_path).writing():
        pass
    done = command("report", "claims", "check")
    assert (done.returncode, "has no results yet" in done.stdout) == (0, True)


def test_other_words_are_no_difference_but_are_told(labelled: Labelled, command: Command) -> None:
    gap = recomputed(labelled.study, "coverage-gap")
    old = Result(**{**vars(gap), "title": "An older title"})
    provenance.save(labelled.study, old, provenance.begin("test", {}))
    done = command("report", "claims", "check", "coverage-gap")
    assert done.returncode == 0
    assert "other words, tables or figures: coverage-gap" in " ".join(done.stdout.split())


@pytest.mark.usefixtures("labelled")
def test_an_unknown_result_is_refused(command: Command) -> None:
    done = command("report", "claims", "check", "moon")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the study has no result 'moon'\nIt has: agreement-pilot,")
