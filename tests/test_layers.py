"""An import against the direction of the layers fails the check."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("data", "miner", "annotation", "analysis", "report")
LINTER = Path(sys.executable).parent / "lint-imports"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copytree(ROOT / "faultatlas", tmp_path / "faultatlas", symlinks=True)  # to the copies
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINTER, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_code_as_it_is_passes(copy: Path) -> None:
    found = lint(copy)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("data/study.py", "faultatlas.report.old.console"),
        ("data/identity.py", "faultatlas.miner.status"),
        ("report/tables.py", "faultatlas.analysis.coverage.gap"),
        ("report/pages.py", "faultatlas.annotation.taxonomies.validation"),
        ("miner/status.py", "faultatlas.annotation.taxonomies.validation"),
        ("annotation/taxonomies/validation.py", "faultatlas.miner.status"),
        ("analysis/statistics/shares.py", "faultatlas.data.errors"),
        ("report/claims/lists.py", "duckdb"),
        ("data/provenance.py", "duckdb"),
    ],
)
def test_an_import_against_the_direction_fails(copy: Path, module: str, imported: str) -> None:
    path = copy / module
    path.write_text(f"{path.read_text(encoding='utf-8')}\nimport {imported}\n", encoding="utf-8")
    found = lint(copy)
    assert found.returncode != 0
    assert "BROKEN" in found.stdout
