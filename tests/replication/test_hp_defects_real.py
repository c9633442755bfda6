"""The public package of the high-priority defects, two of three frameworks of it."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from needed import need

from faultatlas.analysis.replication.importing import import_package
from faultatlas.analysis.replication.published import published_study
from faultatlas.analysis.studies import replicate
from faultatlas.data import evidence
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study

HP = published_study("hp-defects")
SHIPPED = {each.figure_id: each for each in evidence.published_figures()}


@pytest.fixture(scope="module")
def folder(study_fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without anything beside it: no facts that could be looked up."""
    copy = tmp_path_factory.mktemp("public") / "hp"
    return Path(shutil.copytree(study_fixtures / "hp_defects", copy))


@pytest.fixture(scope="module")
def result(folder: Path) -> Result:
    study = Study(folder.parent / "study")
    done = import_package(study, HP, folder)
    assert done.problems == []
    return replicate.run(study, "hp-defects")


@pytest.fixture(scope="module")
def figures(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.document["figures"]
    return found


def facts(study_fixtures: Path, name: str) -> Path:
    path = study_fixtures / "facts" / name
    need(path.exists(), f"{path} is missing")
    return path


def test_the_kappas_of_the_two_frameworks(figures: dict[str, Any], study_fixtures: Path) -> None:
    assert [figures[key]["status"] for key in ("K001", "K002")] == ["reproduced"] * 2
    known = json.loads(facts(study_fixtures, "agreement_hp.json").read_text())
    for key, name in (("K001", "mindspore"), ("K002", "pytorch")):
        ours = figures[key]["values"]["kappa"]
        assert ours["value"] == pytest.approx(known[name]["fleiss"], abs=1e-12)
        assert ours["interval"] == pytest.approx(known[name]["fleiss_ci95"], abs=0.003)


def test_the_subtypes_of_the_two_frameworks(result: Result, study_fixtures: Path) -> None:
    ours = {row["code"]: row for row in result.table("subtypes").records()}
    with facts(study_fixtures, "hp_defects.csv").open(encoding="utf-8") as file:
        leaves = [row for row in csv.DictReader(file) if row["is_leaf"] == "1"]
    assert len(leaves) == 21
    for row in leaves:
        for name in ("mindspore", "pytorch"):
            assert ours[row["code"]][name] == int(row[f"n_{name}"]), (row["code"], name)


def test_what_needs_the_third_framework_has_no_data(figures: dict[str, Any]) -> None:
    for number in (3, 4, *range(6, 26)):
        said = figures[f"K{number:03}"]
        assert (said["status"], said["basis"]) == ("no data", "no data")
        assert "labels/tensorflow.csv" in said["reason"]


def test_final_labels_are_a_mode_of_the_six(figures: dict[str, Any]) -> None:
    said = figures["K026"]
    assert said["values"]["share"]["value"] == 1.0 == float(SHIPPED["K026"].computed)
    assert "2,000 of 2,000 defects, 1,998 URLs, without TensorFlow" in said["reason"]


def test_the_found_defects(figures: dict[str, Any]) -> None:
    assert figures["K027"]["ours"] == SHIPPED["K027"].computed == "39 / 31 / 8"
    assert figures["K027"]["status"] == "reproduced"


def test_the_table_of_mutation_operators(figures: dict[str, Any], study_fixtures: Path) -> None:
    assert (figures["K030"]["come_out"], len(figures["K030"]["values"])) == (42, 45)
    assert (figures["K031"]["come_out"], len(figures["K031"]["values"])) == (10, 15)
    known = json.loads(facts(study_fixtures, "hp_table4.json").read_text())["rows"]
    for each in evidence.mutation_table():
        row = known[each.file]
        key = each.operator.lower()
        means = [
            value
            for name, value in figures["K030"]["values"].items()
            if name.partition(".")[0] == key
        ]
        assert [each["value"] for each in means] == pytest.approx(row["mean"])
        assert [each["status"] == "reproduced" for each in means] == row["match"]
        assert [each["printed"] for each in means] == row["paper_mean"]
        rate = figures["K031"]["values"][key]
        assert rate["value"] == pytest.approx(row["illegal_cell_pct"])
        assert (rate["status"] == "reproduced") is row["illegal_match"]


def test_backbone_and_task_head(figures: dict[str, Any]) -> None:
    assert figures["K032"]["ours"].startswith("46.7")
    assert "ssimae 64.1 % of 778" in figures["K032"]["readings"]
    assert "ssimae 64.3 % of 42" in figures["K032"]["readings"]


def test_the_rule_finds_the_statuses_that_were_found_by_hand(figures: dict[str, Any]) -> None:
    found = {key: said["status"] for key, said in figures.items() if said["status"] != "no data"}
    assert found == {key: status_by_hand(SHIPPED[key]) for key in found}
    assert set(found) == {"K001", "K002", *(f"K{number:03}" for number in range(26, 33))}


def test_a_changed_cell_changes_the_claim(folder: Path, tmp_path: Path, result: Result) -> None:
    package = Path(shutil.copytree(folder, tmp_path / "changed"))
    sheet = package / "mutation" / "LA.csv"
    sheet.write_text(sheet.read_text().replace("5.4930487", "6.4930487"))
    study = Study(tmp_path / "study")
    shutil.copytree(folder.parent / "study", study.directory)
    assert import_package(study, HP, package).changed == ("mutation/la.csv",)

    values = replicate.run(study, "hp-defects").document["figures"]["K030"]["values"]

    before = result.document["figures"]["K030"]["values"]
    changed = {key for key in before if before[key] != values[key]}
    assert changed == {"la.mindspore-pytorch"}
    assert values["la.mindspore-pytorch"]["status"] == "not reproduced"
