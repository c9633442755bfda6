"""Groups of numbers beside each other: assumptions, the test they allow, effect sizes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from faultatlas.analysis.statistics import groups
from faultatlas.analysis.statistics.estimates import Estimate, Test, holm
from faultatlas.analysis.tallies.measuring import Measured

LEVEL = 0.05
SEED = 1
RESAMPLES = 999


@dataclass(frozen=True)
class Group:
    """What a group's values are like."""

    name: str
    n: int
    mean: float
    deviation: float
    least: float
    quartiles: tuple[float, float, float]
    most: float
    normality: Test


@dataclass(frozen=True)
class Pair:
    """Two groups beside each other: first minus second."""

    first: str
    second: str
    test: Test
    difference: Estimate | None  # of the means, where a t-test was right
    d: Estimate
    g: Estimate
    delta: Estimate
    adjusted: float | None = None  # p after Holm, over all pairs and values


@dataclass(frozen=True)
class Comparison:
    """A value in groups: which test was right and why, and what it gave."""

    measured: Measured
    groups: tuple[Group, ...]
    variances: Test
    why: str
    pairs: tuple[Pair, ...]
    overall: Test | None = None  # of more than two groups
    epsilon: Estimate | None = None


def compared(all_measured: Sequence[Measured]) -> tuple[Comparison, ...]:
    """All values compared; the p-values of all pairs are adjusted together after Holm."""
    found = [_comparison(each) for each in all_measured]
    adjusted = iter(holm([pair.test.p_value for each in found for pair in each.pairs]))
    return tuple(
        replace(each, pairs=tuple(replace(pair, adjusted=next(adjusted)) for pair in each.pairs))
        for each in found
    )


def _comparison(measured: Measured) -> Comparison:
    described = tuple(_group(name, values) for name, values in measured.groups.items())
    values = list(measured.groups.values())
    variances = groups.equal_variances(*values)
    if measured.paired:
        checked = [("the differences", groups.normality(groups.differences(*values)))]
    else:
        checked = [(group.name, group.normality) for group in described]
    normal = all((test.p_value or 0) >= LEVEL for _name, test in checked)
    why = _why(checked, variances, normal=normal, paired=measured.paired)
    equal = (variances.p_value or 0) >= LEVEL
    pairs = tuple(
        _pair(measured, one, other, normal=normal, equal=equal)
        for one, other in itertools.combinations(measured.groups, 2)
    )
    found = Comparison(measured, described, variances, why, pairs)
    if len(described) == 2:
        return found
    overall = groups.welch_anova(values) if normal else groups.kruskal(values)
    epsilon = groups.epsilon_squared(values, seed=SEED, resamples=RESAMPLES)
    return replace(found, overall=overall, epsilon=epsilon)


def _group(name: str, values: Sequence[float]) -> Group:
    import numpy as np

    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    return Group(
        name,
        len(values),
        float(np.mean(values)),
        float(np.std(values, ddof=1)),
        float(min(values)),
        (float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
        float(max(values)),
        groups.normality(values),
    )


def _pair(measured: Measured, first: str, second: str, *, normal: bool, equal: bool) -> Pair:
    one, other = measured.groups[first], measured.groups[second]
    difference = None
    if measured.paired and normal:
        test, difference = groups.paired_t(one, other)
    elif measured.paired:
        test = groups.wilcoxon(one, other)
    elif normal:
        test, difference = groups.t_test(one, other, equal=equal)
    else:
        test = groups.mann_whitney(one, other)
    if measured.paired:
        d, g = groups.paired_d(one, other), groups.paired_g(one, other)
        delta = groups.paired_delta(one, other)
    else:
        d, g = groups.cohen_d(one, other), groups.hedges_g(one, other)
        delta = groups.cliff_delta(one, other)
    return Pair(first, second, test, difference, d, g, delta)


def _why(
    checked: Sequence[tuple[str, Test]], variances: Test, *, normal: bool, paired: bool
) -> str:
    """Which test was chosen, and why."""
    if not normal:
        chosen = groups.WILCOXON if paired else groups.MANN_WHITNEY
        reasons: dict[str, list[str]] = {}
        for name, test in checked:
            if test.p_value is None:
                reasons.setdefault(f"not tested for normality ({test.reason})", []).append(name)
            elif test.p_value < LEVEL:
                reasons.setdefault(f"not normal ({test.name}, p < {LEVEL})", []).append(name)
        told = [f"{_some(names)}: {reason}" for reason, names in reasons.items()]
        return f"{'; '.join(told)}, so {chosen}"
    if paired:
        return f"the differences may be normal ({checked[0][1].name}), so {groups.PAIRED}"
    if (variances.p_value or 0) >= LEVEL:
        return f"the groups may be normal and vary alike (Levene), so {groups.STUDENT}"
    return f"the groups may be normal and do not vary alike (Levene), so {groups.WELCH}"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
