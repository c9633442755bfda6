"""Agreement: bootstrap resamples of Fleiss' kappa against a plain loop over statsmodels."""

from __future__ import annotations

import numpy as np
from measured import Measured, in_turn
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from analysis.statistics.agreement import bootstrap
from analysis.statistics.agreement.coding import Coded
from analysis.statistics.agreement.measuring import measure, measure_categories

ITEMS, RATERS, CATEGORIES = 3_000, 6, 21
RESAMPLES = 10_000
PART = 60  # resamples of the plain loop, scaled to as many


def resamples() -> Measured:
    """Fleiss' kappa and its 21 categories, 10,000 resamples of 3,000 items by 6 raters.

    The plain loop gets the ratings of each item counted beforehand (aggregate_raters, once: in
    the loop it would only make it slower). For each resample it takes the drawn rows of that
    table, calls fleiss_kappa on them, and for each category on two columns: the ratings in it and
    those in any other. Ours counts, measures the analytic intervals as well, and draws anew each
    time.
    """
    chance = np.random.default_rng(7)
    truth = chance.integers(0, CATEGORIES, (ITEMS, 1))
    guess = chance.integers(0, CATEGORIES, (ITEMS, RATERS))
    ratings = np.where(chance.random((ITEMS, RATERS)) < 0.9, truth, guess)
    coded = Coded(ratings, tuple(range(CATEGORIES)))
    table, _categories = aggregate_raters(ratings, CATEGORIES)

    def ours() -> None:
        bootstrap.forget()
        measure(coded, "fleiss", resamples=RESAMPLES, seed=1)
        measure_categories(coded, "fleiss", resamples=RESAMPLES, seed=1)

    def plain() -> None:
        for _resample in range(PART):
            drawn = table[chance.integers(0, ITEMS, ITEMS)]
            fleiss_kappa(drawn)
            for category in range(CATEGORIES):
                this = drawn[:, category]
                fleiss_kappa(np.column_stack([this, RATERS - this]))

    spent, other = in_turn(ours, plain, rounds=7)
    other *= RESAMPLES / PART
    return Measured("10,000 resamples of Fleiss / loop of statsmodels", spent, other, "<= 0.02",
                    spent / other <= 0.02)  # fmt: skip
