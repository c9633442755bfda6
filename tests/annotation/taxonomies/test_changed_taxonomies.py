"""Taxonomies that change after labels were given: carried, queued, given again, counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from changed_trees import revised
from changing import (
    MERGE_STEPS,
    MERGED,
    SPLIT,
    SPLIT_STEPS,
    change,
    migrated,
    seen,
    stored,
    waiting,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling import Labelled

from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.taxonomies.final_labels import final_labels_under
from faultatlas.annotation.taxonomies.migrating import plan
from faultatlas.annotation.taxonomies.outcomes import Said, follow
from faultatlas.annotation.taxonomies.relabelling import waiting as waiting_ones
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_changes import Step

Command = Callable[..., CompletedProcess[str]]


def test_a_split_sends_exactly_its_labels_to_be_given_again(labelled: Labelled) -> None:
    study = labelled.study
    before = stored(study, "SELECT * FROM store.answer ORDER BY answer_id")
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    assert waiting(study) == [
        ("github:o/r#2", "ann", "a2", ("a2x", "a2y")),
        ("github:o/r#3", "ann", "a2", ("a2x", "a2y")),
        ("github:o/r#3", "bob", "a2", ("a2x", "a2y")),
    ]
    assert len(stored(study, "SELECT * FROM store.relabel")) == 3
    assert stored(
        study, "SELECT kind, old_codes, new_codes, reason FROM store.taxonomy_change"
    ) == [("split", ["a2"], ["a2x", "a2y"], "two things")]
    ratings = seen(study, "2.0.0")
    assert ratings.undecided == {
        ("github:o/r#2", "ann"), ("github:o/r#3", "ann"), ("github:o/r#3", "bob"),
    }  # fmt: skip
    assert len(ratings.given) == 7
    # Nothing was rewritten, and the past can be seen as it was.
    assert stored(study, "SELECT * FROM store.answer ORDER BY answer_id") == before
    assert seen(study, "1.0.0").given["github:o/r#3", "bob"] == {"a2"}
    # Given again, they are there in the new version, and lead back to the old one.
    labelled.say("pilot", {"github:o/r#3": {"ann": "a2x", "bob": "a2y"}}, version="2.0.0")
    assert waiting(study) == [("github:o/r#2", "ann", "a2", ("a2x", "a2y"))]
    assert seen(study, "2.0.0").given["github:o/r#3", "bob"] == {"a2y"}
    assert seen(study, "1.0.0").given["github:o/r#3", "bob"] == {"a2"}


def test_a_merge_carries_all(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, MERGED, MERGE_STEPS)
    migrated(study)
    assert waiting(study) == []
    ratings = seen(study, "2.0.0")
    assert not ratings.undecided
    assert len(ratings.given) == 10
    assert [ratings.given["github:o/r#4", rater] for rater in ("ann", "bob")] == [{"b"}, {"b"}]
    # A label of the merged code that was never given in the old version is open there.
    labelled.say("pilot", {"github:o/r#5": {"cem": "b"}}, version="2.0.0")
    assert seen(study, "1.0.0").undecided == {("github:o/r#5", "cem")}


def test_renamed_moved_and_retired_codes_are_carried(labelled: Labelled) -> None:
    study = labelled.study
    codes = {"a": "", "a1": "a", "b": "", "first": "b"}
    steps = ("{retire: a2, to: a1}", "{rename: b1, to: first}", "{retire: b2, to: ~unclear}")
    change(labelled, codes, steps)
    migrated(study)
    ratings = seen(study, "2.0.0")
    assert not ratings.undecided
    assert ratings.given["github:o/r#3", "ann"] == {"a1"}
    assert ratings.given["github:o/r#4", "ann"] == {"first"}
    assert ratings.given["github:o/r#4", "bob"] == {"~unclear"}


def test_migrating_again_changes_nothing(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    tables = ("taxonomy_text", "taxonomy_change", "relabel", "answer", "run")
    migrated(study)
    once = [stored(study, f"SELECT * FROM store.{table} ORDER BY ALL") for table in tables]
    migrated(study)
    assert [stored(study, f"SELECT * FROM store.{table} ORDER BY ALL") for table in tables] == once
    # What a rater says in the old version meanwhile waits as well.
    labelled.say("pilot", {"github:o/r#1": {"bob": "a2"}})
    migrated(study)
    assert len(stored(study, "SELECT * FROM store.relabel")) == 4
    assert ("github:o/r#1", "bob", "a2", ("a2x", "a2y")) in waiting(study)


def test_versions_compose(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    labelled.say("pilot", {"github:o/r#2": {"ann": "a2y"}}, version="2.0.0")
    third = {"a": "", "one": "a", "a2x": "a", "a2y": "a", "b": ""}
    change(labelled, third, (*MERGE_STEPS, "{rename: a1, to: one}"), "3.0.0", "2.0.0")
    migrated(study)
    ratings = seen(study, "3.0.0")
    assert ratings.given["github:o/r#1", "ann"] == {"one"}
    assert ratings.given["github:o/r#2", "ann"] == {"a2y"}
    assert ratings.given["github:o/r#4", "bob"] == {"b"}
    assert ratings.undecided == {("github:o/r#3", "ann"), ("github:o/r#3", "bob")}
    assert [each[:2] for each in waiting(study)] == sorted(ratings.undecided)
    labelled.say("pilot", {"github:o/r#3": {"ann": "a2x"}}, version="3.0.0")
    assert seen(study, "1.0.0").given["github:o/r#3", "ann"] == {"a2"}
    assert seen(study, "2.0.0").given["github:o/r#3", "ann"] == {"a2x"}


def test_parts_that_are_merged_again_decide_what_waited(labelled: Labelled) -> None:
    study = labelled.study
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(study)
    together = {"a": "", "a1": "a", "c": "a", "b": "", "b1": "b", "b2": "b"}
    change(labelled, together, ("{merge: [a2x, a2y], to: c}",), "3.0.0", "2.0.0")
    migrated(study)
    assert waiting(study) == []
    assert seen(study, "3.0.0").given["github:o/r#3", "ann"] == {"c"}


def test_of_several_codes_each_is_followed_by_itself(tmp_path: Path, command: Command) -> None:
    study = Labelled.at(tmp_path)
    study.taxonomy(choice="multiple")
    study.round("pilot", {"github:o/r#1": {"ann": ["a2", "b1"]}, "github:o/r#2": {"ann": ["b1"]}})
    steps = (*SPLIT_STEPS, "{rename: b1, to: first}")
    codes = {**SPLIT, "first": "b"}
    del codes["b1"]
    change(study, codes, steps, choice="multiple")
    migrated(study.study)
    counts = json.loads(command("annotation", "taxonomy", "migrate", "tree", "--json").stdout)
    assert counts["rounds"] == [
        {"round": "pilot", "labels": "raters", "carried": 2, "waiting": 1, "ended": 0,
         "answered": 0}
    ]  # fmt: skip
    sheet = tmp_path / "again.csv"
    command("annotation", "taxonomy", "relabel", "pilot", "--to", sheet)
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("a2y,\n", "a2y,a2x; a2y\n"))
    assert command("annotation", "taxonomy", "relabel", "pilot", "--from", sheet).returncode == 0
    assert seen(study.study, "2.0.0").given["github:o/r#1", "ann"] == {"a2x", "a2y", "first"}


def test_final_labels_are_carried_and_what_is_open_is_listed(labelled: Labelled) -> None:
    study = labelled.study
    with study.writing() as writer:
        for number, code in enumerate(("a1", "a1", "a2", "b1"), 1):
            item = f"github:o/r#{number}"
            writer.execute(
                "INSERT INTO store.settlement VALUES (?, 'pilot', ?, ?, 'tree', '1.0.0', ?, "
                "'majority', 'r', NULL, NULL, NULL, NULL, 'x', false)",
                [str(number), item, item, [code]],
            )
    change(labelled, {**SPLIT, "b1": "a"}, (*SPLIT_STEPS, "{move: b1, under: a}"))
    with study.reading() as reader:
        of = find_round(reader, "pilot")
        final = final_labels_under(
            reader, Versions.known(reader, study.directory, of.taxonomy), of, "2.0.0"
        )
        planned = plan(reader, study.directory, "tree", None)
    assert final.codes == {
        "github:o/r#1": {"a1"}, "github:o/r#2": {"a1"}, "github:o/r#4": {"b1"},
    }  # fmt: skip
    assert final.undecided == {"github:o/r#3": ("a2",)}
    assert dict(planned.counts["pilot", "final"]) == {"carried": 3, "waiting": 1}
    assert [said.item_id for said in planned.undecided_items] == ["github:o/r#3"]


# What is refused.


def test_a_version_without_a_word_of_how_it_came_about_is_refused(labelled: Labelled) -> None:
    labelled.taxonomy(SPLIT, version="2.0.0")
    with pytest.raises(
        StudyError, match=r"nothing says how tree 1\.0\.0 became 2\.0\.0"
    ) as refused:
        migrated(labelled.study)
    assert refused.value.hint.endswith("annotation taxonomy diff tree 1.0.0 2.0.0")
    with pytest.raises(StudyError, match=r"nothing says how tree 1\.0\.0 became 2\.0\.0"):
        seen(labelled.study, "2.0.0")
    with pytest.raises(StudyError, match=r"knows no version 7\.0\.0 of tree"):
        seen(labelled.study, "7.0.0")
    assert len(seen(labelled.study, "1.0.0").given) == 10  # the past does not need it


def test_changes_that_leave_something_unsaid_change_nothing(labelled: Labelled) -> None:
    change(labelled, SPLIT, ("{retire: a2}",))
    with pytest.raises(StudyError, match=r"tree.yaml:\d+: new: a2x, a2y; add the step"):
        migrated(labelled.study)
    assert stored(labelled.study, "SELECT * FROM store.taxonomy_change") == []
    assert stored(labelled.study, "SELECT version FROM store.taxonomy_text") == [("1.0.0",)]


def test_what_was_migrated_by_cannot_be_rewritten_or_undone(labelled: Labelled) -> None:
    change(labelled, SPLIT, SPLIT_STEPS)
    migrated(labelled.study)
    change(labelled, SPLIT, ("{retire: a2}", "{add: [a2x, a2y]}"))
    with pytest.raises(
        StudyError, match=r"not the changes from 1\.0\.0 that the study was migrated"
    ):
        migrated(labelled.study)
    change(labelled, SPLIT, SPLIT_STEPS)
    with pytest.raises(StudyError, match=r"has gone on to tree 2\.0\.0 already"):
        migrated(labelled.study, "1.0.0")


# Nothing is lost, whatever was said and whatever changes.


@st.composite
def said_of(draw: st.DrawFn, step: Step) -> list[Said]:
    """Answers of two raters about some items, in either version or in both."""
    places = st.tuples(
        st.sampled_from("12345"), st.sampled_from(("ann", "bob")), st.sampled_from((0, 1))
    )
    answers = []
    for item, rater, index in sorted(draw(st.sets(places, min_size=1))):
        taxonomy = (step.old, step.new)[index]
        codes = [*(node.code for node in taxonomy.leaves), "~unclear"]
        chosen = tuple(sorted(draw(st.sets(st.sampled_from(codes), min_size=1, max_size=3))))
        answers.append(
            Said(f"{item}{rater}{index}", "pilot", item, item, rater, "independent",
                 taxonomy.version, chosen)
        )  # fmt: skip
    return answers


@settings(max_examples=150)
@given(st.data())
def test_every_label_has_exactly_one_outcome(data: st.DataObject) -> None:
    step = data.draw(revised())
    answers = data.draw(said_of(step))
    texts = {each.version: each for each in (step.old, step.new)}
    versions = Versions("own", texts, (step.revision,))
    outcomes = [*follow(versions, answers, "2.0.0")]
    assert sorted((each.said.answer_id, each.code) for each in outcomes) == sorted(
        (answer.answer_id, code) for answer in answers for code in answer.codes
    )
    queue = {(each.said.answer_id, each.code) for each in waiting_ones(outcomes, step.new)}
    again = {answer.place for answer in answers if answer.version == "2.0.0"}
    splits = {change.old[0] for change in step.revision.changes if change.kind == "split"}
    lost = {change.old[0] for change in step.revision.changes if change.old and not change.new}
    for each in outcomes:
        key = (each.said.answer_id, each.code)
        assert (key in queue) == (each.outcome == "waiting")
        if each.said.version == "2.0.0":
            assert each.outcome == "carried"
        elif each.said.place in again:
            assert each.outcome == "answered"
        else:
            assert (each.outcome == "waiting") == (each.code in splits | lost)


def test_what_waits_is_what_agreement_leaves_out(labelled: Labelled) -> None:
    study = labelled.study
    steps = (*SPLIT_STEPS, "{retire: b1}", "{retire: b2, to: []}", "{add: [c]}")
    change(labelled, {"a": "", "a1": "a", "a2x": "a", "a2y": "a", "b": "", "c": "b"}, steps)
    migrated(study)
    labelled.say("pilot", {"github:o/r#3": {"ann": "a2y"}}, version="2.0.0")
    queue = waiting(study)
    assert seen(study, "2.0.0").undecided == {each[:2] for each in queue}
    assert [each[2:] for each in queue] == [("a2", ("a2x", "a2y"))] * 2 + [("b1", ())]
