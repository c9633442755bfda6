"""The wheel as a user has it: one import name, four commands, nothing of the clone."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("analysis", "annotation", "data", "miner", "report")
PROGRAMS = ("analysis", "annotation", "miner", "report")

pytestmark = pytest.mark.xdist_group("wheel")  # one process builds it


@dataclass(frozen=True)
class Installed:
    """An environment in which the wheel is the only thing of ours."""

    wheel: Path
    folder: Path

    def run(
        self, program: str, *words: object, cwd: Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment; the caller's own settings do not reach it."""
        ours = ("PYTHONPATH", "PYTHONHOME", "STUDY", "VIRTUAL_ENV")
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        return subprocess.run(
            [self.folder / "bin" / program, *map(str, words)],
            cwd=cwd, env={**inherited, "COLUMNS": "100", **variables},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in a fresh environment; what it depends on comes from the running one.

    A path in a .pth file is searched, but .pth files there are not read, so that the editable
    install of the clone does not reach the fresh environment.
    """
    built, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("fresh")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", built, ROOT], check=True
    )
    (wheel,) = built.glob("faultatlas-*.whl")
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    subprocess.run(
        [*pip, "--python", python, "install", "--no-deps", "--no-index", "--no-compile", wheel],
        check=True,
    )
    own = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    Path(own, "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Installed(wheel, folder)


def test_it_has_every_file_of_the_packages_inside_faultatlas_and_nothing_else(
    installed: Installed,
) -> None:
    """Taxonomies, evidence, templates and the bugs with all their files are part of it."""
    files = {
        f"faultatlas/{path.relative_to(ROOT)}": path.read_bytes()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name in ("__init__.py", "py.typed"):
        files[f"faultatlas/{name}"] = (ROOT / "faultatlas" / name).read_bytes()
    with zipfile.ZipFile(installed.wheel) as wheel:
        members = {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name}
    assert members.keys() == files.keys()
    assert [name for name, content in files.items() if members[name] != content] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_names_that_belong_to_users_are_not_ours(
    installed: Installed, name: str, tmp_path: Path
) -> None:
    ended = installed.run("python", "-c", f"import {name}", cwd=tmp_path)
    assert ended.returncode != 0
    assert f"ModuleNotFoundError: No module named '{name}'" in ended.stderr


def test_the_one_name_can_be_imported(installed: Installed, tmp_path: Path) -> None:
    code = "import faultatlas; print(faultatlas.__file__)"
    ended = installed.run("python", "-c", code, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert Path(ended.stdout.strip()).is_relative_to(installed.folder)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_four_commands_run(installed: Installed, program: str, tmp_path: Path) -> None:
    ended = installed.run(program, "--help", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"Usage: {program}" in ended.stdout


def test_users_run_their_own_packages_and_our_commands_side_by_side(
    installed: Installed, tmp_path: Path
) -> None:
    """A study folder with `data/`, `report.py` and `analysis/`, and itself on PYTHONPATH."""
    for file in ("data/__init__.py", "report.py", "analysis/__init__.py", "miner/__init__.py"):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"OWN = {file!r}\n", encoding="utf-8")
    (tmp_path / "thesis.py").write_text(
        "import analysis, data, miner, report\n"
        "import faultatlas.analysis, faultatlas.data, faultatlas.miner, faultatlas.report\n"
        "print(analysis.OWN, data.OWN, miner.OWN, report.OWN)\n"
        "print(hasattr(faultatlas.data, 'OWN'), hasattr(faultatlas.report, 'OWN'))\n",
        encoding="utf-8",
    )
    own = installed.run("python", "thesis.py", cwd=tmp_path, PYTHONPATH=".")
    assert own.returncode == 0, own.stderr
    assert own.stdout.splitlines() == [
        "analysis/__init__.py data/__init__.py miner/__init__.py report.py",
        "False False",
    ]

    gap = installed.run("analysis", "coverage-gap", "--quiet", cwd=tmp_path, PYTHONPATH=".")
    assert gap.returncode == 0, gap.stderr
    assert (tmp_path / "out" / "coverage-gap" / "report.html").exists()
    status = installed.run("miner", "status", cwd=tmp_path, PYTHONPATH=".")
    assert status.returncode == 0, status.stderr
    taxonomies = installed.run("annotation", "taxonomy", "list", cwd=tmp_path, PYTHONPATH=".")
    assert taxonomies.returncode == 0, taxonomies.stderr
    assert "humbatova" in taxonomies.stdout
    export = installed.run(
        "report", "claims", "export", "--csv", "claims.csv", cwd=tmp_path, PYTHONPATH="."
    )
    assert export.returncode == 0, export.stderr
    claims = csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text(encoding="utf-8")))
    counts = {claim["claim_id"]: claim["count"] for claim in claims}
    assert counts["coverage-gap.faults.untargeted"] == "46"
    check = installed.run("report", "claims", "check", cwd=tmp_path, PYTHONPATH=".")
    assert check.returncode == 0, check.stderr
