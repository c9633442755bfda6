"""When a value of agreement misleads: prevalence, bias, too few items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from faultatlas.analysis.statistics.agreement.coding import MISSING, Coded, Estimate, Floats
from faultatlas.analysis.statistics.agreement.kinds import percent
from faultatlas.analysis.statistics.agreement.tallies import tally

Kind = Literal["paradox", "prevalence", "bias", "few-items", "wide-interval"]

# The rules, each with where it comes from; docs/agreement-statistics.md explains them.
HIGH_AGREEMENT = 0.8  # of pairs of ratings; with a kappa of at most MODERATE it is the paradox
MODERATE = 0.6
SKEWED = 0.6  # prevalence index; of two categories, one has 80 % of the ratings
BIASED = 0.1  # bias index of two raters
SIGNIFICANT = 0.05  # of the test that two raters' shares differ, by the number of pairs
FEW_ITEMS = 30
WIDE = 0.2  # of the whole interval
CORRECTED = ("cohen", "fleiss", "krippendorff", "pairwise")  # what the paradox befalls

FEINSTEIN = "Feinstein and Cicchetti (1990), Journal of Clinical Epidemiology 43(6)"
BYRT = "Byrt, Bishop and Carlin (1993), Journal of Clinical Epidemiology 46(5)"
MCHUGH = "McHugh (2012), Biochemia Medica 22(3): no fewer than 30 comparisons"
LANDIS = "Landis and Koch (1977), Biometrics 33(1): a step of the scale is 0.2 wide"


@dataclass(frozen=True)
class Caution:
    """Something that the reader of a value of agreement should know."""

    kind: Kind
    message: str  # one sentence
    source: str  # of the rule


@dataclass(frozen=True)
class Indices:
    """What kappa depends on besides agreement; None where nothing can be said."""

    prevalence: float | None  # 0: all categories as frequent; 1: one has all ratings
    dominating: int | None  # the most frequent category
    share: float | None  # of the ratings that it has
    bias: float | None  # by how much raters' shares of the categories differ, mean over pairs
    widest: float | None  # the same of the two raters who differ most
    agreement: float | None  # percent agreement
    adjusted: float | None  # PABAK: kappa if all categories were as frequent, without bias


def indices(coded: Coded) -> Indices:
    """Prevalence and bias index of Byrt et al. (1993), for any categories and raters.

    Prevalence is (k * largest share - 1) / (k - 1) with k categories in use, bias is half the
    sum of the differences of two raters' shares on the items of both. With two categories and
    two raters both are theirs. The adjusted value is (k * agreement - 1) / (k - 1).
    """
    table = tally(coded)
    agreement = percent.estimate(coded).value
    pairs = _biases(coded)
    used = len(table.numbers)
    pool = table.shares.mean(axis=0) if used else np.zeros(0)
    top = int(pool.argmax()) if used else None
    return Indices(
        prevalence=None if top is None else _above_even(float(pool[top]), used),
        dominating=None if top is None else int(table.numbers[top]),
        share=None if top is None else float(pool[top]),
        bias=float(np.mean([*pairs.values()])) if pairs else None,
        widest=max(pairs.values(), default=None),
        agreement=agreement,
        adjusted=None if agreement is None or used < 2 else _above_even(agreement, used),
    )


def warnings(
    coded: Coded, estimates: Iterable[Estimate], names: Sequence[str] = ()
) -> list[Caution]:
    """What the reader of these estimates, which are of these ratings, should know.

    One statistic may be there more than once, with other distances: `names` tells which is which.
    """
    known = indices(coded)
    every = list(estimates)
    told = [
        (name, each)
        for name, each in zip(names or [each.statistic for each in every], every, strict=True)
        if each.value is not None
    ]
    found = [each for _name, each in told]
    return [
        *_paradox(known, told),
        *_prevalence(coded, known),
        *_biased(coded),
        *_few_items(found),
        *_wide(told),
    ]


def _paradox(known: Indices, told: list[tuple[str, Estimate]]) -> list[Caution]:
    low = [
        f"{name} is {each.value:.2f}"
        for name, each in told
        if each.statistic in CORRECTED and each.value is not None and each.value <= MODERATE
    ]
    if not low or known.agreement is None or known.agreement < HIGH_AGREEMENT:
        return []
    message = (
        f"Raters agree on {100 * known.agreement:.0f} % of the pairs, yet {', '.join(low)}: "
        f"prevalence index {known.prevalence or 0:.2f}, bias index {known.bias or 0:.2f}, "
        f"adjusted for both {known.adjusted or 0:.2f}."
    )
    return [Caution("paradox", message, FEINSTEIN)]


def _prevalence(coded: Coded, known: Indices) -> list[Caution]:
    if known.prevalence is None or known.dominating is None or known.prevalence < SKEWED:
        return []
    message = (
        f"One category dominates: {_word(coded, known.dominating)} has "
        f"{100 * (known.share or 0):.0f} % of the ratings (prevalence index "
        f"{known.prevalence:.2f}), which makes kappa and alpha small."
    )
    return [Caution("prevalence", message, BYRT)]


def _biased(coded: Coded) -> list[Caution]:
    """One caution for the two raters who differ most, if chance does not explain it."""
    pairs = _biases(coded)
    differing = {
        pair: bias
        for pair, bias in pairs.items()
        if bias >= BIASED and homogeneity(*_both(coded, pair)) < SIGNIFICANT / len(pairs)
    }
    if not differing:
        return []
    one, other = widest = max(differing, key=lambda pair: differing[pair])
    more = f", and {len(differing) - 1} more pairs differ" if len(differing) > 1 else ""
    message = (
        f"Raters use the categories differently: raters {one + 1} and {other + 1} have a bias "
        f"index of {differing[widest]:.2f}{more}."
    )
    return [Caution("bias", message, BYRT)]


def _few_items(found: list[Estimate]) -> list[Caution]:
    fewest = min((each.items for each in found), default=FEW_ITEMS)
    if fewest >= FEW_ITEMS:
        return []
    have = "item has" if fewest == 1 else "items have"
    message = f"Only {fewest} {have} two ratings: fewer than {FEW_ITEMS} say little."
    return [Caution("few-items", message, MCHUGH)]


def _wide(told: list[tuple[str, Estimate]]) -> list[Caution]:
    intervals = [(name, *_ends(each)) for name, each in told]
    wide = [(high - low, name, low, high) for name, low, high in intervals if high - low > WIDE]
    if not wide:
        return []
    _width, _name, low, high = max(wide)
    names = ", ".join(dict.fromkeys(name for _width, name, _low, _high in wide))
    message = (
        f"95 % intervals are wider than {WIDE} ({names}; the widest is {low:.2f} to {high:.2f}): "
        "label more items before you give the value a word."
    )
    return [Caution("wide-interval", message, LANDIS)]


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Of the bootstrap interval, else of the analytic one, else none: 0 wide."""
    if estimate.bootstrap_low is not None and estimate.bootstrap_high is not None:
        return estimate.bootstrap_low, estimate.bootstrap_high
    if estimate.low is not None and estimate.high is not None:
        return estimate.low, estimate.high
    return 0.0, 0.0


def homogeneity(one: Floats, other: Floats) -> float:
    """The p value that two raters have the same shares (Stuart 1955, Maxwell 1970).

    From the items of both, 1 in the category that each gave. Categories that leave no
    variance count for no degree of freedom, as does one of each closed group.
    """
    from scipy.special import chdtrc

    table = one.T @ other
    difference = table.sum(axis=1) - table.sum(axis=0)
    variance = np.diag(table.sum(axis=1) + table.sum(axis=0)) - table - table.T
    freedom = int(np.linalg.matrix_rank(variance)) if variance.any() else 0
    if not freedom:
        return 1.0
    statistic = float(difference @ np.linalg.pinv(variance, hermitian=True) @ difference)
    return float(chdtrc(freedom, statistic))


def _biases(coded: Coded) -> dict[tuple[int, int], float]:
    """For every two raters who share items, half the sum of the differences of their shares."""
    found = {}
    for pair in combinations(range(coded.values.shape[1]), 2):
        one, other = _both(coded, pair)
        if len(one):
            found[pair] = float(np.abs(one.mean(axis=0) - other.mean(axis=0)).sum() / 2)
    return found


def _both(coded: Coded, pair: tuple[int, int]) -> tuple[Floats, Floats]:
    """The categories, as marks, that two raters gave the items of both."""
    values = coded.values[:, pair]
    values = values[(values != MISSING).all(axis=1)]
    marks = np.eye(len(coded.categories))
    return marks[values[:, 0]], marks[values[:, 1]]


def _above_even(share: float, categories: int) -> float:
    """0 for an even share of so many categories, 1 for all."""
    return 1.0 if categories == 1 else (categories * share - 1) / (categories - 1)


def _word(coded: Coded, category: int) -> str:
    named = coded.categories[category]
    return ", ".join(sorted(map(str, named))) if isinstance(named, frozenset) else str(named)
