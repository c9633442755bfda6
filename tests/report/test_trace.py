"""`report trace`: from a number back to rows, runs and what the sources answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from loopback import TOKEN, World, serving
from undrawn import undrawn

from faultatlas.data import provenance
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study
from faultatlas.report.claims.trace import trace
from faultatlas.report.formatting import minute

pytestmark = pytest.mark.usual_opening

Command = Callable[..., CompletedProcess[str]]

SHEET = (
    "URL,rater_1,rater_2,Final_label\n"
    "https://github.com/example/tensors/issues/1,A1,E1,A1\n"
    "https://github.com/example/tensors/issues/2,E1,E1,E1\n"
    "https://github.com/never/mined/issues/7,E1,E1,E1\n"
)
OWN = """
[claims.final-e1]
statement = "Items that are E1"
numerator = "SELECT count(*) FROM final_labels WHERE code = 'E1'"
denominator = "SELECT count(*) FROM final_labels"

[claims.fetched]
statement = "Issues"
sql = "SELECT count(*) FROM issues"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return undrawn(tmp_path_factory.mktemp("study"))


@pytest.fixture
def study(made: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Issues that were fetched, labels of a sheet, and numbers of both; made once."""
    monkeypatch.setenv("STUDY", str(made))
    if Study(made).exists:
        return made
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    (made / "sheet.csv").write_text(SHEET, encoding="utf-8")
    (made / "claims.toml").write_text(OWN, encoding="utf-8")
    with serving(World.small()) as server:
        calls: tuple[tuple[Any, ...], ...] = (
            ("miner", "fetch", "example/tensors", "--api-url", server.url),
            ("annotation", "import", "hp", made / "sheet.csv", "--item", "URL", "--rater-columns",
             "rater_*", "--final", "Final_label", "--taxonomy", "hp-defects"),
            ("annotation", "agreement", "hp", "--resamples", "0"),
            ("annotation", "adjudicate", "hp", "--accuracy"),
            ("annotation", "taxonomy", "saturation", "hp"),
            ("analysis", "claims"),
            ("analysis", "coverage-gap"),
        )  # fmt: skip
        for call in calls:
            done = command(*call, "-q")
            assert done.returncode == 0, done.stderr
    return made


def traced(command: Command, *words: Any) -> dict[str, Any]:
    done = command("report", "trace", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["data"]  # type: ignore[no-any-return]


@pytest.mark.usefixtures("study")
def test_a_share_leads_to_labels_sheet_rows_runs_and_responses(command: Command) -> None:
    found = traced(command, "claims.final")
    assert (found["claim"]["count"], found["claim"]["total"]) == (2, 3)
    assert found["claim"]["latex"] == r"\FAclaimsFinalEOne"
    assert found["result"]["analysis"] == "claims"
    assert found["run"]["command"] == "analysis claims"
    assert found["rows"]["count"] == 2
    assert {row["code"] for row in found["rows"]["first"]} == {"E1"}
    places = {row["place"] for row in found["origins"]["items"]["first"]}
    assert places == {"sheet.csv row 3", "sheet.csv row 4"}
    assert "sheet.csv row 3 rater 1" in {
        row["origin"] for row in found["origins"]["labels"]["first"]
    }
    (response,) = found["origins"]["responses"]["first"]
    assert "/repos/example/tensors/issues" in response["url"]
    assert response["status"] == 200
    assert response["fetched_at"]
    assert [run["command"] for run in found["runs"]] == ["miner fetch", "annotation import"]
    assert found["never_mined"] == 1


@pytest.mark.usefixtures("study")
def test_rows_of_a_source_lead_to_its_responses(command: Command) -> None:
    found = traced(command, r"\FAclaimsFetched", "--rows", 1)
    assert found["rows"]["count"] == found["claim"]["value"]
    assert len(found["rows"]["first"]) == 1
    assert found["origins"]["responses"]["count"] >= 1
    assert [run["command"] for run in found["runs"]] == ["miner fetch"]


@pytest.mark.usefixtures("study")
def test_as_many_labels_stand_behind_a_number_of_raters_as_it_counts(command: Command) -> None:
    for claim_id, rows in (
        ("agreement-hp.cohen", 6),
        ("agreement-hp.pair.rater_1~rater_2", 6),
        ("accuracy-hp.rater_2.percent", 3),
        ("saturation-hp.codes", 6),
    ):
        found = traced(command, claim_id)
        assert found["problem"] == ""
        assert found["rows"]["count"] == rows
        assert found["origins"]["labels"]["count"]


@pytest.mark.usefixtures("study")
def test_shipped_facts_lead_to_what_they_cite(command: Command) -> None:
    found = traced(command, "coverage-gap.faults.untargeted")
    assert found["rows"] is None
    assert any("Survey on Debugging" in source for source in found["sources"])


@pytest.mark.usefixtures("study")
def test_a_terminal_shows_every_step(command: Command) -> None:
    shown = " ".join(command("report", "trace", "claims.final-e1").stdout.split())
    for words in (
        "claims.final-e1: 66.7 % (20.8\N{EN DASH}93.9 %; 2 of 3)",
        "Items that are E1",
        "SELECT * FROM final_labels WHERE (code = 'E1')",
        "Rows behind it: 2",
        "Written by",
        "Responses of sources: 1",
        "1 artifact is known by id only",
    ):
        assert words in shown
    facts = command("report", "trace", "coverage-gap.faults.untargeted").stdout
    assert "shipped facts" in facts


@pytest.mark.usefixtures("study", "in_kolkata")
def test_the_run_is_told_by_the_clock_on_the_wall_and_in_json_in_utc(command: Command) -> None:
    started = traced(command, "claims.final-e1")["run"]["started_at"]
    assert started.endswith("Z")
    shown = " ".join(command("report", "trace", "claims.final-e1").stdout.split())
    assert f", {minute(started)} " in shown
    assert minute(started).endswith(" IST")


@pytest.mark.usefixtures("study")
def test_what_is_not_there_is_answered_with_what_is(command: Command) -> None:
    done = command("report", "trace", "claims.final-e2")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the study has no claim 'claims.final-e2'\nDid you mean")
    assert "claims.final-e1" in done.stderr
    done = command("report", "trace", "claims.f")
    assert "2 claims begin with 'claims.f'" in done.stderr


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM store.run", "it asks the table store.run"),
        ("SELECT * FROM read_csv('/etc/passwd')", "file system operations are disabled"),
        ("DROP VIEW issues", "not one SELECT"),
        # Only the last row cannot be listed.
        ("SELECT (n + 1)::UTINYINT AS n FROM range(256) AS t(n)", "does not work"),
        ("SELECT title FROM issues WHERE 1 / (number - number) > 'x'", "does not work"),
    ],
)
def test_a_hostile_or_broken_query_of_a_stored_claim_is_not_run(
    sql: str, said: str, tmp_path: Path, command: Command
) -> None:
    odd = Claim("x.y", "Odd", 1.0, "", "x(): y", rows_query=sql)
    result = Result("x", "x", "X", {}, claims=(odd,))
    provenance.save(Study(tmp_path), result, provenance.begin("test", {}))
    found = traced(command, "x.y")
    assert said in found["problem"]
    assert found["rows"] is None
    assert "cannot be listed" in command("report", "trace", "x.y").stdout


def test_rows_of_a_package_lead_to_its_files_and_the_run_that_imported_it(tmp_path: Path) -> None:
    study = Study(tmp_path)
    run = provenance.begin("analysis replicate", {})
    sql = "SELECT package, file, line, run_id FROM package_rows WHERE line > 1 ORDER BY ALL"
    claim = Claim("x.y", "Rows", 2.0, "", "x(): y", rows_query=sql)
    provenance.save(study, Result("x", "x", "X", {}, claims=(claim,)), run)
    with study.writing() as writer:
        for name in ("a.csv", "b.csv"):
            file = f"'zoo', '{name}'"
            writer.execute(
                f"INSERT INTO store.package_file VALUES ({file}, 'd', 9, '{run.run_id}')"
            )
        writer.execute(
            "INSERT INTO store.package_row SELECT 'zoo', 'a.csv', '', line, '[]', "
            f"'{run.run_id}' FROM range(1, 4) AS t(line)"
        )
    found = trace(study, "x.y", most=5)
    assert found.rows is not None
    assert found.rows.count == 2
    assert [file["file"] for file in found.origins["files"].first] == ["a.csv"]
    assert [(each["command"], each["rows"]) for each in found.runs] == [("analysis replicate", 2)]


def test_a_query_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) FROM t"
    endless = Claim("x.y", "Endless", 1.0, "", "x(): y", rows_query=sql)
    study = Study(tmp_path)
    result = Result("x", "x", "X", {}, claims=(endless,))
    provenance.save(study, result, provenance.begin("test", {}))
    monkeypatch.setattr("faultatlas.data.queries.LONGEST_S", 0.3)
    assert "needs more than 0.3 s" in trace(study, "x.y", most=5).problem


@pytest.mark.usefixtures("study")
def test_columns_that_are_called_like_keys_and_are_none_do_no_harm(
    made: Path, command: Command
) -> None:
    sql = (
        "SELECT 1 AS artifact_id, 2 AS run_id, 3 AS response_id, [4] AS round, 5 AS item_id, "
        "'nan'::DOUBLE AS number"
    )
    own = Claim("odd.keys", "Odd", 1.0, "", "odd(): keys", rows_query=sql)
    alone = Claim("odd.origin", "Odd", 1.0, "", "odd(): o", rows_query="SELECT 'x' AS origin")
    result = Result("odd", "odd", "Odd", {}, claims=(own, alone))
    provenance.save(Study(made), result, provenance.begin("test", {}))
    found = traced(command, "odd.keys")
    assert (found["problem"], found["rows"]["count"], found["origins"]) == ("", 1, {})
    assert found["rows"]["first"][0]["number"] == "nan"  # JSON has none
    assert traced(command, "odd.origin")["rows"]["first"] == [{"origin": "x"}]
