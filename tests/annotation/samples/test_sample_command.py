"""`annotation sample` and `sample-size`, as a user calls them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from population import Population

from faultatlas.annotation.samples.command import Options, draw_new
from faultatlas.annotation.samples.definition import Definition, Sizing
from faultatlas.annotation.samples.drawing import draw
from faultatlas.annotation.samples.frame import Frame, Member, frame_of
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import Precision, drawn
from faultatlas.report.formatting import minute

Run = Callable[..., CompletedProcess[str]]
_TABLES = ("sample", "sample_draw", "frame_member", "sampled", "run")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = Population.at(tmp_path_factory.mktemp("template") / "study")
    found.issues(*["It crashes"] * 40)
    found.commits(*["Fix the loss"] * 12)
    found.posts(60, tags=["keras"], accepted=20)
    return found.study.directory


@pytest.fixture
def population(template: Path, tmp_path: Path) -> Population:
    shutil.copytree(template, tmp_path / "study")
    return Population.at(tmp_path / "study")


@pytest.fixture
def sample(command: Run, population: Population) -> Run:
    def run(*arguments: Any) -> CompletedProcess[str]:
        return command("annotation", "sample", *arguments, "--study", population.study.directory)

    return run


def _document(ended: CompletedProcess[str]) -> Any:
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def _ids(population: Population, name: str) -> list[str]:
    rows = population.rows(
        "SELECT artifact_id, position FROM samples WHERE sample = ? ORDER BY position", name
    )
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    return [row["artifact_id"] for row in rows]


def _contents(population: Population) -> dict[str, list[dict[str, Any]]]:
    with population.study.reading() as reader:
        return {name: reader.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in _TABLES}


def _failed(ended: CompletedProcess[str], said: str) -> None:
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    message, hint = ended.stderr.strip().split("\n", 1)
    assert said in message
    assert hint


# Sizes.


def test_published_sizes(command: Run) -> None:
    found = _document(command("annotation", "sample-size", 38463, 26326, 18812, 14590, "--json"))
    assert [each["size"] for each in found["sizes"]] == [380, 379, 376, 374]
    assert found["rounding"] == "nearest"
    endless = _document(command("annotation", "sample-size", "--round", "up", "--json"))
    assert [each["size"] for each in endless["sizes"]] == [385]
    shown = command("annotation", "sample-size", 38463, "--round", "up")
    assert "381" in shown.stdout
    _failed(command("annotation", "sample-size", 0), "a population of 0")
    _failed(command("annotation", "sample-size", 9, "--margin", 0), "a margin of 0 %")


def test_published_samples_are_drawn_from_populations_of_their_size() -> None:
    # Morovati et al., tables 3 and 4: of each framework a sample of its own.
    frame = frame_of(
        Member(f"stackoverflow:{tag}{n}", tag, float(n * 7919 % 1000))
        for tag, count in (("tensorflow", 18_812), ("keras", 14_590))
        for n in range(count)
    )
    definition = Definition("so", "", "highest", "each", ("tags[1]",), "score")
    made = draw(frame, definition, Sizing(precision=Precision())).new
    assert Counter(each.stratum for each in made) == {"keras": 374, "tensorflow": 376}
    assert definition.words(750) == (
        "the 750 highest by score in strata of tags[1], not a random sample"
    )
    taken = {each.artifact_id for each in made}
    of_keras = [each for each in frame.members if each.stratum == "keras"]
    lowest = min(each.value or 0 for each in of_keras if each.artifact_id in taken)
    assert lowest >= max(each.value or 0 for each in of_keras if each.artifact_id not in taken)


# Draws.


def test_the_same_seed_gives_the_same_draw_on_any_machine(
    sample: Run, population: Population
) -> None:
    _document(sample("pilot", "--where", "kind = 'issue'", "--size", 5, "--seed", 7, "--json"))
    # As coreutils' sha256sum orders `7\0\0github:o/r#N`.
    assert _ids(population, "pilot") == [f"github:o/r#{n}" for n in (6, 38, 18, 12, 35)]
    row = population.rows("SELECT * FROM sample_draws")[0]
    assert (row["seed"], row["size"], row["asked"], row["frame_count"]) == (7, 5, 5, 40)
    members = [Member(f"github:o/r#{n}") for n in range(1, 41)]
    ordered = tuple(sorted(members, key=lambda each: each.artifact_id))
    assert row["frame_hash"] == Frame(ordered).digest
    assert population.rows(row["frame_query"])[0]["artifact_id"] == "github:o/r#1"


def test_strata_alternate_and_each_is_drawn_by_its_own_order(
    sample: Run, population: Population
) -> None:
    _document(
        sample("mixed", "--where", "kind = 'issue' AND number::INT <= 4 OR kind = 'post' AND "
               "view_count IS NULL AND artifact_id IN (SELECT 'stackoverflow:' || n FROM "
               "range(1, 7) t(n))", "--stratify", "kind", "--size", 5, "--seed", 7, "--json")
    )  # fmt: skip
    # sha256sum of `7\0issue\0github:o/r#N` and of `7\0post\0stackoverflow:N`: turns 1/4 and 3/4 of
    # the issues, 1/6, 3/6 and 5/6 of the posts.
    assert _ids(population, "mixed") == [
        "stackoverflow:1", "github:o/r#1", "stackoverflow:4", "github:o/r#4", "stackoverflow:2",
    ]  # fmt: skip


def test_sizes_rules_and_frames_are_stored(sample: Run, population: Population) -> None:
    found = _document(sample("main", "--stratify", "source,kind", "--margin", 8, "--json"))
    assert found["size"] == 64
    assert found["size_rule"].startswith("n = n0 / (1 + (n0 - 1) / N) = 64.38 with ")
    assert "rounded to the nearest number: 64" in found["size_rule"]
    row = population.rows("SELECT * FROM sample_draws")[0]
    assert (row["confidence"], row["margin"], row["rounding"]) == (95, 8, "nearest")
    assert (row["method"], row["allocation"]) == ("stratified", "proportional")
    counts = Counter(each["stratum"] for each in found["artifacts"])
    assert counts == {"github / issue": 23, "git / commit": 7, "stackoverflow / post": 34}
    up = _document(sample("up", "--margin", 8, "--round", "up", "--json"))
    assert up["size"] == 65
    # A frame is stored once for each state of it.
    sample("again", "--size", 3)
    frames = population.rows("SELECT frame_hash, count(*) AS n FROM store.frame_member GROUP BY 1")
    assert [row["n"] for row in frames] == [112, 112]


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        (("--allocation", "equal"), {"commit": 10, "issue": 10, "post": 10}),
        (("--allocation", "each"), {"commit": 12, "issue": 30, "post": 30}),
        # Scores of posts vary, nothing else does; but one of each stratum is drawn.
        (
            ("--allocation", "optimal", "--spread", "coalesce(score, 0)"),
            {"commit": 1, "issue": 1, "post": 28},
        ),
    ],
)
def test_allocations(sample: Run, options: tuple[str, ...], counts: dict[str, int]) -> None:
    found = _document(sample("s", "--stratify", "kind", "--size", 30, *options, "--json"))
    assert Counter(each["stratum"] for each in found["artifacts"]) == counts
    (compared,) = found["comparisons"]
    assert "on purpose" in compared["note"]
    assert compared["test"]["method"] == "fixed by the allocation, not tested"
    weights = {row["group"]: row["weight"] for row in compared["groups"]}
    assert weights["post"] == pytest.approx(60 / counts["post"])


def test_the_highest_are_called_what_they_are(sample: Run, population: Population) -> None:
    shown = sample("top", "--where", "kind = 'post'", "--highest", "score", "--size", 7)
    assert "the 7 highest by score, not a random sample" in shown.stdout
    best = population.rows("SELECT artifact_id FROM posts ORDER BY score DESC LIMIT 7")
    assert _ids(population, "top") == [row["artifact_id"] for row in best]
    # Equals are in the order of the draw; those without a value come last.
    sample("equals", "--highest", "CASE kind WHEN 'post' THEN 1 WHEN 'issue' THEN 2 END",
           "--size", 105, "--seed", 7)  # fmt: skip
    found = _ids(population, "equals")
    issues = [f"github:o/r#{n}" for n in range(1, 41)]
    assert found[:40] == drawn(issues, 40, 7)
    assert {each.partition(":")[0] for each in found[40:100]} == {"stackoverflow"}
    assert {each.partition(":")[0] for each in found[100:]} == {"git"}


# The funnel.


def test_the_last_step_of_the_funnel_is_drawn_from(
    command: Run, sample: Run, population: Population
) -> None:
    where = ("--study", population.study.directory)
    command("miner", "filter", "posts", "--where", "kind = 'post'", *where)
    found = _document(sample("left", "--where", "score > 0", "--size", 100, "--json"))
    assert (found["frame"]["step"], found["frame"]["where"]) == ("posts", "score > 0")
    assert found["size"] == found["frame"]["count"] == 60
    assert "there are only 60, and all are in it" in found["size_rule"]
    # A later step does not move the frame, and everything can be asked for.
    command("miner", "filter", "accepted", "--where", "accepted_answer_id IS NOT NULL", *where)
    assert "the frame is the same today" in sample("left", "--check").stdout
    for step, count in ((None, 20), ("all", 112), ("posts", 60)):
        made = draw_new(population.study, str(step), Options(step=step, size=1), None)
        assert made.sample.last.frame_count == count
    with pytest.raises(StudyError, match="there is no step 'nowhere'"):
        draw_new(population.study, "x", Options(step="nowhere"), None)
    command("miner", "filter", "--drop", "posts", *where)
    gone = sample("left", "--check")
    assert gone.returncode == 0
    assert "cannot be asked any more: there is no step 'posts'" in " ".join(gone.stdout.split())


# Again.


def test_the_same_command_changes_nothing_and_another_is_refused(
    sample: Run, population: Population
) -> None:
    line = ("main", "--stratify", "kind", "--size", 20, "--seed", 3)
    assert sample(*line).returncode == 0
    before = _contents(population)
    assert "nothing was drawn" in sample(*line).stdout
    assert "nothing was drawn" in sample("main").stdout
    _failed(sample(*line[:-1], 4), "otherwise: the seed differs")
    _failed(sample("main", "--size", 20), "the way of drawing and the allocation and its strata")
    _failed(sample("main", "--extend", "--size", 30, "--seed", 4), "the seed differs")
    _failed(sample("main", "--extend", "--size", 10), "has 20 artifacts, more than 10")
    _failed(sample("main", "--extend"), "it is not said how far")
    _failed(sample("other", "--extend", "--size", 5), "there is no sample 'other'")
    assert _contents(population) == before


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"method": "stratified", "allocation": "proportional", "strata": ("kind",)},
        {"method": "stratified", "allocation": "equal", "strata": ("kind",)},
        {"method": "stratified", "allocation": "each", "strata": ("kind",)},
        {"method": "highest", "ordered_by": "score"},
    ],
    ids=lambda how: how.get("allocation", how.get("method", "simple")),
)
def test_an_extension_is_what_would_have_been_drawn_at_once(how: dict[str, Any]) -> None:
    kinds = {"issue": 40, "commit": 12, "post": 60} if "strata" in how else {"": 112}
    frame = frame_of(
        Member(f"{kind}:{n}", kind, float(n % 5)) for kind, count in kinds.items()
        for n in range(count)
    )  # fmt: skip
    definition = Definition("main", "", **how)
    first = draw(frame, definition, Sizing(11)).new
    more = draw(frame, definition, Sizing(24), first).new
    whole = draw(frame, definition, Sizing(24)).new
    assert [each.position for each in (*first, *more)] == list(range(1, len(whole) + 1))
    assert {each.artifact_id for each in (*first, *more)} == {each.artifact_id for each in whole}
    if "strata" not in how:
        assert [each.artifact_id for each in (*first, *more)] == [
            each.artifact_id for each in whole
        ]


def test_an_extension_changes_nothing_else(sample: Run, population: Population) -> None:
    line = ("main", "--stratify", "kind", "--size", 11)
    sample(*line)
    assert "drew 13 more, behind the 11" in sample("main", "--extend", "--size", 24).stdout
    before = _contents(population)
    assert "nothing was drawn" in sample("main", "--extend", "--size", 24).stdout
    assert "nothing was drawn" in sample(*line, "--seed", 1).stdout
    assert _contents(population) == before
    checked = sample("main", "--check")
    assert checked.returncode == 0
    assert "seed and stored frame give the same sample" in checked.stdout


def test_what_was_forgotten_is_counted_and_the_others_are_still_derived(
    sample: Run, population: Population
) -> None:
    sample("main", "--stratify", "kind", "--size", 12)
    lost = _ids(population, "main")[2:4]
    with population.study.writing() as writer:  # as `miner forget` does
        for artifact in lost:
            for table in ("sampled", "frame_member", "issue", "post", "commit"):
                writer.execute(f"DELETE FROM store.{table} WHERE artifact_id = ?", [artifact])
            writer.execute(
                "INSERT INTO store.forgotten VALUES (?, 'artifact', now()::TIMESTAMP, 'r')",
                [artifact],
            )
    checked = sample("main", "--check")
    assert checked.returncode == 0
    said = " ".join(checked.stdout.split())
    assert "2 artifacts were forgotten since; the others are what the seed gives" in said
    assert "(12 drawn, 2 forgotten)" in said
    assert sample("main", "--extend", "--size", 20).returncode == 0
    rows = population.rows("SELECT position FROM samples ORDER BY position")
    assert [row["position"] for row in rows] == [1, 2, *range(5, 23)]
    checked = sample("main", "--check")
    assert checked.returncode == 0
    # The frame has only lost what was forgotten: it is still one sample of it.
    assert "a stratified random sample of 20" in checked.stdout
    # What is missing without a trace is no longer explained.
    with population.study.writing() as writer:
        writer.execute("DELETE FROM store.sampled WHERE position > 8")
    _failed(sample("main", "--check"), "is not what its seed and frame give")


def test_an_extension_after_the_frame_has_changed(sample: Run, population: Population) -> None:
    sample("main", "--stratify", "kind", "--size", 30)
    first = _ids(population, "main")
    gone = next(each for each in first if each.startswith("stackoverflow"))
    population.issues(*["New"] * 25)
    with population.study.writing() as writer:
        writer.execute("DELETE FROM store.post WHERE artifact_id = ?", [gone])
    shown = sample("main", "--extend", "--size", 60)
    said = " ".join(shown.stdout.split())
    assert "60 artifacts drawn in 2 draws from frames of 112 and 136" in said
    assert "not one stratified random sample" in said
    assert "draw 1: 30 of 112 that were left of 112 (26.8 %)" in said
    assert "draw 2: 30 of 107 that were left of 136 (28.0 %)" in said
    assert "the frame has changed since: 25 came, 1 went" in shown.stdout
    assert "1 of the sample are no longer in the frame." in " ".join(shown.stdout.split())
    longer = _ids(population, "main")
    assert len(longer) == 60
    assert longer[:30] == first
    assert len(set(longer)) == 60
    checked = _document(sample("main", "--check", "--json"))["check"]
    assert checked["is_derived"]
    assert (checked["came"], checked["went"]) == (0, 0)
    frames = population.rows("SELECT frame_count FROM sample_draws ORDER BY draw")
    assert [row["frame_count"] for row in frames] == [112, 136]


def test_a_check_notices_what_was_changed_by_other_means(
    sample: Run, population: Population
) -> None:
    sample("main", "--size", 10)
    population.posts(1, tags=["keras"])
    shown = sample("main", "--check")
    assert shown.returncode == 0
    assert "the frame has changed (1 came and 0 went) and gives the same sample" in " ".join(
        shown.stdout.split()
    )
    with population.study.writing() as writer:
        writer.execute("UPDATE store.sampled SET artifact_id = 'github:o/r#99' WHERE position = 3")
    _failed(sample("main", "--check"), "sample 'main' is not what its seed and frame give")


# Comparison.


def test_a_sample_of_what_is_all_alike_says_why_it_is_not_compared(sample: Run) -> None:
    alike = sample("issues", "--where", "kind = 'issue'", "--size", 10).stdout
    assert "source, kind and project do not divide them" in " ".join(alike.split())
    divided = sample("all", "--size", 10).stdout
    assert "do not divide" not in divided


def test_a_sample_is_compared_with_its_frame(sample: Run) -> None:
    found = _document(sample("main", "--size", 50, "--json"))
    (compared,) = found["comparisons"]  # source and project divide it as kind does
    assert compared["by"] == "source"
    rows = {row["group"]: row for row in compared["groups"]}
    assert rows["stackoverflow"]["frame"] == 60
    assert rows["stackoverflow"]["frame_share"] == pytest.approx(100 * 60 / 112)
    assert sum(row["sample"] for row in rows.values()) == 50
    assert compared["test"]["degrees"] == 2
    assert 0 < compared["test"]["p_value"] <= 1
    other = _document(sample("main", "--compare", "score > 500, is_merge", "--json"))
    assert [each["by"] for each in other["comparisons"]] == ["score > 500", "is_merge"]
    assert {row["group"] for row in other["comparisons"][0]["groups"]} == {
        "true", "false", "(none)",
    }  # fmt: skip
    shown = sample("main", "--compare", "kind")
    assert "Representativeness: X2 = " in shown.stdout
    _failed(sample("main", "--compare", "nothing"), "the condition of --compare nothing")
    _failed(sample("main", "--compare", "kind,"), "names no columns")


def test_strata_are_not_tested_but_other_columns_are(sample: Run) -> None:
    found = _document(
        sample("main", "--stratify", "score > 500", "--size", 50, "--json")
    )["comparisons"]  # fmt: skip
    assert [each["by"] for each in found] == ["score > 500", "source"]
    assert found[0]["test"]["p_value"] is None
    assert found[0]["test"]["method"] == "fixed by the allocation, not tested"
    assert 0 < found[1]["test"]["p_value"] <= 1


# Bad input.


BAD: list[tuple[dict[str, Any], str]] = [
    ({"where": "random() < 0.5"}, "cannot be repeated: it asks random()"),
    ({"where": "kind = 'issue'; DROP TABLE x"}, "does not work"),
    ({"where": "kind = 'post') OR (TRUE"}, "does not work"),
    ({"where": "artifact_id IN (SELECT artifact_id FROM samples)"}, "the table samples"),
    ({"where": "artifact_id IN (SELECT artifact_id FROM labels)"}, "the table labels"),
    ({"where": "kind = 'nothing'"}, "there is nothing to draw from"),
    ({"stratify": "nonsense"}, "does not work"),
    ({"stratify": "kind) || (source"}, "does not work"),
    ({"size": 5, "margin": 5}, "--size is a size"),
    ({"seed": 10**30}, "a seed of 1000000000000000000000000000000"),
    ({"confidence": 100}, "a confidence of 100 %"),
    ({"allocation": "equal"}, "--allocation belongs to a sample with strata"),
    ({"stratify": "kind", "allocation": "odd"}, "there is no allocation 'odd'"),
    ({"stratify": "kind", "allocation": "optimal"}, "needs to know what varies"),
    ({"stratify": "kind", "spread": "score"}, "needs to know what varies"),
    (
        {"stratify": "kind", "allocation": "optimal", "spread": "1"},
        "1 does not vary inside any stratum",
    ),
    ({"highest": "title"}, "--highest title is no number, it is VARCHAR"),
]


def test_bad_options_are_refused_and_store_nothing(template: Path) -> None:
    population = Population.at(template)
    for options, said in BAD:
        with pytest.raises(StudyError) as caught:
            draw_new(population.study, "x", Options(**options), None)
        assert said in caught.value.message
        assert caught.value.hint
    assert not any(_contents(population).values())


def test_strata_that_read_alike_stay_apart(population: Population) -> None:
    with population.study.writing() as writer:
        for number, (title, body) in enumerate(
            [("a / b", "c"), ("a", "b / c"), ("(none)", "x"), (None, "x")], 1
        ):
            writer.execute(
                "UPDATE store.issue SET title = ?, body = ? WHERE number = ?",
                [title, body, str(number)],
            )
    few = "kind = 'issue' AND number::INT <= 4"
    two = draw_new(population.study, "two", Options(where=few, stratify="title,body"), None)
    assert {each.stratum for each in two.sample.drawn} == {
        r"a \/ b / c", r"a / b \/ c", r"\\(none) / x", "(none) / x",
    }  # fmt: skip
    one = draw_new(population.study, "one", Options(where=few, stratify="title"), None)
    assert {each.stratum for each in one.sample.drawn} == {"a / b", "a", r"\(none)", "(none)"}


def test_what_a_check_takes(sample: Run) -> None:
    _failed(sample("x", "--check", "--size", 5), "--check derives a sample again")
    _failed(sample("x", "--check"), "there is no sample 'x'")


def test_names_and_studies_are_checked(sample: Run, command: Run, tmp_path: Path) -> None:
    _failed(sample(" x", "--size", 3), "is no name for a sample")
    _failed(sample("--size", 3), "the sample has no name")
    _failed(command("annotation", "sample", "x", "--study", tmp_path / "no"), "there is no study")
    assert not (tmp_path / "no").exists()


def test_samples_are_listed(sample: Run) -> None:
    assert "no samples yet" in sample().stdout
    sample("b", "--size", 3)
    sample("a", "--size", 4)
    found = _document(sample("--json"))
    assert [(each["sample"], each["size"]) for each in found["samples"]] == [("b", 3), ("a", 4)]
    assert "a simple random sample of 3, seed 1" in sample().stdout


@pytest.mark.usefixtures("in_kolkata")
def test_the_last_draw_is_told_by_the_clock_on_the_wall_and_in_json_in_utc(sample: Run) -> None:
    sample("a", "--size", 4)
    (found,) = _document(sample("--json"))["samples"]
    assert found["drawn_at"].endswith("Z")
    shown = " ".join(sample("-v").stdout.split())
    assert "IST" in shown
    assert minute(found["drawn_at"]).split()[0] in shown


def test_a_sample_has_one_spelling(sample: Run) -> None:
    first = _document(sample("My sample", "--size", "5", "--json"))
    again = _document(sample("My  sample", "--size", "5", "--json"))
    assert (first["sample"], again["sample"]) == ("My sample", "My sample")
