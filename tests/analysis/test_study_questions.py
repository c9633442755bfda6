"""The contract of a study question: every file in analysis/studies keeps it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dated_labels import dated_labels
from executed import executed_bugs
from interviewing import coded_interviews
from reading_papers import Reading

from faultatlas.analysis.studies import questions
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study

QUESTIONS = questions()
OWN = """
[claims.merged]
statement = "Pull requests that were merged"
numerator = "SELECT count(*) FROM issues WHERE merged_at IS NOT NULL"
denominator = 3
"""


def own_claims(study: Study) -> None:
    with study.writing():
        (study.directory / "claims.toml").write_text(OWN, encoding="utf-8")


def some_papers(study: Study) -> None:
    Reading(study).papers(1, 2)


def known_papers(study: Study) -> None:
    some_papers(study)
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.known_paper VALUES ('mine', 1, 'A Paper', 'apaper', 2020, NULL, 'r')"
        )


# What a question needs to be in the study before it can be asked, and what it is asked.
PREPARED: dict[str, Callable[[Study], None]] = {
    "challenges": coded_interviews,
    "claims": own_claims, "distribution": dated_labels, "known-papers": known_papers,
    "prisma": some_papers, "reexecute": executed_bugs, "reproducibility": executed_bugs,
    "trend": dated_labels,
}  # fmt: skip
GIVEN = {"name": "counts", "rows": ["a", "b"], "columns": ["yes", "no"], "counts": [[9, 4], [3, 8]]}
VALUES = {"name": "values.csv", "values": {"x": [1, 2, 4, 3, 5, 9]}, "group": [*"aaabbb"]}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "challenges": {"group": "stratum"},
    "associate": {"table": GIVEN, "printed": ["p=0.1"]},
    "compare": {"table": VALUES},
    "distribution": {"taxonomy": "tree", "by": "framework"},
    "trend": {"taxonomy": "tree"},
}


def asked(question: ModuleType, folder: Path) -> Result:
    study = Study(folder)
    if question.NAME in PREPARED:
        PREPARED[question.NAME](study)
    found = question.run(study, **ARGUMENTS.get(question.NAME, {}))
    assert isinstance(found, Result)
    return found


@pytest.fixture(params=sorted(QUESTIONS), scope="module")
def question(request: pytest.FixtureRequest) -> ModuleType:
    return QUESTIONS[request.param]


@pytest.fixture(scope="module")
def folder(question: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a question is asked once for all tests: none of them writes."""
    return tmp_path_factory.mktemp(question.NAME) / "study"


@pytest.fixture(scope="module")
def result(question: ModuleType, folder: Path) -> Result:
    return asked(question, folder)


def test_it_explains_itself(question: ModuleType) -> None:
    assert inspect.getdoc(question)
    assert inspect.getdoc(question.command)
    assert question.NAME.islower()


def test_running_it_stores_nothing(question: ModuleType, result: Result, folder: Path) -> None:
    assert result.tables
    study = Study(folder)
    if question.NAME not in PREPARED:
        assert not study.directory.exists()
        return
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM results") == 0


def test_every_claim_has_a_query_an_interval_and_a_unique_id(result: Result) -> None:
    assert result.claims
    assert len({claim.claim_id for claim in result.claims}) == len(result.claims)
    for claim in result.claims:
        assert claim.query.startswith(result.analysis)
        # A test has no interval; the effect size beside it has one.
        if claim.unit == "p" or claim.claim_id.endswith(".chi2"):
            continue
        # All there are, not drawn from others.
        if claim.unit in {"defects", "types", "papers", "records", "themes", "mentions"}:
            continue
        if result.analysis == "replicate":  # without a package there are only printed numbers
            continue
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
    assert asked(question, tmp_path / "other") == result


def test_it_is_the_same_from_its_parameters_alone(
    question: ModuleType, result: Result, folder: Path
) -> None:
    parameters = json.loads(json.dumps(result.parameters))
    assert question.again(Study(folder), parameters) == result
