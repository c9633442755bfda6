"""How times are written for a reader."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from faultatlas.report.formatting import local_time, minute

MOMENT = datetime(2026, 3, 4, 22, 6, 7)  # noqa: DTZ001  (as the study stores it: UTC, no zone)


@pytest.mark.usefixtures("in_kolkata")
@pytest.mark.parametrize(
    "time", [MOMENT, MOMENT.replace(tzinfo=UTC), "2026-03-04T22:06:07Z", "2026-03-04 22:06:07"]
)
def test_a_terminal_shows_the_clock_on_the_wall_with_its_zone(time: datetime | str) -> None:
    assert minute(time) == "2026-03-05 03:36 IST"


@pytest.mark.usefixtures("in_kolkata")
def test_the_day_is_left_out_where_it_is_plain() -> None:
    assert local_time(MOMENT) == "03:36 IST"


def test_no_time_is_nothing_and_another_text_stays_as_it_is() -> None:
    assert minute(None) == minute("") == ""
    assert minute("last\nweek") == "last week"
