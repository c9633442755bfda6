"""`analysis coverage-gap` as a user runs it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from computed import coverage_gap, stored
from settled import put_final

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.report import figures
from faultatlas.report.publish import build, publish

README = Path(__file__).parent.parent.parent / "README.md"
Command = Callable[..., CompletedProcess[str]]
Document = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with the survey's result and its report; to be copied, not changed."""
    study = Study(tmp_path_factory.mktemp("published"))
    publish(study, stored(coverage_gap(study)), provenance.begin("analysis coverage-gap", {}))
    return study.directory


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are not drawn, which takes most of the time."""
    empty = b'<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt" viewBox="0 0 9 9"/>'
    monkeypatch.setattr(figures, "_file", lambda _figure, _wide, _kind: empty)


@pytest.fixture
def document(command: Command, undrawn: None) -> Document:  # noqa: ARG001  (what it changes)
    def found(*words: str) -> dict[str, Any]:
        ended = command("analysis", "coverage-gap", "--json", *words)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)  # type: ignore[no-any-return]

    return found


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_in_an_empty_directory_it_prints_the_gap_and_names_the_report(
    command: Command, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = command("analysis", "coverage-gap")
    assert found.returncode == 0, found.stderr
    for words in ("targets 44", "does not target 46", "79 of 149", "106 of 226", "not reproduced"):
        assert words in found.stdout
    assert "new study in" in found.stderr
    assert "out/coverage-gap/report.html" in found.stdout
    out = tmp_path / "out" / "coverage-gap"
    for name in ("report.html", "shares.csv", "shares.tex", "result.json", "shares.svg",
                 "shares.pdf", "matrix.svg", "components.svg"):  # fmt: skip
        assert (out / name).stat().st_size > 0, name
    # The README shows what is printed, and the same evidence gives the same bytes.
    printed = [line.rstrip() for line in found.stdout.splitlines()]
    block = README.read_text(encoding="utf-8").split("```text\n")[1].split("\n...\n```")[0]
    assert [line for line in block.splitlines() if line not in printed] == []
    assert hashes(tmp_path / "out") == hashes(published / "out")


def test_the_document_has_the_established_counts_with_intervals(document: Document) -> None:
    found = document()
    numbers = found["quantities"]
    assert {name: row["count"] for name, row in numbers.items() if name.startswith("faults.")} == {
        "faults.targeted": 44, "faults.untargeted": 46, "faults.new": 4, "faults.not-mentioned": 2,
    }  # fmt: skip
    for whole, count, total in (("artifacts", 79, 149), ("interviews", 106, 226)):
        share = numbers[f"{whole}.untargeted"]
        assert (share["count"], share["n"]) == (count, total)
        assert share["low"] < share["value"] < share["high"]
    assert any("not mentioned by the survey" in note for note in found["notes"])
    printed = {row["printed"]: row["status"] for row in numbers.values() if "printed" in row}
    assert printed == {48: "near", 46.9: "near", 52.6: "near", 70.3: "not reproduced"}
    assert len(found["tables"]["untargeted"]) == 10
    # The table shows the same numbers.
    shown = {row["percent"] for row in found["tables"]["shares"]}
    assert shown == {row["value"] for row in numbers.values()}


def test_the_report_can_be_built_again_from_the_study(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "out" / "coverage-gap"
    before = hashes(folder)
    shutil.rmtree(folder)
    build(Study(tmp_path), ["coverage-gap"])
    assert hashes(folder) == before


def test_leaving_a_paper_out_changes_only_the_corpus_result(
    document: Document, tmp_path: Path
) -> None:
    survey = document()
    full = document("--evidence", "corpus")
    before = hashes(tmp_path / "out")
    less = document("--evidence", "corpus", "--without", "ShapeTracer")
    untargeted = [each["quantities"]["faults.untargeted"]["count"] for each in (full, less)]
    assert untargeted[1] == untargeted[0] + 2
    after = hashes(tmp_path / "out")
    assert {name: after[name] for name in before} == before
    assert less["result"] == "coverage-gap-corpus-without-shapetracer"
    assert less["arguments"]["without"] == ["ShapeTracer"]
    assert "without ShapeTracer" in less["title"]
    assert document()["quantities"] == survey["quantities"]
    assert full["quantities"]["targeted-by.named"]["value"] > 0
    assert full["quantities"]["targeted-by.category"]["value"] > 0


def test_every_run_and_claim_is_in_the_study(command: Command, document: Document) -> None:
    document()
    document("--evidence", "corpus", "--without", "care")
    status = json.loads(command("miner", "status", "--json").stdout)
    assert [each["outcome"] for each in status["runs"]] == ["ok", "ok"]
    assert {each["command"] for each in status["runs"]} == {"analysis coverage-gap"}
    claims = json.loads(command("report", "claims", "list", "--json").stdout)["data"]
    assert len(claims["claims"]) > 20
    # Another evidence is no attempt to reproduce the survey's figures, so it gets no status.
    assert {claim["status"] for claim in claims["claims"] if "corpus" in claim["claim_id"]} == {""}


@pytest.mark.parametrize(
    ("words", "cause", "next_step"),
    [
        (["--evidence", "study"], "no study", "annotation import"),
        (["--without", "care"], "--without", "--evidence corpus"),
        (["--evidence", "corpus", "--without", "nothing-like-it"], "no paper", "Known: "),
        (["--round", "r"], "--round", "--evidence study"),
    ],
)
def test_bad_input_gets_one_message_and_leaves_nothing(
    command: Command, tmp_path: Path, words: list[str], cause: str, next_step: str
) -> None:
    found = command("analysis", "coverage-gap", *words)
    assert found.returncode == 1
    assert cause in found.stderr
    assert next_step in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_final_labels_in_another_taxonomy_give_a_gap(
    command: Command, document: Document, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text(
        "URL,final\n"
        "https://github.com/o/r/issues/1,B1\n"
        "https://github.com/o/r/issues/2,B1\n"
        "https://github.com/o/r/issues/3,E2\n"
        "https://github.com/o/r/issues/4,A1\n",
        encoding="utf-8",
    )
    imported = command(
        "annotation", "import", "r1", "labels.csv", "--item", "URL", "--final", "final",
        "--taxonomy", "hp-defects",
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    found = document("--evidence", "study")
    shares = {
        name: (row["count"], row["n"])
        for name, row in found["quantities"].items()
        if name.startswith("labels.")
    }
    assert shares == {
        "labels.untargeted": (2, 4), "labels.targeted": (1, 4), "labels.unmapped": (1, 4),
    }  # fmt: skip
    codes = {row["code"]: row["status"] for row in found["tables"]["codes"]}
    assert codes["A1"] == "unmapped"
    other = command("analysis", "coverage-gap", "--evidence", "study", "--round", "r2")
    assert other.returncode == 1
    assert "r1" in other.stderr
    again = command(
        "annotation", "import", "r2", "labels.csv", "--item", "URL", "--final", "final",
        "--taxonomy", "hp-defects",
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    both = command("analysis", "coverage-gap", "--evidence", "study")
    assert both.returncode == 1
    assert "4 artifacts" in both.stderr
    assert "--round: r1, r2" in both.stderr
    of_round = document("--evidence", "study", "--round", "r2")
    assert of_round["quantities"]["labels.unmapped"]["n"] == 4


def test_labels_of_another_version_of_a_taxonomy_are_refused(
    command: Command, tmp_path: Path
) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        put_final(writer, "github:o/r#1", "A1", taxonomy="hp-defects", version="0.9.0")
    found = command("analysis", "coverage-gap", "--evidence", "study")
    assert found.returncode == 1
    assert "hp-defects 0.9.0, but hp-defects is 1.0.0" in found.stderr
