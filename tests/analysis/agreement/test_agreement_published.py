"""Values that the authors of the statistics printed."""

from __future__ import annotations

import numpy as np
import pytest

from faultatlas.analysis.statistics.agreement import measure, measure_categories
from faultatlas.analysis.statistics.agreement.distances import quadratic
from faultatlas.analysis.statistics.agreement.ratings import RatingTable, rating_table

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: examples A, B and C.
BINARY = ("0100000010", "1110010000")
NOMINAL = ("aabbdcccedda", "babbbccceddd")
FOUR_OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
# Fleiss (1971), table 1: diagnoses of 30 patients by 6 psychiatrists.
DIAGNOSES = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def by_observer(lines: tuple[str, ...]) -> RatingTable:
    rows = [
        [None if value == "." else value for value in unit] for unit in zip(*lines, strict=True)
    ]
    return rating_table(rows, sorted({value for line in lines for value in line if value != "."}))


def from_counts(counts: list[list[int]]) -> RatingTable:
    return rating_table(
        [[at for at, count in enumerate(row) for _one in range(count)] for row in counts]
    )


def two_by_two(a: int, b: int, c: int, d: int) -> RatingTable:
    pairs = [["yes", "yes"], ["yes", "no"], ["no", "yes"], ["no", "no"]]
    return rating_table(
        [pair for pair, count in zip(pairs, (a, b, c, d), strict=True) for _ in range(count)]
    )


@pytest.mark.parametrize(
    ("lines", "printed"), [(BINARY, 0.095), (NOMINAL, 0.692), (FOUR_OBSERVERS, 0.743)]
)
def test_krippendorffs_nominal_examples(lines: tuple[str, ...], printed: float) -> None:
    value = measure(by_observer(lines), "krippendorff").value
    # He rounds expected coincidences first: his 0.692 is 0.6914 without.
    assert value == pytest.approx(printed, abs=0.0007)


def test_krippendorffs_interval_example() -> None:
    found = measure(by_observer(FOUR_OBSERVERS), "krippendorff", distances=quadratic(5))
    assert found.value == pytest.approx(0.849, abs=0.0005)
    assert (found.items, found.raters, found.ratings) == (11, 4, 40)


def test_fleiss_example_with_its_categories() -> None:
    table = from_counts([[int(digit) for digit in word] for word in DIAGNOSES.split()])
    assert len(table.values) == 30
    assert measure(table, "fleiss").value == pytest.approx(0.430, abs=0.0005)
    assert measure(table, "percent").value == pytest.approx(0.556, abs=0.0005)
    found = {number: each.value for number, each in measure_categories(table).items()}
    # As R's package irr gives them for these data (kappam.fleiss, detail = TRUE).
    assert [round(found[number] or 0, 3) for number in range(5)] == [
        0.245, 0.245, 0.520, 0.471, 0.566,
    ]  # fmt: skip


def test_gwets_examples() -> None:
    """Gwet (2014), four raters; Gwet (2002), Kappa statistic is not satisfactory."""
    table = by_observer(FOUR_OBSERVERS)
    assert measure(table, "gwet").value == pytest.approx(0.77544, abs=5e-6)
    assert measure(table, "fleiss").value == pytest.approx(0.76117, abs=5e-6)
    assert measure(table, "krippendorff").value == pytest.approx(0.74342, abs=5e-6)
    table = two_by_two(118, 5, 2, 0)
    assert measure(table, "cohen").value == pytest.approx(-0.0234, abs=5e-5)
    assert measure(table, "gwet").value == pytest.approx(0.9408, abs=5e-5)


def test_feinsteins_and_cicchettis_paradox() -> None:
    """Feinstein and Cicchetti (1990): the same 85 % agreement, kappa 0.70 and 0.32."""
    for cells, printed in (((40, 9, 6, 45), 0.70), ((80, 10, 5, 5), 0.32)):
        table = two_by_two(*cells)
        assert measure(table, "percent").value == pytest.approx(0.85)
        assert measure(table, "cohen").value == pytest.approx(printed, abs=0.005)


def test_a_table_of_counts_needs_no_names_of_raters() -> None:
    table = from_counts([[int(digit) for digit in word] for word in DIAGNOSES.split()])
    mixed = np.random.default_rng(1).permuted(table.values, axis=1)
    for name in ("fleiss", "gwet", "krippendorff", "percent"):
        assert measure(RatingTable(mixed, table.categories), name) == measure(table, name)
