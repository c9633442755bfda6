"""Runs: who wrote, when, with which arguments, and no secret among them."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data import clock, provenance
from faultatlas.data.study import Study

law = settings(max_examples=100)
TOKEN = "ghp_0123456789abcdefABCDEF0123456789abcd"  # noqa: S105  (made up)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


def test_a_run_is_inserted_and_later_its_end_is_noted(study: Study) -> None:
    given_ = {"project": "pytorch/pytorch", "label": ["high priority"]}
    run = provenance.begin("miner fetch", given_)
    with study.writing() as writer:
        provenance.record(writer, run, "running")
    with study.reading() as reader:
        [row] = reader.rows("SELECT * FROM runs")
    assert json.loads(row.pop("arguments")) == given_
    assert row == {
        "run_id": run.run_id,
        "command": "miner fetch",
        "version": version("faultatlas"),
        "started_at": run.started_at,
        "ended_at": None,
        "outcome": "running",
    }

    with study.writing() as writer:
        provenance.record(writer, run, "partial")
    with study.reading() as reader:
        [ended] = reader.rows("SELECT * FROM runs")
    assert run.started_at <= ended["ended_at"] <= clock.utc_now()
    assert ended["outcome"] == "partial"
    assert ended["started_at"] == run.started_at


def test_only_a_run_that_has_ended_has_an_end(study: Study) -> None:
    for outcome in get_args(provenance.Outcome):
        with study.writing() as writer:
            provenance.record(writer, provenance.begin("analysis gap", {}), outcome)
    with study.reading() as reader:
        rows = reader.rows("SELECT outcome FROM runs WHERE ended_at IS NULL")
        assert reader.value("SELECT count(DISTINCT outcome) FROM runs") == 5
    assert rows == [{"outcome": "running"}]


def test_a_run_is_undone_with_the_rows_of_its_transaction(study: Study) -> None:
    kept, undone = (provenance.begin("miner fetch", {}) for _ in range(2))
    with study.writing() as writer:
        provenance.record(writer, kept, "ok")
    with pytest.raises(ZeroDivisionError), study.writing() as writer:
        provenance.record(writer, undone, "ok" if 1 / 0 else "failed")
    with study.reading() as reader:
        assert reader.rows("SELECT run_id FROM runs") == [{"run_id": kept.run_id}]


@law
@given(st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2999, 1, 1)), min_size=2, unique=True))  # noqa: DTZ001  (stored as UTC without a zone)
def test_run_ids_sort_by_time(moments: list[datetime]) -> None:
    ids = [provenance.begin("x", {}, now=moment).run_id for moment in moments]
    by_time = [name for _moment, name in sorted(zip(moments, ids, strict=True))]
    assert sorted(ids) == by_time


def test_two_runs_of_the_same_microsecond_have_different_ids() -> None:
    now = datetime(2024, 1, 1)  # noqa: DTZ001  (as above)
    assert len({provenance.begin("x", {}, now=now).run_id for _ in range(10)}) == 10


def test_times_are_utc_without_a_zone() -> None:
    assert clock.utc_now().tzinfo is None
    aside = datetime.now(UTC).replace(tzinfo=None) - clock.utc_now()
    assert abs(aside) < timedelta(minutes=1)
    moment = datetime(2024, 2, 29, 23, 59, 59, 42)  # noqa: DTZ001  (as above)
    assert provenance.begin("x", {}, now=moment).run_id.startswith("20240229T235959000042Z-")


def test_a_run_cannot_be_changed() -> None:
    run = provenance.begin("x", {})
    with pytest.raises(FrozenInstanceError):
        run.command = "y"  # type: ignore[misc]


def test_secrets_do_not_reach_the_study(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "correct horse battery staple")
    run = provenance.begin(
        "miner fetch",
        {
            "token": "plain words",
            "header": ["Authorization: Bearer abc.DEF-123_456~789"],
            "note": f"with {TOKEN} and correct horse battery staple",
            "api_url": "https://jane:s3cret!@git.example.org/api?access_token=0a1b2c&page=2",
            "nested": {"api_key": "0a1b2c3d", "since": "2024-01-01"},
        },
    )
    with study.writing() as writer:
        provenance.record(writer, run, "ok")
    secrets = (TOKEN, "correct horse", "plain words", "DEF-123", "s3cret", "jane", "0a1b2c")
    with study.reading() as reader:
        arguments = reader.value("SELECT arguments FROM runs")
    assert [secret for secret in secrets if secret in arguments] == []
    assert [secret for secret in secrets if secret in repr(run)] == []
    assert "git.example.org/api" in arguments
    assert "2024-01-01" in arguments
    stored = b"".join(path.read_bytes() for path in study.directory.iterdir())
    assert [secret for secret in secrets if secret.encode() in stored] == []


def test_a_file_name_that_is_not_utf8_can_be_stored(study: Study) -> None:
    name = b"caf\xe9.csv".decode(errors="surrogateescape")  # as the command line hands it over
    run = provenance.begin("annotation import", {"file": Path(name)})
    with study.writing() as writer:
        provenance.record(writer, run, "ok")
    with study.reading() as reader:
        assert reader.value("SELECT arguments->>'file' FROM runs") == r"caf\udce9.csv"
