"""The bootstrap: the same as resampling the table, seeded, and near the analytic interval."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rating_tables import repeated, tables

from faultatlas.analysis.statistics.agreement import (
    coefficients,
    measure,
    measure_categories,
    measure_pairs,
)
from faultatlas.analysis.statistics.agreement.distances import Distances, nominal, tree_distances
from faultatlas.analysis.statistics.agreement.intervals import draws
from faultatlas.analysis.statistics.agreement.ratings import MISSING, RatingTable

RECORDED = json.loads(
    Path(__file__).with_name("bootstrap_recorded.json").read_text(encoding="utf-8")
)  # fmt: skip
law = settings(max_examples=60)
TREE = tree_distances([("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")])
PAIRED = ("cohen", "krippendorff", "percent")  # an item with one rating does not count


def labelled(items: int, raters: int, right: float, seed: int = 3) -> RatingTable:
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, 4, (items, 1))
    guess = chance.integers(0, 4, (items, raters))
    values = np.where(chance.random((items, raters)) < right, truth, guess)
    return RatingTable(values, tuple("abcd"))


@law
@given(tables(), st.integers(0, 100), st.sampled_from([None, TREE]))
def test_a_resample_is_the_statistic_of_the_drawn_items(
    table: RatingTable, seed: int, distances: Distances | None
) -> None:
    ratings = (table.values != MISSING).sum(axis=1)
    for name, statistic in coefficients().items():
        if statistic.estimate(table, distances).value is None:
            continue
        resampling = statistic.resampling(table, distances)
        if name == "pairwise":  # its items are those of the pairs that have a kappa
            continue
        kept = RatingTable(table.values[ratings >= (2 if name in PAIRED else 1)], table.categories)
        assert resampling.items == len(kept.values)
        [drawn] = draws(resampling.items, 5, seed)
        for counts, value in zip(drawn.T, resampling.values(drawn), strict=True):
            resample = repeated(kept, counts.astype(int))
            # AC1 knows how many categories there are, which a resample may not show.
            if name == "gwet" and _used(resample) < _used(kept):
                continue
            again = statistic.estimate(resample, distances)
            if again.value is None:
                # Too few items, or categories, for the rules of an estimate.
                assert again.reason
            else:
                assert value == pytest.approx(again.value, abs=1e-9)


def test_a_resample_of_the_pairwise_mean_is_that_of_the_drawn_items() -> None:
    table = labelled(25, 4, 0.6)
    table.values[::3, 1] = MISSING
    resampling = coefficients()["pairwise"].resampling(table)
    [drawn] = draws(resampling.items, 20, 1)
    again = [measure(repeated(table, row.astype(int)), "pairwise").value for row in drawn.T]
    assert resampling.values(drawn) == pytest.approx(again, abs=1e-9)


@law
@given(tables(), st.integers(0, 100))
def test_all_categories_at_once_are_each_alone(table: RatingTable, seed: int) -> None:
    together = measure_categories(table, resamples=7, seed=seed)
    for category, found in together.items():
        values = np.where(table.values == MISSING, MISSING, table.values != category)
        alone = measure(RatingTable(values, ("this", "another")), "fleiss", resamples=7, seed=seed)
        assert (found.bootstrap_low, found.bootstrap_high) == pytest.approx(
            (alone.bootstrap_low, alone.bootstrap_high), abs=1e-9
        )
        assert (found.value, found.resamples) == (alone.value, alone.resamples)


def test_the_same_seed_gives_the_same_interval() -> None:
    table = labelled(300, 4, 0.8)
    kept = measure(table, "fleiss", resamples=5_000, seed=11)
    assert measure(table, "fleiss", resamples=5_000, seed=11) == kept
    assert measure(table, "fleiss", resamples=5_000, seed=12) != kept


@pytest.mark.parametrize("case", RECORDED["draws"], ids=str)
def test_draws_are_the_recorded_ones(case: dict[str, Any]) -> None:
    """Of few and many items, an even and an odd number of them, in several parts."""
    digest = hashlib.sha256()
    width = 0
    for drawn in draws(case["items"], case["resamples"], case["seed"]):
        assert drawn.flags.c_contiguous
        digest.update(drawn.astype(np.uint8).tobytes())
        width += drawn.shape[1]
    assert width == case["resamples"]
    assert digest.hexdigest() == case["sha256"]


@pytest.mark.parametrize("case", RECORDED["intervals"], ids=lambda case: case["name"])
def test_intervals_are_the_recorded_ones(case: dict[str, Any]) -> None:
    """A stored interval is recomputed from its seed, to the digit."""
    table = labelled(case["items"], case["raters"], 0.7)
    if case["missing"]:
        table.values[::3, 1] = MISSING
    distances = TREE if case["tree"] else None
    again = {"resamples": case["resamples"], "seed": case["seed"]}
    found = {"all": measure(table, case["name"], distances=distances, **again)}
    if not case["tree"]:
        found |= {
            str(key): of for key, of in measure_categories(table, case["name"], **again).items()
        }
    assert list(found) == list(case["found"])
    for key, (value, low, high, resamples) in case["found"].items():
        assert found[key].resamples == resamples
        # As far as processors add alike.
        assert (found[key].value, found[key].bootstrap_low, found[key].bootstrap_high) == (
            pytest.approx((value, low, high), abs=1e-13)
        )


@pytest.mark.parametrize("name", [*coefficients()])
def test_the_interval_is_near_the_analytic_one(name: str) -> None:
    table = labelled(600, 2 if name == "cohen" else 4, 0.8)
    for distances in (None, nominal(4), TREE):
        found = measure(table, name, distances=distances, resamples=4_000, seed=2)
        assert found.resamples == 4_000
        assert (found.bootstrap_low, found.bootstrap_high) == pytest.approx(
            (found.low, found.high), abs=0.006
        )


def test_intervals_cover_the_true_value_nearly_as_often_as_they_say() -> None:
    """Alpha of two raters who are right with 0.8, else guess among 4: 0.64 in the long run."""
    analytic = resampled = 0
    for seed in range(200):
        found = measure(labelled(80, 2, 0.8, seed), "krippendorff", resamples=400, seed=seed)
        analytic += (found.low or 0) <= 0.64 <= (found.high or 0)
        resampled += (found.bootstrap_low or 0) <= 0.64 <= (found.bootstrap_high or 0)
    assert 180 <= analytic <= 199
    assert 180 <= resampled <= 199


def test_pairs_and_other_statistics_of_categories_are_resampled_too() -> None:
    table = labelled(60, 3, 0.7)
    for pair in measure_pairs(table, resamples=200, seed=1).values():
        assert pair.bootstrap_low is not None
        assert pair.bootstrap_low < (pair.value or 0) < (pair.bootstrap_high or 0)
    for each in measure_categories(table, "krippendorff", resamples=200, seed=1).values():
        assert each.bootstrap_low is not None
        assert each.bootstrap_low < (each.value or 0) < (each.bootstrap_high or 0)
    assert measure_categories(table, "percent")["a"].value


def test_resamples_without_a_value_are_left_out_and_not_counted() -> None:
    table = RatingTable(np.array([[0, 0], [0, 0], [0, 1]]), ("a", "b"))
    found = measure(table, "krippendorff", resamples=1_000, seed=1)
    assert 600 < found.resamples < 760  # (2/3)^3 hold one category only


def _used(table: RatingTable) -> int:
    return len(np.unique(table.values[table.values != MISSING]))
