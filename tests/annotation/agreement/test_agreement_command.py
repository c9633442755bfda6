"""`annotation agreement`: what is measured, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from agreeing import TWENTY, said
from labelling import Labelled

from faultatlas.annotation.agreement.choices import Choice, Special
from faultatlas.annotation.agreement.overview import survey
from faultatlas.annotation.agreement.result import result_of
from faultatlas.data.provenance import latest

Command = Callable[..., CompletedProcess[str]]

Measured = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Labelled:
    """A study with a round of twenty items, for tests that only read it."""
    made = Labelled.at(tmp_path_factory.mktemp("twenty"))
    made.taxonomy()
    made.round("pilot", TWENTY, statistic="cohen", threshold=0.7)
    unclear = {"github:o/r#21": {"ann": "~unclear", "bob": "b1"}}
    made.round("special", {**TWENTY, **unclear})
    return made


@pytest.fixture(scope="module")
def found_of(twenty: Labelled) -> Callable[..., dict[str, Any]]:
    """What is measured of a round of it, without a command."""

    def run(name: str, **options: Any) -> dict[str, Any]:
        choice = Choice((name,), resamples=50, **options)
        with twenty.study.reading() as reader:
            result = result_of(survey(reader, twenty.study.directory, choice))
        found: dict[str, Any] = result.data["rounds"][name]
        return found

    return run


def kinds(document: dict[str, Any], name: str) -> list[str]:
    return [each["kind"] for each in document["rounds"][name]["cautions"]]


# What is measured.


def test_all_statistics_are_given_and_the_fixed_one_comes_first(
    found_of: Measured,
) -> None:
    found = found_of("pilot")
    assert list(found["statistics"]) == [
        "cohen", "krippendorff", "krippendorff-tree", "fleiss", "gwet", "percent",
    ]  # fmt: skip
    assert found["fixed_beforehand"]
    assert found["statistics"]["percent"]["value"] == pytest.approx(0.8)
    for each in found["statistics"].values():
        assert each["analytic"]["low"] < each["value"] < each["analytic"]["high"] + 1e-9
        assert each["bootstrap"]["low"] < each["value"] < each["bootstrap"]["high"]
        assert (each["items"], each["raters"], each["ratings"]) == (20, 2, 40)
    # A near miss counts less where the tree is looked at.
    tree = found["statistics"]["krippendorff-tree"]["value"]
    assert tree > found["statistics"]["krippendorff"]["value"]


def test_words_are_those_of_the_named_scale(found_of: Measured) -> None:
    words = {
        scale: found_of("pilot", scale=scale)["statistics"]["cohen"]["word"]
        for scale in ("landis-koch", "krippendorff", "altman")
    }
    assert words == {
        "landis-koch": "substantial",
        "krippendorff": "tentative",
        "altman": "good",
    }


def test_levels_roll_codes_up_and_special_answers_stay(
    found_of: Measured,
) -> None:
    levels = found_of("special")["level"]
    assert levels["1"]["agreeing_percent"] == pytest.approx(100 * 19 / 21)
    assert levels["2"]["agreeing_percent"] == pytest.approx(100 * 16 / 21)
    assert (levels["1"]["count"], levels["2"]["count"]) == (3, 5)
    assert levels["1"]["value"] > levels["2"]["value"]


def test_special_answers_can_count_as_missing(found_of: Measured) -> None:
    with_them = found_of("special")
    without = found_of("special", special=Special.MISSING)
    assert (with_them["counts"]["compared"], without["counts"]["compared"]) == (21, 20)
    assert without["counts"]["single"] == 1
    assert "~unclear" in with_them["category"]
    assert "~unclear" not in without["category"]


def test_categories_say_how_often_another_rater_gives_the_code_too(
    found_of: Measured,
) -> None:
    categories = found_of("pilot")["category"]
    assert list(categories) == ["a1", "a2", "b1", "b2"]
    # a1 was given 6 * 2 times by both, three times by one only.
    assert categories["a1"]["count"] == 15
    assert categories["a1"]["agreeing_percent"] == pytest.approx(100 * 12 / 15)
    assert categories["a1"]["label"] == "Name of a1"


def test_the_most_confused_codes_are_counted(found_of: Measured) -> None:
    confused = found_of("pilot")["confused"]
    assert [(each["one"], each["other"], each["pairs"]) for each in confused] == [
        ("a1", "a2", 2), ("a1", "b2", 1), ("b1", "b2", 1),
    ]  # fmt: skip
    assert confused[0]["share"] == pytest.approx(0.5)


def test_strata_and_pairs_are_measured_apart(labelled: Labelled, measured: Measured) -> None:
    three = {item: {**row, "cleo": row["ann"]} for item, row in TWENTY.items()}
    strata = {item: "keras" if at < 10 else "torch" for at, item in enumerate(TWENTY)}
    labelled.round("pilot", three, strata=strata)
    found = measured("pilot")["rounds"]["pilot"]
    assert found["stratum"]["keras"]["value"] == pytest.approx(1)
    assert found["stratum"]["torch"]["value"] < 1
    assert found["pair"]["ann~cleo"]["value"] == pytest.approx(1)
    assert found["pair"]["ann~bob"]["value"] == found["pair"]["bob~cleo"]["value"]
    assert "cohen" not in found["statistics"]  # of two raters; their mean takes its place
    pairs = [each["value"] for each in found["pair"].values()]
    assert found["statistics"]["pairwise"]["value"] == pytest.approx(sum(pairs) / 3)


def test_several_codes_are_measured_as_sets(labelled: Labelled, measured: Measured) -> None:
    labelled.taxonomy(name="many", choice="multiple")
    labelled.round(
        "many",
        {
            "github:o/r#1": {"ann": ["a1", "b1"], "bob": ["a1"]},
            "github:o/r#2": {"ann": ["a2"], "bob": ["a2"]},
            "github:o/r#3": {"ann": ["b1", "b2"], "bob": ["b2", "b1"]},
            "github:o/r#4": {"ann": ["a1"], "bob": ["a2"]},
        },
        taxonomy="many",
        statistic="krippendorff",
    )
    found = measured("many")["rounds"]["many"]
    statistics = found["statistics"]
    assert found["main"] == "krippendorff-masi"
    # Half of a set is more than nothing of it, and MASI is stricter than Jaccard.
    values = [
        statistics[f"krippendorff{kind}"]["value"] for kind in ("-whole", "-masi", "-jaccard")
    ]
    assert values == sorted(values)
    assert values[0] < values[2]
    # Each code for itself: given or not.
    assert found["category"]["b2"]["value"] == pytest.approx(1)
    assert found["category"]["a1"]["value"] < 1
    assert [(each["one"], each["other"]) for each in found["confused"]] == [("a1", "a2")]


def test_raters_and_the_first_raters_can_be_chosen(labelled: Labelled, measured: Measured) -> None:
    """As a sheet with varying raters has them: the order of its columns is that of answers."""
    labelled.round(
        "pilot",
        {
            "github:o/r#1": {"cleo": "a1", "ann": "a1", "bob": "b1"},
            "github:o/r#2": {"bob": "a2", "cleo": "a2", "ann": "b1"},
            "github:o/r#3": {"ann": "b1", "bob": "b1", "cleo": "a1"},
            "github:o/r#4": {"bob": "b2", "ann": "a1"},
        },
        raters=("ann", "bob", "cleo"),
    )
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.round SET origin = 'imported'")
    first = measured("pilot", "--first", 2)["rounds"]["pilot"]
    assert first["counts"]["ratings"] == 8
    assert first["statistics"]["percent"]["value"] == pytest.approx(0.75)
    two = measured("pilot", "--rater", "ann", "--rater", "bob")["rounds"]["pilot"]
    assert two["raters"] == ["ann", "bob"]
    assert two["statistics"]["percent"]["value"] == pytest.approx(0.25)


def test_labels_are_measured_before_and_after_discussion(
    labelled: Labelled, measured: Measured
) -> None:
    labelled.round("pilot", TWENTY, statistic="cohen", threshold=0.7)
    labelled.say(
        "pilot",
        {"github:o/r#17": {"ann": "a2"}, "github:o/r#18": {"ann": "a1"}},
        stage="negotiated",
    )
    before = measured("pilot")
    after = measured("pilot", "--stage", "negotiated")
    alike = [each["rounds"]["pilot"]["statistics"]["percent"]["value"] for each in (before, after)]
    assert alike == [pytest.approx(0.8), pytest.approx(0.9)]  # the other items count as they were
    assert [point["stage"] for point in before["trend"]] == ["independent", "negotiated"]
    assert before["trend"] == after["trend"]
    assert "negotiated" in kinds(after, "pilot")
    assert after["result"] != before["result"]


def test_labels_are_carried_to_another_version(labelled: Labelled, measured: Measured) -> None:
    labelled.round("pilot", TWENTY)
    merged = {"a": "", "a1": "a", "b": "", "b1": "b", "b2": "b"}
    labelled.taxonomy(merged, version="2.0.0")
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    changes = 'changes:\n  - from: "1.0.0"\n    steps:\n      - {merge: [a1, a2], to: a1}\n'
    path.write_text(path.read_text(encoding="utf-8") + changes, encoding="utf-8")
    old = measured("pilot")["rounds"]["pilot"]
    new = measured("pilot", "--version", "2.0.0")["rounds"]["pilot"]
    assert (old["taxonomy_version"], new["taxonomy_version"]) == ("1.0.0", "2.0.0")
    assert old["statistics"]["percent"]["value"] == pytest.approx(0.8)
    assert new["statistics"]["percent"]["value"] == pytest.approx(0.9)


def test_labels_that_a_split_leaves_open_are_said_and_do_not_count(
    labelled: Labelled, measured: Measured
) -> None:
    labelled.round("pilot", TWENTY)
    parts = {"a": "", "a1": "a", "a3": "a", "a4": "a", "b": "", "b1": "b", "b2": "b"}
    labelled.taxonomy(parts, version="2.0.0")
    path = labelled.study.directory / "taxonomies" / "tree.yaml"
    changes = 'changes:\n  - from: "1.0.0"\n    steps:\n      - {split: a2, to: [a3, a4]}\n'
    path.write_text(path.read_text(encoding="utf-8") + changes, encoding="utf-8")
    document = measured("pilot", "--version", "2.0.0")
    counts = document["rounds"]["pilot"]["counts"]
    assert (counts["undecided"], counts["compared"]) == (10, 14)
    assert "undecided" in kinds(document, "pilot")


@pytest.mark.usefixtures("stored")
def test_rounds_are_measured_each_and_together_and_over_time(
    labelled: Labelled, measured: Measured
) -> None:
    labelled.round("pilot", TWENTY, statistic="fleiss", threshold=0.7)
    labelled.round("rest", said([("a1", "a1"), ("b1", "b1")]), statistic="fleiss", threshold=0.7)
    labelled.round("alone", {"github:o/r#1": {"ann": "a1"}})
    document = measured()
    assert document["result"] == "agreement"
    assert list(document["rounds"]) == ["pilot", "rest"]
    assert document["left_out"] == ["alone"]
    both = document["together"]["tree"]
    assert both["counts"]["compared"] == 22
    assert both["statistics"]["percent"]["value"] == pytest.approx(18 / 22)
    assert "repeated" in [each["kind"] for each in both["cautions"]]
    assert [point["round"] for point in document["trend"]] == ["pilot", "rest"]
    with labelled.study.reading() as reader:
        result = latest(reader, "agreement")
    assert [figure.name for figure in result.figures] == ["trend", "confusion"]
    assert result.figures[0].threshold == (0.7, 0.7)


# What is said about it.


def test_items_with_one_rating_are_said_and_do_not_count(
    labelled: Labelled, measured: Measured, command: Command
) -> None:
    labelled.round("pilot", {**TWENTY, "github:o/r#21": {"ann": "a1"}, "github:o/r#22": {}})
    document = measured("pilot")
    counts = document["rounds"]["pilot"]["counts"]
    assert (counts["compared"], counts["single"], counts["none"]) == (20, 1, 1)
    shown = " ".join(command("annotation", "agreement", "pilot", "--resamples", 0).stdout.split())
    assert "1 item has one rating: no agreement is seen there." in shown


@pytest.mark.usefixtures("stored")
def test_a_statistic_that_was_not_fixed_is_said(
    labelled: Labelled, measured: Measured, tmp_path: Path
) -> None:
    labelled.round("fixed", TWENTY, statistic="cohen")
    labelled.round("open", TWENTY)
    assert "after-the-fact" not in kinds(measured("fixed"), "fixed")
    chosen = measured("fixed", "--statistic", "gwet")
    assert "after-the-fact" in kinds(chosen, "fixed")
    assert "not cohen" in chosen["rounds"]["fixed"]["how_chosen"]
    assert next(iter(chosen["rounds"]["fixed"]["statistics"])) == "gwet"
    assert "after-the-fact" in kinds(measured("open"), "open")
    (tmp_path / "study.toml").write_text('[agreement]\nstatistic = "fleiss"\n', encoding="utf-8")
    late = measured("open")["rounds"]["open"]
    assert late["main"] == "fleiss"
    assert not late["fixed_beforehand"]
    with labelled.study.reading() as reader:
        stored = latest(reader, chosen["result"])
    assert any("chosen after" in str(cell) for row in stored.table("cautions").rows for cell in row)


def test_how_a_round_came_about_is_said(labelled: Labelled, measured: Measured) -> None:
    labelled.round("pilot", TWENTY, statistic="cohen")
    assert kinds(measured("pilot"), "pilot") == ["few-items", "wide-interval"]
    with labelled.study.writing() as writer:
        writer.execute(
            "UPDATE store.round SET origin = 'imported', overlap = 40, suggestions = true"
        )
        writer.execute(
            "INSERT INTO store.assignment VALUES ('pilot', 'github:o/r#1', 'ann', 1, 'by hand'), "
            "('pilot', 'github:o/r#99', 'ann', 2, 'by hand')"
        )
        writer.execute(
            "INSERT INTO store.project (server, project_id, round, rater, stage, taxonomy_version, "
            "blindness, run_id) VALUES "
            "('own', 1, 'pilot', 'ann', 'independent', '1.0.0', 'own project', 'by hand')"
        )
    document = measured("pilot")
    said = set(kinds(document, "pilot"))
    assert {"imported", "overlap", "suggestions", "unfinished", "blindness"} <= said
    # What was fixed when sheets were imported was fixed after their labels.
    assert "after-the-fact" in kinds(document, "pilot")
    assert not document["rounds"]["pilot"]["fixed_beforehand"]


def test_raters_who_use_codes_differently_are_named(labelled: Labelled, measured: Measured) -> None:
    pairs = [("a1", "a1")] * 20 + [("a1", "b1")] * 20
    labelled.round("pilot", said(pairs, "ann", "bob"))
    [bias] = [
        each["message"]
        for each in measured("pilot")["rounds"]["pilot"]["cautions"]
        if each["kind"] == "bias"
    ]
    assert "ann and bob have a bias index of 0.50" in bias


def test_the_kappa_paradox_and_too_few_items_are_said(
    labelled: Labelled, measured: Measured
) -> None:
    pairs = [("a1", "a1")] * 18 + [("a1", "b1"), ("b1", "a1")]
    labelled.round("skewed", said(pairs), statistic="cohen")
    document = measured("skewed")
    assert document["rounds"]["skewed"]["statistics"]["cohen"]["value"] < 0
    assert document["rounds"]["skewed"]["statistics"]["percent"]["value"] == pytest.approx(0.9)
    assert {"paradox", "few-items"} <= set(kinds(document, "skewed"))


def test_the_paradox_names_each_statistic_with_its_own_value(
    labelled: Labelled, measured: Measured
) -> None:
    pairs = [("a1", "a1")] * 52 + [("a1", "a2")] * 4 + [("a2", "a1")] * 3 + [("a2", "a2")]
    labelled.round("skewed", said([*pairs, ("b1", "b1")]), statistic="krippendorff")
    found = measured("skewed")["rounds"]["skewed"]
    [message] = [each["message"] for each in found["cautions"] if each["kind"] == "paradox"]
    alpha = found["statistics"]["krippendorff"]["value"]
    assert f"yet krippendorff is {alpha:.2f}," in message


# What a user gets wrong.


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Labelled:
    """A study that no mistake changes."""
    made = Labelled.at(tmp_path_factory.mktemp("unharmed"))
    made.taxonomy()
    made.round("pilot", TWENTY)
    made.round("lonely", {"github:o/r#1": {"ann": "a1"}})
    return made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody",), "there is no round 'nobody'"),
        (("lonely",), "no item that two raters labelled"),
        (("pilot", "--rater", "zoe"), "no rater 'zoe'"),
        (("pilot", "--statistic", "kappa"), "no statistic 'kappa'"),
        (("pilot", "--scale", "mine"), "no scale 'mine'"),
        (("pilot", "--stage", "negotiated"), "no labels after discussion"),
        (("pilot", "--version", "9.9.9"), "no version 9.9.9"),
        (("pilot", "--threshold", "0.7"), "--threshold needs --gate"),
        (("pilot", "--gate", "--threshold", "7"), "not between -1 and 1"),
        (("pilot", "--gate"), "no threshold"),
        (("pilot", "--printed", "high"), "no printed value"),
        (("pilot", "--printed", "rest:0.8"), "not measured"),
    ],
)
@pytest.mark.usefixtures("stored")
def test_mistakes_are_told_and_store_nothing(
    arguments: tuple[str, ...], message: str, unharmed: Labelled, command: Command
) -> None:
    where = ("--study", unharmed.study.directory)
    done = command("annotation", "agreement", *arguments, *where)
    assert done.returncode == 1
    assert message in done.stderr
    with unharmed.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM results") == 0
        assert reader.value("SELECT count(*) FROM gates") == 0


def test_a_study_without_rounds_says_what_to_do(command: Command) -> None:
    done = command("annotation", "agreement")
    assert done.returncode == 1
    assert "annotation import" in done.stderr
