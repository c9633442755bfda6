"""Sample sizes and draws."""

from __future__ import annotations

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import Precision, drawn, sample_size


@pytest.mark.parametrize(
    ("population", "size"),
    # Morovati et al., tables 3 and 4; Jahangirova et al. and others take 385 of very many.
    [(38_463, 380), (26_326, 379), (18_812, 376), (18_821, 376), (14_590, 374), (10**12, 384)],
)
def test_published_sizes(population: int, size: int) -> None:
    assert sample_size(population) == size


def test_rounding_up_is_a_choice() -> None:
    assert sample_size(38_463, rounding="up") == 381
    assert sample_size(10**12, rounding="up") == 385


@pytest.mark.parametrize("endless", [None, float("inf")])
def test_a_population_without_end(endless: float | None) -> None:
    assert sample_size(endless) == 384
    assert sample_size(endless, rounding="up") == 385
    assert sample_size(endless, 99, 1, rounding="up") == 16_588


def test_the_rule_is_said_with_its_numbers() -> None:
    assert Precision().words(38_463) == (
        "n = n0 / (1 + (n0 - 1) / N) = 380.36 with n0 = z^2 * 0.25 / e^2 = 384.15 (95 % "
        "confidence, 5 % margin) and N = 38,463, rounded to the nearest number: 380"
    )
    assert Precision(rounding="up").words(float("inf")) == (
        "n0 = z^2 * 0.25 / e^2 = 384.15 (95 % confidence, 5 % margin), rounded up: 385"
    )


@pytest.mark.parametrize(("population", "size"), [(0, 0), (1, 1), (2, 2), (10, 10), (100, 80)])
def test_small_populations(population: int, size: int) -> None:
    assert sample_size(population) == size


@pytest.mark.parametrize(
    ("confidence", "margin"),
    [
        (0, 5),
        (100, 5),
        (99.99999999999999, 5),
        (1e-300, 5),
        (float("nan"), 5),
        (95, 0),
        (95, 1e-200),
        (95, 100),
    ],
)
def test_impossible_choices_are_refused(confidence: float, margin: float) -> None:
    with pytest.raises(StudyError):
        sample_size(100, confidence, margin)


def test_a_draw_is_derived_from_the_seed_alone() -> None:
    frame = [f"github:o/r#{number}" for number in range(1, 201)]

    assert drawn(frame, 20, 7) == drawn(reversed(frame), 20, 7)
    assert drawn(frame, 50, 7)[:20] == drawn(frame, 20, 7)
    assert drawn(frame, 20, 7) != drawn(frame, 20, 8)
    assert drawn(frame, 20, 7) != drawn(frame, 20, 7, "keras")
    # As coreutils' sha256sum orders `7\0\0github:o/r#N`.
    assert drawn(frame, 3, 7) == ["github:o/r#6", "github:o/r#87", "github:o/r#200"]
