"""Labels of several raters from sheets: shapes, spellings, and what a second import does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sheet_desk import Desk

TABLE = ("spelling", "count", "code", "why")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_column_for_each_rater(desk: Desk) -> None:
    file = desk.sheet(
        "item,ann,bob,final,kind", "o/r#1,a1,a2,a1,x", "o/r#2,,b1,,y", "o/r#3,,,,y", "o/r#1,b1,,,x"
    )
    done = desk.take(file, rater_columns=("ann", "bob"), final="final", stratum="kind")
    assert desk.said("item_id, rater, code, origin") == [
        ("github:o/r#1", "ann", "a1", "s.csv row 2 rater 1"),
        ("github:o/r#1", "bob", "a2", "s.csv row 2 rater 2"),
        ("github:o/r#1~2", "ann", "b1", "s.csv row 5 rater 1"),
        ("github:o/r#2", "bob", "b1", "s.csv row 3 rater 2"),
    ]
    assert done.document["answers"] == {"new": 4, "changed": 0, "known": 0}
    assert (done.document["stored"], done.document["unlabelled"]) == (1, 3)
    with desk.study.reading() as reader:
        rows = reader.rows("SELECT item_id, stratum, place FROM store.item ORDER BY position")
        [made] = reader.rows("SELECT origin, raters, statistic, threshold FROM rounds")
    assert [tuple(row.values()) for row in rows] == [
        ("github:o/r#1", "x", "s.csv row 2"),
        ("github:o/r#2", "y", "s.csv row 3"),
        ("github:o/r#1~2", "x", "s.csv row 5"),
    ]
    assert made == {
        "origin": "imported", "raters": ["ann", "bob"], "statistic": None, "threshold": None,
    }  # fmt: skip


def test_a_pattern_takes_no_column_that_holds_something_else(desk: Desk) -> None:
    file = desk.sheet("item,v_1,v_2,v_final", "o/r#1,a1,a2,a1")
    done = desk.take(file, rater_columns=("V *",), final="v_final")
    assert done.document["raters"] == ["v_1", "v_2"]


def test_pairs_with_a_varying_number_of_raters(desk: Desk) -> None:
    file = desk.sheet(
        "item,Evaluator1,Tag1,Evaluator2,Evaluator10,Tag10",
        "o/r#1,E5,a1,E1,E2,b1",
        "o/r#2,E2,a2,E5,,",
        "o/r#3,E1,,E5,E2,b2",
    )
    done = desk.take(file, pairs="evaluator*/tag*")
    assert desk.said("item_id, rater, code, origin") == [
        ("github:o/r#1", "E2", "b1", "s.csv row 2 rater 10"),
        ("github:o/r#1", "E5", "a1", "s.csv row 2 rater 1"),
        ("github:o/r#2", "E2", "a2", "s.csv row 3 rater 1"),
        ("github:o/r#3", "E2", "b2", "s.csv row 4 rater 10"),
    ]
    assert done.document["notes"] == [
        "s.csv: there is no column for the codes of 'Evaluator2'",
        "s.csv: 4 raters are named without a code: not stored",
    ]
    nobody = desk.sheet("item,Evaluator1,Tag1", "o/r#1,,a1")
    refused = desk.refused(nobody, pairs="Evaluator*/Tag*")
    assert refused.message.endswith("s.csv:2: 'Tag1' has a code, but 'Evaluator1' names no rater")


def test_a_rater_who_says_two_things_of_an_item_is_refused(desk: Desk) -> None:
    file = desk.sheet("item,Evaluator1,Tag1,Evaluator2,Tag2", "o/r#1,E1,a1,E1,a2")
    refused = desk.refused(file, pairs="Evaluator*/Tag*")
    assert "github:o/r#1 has another code of E1 in s.csv row 2 rater 1" in refused.message


def test_a_file_for_each_rater_and_more_of_them_later(desk: Desk) -> None:
    ann = desk.sheet("item,type", "o/r#1,a1", "o/r#2,a2", name="a.csv")
    bob = desk.sheet("item,type", "o/r#1,b1", "o/r#2,a2", name="b.csv")
    assert desk.take(f"ann={ann}", f"bob={bob}", code="type").document["raters"] == ["ann", "bob"]
    cy = desk.take(bob, code="type", rater="cy")
    assert cy.document["answers"] == {"new": 2, "changed": 0, "known": 0}
    assert "raters that are new in the round: cy" in cy.notes
    assert len(desk.said()) == 6
    assert desk.refused(ann, code="type").message == f"whose labels are in {ann}?"
    assert "where are the codes of 'ann'" in desk.refused(ann, rater="ann").message
    both = desk.refused(ann, rater="ann", rater_columns=("type",))
    assert both.message == "--rater-columns and --rater exclude each other"


def test_words_in_columns_stand_for_codes(desk: Desk) -> None:
    words = ("In=Yes:a1", "Out=Yes:b1")
    file = desk.sheet("item,In,Out,Type", "o/r#1, yes ,No,", "o/r#2,No,YES,a2", "o/r#3,No,No,b2")
    done = desk.take(file, rater="ann", code="Type", codes_from=words)
    assert desk.said("item_id, code") == [
        ("github:o/r#1", "a1"), ("github:o/r#2", "b1"), ("github:o/r#3", "b2"),
    ]  # fmt: skip
    assert done.document["notes"] == [
        "s.csv: 2 cells of 'Out' stand for no code: 'no' (2)",
        "s.csv: 2 cells of 'In' stand for no code: 'no' (2)",
        "s.csv: 1 row with contradictions, where 'In', 'Out' counts, not 'Type': 3",
    ]
    both = desk.sheet("item,In,Out", "o/r#4,Yes,Yes")
    refused = desk.refused(both, rater="ann", codes_from=words)
    assert refused.message.endswith("s.csv:2: the row says both a1 and b1")
    assert (
        "'z' is no code of tree" in desk.refused(file, rater="a", codes_from=("In=Yes:z",)).message
    )


def test_items_are_put_together_from_columns(desk: Desk) -> None:
    file = desk.sheet("Project,Nr,code", "o+r,1,a1", ",2,a2", "/p+q,3,b1", "End,,b2")
    options = {
        "item": "https://github.com/{Project}/issues/{Nr}", "fill_down": ("Project",),
        "rater": "ann", "code": "code",
    }  # fmt: skip
    assert "s.csv:5: '' is empty" in desk.refused(file, **options).message
    done = desk.take(file, **options, skip_nameless=True)
    assert [row[0] for row in desk.said()] == ["github:o/r#1", "github:o/r#2", "github:p/q#3"]
    assert done.document["nameless"] == ["s.csv row 5"]


# Spellings.


def lines(path: Path) -> list[list[str]]:
    return [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]


def test_spellings_are_proposed_confirmed_and_traced(desk: Desk) -> None:
    file = desk.sheet(
        "item,ann,bob", "o/r#1,Nam of a1,a1", "o/r#2,Name of b1 (sure),xyzzy", "o/r#3,NAM OF A1,n/a"
    )
    refused = desk.refused(file, rater_columns=("ann", "bob"))
    assert len(refused.message.splitlines()) == 5  # every cell, also two of one row
    table = desk.study.directory / "spellings" / "r.csv"
    assert f"--spellings {table}" in refused.hint
    assert not desk.study.exists
    assert lines(table) == [
        list(TABLE),
        ["Nam of a1", "2", "a1", "like 'name of a1' (0.95)"],
        ["Name of b1 (sure)", "1", "b1", "begins with 'name of b1'"],
        ["n/a", "1", "'-", "says nothing"],
        ["xyzzy", "1", "", "like nothing here"],
    ]
    undecided = desk.refused(file, rater_columns=("ann", "bob"), spellings=table)
    assert "'xyzzy' is no code of tree" in undecided.message
    table.write_text(table.read_text().replace("xyzzy,1,,", "xyzzy,1,~unclear,"))
    # Another try does not undo what a person wrote.
    desk.refused(file, rater_columns=("ann", "bob"))
    assert "xyzzy,1,~unclear," in table.read_text()

    done = desk.take(file, rater_columns=("ann", "bob"), spellings=table)
    assert done.document["left_out"] == 1
    assert desk.said("item_id, rater, code, comment") == [
        ("github:o/r#1", "ann", "a1", "Nam of a1"),
        ("github:o/r#1", "bob", "a1", None),
        ("github:o/r#2", "ann", "b1", "Name of b1 (sure)"),
        ("github:o/r#2", "bob", "~unclear", "xyzzy"),
        ("github:o/r#3", "ann", "a1", "NAM OF A1"),
    ]
    with desk.study.reading() as reader:
        arguments = json.loads(reader.value("SELECT arguments FROM runs"))
    assert arguments["spellings"]["codes"] == [
        ["NAM OF A1", "a1"], ["Nam of a1", "a1"], ["Name of b1 (sure)", "b1"], ["n/a", "-"],
        ["xyzzy", "~unclear"],
    ]  # fmt: skip
    again = desk.take(file, rater_columns=("ann", "bob"), spellings=table)
    assert again.document["answers"] == {"new": 0, "changed": 0, "known": 5}


def test_accepted_spellings_leave_out_none_that_is_like_nothing(desk: Desk) -> None:
    file = desk.sheet("item,ann", "o/r#1,Nam of a1")
    assert desk.take(file, rater_columns=("ann",), accept=True).document["answers"]["new"] == 1
    assert lines(desk.study.directory / "spellings" / "r.csv")[1][:3] == ["Nam of a1", "1", "a1"]
    strange = desk.sheet("item,ann", "o/r#1,xyzzy")
    assert "xyzzy" in desk.refused(strange, rater_columns=("ann",), accept=True).message


def test_a_wrong_table_is_refused(desk: Desk) -> None:
    file = desk.sheet("item,ann", "o/r#1,x")
    for row, message in (
        ("x,1,z9,", ":2: 'z9' is no code of tree"),
        ("x,1,a,", ":2: 'a' is no code of tree"),
        ("x,1,a1,\nX,1,a2,", ":3: 'X' stands there twice"),
    ):
        table = Path(desk.sheet(",".join(TABLE), row, name="t.csv"))
        refused = desk.refused(file, rater_columns=("ann",), spellings=table)
        assert message in refused.message


def test_free_text_stands_for_one_code_unless_it_is_like_another(desk: Desk) -> None:
    file = desk.sheet("item,ann", "o/r#1,wrong shape", "o/r#2,b1", "o/r#3,Name of b1?")
    refused = desk.refused(file, rater_columns=("ann",), otherwise="a1")
    assert refused.message.endswith("s.csv:4: 'Name of b1?' is no code of tree")
    done = desk.take(file, rater_columns=("ann",), otherwise="a1", accept=True)
    assert desk.said("item_id, code, proposed, comment") == [
        ("github:o/r#1", "a1", "wrong shape", None),
        ("github:o/r#2", "b1", None, None),
        ("github:o/r#3", "b1", None, "Name of b1?"),
    ]
    assert done.document["free_texts"] == 1


def test_answers_that_are_no_code(desk: Desk) -> None:
    file = desk.sheet("item,ann", "o/r#1,~unclear", "o/r#2,Not a fault", "o/r#3,~new")
    desk.take(file, rater_columns=("ann",))
    assert [row[2] for row in desk.said()] == ["~unclear", "~not-a-fault", "~new"]


# What is there already.


def test_a_changed_sheet_supersedes_and_nothing_is_lost(desk: Desk) -> None:
    columns = {"rater_columns": ("ann", "bob")}
    desk.take(desk.sheet("item,ann,bob", "o/r#1,a1,a2", "o/r#2,b1,b1"), **columns)
    changed = desk.take(desk.sheet("item,ann,bob", "o/r#1,a1,b2", "o/r#2,,b1"), **columns)
    assert changed.document["answers"] == {"new": 0, "changed": 1, "known": 2}
    assert any("1 answer differs from what the study had" in note for note in changed.notes)
    assert desk.said() == [
        ("github:o/r#1", "ann", "a1"), ("github:o/r#1", "bob", "b2"),
        ("github:o/r#2", "ann", "b1"), ("github:o/r#2", "bob", "b1"),
    ]  # fmt: skip
    assert ("github:o/r#1", "bob", "a2") in desk.said(current=False)


def test_a_round_keeps_the_statistic_that_was_fixed_before(desk: Desk) -> None:
    (desk.study.directory / "study.toml").write_text(
        '[agreement]\nstatistic = "fleiss"\nthreshold = 0.7\n', encoding="utf-8"
    )
    desk.take(desk.sheet("item,ann", "o/r#1,a1"), rater_columns=("ann",))
    with desk.study.reading() as reader:
        [row] = reader.rows("SELECT statistic, threshold FROM rounds")
    assert row == {"statistic": "fleiss", "threshold": 0.7}


def test_the_items_of_a_planned_round_are_fixed(desk: Desk) -> None:
    desk.labelled.round("planned", {"github:o/r#1": {}}, raters=("ann",))
    good = desk.sheet("item,ann", "o/r#1,a1")
    assert desk.take(good, name="planned", rater_columns=("ann",)).document["answers"]["new"] == 1
    other = desk.sheet("item,ann", "o/r#1,a1", "o/r#2,a1", "o/r#3,a1")
    refused = desk.refused(other, name="planned", rater_columns=("ann",))
    assert refused.message == (
        "github:o/r#2 (s.csv row 3) is no item of round 'planned', and 1 more are not"
    )


def test_after_a_discussion_both_labels_are_kept(desk: Desk) -> None:
    file = desk.sheet("item,ann,bob", "o/r#1,a1,a2")
    desk.take(file, rater_columns=("ann", "bob"))
    discussed = desk.sheet("item,ann,bob,agreed", "o/r#1,a2,a2,a2")
    desk.take(discussed, rater_columns=("ann", "bob"), final="agreed", stage="negotiated")
    assert desk.said("stage, rater, code") == [
        ("independent", "ann", "a1"), ("independent", "bob", "a2"),
        ("negotiated", "ann", "a2"), ("negotiated", "bob", "a2"),
    ]  # fmt: skip
    with desk.study.reading() as reader:
        [row] = reader.rows("SELECT code, settled_by FROM final_labels")
    assert row == {"code": "a2", "settled_by": "negotiated"}
    assert (
        "'later' is no stage: it is independent"
        in desk.refused(file, rater="x", stage="later").message
    )
