"""Scales, distances, and which categories are confused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import jaccard_score

from faultatlas.analysis.statistics.agreement import measure
from faultatlas.analysis.statistics.agreement.distances import (
    jaccard,
    linear,
    masi,
    nominal,
    quadratic,
    tree_distances,
)
from faultatlas.analysis.statistics.agreement.ratings import confusion, rating_table
from faultatlas.analysis.statistics.scales import SCALES, word
from faultatlas.annotation.agreement.codings import Coding
from faultatlas.annotation.agreement.confusing import confusions


@pytest.mark.parametrize(
    ("scale", "value", "expected"),
    [
        ("landis-koch", -0.01, "poor"),
        ("landis-koch", 0.0, "slight"),
        ("landis-koch", 0.2, "slight"),
        ("landis-koch", 0.21, "fair"),
        ("landis-koch", 0.6, "moderate"),
        ("landis-koch", 0.777, "substantial"),
        ("landis-koch", 0.817, "almost perfect"),
        ("krippendorff", 0.666, "not reliable"),
        ("krippendorff", 0.667, "tentative"),
        ("krippendorff", 0.8, "reliable"),
        ("altman", -0.5, "poor"),
        ("altman", 0.61, "good"),
        ("altman", 1.0, "very good"),
        ("mchugh", 0.39, "minimal"),
        ("mchugh", 0.59, "weak"),
        ("mchugh", 0.9, "strong"),
        ("mchugh", 0.901, "almost perfect"),
    ],
)
def test_words_of_the_scales(scale: str, value: float, expected: str) -> None:
    assert word(scale, value) == expected


def test_a_scale_has_its_source_and_no_word_for_nothing() -> None:
    for name, scale in SCALES.items():
        assert scale.name == name
        assert "19" in scale.source or "20" in scale.source
        assert word(name, None) == ""


def test_distances_of_a_tree() -> None:
    found = tree_distances(["ab", "ac", "acd", "e", "a"])  # a letter is a step down
    assert found[0].tolist() == pytest.approx([0, 0.5, 0.6, 1, 1 / 3])
    assert found[1, 2] == pytest.approx(0.2)
    assert (found == found.T).all()
    assert found[3, 4] == 1


def test_distances_of_sets() -> None:
    sets = [frozenset("ab"), frozenset("abc"), frozenset("bc"), frozenset("d"), frozenset()]
    members = np.array([[letter in each for letter in "abcd"] for each in sets])
    for row in range(4):
        for column in range(4):
            other = 1 - jaccard_score(members[row], members[column])
            assert jaccard(sets)[row, column] == pytest.approx(other)
    # Passonneau (2006): Jaccard by 1 for the same, 2/3 inside, 1/3 overlapping, 0 apart.
    assert masi(sets)[0].tolist() == pytest.approx([0, 1 - 4 / 9, 1 - 1 / 9, 1, 1])
    assert masi([frozenset(), frozenset()]).tolist() == [[0, 0], [0, 0]]


def test_distances_of_an_order() -> None:
    assert linear(3).tolist() == [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    assert quadratic(3)[0].tolist() == [0, 0.25, 1]
    assert nominal(1).tolist() == linear(1).tolist() == [[0]]


def test_several_codes_at_once_agree_in_part() -> None:
    one, both, other = frozenset("a"), frozenset("ab"), frozenset("c")
    table = rating_table([[one, one], [both, one], [other, other], [both, both]])
    sets = [frozenset(each) for each in table.categories]  # type: ignore[call-overload]
    strict = measure(table, "krippendorff").value or 0
    lenient = measure(table, "krippendorff", distances=jaccard(sets)).value or 0
    between = measure(table, "krippendorff", distances=masi(sets)).value or 0
    assert strict < between < lenient < 1


def test_confusion_counts_every_pair_of_ratings_once() -> None:
    table = rating_table([["a", "a", "b"], ["b", "c", None], ["c", None, None]], "abcd")
    found = confusion(table)
    assert found.tolist() == [[1, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert np.triu(found).sum() == 4
    paths = {code: (code,) for code in "abcd"}
    worst, next_one = confusions(Coding(table, ("1", "2", "3"), ("x", "y", "z"), False, paths))
    assert (worst.one, worst.other, worst.pairs) == ("a", "b", 2)
    assert worst.of_either == pytest.approx(2 / 4)
    assert (next_one.one, next_one.other, next_one.pairs) == ("b", "c", 1)
