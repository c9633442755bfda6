"""The coverage gap with what a study adds: its papers, its labels, and what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from coded_papers import put_code, put_paper, study_at
from computed import coverage_gap, rows_of, stored
from labelling import Labelled
from scipy.stats import fisher_exact
from settled import put_final
from statsmodels.stats.multitest import multipletests

from faultatlas.analysis.coverage.earlier import earlier_run
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.results import Result
from faultatlas.data.study import Study

GPU = "2.L1"  # untargeted by the survey and by every shipped paper


def corpus(study: Study, **choice: Any) -> Result:
    return coverage_gap(study, evidence="corpus", **choice)


def entry(result: Result, code: str) -> dict[str, Any]:
    return next(each for each in result.data["catalogue"] if each["code"] == code)


def label(study: Study, counts: dict[str, int], round_name: str = "main") -> None:
    """So many artifacts more with each code of the fault taxonomy."""
    with study.writing() as writer:
        first = writer.value("SELECT count(*) FROM store.settlement")
        codes = [code for code, count in counts.items() for _ in range(count)]
        for number, code in enumerate(codes, first):
            put_final(
                writer, f"github:o/r#{number}", code, round_name=round_name,
                taxonomy="humbatova", version="1.0.0",
            )  # fmt: skip


def store(study: Study, result: Result) -> str:
    begun = provenance.begin("analysis coverage-gap", {})
    provenance.save(study, stored(result), begun)
    return begun.run_id


def rows(study: Study, sql: str | None) -> list[dict[str, Any]]:
    assert sql
    with study.reading() as reader:
        return reader.rows(sql)


# Papers.


def test_a_paper_of_the_study_targets_beside_the_shipped_ones(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    both, shipped = corpus(study), corpus(study, papers="shipped")
    assert entry(both, GPU)["papers"] == ["doi:10.1/own"]
    assert (entry(both, GPU)["survey"], entry(both, GPU)["corpus"]) == ("untargeted", "targeted")
    targeted = [each.by_id["faults.targeted"].count for each in (both, shipped)]
    assert targeted[0] == targeted[1] + 1
    assert shipped.name == "coverage-gap-corpus-papers-shipped"
    alone = corpus(study, papers="study")
    assert alone.by_id["faults.targeted"].count == 1
    assert "DeepShare" in str(rows_of(both, "faults"))
    # The survey's own result keeps its statuses, and shows the paper beside them.
    survey = coverage_gap(study)
    assert survey.quantities == coverage_gap(Study(tmp_path / "none")).quantities
    assert entry(survey, GPU)["papers"] == ["doi:10.1/own"]


def test_the_rows_of_a_claim_are_the_codes_of_the_papers_that_count(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    found = rows(study, corpus(study).quantities[0].query)
    assert {(row["artifact_id"], row["code"]) for row in found} == {
        ("doi:10.1/own", "2.L1"), ("doi:10.1/own", "T2.2"),
    }  # fmt: skip
    assert all(row["run_id"] for row in found)
    less = corpus(study, without=("DeepShare",))
    assert rows(study, less.quantities[0].query) == []
    assert corpus(study, papers="shipped").quantities[0].query == ""
    assert coverage_gap(study).quantities[0].query == ""  # the survey's statuses are shipped facts


def test_a_code_without_a_place_counts_as_support_of_its_own(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    with study.writing() as writer:
        paper = put_paper(writer, "doi:10.1/bare", "On parallel training")
        put_code(writer, paper, "humbatova", "2.L2")
        judge = put_paper(writer, "doi:10.1/judge", "How good are they?", "Doe, John")
        put_code(writer, judge, "humbatova", "2.L3", "evaluation")
    found = corpus(study)
    assert entry(found, "2.L2")["papers"] == ["doi:10.1/bare"]
    assert entry(found, "2.L3")["corpus"] == "untargeted"  # who evaluates targets nothing
    assert "Roe 2024" in str(rows_of(found, "faults"))
    explicit = corpus(study, support=("explicit",))
    assert (entry(explicit, GPU)["corpus"], entry(explicit, "2.L2")["corpus"]) == (
        "targeted", "untargeted",
    )  # fmt: skip
    assert entry(corpus(study, support=("unplaced",)), "2.L2")["corpus"] == "targeted"


def test_a_paper_that_screening_excluded_targets_nothing(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    labelled = Labelled(study)
    labelled.taxonomy({"include": "", "off-topic": ""}, name="sieve")
    labelled.round("titles", {"doi:10.1/own": {"a": "off-topic"}}, taxonomy="sieve")
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.screening (round, step, position, run_id) "
            "VALUES ('titles', 'title', 1, 'r')"
        )
        put_final(
            writer, "doi:10.1/own", "off-topic", round_name="titles", taxonomy="sieve",
            version="1.0.0",
        )  # fmt: skip
    found = corpus(study)
    assert entry(found, GPU)["corpus"] == "untargeted"
    assert any("1 coded papers were excluded" in note for note in found.notes)
    with pytest.raises(StudyError, match="no coded papers"):
        corpus(study, papers="study")


def test_a_shipped_paper_that_the_study_coded_too_counts_once(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        paper = put_paper(writer, "doi:10.1/fd", "DeepFD: Automated Diagnosis", "Cao, Jialun")
        put_code(writer, paper, "humbatova", GPU, "explicit")
    found = corpus(study)
    assert entry(found, GPU)["papers"] == ["deepfd"]
    assert len(found.data["corpus_papers"]) == len(
        corpus(study, papers="shipped").data["corpus_papers"]
    )
    assert rows(study, corpus(study, without=("DeepFD",)).quantities[0].query) == []


def test_what_papers_were_coded_with_is_no_label_of_practice(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    with pytest.raises(StudyError, match="no final labels"):
        coverage_gap(study, evidence="study")
    label(study, {GPU: 3, "1.1.L1": 1})
    found = coverage_gap(study, evidence="study")
    assert found.by_id["labels.untargeted"].n == 4
    assert (entry(found, GPU)["labels"], entry(found, GPU)["corpus"]) == (3, "targeted")


# Labels.


def test_labels_stand_beside_the_shipped_occurrences(tmp_path: Path) -> None:
    study = Study(tmp_path)
    label(study, {GPU: 3, "1.1.L1": 1})
    found = corpus(study)
    assert found.by_id["labels.untargeted"].count == 3
    claim = found.by_id["labels.untargeted"]
    listed = rows(study, claim.query)
    assert (len(listed), sum(row["counted"] for row in listed)) == (claim.n, claim.count) == (4, 3)
    shares = next(figure for figure in found.drawings() if figure.name == "shares")
    assert [bar.label for bar in shares.bars][-1] == "This study's labels"
    components = next(figure for figure in found.drawings() if figure.name == "components")
    assert components.series[-1].values[components.categories.index("GPU usage")] == 75
    label(study, {GPU: 1}, "pilot")
    own = coverage_gap(study, evidence="study", round="pilot")
    assert rows(study, own.by_id["labels.untargeted"].query)[0]["round"] == "pilot"


def test_labels_that_would_count_twice_leave_the_literature_as_it_is(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        for name in ("one", "two"):
            put_final(
                writer, "github:o/r#1", GPU, round_name=name, taxonomy="humbatova", version="1.0.0"
            )
    assert any("count twice" in note for note in coverage_gap(study).notes)
    assert entry(corpus(study, round="two"), GPU)["labels"] == 1


# Priority.


def test_untargeted_faults_are_ranked_in_each_source(tmp_path: Path) -> None:
    found = coverage_gap(Study(tmp_path))
    first = found.data["priority"][0]
    assert (first["code"], first["artifacts"], first["interviews"]) == ("5.4.1.L1", 11, 22)
    assert first["interviews_low"] < first["interviews_percent"] < first["interviews_high"]
    assert first["interviews_rank"] == "1 (1 to 3)"  # 22, before 17 and 14 of 226
    tied = [each for each in found.data["priority"] if "=" in (each["artifacts_rank"] or "")]
    assert len({each["artifacts"] for each in tied}) < len(tied)
    assert {each["code"] for each in found.data["priority"]} <= {
        each["code"] for each in found.data["catalogue"] if each["survey"] == "untargeted"
    }
    other = coverage_gap(Study(tmp_path), seed=2).data["priority"]
    assert [each["code"] for each in other] == [each["code"] for each in found.data["priority"]]


# What changed.


def test_what_became_targeted_is_told_with_the_paper(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    first = corpus(study)
    assert first.data["changes"] is None
    then = store(study, first)
    with study.writing() as writer:
        paper = put_paper(writer, "doi:10.1/new", "MemFix: Fitting models")
        put_code(writer, paper, "humbatova", "5.7.L3", "explicit")
    second = corpus(study, since=then)
    table = rows_of(second, "changes")
    assert [(row["change"], row["code"], row["papers"]) for row in table] == [
        ("became targeted", "5.7.L3", "MemFix"), ("new paper", "", ""),
    ]  # fmt: skip
    assert "1 fault became targeted (by MemFix); 1 new paper." in second.summary[-1]
    assert second.name == first.name
    # Back again: the fault loses its target with the paper.
    third = store(study, second)
    with study.writing() as writer:
        writer.execute("DELETE FROM store.paper WHERE artifact_id = 'doi:10.1/new'")
    lost = rows_of(corpus(study, since=third), "changes")
    assert [row["change"] for row in lost] == ["lost its target", "paper gone"]
    assert lost[0]["papers"] == "MemFix"


def test_growth_beyond_chance_is_told_from_chance(tmp_path: Path) -> None:
    study = Study(tmp_path)
    then_added = {GPU: (5, 30), "1.1.L1": (50, 40), "3.L1": (43, 30), "4.1.L1": (2, 0)}
    label(study, {code: before for code, (before, _) in then_added.items()})
    then = store(study, corpus(study))
    label(study, {code: added for code, (_, added) in then_added.items()})
    found = {row["code"]: row for row in corpus(study, since=then).data["changes"]["growth"]}
    p_values = [
        fisher_exact([[added, 100 - added], [before, 100 - before]])[1]
        for before, added in then_added.values()
    ]
    # What did not change is not listed, but is one of the tests.
    expected = dict(zip(then_added, multipletests(p_values, method="holm")[1], strict=True))
    del expected["4.1.L1"]
    assert {code: row["p_holm"] for code, row in found.items()} == pytest.approx(expected)
    assert found[GPU]["verdict"] == "grew"
    assert found[GPU]["difference"] == pytest.approx(25)
    assert 0 < found[GPU]["low"] < 25 < found[GPU]["high"]
    assert found["1.1.L1"]["verdict"] == "within chance"


def test_a_result_is_the_same_again_whatever_was_stored_since(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    label(study, {GPU: 2})
    then = store(study, corpus(study))
    label(study, {GPU: 1})
    found = corpus(study, since=then)
    store(study, found)
    assert found.arguments["since"] == then
    assert coverage_gap(study, json.loads(json.dumps(found.arguments))) == found


def test_without_the_earlier_result_the_rest_still_comes_out(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    found = corpus(study, since="20200101T000000000000Z-abcdef")
    assert any("cannot be told" in note for note in found.notes)
    assert found.quantities == corpus(study).quantities


def test_the_last_time_or_a_chosen_one_is_found(command: Any, tmp_path: Path) -> None:
    study = study_at(tmp_path)
    runs = [store(study, corpus(study)) for _ in range(2)]
    name = corpus(study).name
    with study.reading() as reader:
        assert earlier_run(reader, "coverage-gap-corpus-papers-study") is None  # the first time
        assert earlier_run(reader, name, runs[0]) == runs[0]
        assert earlier_run(reader, name, "2999-01-01") == runs[1]
        with pytest.raises(StudyError, match="no result 'coverage-gap-corpus' before 2020-01-01"):
            earlier_run(reader, name, "2020-01-01")
    # One that was killed while its report was drawn has shown nobody anything.
    killed = provenance.begin("analysis coverage-gap", {})
    provenance.save(study, stored(corpus(study)), killed, "running")
    with study.reading() as reader:
        assert earlier_run(reader, name) == runs[1]
        assert earlier_run(reader, name, killed.run_id) == killed.run_id
    ended = command("analysis", "coverage-gap", "--evidence", "corpus", "--json")
    found = json.loads(ended.stdout)
    assert found["arguments"]["since"] == found["data"]["changes"]["since"] == runs[1]
