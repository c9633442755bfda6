"""Themes of coded interviews: mentions, interviews, groups, saturation."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interviewing import ROUND, TALKS, coded_interviews

from faultatlas.analysis.observations import Observation, Observations
from faultatlas.analysis.studies import challenges
from faultatlas.analysis.tallies.themes import Themes
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.queries import checked
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    found = Study(tmp_path_factory.mktemp("interviews") / "study")
    coded_interviews(found)
    return found


@pytest.fixture(scope="module")
def result(study: Study) -> Result:
    return challenges.run(study, group="stratum")


def test_mentions_are_passages_and_shares_are_of_interviews(result: Result) -> None:
    said = result.document["themes"]
    # Twice in one interview: two mentions; the interview without a theme is one of seven.
    assert (said["F1"]["mentions"], said["F1"]["interviews"], said["F1"]["of"]) == (3, 2, 7)
    assert said["F1"]["passages"] == [
        "interview:pilot/1~2", "interview:pilot/1~3", "interview:pilot/3",
    ]  # fmt: skip
    # A passage with two themes of a group is one mention of the group.
    assert (said["F"]["mentions"], said["F"]["interviews"]) == (4, 3)
    assert (said["D"]["mentions"], said["D"]["interviews"]) == (5, 5)
    assert said["D3"]["interval"][1] == pytest.approx(35.43, abs=0.01)  # Wilson, 0 of 7
    assert result.document["themes_heard"] == 9


def test_groups_of_participants_side_by_side(result: Result) -> None:
    groups = result.document["groups"]
    assert (groups["Academic"]["C1"]["interviews"], groups["Academic"]["C1"]["of"]) == (3, 3)
    assert (groups["Developer"]["C1"]["interviews"], groups["Developer"]["C1"]["of"]) == (0, 4)
    [row] = [row for row in result.table("groups").records() if row["code"] == "C1"]
    assert row["p"] == pytest.approx(1 / 35)  # Fisher: one table of the 35
    assert row["v"] == pytest.approx(1)


def test_showing_fewer_themes_changes_no_number(study: Study, result: Result) -> None:
    few = challenges.run(study, group="stratum", top=2).table("groups").records()
    assert len(few) == 2
    assert all(row in result.table("groups").records() for row in few)


def test_a_group_may_be_called_as_the_total_is(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    talks = [(number, who.replace("Academic", "All"), said) for number, who, said in TALKS]
    coded_interviews(study, talks)
    groups = challenges.run(study, group="stratum").document["groups"]
    assert (groups["All"]["C1"]["interviews"], groups["All"]["C1"]["of"]) == (3, 3)


def test_saturation_and_what_stands_together(result: Result) -> None:
    assert result.document["saturation"]["new"] == [3, 2, 1, 2, 1, 0, 0]
    assert result.document["saturation"]["once"] == 5
    assert "interview 5 of 7" in result.summary[1]
    [pair] = result.document["together"]
    assert (pair["codes"], pair["both"]) == (["D2", "F1"], 2)
    assert pair["percent"] == pytest.approx(200 / 3)


def test_claims_list_passages_by_their_ids_and_come_out_again(study: Study, result: Result) -> None:
    claims = {claim.claim_id.partition(".")[2]: claim for claim in result.claims}
    with study.reading() as reader:
        for key, rows in (("F1.mentions", 3), ("F.interviews", 5), ("groups.Developer.D2", 2)):
            found = reader.rows(checked(reader, key, claims[key].rows_query or ""))
            assert len(found) == rows, key
            assert {"artifact_id", "item_id", "run_id"} <= found[0].keys()
    assert challenges.again(study, json.loads(json.dumps(result.parameters))) == result
    assert challenges.run(study).name == "challenges"


def test_an_interview_has_one_group(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    coded_interviews(study, (*TALKS[:2], ("1", "Academic", ("D1",))))
    with pytest.raises(StudyError, match="interview:pilot/1 is in two groups"):
        challenges.run(study, group="stratum")


def test_without_groups_or_labels_it_says_what_to_do(study: Study) -> None:
    with pytest.raises(StudyError, match="no interview has a value of year") as caught:
        challenges.run(study, group="year")
    assert "--stratum" in caught.value.hint
    with pytest.raises(StudyError, match="no final labels of maintenance-themes"):
        challenges.run(study, "maintenance-themes")


CODES = ("D1", "D2", "F1", "C3")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(CODES))))
def test_the_order_of_interviews_changes_no_count(said: list[tuple[str, str]]) -> None:
    """Counts are the plain ones, and the curve ends where all themes are."""
    rows = tuple(
        Observation(name, ROUND, f"{name}~{at}", code, ()) for at, (name, code) in enumerate(said)
    )
    tree = TaxonomyLibrary(as_shipped=True).taxonomy("challenges")
    seen = Observations("challenges", tree.version, "", None, tree, (), rows, (ROUND,), {})
    counts = Counter(code for _name, code in said)
    for order in ("abcd", "dcba"):
        heard = Themes(seen, tuple(order), len(rows), {})
        for code in CODES:
            assert heard.mentions(code) == counts[code]
            assert heard.share(code).count == len({name for name, each in said if each == code})
        assert heard.share("D").count <= heard.share("D1").count + heard.share("D2").count
        assert heard.saturation[-1].known == len(counts)
        assert sum(len(each.new) for each in heard.saturation) == len(counts)
