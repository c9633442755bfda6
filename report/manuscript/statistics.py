"""Statistical tests, samples and effect sizes, and the words for values on a scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from faultatlas.analysis.statistics.scales import AGREEMENT_SCALES, EFFECT_SCALES, word
from faultatlas.data.sampling import CONFIDENCES, MARGINS, Precision, Rounding
from faultatlas.report.manuscript import (
    NOTHING,
    EntryError,
    Flag,
    Number,
    Numbers,
    Only,
    Outcome,
    Pairs,
    Rows,
    Text,
    Words,
    compared,
    computed_from,
    kind,
    same_length,
)
from faultatlas.report.published import Printed, match, parse, written_like

_ONE, _CONFIDENCE, _MARGIN = parse("1"), parse("95"), parse("5")
_DEGREES = {"t": 1, "z": 0, "chi2": 1, "F": 2, "r": 1}
_LARGEST_GROUP = 10**9
_MOST_ANSWERS = 1_000_000
_MOST_SUMS = 1_000  # that give one printed mean
_SHOWN = 3  # words that do not fit


@kind("p-value")
def p_value(
    printed: Numbers,
    statistic: Literal["t", "z", "chi2", "F", "r"],
    value: Number,
    df: Numbers = (),
    sides: Literal[2, 1] = 2,
) -> Outcome:
    """A p-value against its statistic: t, z, chi2, F or r.

    statistic: t, z, chi2, F or r
    value: the statistic
    df: degrees of freedom; of F two; not for z
    sides: 2 unless told; 1 for t, z and r

    printed = "0.15"
    statistic = "t"
    value = "1.45"
    df = "698"
    """
    degrees = [number.value for number in df]
    if len(degrees) != _DEGREES[statistic] or any(number <= 0 for number in degrees):
        raise EntryError(f"{statistic} has {_DEGREES[statistic]} degrees of freedom above 0")
    is_negative = statistic in ("chi2", "F") and value.value < 0
    if is_negative or (statistic == "r" and abs(value.value) >= 1):
        return Outcome("inconsistent", "-", f"{statistic} = {value.text} is not possible")
    return computed_from(
        printed, [value], lambda values: tail(statistic, values[0], degrees, sides)
    )


def tail(statistic: str, value: float, degrees: Sequence[float], sides: int = 2) -> float:
    """The probability of a statistic at least so large."""
    from scipy import stats

    if statistic == "chi2":
        return float(stats.chi2.sf(value, degrees[0]))
    if statistic == "F":
        return float(stats.f.sf(value, *degrees))
    if statistic == "z":
        return float(sides * stats.norm.sf(abs(value)))
    if statistic == "r":
        value *= (degrees[0] / (1 - value**2)) ** 0.5
    return float(sides * stats.t.sf(abs(value), degrees[0]))


@kind("t-test")
def t_test(
    first: Numbers, second: Numbers, *, paired: Flag = False, printed: Numbers = ()
) -> Outcome:
    """The p-value of a t-test between two printed columns.

    first: a column of numbers
    second: the other one
    paired: true: row by row

    printed = "0.0046"
    first = ["0.45", "0.58", "0.65", "0.37", "0.55"]
    second = ["0.44", "0.57", "0.63", "0.36", "0.53"]
    paired = true
    """
    from scipy import stats

    columns = [[number.value for number in column] for column in (first, second)]
    if min(map(len, columns)) < 2:
        raise EntryError("a t-test needs two numbers or more in each column")
    if paired:
        same_length(first=first, second=second)
        if len({one - other for one, other in zip(*columns, strict=True)}) == 1:
            raise EntryError("all differences are equal: a t-test needs some that vary")
    elif all(len(set(column)) == 1 for column in columns):
        raise EntryError("the columns do not vary: a t-test needs some that do")
    test = (stats.ttest_rel if paired else stats.ttest_ind)(*columns)
    p = float(test.pvalue)
    outcome = compared(printed, p, text=f"{p:.4f}" if p >= 0.0001 else f"{p:.2e}")
    reason = f"{outcome.reason} from t({test.df:g}) = {test.statistic:.2f}"
    return Outcome(outcome.status, outcome.computed, reason, p)


@kind("chi-square")
def chi_square(table: Rows, of: Literal["p", "statistic"] = "p", printed: Numbers = ()) -> Outcome:
    """The p-value of a chi-square test of a table of counts, with Yates for two by two.

    Pearson's statistic and, of two by two, Yates': either may be printed.

    table: rows of counts: [["154", "231"], ["41", "344"]]
    of: what is printed: p unless told, or statistic

    printed = "7.66e-21"
    table = [["154", "231"], ["41", "344"]]
    """
    from scipy import stats

    counts = [[cell.value for cell in row] for row in table]
    if min(len(counts), len(counts[0])) < 2 or min(map(min, counts)) < 0:
        raise EntryError("the table has two rows and columns or more, of counts")
    if not all(map(sum, counts)) or not all(map(sum, zip(*counts, strict=True))):
        raise EntryError("a row or a column of the table is empty")
    pearson = stats.chi2_contingency(counts, correction=False)
    tests = [pearson]
    if len(counts) == len(counts[0]) == 2:
        tests.append(stats.chi2_contingency(counts))
    index = 1 if of == "p" else 0
    written = [f"{test[index]:.2e}" if index else f"{test[index]:.2f}" for test in tests]
    text = " (Yates ".join(written) + ")" * (len(tests) - 1)
    details = f"chi2={pearson[0]:.2f}, df={pearson[2]}, p={pearson[1]:.2e}"
    if not printed:
        return Outcome("cannot be checked", details, NOTHING, float(pearson[1]))
    if len(tests) > 1:
        details += f"; Yates {tests[1][0]:.2f}, p={tests[1][1]:.2e}"
    outcome, *corrected = (compared(printed, float(test[index]), text=text) for test in tests)
    if corrected and outcome.status != "consistent" and corrected[0].status != "inconsistent":
        outcome = corrected[0]
    return Outcome(outcome.status, text, f"{outcome.reason}; {details}", float(pearson[index]))


@kind("group-size")
def group_size(printed: Only, tests: Pairs) -> Outcome:
    """A group size against Cohen's d and p of two-sample t-tests.

    t = d * sqrt(n / 2) with 2n - 2 degrees of freedom gives p; the printed size must be among those
    that d and p allow before rounding.

    tests: pairs of d and p: [["0.3834", "0.00008721"], ...]

    printed = "214"
    tests = [["0.3834", "0.0000871"]]
    """
    for d, p in tests:
        if not (d.value and 0 < p.value < 1):
            raise EntryError(f"d = {d.text}, p = {p.text}: d is not 0, and p is between 0 and 1")
    sizes = [implied_size(d.value, p.value) for d, p in tests]
    low, high = (math.floor(end + 0.5) for end in (min(sizes), max(sizes)))
    computed = f"{low:,}-{high:,} per group" if high > low else f"{low:,} per group"
    outside = [pair for pair in tests if not _allows(*pair, printed.value)]
    if not outside:
        return Outcome("consistent", computed, "d and p agree with the size")
    largest = max(_two_sample_p(d.value, printed.value) for d, _p in tests)
    reason = (
        f"with n = {printed.text} per group the largest p would be {largest:.1e}; "
        f"{len(outside)} of {len(tests)} tests imply another size"
    )
    return Outcome("inconsistent", computed, reason)


def implied_size(d: float, p: float) -> float:
    """The group size with which a two-sample t-test of that d has that p."""
    low, high = 2.0, float(_LARGEST_GROUP)
    if _two_sample_p(d, low) <= p:
        return low
    if _two_sample_p(d, high) > p:
        raise EntryError(f"d = {d:g} and p = {p:g} need groups of more than {_LARGEST_GROUP:,}")
    for _step in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _two_sample_p(d, middle) > p else (low, middle)
    return (low + high) / 2


def _two_sample_p(d: float, n: float) -> float:
    return tail("t", abs(d) * math.sqrt(n / 2), [2 * n - 2])


def _allows(d: Printed, p: Printed, size: float) -> bool:
    if size < 2:
        return False
    wide, narrow = abs(d.value) + d.half, max(0.0, abs(d.value) - d.half)
    # A size is rounded as well.
    least, most = _two_sample_p(wide, size + 0.5), _two_sample_p(narrow, size - 0.5)
    return least <= p.value + p.half and most >= p.value - p.half


@kind("sample-size")
def sample_size(
    printed: Only,
    population: Numbers = (),
    confidence: Number = _CONFIDENCE,
    margin: Number = _MARGIN,
) -> Outcome:
    """A sample size against confidence, margin and population (Cochran 1977).

    n = n0 / (1 + (n0 - 1) / N), rounded to the nearest whole number or up; a larger sample than the
    formula asks for does not follow from it, but contradicts nothing.

    population: what was sampled from, or several candidates; without: very many
    confidence: in percent; 95 unless told
    margin: in percent; 5 unless told

    printed = "380"
    population = "38,463"
    """
    for name, number, limits in (
        ("confidence", confidence, CONFIDENCES), ("margin", margin, MARGINS)
    ):  # fmt: skip
        if not limits[0] <= number.value <= limits[1]:
            raise EntryError(f"{name} = {number.text}: in percent, {limits[0]} to {limits[1]}")
    sizes = [number.value for number in population] or [math.inf]
    if min(sizes) < 1:
        raise EntryError("a population has at least one member")
    roundings: dict[Rounding, str] = {"nearest": "rounded to the nearest", "up": "rounded up"}
    for rounding, words in roundings.items():
        precision = Precision(confidence.value, margin.value, rounding)
        for size in sizes:
            if precision.size(size) == printed.value:
                of = "" if math.isinf(size) else f" (N = {size:,.0f})"
                reason = f"{precision.exact(size):.2f} {words}{of}"
                return Outcome("consistent", f"{printed.value:,.0f}", reason, printed.value)
    return _other_size(printed, Precision(confidence.value, margin.value), sizes)


def _other_size(printed: Printed, precision: Precision, sizes: Sequence[float]) -> Outcome:
    """A size that no population of the entry gives."""
    endless = precision.unlimited()
    if sizes == [math.inf] and printed.value < endless:
        # A finite population explains it, which the paper may state elsewhere.
        fitting = (endless - 1) * printed.value / (endless - printed.value)
        reason = f"no population is given; {printed.text} is the size for about {fitting:,.0f}"
        return Outcome("cannot be checked", f"N={fitting:.0f}", reason)
    needed = [precision.size(size) for size in sizes]
    computed = "; ".join(
        f"{n:,}" if math.isinf(size) else f"N={size:,.0f}: {n:,}"
        for size, n in zip(sizes, needed, strict=True)
    )
    value = float(needed[0]) if len(needed) == 1 else None
    if printed.value > max(needed):
        reason = f"{printed.text} is more than the formula asks for, so that the margin holds"
        return Outcome("does not follow", computed, reason, value)
    return Outcome("inconsistent", computed, f"no population gives {printed.text}", value)


@kind("integer-mean")
def integer_mean(
    printed: Only, n: Number, items: Number = _ONE, deviation: Number | None = None
) -> Outcome:
    """GRIM and GRIMMER: a mean and a standard deviation of n whole numbers.

    A sum of whole numbers is whole, and so is the sum of their squares, odd or even as the sum is
    (Brown and Heathers 2017; Anaya 2016).

    n: how many numbers
    items: answers behind each of them; 1 unless told
    deviation: the standard deviation, with n - 1

    printed = "3.48"
    n = "25"
    """
    answers = n.value * items.value
    if not 1 <= answers <= _MOST_ANSWERS or answers != int(answers):
        raise EntryError(f"n = {answers:g}: whole, 1 to {_MOST_ANSWERS:,}")
    if deviation is not None and (answers != n.value or n.value < 2):
        raise EntryError("a deviation is checked for n of 2 and more and one item")
    if printed.unit * answers > _MOST_SUMS:
        reason = f"{answers:,.0f} whole numbers can have any mean of so few digits"
        return Outcome("cannot be checked", "-", reason)
    nearest = round(printed.value * answers) / answers
    least = math.floor((printed.value - printed.unit) * answers)
    most = math.ceil((printed.value + printed.unit) * answers)
    sums = [
        total
        for total in range(least, most + 1)
        if match(printed, total / answers) in ("rounded", "cut")
    ]
    words = written_like(nearest, Printed("", nearest, printed.unit / 100))
    if not sums:
        reason = f"no sum of {answers:.0f} whole numbers gives {printed.text}; nearest: {words}"
        return Outcome("inconsistent", words, reason, nearest)
    if deviation and not any(_has_squares(total, int(n.value), deviation) for total in sums):
        both = f"mean {printed.text} and deviation {deviation.text}"
        reason = f"no {n.value:.0f} whole numbers have {both}"
        return Outcome("inconsistent", words, reason, nearest)
    return Outcome("consistent", words, f"{sums[0]} / {answers:.0f} gives it", nearest)


def _has_squares(total: int, n: int, deviation: Printed) -> bool:
    """Whether some sum of squares, as odd or even as the sum, gives the deviation."""
    ends = (deviation.value - deviation.half, deviation.value + deviation.half)
    low, high = (max(0.0, end) ** 2 * (n - 1) + total**2 / n for end in ends)
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    return any(square % 2 == total % 2 for square in range(first, min(last, first + 2) + 1))


# --- words for values --------------------------------------------------------------------


@kind("kappa-word")
def kappa_word(values: Words, scale: Text = "") -> Outcome:
    """Words for kappa or alpha (substantial) against a scale, or against all if none is named.

    The word of the scale for the printed value; near if only a value before rounding has it.

    values: pairs of value and word: [["0.80", "substantial"], ...]
    scale: a scale of agreement such as landis-koch; without: one must give all words

    values = [["0.80", "substantial"], ["0.58", "moderate"]]
    scale = "landis-koch"
    """
    scales = AGREEMENT_SCALES
    if impossible := [value.text for value, _word in values if abs(value.value) > 1]:
        reason = f"{impossible[0]} is no agreement: -1 to 1"
        return Outcome("inconsistent", "-", reason, printed=_listed(values))
    outcomes, words = {}, {}
    for name, title in ((name, scales[name].title) for name in scales):
        word_of = partial(word, name)
        outcomes[name] = _on_scale(values, title, word_of)
        words[name] = f"{title}: {', '.join(word_of(value.value) for value, _word in values)}"
    fitting = [name for name in scales if outcomes[name].status == "consistent"]
    fit = " and ".join(scales[name].title for name in fitting)
    if scale:
        _refuse_unknown(scale, scales)
        computed = "; ".join(words[name] for name in (scale, *fitting))
        more = f"; {fit} has all the words" if fit else ""
        outcome = outcomes[scale]
        if scale in fitting:
            return outcome
        return replace(outcome, computed=computed, reason=outcome.reason + more)
    reason = f"no scale is named; {fit} has all the words"
    return Outcome(
        "consistent" if fit else "inconsistent",
        "; ".join(words.values()),
        reason if fit else "no single scale gives all the words",
        printed=_listed(values),
    )


@kind("effect-word")
def effect_word(values: Words, scale: Text = "cohen-d", degrees: Number = _ONE) -> Outcome:
    """Words for effect sizes (small, medium, large) against a named scale.

    The word of the scale for the printed value; near if only a value before rounding has it.

    values: pairs of value and word: [["0.27", "small"], ...]
    scale: a scale of effects such as cohen-d, cliff-delta or cramer-v
    degrees: smaller side of the table less one, for cramer-v; 1 unless told

    values = [["0.27", "small"], ["0.54", "Medium"]]
    scale = "cohen-d"
    """
    _refuse_unknown(scale, EFFECT_SCALES)
    word_of = partial(word, scale, degrees=int(degrees.value))
    return _on_scale(values, EFFECT_SCALES[scale].title, word_of)


def _refuse_unknown(scale: str, scales: Collection[str]) -> None:
    if scale not in scales:
        raise EntryError(f"{scale!r} is unknown; known: {', '.join(scales)}", "scale")


def _on_scale(values: Words, title: str, word_of: Callable[[float], str]) -> Outcome:
    """Words against one scale."""
    odd = [(value, word) for value, word in values if word != word_of(value.value)]
    wrong = [(value, word) for value, word in odd if word not in map(word_of, value.ends())]
    computed = f"{len(values) - len(odd)} of {len(values)} agree"
    if len(values) == 1:
        computed = word_of(values[0][0].value)
    misfits = [
        f"{value.text} is {word_of(value.value)}, not {word}" for value, word in wrong or odd
    ]
    rest = f" and {len(misfits) - _SHOWN} more" if len(misfits) > _SHOWN else ""
    reason = f"{title}: {', '.join(misfits[:_SHOWN])}{rest}"
    return Outcome(
        "inconsistent" if wrong else "near" if odd else "consistent",
        computed,
        reason if misfits else f"all words are those of {title}",
        printed=_listed(values),
    )


def _listed(values: Words) -> str:
    return ", ".join(f"{value.text} {word}" for value, word in values)
