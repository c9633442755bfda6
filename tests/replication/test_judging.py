"""One rule for every published figure: digits, units, several values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.analysis.replication.judging import Judged, judge, judge_all, judge_word, numbers_in
from faultatlas.report.published import parse


@pytest.mark.parametrize(
    ("value", "printed", "unit", "status"),
    [
        (0.817219, "0.817", "coefficient", "reproduced"),
        (29.4699, "29.46", "percent", "reproduced"),  # cut
        (20.00032, "20.000", "", "reproduced"),
        (0.8249, "0.817", "coefficient", "near"),
        (0.8301, "0.817", "coefficient", "not reproduced"),
        (52.35, "52.6", "percent", "near"),
        (46.7, "61.54", "percent", "not reproduced"),
        (38, "39", "defects", "not reproduced"),  # a count is never near
        (7.66e-21, "1.79e-14", "", "not reproduced"),
        (float("nan"), "0.5", "", "not reproduced"),
    ],
)
def test_a_number_beside_the_printed_one(
    value: float, printed: str, unit: str, status: str
) -> None:
    assert judge(value, parse(printed), unit).status == status


@given(st.floats(0.001, 1000), st.integers(0, 4))
def test_what_is_rounded_to_the_printed_digits_is_reproduced(value: float, digits: int) -> None:
    printed = parse(f"{value:.{digits}f}")
    assert judge(value, printed).status == "reproduced"


def judged(out: int, near: int, off: int) -> str:
    parts = [("reproduced", out), ("near", near), ("not reproduced", off)]
    every = [Judged(status, "") for status, count in parts for _each in range(count)]  # type: ignore[arg-type]
    return judge_all(every).status


def test_several_values_of_one_figure() -> None:
    assert judged(3, 0, 0) == "reproduced"
    assert judged(42, 0, 3) == "near"  # at least nine of ten
    assert judged(10, 0, 5) == "not reproduced"
    assert judged(2, 1, 0) == "near"


def test_numbers_and_words_in_printed_texts() -> None:
    def texts(text: str) -> list[str]:
        return [each.text for each in numbers_in(text)]

    assert texts("39 / 31 / 8") == ["39", "31", "8"]
    assert texts("5/16/14/20/46/48 = 149") == ["5", "16", "14", "20", "46", "48", "149"]
    assert texts("227; 170-284") == ["227", "170", "284"]
    assert judge_word("G", "G (crash)").status == "reproduced"
    assert judge_word("E", "G (crash)").status == "not reproduced"
