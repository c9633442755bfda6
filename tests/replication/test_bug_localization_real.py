"""The public package of bug localization: two raters' sheets, results of techniques, 21 bugs."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needed import need
from openpyxl import load_workbook
from scipy.stats import chi2_contingency
from sklearn.metrics import cohen_kappa_score

from faultatlas.analysis.replication.importing import import_package
from faultatlas.analysis.replication.published import published_study
from faultatlas.analysis.studies import replicate
from faultatlas.data import evidence
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.queries import checked
from faultatlas.data.study import Study

STUDY = published_study("bug-localization")
SHEETS = ("denchmark_rater1.xlsx", "denchmark_rater2.xlsx")
RESULTS = "results_rq1_buglocator_bluir_Denchmark.csv"
DYNAMIC = "dynamic_bug_localization_analysis.xlsx"
SHIPPED = {
    each.figure_id: each for each in evidence.published_figures() if each.study == STUDY.name
}


@pytest.fixture(scope="module")
def folder(study_fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without anything beside it: no facts that could be looked up."""
    copy = tmp_path_factory.mktemp("public") / "package"
    return Path(shutil.copytree(study_fixtures / "bug_localization", copy))


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    made = Study(folder.parent / "study")
    done = import_package(made, STUDY, folder)
    assert done.problems == []
    assert len(done.files) == 6
    return made


@pytest.fixture(scope="module")
def result(study: Study) -> Result:
    return replicate.run(study, STUDY.name)


@pytest.fixture(scope="module")
def figures(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.document["figures"]
    return found


def claims(result: Result) -> dict[str, Claim]:
    """Claims by what their ids end with."""
    return {each.claim_id.removeprefix(f"{result.name}."): each for each in result.claims}


def value_of(claim: Claim) -> float:
    """Its value, which lies in its interval, if it has one."""
    assert claim.value is not None
    if claim.low is not None and claim.high is not None:
        assert claim.low < claim.value < claim.high
    return claim.value


def changed(folder: Path, tmp_path: Path, change: Callable[[Path], None], *names: str) -> Result:
    """The result of these files only, after a change."""
    package = tmp_path / "package"
    package.mkdir()
    for name in names:
        shutil.copyfile(folder / name, package / name)
    change(package)
    study = Study(tmp_path / "study")
    import_package(study, replace(STUDY, rounds=()), package)  # figures do not need the rounds
    return replicate.run(study, STUDY.name)


def set_first_mark(package: Path, word: str) -> None:
    """What the sheet says of DeepLocalize and the first bug."""
    book = load_workbook(package / DYNAMIC)
    book.worksheets[0]["E2"] = word
    book.save(package / DYNAMIC)


def test_every_figure_has_the_status_that_was_established(
    figures: dict[str, Any], tmp_path: Path
) -> None:
    """With the package and without it: the printed numbers give the same."""
    nothing = replicate.run(Study(tmp_path), STUDY.name).document["figures"]
    for key, each in SHIPPED.items():
        assert figures[key]["status"] == status_by_hand(each), key
        assert nothing[key]["status"] == status_by_hand(each), key
    assert {key for key in SHIPPED if figures[key]["basis"] == "package"} == {
        "K081", "K086", "K105", "K106", "K107",
    }  # fmt: skip


def test_the_values_are_those_of_the_facts(figures: dict[str, Any], study_fixtures: Path) -> None:
    path = study_fixtures / "facts" / "checks.json"
    need(path.exists(), f"{path} is missing")
    known = {f"K{int(each['id'][1:]):03}": each for each in json.loads(path.read_text())}
    for key in SHIPPED.keys() - {"K113"}:
        ours, theirs = (re.findall(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?", text) for text in (
            figures[key]["ours"].replace(",", ""), str(known[key]["computed"])
        ))  # fmt: skip
        for one, other in zip(ours, theirs, strict=key != "K112"):
            assert float(one) == pytest.approx(float(other), abs=0.3 if key == "K102" else 1e-9), (
                key
            )
    assert known["K113"]["computed"].partition(";")[0].split(": ")[1] in figures["K113"]["ours"]


def test_the_chi_square_of_the_two_kinds_of_systems(figures: dict[str, Any]) -> None:
    said = figures["K081"]
    expected = chi2_contingency([[154, 231], [41, 344]], correction=False).pvalue
    assert said["values"]["p"]["value"] == pytest.approx(expected, rel=1e-9)
    assert said["ours"] == "7.66e-21 (Yates 1.67e-20)"
    assert said["status"] == "not reproduced"
    assert "printed 1.79e-14" in said["reason"]


def test_the_kappas_with_intervals(result: Result, folder: Path) -> None:
    found = claims(result)
    sheets = [
        [row for row in load_workbook(folder / name).worksheets[0].values if row[3]]
        for name in SHEETS
    ]
    columns = {"dl-or-not": 6, "extrinsic": 9}
    for name, column in columns.items():
        one, two = ([str(row[column]).strip() for row in rows[1:]] for rows in sheets)
        kappa = found[f"kappa.{name}"]
        assert value_of(kappa) == pytest.approx(cohen_kappa_score(one, two), abs=1e-12)
        assert kappa.total == 385
    shown = {name: (each.printed, each.status) for name, each in found.items() if "kappa" in name}
    assert shown["kappa.types"] == (0.80, "not reproduced")
    assert shown["kappa.extrinsic"] == (0.87, "not reproduced")
    assert round(value_of(found["kappa.types"]), 4) == 0.9346


def test_the_sheet_says_why_the_table_of_extrinsic_bugs_does_not_add_up(
    result: Result, figures: dict[str, Any]
) -> None:
    """Two shares are exchanged, and one bug is spelled in another way."""
    found = claims(result)
    assert (found["rater1.extrinsic"].count, found["rater1.extrinsic"].total) == (154, 385)
    assert found["rater2.extrinsic"].count == 155
    assert (found["rater1.extrinsic.ndl"].count, found["rater1.extrinsic.ndl"].total) == (70, 135)
    assert figures["K082"]["readings"].endswith("the sheet's share of intrinsic bugs: ndl")
    assert "135 + 51 + 105 + 22 + 55 + 17 = 385" in figures["K083"]["readings"]
    assert "spelled 'Tensor', and without it 384 remain" in figures["K083"]["readings"]
    assert "the first sheet gives 250 of 385 (64.94 %)" in figures["K087"]["readings"]


def test_techniques_beside_the_table(result: Result, folder: Path) -> None:
    found = claims(result)
    with (folder / RESULTS).open() as file:
        given = list(csv.reader(file))
    rows = {name: [row for row in given if row[3] == name] for name in ("buglocator", "bluir")}
    ranks = [int(row[5]) for row in rows["buglocator"]]
    assert found["buglocator.top-5"].value == sum(rank <= 5 for rank in ranks) / 1793
    assert value_of(found["buglocator.mrr"]) == pytest.approx(
        sum(1 / rank for rank in ranks) / 1793
    )
    statuses = {
        name: each.status
        for name, each in found.items()
        if name.partition(".")[0] in {"buglocator", "bluir", "blia"}
    }
    assert statuses == {
        "buglocator.top-1": "reproduced", "buglocator.top-5": "not reproduced",
        "buglocator.top-10": "not reproduced", "buglocator.mrr": "not reproduced",
        "buglocator.map": "not reproduced", "bluir.top-1": "reproduced",
        "bluir.top-5": "reproduced", "bluir.top-10": "reproduced", "bluir.mrr": "not reproduced",
        "bluir.map": "reproduced", "blia.mrr": "not reproduced", "blia.map": "near",
    }  # fmt: skip
    mean = found["bluir.map"]
    error = np.std([float(row[7]) for row in rows["bluir"]]) / 1793**0.5
    assert mean.low == pytest.approx(value_of(mean) - 1.96 * error, abs=0.0015)
    assert mean.high == pytest.approx(value_of(mean) + 1.96 * error, abs=0.0015)
    assert (found["bjxnet.rows-that-follow"].count, found["bjxnet.rows-that-follow"].total) == (
        3585, 3585,
    )  # fmt: skip


def test_gpu_and_tensor_bugs_come_out_of_the_first_sheet(result: Result) -> None:
    found = claims(result)
    for technique in ("buglocator", "bluir", "blia"):
        for group, bugs in (("gpu", 12), ("tensor", 9)):
            claim = found[f"labelled.{group}.{technique}.map"]
            assert (claim.total, claim.status) == (bugs, "reproduced")


def test_the_rows_behind_a_claim_are_those_it_counts(result: Result, study: Study) -> None:
    found = claims(result)
    names = ("rater1.dl", "rater1.extrinsic", "rater2.extrinsic", "rater1.type.tensor", "bluir.map")
    with study.reading() as reader:
        counts = {
            name: len(reader.rows(checked(reader, name, found[name].rows_query or "")))
            for name in names
        }
    assert counts == dict(zip(names, (250, 154, 155, 22, 1793), strict=True))


def test_the_labels_are_rounds_of_the_study(study: Study) -> None:
    with study.reading() as reader:
        rows = reader.rows("SELECT round, count(*) AS labels FROM labels GROUP BY 1 ORDER BY 1")
    assert [(row["round"], row["labels"]) for row in rows] == [
        (f"bug-localization-{name}", 770) for name in ("dl-or-not", "extrinsic", "types")
    ]


def test_a_changed_label_changes_the_claims(
    folder: Path, tmp_path: Path, figures: dict[str, Any]
) -> None:
    def change(package: Path) -> None:
        path = package / SHEETS[0]
        book = load_workbook(path)
        row = next(row for row in book.worksheets[0].iter_rows(min_row=2) if row[9].value == "Yes")
        row[9].value, row[10].value = "No", "Yes"
        book.save(path)

    after = changed(folder, tmp_path, change, *SHEETS)
    said = after.document["figures"]
    assert said["K081"]["values"]["p"]["value"] > figures["K081"]["values"]["p"]["value"]
    assert "153/385" in said["K081"]["reason"]
    assert "153 of 385" in said["K084"]["readings"]
    assert claims(after)["rater1.extrinsic"].count == 153
    assert value_of(claims(after)["kappa.extrinsic"]) < 0.8972


def test_a_changed_mark_and_a_changed_rank_change_the_claims(folder: Path, tmp_path: Path) -> None:
    def change(package: Path) -> None:
        set_first_mark(package, "Yes")
        results = package / RESULTS
        text = results.read_text().replace("760,buglocator,1,4,0.25,0.25", "760,buglocator,1,1,1,1")
        results.write_text(text)

    after = changed(folder, tmp_path, change, DYNAMIC, RESULTS)
    said = after.document["figures"]["K105"]
    assert (said["ours"], said["status"]) == ("28.6 / 0.29", "not reproduced")
    found = claims(after)
    assert found["buglocator.top-1"].count == 618
    assert value_of(found["buglocator.mrr"]) == pytest.approx(0.48468607556 + 0.75 / 1793)


def test_a_broken_file_leaves_the_other_figures(folder: Path, tmp_path: Path) -> None:
    after = changed(folder, tmp_path, lambda package: set_first_mark(package, "perhaps"), DYNAMIC)
    said = after.document["figures"]
    assert said["K105"]["status"] == "no data"
    assert "row 2 says 'perhaps' of DeepLocalize" in said["K105"]["reason"]
    assert said["K106"]["status"] == "reproduced"
