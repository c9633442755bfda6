"""Odd numbers in analyses: empty cells, tiny p-values, values that are missing or all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import nchypergeom_fisher

from faultatlas.analysis.studies import association, comparison
from faultatlas.analysis.tallies import printed
from faultatlas.analysis.tallies.given_tables import file_table
from faultatlas.analysis.tallies.measuring import file_values
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "none")


def counts(**rows: tuple[int, ...]) -> dict[str, Any]:
    columns = ["x", "y", "z"][: len(next(iter(rows.values())))]
    return {"name": "t.csv", "rows": [*rows], "columns": columns, "counts": [*rows.values()]}


def values(numbers: list[float | None], groups: str, pairs: str = "") -> dict[str, Any]:
    table: dict[str, Any] = {"name": "v.csv", "values": {"x": numbers}, "group": [*groups]}
    return {**table, "pair": [*pairs]} if pairs else table


def storable(result: Result) -> None:
    """No infinity and no NaN, which JSON does not know."""
    json.dumps(result.to_json(), allow_nan=False)


def test_a_p_value_too_small_for_a_computer_is_not_taken_for_none(study: Study) -> None:
    result = association.run(study, table=counts(a=(5000, 0), b=(0, 4000)))
    assert "p < 1e-300" in result.summary[0]
    assert any(line.startswith("4 of 4 cells differ") for line in result.summary)
    (p,) = [claim for claim in result.claims if claim.unit == "p"]
    assert p.value == 1e-300  # never a printed 0
    assert result.table("residuals").records()[0]["adjusted"] == "< 1e-300"
    apart = values([*range(1500), *range(9000, 10500), *range(20000, 21500)], "a" * 1500
                   + "b" * 1500 + "c" * 1500)  # fmt: skip
    several = comparison.run(study, table=apart)
    assert "3 of 3 pairs differ" in several.summary[1]
    assert several.table("pairs").records()[0]["adjusted"] == "< 1e-300"


def test_what_is_empty_is_left_out_and_odds_are_of_what_is_there(study: Study) -> None:
    result = association.run(study, table=counts(none=(0, 0, 0), a=(0, 3, 20), b=(0, 9, 4)))
    assert "Left out, as nothing is counted there: none, x." in result.notes
    said = {claim.claim_id.rpartition(".")[2]: claim for claim in result.claims}
    assert said["odds-ratio"].statement == "Odds of y in a by those in b"
    assert said["a"].count == 3
    assert "none" not in said


def test_odds_without_an_upper_end_have_a_lower_one(study: Study) -> None:
    result = association.run(study, table=counts(a=(9, 0), b=(3, 6)))
    # Where nine of nine are seen in 2.5 % of the samples.
    assert nchypergeom_fisher.pmf(9, 18, 9, 12, 1.9004) == pytest.approx(0.025, abs=1e-5)
    assert "Odds ratio: none (infinite, as a cell is empty; at least 1.9)" in result.summary[1]
    storable(result)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (values([1, 1, 1, 2, 3, 2.5], "aaabbb"), "a: not tested for normality (all values are the"),
        (values([1, 2, 4, 3.5], "aabb"), "a, b: not tested for normality (fewer than three"),
        (values([1, 2, 3, 4, 5, 6], "ababab", "112233"), "the differences: not tested"),
    ],
)
def test_what_was_not_tested_is_not_called_refused(
    table: dict[str, Any], why: str, study: Study
) -> None:
    result = comparison.run(study, table=table)
    assert why in result.summary[0]
    assert "p < 0.05" not in result.summary[0]
    storable(result)


def test_pairs_are_counted_and_measured_as_pairs(study: Study) -> None:
    numbers = [1.0, 2, 3, 5, 4, 9, 7, 8, None, 3]
    result = comparison.run(study, table=values(numbers, "ababababab", "1122334455"))
    assert result.summary[0].startswith("x: n = 4 pairs; ")
    assert "4 pairs; 1 without a partner: left out." in result.notes
    found = result.document["values"]["x"]["a-and-b"]
    assert found["delta"]["n"] == 4
    assert "pairs" in found["delta"]["method"]
    assert abs(found["g"]["value"]) < abs(found["d"]["value"])
    assert not any("Levene" in note for note in result.notes)


def test_cells_are_numbers_missing_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text('g,x\na,"1,234.5"\nb,nan\nc,\n', encoding="utf-8")
    assert file_values(file, ["x", "x"], "g")["values"] == {"x": [1234.5, None, None]}
    for cell in ('"0,5"', "inf", "1e200", "NA"):
        file.write_text(f"g,x\na,{cell}\n", encoding="utf-8")
        with pytest.raises(StudyError, match="in column x is no number"):
            file_values(file, ["x"], "g")
    file.write_text('n,x,y\na,"1,5",2\nb,3,4\n', encoding="utf-8")
    with pytest.raises(StudyError, match="'1,5' is no count"):
        file_table(file)


@pytest.mark.parametrize(
    ("text", "ours", "status"),
    [
        ("p=0.000", 0.0004, "reproduced"),
        ("p=0.000", 0.0006, "not reproduced"),
        ("p=1.00", 0.996, "reproduced"),
        ("p=1.79e-14", 1.794e-14, "reproduced"),
        ("p=1.79e-14", 1.80e-14, "near"),
        ("p=0.05", 0.0449, "not reproduced"),
        ("p=150", 154.0, "near"),
    ],
)
def test_a_printed_number_is_reproduced_to_its_last_digit(
    text: str, ours: float, status: str
) -> None:
    (found,) = printed.compare(printed.read([text], ["p"]), {"p": ours})
    assert found.status == status
