"""Publishing: what is stored and what is written agree, and a strange result harms nothing."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from undrawn import undrawn

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Bar, Claim, Column, Figure, Part, Result, Table
from faultatlas.data.study import Study
from faultatlas.report import figures
from faultatlas.report.publish import build, publish

TOP = Table("top", "The most frequent", (Column("fault", "Fault"),), (("Wrong shape",),))
SHARES = Figure("shares", "Shares", "shares", "", (Bar("Faults", (Part("New", 4),)),))
CLAIM = Claim("gap.faults", "Faults", 47.9, "percent", "q", status="near")
GAP = Result("coverage-gap", "gap", "The gap", {}, (), (CLAIM,), (TOP,), (SHARES,))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


def published(study: Study, result: Result = GAP) -> Path:
    return publish(study, result, provenance.begin("analysis coverage-gap", {}))


def outcomes(study: Study) -> list[str]:
    with study.reading() as reader:
        return [row["outcome"] for row in reader.rows("SELECT outcome FROM runs ORDER BY run_id")]


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_result_is_stored_and_its_report_written(study: Study) -> None:
    page = published(study)
    assert page == study.directory / "out" / "gap" / "report.html"
    assert page.is_file()
    assert outcomes(study) == ["ok"]


def test_a_study_without_figures_has_pages_without_drawings(study: Study) -> None:
    undrawn(study.directory)
    page = published(study)
    assert "<svg" not in page.read_text(encoding="utf-8")
    assert not {path.suffix for path in page.parent.iterdir()} & {".svg", ".pdf"}
    run = provenance.begin("analysis coverage-gap", {})
    (page.parent / "note.txt").touch()
    assert publish(study, GAP, run, keep=True) == page  # which is whole as it is
    (study.directory / "study.toml").unlink()
    build(study, [])
    assert "<svg" in page.read_text(encoding="utf-8")
    assert (page.parent / "shares.pdf").is_file()


def test_a_run_has_ended_only_when_its_report_is_written(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in between, it never says that it is done."""
    seen: list[list[str]] = []
    monkeypatch.setattr(
        "faultatlas.report.publish.write_result",
        lambda *_, **_draw: seen.append(outcomes(study)),
    )
    published(study)
    assert seen == [["running"]]
    assert outcomes(study) == ["ok"]


def test_what_stands_already_is_kept_if_told_so(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(result: Result = GAP) -> int:
        """How many results there are after it was published once more."""
        publish(study, result, provenance.begin("analysis coverage-gap", {}), keep=True)
        with study.reading() as reader:
            return int(reader.value("SELECT count(*) FROM results"))

    page = published(study)
    before = page.stat().st_mtime_ns
    assert again() == 1
    assert page.stat().st_mtime_ns == before
    assert outcomes(study) == ["ok", "ok"]  # who called is recorded all the same
    assert again(replace(GAP, notes=("Another.",))) == 2
    assert "Another." in page.read_text(encoding="utf-8")
    assert again() == 3
    (page.parent / "shares.pdf").unlink()
    assert again() == 4  # a report that lacks something is made anew
    assert (page.parent / "shares.pdf").is_file()
    monkeypatch.setattr("faultatlas.report.publish.program_version", lambda: "0.0.0")
    assert again() == 5  # another version may draw otherwise


def test_a_run_without_its_report_is_partial_and_can_be_completed(study: Study) -> None:
    out = study.directory / "out"
    study.directory.mkdir()
    out.write_text("a file of mine")
    with pytest.raises(StudyError) as raised:
        published(study)
    assert raised.value.message == (
        f"the result is stored, its report is not: {out} cannot be read or written: File exists"
    )
    assert raised.value.hint.endswith("then write the report with: report build gap.")
    assert outcomes(study) == ["partial"]
    out.unlink()
    assert [page.is_file() for page in build(study, ["gap"])] == [True]


def test_a_disk_that_is_full_while_drawing_makes_the_run_partial(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(figures, "save", failing(full))
    with pytest.raises(StudyError, match=r"is not: no room left to write .*gap") as raised:
        published(study)
    assert raised.value.hint.startswith("Free disk space")
    assert outcomes(study) == ["partial"]


def test_a_folder_of_somebody_else_makes_the_run_partial(study: Study) -> None:
    (study.directory / "out" / "gap").mkdir(parents=True)
    (study.directory / "out" / "gap" / "thesis.tex").touch()
    with pytest.raises(
        StudyError, match=r"is not: .* holds files, but no report of ours"
    ) as raised:
        published(study)
    assert "remove its files yourself. Then write the report" in raised.value.hint
    assert outcomes(study) == ["partial"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ZeroDivisionError()], ids=repr)
def test_whatever_stops_the_drawing_makes_the_run_partial(
    error: BaseException, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "save", failing(error))
    with pytest.raises(type(error)):
        published(study)
    assert outcomes(study) == ["partial"]


def test_a_full_disk_is_told_by_report_build(study: Study) -> None:
    published(study)
    before = (study.directory / "out" / "gap" / "report.html").read_bytes()
    ended = subprocess.run(
        [Path(sys.executable).parent / "report", "build", "--study", study.directory],
        # A real failure in mid-file, whoever runs the test: files may have 2,000 bytes.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    error, hint = ended.stderr.splitlines()[-2:]
    assert error == f"error: no room left to write {study.directory / 'out' / 'gap'}"
    assert hint == "Free disk space, then run this again."
    assert "Traceback" not in ended.stderr
    assert (study.directory / "out" / "gap" / "report.html").read_bytes() == before


@pytest.mark.parametrize("name", ["../../evil", "/evil", "..", "a/b", ".hidden"])
def test_a_name_that_leads_elsewhere_is_refused(name: str, study: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="name of a file"):
        published(study, replace(GAP, name=name))
    assert not study.exists
    stored = replace(GAP, name=name)
    provenance.save(study, GAP, provenance.begin("analysis", {}))
    provenance.save(study, stored, provenance.begin("analysis", {}))
    with pytest.raises(StudyError, match="name of a file"):
        build(study, [])
    assert not list(tmp_path.rglob("report.html"))


def without(plain: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name != key}


PLAIN: dict[str, Any] = json.loads(json.dumps(GAP.to_json()))
STRANGE: dict[str, Any] = {
    "no object": [],
    "a missing field": without(PLAIN, "tables"),
    "a missing field of a part": PLAIN | {"claims": [without(PLAIN["claims"][0], "query")]},
    "a field too much": PLAIN | {"claims": [PLAIN["claims"][0] | {"colour": "red"}]},
    "an unknown figure": PLAIN | {"figures": [PLAIN["figures"][0] | {"kind": "pie"}]},
    "an unknown status": PLAIN | {"claims": [PLAIN["claims"][0] | {"status": "so so"}]},
    "a short row": PLAIN | {"tables": [PLAIN["tables"][0] | {"rows": [[]]}]},
    "a number as rows": PLAIN | {"tables": [PLAIN["tables"][0] | {"rows": 7}]},
}


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE)
def test_a_stored_result_that_cannot_be_read_is_named(content: Any, study: Study) -> None:
    page = published(study)
    before = page.read_bytes()
    with study.writing() as writer:
        writer.execute("UPDATE store.result SET content = ?", [json.dumps(content)])
    with pytest.raises(StudyError, match="the stored result 'gap' cannot be re") as raised:
        build(study, [])
    assert "run its analysis again" in raised.value.hint
    assert page.read_bytes() == before
