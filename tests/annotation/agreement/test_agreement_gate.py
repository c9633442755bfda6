"""The gate between rounds: decided by exit code, recorded, with its reasons."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

from labelling import Labelled

from faultatlas.analysis.statistics.agreement.ratings import AgreementEstimate
from faultatlas.annotation.agreement.gate import Gate, decide
from faultatlas.annotation.agreement.measuring import Measured
from faultatlas.annotation.planning.gates import hold_on
from faultatlas.annotation.rounds import find_round
from faultatlas.data.study import Reader

Command = Callable[..., CompletedProcess[str]]

GOOD = {
    f"github:o/r#{at}": {"ann": code, "bob": code}
    for at, code in enumerate(["a1", "a2", "b1", "b2"] * 10, 1)
}
BAD = {
    **GOOD,
    **{f"github:o/r#{at}": {"ann": "a1", "bob": "b1"} for at in range(1, 31)},
}


def last_gate(reader: Reader, round_name: str) -> Gate | None:
    """The last decision on a round; None where there was none."""
    rows = reader.rows(
        "SELECT round, stage, statistic, threshold, value, low, high, items, is_passed, reason, "
        "decided_at FROM store.gate WHERE round = ? ORDER BY decided_at DESC, rowid DESC LIMIT 1",
        [round_name],
    )
    return Gate(**rows[0]) if rows else None


def gate_of(labelled: Labelled, name: str) -> Gate:
    with labelled.study.reading() as reader:
        found = last_gate(reader, name)
    assert found is not None
    return found


def test_no_decision_yet(labelled: Labelled) -> None:
    labelled.round("pilot", GOOD)
    with labelled.study.reading() as reader:
        assert last_gate(reader, "pilot") is None


def test_the_fixed_statistic_and_threshold_decide(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", GOOD, statistic="gwet", threshold=0.7)
    done = command("annotation", "agreement", "pilot", "--gate", "--resamples", 0)
    assert done.returncode == 0
    assert "gate passed: pilot: Gwet's AC1 1.000" in done.stderr
    gate = gate_of(labelled, "pilot")
    assert (gate.statistic, gate.threshold, gate.value, gate.items) == ("gwet", 0.7, 1.0, 40)
    assert gate.is_passed
    assert "now" not in gate.reason


def test_a_dry_run_decides_and_stores_nothing(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", GOOD, statistic="gwet", threshold=0.7)
    line = ("annotation", "agreement", "pilot", "--gate", "--resamples", 0, "--dry-run")
    ended = command(*line)
    assert (ended.returncode, "gate passed: pilot" in ended.stderr) == (0, True)
    with labelled.study.reading() as reader:
        assert last_gate(reader, "pilot") is None
        assert reader.value("SELECT count(*) FROM results") == 0
    assert not (labelled.study.directory / "out").exists()


def test_too_little_agreement_stops_and_says_what_next(
    labelled: Labelled, command: Command
) -> None:
    labelled.round("pilot", BAD, statistic="cohen", threshold=0.7)
    done = command("annotation", "agreement", "--gate", "pilot", "--json", "-q")
    assert done.returncode == 1
    document = json.loads(done.stdout)["data"]  # what was measured is shown all the same
    value = document["rounds"]["pilot"]["statistics"]["cohen"]["value"]
    assert document["gates"][0]["value"] == value
    assert not document["gates"][0]["is_passed"]
    assert f"Cohen's kappa {value:.3f} (95 % interval" in done.stderr
    assert "does not reach 0.7" in done.stderr
    assert "annotation adjudicate pilot" in done.stderr
    assert not gate_of(labelled, "pilot").is_passed


def test_what_was_not_planned_opens_no_round(labelled: Labelled, command: Command) -> None:
    """Labels, statistic and threshold that are chosen to pass are recorded as chosen."""
    said = {item: {**row, "cleo": "~unclear"} for item, row in list(GOOD.items())[:15]}
    labelled.round(
        "pilot", {**GOOD, **said}, raters=("ann", "bob", "cleo"), statistic="krippendorff",
        threshold=0.8,
    )  # fmt: skip
    labelled.round("rest", {})
    line = ("annotation", "agreement", "pilot", "--resamples", 0, "--gate")
    assert command(*line).returncode == 1
    for options in (
        ("--threshold", "0.1"),
        ("--rater", "ann", "--rater", "bob"),
        ("--first", "2"),
        ("--special", "missing"),
        ("--statistic", "percent"),
    ):
        done = command(*line, *options)
        assert gate_of(labelled, "pilot").reason.startswith("not by the fixed plan: "), options
        assert done.returncode or "The next round waits for what was fixed" in done.stderr
        with labelled.study.reading() as reader:
            after = replace(find_round(reader, "rest"), after="pilot")
            assert hold_on(reader, after).state == "failed"
    agreed = {item: {"cleo": row["ann"]} for item, row in list(GOOD.items())[:15]}
    labelled.say("pilot", agreed, stage="negotiated")
    assert command(*line, "--stage", "negotiated").returncode == 0
    with labelled.study.reading() as reader:
        assert hold_on(reader, after).state == "passed"


def test_what_is_exactly_the_threshold_passes() -> None:
    def decided(value: float) -> Gate:
        found = AgreementEstimate("cohen", value, 40, 2, 80)
        return decide("pilot", Measured("cohen", "Kappa", found), "independent", 0.7)

    assert decided(0.7 - 1e-12).is_passed
    below = decided(0.69996)
    assert not below.is_passed
    assert "Kappa 0.69996 does not reach 0.7" in below.reason


def test_a_round_that_cannot_be_measured_does_not_pass(
    labelled: Labelled, command: Command
) -> None:
    labelled.round("good", GOOD, statistic="cohen", threshold=0.7)
    labelled.round("empty", {"github:o/r#1": {"ann": "a1"}}, statistic="cohen", threshold=0.7)
    done = command("annotation", "agreement", "--gate", "--resamples", 0)
    assert done.returncode == 1
    assert "gate passed: good" in done.stderr
    assert "gate not passed: empty: no item has labels of two raters" in done.stderr


def test_one_code_only_gets_a_hint_that_helps(labelled: Labelled, command: Command) -> None:
    same = {item: {"ann": "a1", "bob": "a1"} for item in GOOD}
    labelled.round("pilot", same, statistic="krippendorff", threshold=0.7)
    done = command("annotation", "agreement", "pilot", "--gate", "--resamples", 0)
    assert done.returncode == 1
    assert "label items of other kinds" in done.stderr
    assert "--statistic krippendorff" not in done.stderr


def test_a_threshold_that_is_given_now_is_said(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", BAD, statistic="cohen", threshold=0.7)
    assert command("annotation", "agreement", "pilot", "--gate", "--resamples", 0).returncode == 1
    assert (
        command("annotation", "agreement", "pilot", "--gate", "--threshold", "0.1").returncode == 0
    )
    gate = gate_of(labelled, "pilot")
    assert gate.is_passed
    assert gate.threshold == 0.1
    assert "the threshold 0.1 was given now (0.7 was fixed beforehand)" in gate.reason
    assert (
        command("annotation", "agreement", "pilot", "--gate", "--threshold", "0.7").returncode == 1
    )
    assert "given now" not in gate_of(labelled, "pilot").reason


def test_a_statistic_that_is_chosen_now_is_said(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", BAD, statistic="cohen", threshold=0.7)
    command("annotation", "agreement", "pilot", "--gate", "--statistic", "percent")
    gate = gate_of(labelled, "pilot")
    assert gate.statistic == "percent"
    assert "not cohen, which was fixed beforehand" in gate.reason


def test_the_threshold_of_the_study_is_used_where_the_round_has_none(
    labelled: Labelled, command: Command, tmp_path: Path
) -> None:
    labelled.round("pilot", GOOD)
    text = '[agreement]\nstatistic = "fleiss"\nthreshold = 0.8\n'
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    assert command("annotation", "agreement", "pilot", "--gate", "--resamples", 0).returncode == 0
    gate = gate_of(labelled, "pilot")
    assert gate.statistic == "fleiss"
    assert "that of study.toml" in gate.reason
    assert "nothing shows that it was fixed before the first label" in gate.reason


def test_discussion_opens_the_gate(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", BAD, statistic="cohen", threshold=0.7)
    assert command("annotation", "agreement", "pilot", "--gate", "--resamples", 0).returncode == 1
    agreed = {item: {"bob": "a1"} for item in list(BAD)[:30]}
    labelled.say("pilot", agreed, stage="negotiated")
    after = ("annotation", "agreement", "pilot", "--stage", "negotiated", "--gate")
    assert command(*after).returncode == 0
    gate = gate_of(labelled, "pilot")
    assert (gate.stage, gate.is_passed) == ("negotiated", True)
    with labelled.study.reading() as reader:  # the first decision stays
        passed = reader.rows("SELECT is_passed FROM gates ORDER BY decided_at")
    assert [row["is_passed"] for row in passed] == [False, True]


def test_a_value_that_cannot_be_had_does_not_pass(labelled: Labelled, command: Command) -> None:
    three = {item: {**row, "cleo": row["ann"]} for item, row in GOOD.items()}
    labelled.round("pilot", three, statistic="cohen", threshold=0.7)
    done = command("annotation", "agreement", "pilot", "--gate", "--resamples", 0)
    assert done.returncode == 1
    assert "has no value" in done.stderr
    assert gate_of(labelled, "pilot").value is None


def test_one_round_below_closes_the_gate_of_several(labelled: Labelled, command: Command) -> None:
    labelled.round("good", GOOD, statistic="cohen", threshold=0.7)
    labelled.round("bad", BAD, statistic="cohen", threshold=0.7)
    done = command("annotation", "agreement", "--gate")
    assert done.returncode == 1
    assert "gate passed: good" in done.stderr
    assert "gate not passed: bad" in done.stderr


def test_labels_that_are_changed_after_a_gate_do_not_open_it(
    labelled: Labelled, command: Command
) -> None:
    labelled.round("pilot", BAD, statistic="cohen", threshold=0.7)
    labelled.round("rest", {})
    line = ("annotation", "agreement", "pilot", "--resamples", 0, "--gate")
    assert command(*line).returncode == 1
    labelled.say("pilot", {item: {"bob": "a1"} for item in list(BAD)[:30]})
    done = command(*line, "--json", "-q")
    assert done.returncode == 0
    words = "30 independent labels were changed after a gate was decided on them"
    assert words in done.stdout
    gate = gate_of(labelled, "pilot")
    assert gate.is_passed
    assert gate.reason.startswith("not by the fixed plan: ")
    assert words in gate.reason
    with labelled.study.reading() as reader:
        after = replace(find_round(reader, "rest"), after="pilot")
        hold = hold_on(reader, after)
    assert (hold.state, hold.next) == ("open", "annotation adjudicate pilot")


def test_the_gate_of_an_imported_round_is_said_to_be_late(
    labelled: Labelled, command: Command
) -> None:
    labelled.round("old", GOOD, statistic="cohen", threshold=0.7)
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.round SET origin = 'imported'")
    assert command("annotation", "agreement", "old", "--gate", "--resamples", 0).returncode == 0
    assert "was not fixed before the labels" in gate_of(labelled, "old").reason
