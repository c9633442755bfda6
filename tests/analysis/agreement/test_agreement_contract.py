"""What every statistic keeps to, whatever the ratings are."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rating_tables import tables

from faultatlas.analysis.statistics.agreement import (
    coefficients,
    measure,
    measure_categories,
    measure_pairs,
)
from faultatlas.analysis.statistics.agreement.distances import linear, nominal, tree_distances
from faultatlas.analysis.statistics.agreement.ratings import (
    MISSING,
    AgreementEstimate,
    RatingTable,
    rating_table,
)
from faultatlas.analysis.statistics.agreement.warnings import indices, warnings

law = settings(max_examples=100)
TREE = tree_distances([("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")])
NAMES = [*coefficients()]


def holds_together(found: AgreementEstimate) -> None:
    """A value or a reason, intervals around the value, no nan."""
    assert (found.value is None) == bool(found.reason)
    numbers = (
        found.value,
        found.low,
        found.high,
        found.bootstrap_low,
        found.bootstrap_high,
    )
    assert all(isinstance(each, float) and isfinite(each) for each in numbers if each is not None)
    assert (found.low is None) == (found.high is None)
    if found.value is not None:
        assert found.value <= 1 + 1e-9  # below -1 it can be: chance from items with one rating
        assert found.method
        assert found.items >= 1
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.low <= found.value + 1e-12 <= found.high + 2e-12


def test_every_statistic_is_found_and_says_what_it_is() -> None:
    assert NAMES == ["cohen", "fleiss", "gwet", "krippendorff", "pairwise", "percent"]
    for name, each in coefficients().items():
        assert each.name == name
        assert each.title
        assert "(" in each.source


@law
@given(
    tables(raters=(1, 5), items=(0, 8), categories=4),
    st.sampled_from(NAMES),
    st.sampled_from([None, linear(4), TREE]),
    st.integers(0, 5),
)
def test_any_ratings_give_a_value_or_a_reason_and_never_a_warning(
    table: RatingTable, name: str, distances: np.ndarray | None, resamples: int
) -> None:
    found = measure(table, name, distances=distances, resamples=resamples, seed=1)
    holds_together(found)
    for pair in measure_pairs(table, name, distances=distances).values():
        holds_together(pair)
    for each in measure_categories(table, name, resamples=resamples).values():
        holds_together(each)
    indices(table)
    warnings(table, [found])


@law
@given(tables(), st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(table: RatingTable, name: str, chance: object) -> None:
    mixer = np.random.default_rng(chance.randrange(1000))  # type: ignore[attr-defined]
    names = mixer.permutation(4)
    values = np.where(table.values == MISSING, MISSING, names[table.values])
    values = mixer.permutation(mixer.permutation(values), axis=1)
    first, other = measure(table, name), measure(RatingTable(values, table.categories), name)
    assert (first.value, first.low, first.high) == pytest.approx(
        (other.value, other.low, other.high), abs=1e-9
    )
    assert (first.items, first.raters, first.ratings, first.reason) == (
        other.items,
        other.raters,
        other.ratings,
        other.reason,
    )


@law
@given(tables(), st.sampled_from(NAMES))
def test_categories_that_nobody_used_and_items_that_nobody_rated_do_not_matter(
    table: RatingTable, name: str
) -> None:
    empty = np.full((3, table.values.shape[1]), MISSING)
    more = RatingTable(np.vstack([table.values, empty]), (*table.categories, "e", "f"))
    found = measure(more, name)
    assert found == measure(table, name)
    assert measure(more, name, distances=nominal(6)) == found


def test_perfect_agreement_is_one_without_an_interval() -> None:
    table = rating_table([["a", "a"], ["b", "b"], ["c", "c"]])
    for name in NAMES:
        found = measure(table, name, resamples=100)
        assert found.value == pytest.approx(1)
        assert (found.low, found.bootstrap_low) == (None, None)
        assert found.method.startswith("none")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "two raters"),
        ([[], []], "two raters"),
        ([["a"], ["b"]], "two raters: 1 gave"),
        ([["a", None], ["b", None]], "two raters: 1 gave"),
        ([[None, None], [None, None]], "two raters: none gave"),
        ([["a", None], [None, "b"]], "two ratings: there is none"),
        ([["a", "b"], ["a", None]], "two ratings: there is one"),
        ([["a", "a"], ["a", "a"], ["a", None]], "only one category"),
    ],
)
def test_too_little_has_its_reason(rows: list[list[str | None]], reason: str) -> None:
    for name in ("cohen", "fleiss", "krippendorff"):
        assert reason in measure(rating_table(rows), name, resamples=10).reason


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "rows", [[], [[None, None], [None, None]], [["a"], ["a"]], [["a", None], [None, "a"]]]
)
def test_without_two_ratings_of_an_item_there_is_a_reason(
    name: str, rows: list[list[str | None]]
) -> None:
    found = measure(rating_table(rows), name, resamples=10)
    assert found.value is None
    assert found.reason
    constant = measure(rating_table([["a", "a"], ["a", "a"]]), name, resamples=10)
    assert constant.value == 1 or constant.reason


def test_one_category_is_agreement_for_those_who_do_not_correct_by_it() -> None:
    table = rating_table([["a", "a"], ["a", "a"]], ["a", "b"])
    assert measure(table, "percent").value == 1
    assert measure(table, "gwet").value == 1  # nothing was hard, so nobody guessed
    assert "only one category" in measure(rating_table([["a", "a"], ["a", "a"]]), "gwet").reason
    assert measure(rating_table([["a", "b"]]), "percent").value == 0


def test_cohen_of_more_than_two_raters_says_what_to_take() -> None:
    table = rating_table([["a", "b", "a"], ["a", "a", "a"]])
    assert "two raters, here are 3" in measure(table, "cohen").reason
    # A rater without a rating is none.
    assert measure(rating_table([["a", None, "b"], ["a", None, "a"]]), "cohen").value == 0


def test_an_unknown_statistic_and_wrong_distances_are_refused() -> None:
    table = rating_table([["a", "b"], ["a", "a"]])
    with pytest.raises(ValueError, match=r"kendall is no statistic of agreement: cohen, fleiss"):
        measure(table, "kendall")
    for wrong in (
        nominal(3),
        nominal(2) * 2,
        nominal(2) - 1,
        1 - nominal(2),
        nominal(2) * np.nan,
        np.array([[0, 1], [0, 0]]),
    ):
        with pytest.raises(ValueError, match="distance"):
            measure(table, "krippendorff", distances=wrong)


def test_a_near_miss_counts_less_with_the_tree() -> None:
    near = rating_table([[0, 0], [1, 1], [2, 2], [3, 3], [0, 1]], range(4))
    far = rating_table([[0, 0], [1, 1], [2, 2], [3, 3], [0, 2]], range(4))
    for name in NAMES:
        plain = measure(near, name).value or 0
        assert measure(far, name).value == pytest.approx(plain, abs=0.02)
        forgiving = measure(near, name, distances=TREE).value or 0
        assert forgiving > (measure(far, name, distances=TREE).value or 0) + 0.02
