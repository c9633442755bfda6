"""`annotation adjudicate --accuracy`: raters beside the final labels, and over time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from labelling import Labelled

from faultatlas.annotation.labels import Answer, append
from faultatlas.data import provenance

Command = Callable[..., CompletedProcess[str]]


def item(number: int) -> str:
    return f"github:o/r#{number + 1}"


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    """Three raters; cyd errs in the first half of the round's order."""
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    said = {
        item(n): {"ann": code, "bob": code, "cyd": code if n >= 20 else "b2"}
        for n in range(40)
        for code in ["a1" if n % 2 else "b1"]
    }
    labelled.round("pilot", said)
    return labelled


def _accuracy(command: Command, *options: Any) -> dict[str, Any]:
    done = command("annotation", "adjudicate", "pilot", "--accuracy", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_each_rater_is_compared_with_the_final_label(labelled: Labelled, command: Command) -> None:
    assert command("annotation", "adjudicate", "pilot", "--rule", "majority").returncode == 0
    found = _accuracy(command)
    cyd = found["raters"]["cyd"]
    assert (cyd["count"], cyd["n"], cyd["percent"]) == (20, 40, 50.0)
    assert (cyd["low"], cyd["high"]) == pytest.approx((35.20, 64.80), abs=0.005)  # Wilson
    # Observed 0.5, by chance 0.25: her codes are 10, 10, 20 of 40, the final ones 20 and 20.
    assert cyd["cohen"] == pytest.approx((0.5 - 0.25) / (1 - 0.25))
    assert cyd["disputed"]["percent"] == 0.0
    assert [part["percent"] for part in cyd["parts"]] == [0, 0, 100, 100]
    assert cyd["trend"]["z"] > 5
    assert found["raters"]["ann"]["percent"] == 100.0
    assert found["raters"]["ann"]["trend"]["p"] is None
    first = found["confusions"][0]
    assert (first["codes"], first["n"]) == (["a1"], 60)
    assert first["instead"] == [{"codes": ["b2"], "count": 10}]
    with labelled.study.reading() as reader:
        claims = reader.rows("SELECT claim_id, value FROM claims ORDER BY claim_id")
    values = {row["claim_id"]: row["value"] for row in claims}
    assert values["accuracy-pilot.cyd.percent"] == 50.0
    assert values["accuracy-pilot.cyd.cohen"] == pytest.approx(1 / 3)
    page = Path(found["report"]).read_text(encoding="utf-8")
    assert "not with the truth" in page


def test_the_order_is_that_of_the_times_of_labelling(labelled: Labelled, command: Command) -> None:
    run = provenance.begin("by hand", {})
    start = datetime(2024, 1, 1)  # noqa: DTZ001  (UTC, as in the study)
    with labelled.study.writing() as writer:
        provenance.record(writer, run, "ok")
        answers = [
            Answer(item(n), "cyd", ("b2" if n < 20 else "a1" if n % 2 else "b1",), "1.0.0", "x",
                   comment="later", labelled_at=start - timedelta(hours=n))
            for n in range(40)
        ]  # fmt: skip
        append(writer, "pilot", answers, run)
    command("annotation", "adjudicate", "pilot", "--rule", "majority")
    found = _accuracy(command, "--parts", "2")
    assert [part["percent"] for part in found["raters"]["cyd"]["parts"]] == [100, 0]
    assert found["raters"]["cyd"]["ordered_by"] == "the time of labelling"
    assert found["raters"]["ann"]["ordered_by"] == "the order of the round"


def test_against_the_others_no_rater_meets_herself(tmp_path: Path, command: Command) -> None:
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    labelled.round(
        "pilot",
        {
            item(1): {"ann": "a1", "bob": "a1", "cyd": "b1"},
            item(2): {"ann": "a1", "bob": "a2"},
            item(3): {"ann": "a1"},
        },
    )
    found = _accuracy(command, "--against", "others")
    counts = {rater: (each["count"], each["n"]) for rater, each in found["raters"].items()}
    # Of item 1, ann and bob see one a1 and one b1: no majority.
    assert counts == {"ann": (0, 1), "bob": (0, 1), "cyd": (0, 1)}
    refused = command("annotation", "adjudicate", "pilot", "--accuracy")
    assert refused.returncode == 1
    assert "has no final labels" in refused.stderr
    assert "--rule majority" in refused.stderr


def test_another_choice_is_another_result(labelled: Labelled, command: Command) -> None:
    """A round may be called as another one and an option together are."""
    said = {item(1): {"ann": "a1", "bob": "a1"}}
    for name in ("pilot-others", "pilot-1.0.0", "pilot-version-1-0-0", f"p{'x' * 90}"):
        labelled.round(name, said)
    folders = []
    for name, *options in (
        ("pilot", "--against", "others"),
        ("pilot", "--version", "1.0.0", "--against", "others"),
        ("pilot-others", "--against", "others"),
        ("pilot",),
        ("pilot", "--version", "1.0.0"),
        ("pilot-others",),
        ("pilot-1.0.0",),
        ("pilot-version-1-0-0",),
        (f"p{'x' * 90}",),
    ):
        assert command("annotation", "adjudicate", name, "--rule", "majority").returncode == 0
        done = command("annotation", "adjudicate", name, "--accuracy", "--json", *options)
        assert done.returncode == 0, done.stderr
        folders.append(Path(json.loads(done.stdout)["report"]).parent.name)
    assert len(set(folders)) == len(folders)
    assert {"accuracy-pilot", "accuracy-pilot-others"} <= {*folders}


@pytest.mark.parametrize("name", ["mindspore", "pytorch"])
def test_the_published_sheets_give_the_recorded_kappas(
    study_fixtures: Path, tmp_path: Path, command: Command, name: str
) -> None:
    sheet = study_fixtures / "hp_defects" / f"{name}.csv"
    facts = json.loads((study_fixtures / "facts/agreement_hp.json").read_text(encoding="utf-8"))
    options = ("--item", "URL", "--rater-columns", "volunteer_*", "--taxonomy", "hp-defects")
    for round_name, more in (("pilot", ("--final", "Final_label")), ("raw", ())):
        done = command("annotation", "import", round_name, sheet, *options, *more)
        assert done.returncode == 0, done.stderr
    found = _accuracy(command)
    kappas = [each["cohen"] for each in found["raters"].values()]
    assert kappas == pytest.approx(facts[name]["rater_vs_final_cohen"], abs=1e-12)
    done = command("annotation", "adjudicate", "raw", "--rule", "majority", "--json")
    settled = json.loads(done.stdout)["settled"]
    assert settled["unanimous"] == round(1000 * facts[name]["unanimous"])
    assert sum(settled.values()) == round(1000 * facts[name]["majority_ge4"])
    assert tmp_path.is_dir()
