"""`analysis claims`: numbers that a user binds in SQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from population import Population

from faultatlas.analysis.studies import own_claims
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study

pytestmark = pytest.mark.usual_opening

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    population = Population.at(tmp_path)
    population.issues("crash", "slow", "crash again")
    return Study(tmp_path)


def write(study: Study, text: str) -> None:
    (study.directory / "claims.toml").write_text(text, encoding="utf-8")


def test_values_and_shares_become_claims_with_rows(study: Study) -> None:
    write(
        study,
        """
[claims.issues]
statement = "Issues"
sql = "SELECT count(*) FROM issues;"
unit = "issues"
printed = 4

[claims.crash.share]
statement = "Issues that crash"
numerator = "SELECT count(*) FROM artifacts WHERE body LIKE 'crash%' -- those"
denominator = 3
printed = "66.7"
rows = "SELECT artifact_id, run_id FROM artifacts WHERE body LIKE 'crash%'"

[claims.mean]
statement = "Mean comments"
sql = "WITH c AS (SELECT comment_count FROM issues) SELECT avg(comment_count) FROM c WHERE false"
printed = "1.5"
""",
    )
    result = own_claims.run(study)
    assert result.summary[0] == (
        "Issues: 3 issues (not reproduced); Issues that crash: 66.7 %; Mean comments: no data."
    )
    issues, share, mean = result.claims
    assert (issues.claim_id, issues.value, issues.unit) == ("claims.issues", 3.0, "issues")
    assert (issues.status, issues.rows_query) == (
        "not reproduced",
        "SELECT * FROM issues ORDER BY ALL",
    )
    assert (share.claim_id, share.count, share.total) == ("claims.crash.share", 2, 3)
    assert (share.low, share.high) == pytest.approx((20.77, 93.85), abs=0.01)  # Wilson
    assert share.status == "reproduced"
    assert "run_id" in (share.rows_query or "")
    assert (mean.value, mean.status) == (None, "no data")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FILTER (WHERE state = 'open') FROM issues",
        "SELECT count(*) FROM issues HAVING count(*) > 1",
        "SELECT count(DISTINCT state) FROM issues",
        "SELECT count(*) FROM issues GROUP BY ALL",
    ],
)
def test_rows_are_derived_only_where_they_are_those_that_are_counted(
    sql: str, study: Study
) -> None:
    write(study, f'[claims.n]\nstatement = "N"\nsql = "{sql}"\n')
    assert own_claims.run(study).claims[0].rows_query == sql


BAD = {
    "SELEC 1": "syntax error",
    "SELECT 1; SELECT 2": "not one SELECT",
    "DELETE FROM issues": "not one SELECT",
    "COPY issues TO 'x.csv'": "not one SELECT",
    "SELECT count(*) FROM moon": "moon does not exist",
    "SELECT count(*) FROM store.issue": "it asks the table store.issue",
    "SELECT count(*) FROM runs": "it asks the table runs",
    "SELECT count(*) FROM claims": "it asks the table claims",
    "SELECT random()": "it asks random()",
    "SELECT epoch(now())": "it asks now()",
    "SELECT epoch(current_localtimestamp())": "it asks current_localtimestamp()",
    "SELECT count(*) FROM runs WHERE 1 IN (WITH runs AS (SELECT 1) FROM runs)": "the table runs",
    "SELECT count(*) FROM issues USING SAMPLE 1": "a sample of rows",
    "SELECT count(*) FROM read_text('/etc/passwd')": "disabled by configuration",
    "SELECT count(*) FROM '/etc/passwd'": "does not exist",
    "SELECT count(*) FROM duckdb_secrets()": "it asks duckdb_secrets()",
    "SELECT count(*) FROM query('SELECT 1')": "it asks query()",
    "DESCRIBE issues": "what tables there are",
    "SELECT title FROM issues LIMIT 1": "no number",
    "SELECT number FROM issues": "more than one row",
    "SELECT 1, 2": "2 columns",
    "SELECT 1 WHERE false": "no row",
    "SELECT 'x'::INTEGER": "Could not convert",
    "SELECT 1e308::DOUBLE * 10": "gives inf",
}  # fmt: skip


@pytest.mark.parametrize("sql", BAD)
def test_sql_that_cannot_be_a_claim_is_refused_by_name(sql: str, study: Study) -> None:
    write(study, f'[claims.bad-one]\nstatement = "Bad"\nsql = """{sql}"""\n')
    with pytest.raises(StudyError) as error:
        own_claims.run(study)
    assert "claim 'bad-one'" in error.value.message
    assert BAD[sql] in error.value.message
    assert error.value.hint


TWICE = """
[claims."a.b"]
statement = "One"
sql = "SELECT 1"
[claims.a.b]
statement = "Another"
sql = "SELECT 2"
"""


@pytest.mark.parametrize(
    ("printed", "sql", "status"),
    [
        ("<0.001", "SELECT 7.66e-21", "reproduced"),
        ("<0.001", "SELECT 0.0011", "not reproduced"),
        ("1,795", "SELECT 1795", "reproduced"),
        ("1,795", "SELECT 1796", "not reproduced"),
        ("~1,800", "SELECT 1795", "near"),
        ("1.79e-14", "SELECT 7.66e-21", "not reproduced"),
        ("1,000,000,001", "SELECT 1000000000", "not reproduced"),
        ("0.50", "SELECT 0.505", "reproduced"),
        ("0.50", "SELECT 0.5151", "not reproduced"),
    ],
)
def test_a_printed_number_is_read_with_its_digits_and_its_sign(
    printed: str, sql: str, status: str, study: Study
) -> None:
    write(study, f'[claims.n]\nstatement = "N"\nsql = "{sql}"\nprinted = "{printed}"\n')
    (claim,) = own_claims.run(study).claims
    assert claim.status == status


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no claims"),
        ("[claims", "is no TOML"),
        ("[other]\nx = 1", "does not know 'other'"),
        ("[claims]\nx = 1", "claim 'x' is no table"),
        ('[claims.X]\nstatement = "s"\nsql = "SELECT 1"', "'X' cannot be called that"),
        ('[claims.x]\nsql = "SELECT 1"', "'x' has no statement"),
        ('[claims.x]\nstatement = "s"', "neither a value nor a share"),
        ('[claims.x]\nstatement = "s"\nnumerator = 1', "neither a value nor a share"),
        ('[claims.x]\nstatement = "s"\nsql = "SELECT 1"\nsqll = "y"', "does not know 'sqll'"),
        ('[claims.x]\nstatement = "s"\nsql = "SELECT 1"\nprinted = "many"', "is no number"),
        ('[claims.x]\nstatement = "s"\nsql = "SELECT 1"\nprinted = 46.90', "without quotes"),
        ('[claims.x]\nstatement = "s"\nsql = "SELECT 1"\nprinted = "5 %"', "printed in percent"),
        (f"[claims.x]\nsql = {'9' * 5000}", "is no TOML"),
        (TWICE, "claim 'a.b' is there twice"),
        ('[claims.x]\nstatement = "s"\nsql = 5', "sql of claim 'x' is no text"),
        ('[claims.x]\nstatement = "s"\nnumerator = 3\ndenominator = 2', "no share: 3.0 of 2.0"),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_message(
    text: str, said: str, study: Study
) -> None:
    write(study, text)
    with pytest.raises(StudyError) as error:
        own_claims.run(study)
    assert said in error.value.message


def test_without_a_file_the_next_step_is_told(study: Study, command: Command) -> None:
    done = command("analysis", "claims")
    assert (done.returncode, study.exists) == (1, True)
    assert done.stderr.startswith("error: there is no claims.toml\n")
    assert "[claims.open-defects]" in done.stderr


def test_the_result_holds_its_own_sql(study: Study, command: Command) -> None:
    write(study, '[claims.n]\nstatement = "N"\nsql = "SELECT count(*) FROM issues"\n')
    document = json.loads(command("analysis", "claims", "--json").stdout)
    assert document["numbers"]["n"]["value"] == 3
    (study.directory / "claims.toml").unlink()
    again = own_claims.again(study, document["parameters"])
    assert again.claims[0].value == 3
