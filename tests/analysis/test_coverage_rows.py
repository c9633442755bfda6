"""What the coverage gap counts once, and that the rows of a claim are as many as it counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from coded_papers import put_code, put_paper, study_at
from computed import coverage_gap, rows_of, stored
from settled import put_final

from faultatlas.analysis.coverage.corpus import shipped_corpus
from faultatlas.data import evidence, provenance
from faultatlas.data.results import Result
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

GPU = "2.L1"  # untargeted by the survey and by every shipped paper
LAYER = "1.1.L1"  # targeted
DEEPFD = "Deepfd: automated fault diagnosis and localization for deep learning programs"


def entry(result: Result, code: str) -> dict[str, Any]:
    return next(each for each in result.data["catalogue"] if each["code"] == code)


def label(study: Study, artifact: str, *codes: str, version: str = "1.0.0", **where: str) -> None:
    """A final label of an artifact, with several codes if there are."""
    with study.writing() as writer:
        put_final(writer, artifact, codes[0], version=version, **{"taxonomy": "humbatova", **where})
        writer.execute(
            "UPDATE store.settlement SET codes = ? WHERE artifact_id = ?", [list(codes), artifact]
        )


def own_version(study: Study, version: str) -> None:
    """A copy of the fault taxonomy in the study's folder, as a later version."""
    text = TaxonomyLibrary().taxonomy("humbatova").path.read_text(encoding="utf-8")
    text = text.replace('version: "1.0.0"', f'version: "{version}"', 1)
    folder = study.directory / "taxonomies"
    folder.mkdir()
    text += '\nchanges:\n  - from: "1.0.0"\n    steps: []\n'
    (folder / "humbatova.yaml").write_text(text, encoding="utf-8")


def counted(study: Study, result: Result) -> dict[str, tuple[Any, ...]]:
    """Of each claim on labels: what it says, and what its rows say."""
    found = {}
    with study.reading() as reader:
        for quantity in result.quantities:
            rows = reader.rows(quantity.query) if quantity.query else []
            if rows and "counted" in rows[0]:
                marked = sum(row["counted"] for row in rows)
                found[quantity.id] = (quantity.count, quantity.n), (marked, len(rows))
    return found


@pytest.mark.parametrize("by", ["study", "corpus", "survey"])
def test_a_claim_on_labels_counts_its_rows(tmp_path: Path, by: str) -> None:
    """Labels with several codes, of another version, of another taxonomy, and of none."""
    study = Study(tmp_path)
    own_version(study, "1.1.0")
    label(study, "github:o/r#1", GPU, LAYER, version="1.1.0")
    label(study, "github:o/r#2", GPU, LAYER)
    label(study, "github:o/r#3", LAYER, version="1.1.0")
    label(study, "github:o/r#4", "E2", taxonomy="hp-defects")
    label(study, "github:o/r#5", "A1", taxonomy="hp-defects")
    label(study, "github:o/r#6", "~unclear")
    result = coverage_gap(study, evidence=by)
    found = counted(study, result)
    assert found
    assert all(says == rows for says, rows in found.values()), found
    assert any("no code (such as ~unclear), left out: 1" in note for note in result.notes)


def test_a_code_of_several_rounds_is_one_code(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    with study.writing() as writer:
        put_final(
            writer, "doi:10.1/own", GPU, round_name="again", taxonomy="humbatova", version="1.0.0"
        )
        put_final(  # the same paper under the id that it had
            writer, "paper:old", GPU, round_name="again", taxonomy="humbatova", version="1.0.0"
        )
        writer.execute(
            "INSERT INTO store.alias VALUES ('paper:old', 'doi:10.1/own', 'paper', 'r', '')"
        )
    with study.reading() as reader:
        rows = reader.rows("SELECT code, place, round FROM paper_codes ORDER BY code")
    assert [(row["code"], row["round"]) for row in rows] == [
        (GPU, "again"), ("T2.2", "coding-debugging-techniques-T2.2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("artifact", "title"),
    [
        ("doi:10.1/a", DEEPFD),
        ("doi:10.1145/3510003.3510071", "As a publisher's page calls it"),
        ("doi:10.1/tool", "DEEPFD: Another subtitle"),
    ],
    ids=["title", "DOI", "tool"],
)  # fmt: skip
def test_a_shipped_paper_is_known_by_doi_title_or_tool(
    tmp_path: Path, artifact: str, title: str
) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        for number in range(2):  # the study may have it twice
            paper = f"{artifact}{'/copy' * number}"
            put_paper(writer, paper, title, "Cao, Jialun")
            put_code(writer, paper, "humbatova", GPU, "explicit")
        writer.execute("UPDATE store.paper SET doi = ?", [artifact.removeprefix("doi:").upper()])
    found = coverage_gap(study, evidence="corpus")
    shipped = {paper.paper for paper in shipped_corpus().papers}
    assert set(found.data["corpus_papers"]) == shipped
    (paper,) = entry(found, GPU)["papers"]
    assert paper == ("deepdiagnosis" if "1145" in artifact else "deepfd")


def test_short_titles_and_strangers_are_other_papers(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        put_paper(writer, "doi:10.1/x", "DeepFD: Something else", "Roe, Jane")
        put_code(writer, "doi:10.1/x", "humbatova", GPU, "explicit")
    assert entry(coverage_gap(study, evidence="corpus"), GPU)["papers"] == ["doi:10.1/x"]


def test_papers_of_the_study_may_target_the_new_faults(tmp_path: Path) -> None:
    codes = {node.code: node.name for node in TaxonomyLibrary().taxonomy("new-faults").nodes}
    assert codes == {fault.code: fault.name for fault in evidence.new_faults()}
    study = study_at(tmp_path)
    before = coverage_gap(study, evidence="corpus", papers="study")
    assert "faults.new" not in before.by_id
    with study.writing() as writer:
        put_code(writer, "doi:10.1/own", "new-faults", "N1", "explicit")
    found = coverage_gap(study, evidence="corpus", papers="study")
    assert found.by_id["faults.new"].count == 1
    assert entry(found, "N1")["corpus"] == "new"
    assert ["N1", "T2.2"] in [
        [row["fault_code"], row["technique_code"]] for row in rows_of(found, "matrix")
    ]
    with study.reading() as reader:
        assert "N1" in {row["code"] for row in reader.rows(found.quantities[0].query or "")}


def test_a_category_of_a_later_version_is_carried_back(tmp_path: Path) -> None:
    study = study_at(tmp_path)
    own_version(study, "1.1.0")
    with study.writing() as writer:
        paper = put_paper(writer, "doi:10.1/gpus", "On all that GPUs do wrong")
        put_final(
            writer, paper, "2", round_name="paper-faults", taxonomy="humbatova", version="1.1.0"
        )
    found = coverage_gap(study, evidence="corpus")
    assert entry(found, "2.L2")["corpus_basis"] == "category"
    assert entry(found, GPU)["papers"] == ["doi:10.1/gpus", "doi:10.1/own"]


def test_what_is_written_meanwhile_does_not_change_a_result(tmp_path: Path) -> None:
    """Unrelated rows, other results, later results of the same name."""
    study = study_at(tmp_path)
    begun = provenance.begin("analysis coverage-gap", {})
    provenance.save(study, stored(coverage_gap(study, evidence="corpus")), begun)
    result = coverage_gap(study, evidence="corpus", since=begun.run_id)
    for other in (
        result,
        coverage_gap(study),
        coverage_gap(study, evidence="corpus", papers="study"),
    ):
        provenance.save(study, stored(other), provenance.begin("analysis coverage-gap", {}))
    with study.writing() as writer:
        put_paper(writer, "doi:10.1/uncoded", "Nobody has read it")
        put_final(writer, "doi:10.1/uncoded", "x", round_name="other", taxonomy="tree")
    assert coverage_gap(study, json.loads(json.dumps(result.arguments))) == result
