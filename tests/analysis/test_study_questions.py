"""The contract of a study question: every file in analysis/studies keeps it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import ModuleType

import pytest

from analysis.cli import study_questions
from data.results import Result
from data.store import Study

QUESTIONS = study_questions()


@pytest.fixture(params=sorted(QUESTIONS))
def question(request: pytest.FixtureRequest) -> ModuleType:
    return QUESTIONS[request.param]


@pytest.fixture
def result(question: ModuleType, tmp_path: Path) -> Result:
    found = question.run(Study(tmp_path / "study"))
    assert isinstance(found, Result)
    return found


def test_it_explains_itself(question: ModuleType) -> None:
    assert inspect.getdoc(question)
    assert inspect.getdoc(question.command)
    assert question.NAME.islower()


def test_running_it_stores_nothing(result: Result, tmp_path: Path) -> None:
    assert result.tables
    assert not (tmp_path / "study").exists()


def test_every_claim_has_a_query_an_interval_and_a_unique_id(result: Result) -> None:
    assert result.claims
    assert len({claim.claim_id for claim in result.claims}) == len(result.claims)
    for claim in result.claims:
        assert claim.query.startswith(result.analysis)
        assert claim.low is not None
        assert claim.value is not None
        assert claim.high is not None
        assert claim.low <= claim.value <= claim.high


def test_every_table_is_rectangular_and_names_are_files(result: Result) -> None:
    names = [each.name for each in (*result.tables, *result.figures)]
    for name in names:
        assert name.replace("-", "").isalnum()
    for table in result.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_it_survives_the_way_through_json(result: Result) -> None:
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_it_is_the_same_again(question: ModuleType, result: Result, tmp_path: Path) -> None:
    assert question.run(Study(tmp_path / "other")) == result
