"""`analysis coverage-gap` as a user runs it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from settled import put_final

from data.store import Study

BIN = Path(sys.executable).parent


README = Path(__file__).parent.parent.parent / "README.md"


def run(folder: Path, *words: str, program: str = "analysis") -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "STUDY"}
    return subprocess.run(
        [BIN / program, *words],
        cwd=folder,
        env={**environment, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def document(folder: Path, *words: str) -> dict[str, Any]:
    found = run(folder, "coverage-gap", "--json", *words)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_in_an_empty_directory_it_prints_the_gap_and_names_the_report(tmp_path: Path) -> None:
    found = run(tmp_path, "coverage-gap")
    assert found.returncode == 0, found.stderr
    for words in ("targets 44", "leaves 46", "79 of 149", "106 of 226", "not reproduced"):
        assert words in found.stdout
    assert "new study in" in found.stderr
    assert "out/coverage-gap/report.html" in found.stdout
    out = tmp_path / "out" / "coverage-gap"
    for name in ("report.html", "shares.csv", "shares.tex", "result.json", "shares.svg",
                 "shares.pdf", "matrix.svg", "components.svg"):  # fmt: skip
        assert (out / name).stat().st_size > 0, name


def test_the_readme_shows_what_is_printed(tmp_path: Path) -> None:
    printed = [line.rstrip() for line in run(tmp_path, "coverage-gap").stdout.splitlines()]
    block = README.read_text(encoding="utf-8").split("```text\n")[1].split("\n...\n```")[0]
    for line in block.splitlines():
        assert line in printed


def test_the_document_has_the_established_counts_with_intervals(tmp_path: Path) -> None:
    found = document(tmp_path)
    assert (found["leaves"], found["new_faults"]) == (92, 4)
    faults = found["faults"]
    assert [faults[key]["count"] for key in ("targeted", "untargeted", "new", "not_mentioned")] == [
        44, 46, 4, 2,
    ]  # fmt: skip
    assert (found["artifacts"]["untargeted"]["count"], found["artifacts"]["total"]) == (79, 149)
    assert (found["interviews"]["untargeted"]["count"], found["interviews"]["total"]) == (106, 226)
    for whole in ("faults", "artifacts", "interviews"):
        low, high = found[whole]["untargeted"]["interval"]
        assert low < found[whole]["untargeted"]["percent"] < high
    assert any("not mentioned by the survey" in note for note in found["notes"])
    printed = {each["printed"]: each["status"] for each in found["published"]}
    assert printed == {48: "near", 46.9: "near", 52.6: "near", 70.3: "not reproduced"}
    assert "percentage point" in found["rule"]
    assert len(found["untargeted"]) == 10


def test_the_same_evidence_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        document(tmp_path, "--study", name)
    assert hashes(tmp_path / "one" / "out") == hashes(tmp_path / "two" / "out")


def test_the_report_can_be_built_again_from_the_study(tmp_path: Path) -> None:
    document(tmp_path)
    folder = tmp_path / "out" / "coverage-gap"
    before = hashes(folder)
    for path in folder.iterdir():
        path.unlink()
    found = run(tmp_path, "build", program="report")
    assert found.returncode == 0, found.stderr
    assert hashes(folder) == before


def test_leaving_a_paper_out_changes_only_the_corpus_result(tmp_path: Path) -> None:
    survey = document(tmp_path)
    full = document(tmp_path, "--evidence", "corpus")
    before = hashes(tmp_path / "out")
    less = document(tmp_path, "--evidence", "corpus", "--without", "ShapeTracer")
    assert less["faults"]["untargeted"]["count"] == full["faults"]["untargeted"]["count"] + 2
    after = hashes(tmp_path / "out")
    assert {name: after[name] for name in before} == before
    assert less["result"] == "coverage-gap-corpus-without-shapetracer"
    assert all("without=ShapeTracer" in claim["query"] for claim in less["claims"])
    title = json.loads((Path(tmp_path / less["report"]).parent / "result.json").read_text())[
        "title"
    ]
    assert "without ShapeTracer" in title
    assert document(tmp_path)["faults"] == survey["faults"]
    assert full["targeted_by"]["named"] > 0
    assert full["targeted_by"]["category"] > 0


def test_every_run_and_claim_is_in_the_study(tmp_path: Path) -> None:
    document(tmp_path)
    document(tmp_path, "--evidence", "corpus", "--without", "care")
    status = json.loads(run(tmp_path, "status", "--json", program="miner").stdout)
    assert [each["outcome"] for each in status["runs"]] == ["ok", "ok"]
    assert {each["command"] for each in status["runs"]} == {"analysis coverage-gap"}
    claims = json.loads(run(tmp_path, "claims", "list", "--json", program="report").stdout)
    assert len(claims["claims"]) == 8
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
    tmp_path: Path, words: list[str], cause: str, next_step: str
) -> None:
    found = run(tmp_path, "coverage-gap", *words)
    assert found.returncode == 1
    assert cause in found.stderr
    assert next_step in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_final_labels_in_another_taxonomy_give_a_gap(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "URL,final\n"
        "https://github.com/o/r/issues/1,B1\n"
        "https://github.com/o/r/issues/2,B1\n"
        "https://github.com/o/r/issues/3,E2\n"
        "https://github.com/o/r/issues/4,A1\n",
        encoding="utf-8",
    )
    imported = run(
        tmp_path, "import", "r1", "labels.csv", "--item", "URL", "--final", "final",
        "--taxonomy", "hp-defects", program="annotation",
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    found = document(tmp_path, "--evidence", "study")
    assert found["labels"]["total"] == 4
    assert found["labels"]["untargeted"]["count"] == 2
    assert found["labels"]["targeted"]["count"] == 1
    assert found["labels"]["unmapped"]["count"] == 1
    assert [(each["code"], each["count"]) for each in found["unmapped"]] == [("A1", 1)]
    other = run(tmp_path, "coverage-gap", "--evidence", "study", "--round", "r2")
    assert other.returncode == 1
    assert "r1" in other.stderr
    again = run(
        tmp_path, "import", "r2", "labels.csv", "--item", "URL", "--final", "final",
        "--taxonomy", "hp-defects", program="annotation",
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    both = run(tmp_path, "coverage-gap", "--evidence", "study")
    assert both.returncode == 1
    assert "4 artifacts" in both.stderr
    assert "--round: r1, r2" in both.stderr
    assert document(tmp_path, "--evidence", "study", "--round", "r2")["labels"]["total"] == 4


def test_labels_of_another_version_of_a_taxonomy_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    with study.writing() as writer:
        put_final(writer, "github:o/r#1", "A1", taxonomy="hp-defects", version="0.9.0")
    found = run(tmp_path, "coverage-gap", "--evidence", "study")
    assert found.returncode == 1
    assert "hp-defects 0.9.0, but hp-defects is 1.0.0" in found.stderr
