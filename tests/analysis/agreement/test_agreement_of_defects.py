"""Six raters of 2,000 high-priority defects: what two packages and the paper give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rating_tables import sheet

from faultatlas.analysis.statistics.agreement import (
    measure,
    measure_categories,
    measure_pairs,
)
from faultatlas.analysis.statistics.agreement.ratings import RatingTable
from faultatlas.analysis.statistics.agreement.warnings import warnings

SHEETS = ("mindspore", "pytorch")


@pytest.fixture(params=SHEETS)
def case(
    request: pytest.FixtureRequest, study_fixtures: Path
) -> tuple[RatingTable, dict[str, Any]]:
    facts = json.loads((study_fixtures / "facts/agreement_hp.json").read_text(encoding="utf-8"))
    return sheet(study_fixtures / f"hp_defects/{request.param}.csv"), facts[request.param]


def test_every_statistic_is_the_recorded_one(case: tuple[RatingTable, dict[str, Any]]) -> None:
    table, facts = case
    recorded = {
        "fleiss": facts["fleiss"],
        "krippendorff": facts["krippendorff"],
        "gwet": facts["gwet_ac1"],
        "percent": facts["P_bar"],
        "pairwise": facts["cohen_mean"],
    }
    found = {name: measure(table, name, resamples=2_000, seed=1) for name in recorded}
    assert {name: each.value for name, each in found.items()} == pytest.approx(recorded, abs=1e-12)
    assert f"{found['fleiss'].value:.3f}" == f"{facts['paper']:.3f}"
    assert (found["fleiss"].low, found["fleiss"].high) == pytest.approx(
        facts["irrCAC_fleiss_ci"], abs=5.1e-6
    )
    # Recorded from other draws: the ends of such intervals vary by about a thousandth.
    for name, key in (("fleiss", "fleiss"), ("krippendorff", "krippendorff"), ("gwet", "gwet_ac1")):
        ends = (found[name].bootstrap_low, found[name].bootstrap_high)
        assert ends == pytest.approx(facts[f"{key}_ci95"], abs=0.0015)
    assert warnings(table, found.values()) == []


def test_categories_and_pairs_are_the_recorded_ones(
    case: tuple[RatingTable, dict[str, Any]],
) -> None:
    table, facts = case
    categories = measure_categories(table, resamples=2_000, seed=1)
    values = {code: each.value for code, each in categories.items()}
    assert values == pytest.approx(facts["per_category"], abs=1e-12)
    assert len(values) == 21
    for each in categories.values():
        assert each.value is not None
        assert each.bootstrap_low is not None
        assert each.bootstrap_high is not None
        assert each.bootstrap_low < each.value < each.bootstrap_high
    pairs = [each.value or 0 for each in measure_pairs(table).values()]
    assert len(pairs) == 15
    assert (min(pairs), max(pairs)) == pytest.approx(
        (facts["cohen_min"], facts["cohen_max"]), abs=1e-12
    )
