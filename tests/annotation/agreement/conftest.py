"""What tests of agreement share: a study that is made once, reports that nobody writes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from labelling import Labelled

from faultatlas.data.old.results import Result
from faultatlas.data.provenance import Run
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="session")
def empty_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a small taxonomy and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    made = Labelled.at(folder)
    made.taxonomy()
    with made.study.writing():
        pass
    return folder


@pytest.fixture
def labelled(tmp_path: Path, empty_study: Path) -> Labelled:
    """A study of the test's own."""
    shutil.copytree(empty_study, tmp_path, dirs_exist_ok=True)
    return Labelled.at(tmp_path)


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured is shown only; a test asks for what it looks at: `stored` or `drawn`."""

    def unpublished(study: Study, result: Result, _run: Run) -> Path:
        return study.directory / "out" / result.name / "report.html"

    def unwritten(_result: Result, folder: Path, **_options: bool) -> Path:
        return folder / "report.html"

    if "stored" in request.fixturenames:
        monkeypatch.setattr("faultatlas.report.publish.write_result", unwritten)
    elif "drawn" not in request.fixturenames:
        monkeypatch.setattr("faultatlas.report.publish.publish", unpublished)


@pytest.fixture
def stored() -> None:
    """For a test that looks at the stored result."""


@pytest.fixture
def drawn() -> None:
    """For a test that looks at the files of a report."""


@pytest.fixture
def measured(command: Command) -> Callable[..., dict[str, Any]]:
    """The document of a call that succeeds, with what it stores for later next to its numbers."""

    def run(*arguments: object) -> dict[str, Any]:
        done = command("annotation", "agreement", *arguments, "--json", "--resamples", 50)
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document | document["data"]

    return run
