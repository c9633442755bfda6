"""defect4ML and the interviews: printed numbers, and the 70 bugs of the public repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultatlas.analysis.replication.importing import import_package
from faultatlas.analysis.replication.published import published_study
from faultatlas.analysis.studies import replicate
from faultatlas.data import evidence
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study


def replicated(folder: Path, bugs: str) -> Result:
    """The result for a folder with that file and nothing beside it."""
    (folder / "public").mkdir()
    (folder / "public" / "bugs.csv").write_text(bugs, encoding="utf-8")
    study = Study(folder / "study")
    assert import_package(study, published_study("defect4ml"), folder / "public").problems == []
    return replicate.run(study, "defect4ml")


def claim(result: Result, name: str) -> Claim:
    [found] = [each for each in result.claims if each.claim_id.endswith(name)]
    return found


def test_every_figure_has_the_status_that_was_established(tmp_path: Path) -> None:
    """Printed numbers need no file; the data set of Islam et al. is in no folder."""
    for name in ("defect4ml", "maintenance"):
        figures = replicate.run(Study(tmp_path), name).document["figures"]
        for each in evidence.published_figures():
            if each.study == name:
                wanted = "no data" if each.figure_id == "K069" else status_by_hand(each)
                assert figures[each.figure_id]["status"] == wanted, each


def test_a_changed_cell_changes_the_claims_of_the_repository(
    study_fixtures: Path, tmp_path: Path
) -> None:
    text = (study_fixtures / "defect4ml" / "bugs.csv").read_text(encoding="utf-8")
    for folder in ("as it is", "changed"):
        (tmp_path / folder).mkdir()
    before = replicated(tmp_path / "as it is", text)
    after = replicated(tmp_path / "changed", text.replace(",stackoverflow,", ",github,", 1))
    values = [
        [claim(each, f"public-bugs.{name}").value for name in ("github", "stackoverflow")]
        for each in (before, after)
    ]
    assert values == [[46, 24], [47, 23]]
    assert claim(before, "public-bugs.github").total == pytest.approx(70)
