"""The funnel, as `miner filter` and `miner status --funnel` make and show it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from population import Population

from faultatlas.data import provenance
from faultatlas.data.sampling import drawn
from faultatlas.data.study import Study, Writer
from faultatlas.miner.funnel import running, words
from faultatlas.miner.funnel.running import run_steps
from faultatlas.miner.funnel.steps import Draw, Step, step_of

Command = Callable[..., CompletedProcess[str]]
_TABLES = ("funnel_step", "funnel_count", "funnel_member", "keyword_hit", "run")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: a study has many tables."""
    found = Population.at(tmp_path_factory.mktemp("template") / "study")
    found.commits(
        "Fix the loss of the layer",
        "Add a layer",
        "Fix a typo",
        "Update the prefix of docs",
        "Resolve gradient overflow",
    )
    found.issues("It crashes in training", "> It crashes\n\nA question", "```\nerror\n```\nfine")
    found.posts(6, tags=["keras"], accepted=2, body="<p>Error in my model</p>")
    return found.study.directory


@pytest.fixture(scope="module")
def filtered(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a step."""
    made = tmp_path_factory.mktemp("filtered") / "study"
    shutil.copytree(template, made)
    step = Step("bug words", lexicons=("bugfix",))
    run_steps(Study(made), provenance.begin("miner filter", {}), lambda _reader: [step])
    return made


@pytest.fixture
def population(template: Path, tmp_path: Path) -> Population:
    shutil.copytree(template, tmp_path / "study")
    return Population.at(tmp_path / "study")


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
    mined = population.rows("SELECT source, kind, count(*) AS n FROM candidates GROUP BY ALL")
    out = {(row["source"], row["kind"]): row["n"] for row in mined}
    assert {(row["source"], row["kind"]) for row in rows} == set(out)
    for row in rows:
        place = (row["source"], row["kind"])
        assert row["rows_in"] == out[place]
        assert 0 <= row["rows_out"] <= row["rows_in"] - row["rows_unknown"]
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

    miner("filter", "few", "--size", "4", "--seed", "0")
    (run,) = population.rows("SELECT arguments FROM runs ORDER BY started_at DESC LIMIT 1")
    assert json.loads(run["arguments"])["seed"] == 0


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
        (("x", "--where", "true", "--by", "kind", "--seed", "2"), "--by and --seed belong to a sa"),
        (("x", "--where", "true", "--margin", "3", "--round", "up"), "--margin and --round belong"),
        (("x", "--size", "3", "--round", "up"), "--round belongs to a size that is computed"),
        (("x", "--where", "true", "--code"), "--code belongs to a lexicon"),
        (("x", "--size", "3", "--any-lexicon"), "--any-lexicon belongs to a lexicon"),
        (("--again", "--where", "true"), "--where belongs to a step with a name"),
        (("--drop", "bug words", "--lexicon", "ml"), "--lexicon belongs to a step with a name"),
        (("x", "--size", "5", "--by", "nothing"), 'Referenced column "nothing" not found'),
        (("x", "--size", "5", "--by", "count(*)"), "WHERE clause cannot contain aggregates"),
        (("x", "--confidence", "0"), "a confidence of 0"),
        (("x", "--confidence", "95", "--margin", "1e-200"), "a margin of 1e-200"),
        (("x", "--size", "2", "--highest", "map {'a': 1}"), "has no order, it is MAP"),
        (("x", "--size", "2", "--highest", "tags"), "has no order, it is VARCHAR[]"),
        (("x", "--where", "Random() > 0.5"), "cannot be repeated: it asks random()"),
        (("x", "--where", "created_at < now()"), "it asks now()"),
        (("x", "--where", "created_at < CURRENT_DATE"), "it asks CURRENT_DATE"),
        (("x", "--where", "age(created_at) IS NULL"), "it asks age()"),
        (("x", "--size", "2", "--highest", "uuid()"), "it asks uuid()"),
        (("x", "--size", "2", "--by", "(SELECT max(step) FROM selected)"), "the table selected"),
        (
            ("x", "--where", "artifact_id IN (SELECT artifact_id FROM store.post)"),
            "the table store.post",
        ),
        (("x", "--where", "kind IN (FROM query('SELECT kind FROM posts'))"), "it asks query()"),
        (("x", "--where", "kind IN (SELECT kind FROM posts USING SAMPLE 1)"), "a sample of rows"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(
    command: Command, filtered: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = _contents(Study(filtered))

    done = command("miner", "filter", *arguments, "--study", filtered)

    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) <= 4
    assert _contents(Study(filtered)) == before


def test_words_that_only_look_like_the_clock_are_taken(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    asked = "title LIKE '%random() now() store.post%' OR artifact_id IN (SELECT artifact_id FROM"
    done = miner("filter", "x", "--where", f"{asked} commits) -- current_date")

    assert done.returncode == 0
    assert _counts(population)["x", "commit"] == (5, 5)


def test_a_step_put_before_itself_stays(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "first", "--where", "true")
    miner("filter", "second", "--where", "true")
    miner("filter", "first", "--where", "kind = 'post'", "--before", "first")

    order = population.rows("SELECT DISTINCT position, step FROM funnel ORDER BY position")
    assert [row["step"] for row in order] == ["all", "first", "second"]


def test_a_condition_that_says_nothing_of_some_is_told(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    done = miner("filter", "scored", "--where", "score >= 0", "--json")

    said = "unknown for 5 commits and 3 issues, which were left out; --on post lets them pass"
    assert said in " ".join(done.stderr.split())
    assert json.loads(done.stdout)["steps"][1]["unknown"] == {"commit": 5, "issue": 3}
    assert _counts(population)["scored", "commit"] == (5, 0)
    passing = miner("filter", "scored", "--on", "post", "--where", "score >= 0", "--json")
    assert "unknown" not in passing.stderr
    assert json.loads(passing.stdout)["steps"][1]["unknown"] == {}
    assert _counts(population)["scored", "commit"] == (5, 5)


def test_what_is_gone_does_not_come_in(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    gone = _first(population)
    _write(population, f"UPDATE store.commit SET gone_at = now() WHERE artifact_id = '{gone}'")

    assert "1 are gone since" in " ".join(miner("status", "--funnel").stdout.split())
    miner("filter", "--again")
    assert _counts(population)["bug words", "commit"] == (4, 2)
    assert "gone since" not in miner("status", "--funnel").stdout
    _adds_up(population)


def test_what_is_forgotten_is_told(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    assert miner("forget", _first(population)).returncode == 0

    # What was put in by hand has no response that it could be made of again.
    gone = 14 - population.rows("SELECT count(*) AS n FROM candidates")[0]["n"]
    assert gone > 0
    assert json.loads(miner("status", "--funnel", "--json").stdout)["gone"] == gone
    assert f"{gone} are gone since" in " ".join(miner("status", "--funnel").stdout.split())
    miner("filter", "--again")
    _adds_up(population)


def test_one_lexicon_of_several_is_enough_on_request(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    both = ("--on", "commit", "--lexicon", "bugfix", "--lexicon", "ml", "--lexicon", "ml")
    miner("filter", "words", *both)
    assert _counts(population)["words", "commit"] == (5, 2)
    miner("filter", "words", *both, "--any-lexicon")
    assert _counts(population)["words", "commit"] == (5, 4)


def test_a_size_is_rounded_up_on_request(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    # 13.24 of the 14 artifacts.
    for options, size in (((), 13), (("--round", "nearest"), 13), (("--round", "up"), 14)):
        miner("filter", "few", "--confidence", "90", "--margin", "5.4", *options)
        (row,) = population.rows("SELECT sum(rows_out) AS n FROM funnel WHERE step = 'few'")
        assert row["n"] == size
    (row,) = population.rows("SELECT DISTINCT predicate FROM funnel WHERE step = 'few'")
    assert row["predicate"] == "sample: 90 % confidence, 5.4 % margin, rounded up, seed 1"


def test_what_is_no_number_is_not_the_highest(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    value = "CASE WHEN score = 919 THEN 'nan'::DOUBLE WHEN score <> 838 THEN score END"
    miner("filter", "top", "--on", "post", "--size", "4", "--highest", value)

    rows = population.rows(
        "SELECT score FROM candidates JOIN selected USING (artifact_id) WHERE step = 'top' "
        "AND kind = 'post' ORDER BY score"
    )
    assert [row["score"] for row in rows] == [514, 595, 676, 757]


def test_a_draw_is_the_one_of_the_published_order(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "few", "--size", "2", "--by", "kind", "--seed", "7")

    rows = population.rows("SELECT artifact_id, kind FROM candidates")
    expected = {
        each
        for kind in ("commit", "issue", "post")
        for each in drawn((row["artifact_id"] for row in rows if row["kind"] == kind), 2, 7, kind)
    }
    chosen = population.rows("SELECT artifact_id FROM selected WHERE step = 'few'")
    assert {row["artifact_id"] for row in chosen} == expected


def test_two_ways_of_reading_stay_side_by_side(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    population.commits("Add this\n```\nerror\n```")
    miner("filter", "plain", "--on", "commit", "--lexicon", "bugfix")
    miner("filter", "code", "--on", "commit", "--lexicon", "bugfix", "--code")
    before = _contents(population.study)

    assert json.loads(miner("filter", "--again", "--json").stdout)["changed"] == []
    assert _contents(population.study) == before
    message = "SELECT keyword_hits FROM commits WHERE contains(message, 'error')"
    assert population.rows(message) == [{"keyword_hits": {}}]
    readings = "SELECT DISTINCT reading FROM keyword_hits WHERE contains(reading, '+')"
    assert len(population.rows(readings)) == 1
    miner("filter", "--drop", "code")
    assert population.rows(readings) == []


def test_changed_texts_and_lexicons_are_read_again(
    miner: Callable[..., CompletedProcess[str]],
    population: Population,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = population.study.directory / "lexicons" / "mine.txt"
    own.parent.mkdir()
    own.write_text("typo\n")
    miner("filter", "own", "--on", "commit", "--lexicon", "mine")
    assert _counts(population)["own", "commit"] == (5, 1)
    changed = _first(population)
    _write(
        population,
        "UPDATE store.commit SET message = 'A typo', run_id = 'later' "
        f"WHERE artifact_id = '{changed}'",
    )
    assert "1 texts were changed since" in " ".join(miner("status", "--funnel").stdout.split())
    read = _texts_read(monkeypatch)
    miner("filter", "--again")
    assert read == [changed]
    assert _counts(population)["own", "commit"] == (5, 2)
    assert "changed since" not in miner("status", "--funnel").stdout

    own.write_text("prefix\n")
    miner("filter", "--again")
    assert _counts(population)["own", "commit"] == (5, 1)
    hits = population.rows("SELECT words FROM keyword_hits WHERE lexicon = 'mine'")
    assert hits == [{"words": ["prefix"]}]


def test_a_lexicon_that_is_missing_is_told_with_its_step(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    own = population.study.directory / "lexicons" / "mine.txt"
    own.parent.mkdir()
    own.write_text("typo\n")
    miner("filter", "own", "--lexicon", "mine")
    own.unlink()

    done = miner("filter", "other", "--where", "true")
    said = " ".join(done.stderr.split())
    assert "step 'own': there is no lexicon 'mine'" in said
    assert "--drop 'own'" in said
    assert miner("filter", "--drop", "own").returncode == 0


def test_many_groups_keep_predicates_and_note(
    miner: Callable[..., CompletedProcess[str]], population: Population
) -> None:
    miner("filter", "bug words", "--lexicon", "bugfix")
    population.commits("Fix one more")

    shown = miner("status", "--funnel", "--by", "title").stdout
    assert "bug words: words of bugfix" in " ".join(shown.split())
    assert "1 artifacts were mined since" in " ".join(shown.split())


def test_killed_between_texts_it_goes_on(
    population: Population, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_TEXTS_AT_ONCE", 4)
    monkeypatch.setattr(running, "_FEW", 0)
    whole = _with_words(Population.at(_copied(population, "whole")))
    read = _texts_read(monkeypatch)
    for _ in range(4):  # 14 texts, four in each transaction
        with monkeypatch.context() as killing:
            killing.setattr(Study, "writing", _dying(Study.writing, after=2))
            with pytest.raises(_KilledError):
                _with_words(population)
    read.clear()
    assert _with_words(population) == whole
    assert read == []


def test_two_at_once_both_count(population: Population, start: Callable[..., Popen[str]]) -> None:
    code = "import sys; from faultatlas.report.start import miner; sys.argv[0] = 'miner'; miner()"
    asked = {"bug": ("bugfix", "--code"), "ml": ("ml",)}
    study = ("--study", population.study.directory)
    running_now = [
        start(f"{name}.py", code, "filter", name, "--lexicon", *rest, *study)
        for name, rest in asked.items()
    ]
    assert [process.wait() for process in running_now] == [0, 0]

    steps = population.rows("SELECT DISTINCT step FROM funnel ORDER BY step")
    assert [row["step"] for row in steps] == ["all", "bug", "ml"]
    (last,) = population.rows("SELECT sum(rows_out) AS n FROM funnel WHERE position = 2")
    assert last["n"] == 2 + 1
    _adds_up(population)


class _KilledError(BaseException):
    pass


def _dying(writing: Callable[..., Any], after: int) -> Callable[..., Any]:
    """Transactions of which the one behind so many never begins, nor any later one."""
    begun = 0

    @contextmanager
    def opened(study: Study, *, keep_log: bool = False) -> Iterator[Writer]:
        nonlocal begun
        begun += 1
        if begun > after:
            raise _KilledError
        with writing(study, keep_log=keep_log) as writer:
            yield writer

    return opened


def _with_words(population: Population) -> list[dict[str, Any]]:
    """The hits, when a step has looked for two lexicons."""
    step = Step("words", lexicons=("bugfix", "ml"), any_lexicon=True)
    run_steps(population.study, provenance.begin("miner filter", {}), lambda _reader: [step])
    _adds_up(population)
    return population.rows("SELECT * EXCLUDE run_id FROM store.keyword_hit ORDER BY ALL")


def _texts_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose texts are read from now on."""
    read: list[str] = []
    hits = words._hits  # noqa: SLF001  (what is read is seen nowhere else)

    def noted(text: words.Text, sought: Any) -> Iterator[words.Hit]:
        read.append(text[0])
        return hits(text, sought)

    monkeypatch.setattr(words, "_hits", noted)
    return read


def _copied(population: Population, name: str) -> Path:
    target = population.study.directory.with_name(name)
    return Path(shutil.copytree(population.study.directory, target))


def _first(population: Population) -> str:
    (row,) = population.rows("SELECT min(artifact_id) AS id FROM commits")
    return str(row["id"])


def _write(population: Population, sql: str) -> None:
    with population.study.writing() as writer:
        writer.execute(sql)


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


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
