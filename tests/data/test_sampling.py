"""Sample sizes and draws."""

from __future__ import annotations

import pytest

from data.errors import StudyError
from data.sampling import drawn, sample_size


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
