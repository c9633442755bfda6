"""Which types tools find: duplicates folded, shares of what people reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settled import put_final

from faultatlas.analysis.detection.folding import Folding
from faultatlas.analysis.studies import methods
from faultatlas.data.errors import StudyError
from faultatlas.data.queries import checked
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]
PLACE = "https://github.com/pytorch/pytorch/issues/"
# LEMON and COMET report 1 both; 3 is a duplicate of 2, and 4 of something that 2 is one of, too.
FOUND = [(1, "LEMON", "C1"), (1, "COMET", "C1"), (2, "COMET", "F2"), (3, "LEMON", "F2"),
         (4, "COMET", "F2"), (5, "COMET", "G4")]  # fmt: skip
KNOWN = ["C1"] * 5 + ["F2"] * 3 + ["A1"] * 2
DUPLICATES = [(3, 2, 1.0), (2, 99, 1.0), (4, 99, 1.0), (5, 1, 0.8)]


@pytest.fixture
def study(tmp_path: Path, command: Command) -> Study:
    found = "".join(f"{PLACE}{number},{tool},{code}\n" for number, tool, code in FOUND)
    known = "".join(f"{PLACE}{number},{code}\n" for number, code in enumerate(KNOWN, start=1000))
    (tmp_path / "found.csv").write_text(f"URL,Tool,Type\n{found}", encoding="utf-8")
    (tmp_path / "known.csv").write_text(f"URL,Type\n{known}", encoding="utf-8")
    for name, more in (("found", ("--stratum", "Tool")), ("known", ())):
        done = command(
            "annotation", "import", name, f"{name}.csv", "--item", "URL", "--final", "Type",
            "--taxonomy", "hp-defects", *more,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    study = Study(tmp_path)
    with study.writing() as writer:
        for one, other, score in DUPLICATES:
            writer.execute(
                "INSERT INTO store.link (from_id, to_id, kind, evidence, found_in, score, run_id) "
                "VALUES (?, ?, 'duplicate', '', 'text', ?, 'r')",
                [f"github:pytorch/pytorch#{one}", f"github:pytorch/pytorch#{other}", score],
            )
    return study


def test_tools_by_types_with_duplicates_folded(study: Study) -> None:
    result = methods.run(study, "hp-defects", round_name="found")

    said = result.document
    assert said["found"]["before"] == 6
    assert said["found"]["after"] == 3  # 1; 2, 3 and 4; 5
    assert said["found"]["tools"] == {
        "COMET": {"C1": 1, "F2": 1, "G4": 1},
        "LEMON": {"C1": 1, "F2": 1},
    }
    assert (said["missed"]["count"], said["missed"]["total"]) == (2, 10)
    assert said["missed"]["codes"][0] == "A1"
    assert (said["tools"]["LEMON"]["count"], said["types"]["found"]) == (8, 3)
    [row] = [row for row in result.table("types").records() if row["code"] == "F2"]
    assert (row["any"], row["known"]) == (1, 3)


def test_a_defect_of_two_types_is_one_defect(study: Study) -> None:
    with study.writing() as writer:
        put_final(writer, "github:pytorch/pytorch#2000", round_name="more", taxonomy="hp-defects")
        writer.execute(
            "UPDATE store.settlement SET codes = ['A1', 'A2'], taxonomy_version = (SELECT "
            "any_value(taxonomy_version) FROM store.settlement WHERE round <> 'more') "
            "WHERE round = 'more'"
        )
    said = methods.run(study, "hp-defects", round_name="found", of=["known", "more"]).document
    assert (said["missed"]["count"], said["missed"]["total"]) == (3, 11)
    assert (said["known"]["A1"], said["known"]["A2"]) == (3, 1)


def test_rows_are_those_that_count_also_where_rounds_share_an_artifact(study: Study) -> None:
    with study.writing() as writer:
        version = writer.value("SELECT any_value(taxonomy_version) FROM store.settlement")
        # The first is C1 in round `known`; the second stands in no round before.
        for number in (1000, 2000):
            put_final(writer, f"github:pytorch/pytorch#{number}", "A1", round_name="more",
                      taxonomy="hp-defects", version=version)  # fmt: skip
    result = methods.run(study, "hp-defects", round_name="found", of=["known", "more"])
    (claim,) = [each for each in result.claims if each.claim_id.endswith(".missed-types.A1")]
    with study.reading() as reader:
        rows = reader.rows(checked(reader, claim.claim_id, claim.rows_query or ""))
    assert (claim.count, len(rows)) == (3, 3)


def test_suggested_duplicates_fold_when_asked_for(study: Study) -> None:
    said = methods.run(study, "hp-defects", round_name="found", score=0.5).document
    assert said["found"]["after"] == 2
    assert said["found"]["several_types"] == 1  # 1 and 5: C1 and G4


def test_claims_have_their_rows_and_come_out_again(study: Study) -> None:
    result = methods.run(study, "hp-defects", round_name="found")
    claims = {claim.claim_id: claim for claim in result.claims}
    assert methods.again(study, result.parameters) == result
    with study.reading() as reader:
        for claim in claims.values():
            rows = reader.rows(checked(reader, claim.claim_id, claim.rows_query or ""))
            assert all(row["artifact_id"] and row["run_id"] for row in rows)
            if claim.unit == "percent" and ".missed" in claim.claim_id:
                assert len(rows) == claim.count
                assert claim.low is not None


def test_what_was_published_is_there_without_a_study(tmp_path: Path) -> None:
    result = methods.run(Study(tmp_path / "none"))
    said = result.document
    assert said["found"]["after"] == 34
    assert said["types"]["found"] == 8  # the paper's Finding 5
    assert (said["missed"]["count"], said["missed"]["total"]) == (1200, 3000)
    majors = methods.run(Study(tmp_path / "none"), level=1).document
    assert majors["missed"]["codes"] == ["A", "D"]  # five of seven types are found
    assert not (tmp_path / "none").exists()


def test_own_finds_beside_published_counts(study: Study) -> None:
    said = methods.run(study, "hp-defects", round_name="found", of=["published"]).document
    assert said["missed"]["total"] == 3000


def test_a_level_has_all_its_types_also_those_of_which_nothing_is_known(study: Study) -> None:
    said = methods.run(study, "hp-defects", round_name="found", level=1).document
    assert list(said["known"]) == ["A", "B", "C", "D", "E", "F", "G"]
    assert said["types"] == {"found": 3, "all": 7}
    assert said["missed"]["codes"] == ["A", "B", "D", "E"]


def test_what_cannot_be_compared_is_refused(study: Study) -> None:
    with pytest.raises(StudyError, match="no published counts of dl-bugs"):
        methods.run(study, "dl-bugs")
    with pytest.raises(StudyError, match="what was found and what there is"):
        methods.run(study, "hp-defects", round_name="found", of=["found"])
    with pytest.raises(StudyError, match="no final labels"):
        methods.run(study, "hp-defects", round_name="nowhere")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"))))
def test_folding_does_not_depend_on_order_or_direction(links: list[tuple[str, str]]) -> None:
    folding = Folding.by(links)
    other = Folding.by([(two, one) for one, two in reversed(links)])
    for one in "abcdef":
        assert folding.of(one) == other.of(one)
    for one, two in links:
        assert folding.of(one) == folding.of(two)
