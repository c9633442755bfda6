"""`analysis reproducibility`: what it prints, stores, and leads back to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from executed import content_of, judged, made_bug, made_run, made_runs, new_study, put
from undrawn import undrawn

from faultatlas.analysis.reexecution.bugs import Fidelity
from faultatlas.analysis.reexecution.drawing import draw
from faultatlas.analysis.reexecution.runs import RAN, Isolation, Outcome
from faultatlas.analysis.reexecution.storing import register, store
from faultatlas.analysis.studies import reproducibility
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget
from faultatlas.report import formatting
from faultatlas.report.claims.check import number
from faultatlas.report.claims.trace import trace
from faultatlas.report.package.contents import Omitted, Options, cleaned_tables
from faultatlas.report.package.people import Cleaner
from faultatlas.report.pages import render
from faultatlas.report.sections import signs_of_reexecution
from faultatlas.report.sections.reexecution import STARTED

Command = Callable[..., CompletedProcess[str]]
VERDICTS = ["verified", "verified", "reproduced", "not reproduced", "flaky", "invalid", None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen bugs, twelve of them attempted; a sample of all in strata."""
    study = new_study(tmp_path_factory.mktemp("made") / "study")
    bugs = [
        made_bug(
            f"set/{at:02}",
            "keras" if at < 7 else "pytorch",
            claimed_verdict="verified" if at % 2 else "",
            fidelity=(Fidelity.REPAIRED,) if at == 3 else (Fidelity.DECLARED,),
            labels={"about_gpu": at == 5},
        )
        for at in range(14)
    ]
    register(study, bugs, content_of=content_of)
    draw(study, 14, ("framework",), 5)
    put(study, zip(bugs, VERDICTS * 2, strict=True))
    return study.directory


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Study:
    return Study(undrawn(Path(shutil.copytree(made, tmp_path / "study"))))


@pytest.fixture(scope="module")
def result(made: Path) -> Result:
    return reproducibility.run(Study(made))


def test_every_rate_is_a_claim_with_its_rows(result: Result, made: Path) -> None:
    claims = {claim.claim_id.removeprefix(f"{result.name}."): claim for claim in result.claims}
    assert {
        "verified",
        "reproduced",
        "not-reproduced",
        "flaky",
        "invalid",
        "infrastructure",
    } <= set(claims)
    with Study(made).reading() as reader:
        for claim in claims.values():
            if claim.rows_query is not None:
                assert len(reader.rows(claim.rows_query)) == claim.count
    assert claims["verified"].total == 12
    assert claims["as-claimed"].total == 6
    assert claims["published.stackoverflow"].status == "inconsistent"


def test_the_document_holds_what_claims_ask_for(result: Result) -> None:
    for claim in result.claims:
        value = result.document
        for part in claim.query.partition(": ")[2].split("."):
            value = value[part]
        assert value == claim.value


def test_tables_say_what_happened(result: Result) -> None:
    rates = {row["rate"]: row["count"] for row in result.table("rates").records()}
    assert rates == {
        "Reproduced": 6, "Verified": 4, "Not reproduced": 2, "Flaky": 2, "Invalid": 2,
        "Infrastructure": 0,
    }  # fmt: skip
    reasons = {
        (row["verdict"], row["reason"]): row["count"] for row in result.table("reasons").records()
    }
    assert reasons[("invalid", "missing dependency")] == 2
    assert sum(count for count in reasons.values() if isinstance(count, int)) == 12
    strata = result.table("strata").records()
    assert [(row["stratum"], row["frame"], row["tried"]) for row in strata] == [
        ("keras", 7, 6),
        ("pytorch", 7, 6),
    ]
    bugs = {row["bug"]: row for row in result.table("bugs").records()}
    assert "set/06" not in bugs
    assert "2 more bugs were not attempted (-v lists them)" in result.table("bugs").note
    left = result.table("not-attempted")
    assert [row["bug"] for row in left.records()] == ["set/06", "set/13"]
    assert left.folded  # a terminal lists them with -v only
    assert (bugs["set/01"]["buggy"], bugs["set/01"]["fixed"]) == ("3/3", "0/3")
    assert bugs["set/01"]["detail"] == "verified for a test"
    assert bugs["set/03"]["fidelity"] == "declared, repaired" or "repaired" in str(
        bugs["set/03"]["fidelity"]
    )


def test_notes_name_the_threats(result: Result) -> None:
    notes = "\n".join(result.notes)
    for words in (
        "repaired 1 of 12",
        "ran on a CPU, and 1 of the bugs is about a GPU",
        "bubblewrap 12",
        "2 bugs of the sample have no settled verdict",
        "By stratum: keras 1 of 7, pytorch 1 of 7.",
        "if none or all of them could be reproduced, the rate would be 42.9\N{EN DASH}57.1 %",
        "finite frame",
        "prepared",
    ):
        assert words in notes


def test_a_census_and_a_choice_are_told_apart(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    first, second = made_bug("set/a"), made_bug("set/b")
    put(study, [(first, "verified"), (second, None)])
    assert "No sample was drawn" in "\n".join(reproducibility.run(study).notes)
    put(study, [(second, "verified")])
    assert "no error of sampling" in "\n".join(reproducibility.run(study).notes)


def test_a_result_without_a_sample_stays_what_it_was_when_one_is_drawn(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    bugs = [made_bug(f"set/{at}") for at in range(4)]
    put(study, zip(bugs, ["verified", "invalid", "invalid", None], strict=True))
    before = reproducibility.run(study)
    assert before.parameters == {"set": ["set"]}
    draw(study, 2)
    after = reproducibility.again(study, before.parameters)
    assert (after.name, after.claims) == (before.name, before.claims)


def test_bugs_that_come_with_the_program_are_never_taken_for_others(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    put(study, [(made_bug("shipped/a"), "verified"), (made_bug("set/b"), "invalid")])
    words = "say nothing about bugs of others"
    assert words not in " ".join(reproducibility.run(study).summary)
    summary = reproducibility.run(study, sets=["shipped"]).summary
    assert summary[0].startswith("Of 1 demonstration bug of shipped, 1 was attempted")
    own = " ".join(summary)
    assert "A demonstration bug comes with the program" in own
    both = reproducibility.run(study, sets=["shipped", "set"])
    assert "1 of the attempts is a demonstration bug, which comes with the program" in " ".join(
        both.summary
    )
    assert (
        "No attempt counts as one of a bug from GitHub or Stack Overflow"
        in both.table("published").note
    )
    for name in ("GitHub bugs reproduced", "Posts reproduced", "Fixes verified"):
        assert _published(both, name)["ours"] is None


def test_the_papers_share_of_verified_fixes_is_that_of_bugs_from_github(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    verdicts = ["verified", "reproduced", "reproduced", "invalid"]
    bugs = [made_bug(f"set/{at}", source="github") for at in range(4)]
    posts = [made_bug(f"set/post-{at}", source="stackoverflow") for at in range(3)]
    put(study, zip(posts, ["verified"] * 3, strict=True))
    row = _published(reproducibility.run(study), "Fixes verified")
    assert (row["ours"], row["ours_counts"]) == (None, None)  # posts say nothing about GitHub
    put(study, zip(bugs, verdicts, strict=True))
    result = reproducibility.run(study)
    row = _published(result, "Fixes verified")
    assert row["ours"] == pytest.approx(100 / 3)
    assert row["ours_counts"] == "1 of 3 verified among reproduced bugs from GitHub"
    assert "tests of the project itself" in " ".join(result.notes)


def _published(result: Result, name: str) -> dict[str, object]:
    table = result.table("published")
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    return next(row for row in rows if row["rate"] == name)


def test_a_page_shows_the_six_rates_large_and_no_reason(result: Result) -> None:
    shown = [claim.claim_id.rpartition(".")[2] for claim in result.claims[: result.headlines]]
    assert shown == [
        "reproduced", "verified", "not-reproduced", "flaky", "invalid", "infrastructure",
    ]  # fmt: skip
    assert Result.from_json(result.to_json()).headlines == 6
    html = render(result, {})
    assert html.count('class="card"') == 6


def test_weighted_numbers_say_so(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    few = [made_bug(f"set/k{at}", "keras") for at in range(2)]
    many = [made_bug(f"set/p{at}", "pytorch") for at in range(10)]
    register(study, [*few, *many], content_of=content_of)
    draw(study, 12, ("framework",))
    put(study, [*((bug, "verified") for bug in few), (many[0], "verified"), (many[1], "invalid")])
    result = reproducibility.run(study)
    claim = next(each for each in result.claims if each.claim_id.endswith(".reproduced"))
    assert (claim.count, claim.total) == (3, 4)
    assert claim.value == pytest.approx(100 * (2 / 12 + 10 / 12 * 0.5))
    assert "weighted by stratum" in claim.statement
    assert number(claim).endswith("; weighted, 3 of 4)")
    (figure, _) = result.figures
    assert "weighted by stratum" in figure.title
    assert "weighted by stratum" in figure.description
    assert figure.series[0].label == "Share of attempts, weighted by stratum"


def test_what_never_started_is_no_run_and_was_kept_from_nothing(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    gpu, other = made_bug("set/gpu", labels={"about_gpu": True}), made_bug("set/other")
    put(study, [(other, "verified")])
    idle = made_run(gpu, outcome=Outcome.NO_INTERPRETER)
    store(study, [idle], [judged(gpu, "infrastructure", "device")])
    result = reproducibility.run(study)
    runs = {row["bug"]: row["runs"] for row in result.table("bugs").records()}
    assert runs == {"set/gpu": 0, "set/other": 6}
    assert "Isolation of the runs, by bugs: bubblewrap 1, 1 not started." in result.notes


def test_what_happened_is_not_the_rest(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    put(study, [(made_bug("set/a"), "reproduced"), (made_bug("set/b"), "invalid")])
    (rest,) = (line for line in reproducibility.run(study).summary if "The rest" in line)
    assert rest == "The rest is invalid: missing dependency (1)."


def test_a_forgotten_bug_leaves_the_frame_and_that_is_said(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    issue = "https://github.com/Example/Lib/issues/7"
    bugs = [made_bug("set/a", url=issue), made_bug("set/b"), made_bug("set/c")]
    put(study, [(bug, "verified") for bug in bugs])
    draw(study, 3)
    before = reproducibility.run(study)
    assert "forgotten since" not in "\n".join(before.notes)
    forget(study, "github:example/lib#7")
    after = reproducibility.again(study, before.parameters)
    assert after.document["frame"] == 2
    assert "1 bug of the frame as it was drawn is forgotten since" in "\n".join(after.notes)


def test_strata_with_no_or_one_attempt_are_said(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    bugs = [made_bug(f"set/{at}", "abbccc"[at]) for at in range(6)]
    verdicts = [None, "verified", None, "verified", "invalid", "invalid"]
    register(study, bugs, content_of=content_of)
    draw(study, 6, ("framework",))
    put(study, zip(bugs, verdicts, strict=True))
    found = reproducibility.run(study)
    notes = "\n".join(found.notes)
    assert "1 stratum with 16.7 % of the frame has no attempt" in notes
    assert "1 stratum with one attempt" in notes
    summary = " ".join(found.summary)
    assert "4 were attempted: weighted by stratum, 60.0 %" in summary
    assert "1 stratum with 16.7 % of the bugs has no attempt" in summary
    assert [column.title for column in found.table("rates").columns][3] == "Weighted share"
    remarks = {row["stratum"]: row["said"] for row in found.table("strata").records()}
    assert remarks == {"a": "none attempted", "b": "one attempt", "c": ""}


def test_what_never_started_was_not_without_isolation(tmp_path: Path) -> None:
    study, bug = new_study(tmp_path / "study"), made_bug("set/a")
    never = made_run(bug, outcome=Outcome.NO_INTERPRETER, isolation=Isolation("none"))
    store(study, [never], [judged(bug, "infrastructure", "interpreter")])
    assert "Without isolation" not in "\n".join(reproducibility.run(study).notes)
    with study.reading() as reader:
        assert reader.rows(signs_of_reexecution._OPEN) == []  # noqa: SLF001
        assert reader.value("SELECT isolations FROM verdicts") == []
        assert all(f"'{outcome}'" in STARTED for outcome in set(Outcome) - RAN)


def test_a_measured_symptom_is_not_counted(tmp_path: Path) -> None:
    study, slow, crash = new_study(tmp_path / "study"), made_bug("set/a"), made_bug("set/b")
    put(study, [(crash, "verified")])
    measured = judged(slow, rule="mann-whitney", buggy_runs=5, buggy_shown=0, fixed_runs=5,
                      effect=0.96)  # fmt: skip
    store(study, [made_run(slow)], [measured])
    table = reproducibility.run(study).table("bugs")
    rows = {row["bug"]: (row["buggy"], row["fixed"], row["effect"]) for row in table.records()}
    assert rows == {"set/a": (None, None, 0.96), "set/b": ("3/3", "0/3", None)}
    assert "A dash: it was measured (see A12, how often the fixed side is better), or no run" in (
        table.note
    )


def test_verdicts_that_authors_do_not_name_are_told_by_name(result: Result) -> None:
    (said,) = (line for line in result.summary if "author says" in line)
    assert said == (
        "2 of 6 verdicts are what the artifact's author says; not so set/03 (not reproduced, "
        "claimed verified), set/05 (invalid, claimed verified), set/09 (reproduced, claimed "
        "verified), set/11 (flaky, claimed verified)."
    )


def test_a_sample_without_strata_is_not_called_weighted(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    put(study, [(made_bug(f"set/{at}"), "verified") for at in range(3)])
    draw(study, 2)
    found = reproducibility.run(study)
    assert "weighted" not in " ".join(found.summary)
    assert not any("Korn" in source for source in found.sources)
    rates = found.table("rates")
    effective = next(at for at, each in enumerate(rates.columns) if each.key == "effective")
    assert formatting.cell(rates.rows[0][effective], rates.columns[effective].kind) == "2"
    published = found.table("published")
    assert len(published.columns) <= 10
    assert [row["status"] for row in published.records()] == [
        "arithmetic holds",
        "inconsistent",
        "arithmetic holds",
    ]


def test_a_run_without_isolation_and_an_old_oracle_are_said(tmp_path: Path) -> None:
    from dataclasses import replace

    from faultatlas.analysis.reexecution.bugs import Oracle, Symptom

    study, bug = new_study(tmp_path / "study"), made_bug("set/a")
    store(study, [made_run(bug, isolation=Isolation("none", network=True))], [judged(bug)])
    other = replace(bug, oracle=Oracle(Symptom.HANG))
    register(study, [other], content_of=content_of)
    notes = "\n".join(reproducibility.run(study).notes)
    assert "Without isolation a run may have seen the host" in notes
    assert "--judge-again" in notes


def test_the_command_stores_a_result_that_traces_to_verdicts_and_runs(
    study: Study, command: Command
) -> None:
    done = command("analysis", "reproducibility", "--study", study.directory, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["attempts"] == 12
    found = trace(study, f"{said['result']}.verified", most=3)
    assert found.rows is not None
    assert found.rows.count == 4
    assert found.rows.first[0]["verdict"] == "verified"
    assert found.origins["executions"].count == 24
    assert found.problem == ""


def test_a_terminal_of_80_columns_shows_every_number(
    study: Study, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--stratify", "framework")
    done = command("analysis", "reproducibility", "--study", study.directory, *words)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Not shown" not in done.stdout
    for words in ("Published rates beside ours", "inconsistent", "3.34 %", "not reproduced"):
        assert words in done.stdout


def test_the_report_has_a_section_of_its_own(study: Study, command: Command) -> None:
    for words in (("analysis", "reproducibility", "-q"), ("report", "build", "-q")):
        done = command(*words, "--study", study.directory)
        assert done.returncode == 0, done.stderr
    page = (study.directory / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert '<h2 id="re-execution"' in page or 'id="re-execution"' in page
    assert "Not what the reporters ran" in page
    assert "14 bugs, 12 with a verdict from 72 runs." in page
    with study.reading() as reader:
        assert (
            reader.value("SELECT value FROM claims WHERE claim_id = 'study.re-execution.bugs'")
            == 14
        )


def test_the_section_counts_runs_that_were_started_and_verdicts_that_are_settled(
    study: Study, command: Command
) -> None:
    unsettled, missing = made_bug("set/x"), made_bug("set/y")
    register(study, [unsettled, missing], content_of=content_of)
    runs = [made_run(missing, seed=seed, outcome=Outcome.NO_ENVIRONMENT) for seed in (1, 2)]
    store(
        study,
        [*runs, *made_runs(unsettled)],
        [
            judged(unsettled, "flaky", "disagreement", wanted=10),
            judged(missing, "infrastructure", "host", wanted=3),
        ],
    )
    done = command("report", "build", "-q", "--study", study.directory)
    assert done.returncode == 0, done.stderr
    page = (study.directory / "out" / "report" / "index.html").read_text(encoding="utf-8")
    told = (
        "16 bugs, 13 with a verdict from 78 runs. 1 more bug wanted further runs before a verdict"
    )
    assert told in page
    with study.reading() as reader:
        rows = reader.rows("SELECT claim_id, value FROM claims WHERE claim_id LIKE '%.re-exec%'")
    found = {row["claim_id"].removeprefix("study.re-execution."): row["value"] for row in rows}
    assert (found["judged"], found["runs"], found["verdict.flaky"]) == (13, 78, 2)


def test_a_package_holds_no_place_of_the_host_and_gives_the_same_result(
    study: Study, result: Result, tmp_path: Path
) -> None:
    bug = made_bug("set/00", "keras")
    with study.writing() as writer:  # as an older version might have stored it
        writer.execute(
            "UPDATE store.verdict SET detail = 'seen at /home/ann/x/train.py by ann@example.org' "
            "WHERE bug_id = 'set/00'"
        )
        writer.execute(
            "UPDATE store.execution SET problem = 'no /home/ann/.cache/x/y', "
            "versions = '{\"a\": \"/home/ann/wheels/a.whl\"}' WHERE bug_id = 'set/00'"
        )
    copy = new_study(tmp_path / "copy")
    with study.reading() as reader, copy.writing() as writer:
        for name, rows in cleaned_tables(reader, Cleaner(), Options(), Omitted()):
            if name in {"bug", "bug_draw", "bug_sample", "execution", "verdict", "run"}:
                said = repr(rows.to_pylist())
                assert "/home/ann" not in said
                assert "/root" not in said
                assert "ann@example.org" not in said
                arrow_rows.insert(writer, f"store.{name}", rows)
    packed = reproducibility.again(copy, result.parameters)
    assert packed.claims == result.claims
    assert bug.title not in repr(packed)


def test_two_studies_are_united(tmp_path: Path, command: Command) -> None:
    ours, theirs = new_study(tmp_path / "ours"), new_study(tmp_path / "theirs")
    both, here, there = made_bug("set/both"), made_bug("set/here"), made_bug("set/there")
    put(ours, [(both, "infrastructure"), (here, "verified")])
    put(theirs, [(both, "verified"), (there, "invalid")])
    store(theirs, [made_run(both, seed=9)], [])
    draw(theirs, 2)
    for count in (2, 0):
        done = command("miner", "merge", theirs.directory, "--study", ours.directory, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"].get("verdict", 0) == count
        assert json.loads(done.stdout)["left_out"] == {}
        assert ("copy the folders bugs and reexecution" in done.stderr) == (count > 0)
    with ours.reading() as reader:
        found = reader.rows("SELECT bug_id, verdict FROM verdicts ORDER BY bug_id")
        assert [tuple(row.values()) for row in found] == [
            ("set/both", "verified"),
            ("set/here", "verified"),
            ("set/there", "invalid"),
        ]
        assert reader.value("SELECT count(*) FROM executions") == 6 + 6 + 6 + 1
        assert reader.value("SELECT count(*) FROM bug_samples") == 2
    assert len(made_runs(both)) == 6
