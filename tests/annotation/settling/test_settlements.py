"""Final labels are appended, superseded and never doubled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from labelling import Labelled

from faultatlas.annotation.settling.settlements import Decision, Settled, settle
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

ITEM = "github:o/r#1"
FIRST = Decision(ITEM, ("a1",), "imported", "as the sheet says", "1.0.0")


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    labelled = Labelled.at(tmp_path / "study")
    labelled.taxonomy()
    labelled.round("pilot", {ITEM: {}})
    return labelled


def put(at: Labelled, *decisions: Decision, may_change: bool = True) -> Settled:
    run = provenance.begin("by hand", {})
    with at.study.writing() as writer:
        provenance.record(writer, run, "ok")
        return settle(writer, "pilot", decisions, run, may_change=may_change)


def codes(at: Labelled) -> list[str]:
    with at.study.reading() as reader:
        return [row["code"] for row in reader.rows("SELECT code FROM final_labels ORDER BY code")]


def test_a_decision_is_stored_once_and_superseded_by_another(labelled: Labelled) -> None:
    assert put(labelled, FIRST, FIRST) == Settled(new=1, known=1)
    other = replace(FIRST, codes=("b1", "a2"), settled_by="negotiated")
    assert put(labelled, other) == Settled(changed=1)
    assert codes(labelled) == ["a2", "b1"]
    assert put(labelled, FIRST) == Settled(changed=1)  # back again is another decision
    assert codes(labelled) == ["a1"]
    with labelled.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM store.settlement") == 3


def test_a_sheet_may_say_the_same_but_nothing_else(labelled: Labelled) -> None:
    put(labelled, replace(FIRST, settled_by="majority", rule="most"))
    assert put(labelled, FIRST, may_change=False) == Settled(known=1)
    with pytest.raises(StudyError, match=r"has the final code a1 .* it would be b1"):
        put(labelled, replace(FIRST, codes=("b1",)), may_change=False)
    assert codes(labelled) == ["a1"]


def test_without_codes_an_item_is_open_again(labelled: Labelled) -> None:
    taken_back = replace(FIRST, codes=())
    assert put(labelled, taken_back) == Settled()
    put(labelled, FIRST)
    assert put(labelled, taken_back) == Settled(changed=1)
    assert codes(labelled) == []
    assert put(labelled, taken_back) == Settled()
    assert put(labelled, FIRST, may_change=False) == Settled(new=1)


def test_an_item_must_be_in_the_round(labelled: Labelled) -> None:
    with pytest.raises(StudyError, match="is no item of round"):
        put(labelled, replace(FIRST, item_id="github:o/r#9"))
