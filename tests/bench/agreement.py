"""Agreement: bootstrap resamples of Fleiss' kappa against a plain loop over statsmodels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from bench.measured import Line, Target, in_turn, seconds
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from faultatlas.analysis.statistics.agreement import measure, measure_categories
from faultatlas.analysis.statistics.agreement.ratings import RatingTable

ITEMS, RATERS, CATEGORIES = 3_000, 6, 21
RESAMPLES = 10_000
PART = 60  # resamples of the plain loop, scaled to as many


def measures() -> Iterator[Line]:
    """The one line."""
    yield resamples()


def made_ratings(items: int) -> RatingTable:
    """Ratings by six raters who agree nine times out of ten."""
    chance = np.random.default_rng(7)
    truth = chance.integers(0, CATEGORIES, (items, 1))
    guess = chance.integers(0, CATEGORIES, (items, RATERS))
    ratings = np.where(chance.random((items, RATERS)) < 0.9, truth, guess)
    return RatingTable(ratings, tuple(range(CATEGORIES)))


def measured_with_intervals(table: RatingTable, resamples: int) -> None:
    """Fleiss' kappa and that of each category."""
    measure(table, "fleiss", resamples=resamples, seed=1)
    measure_categories(table, "fleiss", resamples=resamples, seed=1)


def resamples() -> Line:
    """Fleiss' kappa and its 21 categories, 10,000 resamples of 3,000 items by 6 raters.

    The plain loop gets the ratings of each item counted beforehand (aggregate_raters, once: in
    the loop it would only make it slower). For each resample it takes the drawn rows of that
    table, calls fleiss_kappa on them, and for each category on two columns: the ratings in it and
    those in any other. Ours counts, measures the analytic intervals as well, and draws anew each
    time.
    """
    chance = np.random.default_rng(8)
    coded = made_ratings(ITEMS)
    table, _categories = aggregate_raters(coded.values, CATEGORIES)

    def plain() -> None:
        for _resample in range(PART):
            drawn = table[chance.integers(0, ITEMS, ITEMS)]
            fleiss_kappa(drawn)
            for category in range(CATEGORIES):
                this = drawn[:, category]
                fleiss_kappa(np.column_stack([this, RATERS - this]))

    ours, other = in_turn(
        partial(seconds, partial(measured_with_intervals, coded, RESAMPLES)),
        partial(seconds, plain),
        count=7,
        warm_up=True,
    )
    scaled = tuple(each * RESAMPLES / PART for each in other)
    return Line("10,000 resamples of Fleiss' kappa and its 21 categories", "a loop of statsmodels",
                ours, scaled, target=Target(ratio=0.02))  # fmt: skip
