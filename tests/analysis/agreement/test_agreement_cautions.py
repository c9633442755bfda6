"""Prevalence, bias, few items: when a value misleads, and when it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from rating_tables import tables
from statsmodels.stats.contingency_tables import SquareTable

from faultatlas.analysis.statistics.agreement import measure
from faultatlas.analysis.statistics.agreement.ratings import RatingTable, rating_table
from faultatlas.analysis.statistics.agreement.warnings import indices, stuart_maxwell, warnings

law = settings(max_examples=60)
CELLS = [["yes", "yes"], ["yes", "no"], ["no", "yes"], ["no", "no"]]


def two_by_two(*counts: int) -> RatingTable:
    return rating_table(
        [pair for pair, count in zip(CELLS, counts, strict=True) for _ in range(count)]
    )


def kinds(table: RatingTable, *names: str) -> list[str]:
    estimates = [measure(table, name) for name in names or ("cohen", "krippendorff")]
    return [each.kind for each in warnings(table, estimates)]


def test_indices_of_two_raters_and_two_categories_are_those_of_byrt() -> None:
    """(a - d) / n, (b - c) / n and 2 p - 1, without their signs."""
    found = indices(two_by_two(80, 10, 5, 5))
    assert found.prevalence == pytest.approx(0.75)
    assert found.bias == pytest.approx(0.05)
    assert found.adjusted == pytest.approx(0.70)
    assert (found.dominating, found.share) == (0, pytest.approx(0.875))


def test_indices_of_more_categories_and_raters() -> None:
    even = indices(rating_table([[a, a, a] for a in "abcd"] * 5))
    assert even.prevalence == pytest.approx(0)
    assert (even.bias, even.widest) == (0, 0)
    # The third rater says b where the others say a, in every second item.
    found = indices(rating_table([["a", "a", "b"], ["a", "a", "a"]] * 5))
    assert found.widest == pytest.approx(0.5)
    assert found.bias == pytest.approx(1 / 3)


def test_indices_of_nothing_are_none() -> None:
    found = indices(rating_table([[None, None]]))
    assert (found.prevalence, found.bias, found.agreement, found.adjusted) == (None,) * 4
    assert (
        warnings(rating_table([[None, None]]), [measure(rating_table([[None, None]]), "fleiss")])
        == []
    )


def test_high_agreement_with_a_low_kappa_is_called_a_paradox() -> None:
    table = two_by_two(118, 5, 2, 0)
    found = warnings(table, [measure(table, "cohen"), measure(table, "gwet")])
    assert [each.kind for each in found] == ["paradox", "prevalence"]
    assert "agree on 94 % of the pairs, yet cohen is -0.02" in found[0].message
    assert "yes has 97 % of the ratings" in found[1].message
    assert all(each.source for each in found)


def test_a_low_value_that_low_agreement_explains_is_no_paradox() -> None:
    assert kinds(two_by_two(60, 40, 40, 60)) == ["wide-interval"]


def test_raters_with_other_shares_are_named_unless_chance_explains_it() -> None:
    table = two_by_two(150, 60, 5, 150)
    found = [each for each in warnings(table, []) if each.kind == "bias"]
    assert len(found) == 1
    assert "raters 1 and 2 have a bias index of 0.15" in found[0].message
    [named] = [each for each in warnings(table, [], (), ("ann", "bob")) if each.kind == "bias"]
    assert "differently: ann and bob have a bias index of 0.15" in named.message
    assert "bias" not in kinds(two_by_two(5, 4, 1, 10))  # 0.15 as well, of 20 items


def test_few_items_and_wide_intervals() -> None:
    assert kinds(two_by_two(10, 2, 2, 10), "cohen") == ["few-items", "wide-interval"]
    assert kinds(two_by_two(500, 20, 20, 500), "cohen") == []


def test_perfect_agreement_of_balanced_categories_is_not_warned_of() -> None:
    assert kinds(two_by_two(30, 0, 0, 30)) == []


@law
@given(tables(raters=(2, 2), items=(10, 40), categories=3, missing=False))
def test_the_test_of_equal_shares_is_that_of_stuart_and_maxwell(table: RatingTable) -> None:
    cross = np.zeros((3, 3))
    np.add.at(cross, (table.values[:, 0], table.values[:, 1]), 1)
    assume(((cross + cross.T) * (1 - np.eye(3))).sum(axis=1).all())
    assume(np.linalg.matrix_rank(np.diag((cross + cross.T).sum(axis=1)) - cross - cross.T) == 2)
    marks = np.eye(3)
    found = stuart_maxwell(marks[table.values[:, 0]], marks[table.values[:, 1]])
    other = SquareTable(cross, shift_zeros=False).homogeneity(method="stuart_maxwell")
    assert found == pytest.approx(other.pvalue, abs=1e-9)
