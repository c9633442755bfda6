"""When a value of agreement misleads: prevalence, bias, too few items, a wide interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from faultatlas.analysis.statistics.agreement.percent import PERCENT
from faultatlas.analysis.statistics.agreement.ratings import (
    MISSING,
    AgreementEstimate,
    Floats,
    RatingTable,
    count_ratings,
)

# The rules, each with its source; docs/agreement-statistics.md explains them.
HIGH_AGREEMENT = 0.8  # of pairs of ratings; with a kappa of at most MODERATE it is the paradox
MODERATE = 0.6
SKEWED = 0.6  # prevalence index; of two categories, one has 80 % of the ratings
BIASED = 0.1  # bias index of two raters
SIGNIFICANT = 0.05  # of the test that two raters' shares differ, by the number of pairs
FEW_ITEMS = 30
WIDE = 0.2  # of the whole interval
CORRECTED_FOR_CHANCE = ("cohen", "fleiss", "krippendorff", "pairwise")  # subject to the paradox

FEINSTEIN = "Feinstein and Cicchetti (1990), Journal of Clinical Epidemiology 43(6)"
BYRT = "Byrt, Bishop and Carlin (1993), Journal of Clinical Epidemiology 46(5)"
MCHUGH = "McHugh (2012), Biochemia Medica 22(3): no fewer than 30 comparisons"
LANDIS = "Landis and Koch (1977), Biometrics 33(1): a step of the scale is 0.2 wide"

Named = Sequence[tuple[str, AgreementEstimate]]


@dataclass(frozen=True)
class Caution:
    """Something that the reader of a value of agreement should know."""

    kind: Literal["paradox", "prevalence", "bias", "few-items", "wide-interval"]
    message: str  # one sentence
    source: str  # of the rule


@dataclass(frozen=True)
class Indices:
    """What kappa depends on besides agreement; None where there are no ratings for it."""

    prevalence: float | None  # 0: all categories as frequent; 1: one has all ratings
    dominating: int | None  # the most frequent category
    share: float | None  # of the ratings that it has
    bias: float | None  # by how much raters' shares of the categories differ, mean over pairs
    widest: float | None  # the same of the two raters who differ most
    agreement: float | None  # percent agreement
    adjusted: float | None  # PABAK: kappa if all categories were as frequent, without bias


def indices(table: RatingTable) -> Indices:
    """Prevalence and bias index of Byrt et al. (1993), for any categories and raters.

    Prevalence is (k * largest share - 1) / (k - 1) with k categories in use, bias is half the
    sum of the differences of two raters' shares on the items of both. With two categories and
    two raters both are theirs. The adjusted value is (k * agreement - 1) / (k - 1).
    """
    counts = count_ratings(table)
    used = len(counts.numbers)
    agreement = PERCENT.estimate(table, None).value
    adjusted = None if agreement is None or used < 2 else _above_even(agreement, used)
    biases = _biases(table).values()
    bias = float(np.mean([*biases])) if biases else None
    widest = max(biases, default=None)
    if not used:
        return Indices(None, None, None, bias, widest, agreement, adjusted)
    pool = counts.shares.mean(axis=0)
    top = int(pool.argmax())
    share = float(pool[top])
    prevalence = _above_even(share, used)
    dominating = int(counts.numbers[top])
    return Indices(prevalence, dominating, share, bias, widest, agreement, adjusted)


def warnings(
    table: RatingTable,
    estimates: Iterable[AgreementEstimate],
    names: Sequence[str] = (),
    raters: Sequence[str] = (),
) -> list[Caution]:
    """What the reader of these estimates, which are of these ratings, should know.

    A coefficient may occur more than once, with different distances: `names` tells which is which.
    Without the names of the `raters`, messages number them.
    """
    every = list(estimates)
    named = [
        (name, estimate)
        for name, estimate in zip(names or [e.statistic for e in every], every, strict=True)
        if estimate.value is not None
    ]
    known = indices(table)
    cautions = (
        _paradox(known, named),
        _prevalence(table, known),
        _bias(table, raters),
        _few_items(named),
        _wide_interval(named),
    )
    return [caution for caution in cautions if caution]


def _paradox(known: Indices, named: Named) -> Caution | None:
    low = [
        f"{name} is {estimate.value:.2f}"
        for name, estimate in named
        if estimate.statistic in CORRECTED_FOR_CHANCE
        and estimate.value is not None
        and estimate.value <= MODERATE
    ]
    if not low or known.agreement is None or known.agreement < HIGH_AGREEMENT:
        return None
    message = (
        f"Raters agree on {100 * known.agreement:.0f} % of the pairs, yet {', '.join(low)}: "
        f"prevalence index {known.prevalence or 0:.2f}, bias index {known.bias or 0:.2f}, "
        f"adjusted for both {known.adjusted or 0:.2f}."
    )
    return Caution("paradox", message, FEINSTEIN)


def _prevalence(table: RatingTable, known: Indices) -> Caution | None:
    if known.prevalence is None or known.dominating is None or known.prevalence < SKEWED:
        return None
    category = table.categories[known.dominating]
    codes = sorted(map(str, category)) if isinstance(category, frozenset) else [str(category)]
    message = (
        f"One category dominates: {', '.join(codes)} has "
        f"{100 * (known.share or 0):.0f} % of the ratings (prevalence index "
        f"{known.prevalence:.2f}), which makes kappa and alpha small."
    )
    return Caution("prevalence", message, BYRT)


def _bias(table: RatingTable, raters: Sequence[str]) -> Caution | None:
    """Of the two raters who differ most, if chance does not explain it."""
    biases = _biases(table)
    significant = {
        pair: bias
        for pair, bias in biases.items()
        if bias >= BIASED and stuart_maxwell(*_marks(table, pair)) < SIGNIFICANT / len(biases)
    }
    if not significant:
        return None
    pair = max(significant, key=lambda pair: significant[pair])
    first, second = (raters[column] if raters else column + 1 for column in pair)
    who = f"{first} and {second}" if raters else f"raters {first} and {second}"
    more = f", and {len(significant) - 1} more pairs differ" if len(significant) > 1 else ""
    message = (
        f"Raters use the categories differently: {who} have a bias index of "
        f"{significant[pair]:.2f}{more}."
    )
    return Caution("bias", message, BYRT)


def _few_items(named: Named) -> Caution | None:
    fewest = min((estimate.items for _name, estimate in named), default=FEW_ITEMS)
    if fewest >= FEW_ITEMS:
        return None
    have = "item has" if fewest == 1 else "items have"
    message = f"Only {fewest} {have} two ratings: fewer than {FEW_ITEMS} say little."
    return Caution("few-items", message, MCHUGH)


def _wide_interval(named: Named) -> Caution | None:
    intervals = [(name, *_ends(estimate)) for name, estimate in named]
    wide = [(high - low, name, low, high) for name, low, high in intervals if high - low > WIDE]
    if not wide:
        return None
    _width, _name, low, high = max(wide)
    names = ", ".join(dict.fromkeys(name for _width, name, _low, _high in wide))
    message = (
        f"95 % intervals are wider than {WIDE} ({names}; the widest is {low:.2f} to {high:.2f}): "
        "label more items before you give the value a word."
    )
    return Caution("wide-interval", message, LANDIS)


def _ends(estimate: AgreementEstimate) -> tuple[float, float]:
    """Of the bootstrap interval, else of the analytic one, else none: 0 wide."""
    if estimate.bootstrap_low is not None and estimate.bootstrap_high is not None:
        return estimate.bootstrap_low, estimate.bootstrap_high
    if estimate.low is not None and estimate.high is not None:
        return estimate.low, estimate.high
    return 0.0, 0.0


def stuart_maxwell(first: Floats, second: Floats) -> float:
    """The p-value that two raters have the same shares (Stuart 1955, Maxwell 1970).

    From the items of both, 1 in the category that each gave. Categories that leave no variance
    have no degree of freedom, nor has one of each closed group; statsmodels' SquareTable returns
    NaN there.
    """
    from scipy.special import chdtrc

    crossed = first.T @ second
    difference = crossed.sum(axis=1) - crossed.sum(axis=0)
    variance = np.diag(crossed.sum(axis=1) + crossed.sum(axis=0)) - crossed - crossed.T
    degrees = int(np.linalg.matrix_rank(variance)) if variance.any() else 0
    if not degrees:
        return 1.0
    statistic = float(difference @ np.linalg.pinv(variance, hermitian=True) @ difference)
    return float(chdtrc(degrees, statistic))


def _biases(table: RatingTable) -> dict[tuple[int, int], float]:
    """For every two raters who share items, half the sum of the differences of their shares."""
    biases = {}
    for pair in combinations(range(table.values.shape[1]), 2):
        first, second = _marks(table, pair)
        if len(first):
            biases[pair] = float(np.abs(first.mean(axis=0) - second.mean(axis=0)).sum() / 2)
    return biases


def _marks(table: RatingTable, pair: tuple[int, int]) -> tuple[Floats, Floats]:
    """On the items of both raters, 1 in the category that the first, and the second, gave."""
    values = table.values[:, pair]
    values = values[(values != MISSING).all(axis=1)]
    marks = np.eye(len(table.categories))
    return marks[values[:, 0]], marks[values[:, 1]]


def _above_even(share: float, categories: int) -> float:
    """0 for an even share of so many categories, 1 for all."""
    return 1.0 if categories == 1 else (categories * share - 1) / (categories - 1)
