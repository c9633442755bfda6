"""Agreement of the real sheets, from import to report: what papers say, and what they do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Command = Callable[..., CompletedProcess[str]]

ITEM = "https://github.com/{User/Project}/issues/{Bug/Issue ID}"


def succeed(command: Command, *words: object) -> dict[str, Any]:
    done = command("annotation", *words, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document | document.get("data", {})


@pytest.mark.parametrize(("name", "printed"), [("pytorch", "0.777"), ("mindspore", "0.817")])
def test_six_raters_of_a_thousand_defects_agree_as_the_paper_says(
    name: str, printed: str, command: Command, study_fixtures: Path
) -> None:
    facts = json.loads((study_fixtures / "facts" / "agreement_hp.json").read_text())[name]
    Path("study.toml").write_text('[agreement]\nstatistic = "fleiss"\n', encoding="utf-8")
    sheet = study_fixtures / "hp_defects" / f"{name}.csv"
    succeed(
        command, "import", name, sheet, "--item", "URL", "--rater-columns", "volunteer_*",
        "--taxonomy", "hp-defects",
    )  # fmt: skip
    found = succeed(command, "agreement", name, "--printed", printed)["rounds"][name]
    statistics = found["statistics"]
    for key, fact in (
        ("fleiss", "fleiss"), ("krippendorff", "krippendorff"), ("gwet", "gwet_ac1"),
        ("pairwise", "cohen_mean"), ("percent", "P_bar"),
    ):  # fmt: skip
        assert statistics[key]["value"] == pytest.approx(facts[fact], abs=1e-9)
        ends = facts.get(f"{fact}_ci95", [])
        bootstrap = [statistics[key]["bootstrap"][end] for end in ("low", "high")]
        assert not ends or bootstrap == pytest.approx(ends, abs=0.003)
    assert found["main"] == "fleiss"
    assert f"{statistics['fleiss']['value']:.3f}" == printed
    assert found["printed"][0]["status"] == "reproduced"
    assert {code: each["value"] for code, each in found["category"].items()} == pytest.approx(
        facts["per_category"]
    )
    assert found["level"]["1"]["value"] == pytest.approx(facts["fleiss_major"], abs=1e-9)
    pairs = [each["value"] for each in found["pair"].values()]
    assert (min(pairs), max(pairs)) == pytest.approx((facts["cohen_min"], facts["cohen_max"]))
    # Nobody can know whether study.toml said so before these labels were given.
    assert not found["fixed_beforehand"]
    assert {"imported", "after-the-fact"} <= {each["kind"] for each in found["cautions"]}


def test_the_first_two_raters_of_the_fault_taxonomy(command: Command, study_fixtures: Path) -> None:
    facts = json.loads((study_fixtures / "facts" / "agreement_humbatova.json").read_text())
    folder = study_fixtures / "dl_faults" / "Analysed_Artifacts"
    names = ["r1", "r3", "r4", "r5", "r6"]  # round 2 lacks the tags of the second rater
    for name in names:
        succeed(
            command, "import", name, folder / f"round_{name[1]}.xlsx", "--item", "Link",
            "--pairs", "Evaluator*/Tag*", "--taxonomy", "screening", "--otherwise", "fault",
            "--accept-spellings",
        )  # fmt: skip
    document = succeed(command, "agreement", *names, "--first", 2)
    for name in names:
        value = document["rounds"][name]["statistics"]["krippendorff"]["value"]
        assert round(value, 4) == facts[name[1]]["alpha4_first2"]
    together = document["together"]["screening"]["statistics"]["krippendorff"]
    assert round(together["value"], 4) == facts["all but 2"]["alpha4_first2"]
    bootstrap = [together["bootstrap"][end] for end in ("low", "high")]
    assert bootstrap == pytest.approx(facts["all but 2"]["alpha4_first2_ci95"], abs=0.006)
    assert [point["round"] for point in document["trend"]] == names


@pytest.mark.usefixtures("drawn")
def test_the_report_says_where_a_paper_prints_something_else(
    command: Command, study_fixtures: Path
) -> None:
    folder = study_fixtures / "bug_localization"
    sheets = [f"rater{at}={folder / f'denchmark_rater{at}.xlsx'}" for at in (1, 2)]
    same = ("--item", ITEM, "--fill-down", "User/Project", "--skip-nameless")
    succeed(
        command, "import", "types", *sheets, *same, "--code", "DL Bug Type", "--codes-from",
        "DL Bugs=No:ndl", "--taxonomy", "dl-bugs",
    )  # fmt: skip
    succeed(
        command, "import", "extrinsic", *sheets, *same, "--codes-from",
        "extrinsic bug=yes:extrinsic", "--codes-from", "Intrinsic Bug=Yes:intrinsic",
        "--taxonomy", "extrinsic",
    )  # fmt: skip
    document = succeed(
        command, "agreement", "types", "extrinsic", "--statistic", "cohen",
        "--printed", "types:0.80", "--printed", "extrinsic:0.87",
    )  # fmt: skip
    compared = {
        name: (each["printed"], round(each["computed"], 4), each["status"])
        for name, found in document["rounds"].items()
        for each in found["printed"]
    }
    assert compared == {
        "types": ("0.80", 0.9346, "not reproduced"),
        "extrinsic": ("0.87", 0.8973, "not reproduced"),
    }
    page = Path(document["report"]).read_text(encoding="utf-8")
    assert "types: Cohen&#39;s kappa printed 0.80, computed 0.935: not reproduced." in page
    assert "outside our interval" in page
