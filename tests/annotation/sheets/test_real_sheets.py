"""The sheets of the real studies, as they are: what they hold, and what agreement they give."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from faultatlas.annotation.ratings import Ratings, ratings_of
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import Done, import_sheets
from faultatlas.data.study import Study

ITEM = "https://github.com/{User/Project}/issues/{Bug/Issue ID}"
ARTIFACTS = {1: 29, 2: 110, 3: 134, 4: 126, 5: 345, 6: 315}
CONFLICTS = {1: 3, 2: 11, 3: 8, 4: 11, 5: 31, 6: 47}


def ratings(study: Study, name: str) -> Ratings:
    with study.reading() as reader:
        return ratings_of(reader, find_round(reader, name))


def codes(found: Ratings) -> list[list[str]]:
    """Items by raters; everybody said one thing of everything."""
    return [
        [next(iter(found.given[item, rater])) for rater in found.raters] for item in found.items
    ]


@pytest.mark.parametrize(("name", "artifacts"), [("pytorch", 1000), ("mindspore", 998)])
def test_six_raters_of_high_priority_defects(
    name: str, artifacts: int, tmp_path: Path, study_fixtures: Path
) -> None:
    study = Study(tmp_path)
    asked = Asked(item="URL", rater_columns=("volunteer_*",), final="Final_label")
    file = str(study_fixtures / "hp_defects" / f"{name}.csv")
    done = import_sheets(study, name, [file], asked, taxonomy_name="hp-defects")
    assert (done.document["items"], done.document["artifacts"]) == (1000, artifacts)
    assert done.document["answers"] == {"new": 6000, "changed": 0, "known": 0}
    assert len(done.document["repeated_artifacts"]) == 1000 - artifacts
    found = ratings(study, name)
    assert found.raters == tuple(f"volunteer_{number}" for number in range(1, 7))
    facts = json.loads((study_fixtures / "facts" / "agreement_hp.json").read_text())[name]
    table, _categories = aggregate_raters(np.array(codes(found)))
    assert fleiss_kappa(table) == pytest.approx(facts["fleiss"], abs=1e-12)


def import_round(study: Study, folder: Path, number: int) -> Done:
    asked = Asked(
        item="Link", pairs="Evaluator*/Tag*", conflict="Conflict*", stratum="EntityType",
        final="final tag",
    )  # fmt: skip
    file = folder / "dl_faults" / "Analysed_Artifacts" / f"round_{number}.xlsx"
    return import_sheets(
        study, f"r{number}", [str(file)], asked, taxonomy_name="screening", otherwise="fault",
        accept=True,
    )  # fmt: skip


def first_two(study: Study, number: int) -> list[list[str | None]]:
    """The first two labels of each row, in the order of the sheet's pairs."""
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT item_id, list(code ORDER BY CAST(split_part(origin, ' rater ', 2) AS INT)) "
            "AS codes FROM labels WHERE round = ? GROUP BY item_id",
            [f"r{number}"],
        )
    return [[*row["codes"], None][:2] for row in rows]


def alpha(rows: list[list[str | None]]) -> float:
    known = sorted({code for row in rows for code in row if code})
    values = [[known.index(code) if code else np.nan for code in row] for row in rows]
    return float(krippendorff.alpha(np.array(values, float).T, level_of_measurement="nominal"))


def test_the_rounds_of_the_fault_taxonomy(tmp_path: Path, study_fixtures: Path) -> None:
    study = Study(tmp_path)
    done = {number: import_round(study, study_fixtures, number).document for number in ARTIFACTS}
    assert {number: each["artifacts"] for number, each in done.items()} == ARTIFACTS
    assert {number: each["conflicts_in_sheets"] for number, each in done.items()} == CONFLICTS
    # Round 2 has no column Tag2; elsewhere some evaluators are named without a tag.
    assert "round_2.xlsx: there is no column for the codes of 'Evaluator2'" in done[2]["notes"]
    assert "round_2.xlsx: 110 raters are named without a code: not stored" in done[2]["notes"]

    facts = json.loads((study_fixtures / "facts" / "agreement_humbatova.json").read_text())
    measured = {number: first_two(study, number) for number in (1, 3, 4, 5, 6)}
    assert {number: round(alpha(rows), 4) for number, rows in measured.items()} == {
        number: facts[str(number)]["alpha4_first2"] for number in measured
    }
    together = [row for rows in measured.values() for row in rows]
    assert round(alpha(together), 4) == facts["all but 2"]["alpha4_first2"] == 0.5574

    with study.reading() as reader:
        settled = reader.rows("SELECT code, count(*) AS n FROM final_labels GROUP BY code")
        # The words of the raters are kept: as codes that they propose, or beside the code.
        proposed = reader.value(
            "SELECT proposed FROM labels WHERE origin = 'round_1.xlsx row 2 rater 1'"
        )
        commented = reader.value("SELECT comment FROM labels WHERE comment LIKE 'generic (miss%'")
        [run] = reader.rows("SELECT arguments FROM runs WHERE arguments LIKE '%round_4.xlsx%'")
    finals = {row["code"]: row["n"] for row in settled}
    expected = facts["final_classes"]
    assert finals == {
        "false-positive": expected["FP"], "generic": expected["GEN"], "fault": expected["FAULT"],
        "unclear": expected["UNC"],
    }  # fmt: skip
    assert done[6]["left_out"] == expected["NONE"]
    assert proposed.startswith("wrong number of indices")
    assert commented
    assert json.loads(run["arguments"])["spellings"]["codes"] == [["gen", "generic"]]

    again = import_round(study, study_fixtures, 5).document
    assert again["answers"] == {"new": 0, "changed": 0, "known": 821}
    assert (again["stored"], again["known"]) == (0, 345)


def denchmark(study: Study, folder: Path, taxonomy: str, *words: str, code: str = "") -> Done:
    asked = Asked(
        item=ITEM, fill_down=("User/Project",), skip_nameless=True, code=code, codes_from=words
    )
    files = [
        f"rater{number}={folder / 'bug_localization' / f'denchmark_rater{number}.xlsx'}"
        for number in (1, 2)
    ]
    return import_sheets(study, taxonomy, files, asked, taxonomy_name=taxonomy)


def kappa(study: Study, name: str) -> float:
    found = ratings(study, name)
    assert (len(found.items), found.raters) == (385, ("rater1", "rater2"))
    one, two = zip(*codes(found), strict=True)
    return round(float(cohen_kappa_score(one, two)), 4)


def test_two_raters_of_denchmark(tmp_path: Path, study_fixtures: Path) -> None:
    study = Study(tmp_path)
    either = denchmark(
        study, study_fixtures, "dl-or-not", "DL Bugs=Yes:dl", "DL Bugs=No:non-deep learning"
    ).document
    assert either["answers"]["new"] == 770
    # The last row of each sheet says "End"; in the second somebody filled in labels.
    assert either["nameless"] == ["denchmark_rater2.xlsx row 387"]
    assert either["repeated_artifacts"] == ["github:apache/incubator-mxnet#11077"]
    assert (either["items"], either["artifacts"]) == (385, 384)
    types = denchmark(study, study_fixtures, "dl-bugs", "DL Bugs=No:ndl", code="DL Bug Type")
    *others, note = types.document["notes"]
    assert others == [
        "denchmark_rater1.xlsx: 250 cells of 'DL Bugs ' stand for no code: 'yes' (250)",
        "denchmark_rater2.xlsx: 239 cells of 'DL Bugs ' stand for no code: 'yes' (239)",
    ]
    assert note.startswith("denchmark_rater2.xlsx: 15 rows with contradictions")
    assert note.endswith("26, 34, 96, 108, 150, 196, 218, 248, 259, 262, 281, 331, 336, 337, 347")
    denchmark(
        study, study_fixtures, "extrinsic",
        "extrinsic bug=yes:extrinsic", "Intrinsic Bug=Yes:intrinsic",
    )  # fmt: skip
    assert kappa(study, "dl-or-not") == 0.8936
    assert kappa(study, "dl-bugs") == 0.9346
    assert kappa(study, "extrinsic") == 0.8973
    said = Counter(code for row in codes(ratings(study, "extrinsic")) for code in row)
    assert said == {"extrinsic": 154 + 155, "intrinsic": 231 + 230}
