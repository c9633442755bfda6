"""Results are stored whole and found again; the newest counts."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Bar, Claim, Column, Figure, Part, Result, Series, Table
from faultatlas.data.provenance import Run
from faultatlas.data.study import Study

MOMENT = datetime(2024, 2, 29, 12)  # noqa: DTZ001  (stored as UTC without a zone)
law = settings(max_examples=30)


def run_at(hours: int) -> Run:
    return provenance.begin("analysis gap", {"evidence": "survey"}, MOMENT + timedelta(hours=hours))


def a_claim(claim_id: str, value: float | None = 47.9, **more: Any) -> Claim:
    return Claim(claim_id, "Symptoms — 47.9 % — “untargeted”", value, "%", "gap(): a.b", **more)


def a_result(name: str = "gap", *claims: Claim, **more: Any) -> Result:
    return Result("gap", name, "What nobody repairs", {}, claims=claims, **more)


FULL = Result(
    analysis="coverage-gap",
    name="coverage-gap-survey",
    title="Forschung und Praxis: 研究",
    parameters={"evidence": "survey", "threshold": 0.05, "projects": ["keras"], "since": None},
    summary=("One.", "Two."),
    claims=(
        a_claim("gap.untargeted", count=23, total=48, low=34.5, high=61.7, method="Wilson"),
        a_claim("gap.printed", 12.0, printed=12.5, status="near", reason="rounding"),
        a_claim("gap.unknown", None, status="no data"),
    ),
    tables=(
        Table(
            "faults",
            "Faults",
            (Column("code", "Code", "code"), Column("share", "Share", "percent")),
            (("shape/mismatch", 47.9), ("none", None), (True, 3), ("", -0.0)),
            note="*",
            folded=True,
        ),
        Table("empty", "Nothing", (), ()),
    ),
    figures=(
        Figure("a", "A", "shares", "A bar", bars=(Bar("x", (Part("y", 1), Part("z", 2))),)),
        Figure(
            "b",
            "B",
            "matrix",
            "A matrix",
            categories=("p", "q"),
            series=(Series("s", (1.5, None)),),
            unit="%",
        ),
    ),
    notes=("A note",),
    sources=("https://example.org/paper",),
    document={"faults": {"untargeted": {"percent": 47.9, "list": [1, None, "é"]}}},
)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


@pytest.mark.parametrize("result", [FULL, a_result()])
def test_a_result_comes_back_as_it_was_saved(study: Study, result: Result) -> None:
    provenance.save(study, result, run_at(0))
    with study.reading() as reader:
        found = provenance.latest(reader, result.name)
    assert found == result
    assert found.to_json() == result.to_json()
    assert hash(found.claims) == hash(result.claims)  # tuples all the way down, not lists


CELLS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DOCUMENTS = st.recursive(
    CELLS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


@law
@given(st.lists(st.tuples(CELLS, CELLS)), st.dictionaries(st.text(), DOCUMENTS))
def test_json_gives_back_any_table_and_document(
    rows: list[tuple[Any, Any]], document: dict[str, Any]
) -> None:
    columns = (Column("a", "A"), Column("b", "B", "number"))
    table = Table("t", "T", columns, tuple(rows))
    result = Result("gap", "gap", "T", document, tables=(table,), document=document)
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert result.table("t").records() == [{"a": a, "b": b} for a, b in rows]


def test_the_result_that_was_stored_last_wins_as_it_does_in_the_report(study: Study) -> None:
    for hours in (1, 3, 2):
        provenance.save(study, a_result(summary=(f"run {hours}",)), run_at(hours))
    with study.reading() as reader:
        assert provenance.latest(reader, "gap").summary == ("run 2",)
        kept = reader.rows("SELECT content->>'$.summary[0]' AS summary, is_latest FROM results")
    assert sorted((row["summary"], row["is_latest"]) for row in kept) == [
        ("run 1", False),
        ("run 2", True),
        ("run 3", False),
    ]


def test_claims_are_those_of_the_newest_result_of_each_name(study: Study) -> None:
    other = a_claim("other", 1.0)
    provenance.save(study, a_result("gap", a_claim("a", 1.0), a_claim("b", 2.0)), run_at(1))
    provenance.save(study, a_result("other", other), run_at(2))
    newest = run_at(3)
    provenance.save(study, a_result("gap", a_claim("a", 3.0), a_claim("c", None)), newest)
    with study.reading() as reader:
        claims = reader.rows("SELECT result, claim_id, value, run_id FROM claims ORDER BY claim_id")
    own = {"result": "gap", "run_id": newest.run_id}
    assert claims[:2] == [
        {**own, "claim_id": "a", "value": 3.0},
        {**own, "claim_id": "c", "value": None},
    ]
    assert [claim["claim_id"] for claim in claims] == ["a", "c", "other"]

    provenance.save(study, a_result("gap"), run_at(4))
    with study.reading() as reader:
        assert reader.rows("SELECT claim_id FROM claims") == [{"claim_id": "other"}]


def test_a_claim_has_its_fields_in_the_columns_of_the_view(study: Study) -> None:
    run = run_at(0)
    provenance.save(study, FULL, run)
    with study.reading() as reader:
        rows = {row["claim_id"]: row for row in reader.rows("SELECT * FROM claims")}
    own = {"result": FULL.name, "run_id": run.run_id}
    assert rows == {claim.claim_id: {**asdict(claim), **own} for claim in FULL.claims}


def test_the_run_is_stored_with_its_result(study: Study) -> None:
    run = run_at(0)
    provenance.save(study, FULL, run)
    with study.reading() as reader:
        [row] = reader.rows("SELECT analysis, outcome, run_id FROM results NATURAL JOIN runs")
        parameters = reader.value("SELECT parameters FROM results")
    assert row == {"analysis": "coverage-gap", "outcome": "ok", "run_id": run.run_id}
    assert json.loads(parameters) == FULL.parameters


def test_a_result_is_stored_with_all_its_claims_or_not_at_all(study: Study) -> None:
    twice = a_result("gap", a_claim("a"), a_claim("a"))
    with pytest.raises(duckdb.ConstraintException):
        provenance.save(study, twice, run_at(0))
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs") == 0
        assert provenance.names(reader) == []


def test_an_unknown_name_lists_the_known_ones(study: Study) -> None:
    for name in ("gap", "agreement", "gap"):
        provenance.save(study, a_result(name), run_at(0))
    with study.reading() as reader:
        assert provenance.names(reader) == ["agreement", "gap"]
        with pytest.raises(StudyError, match="no result 'gapp'") as raised:
            provenance.latest(reader, "gapp")
    assert raised.value.hint == "It has: agreement, gap."


def test_a_study_without_results_says_how_to_get_one(study: Study) -> None:
    with study.writing():
        pass
    with study.reading() as reader, pytest.raises(StudyError) as raised:
        provenance.latest(reader, "gap")
    assert "analysis coverage-gap" in raised.value.hint
