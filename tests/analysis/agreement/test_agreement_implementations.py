"""Every statistic against an implementation that is not ours, missing ratings included."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from rating_tables import tables
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from faultatlas.analysis.statistics.agreement import (
    measure,
    measure_categories,
    measure_pairs,
)
from faultatlas.analysis.statistics.agreement.distances import (
    Distances,
    linear,
    nominal,
    quadratic,
    tree_distances,
)
from faultatlas.analysis.statistics.agreement.ratings import MISSING, RatingTable, rating_table

law = settings(max_examples=100)
K = 4
TREE = tree_distances([("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")])
EXACT = 1e-9
RECORDED = json.loads(
    Path(__file__).with_name("irrcac_values.json").read_text(encoding="utf-8")
)["sets"]  # fmt: skip
BRANCHES = (0, 0, 1, 1, 2, 3, 4, 5)  # as in irrcac_values.py


@law
@given(tables(raters=(2, 2)))
def test_cohen_is_that_of_statsmodels_on_the_items_of_both(table: RatingTable) -> None:
    both = table.values[(table.values != MISSING).all(axis=1)]
    assume(len(both) >= 2)
    assume(len(np.unique(both)) >= 2)
    cross = np.zeros((K, K))
    np.add.at(cross, (both[:, 0], both[:, 1]), 1)
    for distances, kind in ((None, None), (linear(K), "linear"), (quadratic(K), "quadratic")):
        found = measure(table, "cohen", distances=distances)
        with np.errstate(all="ignore"):  # it divides by a variance of 0
            other = cohens_kappa(cross, wt=kind)
        if found.value is None or found.low is None or found.high is None:
            # It does without an interval where there is no variance, statsmodels has rounding.
            assert found.value == pytest.approx(other.kappa, abs=EXACT)
            assert other.var_kappa == pytest.approx(0, abs=EXACT)
            continue
        assert found.value == pytest.approx(other.kappa, abs=EXACT)
        assert found.low == pytest.approx(other.kappa_low, abs=1e-7)
        assert found.high == pytest.approx(min(1, other.kappa_upp), abs=1e-7)


@law
@given(tables(missing=False))
def test_fleiss_and_its_categories_are_those_of_statsmodels(table: RatingTable) -> None:
    used = np.unique(table.values)
    assume(len(used) >= 2)
    counts, _numbers = aggregate_raters(table.values, K)
    assert measure(table, "fleiss").value == pytest.approx(fleiss_kappa(counts), abs=EXACT)
    found = measure_categories(table)
    assert list(found) == used.tolist()
    raters = table.values.shape[1]
    for category, each in found.items():
        this = counts[:, category]
        other = fleiss_kappa(np.column_stack([this, raters - this]))
        assert each.value == pytest.approx(other, abs=EXACT)


@law
@given(tables())
def test_alpha_is_that_of_the_krippendorff_package(table: RatingTable) -> None:
    paired = table.values[(table.values != MISSING).sum(axis=1) >= 2]
    assume(len(paired) >= 2)
    assume(len(np.unique(paired[paired != MISSING])) >= 2)
    data = np.where(table.values == MISSING, np.nan, table.values).T
    for distances in (nominal(K), quadratic(K), TREE):

        def metric(
            *_values: Any, i1: Any, i2: Any, distances: Distances = distances, **_more: Any
        ) -> Any:
            return distances[i1, i2]

        other = krippendorff.alpha(
            data, value_domain=range(K), level_of_measurement=metric, dtype=np.float64
        )
        found = measure(table, "krippendorff", distances=distances)
        assert found.value == pytest.approx(other, abs=EXACT)
    plain = krippendorff.alpha(data, value_domain=range(K), level_of_measurement="nominal")
    assert measure(table, "krippendorff").value == pytest.approx(plain, abs=EXACT)
    interval = krippendorff.alpha(data, value_domain=range(K), level_of_measurement="interval")
    found = measure(table, "krippendorff", distances=quadratic(K))
    assert found.value == pytest.approx(interval, abs=EXACT)


@law
@given(tables(raters=(3, 5)))
def test_pairwise_is_the_mean_of_scikit_learns_cohen(table: RatingTable) -> None:
    kappas = {}
    for one, other in itertools.combinations(range(table.values.shape[1]), 2):
        pair = table.values[:, [one, other]]
        both = pair[(pair != MISSING).all(axis=1)]
        if len(both) >= 2 and len(np.unique(both)) >= 2:
            kappas[one, other] = cohen_kappa_score(both[:, 0], both[:, 1])
    found = measure_pairs(table)
    for pair_of, estimate in found.items():
        if pair_of in kappas:
            assert estimate.value == pytest.approx(kappas[pair_of], abs=EXACT)
        else:
            assert estimate.value is None
    assume(kappas)
    mean = float(np.mean(list(kappas.values())))
    assert measure(table, "pairwise").value == pytest.approx(mean, abs=EXACT)


@law
@given(tables())
def test_percent_is_a_count_of_pairs(table: RatingTable) -> None:
    shares, near = [], []
    for row in table.values.tolist():
        pairs = list(itertools.combinations([value for value in row if value != MISSING], 2))
        if pairs:
            shares.append(np.mean([one == other for one, other in pairs]))
            near.append(np.mean([1 - TREE[one, other] for one, other in pairs]))
    assume(shares)
    assert measure(table, "percent").value == pytest.approx(np.mean(shares), abs=EXACT)
    found = measure(table, "percent", distances=TREE).value
    assert found == pytest.approx(np.mean(near), abs=EXACT)


@pytest.mark.parametrize("name", RECORDED)
def test_values_and_intervals_are_those_of_irrcac(name: str) -> None:
    """Fleiss, AC1/AC2 and alpha, weighted too, to the five digits that irrCAC gives."""
    rows, values = RECORDED[name]["rows"], RECORDED[name]["values"]
    k = max(value for row in rows for value in row if value is not None)
    distances = {
        "nominal": None,
        "linear": linear(k),
        "quadratic": quadratic(k),
        "tree": tree_distances([(BRANCHES[at], at) for at in range(k)]),
    }
    table = rating_table(rows, range(1, k + 1))
    for weights, found in values.items():
        for statistic, other in found.items():
            ours = measure(table, statistic, distances=distances[weights])
            assert (ours.value, ours.low, ours.high) == pytest.approx(
                (other["value"], other["low"], other["high"]), abs=5.1e-6
            ), (weights, statistic)
        percent = measure(table, "percent", distances=distances[weights])
        assert percent.value == pytest.approx(found["fleiss"]["agreement"], abs=5.1e-6)
