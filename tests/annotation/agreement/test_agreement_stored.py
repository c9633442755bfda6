"""What of agreement is stored and shown: names, claims, reports, and how values were chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from agreeing import TWENTY, said
from labelling import Labelled

from faultatlas.annotation.agreement.choices import Choice
from faultatlas.report.formatting import file_stem

Command = Callable[..., CompletedProcess[str]]
Measured = Callable[..., dict[str, Any]]


@pytest.mark.usefixtures("stored")
def test_every_number_is_a_claim_that_leads_back_to_the_document(
    labelled: Labelled, measured: Measured
) -> None:
    labelled.round("pilot", TWENTY, statistic="cohen")
    labelled.round("rest", said([("a1", "a1"), ("b1", "b1"), ("b1", "a1")]))
    for arguments in (("pilot",), ()):
        document = measured(*arguments)
        numbers = document["quantities"]
        rounds = document.get("rounds", {})
        for name, found in rounds.items():
            place = "" if arguments else f"rounds.{name}."
            for key, statistic in found["statistics"].items():
                if statistic["value"] is not None:
                    assert numbers[f"{place}{key}"]["value"] == statistic["value"]
            for dimension in ("category", "level", "pair"):
                for key, part in found[dimension].items():
                    if part["value"] is not None:
                        assert numbers[f"{place}{dimension}.{key}"]["value"] == part["value"]
    with labelled.study.reading() as reader:
        ids = [row["claim_id"] for row in reader.rows("SELECT claim_id FROM claims")]
    assert len(set(ids)) == len(ids)
    assert "agreement-pilot.cohen" in ids
    assert "agreement.rounds.pilot.cohen" in ids


@pytest.mark.usefixtures("drawn")
def test_the_same_seed_gives_the_same_report(
    labelled: Labelled, measured: Measured, tmp_path: Path
) -> None:
    labelled.round("pilot", TWENTY)
    measured("pilot", "--seed", 7)
    folder = tmp_path / "out" / "agreement-pilot"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    measured("pilot", "--seed", 7)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert {"report.html", "confusion.svg", "statistics.csv", "cautions.csv"} <= set(before)


@pytest.mark.usefixtures("drawn")
def test_any_name_of_a_round_can_be_reported(
    labelled: Labelled, measured: Measured, tmp_path: Path
) -> None:
    for name in ("../up", "<b>x</b>", "a b", "A b"):
        labelled.round(name, said([("a1", "a1"), ("b1", "b1"), ("b1", "a1")], "x~y", "z"))
    for document in (measured("../up"), measured("<b>x</b>", "a b", "A b")):
        assert (tmp_path / "out" / document["result"] / "report.html").is_file()


def test_names_of_results_are_those_of_one_choice_only() -> None:
    choices = [
        Choice(),
        Choice(("pilot",)),
        Choice(("pilot-first-2",)),
        Choice(("pilot",), first=2),
        Choice(first=2),
        Choice(("a b",)),
        Choice(("a-b",)),
        Choice(("a", "b")),
        Choice(("a.b",)),
        Choice(("a" * 200,)),
        Choice(("a" * 201,)),
        Choice((Choice(("pilot",), first=2).result_name.removeprefix("agreement-"),)),
    ]
    names = [choice.result_name for choice in choices]
    assert names[:3] == ["agreement", "agreement-pilot", "agreement-pilot-first-2"]
    assert len(set(names)) == len(names)
    assert all(file_stem(name) and "." not in name for name in names)


def test_ids_of_claims_are_unique_whatever_names_are(
    labelled: Labelled, measured: Measured
) -> None:
    """Two raters with a tilde, rounds with what parts the words of an id."""
    said_by = [
        {"a~b": one, "c": one, "a": one, "b~c": other}
        for one, other in [("a1", "a1"), ("a2", "a2"), ("b1", "a1"), ("b1", "b1")]
    ]
    rows = {f"github:o/r#{at}": row for at, row in enumerate(said_by)}
    for name in ("p", "p.category.a1", "p category", "q/r"):
        labelled.round(name, rows)
    assert len(measured()["quantities"]) > 4 * len(rows)
    assert {"pair.a%7Eb~c", "pair.a~b%7Ec"} <= measured("p")["quantities"].keys()


def test_rounds_of_one_taxonomy_with_one_or_several_codes_are_told_apart(
    labelled: Labelled, measured: Measured
) -> None:
    few = said([("a1", "a1"), ("b1", "b1"), ("b1", "a1")])
    for name in ("s1", "s2"):
        labelled.round(name, few)
    labelled.taxonomy(choice="multiple")
    for name in ("m1", "m2"):
        labelled.round(name, few)
    document = measured()
    assert list(document["together"]) == ["tree single", "tree multiple"]


def test_claims_say_which_labels_were_left_out(labelled: Labelled, measured: Measured) -> None:
    three = {item: {**row, "cleo": row["ann"]} for item, row in TWENTY.items()}
    labelled.round("pilot", three, statistic="krippendorff")
    document = measured("pilot", "--rater", "ann", "--rater", "cleo", "--special", "missing")
    claim = next(iter(document["quantities"].values()))["statement"]
    assert "round pilot [only ann, cleo; answers that are no code left out]" in claim
    found = document["rounds"]["pilot"]
    assert not found["fixed_beforehand"]
    assert "which labels count was chosen afterwards" in found["how_chosen"]


def test_one_code_only_has_an_ac1_but_no_alpha(labelled: Labelled, measured: Measured) -> None:
    labelled.round("pilot", said([("a1", "a1")] * 30))
    statistics = measured("pilot")["rounds"]["pilot"]["statistics"]
    assert (statistics["gwet"]["value"], statistics["krippendorff"]["value"]) == (1.0, None)


def test_items_with_one_rating_do_not_lift_a_category(
    labelled: Labelled, measured: Measured
) -> None:
    """Nobody agreed on b1; that it is frequent elsewhere does not make it agreed upon."""
    rows = said([*[("a1", "a1")] * 10, ("b1", "a1"), ("a1", "b1")])
    alone = {f"github:o/r#{at}": {"ann": "b1"} for at in range(50, 80)}
    labelled.round("pilot", {**rows, **alone})
    found = measured("pilot")["rounds"]["pilot"]
    assert found["category"]["b1"]["value"] < 0
    assert found["category"]["b1"]["count"] == 2


def test_perfect_agreement_has_no_interval(
    labelled: Labelled, measured: Measured, command: Command
) -> None:
    rows = said([("a1", "a1"), ("b1", "b1")] * 15)
    alone = {f"github:o/r#{at}": {"ann": "b1"} for at in range(50, 60)}
    labelled.round("pilot", {**rows, **alone}, statistic="fleiss")
    for each in measured("pilot")["rounds"]["pilot"]["statistics"].values():
        assert each["value"] == pytest.approx(1)
        assert each["analytic"]["low"] is None
        assert each["bootstrap"]["low"] is None
    shown = command("annotation", "agreement", "pilot", "--resamples", 50).stdout
    assert "kappa 1.000 (almost perfect" in " ".join(shown.split())


def test_more_detail_hides_neither_rows_nor_values(
    labelled: Labelled, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("pilot", "rest"):
        labelled.round(name, TWENTY, statistic="cohen")
    shown = command("annotation", "agreement", "-v", "--resamples", 50).stdout
    for table in shown.split("Agreement by ")[1:5]:
        text = " ".join(table.split())
        head = text.partition("interval")[0]
        assert "Round" in head
        assert "Value" in head
        hidden = text.partition("Not shown: ")[2].partition(".")[0].split(", ")
        assert not {"Statistic", "Level", "Code", "Value", "95 % interval"} & {*hidden}


def test_distances_of_sets_are_refused_where_one_code_is_given(
    labelled: Labelled, measured: Measured, command: Command
) -> None:
    few = said([("a1", "a1"), ("b1", "b1"), ("b1", "a1")])
    labelled.round("one", few)
    labelled.taxonomy(name="many", choice="multiple")
    labelled.round("many", few, taxonomy="many")
    refused = command("annotation", "agreement", "one", "--statistic", "krippendorff-masi")
    assert refused.returncode == 1
    assert "is for rounds where raters may give several codes" in refused.stderr
    whole = measured("many", "--statistic", "krippendorff-whole")["rounds"]["many"]
    assert whole["main"] == "krippendorff-whole"


def test_how_the_statistic_was_chosen_is_said_truly(labelled: Labelled, measured: Measured) -> None:
    for name, statistic in (("pilot", "cohen"), ("rest", "fleiss")):
        labelled.round(name, TWENTY, statistic=statistic)
    together = measured()["together"]["tree"]["how_chosen"]
    assert "the rounds fixed different statistics (cohen, fleiss)" in together
    with labelled.study.writing() as writer:
        writer.execute("UPDATE store.round SET origin = 'imported'")
    alone = measured("pilot")["rounds"]["pilot"]["how_chosen"]
    assert alone.startswith("study.toml said cohen when the sheet was imported")


def test_parts_are_printed_when_they_are_asked_for(labelled: Labelled, command: Command) -> None:
    labelled.round("pilot", TWENTY)
    plain = command("annotation", "agreement", "pilot", "--resamples", 0).stdout
    asked = command(
        "annotation", "agreement", "pilot", "--resamples", 0, "--by", "category", "--by", "level"
    ).stdout
    for heading in ("Agreement by categories", "Agreement by levels"):
        assert heading not in plain
        assert heading in asked
