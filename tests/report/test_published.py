"""The one rule for printed numbers: digits, units, bases, and several values of one figure."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.data.results import Status
from faultatlas.report import published
from faultatlas.report.published import Basis, Comparison, compare, compare_all, parse, worst


@pytest.mark.parametrize(
    ("value", "printed", "unit", "data", "paper"),
    [
        (46.904, "46.90 %", "percent", "reproduced", "consistent"),
        (46.95, "46.90 %", "percent", "near", "inconsistent"),  # the digits that were printed
        (46.95, "46.9 %", "percent", "reproduced", "consistent"),
        (29.4699, "29.46 %", "percent", "reproduced", "consistent"),  # cut
        (3.3333, "3.34 %", "", "near", "near"),  # rounded up
        (52.35, "52.6 %", "percent", "near", "inconsistent"),
        (45.8, "48 %", "percent", "not reproduced", "inconsistent"),
        (0.8249, "0.817", "coefficient", "near", "inconsistent"),
        (0.8301, "0.817", "coefficient", "not reproduced", "inconsistent"),
        (38, "39", "count", "not reproduced", "inconsistent"),  # a count is never near
        (7.66e-21, "1.79e-14", "p", "not reproduced", "inconsistent"),
        (31.65, "~30 %", "", "near", "near"),
        (30.9, "~30 %", "", "near", "near"),  # what is approximate is not cut
        (25.0, "~30 %", "percent", "not reproduced", "inconsistent"),
        (0.0502, "<.05", "coefficient", "not reproduced", "inconsistent"),
        (0.0499, "<.05", "", "reproduced", "consistent"),
        (47.7, "almost 48 %", "percent", "reproduced", "consistent"),
        (48.1, "almost 48 %", "percent", "not reproduced", "inconsistent"),
        (1004, "more than 1,000", "count", "not reproduced", "inconsistent"),
        (1000.4, "more than 1,000", "", "reproduced", "consistent"),
        (None, "0.8", "coefficient", "no data", "cannot be checked"),
        (float("nan"), "0.5", "coefficient", "not reproduced", "inconsistent"),
    ],
)
def test_a_number_of_data_and_one_of_a_paper(
    value: float | None, printed: str, unit: str, data: str, paper: str
) -> None:
    number = parse(printed)
    found = {basis: compare(value, number, unit, basis=basis) for basis in get_args(Basis)}
    assert (found["data"].status, found["paper"].status) == (data, paper)
    # Rows and printed numbers together: never reproduced, and no contradiction.
    mixed = "consistent" if data == "reproduced" else data
    assert found["mixed"].status == mixed
    assert all(comparison.reason for comparison in found.values())


@pytest.mark.parametrize(
    ("text", "value", "sign"),
    [("almost four times", 4, "almost"), ("twice", 2, "~"), ("about half", 0.5, "~"),
     ("3.8", 3.8, ""), ("3.8-fold", 3.8, ""), ("more than ten times", 10, "over")],
)  # fmt: skip
def test_how_many_times(text: str, value: float, sign: str) -> None:
    printed = parse(text, multiple=True)
    assert (printed.value, printed.sign, printed.text) == (value, sign, text)
    with pytest.raises(ValueError, match="is not a number"):
        parse("almost many", multiple=True)


def test_what_unrounded_inputs_can_give() -> None:
    printed = parse("3.8")
    assert compare(3.64, printed, basis="paper", inputs=(3.45, 3.86)).status == "near"
    assert compare(3.64, printed, basis="paper", inputs=(3.64, 3.64)).status == "inconsistent"
    kept = compare(0.0502, parse("<.05"), basis="paper", inputs=(0.0497, 0.0507))
    assert (kept.status, "unrounded" in kept.reason) == ("near", True)


def test_a_difference_from_inferred_inputs_contradicts_nothing() -> None:
    assert compare(2, parse("3"), basis="paper", inferred=True).status == "does not follow"
    assert compare(3, parse("3"), basis="paper", inferred=True).status == "consistent"
    assert compare(2, parse("3"), basis="data", inferred=True).status == "not reproduced"


def of(*statuses: Any) -> str:
    return compare_all([Comparison(status, f"because {status}") for status in statuses]).status


def test_several_values_are_as_good_as_the_worst() -> None:
    assert of("reproduced", "reproduced") == "reproduced"
    assert of(*["reproduced"] * 42, "near") == "near"
    assert of(*["reproduced"] * 42, "near", "not reproduced") == "not reproduced"
    assert of("consistent", "cannot be checked") == "cannot be checked"
    assert of("near", "does not follow", "inconsistent") == "inconsistent"
    whole = compare_all([Comparison("near", "a"), Comparison("near", "b"), Comparison("near", "a")])
    assert whole.reason == "a; b"


@given(st.lists(st.sampled_from([status for status in get_args(Status) if status]), min_size=1))
def test_the_order_of_values_does_not_matter(statuses: list[Status]) -> None:
    assert worst(statuses) == worst(reversed(statuses))
    assert worst([*statuses, worst(statuses)]) == worst(statuses)


@given(st.floats(0.001, 1000), st.integers(0, 4), st.sampled_from(get_args(Basis)))
def test_what_is_rounded_to_the_printed_digits_is_equal(
    value: float, digits: int, basis: Basis
) -> None:
    status = compare(value, parse(f"{value:.{digits}f}"), basis=basis).status
    assert status == ("reproduced" if basis == "data" else "consistent")


def test_the_rule_is_one_text_that_tables_can_cite() -> None:
    for word in ("reproduced", "consistent", "Near", "inconsistent", "do not follow"):
        assert word in published.RULE
    assert f"{published.NEAR['percent']:g} percentage point" in published.RULE
    assert f"{published.NEAR['coefficient']:g} of a coefficient" in published.RULE
