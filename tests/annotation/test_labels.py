"""Labels are appended, never overwritten, and the same answer is stored once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling import Labelled

from faultatlas.annotation.labels import Answer, Appended, append
from faultatlas.annotation.ratings import ratings_of
from faultatlas.annotation.rounds import Round, find_round, put_round
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_library import TaxonomyLibrary

ONE, TWO = "github:o/r#1", "github:o/r#2"


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    found = Labelled.at(tmp_path / "study")
    found.taxonomy()
    found.round("first", {ONE: {"ann": "a1", "ben": "b1"}, TWO: {"ann": "b2"}})
    return found


def rows(labelled: Labelled, where: str = "true") -> list[dict[str, Any]]:
    with labelled.study.reading() as reader:
        return reader.rows(f"SELECT * FROM labels WHERE {where} ORDER BY item_id, rater, run_id")


def given_codes(labelled: Labelled, **options: Any) -> dict[tuple[str, str], frozenset[str]]:
    with labelled.study.reading() as reader:
        return dict(ratings_of(reader, find_round(reader, "first"), **options).given)


def test_a_change_is_a_new_answer_and_the_old_one_stays(labelled: Labelled) -> None:
    assert labelled.say("first", {ONE: {"ann": "a2"}}) == Appended(0, 1, 0)
    found = rows(labelled, f"item_id = '{ONE}' AND rater = 'ann'")
    assert [(row["code"], row["is_current"]) for row in found] == [("a1", False), ("a2", True)]
    assert found[1]["supersedes"] == found[0]["answer_id"]
    assert given_codes(labelled)[ONE, "ann"] == {"a2"}


def test_back_and_forth_keeps_every_step(labelled: Labelled) -> None:
    for code in ("a2", "a1", "a2"):
        labelled.say("first", {ONE: {"ann": code}})
    found = rows(labelled, f"item_id = '{ONE}' AND rater = 'ann'")
    assert [row["code"] for row in found] == ["a1", "a2", "a1", "a2"]
    assert [row["is_current"] for row in found] == [False, False, False, True]
    assert len({row["answer_id"] for row in found}) == 4


def test_the_same_answer_again_is_not_stored(labelled: Labelled) -> None:
    before = rows(labelled)
    assert labelled.say("first", {ONE: {"ann": "a1", "ben": "b1"}}) == Appended(0, 0, 2)
    assert rows(labelled) == before


def test_an_answer_without_codes_takes_the_last_one_back(labelled: Labelled) -> None:
    assert labelled.say("first", {ONE: {"ann": ()}}) == Appended(0, 1, 0)
    assert (ONE, "ann") not in given_codes(labelled)
    assert [row["code"] for row in rows(labelled, "rater = 'ann' AND is_current")] == ["b2"]
    assert labelled.say("first", {TWO: {"ben": ()}}) == Appended()  # nothing to take back
    assert labelled.say("first", {ONE: {"ann": "a1"}}) == Appended(0, 1, 0)
    assert given_codes(labelled)[ONE, "ann"] == {"a1"}


def test_stages_do_not_replace_each_other(labelled: Labelled) -> None:
    labelled.say("first", {ONE: {"ann": "b1", "ben": "b1"}}, stage="negotiated")
    assert given_codes(labelled)[ONE, "ann"] == {"a1"}
    assert given_codes(labelled, stage="negotiated")[ONE, "ann"] == {"b1"}
    assert all(row["is_current"] for row in rows(labelled))


def test_an_answer_in_a_later_version_stands_beside_the_first(labelled: Labelled) -> None:
    labelled.say("first", {ONE: {"ann": "b1"}}, version="2.0.0")
    assert given_codes(labelled)[ONE, "ann"] == {"a1"}
    later = given_codes(labelled, version="2.0.0", carry=lambda _version, code: frozenset((code,)))
    assert later == {(ONE, "ann"): {"b1"}, (ONE, "ben"): {"b1"}, (TWO, "ann"): {"b2"}}


def test_taking_back_an_answer_in_a_later_version_does_not_bring_the_old_one_up(
    labelled: Labelled,
) -> None:
    labelled.say("first", {ONE: {"ann": "b1"}}, version="10.0.0")
    labelled.say("first", {ONE: {"ann": ()}}, version="10.0.0")
    later = given_codes(labelled, version="10.0.0", carry=lambda _version, code: frozenset((code,)))
    assert (ONE, "ann") not in later


def test_the_newest_of_other_versions_counts_and_an_ended_code_is_no_answer(
    labelled: Labelled,
) -> None:
    labelled.say("first", {ONE: {"ann": "a2"}}, version="9.0.0")
    labelled.say("first", {ONE: {"ann": "b2"}}, version="10.0.0")
    found = given_codes(
        labelled,
        version="11.0.0",
        carry=lambda _version, code: frozenset() if code == "b1" else frozenset((code,)),
    )
    assert found == {(ONE, "ann"): {"b2"}, (TWO, "ann"): {"b2"}}


def test_what_a_change_leaves_undecided_is_missing_and_known(labelled: Labelled) -> None:
    with labelled.study.reading() as reader:
        found = ratings_of(
            reader,
            find_round(reader, "first"),
            version="2.0.0",
            carry=lambda _version, code: None if code == "a1" else frozenset((code,)),
        )
    assert found.undecided == {(ONE, "ann")}
    assert set(found.given) == {(ONE, "ben"), (TWO, "ann")}
    assert found.overlapping == ()


def test_several_codes_share_an_answer(labelled: Labelled) -> None:
    labelled.say("first", {TWO: {"ben": ("b1", "a1")}})
    found = rows(labelled, f"item_id = '{TWO}' AND rater = 'ben'")
    assert sorted(row["code"] for row in found) == ["a1", "b1"]
    assert len({row["answer_id"] for row in found}) == 1
    assert len({row["label_id"] for row in found}) == 2


def test_an_unknown_item_is_refused_and_nothing_is_stored(labelled: Labelled) -> None:
    before = rows(labelled)
    with pytest.raises(StudyError, match="is no item of round 'first'"):
        labelled.say("first", {ONE: {"ann": "b1"}, "github:o/r#99": {"ann": "a1"}})
    assert rows(labelled) == before
    with pytest.raises(StudyError, match="there is no round 'frist'"):
        labelled.say("frist", {ONE: {"ann": "a1"}})


def test_what_was_noted_with_an_answer_is_kept(labelled: Labelled) -> None:
    run = provenance.begin("by hand", {})
    at = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001  (UTC)
    answer = Answer(TWO, "ben", ("~new",), "1.0.0", "sheet 3", confidence=4, comment="odd",
                    proposed="deadlock", lead_time_s=12.5, labelled_at=at)  # fmt: skip
    with labelled.study.writing() as writer:
        provenance.record(writer, run, "ok")
        append(writer, "first", [answer], run)
    (row,) = rows(labelled, f"item_id = '{TWO}' AND rater = 'ben'")
    kept = {key: row[key] for key in ("code", "confidence", "comment", "proposed", "lead_time_s",
                                      "labelled_at", "origin", "run_id")}  # fmt: skip
    assert kept == {"code": "~new", "confidence": 4, "comment": "odd", "proposed": "deadlock",
                    "lead_time_s": 12.5, "labelled_at": at, "origin": "sheet 3",
                    "run_id": run.run_id}  # fmt: skip


STEPS = st.lists(
    st.tuples(st.sampled_from([ONE, TWO]), st.sampled_from(["ann", "ben"]),
              st.sets(st.sampled_from(["a1", "a2", "b1"])).map(sorted).map(tuple)),
    max_size=12,
)  # fmt: skip


@settings(max_examples=15)
@given(STEPS)
def test_whatever_happens_the_last_word_counts_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    labelled = Labelled.at(tmp_path_factory.mktemp("study"))
    labelled.taxonomy()
    labelled.round("first", {ONE: {}, TWO: {}}, raters=["ann", "ben"])
    last: dict[tuple[str, str], frozenset[str]] = {}
    changes = 0
    for item, rater, codes in steps:
        before = last.get((item, rater), frozenset())
        changes += bool(before != frozenset(codes))
        labelled.say("first", {item: {rater: codes}})
        last[item, rater] = frozenset(codes)
    assert given_codes(labelled) == {key: codes for key, codes in last.items() if codes}
    with labelled.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM store.answer") == changes


def test_another_tree_under_the_same_version_is_refused(labelled: Labelled) -> None:
    labelled.taxonomy({"a": "", "a1": "a", "c": ""})
    taxonomy = TaxonomyLibrary(labelled.study.directory).taxonomy("tree")
    run = provenance.begin("by hand", {})
    with (
        pytest.raises(StudyError, match=r"codes of tree 1\.0\.0 are not those"),
        labelled.study.writing() as writer,
    ):
        put_round(writer, Round("second", "designed", "tree", "1.0.0", "single", ()), taxonomy, run)


def test_a_round_that_is_not_there_names_those_that_are(labelled: Labelled) -> None:
    with labelled.study.reading() as reader, pytest.raises(StudyError) as refused:
        find_round(reader, "second")
    assert refused.value.hint == "Known: first."
