"""A sample of bugs: seeded, stratified, nested, stored with its frame."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from executed import content_of, made_bug, new_study

from faultatlas.analysis.reexecution.drawing import Drawn, draw
from faultatlas.analysis.reexecution.storing import register
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import drawn
from faultatlas.data.study import Study

FRAMEWORKS = ["keras"] * 12 + ["pytorch"] * 6 + [""] * 2
IDS = [f"set/{number:02}" for number in range(20)]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Twenty bugs of one set and three that were shipped."""
    study = new_study(tmp_path / "study")
    bugs = [
        made_bug(name, framework, ("crash", "hang")[at % 2])
        for at, (name, framework) in enumerate(zip(IDS, FRAMEWORKS, strict=True))
    ]
    bugs += [made_bug(f"shipped/{name}") for name in "abc"]
    register(study, bugs, content_of=content_of)
    return study


def rows(study: Study, query: str) -> list[dict[str, Any]]:
    with study.reading() as reader:
        return reader.rows(query)


def strata(found: Drawn) -> dict[str, tuple[int, int]]:
    return {each.name: (each.size, each.drawn) for each in found.strata}


def test_without_strata_it_is_the_order_of_the_seed(study: Study) -> None:
    found = draw(study, 5, seed=7)
    assert list(found.bug_ids) == drawn(IDS, 5, 7)
    assert (found.frame_count, found.sets, found.is_new) == (20, ("set",), True)
    assert list(draw(study, 5, seed=8).bug_ids) == drawn(IDS, 5, 8)


def test_strata_are_shared_out_in_proportion_and_each_gets_one(study: Study) -> None:
    found = draw(study, 10, ("framework",), 7)
    assert strata(found) == {"(none)": (2, 1), "keras": (12, 6), "pytorch": (6, 3)}
    assert strata(draw(study, 3, ("framework",), 7)) == {
        "(none)": (2, 1),
        "keras": (12, 1),
        "pytorch": (6, 1),
    }
    assert "Webster" in found.rule
    crossed = draw(study, 10, ("framework", "symptom"), 7)
    assert strata(crossed)["keras / hang"] == (6, 3)


@pytest.mark.parametrize("columns", [(), ("framework",), ("framework", "symptom")])
def test_a_larger_sample_holds_the_smaller(study: Study, columns: tuple[str, ...]) -> None:
    last: set[str] = set()
    for size in (1, 4, 9, 15, 20):
        found = set(draw(study, size, columns, 3).bug_ids)
        assert last < found
        last = found
    assert last == set(IDS)


def test_the_same_again_is_the_same_and_stores_nothing(study: Study) -> None:
    first = draw(study, 6, ("framework",), 3)
    before = rows(study, "SELECT * FROM bug_samples ORDER BY ALL")
    again = draw(study, 6, ("framework",), 3)
    assert (again.bug_ids, again.draw, again.is_new) == (first.bug_ids, 1, False)
    assert rows(study, "SELECT * FROM bug_samples ORDER BY ALL") == before
    assert rows(study, "SELECT DISTINCT run_id FROM bug_samples") == [
        {"run_id": row["run_id"]} for row in rows(study, "SELECT max(run_id) AS run_id FROM runs")
    ]


def test_the_whole_frame_is_stored_with_it(study: Study) -> None:
    found = draw(study, 6, ("framework",), 3)
    stored = rows(
        study,
        "SELECT * FROM bug_samples WHERE position IS NOT NULL AND is_latest ORDER BY position",
    )
    assert tuple(row["bug_id"] for row in stored) == found.bug_ids
    assert [row["position"] for row in stored] == [1, 2, 3, 4, 5, 6]
    assert {
        row["stratum"]: (row["stratum_size"], row["stratum_drawn"]) for row in stored
    } == strata(found)
    frame = rows(study, "SELECT bug_id FROM bug_samples ORDER BY bug_id")
    assert [row["bug_id"] for row in frame] == IDS
    (header,) = rows(
        study, "SELECT DISTINCT frame_hash, seed, strata, sets, asked FROM bug_samples"
    )
    assert header == {
        "frame_hash": found.frame_hash,
        "seed": 3,
        "strata": ["framework"],
        "sets": ["set"],
        "asked": 6,
    }


def test_another_frame_or_size_is_another_draw_of_the_same_name(study: Study) -> None:
    first = draw(study, 6)
    register(study, [made_bug("set/new")], content_of=content_of)
    second, third = draw(study, 6), draw(study, 8)
    assert (first.sample, first.draw, second.draw, third.draw) == (second.sample, 1, 2, 3)
    assert first.frame_hash != second.frame_hash == third.frame_hash
    assert second.frame_count == 21
    latest = rows(study, "SELECT count(position) AS n FROM bug_samples WHERE is_latest")
    assert latest == [{"n": 8}]


def test_more_than_there_are_is_all_and_it_is_said(study: Study) -> None:
    found = draw(study, 99)
    assert sorted(found.bug_ids) == IDS
    assert found.is_everything
    assert "all 20 bugs" in found.words()
    assert "99 were asked for" in found.words()
    assert "there are only 20" in found.rule


def test_shipped_bugs_are_mixed_in_only_if_they_are_named(study: Study, tmp_path: Path) -> None:
    def sets_of(found: Drawn) -> Counter[str]:
        return Counter(bug_id.partition("/")[0] for bug_id in found.bug_ids)

    assert sets_of(draw(study, 99)) == {"set": 20}
    assert sets_of(draw(study, 99, sets=["shipped"])) == {"shipped": 3}
    assert sets_of(draw(study, 99, sets=["set", "shipped"])) == {"set": 20, "shipped": 3}
    alone = new_study(tmp_path / "alone")
    register(alone, [made_bug("shipped/a")], content_of=content_of)
    assert draw(alone, 1).bug_ids == ("shipped/a",)


def test_by_set(study: Study) -> None:
    found = draw(study, 8, ("set",), sets=["set", "shipped"])
    assert strata(found) == {"set": (20, 7), "shipped": (3, 1)}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"size": 0}, "a sample of 0"),
        ({"size": 3, "stratify": ("colour",)}, "cannot be divided by 'colour'"),
        ({"size": 3, "sets": ["none"]}, "there is no set 'none'"),
        ({"size": 3, "seed": 2**70}, "a seed of"),
    ],
)
def test_what_cannot_be_drawn_is_said(study: Study, wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as raised:
        draw(study, **wanted)
    assert raised.value.hint
    assert rows(study, "SELECT * FROM bug_samples") == []


def test_a_name_means_one_sample(study: Study) -> None:
    draw(study, 3, name="mine")
    with pytest.raises(StudyError, match="'mine' is another one"):
        draw(study, 3, ("framework",), name="mine")


def test_sets_with_a_dash_in_their_names_are_not_mixed_up(study: Study) -> None:
    names = [f"{name}/1" for name in ("a", "b", "a-b")]
    register(study, [made_bug(name) for name in names], content_of=content_of)
    both, one = draw(study, 1, sets=["a", "b"]), draw(study, 1, sets=["a-b"])
    assert (both.sample, one.sample) == ("a+b-seed-1", "a-b-seed-1")
    assert one.bug_ids == ("a-b/1",)
    draw(study, 1, name="mine", sets=["a"])
    with pytest.raises(StudyError, match="'mine' is another one: of a, stratified by nothing"):
        draw(study, 1, name="mine", sets=["b"])


def test_a_study_without_bugs_says_how_to_get_some(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no bugs") as raised:
        draw(Study(tmp_path / "none"), 3)
    assert re.search("--import", raised.value.hint)
