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

from faultatlas.annotation.agreement.gate import Gate, put_gate
from faultatlas.annotation.planning.gates import hold_on, require_gate, require_gate_at_first
from faultatlas.annotation.planning.options import Options
from faultatlas.annotation.planning.planning import Outcome, run_round
from faultatlas.annotation.planning.progress import Progress, progress
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.samples.command import Options as SampleOptions
from faultatlas.annotation.samples.command import draw_more, draw_new
from faultatlas.annotation.settling.settlements import Decision, settle
from faultatlas.annotation.taxonomies.migrating import migrate
from faultatlas.data import provenance
from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError

Run = Callable[..., CompletedProcess[str]]
RATERS = ("--rater", "ann", "--rater", "ben", "--rater", "cyd")
ROUND = ("--sample", "main", "--taxonomy", "tree", *RATERS)
GATE = ("--statistic", "fleiss", "--gate", "0.7")
FLEISS: dict[str, Any] = {"statistic": "fleiss", "gate": 0.7}
_TABLES = ("round", "round_rater", "rater", "item", "assignment", "gate", "taxonomy_text", "run")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with 40 issues, a taxonomy and a sample of 30."""
    found = Population.at(tmp_path_factory.mktemp("template") / "study")
    found.issues(*["It crashes"] * 40)
    Labelled(found.study).taxonomy()
    draw_new(found.study, "main", SampleOptions(size=30), None)
    return found.study.directory


@pytest.fixture
def population(template: Path, tmp_path: Path) -> Population:
    shutil.copytree(template, tmp_path / "study")
    return Population.at(tmp_path / "study")


@pytest.fixture
def annotation(command: Run, population: Population) -> Run:
    def run(*arguments: Any) -> CompletedProcess[str]:
        return command("annotation", *arguments, "--study", population.study.directory)

    return run


Plan = Callable[..., Outcome]


@pytest.fixture
def plan(population: Population) -> Plan:
    """Plans a round as `annotation round` does, without its command line."""
    return lambda name, **options: _plan(population, name, **options)


def _plan(population: Population, name: str, despite: str | None = None, **given: Any) -> Outcome:
    usual = {"sample": "main", "taxonomy": "tree", "raters": ("ann", "ben", "cyd")}
    options = Options(name, **(usual | given)) if despite is None else Options(name)
    return run_round(population.study, options, despite)


def _document(ended: CompletedProcess[str]) -> Any:
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def _failed(ended: CompletedProcess[str], said: str) -> None:
    assert ended.returncode == 1
    message, hint = ended.stderr.strip().split("\n", 1)
    assert said in message
    assert hint


def _contents(population: Population) -> dict[str, list[dict[str, Any]]]:
    with population.study.reading() as reader:
        return {name: reader.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in _TABLES}


def _items(population: Population, name: str) -> list[str]:
    rows = population.rows("SELECT item_id FROM items WHERE round = ? ORDER BY position", name)
    return [row["item_id"] for row in rows]


def _sampled(population: Population) -> list[str]:
    rows = population.rows("SELECT artifact_id FROM samples ORDER BY position")
    return [row["artifact_id"] for row in rows]


def _decide(
    population: Population, name: str, value: float | None, stage: str = "independent"
) -> None:
    """As `annotation agreement --gate` does."""
    run = provenance.begin("by hand", {})
    with population.study.writing() as writer:
        of = find_round(writer, name)
        threshold = of.threshold or 0.0
        passed = value is not None and value >= threshold
        put_gate(
            writer,
            Gate(name, stage, of.statistic or "", threshold, value, None, None, 9, passed,
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
    with pytest.raises(StudyError, match="sample 'main' has nothing left"):
        _plan(population, "more")
    draw_more(population.study, "main", SampleOptions(size=33), None)
    _plan(population, "more")
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
    assert "nothing was changed" in annotation(*line, "--seed", 1).stdout  # as it was
    _failed(annotation(*line, "--seed", 2), "planned otherwise (seed)")
    with pytest.raises(StudyError, match="round 'rest-2' is there already"):
        _plan(population, "rest-2")
    assert _contents(population) == before
    counts = Counter(row["n"] for row in population.rows(
        "SELECT count(*) AS n FROM assignments GROUP BY round, item_id"))  # fmt: skip
    assert counts == {2: 30}
    assert population.rows("SELECT DISTINCT overlap FROM rounds") == [{"overlap": 0.0}]


def test_another_study_with_the_same_seed_has_the_same_plan(
    population: Population, template: Path, tmp_path: Path
) -> None:
    other = Population.at(Path(shutil.copytree(template, tmp_path / "other")))
    sql = "SELECT item_id, rater, position FROM assignments ORDER BY ALL"
    first, second = (
        [_plan(each, "main", overlap=30, seed=5), each.rows(sql)][1] for each in (population, other)
    )
    assert first == second


def test_two_taxonomies_label_the_same_sample(plan: Plan, population: Population) -> None:
    plan("kinds", size=10)
    plan("defects", taxonomy="hp-defects", size=10)
    assert _items(population, "kinds") == _items(population, "defects")


def test_no_artifact_is_labelled_twice_by_samples_that_overlap(
    plan: Plan, population: Population
) -> None:
    plan("pilot", size=10)
    draw_new(population.study, "other", SampleOptions(size=20, seed=2), None)
    both = {*_items(population, "pilot")} & {
        row["artifact_id"]
        for row in population.rows("SELECT artifact_id FROM samples WHERE sample = 'other'")
    }
    made = plan("second", sample="other")
    assert f"{len(both)} artifacts of the sample left out" in made.remarks[0]
    assert not {*_items(population, "second")} & {*_items(population, "pilot")}
    assert len(_items(population, "second")) == 20 - len(both)


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


def test_the_statistic_is_fixed_by_study_toml(plan: Plan, population: Population) -> None:
    settings = population.study.directory / "study.toml"
    settings.write_text(
        '[agreement]\nstatistic = "krippendorff"\nthreshold = 0.67\n', encoding="utf-8"
    )
    made = plan("pilot", size=5)
    of = made.rounds[0].round
    assert (of.statistic, of.threshold, of.after) == ("krippendorff", 0.67, None)
    assert made.remarks == ()
    # A round must reach it before the next one begins.
    opted_out = "--after none would not wait for it"
    other = plan("next", size=5, **FLEISS)
    assert other.rounds[0].round.after == "pilot"
    assert other.remarks == (
        "study.toml says krippendorff, this round holds to fleiss",
        f"it comes after round pilot, the last of this sample that has a gate: {opted_out}",
    )
    free = plan("free", size=5, after="none")
    assert (free.rounds[0].round.after, free.remarks) == (None, ())
    # Nothing can be measured where every item has one rater.
    alone = plan("alone", size=5, overlap=0, after="free")
    assert alone.rounds[0].round.threshold is None
    assert alone.remarks == (
        "the threshold 0.67 of study.toml does not apply to alone: no item has two raters",
    )
    settings.write_text("[agreement]\nx = 1", encoding="utf-8")
    with pytest.raises(StudyError, match=r"unknown key 'agreement\.x'"):
        plan("odd")


def test_a_round_begins_when_the_gate_before_it_is_passed(
    annotation: Run, plan: Plan, population: Population
) -> None:
    plan("pilot", size=2, **FLEISS)
    shown = annotation("round", "rest", *ROUND, "--after", "pilot", "--size", 2)
    assert "rest cannot begin yet: round 'pilot' waits for 6 labels" in shown.stdout
    assert _may_begin(population, "pilot")
    # A gate that is decided on a few labels does not count.
    _label(population, "pilot", "ann ben cyd", limit=1)
    _decide(population, "pilot", 0.9)
    assert not _may_begin(population, "rest")
    _label(population, "pilot", "ann ben cyd")
    assert not _may_begin(population, "rest")
    for value in (0.5, None):
        _decide(population, "pilot", value)
        assert not _may_begin(population, "rest")
    _decide(population, "pilot", 0.7)
    assert _may_begin(population, "rest")
    with pytest.raises(StudyError, match="no gate holds round 'rest'"):
        plan("rest", despite="why not")
    # It stays so when something else is measured, but not when labels change.
    _decide(population, "pilot", 0.1)
    assert _may_begin(population, "rest")
    item = _items(population, "pilot")[0]
    Labelled(population.study).say("pilot", {item: {"ann": "b1"}}, stage="negotiated")
    assert _may_begin(population, "rest")
    Labelled(population.study).say("pilot", {item: {"ann": "b2"}})
    assert not _may_begin(population, "rest")


def test_sheets_do_not_go_round_a_gate(annotation: Run, plan: Plan, population: Population) -> None:
    plan("pilot", size=2, raters=("ann", "ben"), **FLEISS)
    plan("rest", size=2, raters=("ann", "ben"))
    sheet = population.study.directory / "rest.csv"
    _failed(annotation("export", "rest", sheet), "round 'rest' cannot begin: round 'pilot' waits")
    rows = "".join(f"{item},a1,a1\n" for item in _items(population, "rest"))
    sheet.write_text(f"item,ann,ben\n{rows}", encoding="utf-8")
    line = ("import", "rest", sheet, "--item", "item", "--rater-columns", "???")
    _failed(annotation(*line), "round 'rest' cannot begin: round 'pilot' waits")
    assert population.rows("SELECT * FROM labels") == []
    plan("rest", despite="two codes were merged")
    assert annotation(*line).returncode == 0
    assert len(population.rows("SELECT * FROM labels")) == 4


def test_a_gate_holds_up_rounds_behind_one_without_a_gate(
    plan: Plan, population: Population
) -> None:
    free = plan("free", size=2)
    behind = plan("behind", size=2, after="free")
    assert free.rounds[0].hold.state == "none"
    assert "round free has no gate, nor has any before it: nothing holds this one up" in (
        behind.remarks
    )
    plan("pilot", size=2, **FLEISS)
    plan("single", size=2, overlap=0, after="pilot")
    rest = plan("rest", size=2, after="single")
    assert rest.rounds[0].hold.before == "pilot"
    assert not _may_begin(population, "rest")
    plan("single", despite="it is small")
    assert _may_begin(population, "single")
    assert not _may_begin(population, "rest")
    _label(population, "pilot", "ann ben cyd")
    _decide(population, "pilot", 0.9)
    assert _may_begin(population, "rest")


def test_a_round_can_go_on_in_spite_of_a_gate_with_a_reason(
    annotation: Run, plan: Plan, population: Population
) -> None:
    plan("pilot", size=2, **FLEISS)
    plan("rest", size=2, after="pilot")
    plan("other", size=2, after="pilot")
    _label(population, "pilot", "ann ben cyd")
    _decide(population, "pilot", 0.5)
    for name, why, said in (("rest", "  ", "not said why"), ("pilot", "x", "no gate holds round")):
        with pytest.raises(StudyError, match=said):
            plan(name, despite=why)
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
    plan("rest", despite="two codes were merged")
    assert _contents(population) == before
    found = _progress(population, "rest")
    assert found.document()["despite_gate"] == "two codes were merged"
    assert found.next.startswith("annotation push rest, or annotation export rest FILE")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"sample": None}, "it is not said what round 'x' labels"),
    ({"taxonomy": None}, "with which taxonomy"),
    ({"raters": ()}, "a round has no raters"),
    ({"sample": "no"}, "there is no sample 'no'"),
    ({"taxonomy": "no"}, "there is no taxonomy 'no'"),
    ({"after": "no"}, "there is no round 'no'"),
    ({"raters": ("ann", "ann")}, "'ann' is named as a rater twice"),
    ({"raters": ("ann b", "ann  b")}, "'ann b' is named as a rater twice"),
    ({"raters": ("ann", "Ann")}, "raters 'ann' and 'Ann' differ by case only"),
    ({"raters": ("ann", " x")}, "' x' is no name for a rater"),
    ({"overlap": 120}, "an overlap of 120 %"),
    ({"raters_per_item": 4}, "4 raters for each item"),
    ({"gate": 0.7}, "a gate needs a statistic"),
    ({"gate": 7, "statistic": "gwet"}, "a gate of 7"),
    ({"statistic": "kappa"}, "there is no statistic 'kappa'"),
    ({"statistic": "cohen"}, "Cohen's kappa is for two raters, and 3 are named"),
    ({"overlap": 0, **FLEISS}, "no item has two raters"),
    ({"parts": 31}, "30 items cannot be cut into 31 parts"),
    ({"seed": -(10**30)}, "a seed of -1000000000000000000000000000000"),
]


def test_bad_plans_are_refused_and_store_nothing(template: Path) -> None:
    population = Population.at(template)
    before = _contents(population)
    for options, said in BAD:
        with pytest.raises(StudyError) as caught:
            _plan(population, "x", **options)
        assert said in caught.value.message
        assert caught.value.hint
    assert _contents(population) == before


def test_a_known_rater_is_not_misspelt(plan: Plan) -> None:
    plan("pilot", size=2)
    with pytest.raises(StudyError, match="one who is called 'ann'") as caught:
        plan("rest", size=2, raters=("Ann", "ben"))
    assert "Did you mean ann?" in caught.value.hint


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


def _settle(population: Population, name: str, code: str, version: str) -> None:
    run = provenance.begin("by hand", {})
    decisions = [
        Decision(item, (code,), "unanimous", "all said so", version)
        for item in _items(population, name)
    ]
    with population.study.writing() as writer:
        provenance.record(writer, run, "ok")
        settle(writer, name, decisions, run)


def _progress(population: Population, name: str) -> Progress:
    with population.study.reading() as reader:
        return progress(reader, name)[0]


def test_the_status_says_how_far_rounds_are_and_what_is_next(
    annotation: Run, plan: Plan, population: Population
) -> None:
    def state(name: str = "pilot") -> tuple[str, str]:
        found = _progress(population, name)
        return found.stage, found.next

    assert _document(annotation("status", "--json"))["next"] == [
        "annotation round NAME --sample main --taxonomy T --rater R"
    ]
    plan("pilot", size=3, **FLEISS)
    plan("the rest", after="pilot")
    assert state() == (
        "planned",
        "annotation push pilot, or annotation export pilot FILE --rater R",
    )
    assert state("the rest") == ("waits", "")
    _label(population, "pilot", "ann ben cyd", limit=2)
    assert state() == ("labelling", "annotation import pilot FILE")
    assert "2/3" in annotation("status", "pilot").stdout
    _label(population, "pilot", "ann ben cyd")
    assert state() == ("labelled", "annotation agreement pilot --gate")
    assert state("the rest") == ("waits", "annotation agreement pilot --gate")
    _decide(population, "pilot", 0.6)
    assert state() == ("to discuss", "annotation adjudicate pilot")
    assert state("the rest") == ("waits", "annotation adjudicate pilot")
    assert _progress(population, "pilot").gate_words == (
        "not passed, independent (0.600, fleiss 0.700)"
    )
    # They talk, label again, and are asked to measure that.
    item = _items(population, "pilot")[0]
    Labelled(population.study).say("pilot", {item: {"ann": "a2"}}, stage="negotiated")
    assert state() == ("to discuss", "annotation agreement pilot --stage negotiated --gate")
    _decide(population, "pilot", 0.8, "negotiated")
    assert _progress(population, "pilot").gate_words == ("passed, negotiated (0.800, fleiss 0.700)")
    assert state() == ("labelled", "annotation adjudicate pilot")
    push = "annotation push 'the rest', or annotation export 'the rest' FILE --rater R"
    assert state("the rest") == ("planned", push)
    _settle(population, "pilot", "a1", "1.0.0")
    assert state() == ("settled", "")
    whole = _document(annotation("status", "--json"))
    assert whole["next"] == [push]
    keys = ("round", "labelled", "assigned", "settled")
    assert [tuple(each[key] for key in keys) for each in whole["rounds"]] == [
        ("pilot", 9, 9, 3),
        ("the rest", 0, 81, 0),
    ]
    assert whole["samples"] == [{"sample": "main", "size": 30, "left": 0}]
    assert "0/81" in annotation("status").stdout
    _failed(annotation("status", "nowhere"), "there is no round 'nowhere'")


@pytest.mark.usefixtures("in_kolkata")
def test_the_last_label_is_told_by_the_clock_on_the_wall_and_in_json_in_utc(
    annotation: Run, plan: Plan, population: Population
) -> None:
    plan("pilot", size=3)
    _label(population, "pilot", "ann ben cyd")
    with population.study.writing() as writer:
        writer.execute("UPDATE store.answer SET labelled_at = '2026-03-04 22:06:07'")
    (found,) = _document(annotation("status", "pilot", "--json"))["rounds"]
    assert {each["last_at"] for each in found["raters"]} == {"2026-03-04T22:06:07Z"}
    assert annotation("status", "pilot").stdout.count("2026-03-05 03:36 IST") == 3


def test_a_changed_taxonomy_gives_work_and_undoes_no_gate(
    plan: Plan, population: Population
) -> None:
    def state() -> tuple[str, str]:
        found = _progress(population, "pilot")
        return found.stage, found.next

    plan("pilot", size=2, raters=("ann", "ben"), **FLEISS)
    plan("rest", size=2, raters=("ann", "ben"), after="pilot")
    study, items = Labelled(population.study), _items(population, "pilot")
    study.say("pilot", {item: {"ann": "a2", "ben": "a2"} for item in items})
    _decide(population, "pilot", 0.9)
    _settle(population, "pilot", "a2", "1.0.0")
    assert state() == ("settled", "")
    study.taxonomy({"a": "", "a1": "a", "a2x": "a", "a2y": "a"}, version="2.0.0")
    path = population.study.directory / "taxonomies" / "tree.yaml"
    steps = 'changes:\n  - from: "1.0.0"\n    steps:\n      - {split: a2, to: [a2x, a2y]}\n'
    retired = "".join(f"      - {{retire: {code}, to: []}}\n" for code in ("b", "b1", "b2"))
    path.write_text(path.read_text(encoding="utf-8") + steps + retired, encoding="utf-8")
    migrate(population.study, "tree", None, provenance.begin("by hand", {}))
    assert state() == ("to relabel", "annotation taxonomy relabel pilot")
    said = {item: {"ann": "a2x", "ben": "a2x"} for item in items}
    study.say("pilot", said, version="2.0.0")
    assert state() == ("settling", "annotation adjudicate pilot --version 2.0.0")
    _settle(population, "pilot", "a2x", "2.0.0")
    assert state() == ("settled", "")
    assert _may_begin(population, "rest")


def test_a_round_that_has_begun_is_not_held_up_again(plan: Plan, population: Population) -> None:
    plan("pilot", size=2, raters=("ann", "ben"), **FLEISS)
    plan("rest", size=2, raters=("ann", "ben"), after="pilot")
    _label(population, "pilot", "ann ben")
    _decide(population, "pilot", 0.9)
    _label(population, "rest", "ann")
    Labelled(population.study).say("pilot", {_items(population, "pilot")[0]: {"ann": "b1"}})
    with population.study.reading() as reader:
        rest = find_round(reader, "rest")
        hold = hold_on(reader, rest)
        require_gate_at_first(reader, rest)
    # What was changed after the decision is to be discussed, not measured again.
    assert (hold.state, hold.next) == ("open", "annotation adjudicate pilot")


def test_an_imported_round_shows_no_gate(population: Population) -> None:
    said = {item: {"ann": "a1", "ben": "a1"} for item in _sampled(population)[:3]}
    Labelled(population.study).round("old", said, statistic="cohen", threshold=0.1)
    with population.study.writing() as writer:
        writer.execute("UPDATE store.round SET origin = 'imported'")
    found = _progress(population, "old")
    assert (found.gate_words, found.next) == ("none", "annotation adjudicate old")


def test_labels_that_nobody_asked_for_are_not_progress(plan: Plan, population: Population) -> None:
    plan("pilot", size=4, overlap=0)
    _label(population, "pilot", "ann ben cyd", limit=1)
    row = population.rows("SELECT item_id FROM assignments WHERE rater <> 'ann' LIMIT 1")[0]
    Labelled(population.study).say("pilot", {row["item_id"]: {"ann": "a1"}})
    found = _progress(population, "pilot")
    assert (found.labelled, found.extra, found.stage) == (3, 1, "labelling")


def test_a_study_without_rounds_says_where_to_begin(command: Run, tmp_path: Path) -> None:
    Population.at(tmp_path / "new").issues("It crashes")
    shown = command("annotation", "status", "--study", tmp_path / "new")
    assert shown.stdout == "no rounds yet\nnext: annotation sample NAME\n"
