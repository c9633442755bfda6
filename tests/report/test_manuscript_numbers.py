"""Printed numbers, and the laws that the checks must keep: what is true is never called wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.report.manuscript.check import check_text, kinds
from faultatlas.report.manuscript.statistics import implied_size, tail
from faultatlas.report.published import is_about, match, parse, range_of, written_like

law = settings(max_examples=60)


@pytest.mark.parametrize(
    ("text", "value", "unit", "percent", "sign"),
    [
        ("1,795", 1795, 1, False, ""),
        ("38.19 %", 38.19, 0.01, True, ""),
        (r"40.0\%", 40, 0.1, True, ""),
        ("7.66e-21", 7.66e-21, 1e-23, False, ""),
        ("1.79 \N{MULTIPLICATION SIGN} 10^-14", 1.79e-14, 1e-16, False, ""),
        ("1.79 \N{MULTIPLICATION SIGN} 10\N{MINUS SIGN}14", 1.79e-14, 1e-16, False, ""),
        ("3 x 10^{5}", 3e5, 1e5, False, ""),
        ("<0.001", 0.001, 0.001, False, "<"),
        ("< .05", 0.05, 0.01, False, "<"),
        ("\N{GREATER-THAN OR EQUAL TO} 0.7", 0.7, 0.1, False, ">="),
        ("~30", 30, 1, False, "~"),
        ("\N{ALMOST EQUAL TO} 1.79e-14", 1.79e-14, 1e-16, False, "~"),
        ("\N{MINUS SIGN}1.32", -1.32, 0.01, False, ""),
        ("+2", 2, 1, False, ""),
        ("almost 48 %", 48, 1, True, "almost"),
        ("more than 1,000", 1000, 1, False, "over"),
        ("about .5", 0.5, 0.1, False, "~"),
        ("at least 46.90 %", 46.9, 0.01, True, ">="),
    ],
)
def test_numbers_as_they_are_printed(
    text: str,
    value: float,
    unit: float,
    percent: bool,  # noqa: FBT001  (a column of the cases)
    sign: str,
) -> None:
    found = parse(text)
    assert found.value == pytest.approx(value)
    assert found.unit == pytest.approx(unit)
    assert (found.percent, found.sign) == (percent, sign)


@pytest.mark.parametrize(
    "text", ["", "%", "38,19", "1,79", "1.2.3", "four", "1e999", "1" * 41, "12 of 30", "nan", "."]
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|computer"):
        parse(text)


@law
@given(
    st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 4), st.sampled_from(["cut", "near"])
)
def test_a_share_that_is_rounded_or_cut_comes_out(
    count: int, total: int, digits: int, how: str
) -> None:
    share = Decimal(100 * count) / Decimal(total)
    rounding = ROUND_DOWN if how == "cut" else ROUND_HALF_UP
    text = str(share.quantize(Decimal(1).scaleb(-digits), rounding=rounding))
    printed = parse(f"{text} %")
    assert match(printed, 100 * count / total) in ("rounded", "cut")
    beyond = parse(str(Decimal(text) + 2 * Decimal(1).scaleb(-digits)))
    assert match(beyond, 100 * count / total) == "different"


def test_of_large_numbers_one_is_not_lost() -> None:
    assert match(parse("1,000,000,001"), 1_000_000_000) == "different"
    assert match(parse("12,345,678,901"), 12_345_678_901) == "rounded"
    assert match(parse("38.19 %"), 38.185) == "rounded"
    assert match(parse("0.1"), 0.1 + 0.05) == "rounded"


def test_all_that_many_rounded_inputs_can_give_is_tried() -> None:
    # Those before as small and those after as large as rounding allows, and the other way round.
    inputs = [parse("1.0")] * 12 + [parse("0.5")] * 12

    def difference(values: Sequence[float]) -> float:
        return fmean((a - b) / a for a, b in zip(values[:12], values[12:], strict=True))

    low, high = range_of(difference, inputs)
    assert (low, high) == pytest.approx((1 - 0.55 / 0.95, 1 - 0.45 / 1.05))


def test_what_is_about_a_number() -> None:
    assert not is_about(parse("~0"), 1.5)
    assert is_about(parse("~30"), 31.65)
    assert not is_about(parse("~30"), 35.1)
    assert not is_about(parse("~1.79e-14"), 7.66e-21)
    assert is_about(parse("~2,400"), 2365)
    assert written_like(7.655e-21) == "7.66e-21"
    assert written_like(2366, parse("2365")) == "2,366"


@law
@given(st.lists(st.integers(1, 200) | st.just(0), min_size=1, max_size=60))
def test_true_ranks_are_never_called_impossible(ranks: list[int]) -> None:
    tops = {k: sum(0 < rank <= k for rank in ranks) / len(ranks) for k in (1, 5, 10)}
    mrr = fmean(1 / rank if rank else 0 for rank in ranks)
    top = ", ".join(f'{k} = "{share:.3f}"' for k, share in tops.items())
    assert _verdict("top-k", f'printed = "{mrr:.3f}"\ntop = {{ {top} }}') == "consistent"


@law
@given(st.lists(st.integers(1, 7), min_size=2, max_size=40), st.integers(1, 3))
def test_true_means_of_whole_numbers_are_never_called_impossible(
    answers: list[int], digits: int
) -> None:
    fields = (
        f'printed = "{fmean(answers):.{digits}f}"\nn = "{len(answers)}"\n'
        f'deviation = "{stdev(answers):.{digits}f}"'
    )
    assert _verdict("integer-mean", fields) == "consistent"


def test_impossible_means_and_deviations_are_found() -> None:
    # Brown and Heathers (2017): a mean of 5.19 of 28 whole numbers cannot be.
    assert _verdict("integer-mean", 'printed = "5.19"\nn = "28"') == "inconsistent"
    both = 'printed = "5.19"\nn = "28"\ndeviation = "1.20"'
    assert _verdict("integer-mean", both) == "inconsistent"
    # 18 numbers with mean 3.44 have the sum 62, even; a deviation of 2.47 needs squares that add up
    # to 317, odd.
    found = _verdict("integer-mean", 'printed = "3.44"\nn = "18"\ndeviation = "2.47"')
    assert found == "inconsistent"
    assert "odd or even" in kinds()["integer-mean"].rule


@law
@given(st.lists(st.integers(0, 300), min_size=2, max_size=7).filter(any), st.integers(1, 2))
def test_true_shares_are_never_called_impossible(counts: list[int], digits: int) -> None:
    total = sum(counts)
    shares = [f'"{100 * count / total:.{digits}f} %"' for count in counts]
    assert _verdict("shares", f'printed = "{total}"\nshares = [{", ".join(shares)}]') == (
        "consistent"
    )


@law
@given(st.lists(st.decimals(0, 50, places=1), min_size=1, max_size=30))
def test_sums_of_rounded_parts_are_at_most_near(parts: Sequence[Decimal]) -> None:
    rounded = [part.quantize(Decimal(1), rounding=ROUND_HALF_UP) for part in parts]
    listed = ", ".join(f'"{part}"' for part in parts)
    assert _verdict("sum", f'printed = "{sum(parts)}"\nparts = [{listed}]') == "consistent"
    assert sum(rounded) >= 0


@law
@given(st.floats(0.05, 3), st.integers(3, 5000))
def test_the_implied_group_size_is_the_one_it_was_made_from(d: float, n: int) -> None:
    p = tail("t", d * math.sqrt(n / 2), [2 * n - 2])
    if p > 1e-290:
        assert implied_size(d, p) == pytest.approx(n, rel=1e-6)


def test_p_values_against_scipy_and_published_ones() -> None:
    from scipy import stats

    first = [math.sin(each) for each in range(30)]
    second = [math.cos(each * each) + 0.5 for each in range(30)]
    known = stats.ttest_ind(first, second)
    assert tail("t", known.statistic, [58]) == pytest.approx(known.pvalue)
    correlation = stats.pearsonr(first, second)
    assert tail("r", correlation.statistic, [28]) == pytest.approx(correlation.pvalue)
    variance = stats.f_oneway(first, second)
    assert tail("F", variance.statistic, [1, 58]) == pytest.approx(variance.pvalue)
    assert tail("z", 1.959964, []) == pytest.approx(0.05, abs=1e-6)
    assert tail("z", 1.644854, [], sides=1) == pytest.approx(0.05, abs=1e-6)
    assert tail("chi2", 3.841459, [1]) == pytest.approx(0.05, abs=1e-6)


def _verdict(kind: str, fields: str) -> str:
    text = f'[[claim]]\nid = "a"\nkind = "{kind}"\n{fields}'
    [finding] = check_text(text, "a.toml", "a")
    return finding.status
