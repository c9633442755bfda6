"""The built wheel does the main job outside the clone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.collecting import shipped

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as a user would have installed it."""
    built, site = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", built, ROOT], check=True
    )
    (wheel,) = built.glob("faultatlas-*.whl")
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True
    )
    return site


def run(site: Path, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_prints_the_gap_in_an_empty_directory(site: Path, tmp_path: Path) -> None:
    found = run(
        site,
        tmp_path,
        "import sys\n"
        "sys.argv = ['analysis', 'coverage-gap', '--json']\n"
        "from faultatlas.analysis.cli import main; main()",
    )
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert document["faults"]["untargeted"]["count"] == 46
    assert (tmp_path / "out" / "coverage-gap" / "report.html").exists()


def test_it_finds_who_computes_results_again(site: Path, tmp_path: Path) -> None:
    found = run(
        site,
        tmp_path,
        "import sys\n"
        "from faultatlas.report.recomputing import analyses\n"
        "assert {'coverage-gap', 'claims', 'agreement', 'suggest'} <= analyses().keys()\n"
        "import faultatlas.analysis.studies; print(faultatlas.analysis.studies.__file__)",
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(str(site))


def test_it_carries_the_shipped_bugs_with_all_their_files(site: Path, tmp_path: Path) -> None:
    found = run(
        site,
        tmp_path,
        "from faultatlas.analysis.reexecution.artifacts.content import content_hash\n"
        "from faultatlas.analysis.reexecution.artifacts.reading import read\n"
        "from faultatlas.analysis.reexecution.collecting import shipped\n"
        "for folder in shipped(): print(folder.name, content_hash(read(folder)))",
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [
        f"{folder.name} {content_hash(read(folder))}" for folder in shipped()
    ]


def test_it_carries_its_data_files_and_nothing_else(site: Path, tmp_path: Path) -> None:
    found = run(
        site,
        tmp_path,
        "from pathlib import Path; import faultatlas.data\n"
        "print(Path(data.__file__).parent.parent)\n"
        "from faultatlas.data.taxonomy_library import TaxonomyLibrary\n"
        "library = TaxonomyLibrary()\n"
        "assert len(library.names) == 13 and len(library.crosswalk_names) == 4",
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == str(site)
    packages = {path.name for path in site.iterdir() if path.is_dir()} - {"bin", "__pycache__"}
    assert {name for name in packages if not name.endswith(".dist-info")} == {
        "data", "miner", "annotation", "analysis", "report",
    }  # fmt: skip
