"""Texts that are nearly the same: suggested, scored exactly, and not for a template's sake."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import pytest
from linking import OTHER_SHA, SHA, START, Linking

from faultatlas.data.provenance import begin
from faultatlas.data.study import Study, Writer
from faultatlas.miner.links import THRESHOLD
from faultatlas.miner.links.duplicates import MATCHES, find_duplicates

LIB = "github:example/lib"
WORDS = [f"w{number}" for number in range(400)]


def some_words(seed: int, count: int = 40) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)  # noqa: S311  (seeded)


def suggested(linking: Linking, threshold: float = THRESHOLD) -> dict[tuple[str, str], float]:
    """Pairs by what is behind the # or @ of their ids, with their scores."""
    find_duplicates(linking.study, begin("test", {}), threshold)
    rows = linking.links("from_id, to_id, score, found_in")
    return {(f.partition("#")[2] or f, t.partition("#")[2] or t): s for f, t, s, _in in rows}


def sequences(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(words, words[1:], words[2:], strict=False))


@pytest.mark.parametrize("threshold", [0.3, 0.55, 0.7, 1])
def test_scores_and_pairs_are_those_of_comparing_every_pair(
    linking: Linking, threshold: float
) -> None:
    chance = random.Random(7)  # noqa: S311  (seeded)
    bodies = {}
    for number in range(1, 41):
        words = some_words(number // 4, 60)  # four of a kind, each changed in its own way
        for _change in range(chance.choice([0, 0, 1, 2, 4, 8])):
            words[chance.randrange(60)] = chance.choice(WORDS)
        bodies[number] = " ".join(words[chance.choice([0, 0, 10]) :])
        linking.issue(number, bodies[number], title="")
    expected = {}
    for older, newer in combinations(bodies, 2):
        one, other = sequences(bodies[older]), sequences(bodies[newer])
        score = len(one & other) / len(one | other)
        if score >= threshold:
            expected[str(newer), str(older)] = score
    found = suggested(linking, threshold)
    # Of equal texts only the oldest is compared with others.
    same = {newer for (newer, _older), score in found.items() if score == 1}
    shown = {pair: s for pair, s in expected.items() if not same & {*pair} or pair in found}
    assert found == pytest.approx(shown)
    assert len(found) > (1 if threshold == 1 else 12)


def test_a_suggestion_leads_from_the_newer_to_the_older(linking: Linking) -> None:
    text = " ".join(some_words(1))
    linking.issue(5, text, created_at=START.replace(year=2019))
    linking.issue(3, f"{text} and more", created_at=START.replace(year=2021))
    linking.pull(4, text)  # of another kind: not compared
    assert [*suggested(linking)] == [("3", "5")]
    ((evidence, found_in),) = linking.links("evidence, found_in")
    assert (evidence, found_in) == ("40 of 42 three-word sequences in common", "text")


def test_a_template_makes_no_duplicates(linking: Linking) -> None:
    template = " ".join(f"please{number} tell{number} us" for number in range(30))
    for number in range(1, 21):
        linking.issue(number, f"{template} {' '.join(some_words(number, 15))}")
    linking.issue(30, f"{template} {' '.join(some_words(7, 15))} indeed")
    assert [*suggested(linking)] == [("30", "7")]


def test_short_texts_are_compared_as_a_whole(linking: Linking) -> None:
    linking.issue(1, "does not work here", title="It")
    linking.issue(2, "Does NOT <b>work</b>, here!", title="It")
    linking.issue(3, "does not work there", title="It")
    linking.issue(4, "", title="Bug report")
    linking.issue(5, "", title="Bug report")
    assert suggested(linking) == {("2", "1"): 1}
    for number in range(10, 20):  # what everybody says is no sign of anything
        linking.issue(number, "does not work here", title="It")
    assert suggested(linking) == {}


def test_the_same_commit_in_a_fork(linking: Linking) -> None:
    mine = linking.commit(SHA, "x", created_at=START)
    fork = linking.commit(SHA, "x", project="fork/lib", created_at=START)
    assert suggested(linking) == {(fork, mine): 1}
    assert linking.links("evidence, found_in") == {("same hash", "hash")}


def test_a_picked_commit_keeps_its_author_and_time(linking: Linking) -> None:
    by = {"author": "person_1", "author_epoch": 5}
    first = linking.commit(SHA, "Fix the typo again", **by)
    picked = linking.commit(OTHER_SHA, "Fix the typo again", **by)
    linking.commit("1" * 40, "Fix the typo again", author="person_1", author_epoch=6)
    assert suggested(linking) == {(picked, first): 1}


def test_of_many_copies_each_leads_to_the_oldest(linking: Linking) -> None:
    text = " ".join(some_words(1))
    for number in range(1, 30):
        linking.issue(number, text)
    assert suggested(linking) == {(str(number), "1"): 1 for number in range(2, 30)}


def test_a_text_leads_to_so_many_at_most_and_to_the_best(linking: Linking) -> None:
    words = some_words(1, 120)
    for number in range(1, 9):  # the later, the fewer changes
        changed = [f"{number}-{at}" for at in range(9 - number)]
        project = f"project{number}/lib"  # in one, so many would have a template
        linking.issue(number, " ".join([*changed, *words]), title="", project=project)
    linking.issue(20, " ".join(words), title="")
    found = [older for newer, older in suggested(linking) if newer == "20"]
    assert sorted(found) == ["4", "5", "6", "7", "8"]
    assert len(found) == MATCHES


def test_while_texts_are_compared_others_have_the_study(
    linking: Linking, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(some_words(1))
    for number in (1, 2, 3):
        linking.issue(number, text)
    linking.study  # noqa: B018  (what was put is written)
    scratch = Study.scratch

    @contextmanager
    def busy(study: Study) -> Iterator[Writer]:
        """When all is compared somebody else writes: an artifact goes, and a text changes."""
        with scratch(study) as computing:
            yield computing
            with Study(linking.folder, wait_s=0).writing() as writer:
                writer.execute("DELETE FROM store.issue WHERE number = '3'")
                writer.execute("UPDATE store.issue SET body = 'other' WHERE number = '2'")

    monkeypatch.setattr(Study, "scratch", busy)
    assert [*suggested(linking)] == [("2", "1")]  # as it was when it was read
    monkeypatch.undo()
    assert suggested(linking) == {}


def test_what_is_gone_is_nobodys_duplicate(linking: Linking) -> None:
    text = " ".join(some_words(1))
    for number in (1, 2, 3):
        linking.issue(number, text)
    linking.departure(f"{LIB}#1", "deleted")
    assert [*suggested(linking)] == [("3", "2")]
    linking.departure(f"{LIB}#2", "deleted")
    linking.link(duplicates=False)  # which looks for none, and keeps none that have lost their end
    assert linking.links() == set()
    linking.drop("departure", f"{LIB}#2")
    assert [*suggested(linking)] == [("3", "2")]


def test_a_score_that_is_just_the_threshold_is_enough(linking: Linking) -> None:
    words = [f"word{number}" for number in range(42)]
    linking.issue(1, " ".join(words), title="")
    linking.issue(2, " ".join(words[:22]), title="")
    linking.issue(3, " ".join(words[:21]), title="")
    assert suggested(linking, 0.5) == {("2", "1"): 0.5, ("3", "2"): 0.95}


def test_another_threshold_is_another_result(linking: Linking) -> None:
    words = some_words(1, 60)
    linking.issue(1, " ".join(words))
    linking.issue(2, " ".join(words[:45]))
    assert [*suggested(linking, 0.7)] == [("2", "1")]
    assert suggested(linking, 0.9) == {}
    assert [*suggested(linking, 0.7)] == [("2", "1")]


def test_duplicates_that_a_source_names_stay_beside_suggestions(linking: Linking) -> None:
    text = " ".join(some_words(1))
    linking.issue(1, text)
    linking.issue(2, text)
    linking.comment(5, f"{LIB}#2", "Duplicate of #1")
    linking.link(duplicates=True)
    assert linking.links("found_in, score") == {("text", 1.0), ("github:comment/5", 1.0)}
