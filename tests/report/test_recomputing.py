"""Stored results are computed again from their parameters: the same, or it is said why not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
from labelling import Labelled
from recomputed import recomputed

from faultatlas.analysis.studies import questions
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study
from faultatlas.report.claims import check

Command = Callable[..., CompletedProcess[str]]

FEW = ("--resamples", "40")
CALLS = (
    ("annotation", "agreement", *FEW),
    ("annotation", "agreement", "pilot", *FEW, "--printed", "cohen=0.40", "--printed",
     "pilot:percent=75%", "--by", "pair", "--by", "category", "--gate", "--threshold", "0.1"),
    ("annotation", "agreement", "pilot", "second", *FEW, "--stage", "negotiated", "--statistic",
     "gwet", "--rater", "ann", "--rater", "bob", "--first", "2", "--special", "missing",
     "--scale", "altman", "--seed", "7"),
    ("annotation", "adjudicate", "pilot", "--accuracy"),
    ("annotation", "adjudicate", "pilot", "--accuracy", "--against", "others", "--parts", "3"),
    ("annotation", "taxonomy", "saturation"),
    ("annotation", "taxonomy", "saturation", "pilot", "--batch", "4", "--enough", "3"),
    ("analysis", "coverage-gap"),
    ("analysis", "coverage-gap", "--evidence", "corpus", "--without", "deepfd", "--support",
     "explicit"),
    ("analysis", "claims"),
)  # fmt: skip
OWN = """
[claims.labelled]
statement = "Items with a final label"
sql = "SELECT count(DISTINCT item_id) FROM final_labels"
printed = "10"

[claims.all]
statement = "Items"
sql = "SELECT count(*) FROM items"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture
def labelled(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> Labelled:
    """Two rounds of which the first is settled, made once; and no time for drawing."""
    monkeypatch.setattr(
        "faultatlas.report.publish.write_result", lambda _result, folder, **_: folder
    )
    if any(made.iterdir()):
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
        return Labelled.at(tmp_path)
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    (tmp_path / "claims.toml").write_text(OWN, encoding="utf-8")
    for name, wrong in (("pilot", 3), ("second", 4)):
        said = {
            f"github:o/{name}#{n}": {
                "ann": code,
                "bob": code if n % wrong else "~unclear",
                "cyd": code if n % 5 else "b2",
            }
            for n in range(1, 13)
            for code in ["a1" if n % 2 else "b1"]
        }
        labelled.round(name, said, strata={item: item[-1] for item in list(said)[:6]})
        labelled.say(name, {f"github:o/{name}#{wrong}": {"bob": "a1"}}, stage="negotiated")
    assert command("annotation", "adjudicate", "pilot", "--rule", "majority").returncode == 0
    shutil.copytree(tmp_path, made, dirs_exist_ok=True)
    return labelled


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_what_a_command_stores_is_computed_again_as_it_is(
    call: tuple[str, ...], labelled: Labelled, command: Command
) -> None:
    done = command(*call, "-q")
    assert done.returncode == 0, done.stderr
    (again,) = check.recompute_all(labelled.study)
    assert again.problem == ""
    assert again.now is not None
    assert again.now.claims == again.stored.claims
    assert again.is_same


def test_every_study_question_can_be_asked_again() -> None:
    known = check.analyses()
    assert questions().keys() <= known.keys()
    assert {"agreement", "accuracy", "saturation", "suggest"} <= known.keys()


def stored(study: Study, result: Result) -> None:
    provenance.save(study, result, provenance.begin("test", {}))


def test_a_result_of_an_analysis_that_is_not_here_is_named(tmp_path: Path) -> None:
    study = Study(tmp_path)
    stored(study, Result("weather", "weather-today", "Weather", {}))
    with pytest.raises(StudyError, match="'weather-today' is of the analysis 'weather'") as error:
        recomputed(study, "weather-today")
    assert "coverage-gap" in error.value.hint
    (beside,) = check.recompute_all(study)
    assert beside.now is None
    assert not beside.is_same


@pytest.mark.parametrize("parameters", [{"evidence": "moon"}, {"evidence": ["survey"]}])
def test_parameters_of_another_version_are_an_error_and_no_crash(
    parameters: dict[str, object], tmp_path: Path
) -> None:
    study = Study(tmp_path)
    stored(study, Result("coverage-gap", "coverage-gap", "Gap", parameters))
    with pytest.raises(StudyError, match="--evidence: input should be"):
        recomputed(study, "coverage-gap")


def test_an_analysis_that_breaks_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_study: Study, _parameters: dict[str, object]) -> Result:
        raise RuntimeError("no such luck")

    study = Study(tmp_path)
    known = dict(check.analyses())
    stored(study, known["coverage-gap"](study, {"evidence": "corpus"}))
    stored(study, Result("weather", "weather", "Weather", {}))
    monkeypatch.setattr(check, "analyses", lambda: {**known, "weather": broken})
    fine, bad = check.recompute_all(study)
    assert fine.is_same
    assert bad.problem == "RuntimeError: no such luck"


def test_a_plug_in_that_breaks_or_takes_a_name_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugin(NamedTuple):
        name: str
        given: dict[str, object] | None
        value: str = "plug:in"

        def load(self) -> object:
            if self.given is None:
                raise ImportError("no module")
            return lambda: self.given

    def asked(*plugins: Plugin) -> str:
        monkeypatch.setattr(check, "entry_points", lambda **_group: plugins)
        with pytest.raises(StudyError) as error:
            check.analyses.__wrapped__()
        return error.value.message

    assert "zoo (plug:in) cannot be loaded" in asked(Plugin("zoo", None))
    assert "computes the analysis 'gap'" in asked(Plugin("a", {"gap": 1}), Plugin("z", {"gap": 2}))


def test_a_result_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    study = Study(tmp_path)
    stored(study, Result("weather", "weather", "Weather", {}))
    with study.writing() as writer:
        writer.execute("UPDATE store.result SET content = '{\"name\": 1}'")
    with pytest.raises(StudyError, match="the stored result 'weather' cannot be read"):
        check.recompute_all(study)


def test_refreshing_stores_what_changed_and_leaves_the_rest(tmp_path: Path) -> None:
    study = Study(tmp_path)
    gap = check.analyses()["coverage-gap"](study, {"evidence": "survey"})
    corpus = check.analyses()["coverage-gap"](study, {"evidence": "corpus"})
    lost = Result("weather", "weather", "Weather", {})
    for each in (replace(gap, title="Another title"), corpus, lost):
        stored(study, each)
    found = check.refresh(study)
    assert [result.name for result in found.changed] == [gap.name]
    assert found.unchanged == (corpus.name,)
    assert "does not have" in found.failed["weather"]
    with study.reading() as reader:
        assert provenance.latest(reader, gap.name).title == gap.title
        assert reader.value("SELECT count(*) FROM results") == 4
    assert check.refresh(study).changed == ()


def test_numbers_are_the_same_but_for_their_last_bits() -> None:
    assert check.same({"a": [0.1 + 0.2, None]}, {"a": (0.3, None)})
    assert check.same(float("inf"), float("inf"))
    assert check.same(0.0, -1.4e-14)  # nothing, on another machine
    assert not check.same(0.3, 0.3001)
    assert not check.same(7.66e-21, 1.79e-14)  # p-values
    assert not check.same([1], [True])
    assert not check.same({"a": 1}, {"a": 1, "b": None})
