"""The funnel, as `miner filter` and `miner status --funnel` make and show it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from population import Population

from data import provenance
from data.store import Study
from miner.funnel.running import run_steps
from miner.funnel.steps import Draw, Step, step_of

Command = Callable[..., CompletedProcess[str]]
_TABLES = ("funnel_step", "funnel_count", "selected", "keyword_hit", "run")


@pytest.fixture
def population(tmp_path: Path) -> Population:
    found = Population.at(tmp_path / "study")
    found.commits(
        "Fix the loss of the layer",
        "Add a layer",
        "Fix a typo",
        "Update the prefix of docs",
        "Resolve gradient overflow",
    )
    found.issues("It crashes in training", "> It crashes\n\nA question", "```\nerror\n```\nfine")
    found.posts(6, tags=["keras"], accepted=2, body="<p>Error in my model</p>")
    return found


@pytest.fixture
def miner(command: Command, population: Population) -> Callable[..., CompletedProcess[str]]:
    def run(*arguments: Any) -> CompletedProcess[str]:
        return command("miner", *arguments, "--study", population.study.directory)

    return run


def _counts(population: Population) -> dict[tuple[str, str], tuple[int, int]]:
    rows = population.rows("SELECT step, kind, rows_in, rows_out FROM funnel")
    return {(row["step"], row["kind"]): (row["rows_in"], row["rows_out"]) for row in rows}


def _contents(study: Study) -> dict[str, list[dict[str, Any]]]:
    with study.reading() as reader:
        return {name: reader.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in _TABLES}


def _adds_up(population: Population) -> None:
    """What one step lets through comes to the next one, for each source and kind; and the members
    are those that were counted."""
    rows = population.rows("SELECT * FROM funnel ORDER BY position")
    out: dict[tuple[str, str], int] = {}
    for row in rows:
        place = (row["source"], row["kind"])
        assert row["rows_in"] == (row["rows_in"] if row["position"] == 0 else out[place])
        assert 0 <= row["rows_out"] <= row["rows_in"]
        out[place] = row["rows_out"]
    members = population.rows(
        "SELECT step, source, kind, count(*) AS n FROM selected "
        "JOIN candidates USING (artifact_id) GROUP BY ALL"
    )
    counted = {(row["step"], row["source"], row["kind"]): row["n"] for row in members}
    for row in rows:
        assert counted.get((row["step"], row["source"], row["kind"]), 0) == row["rows_out"]


def test_steps_follow_each_other(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    assert miner("filter", "bug words", "--lexicon", "bugfix").returncode == 0
    assert miner("filter", "ml", "--on", "commit", "--lexicon", "ml").returncode == 0
    done = miner("filter", "accepted", "--on", "post", "--where", "accepted_answer_id IS NOT NULL")

    assert done.returncode == 0
    assert _counts(population) == {
        ("all", "commit"): (5, 5),
        ("all", "issue"): (3, 3),
        ("all", "post"): (6, 6),
        ("bug words", "commit"): (5, 3),
        ("bug words", "issue"): (3, 1),
        ("bug words", "post"): (6, 6),
        ("ml", "commit"): (3, 2),
        ("ml", "issue"): (1, 1),
        ("ml", "post"): (6, 6),
        ("accepted", "commit"): (2, 2),
        ("accepted", "issue"): (1, 1),
        ("accepted", "post"): (6, 2),
    }
    _adds_up(population)
    hits = population.rows(
        "SELECT message, keyword_hits['bugfix'] AS bug, keyword_hits['ml'] AS ml FROM commits "
        "WHERE artifact_id IN (SELECT artifact_id FROM selected WHERE step = 'accepted') "
        "ORDER BY message"
    )
    assert hits == [
        {"message": "Fix the loss of the layer", "bug": ["fix"], "ml": ["layer", "loss"]},
        {
            "message": "Resolve gradient overflow",
            "bug": ["overflow", "resolve"],
            "ml": ["gradient"],
        },
    ]


def test_code_and_quotations_are_read_on_request(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    for options, issues in (((), 1), (("--code",), 2), (("--quotes",), 2)):
        miner("filter", "words", "--on", "issue", "--lexicon", "bugfix", *options)
        assert _counts(population)["words", "issue"] == (3, issues)


def test_running_it_again_changes_nothing(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    miner("filter", "few", "--size", "3", "--by", "kind")
    before = _contents(population.study)

    again = miner("filter", "--again", "--json")
    same = miner("filter", "bug words", "--lexicon", "bugfix", "--json")

    assert json.loads(again.stdout)["changed"] == []
    assert json.loads(same.stdout)["changed"] == []
    assert _contents(population.study) == before


def test_dropping_a_step_computes_what_follows_anew(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    miner("filter", "ml", "--on", "commit", "--lexicon", "ml")
    kept = population.rows("SELECT run_id FROM funnel WHERE step = 'all'")

    done = miner("filter", "--drop", "bug words", "--json")

    assert json.loads(done.stdout)["changed"] == ["bug words", "ml"]
    assert _counts(population) == {
        ("all", "commit"): (5, 5),
        ("all", "issue"): (3, 3),
        ("all", "post"): (6, 6),
        ("ml", "commit"): (5, 3),
        ("ml", "issue"): (3, 3),
        ("ml", "post"): (6, 6),
    }
    assert population.rows("SELECT run_id FROM funnel WHERE step = 'all'") == kept
    _adds_up(population)


def test_a_changed_step_keeps_its_place(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "first", "--where", "kind <> 'issue'")
    miner("filter", "second", "--on", "commit", "--lexicon", "ml")
    miner("filter", "first", "--where", "kind = 'commit'")
    miner("filter", "zeroth", "--where", "true", "--before", "first")

    order = population.rows("SELECT DISTINCT position, step FROM funnel ORDER BY position")
    assert [row["step"] for row in order] == ["all", "zeroth", "first", "second"]
    assert _counts(population)["second", "post"] == (0, 0)
    _adds_up(population)


def test_what_is_mined_later_is_told_and_counted_on_request(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    population.commits("Fix one more")

    shown = miner("status", "--funnel")
    assert "1 artifacts were mined since" in " ".join(shown.stdout.split())
    miner("filter", "--again")
    assert _counts(population)["bug words", "commit"] == (6, 4)
    assert "mined since" not in miner("status", "--funnel").stdout


def test_the_published_tables_come_out(command: Command, tmp_path: Path) -> None:
    """Morovati et al., table 4: all posts, with an accepted answer, sampled by score."""
    population = Population.at(tmp_path / "study")
    population.posts(50_001, tags=["tensorflow"], accepted=18_821)
    population.posts(37_887 - 21_908, tags=["keras"], accepted=0)
    population.posts(21_908, tags=["tensorflow", "keras"], accepted=14_590)
    by = "CASE WHEN list_contains(tags, 'keras') THEN 'Keras' ELSE 'TensorFlow' END"
    study = ("--study", population.study.directory)
    command("miner", "filter", "accepted", "--where", "accepted_answer_id IS NOT NULL", *study)
    command(
        "miner", "filter", "sampled", "--confidence", "95", "--by", by, "--highest", "score", *study
    )

    shown = command("miner", "status", "--funnel", "--by", by, "--json", *study)

    assert {step["step"]: step["groups"] for step in json.loads(shown.stdout)["steps"]} == {
        "all": {"TensorFlow": 50_001, "Keras": 37_887},
        "accepted": {"TensorFlow": 18_821, "Keras": 14_590},
        "sampled": {"TensorFlow": 376, "Keras": 374},
    }
    scores = population.rows(
        "SELECT min(score) FILTER (artifact_id IN (SELECT artifact_id FROM selected "
        "WHERE step = 'sampled')) AS lowest, max(score) FILTER (artifact_id NOT IN "
        "(SELECT artifact_id FROM selected WHERE step = 'sampled')) AS left_out FROM candidates "
        "WHERE accepted_answer_id IS NOT NULL AND NOT list_contains(tags, 'keras')"
    )
    assert scores[0]["lowest"] >= scores[0]["left_out"]
    table = command("miner", "status", "--funnel", "--by", by, *study).stdout
    assert "37,887" in table
    assert "376" in table
    _adds_up(population)


def test_a_larger_sample_holds_the_smaller_one(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    query = "SELECT artifact_id FROM selected WHERE step = 'few'"
    miner("filter", "few", "--size", "4", "--seed", "3")
    few = {row["artifact_id"] for row in population.rows(query)}
    miner("filter", "few", "--size", "8", "--seed", "3")
    more = {row["artifact_id"] for row in population.rows(query)}
    miner("filter", "few", "--size", "4", "--seed", "4")
    others = {row["artifact_id"] for row in population.rows(query)}

    assert len(few) == 4
    assert few < more
    assert others != few


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "it is not said what to do"),
        (("x",), "asks for nothing"),
        (("all", "--where", "true"), "is no name for a step"),
        (("x", "--where", "nonsense = 1"), 'Referenced column "nonsense" not found'),
        (("x", "--where", "kind ="), "syntax error"),
        (("x", "--where", "true); DELETE FROM store.post; SELECT (1"), "more than a condition"),
        (("x", "--where", "title::INTEGER = 1"), "Could not convert"),
        (("x", "--lexicon", "nothing"), "there is no lexicon 'nothing'"),
        (("x", "--on", "tweet", "--where", "true"), "there is no kind 'tweet'"),
        (("x", "--where", "true", "--before", "y"), "there is no step 'y'"),
        (("--drop", "y"), "there is no step 'y'"),
        (("x", "--where", "true", "--drop", "y"), "one at a time"),
        (("x", "--size", "5", "--confidence", "95"), "two sizes"),
        (("x", "--where", "true", "--by", "kind"), "belong to a sample"),
        (("x", "--size", "5", "--by", "nothing"), 'Referenced column "nothing" not found'),
        (("x", "--confidence", "0"), "a confidence of 0"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(
    miner: Callable[..., CompletedProcess[str]],
    population: Population,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    before = _contents(population.study)

    done = miner("filter", *arguments)

    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) <= 4
    assert _contents(population.study) == before


def test_without_a_study_none_is_made(command: Command, tmp_path: Path) -> None:
    done = command("miner", "filter", "x", "--where", "true", "--study", tmp_path / "none")

    assert done.returncode == 1
    assert "there is no study" in done.stderr
    assert not (tmp_path / "none").exists()


def test_lexicons_are_shown(command: Command) -> None:
    assert "bugfix" in command("miner", "lexicons").stdout
    words = command("miner", "lexicons", "bugfix").stdout.split()
    assert words[:3] == ["bug", "fail", "crash"]
    assert len(words) == 14


_STEPS = st.builds(
    Step,
    name=st.sampled_from(["a", "b", "c"]),
    on=st.sampled_from([(), ("commit",), ("post", "issue")]),
    where=st.sampled_from([None, "length(title) % 2 = 0", "kind <> 'issue'"]),
    lexicons=st.sampled_from([(), ("bugfix",), ("bugfix", "ml")]),
    any_lexicon=st.booleans(),
    draw=st.sampled_from([Draw(size=3), Draw(size=2, by="kind", seed=5), Draw(confidence=80)]),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_STEPS, max_size=4, unique_by=lambda step: step.name), st.integers(0, 3))
def test_any_funnel_adds_up_and_is_repeatable(
    population: Population, steps: list[Step], dropped: int
) -> None:
    def run(wanted: list[Step]) -> list[str]:
        begun = provenance.begin("miner filter", {})
        return run_steps(population.study, begun, lambda _writer: wanted)

    run(steps)
    _adds_up(population)
    run([step for at, step in enumerate(steps) if at != dropped])
    _adds_up(population)
    run(steps)
    first = _contents(population.study)
    assert run(steps) == []
    assert _contents(population.study) == first
    assert [step_of(step.definition()) for step in steps] == steps
