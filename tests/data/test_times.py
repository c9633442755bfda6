"""What people type for a time is read in one way, or refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data.clock import seconds, utc_time
from faultatlas.data.errors import StudyError

law = settings(max_examples=250)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("90", 90),
        (" 90 ", 90),
        ("90s", 90),
        ("15m", 900),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1H30M", 5400),
        ("1d2h3m4s", 93784),
        ("0h", 0),
        ("366d", 366 * 86_400),
    ],
)
def test_a_duration_is_so_many_seconds(text: str, expected: int) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "h", "-1", "1.5h", "30m1h", "1h1h", "1h 30m", "90x", "1h30", "\u0663", "inf", "1e3",
     "367d", "999999999", "9" * 5000, "1\x00"],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(StudyError) as refused:
        seconds(text)
    assert refused.value.hint
    assert len(refused.value.message) < 200


@law
@given(st.integers(0, 300), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_the_parts_of_a_duration_add_up(days: int, hours: int, minutes: int, rest: int) -> None:
    whole = timedelta(days=days, hours=hours, minutes=minutes, seconds=rest)
    assert seconds(f"{days}d{hours}h{minutes}m{rest}s") == whole.total_seconds()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-01-31", datetime(2023, 1, 31)),  # noqa: DTZ001  (stored without a zone)
        (" 2023-01-31 ", datetime(2023, 1, 31)),  # noqa: DTZ001
        ("2023-01-31T12:30Z", datetime(2023, 1, 31, 12, 30)),  # noqa: DTZ001
        ("2023-01-31t12:30:05z", datetime(2023, 1, 31, 12, 30, 5)),  # noqa: DTZ001
        ("2023-01-31 01:00:00+08:00", datetime(2023, 1, 30, 17)),  # noqa: DTZ001
        ("2023-01-31T23:00:00.5-0500", datetime(2023, 2, 1, 4, 0, 0, 500_000)),  # noqa: DTZ001
    ],
)
def test_a_time_is_in_utc_and_has_no_zone(text: str, expected: datetime) -> None:
    assert utc_time(text) == expected
    assert utc_time(text).tzinfo is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "2023-01-31"),
        ("yesterday", "2023-01-31"),
        ("31.01.2023", "2023-01-31"),
        ("2023-1-31", "2023-01-31"),
        ("20230131", "2023-01-31"),
        ("2023-W05", "2023-01-31"),
        ("2023-02-30", "2023-01-31"),
        ("2023-01-31T24:30:00Z", "2023-01-31"),
        ("2023-01-31T12:00:60Z", "2023-01-31"),
        ("2023-01-31T12:00:00+25:00", "2023-01-31"),
        ("0001-01-01T00:00:00+14:00", "2023-01-31"),
        ("\u0662023-01-31", "2023-01-31"),
        ("2023-01-31T12:00:00", "2023-01-31T12:00:00Z"),
    ],
)
def test_what_is_no_time_is_refused_with_an_example(text: str, hint: str) -> None:
    with pytest.raises(StudyError) as refused:
        utc_time(text)
    assert hint in refused.value.hint


@law
@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)),  # noqa: DTZ001
    st.integers(-14 * 60, 14 * 60),
)
def test_every_zone_means_the_same_moment(moment: datetime, minutes: int) -> None:
    there = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert utc_time(there.isoformat()) == moment
