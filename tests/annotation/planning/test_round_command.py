"""`annotation round` and `status`, as a user calls them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from labelling import Labelled
from population import Population

from annotation.agreement.gate import Gate, put_gate
from annotation.planning.gates import hold_on, require_gate
from annotation.rounds import find_round
from annotation.settling.settlements import Decision, settle
from data import provenance
from data.errors import StudyError
from data.provenance import utc_now

Run = Callable[..., CompletedProcess[str]]
RATERS = ("--rater", "ann", "--rater", "ben", "--rater", "cyd")
ROUND = ("--sample", "main", "--taxonomy", "tree", *RATERS)
GATE = ("--statistic", "fleiss", "--gate", "0.7")
_TABLES = ("round", "round_rater", "rater", "item", "assignment", "gate", "taxonomy_text", "run")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with 40 issues and a taxonomy."""
    found = Population.at(tmp_path_factory.mktemp("template") / "study")
    found.issues(*["It crashes"] * 40)
    Labelled(found.study).taxonomy()
    return found.study.directory


@pytest.fixture
def population(template: Path, tmp_path: Path) -> Population:
    shutil.copytree(template, tmp_path / "study")
    return Population.at(tmp_path / "study")


@pytest.fixture
def annotation(command: Run, population: Population) -> Run:
    def run(*arguments: Any) -> CompletedProcess[str]:
        return command("annotation", *arguments, "--study", population.study.directory)

    assert run("sample", "main", "--size", 30).returncode == 0
    return run


def _document(ended: CompletedProcess[str]) -> Any:
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def _failed(ended: CompletedProcess[str], said: str) -> None:
    assert ended.returncode == 1
    message, hint = ended.stderr.strip().split("\n", 1)
    assert said in message
    assert hint


def _contents(population: Population) -> dict[str, list[dict[str, Any]]]:
    return {name: population.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in _TABLES}


def _items(population: Population, name: str) -> list[str]:
    rows = population.rows("SELECT item_id FROM items WHERE round = ? ORDER BY position", name)
    return [row["item_id"] for row in rows]


def _sampled(population: Population) -> list[str]:
    rows = population.rows("SELECT artifact_id FROM samples ORDER BY position")
    return [row["artifact_id"] for row in rows]


def _decide(population: Population, name: str, value: float | None) -> None:
    """As `annotation agreement --gate` does."""
    run = provenance.begin("by hand", {})
    with population.study.writing() as writer:
        of = find_round(writer, name)
        threshold = of.threshold or 0.0
        passed = value is not None and value >= threshold
        put_gate(
            writer,
            Gate(name, "independent", of.statistic or "", threshold, value, None, None, 9, passed,
                 "measured", utc_now()),
            run,
        )  # fmt: skip


def _may_begin(population: Population, name: str) -> bool:
    with population.study.reading() as reader:
        of = find_round(reader, name)
        if hold_on(reader, of).lets_pass:
            require_gate(reader, of)
            return True
        with pytest.raises(StudyError, match=f"round '{name}' cannot begin") as caught:
            require_gate(reader, of)
    assert f'annotation round {name} --despite-gate "REASON"' in caught.value.hint
    return False


# Plans.


def test_a_pilot_and_then_the_rest_in_parts(annotation: Run, population: Population) -> None:
    pilot = _document(annotation("round", "pilot", *ROUND, "--size", 8, *GATE, "--json"))
    assert pilot["rounds"][0]["raters"] == {"ann": 8, "ben": 8, "cyd": 8}
    assert pilot["left"] == 22
    rest = _document(
        annotation("round", "rest", *ROUND, "--parts", 3, "--after", "pilot", "--overlap", 20,
                   *GATE, "--json")
    )  # fmt: skip
    names = [each["round"] for each in rest["rounds"]]
    assert names == ["rest-1", "rest-2", "rest-3"]
    assert [each["after"] for each in rest["rounds"]] == ["pilot", "rest-1", "rest-2"]
    assert [each["items"] for each in rest["rounds"]] == [7, 7, 8]
    assert [each["labelled_by_all"] for each in rest["rounds"]] == [2, 2, 2]
    together = [item for name in ("pilot", *names) for item in _items(population, name)]
    assert together == _sampled(population)
    row = population.rows("SELECT * FROM rounds WHERE round = 'rest-1'")[0]
    assert (row["overlap"], row["statistic"], row["threshold"]) == (20, "fleiss", 0.7)
    assert (row["taxonomy_version"], row["choice"], row["raters"]) == (
        "1.0.0", "single", ["ann", "ben", "cyd"],
    )  # fmt: skip
    _failed(annotation("round", "more", *ROUND), "sample 'main' has nothing left")
    annotation("sample", "main", "--extend", "--size", 33)
    annotation("round", "more", *ROUND)
    assert _items(population, "more") == _sampled(population)[30:]


def test_the_same_command_changes_nothing_and_another_is_refused(
    annotation: Run, population: Population
) -> None:
    line = ("round", "rest", *ROUND, "--parts", 2, "--raters-per-item", 2, *GATE)
    assert annotation(*line).returncode == 0
    before = _contents(population)
    again = annotation(*line)
    assert again.returncode == 0
    assert "nothing was changed" in again.stdout
    assert "nothing was changed" in annotation("round", "rest-1").stdout
    _failed(annotation(*line, "--seed", 2), "planned otherwise (seed)")
    _failed(annotation("round", "rest-2", *ROUND), "round 'rest-2' is there already")
    _failed(annotation("round", "nowhere"), "there is no round 'nowhere'")
    assert _contents(population) == before
    counts = Counter(row["n"] for row in population.rows(
        "SELECT count(*) AS n FROM assignments GROUP BY round, item_id"))  # fmt: skip
    assert counts == {2: 30}
    assert population.rows("SELECT DISTINCT overlap FROM rounds") == [{"overlap": 0.0}]


def test_another_study_with_the_same_seed_has_the_same_plan(
    annotation: Run, command: Run, population: Population, template: Path, tmp_path: Path
) -> None:
    plan = ("round", "main", *ROUND, "--overlap", 30, "--seed", 5)
    assert annotation(*plan).returncode == 0
    other = Population.at(Path(shutil.copytree(template, tmp_path / "other")))
    where = ("--study", other.study.directory)
    command("annotation", "sample", "main", "--size", 30, *where)
    command("annotation", *plan, *where)
    sql = "SELECT item_id, rater, position FROM assignments ORDER BY ALL"
    assert population.rows(sql) == other.rows(sql)


def test_two_taxonomies_label_the_same_sample(annotation: Run, population: Population) -> None:
    annotation("round", "kinds", *ROUND, "--size", 10)
    annotation("round", "defects", "--sample", "main", "--taxonomy", "hp-defects", *RATERS,
               "--size", 10)  # fmt: skip
    assert _items(population, "kinds") == _items(population, "defects")


def test_what_the_study_has_forgotten_is_left_out(annotation: Run, population: Population) -> None:
    first, second = _sampled(population)[:2]
    with population.study.writing() as writer:
        writer.execute("DELETE FROM store.issue WHERE artifact_id = ?", [first])
    shown = annotation("round", "pilot", *ROUND, "--size", 5)
    assert (
        f"1 artifact of the sample left out, which the study does not have any more: {first}"
        in (" ".join(shown.stdout.split()))
    )
    assert _items(population, "pilot")[0] == second


# Gates.


def test_the_statistic_is_fixed_by_study_toml(annotation: Run, population: Population) -> None:
    (population.study.directory / "study.toml").write_text(
        '[agreement]\nstatistic = "krippendorff"\nthreshold = 0.67\n', encoding="utf-8"
    )
    found = _document(annotation("round", "pilot", *ROUND, "--size", 5, "--json"))
    assert (found["rounds"][0]["statistic"], found["rounds"][0]["threshold"]) == (
        "krippendorff", 0.67,
    )  # fmt: skip
    assert found["remarks"] == []
    would = "--after pilot would"
    other = _document(annotation("round", "next", *ROUND, "--size", 5, *GATE, "--json"))
    assert other["remarks"] == [
        "study.toml says krippendorff, this round holds to fleiss",
        f"round pilot of this sample has a gate that does not hold this round up: {would}",
    ]
    # Nothing can be measured where every item has one rater.
    alone = _document(annotation("round", "alone", *ROUND, "--overlap", 0, "--json"))
    assert alone["rounds"][0]["threshold"] is None
    (population.study.directory / "study.toml").write_text("[agreement]\nx = 1", encoding="utf-8")
    annotation("sample", "main", "--extend", "--size", 40)
    _failed(annotation("round", "odd", *ROUND), "[agreement] has no 'x'")


def test_a_round_begins_when_the_gate_before_it_is_passed(
    annotation: Run, population: Population
) -> None:
    annotation("round", "pilot", *ROUND, "--size", 5, *GATE)
    shown = annotation("round", "rest", *ROUND, "--after", "pilot")
    assert "rest cannot begin yet: the gate of round 'pilot' was not decided yet" in shown.stdout
    assert _may_begin(population, "pilot")
    assert not _may_begin(population, "rest")
    _decide(population, "pilot", 0.5)
    assert not _may_begin(population, "rest")
    _decide(population, "pilot", None)
    assert not _may_begin(population, "rest")
    _decide(population, "pilot", 0.7)
    assert _may_begin(population, "rest")
    _failed(annotation("round", "rest", "--despite-gate", "why not"), "no gate holds round 'rest'")


def test_a_round_can_go_on_in_spite_of_a_gate_with_a_reason(
    annotation: Run, population: Population
) -> None:
    annotation("round", "pilot", *ROUND, "--size", 5, *GATE)
    annotation("round", "rest", *ROUND, "--size", 5, "--after", "pilot")
    annotation("round", "other", *ROUND, "--size", 5, "--after", "pilot")
    _decide(population, "pilot", 0.5)
    _failed(annotation("round", "rest", "--despite-gate", "  "), "it is not said why")
    _failed(annotation("round", "pilot", "--despite-gate", "x"), "no gate holds round 'pilot' up")
    shown = annotation("round", "rest", "--despite-gate", "two codes\nwere merged")
    assert "rest goes on in spite of the gate: two codes were merged" in shown.stdout
    rows = population.rows("SELECT * FROM gates ORDER BY decided_at")
    assert [row["is_passed"] for row in rows] == [False, False]
    assert (rows[1]["value"], rows[1]["reason"]) == (
        0.5, "not passed, and round rest goes on in spite of it: two codes were merged",
    )  # fmt: skip
    assert _may_begin(population, "rest")
    assert not _may_begin(population, "other")
    before = _contents(population)
    annotation("round", "rest", "--despite-gate", "two codes were merged")
    assert _contents(population) == before
    found = _document(annotation("status", "rest", "--json"))["rounds"][0]
    assert found["despite_gate"] == "two codes were merged"
    assert found["next"] == "annotation push rest"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--taxonomy", "tree", *RATERS), "it is not said what round 'x' labels"),
        (("--sample", "main", *RATERS), "with which taxonomy"),
        (("--sample", "main", "--taxonomy", "tree"), "a round has no raters"),
        (("--sample", "no", "--taxonomy", "tree", *RATERS), "there is no sample 'no'"),
        (("--sample", "main", "--taxonomy", "no", *RATERS), "there is no taxonomy 'no'"),
        ((*ROUND, "--after", "no"), "there is no round 'no'"),
        ((*ROUND, "--rater", "ann"), "'ann' is named as a rater twice"),
        ((*ROUND, "--rater", " x"), "' x' is no name for a rater"),
        ((*ROUND, "--overlap", "120"), "an overlap of 120 %"),
        ((*ROUND, "--raters-per-item", "4"), "4 raters for each item"),
        ((*ROUND, "--gate", "0.7"), "a gate needs a statistic"),
        ((*ROUND, "--gate", "7", "--statistic", "gwet"), "a gate of 7"),
        ((*ROUND, "--statistic", "kappa"), "there is no statistic 'kappa'"),
        ((*ROUND, "--statistic", "cohen"), "Cohen's kappa is for two raters, and 3 are named"),
        ((*ROUND, "--overlap", "0", *GATE), "no item has two raters"),
        ((*ROUND, "--parts", "31"), "30 items cannot be cut into 31 parts"),
        ((*ROUND, "--despite-gate", "x"), "no gate holds round 'x' up"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_plans_are_refused_and_store_nothing(
    annotation: Run, population: Population, options: tuple[str, ...], said: str
) -> None:
    before = _contents(population)
    _failed(annotation("round", "x", *options), said)
    assert _contents(population) == before


# Progress.


def _label(population: Population, name: str, raters: str, limit: int = 99) -> None:
    rows = population.rows(
        "SELECT item_id, rater FROM assignments WHERE round = ? AND position <= ?", name, limit
    )
    said: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["rater"] in raters.split():
            said.setdefault(row["item_id"], {})[row["rater"]] = "a1"
    Labelled(population.study).say(name, said)


def test_the_status_says_how_far_rounds_are_and_what_is_next(
    annotation: Run, population: Population
) -> None:
    def state(name: str = "pilot") -> tuple[str, str | None]:
        found = _document(annotation("status", name, "--json"))["rounds"][0]
        return found["stage"], found["next"]

    def gate() -> str:
        return str(_document(annotation("status", "pilot", "--json"))["rounds"][0]["gate"])

    assert _document(annotation("status", "--json"))["next"] == [
        "annotation round NAME --sample main --taxonomy T --rater R"
    ]
    annotation("round", "pilot", *ROUND, "--size", 6, *GATE)
    annotation("round", "the rest", *ROUND, "--after", "pilot")
    assert state() == ("planned", "annotation push pilot")
    assert state("the rest") == ("waits", None)
    _label(population, "pilot", "ann ben cyd", limit=2)
    assert state() == ("labelling", "annotation pull pilot")
    shown = annotation("status", "pilot").stdout
    assert "2/6" in shown
    _label(population, "pilot", "ann ben cyd")
    assert state() == ("labelled", "annotation agreement pilot --gate")
    assert state("the rest") == ("waits", "annotation agreement pilot --gate")
    _decide(population, "pilot", 0.6)
    assert state() == ("to discuss", "annotation adjudicate pilot")
    assert gate() == "not passed (0.600, fleiss 0.700)"
    _decide(population, "pilot", 0.8)
    assert state() == ("labelled", "annotation adjudicate pilot")
    assert state("the rest") == ("planned", "annotation push 'the rest'")
    run = provenance.begin("by hand", {})
    decisions = [
        Decision(item, ("a1",), "unanimous", "all said so", "1.0.0")
        for item in _items(population, "pilot")
    ]
    with population.study.writing() as writer:
        provenance.record(writer, run, "ok")
        settle(writer, "pilot", decisions, run)
    assert state() == ("settled", None)
    whole = _document(annotation("status", "--json"))
    assert whole["next"] == ["annotation push 'the rest'"]
    keys = ("round", "labelled", "assigned", "settled")
    assert [tuple(each[key] for key in keys) for each in whole["rounds"]] == [
        ("pilot", 18, 18, 6),
        ("the rest", 0, 72, 0),
    ]
    assert whole["samples"] == [{"sample": "main", "size": 30, "left": 0}]
    shown = annotation("status").stdout
    assert "0/72" in shown
    _failed(annotation("status", "nowhere"), "there is no round 'nowhere'")


def test_a_study_without_rounds_says_where_to_begin(command: Run, population: Population) -> None:
    shown = command("annotation", "status", "--study", population.study.directory)
    assert shown.stdout == "no rounds yet\nnext: annotation sample NAME\n"
