"""The real package of the fault taxonomy, and the survey that was made from it.

Every figure as it was established before, from a copy of the package alone.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from needed import need
from openpyxl import load_workbook

from faultatlas.analysis.replication.importing import import_package
from faultatlas.analysis.replication.published import published_study
from faultatlas.analysis.studies import challenges, replicate
from faultatlas.data import evidence
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import Result
from faultatlas.data.queries import checked
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]
DL = published_study("dl-faults")
SHIPPED = {each.figure_id: each for each in evidence.published_figures()}


@pytest.fixture(scope="module")
def folder(study_fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without anything beside it: no facts that could be looked up."""
    copy = tmp_path_factory.mktemp("public") / "dl"
    return Path(shutil.copytree(study_fixtures / "dl_faults", copy))


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    study = Study(folder.parent / "study")
    assert import_package(study, DL, folder).problems == []
    return study


@pytest.fixture(scope="module")
def result(study: Study) -> Result:
    return replicate.run(study, "dl-faults")


def facts(study_fixtures: Path, name: str) -> Any:
    path = study_fixtures / "facts" / name
    need(path.exists(), f"{path} is missing")
    return json.loads(path.read_text())


def figures(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.document["figures"]
    return found


def test_every_figure_comes_out_as_it_was_established(result: Result) -> None:
    found = figures(result)
    assert {key: (said["ours"], said["status"]) for key, said in found.items()} == {
        key: (each.computed, status_by_hand(each))
        for key, each in SHIPPED.items()
        if each.study == "dl-faults"
    }
    assert {said["basis"] for said in found.values()} == {"package"}
    assert "5/7/7 + 0/2/1 + 0/0/0 + 0/2/0 sum to 5/11/8" in found["K043"]["reason"]
    assert "4 / 24 / 12.25; distinct leaves 3 / 16 / 8.6" in found["K045"]["readings"]


def test_the_figures_are_those_of_the_list_of_checks(
    study: Study, result: Result, study_fixtures: Path
) -> None:
    known = {f"K{int(each['id'][1:]):03}": each for each in facts(study_fixtures, "checks.json")}
    for key, said in figures(result).items():
        assert said["ours"] == known[key]["computed"], key
    survey = figures(replicate.run(study, "survey"))
    assert survey["K051"]["ours"] in known["K051"]["computed"]
    assert "47.96 / 46.94 of 98" in survey["K051"]["readings"]
    assert known["K052"]["computed"].startswith(survey["K052"]["ours"])
    assert known["K053"]["computed"].startswith("46.9 (106/226)")
    said = survey["K053"]["values"]["untargeted"]
    assert (said["count"], said["total"]) == (106, 226)


def test_the_agreement_of_the_first_two_raters(result: Result, study_fixtures: Path) -> None:
    ours = {key: said for key, said in result.document["also"].items() if key.startswith("alpha")}
    assert "alpha.round-2" not in ours  # it has no column for the second rater
    known = facts(study_fixtures, "agreement_humbatova.json")
    for number in (1, 3, 4, 5, 6):
        said, there = ours[f"alpha.round-{number}"], known[str(number)]
        assert round(said["value"], 4) == there["alpha4_first2"]
        assert said["interval"] == pytest.approx(there["alpha4_first2_ci95"], abs=0.03)


def test_the_rounds_are_ordinary_rounds(study: Study) -> None:
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT count(*) AS n FROM items WHERE round LIKE '%-round-%' GROUP BY round "
            "ORDER BY round"
        )
        raters = reader.value(
            "SELECT count(DISTINCT rater) FROM labels WHERE round = 'dl-faults-round-4'"
        )
    assert [row["n"] for row in rows] == [29, 110, 134, 126, 345, 315]
    assert raters == 6


def test_the_interviews_are_a_round_of_passages(study: Study, study_fixtures: Path) -> None:
    """Mentions and interviews of every leaf, as they were counted by hand."""
    said = challenges.run(study, "humbatova", round_name="dl-faults-interviews").document
    assert (said["interviews"], said["coded_passages"], said["themes_heard"]) == (20, 226, 51)
    path = study_fixtures / "facts" / "humbatova.csv"
    if path.exists():
        with path.open(encoding="utf-8") as file:
            known = {
                row["code"]: (int(row["n_interview_mentions"]), int(row["n_interviews_distinct"]))
                for row in csv.DictReader(file)
                if row["is_leaf"] == "1"
            }
        ours = {each["code"]: each for each in said["themes"].values()}
        assert known == {code: (ours[code]["mentions"], ours[code]["interviews"]) for code in known}


def test_the_survey_from_the_rows_of_the_taxonomy(study: Study) -> None:
    found = figures(replicate.run(study, "survey"))
    by_hand = {key: status_by_hand(each) for key, each in SHIPPED.items() if each.study == "survey"}
    # Searches overlap: the sum of their hits contradicts nothing.
    by_hand["K047"] = "reproduced"
    assert {key: said["status"] for key, said in found.items()} == by_hand
    counts = [
        (said["count"], said["total"])
        for key in ("K051", "K052", "K053")
        for said in found[key]["values"].values()
    ]
    assert counts == [(47, 97), (46, 97), (78, 149), (106, 226)]
    assert "by leaf 53.02 (79/149); GitHub only 39.62 (21/53)" in found["K052"]["readings"]


def test_the_size_that_another_paper_cites(study: Study, tmp_path: Path) -> None:
    with_rows = figures(replicate.run(study, "defect4ml"))["K068"]
    without = figures(replicate.run(Study(tmp_path / "none"), "defect4ml"))["K068"]
    assert (with_rows["ours"], with_rows["basis"]) == ("59 / 99 / 92", "package")
    assert "53 / 96" in with_rows["readings"]
    assert (without["ours"], without["basis"]) == ("53 / 96 / 92", "shipped facts")
    assert with_rows["status"] == without["status"] == "not reproduced"


def test_claims_list_the_rows_that_they_count(study: Study, result: Result) -> None:
    """What counts artifacts, leaves or mentions of one sheet has as many rows."""
    claims = (*result.claims, *replicate.run(study, "survey").claims)
    counts = {claim.claim_id.partition(".")[2]: claim for claim in claims}
    wanted = ["k033.analysed", "k038.conflicts", "k040.round-6", "k041.round-5", "k052", "k053"]
    with study.reading() as reader:
        for key in wanted:
            claim = counts[key]
            rows = reader.rows(checked(reader, claim.claim_id, claim.rows_query or ""))
            assert len(rows) == (claim.count if claim.count is not None else claim.value), key
            assert all(row["run_id"] for row in rows)


# File, sheet, cell, what is written there, and the figures that follow from it.
CELLS = (
    ("Analysed_Artifacts/round_1.xlsx", "Round 1 All", "C2", 1, {"K033"}),
    ("Analysed_Artifacts/round_1.xlsx", "Round 1 Relevant", "E2", "not known", {"K041", "K042"}),
    ("Analysed_Artifacts/stats.xlsx", "Sheet1", "E29", "5/11/8", {"K043"}),
    ("interviews/interview_open_coding.xlsx", "Sheet1", "F2", "R", {"K044", "K045"}),
    ("survey/participant_info_and_responses.xlsx", "Sheet1", "AW3", "No", {"K046"}),
)


def test_a_changed_cell_changes_its_figures_and_no_others(
    folder: Path, study: Study, result: Result, tmp_path: Path
) -> None:
    package = Path(shutil.copytree(folder, tmp_path / "changed"))
    other = Study(Path(shutil.copytree(study.directory, tmp_path / "study")))
    before = figures(result)
    for file, sheet, cell, said, changed in CELLS:
        book = load_workbook(package / file)
        book[sheet][cell].value = said
        book.save(package / file)
        done = import_package(other, replace(DL, rounds=()), package)  # the rounds keep theirs
        assert done.changed == (Path(file).name,)
        after = figures(replicate.run(other, "dl-faults"))
        assert {key for key in before if before[key] != after[key]} == changed, file
        before = after


def test_a_study_without_a_package_says_so_and_computes_what_it_can(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "anything").mkdir()
    done = command("analysis", "replicate", "maintenance", "--from", "anything")
    assert done.returncode == 0
    assert "maintenance has no public package" in done.stderr
    assert "K114" in done.stdout
