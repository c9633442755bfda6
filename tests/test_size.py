"""`make check` prints size and structure of the code and fails where a package grew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "size.py"
FILES = {
    "faultatlas/__init__.py": '"""Public."""\n',
    "data/__init__.py": "",
    "data/study.py": '"""Docstring\n\n"""\n\n# a comment\n\nTEXT = """one\n\n# two"""\n',
    "report/pages/html.py": "from faultatlas.report.tables.csv import row\n\nPAGE = row\n",
    "report/tables/csv.py": "from faultatlas.data.study import TEXT\n\nrow = TEXT\n",
    "miner/fetch.py": "import faultatlas.data.study\n" + "x = 1\n" * 40,
    "miner/old/fetch.py": "from faultatlas.miner.fetch import x\n",
    "analysis/reexecution/shipped/nan/buggy.py": "import math\n",
}


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "--root", root, *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small program whose figures are recorded."""
    (tmp_path / ".ci").mkdir()
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    assert run(tmp_path, "--write").returncode == 0
    return tmp_path


def test_the_table_counts_code_and_nothing_else(root: Path) -> None:
    ended = run(root)
    assert ended.returncode == 0
    rows = {
        row.split()[0]: list(map(int, row.split()[1:])) for row in ended.stdout.splitlines()[1:]
    }
    #                        files, lines, cycles, short, one importer, old
    assert rows["data"] == [2, 3, 0, 1, 0, 0]  # the string is of three lines, the docstring of none
    assert rows["report"] == [2, 4, 0, 2, 1, 0]
    assert rows["miner"] == [1, 41, 0, 0, 0, 1]
    assert rows["analysis"] == [0, 0, 0, 0, 0, 0]
    assert rows["together"] == [6, 48, 0, 3, 1, 1]


@pytest.mark.parametrize(
    ("name", "added", "complaint"),
    [
        ("data/study.py", "more = 2\n", "data has grown: lines 3 -> 4"),
        ("data/empty.py", "", "data has grown: files 2 -> 3"),
        ("annotation/labels.py", "x = 1\n", "annotation has grown: short 0 -> 1"),
        (
            "report/tables/csv.py",
            "from faultatlas.report.pages.html import PAGE\n",
            "report has grown: cycles 0 -> 1",
        ),
        (
            "miner/plan.py",
            "import faultatlas.miner.fetch\n",
            "miner has grown: one importer 0 -> 1",
        ),
    ],
)  # fmt: skip
def test_a_package_that_grew_fails(root: Path, name: str, added: str, complaint: str) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(added)
    ended = run(root)
    assert ended.returncode == 1
    assert complaint in ended.stderr
    assert "make size" in ended.stderr

    assert run(root, "--write").returncode == 0
    assert run(root).returncode == 0


def test_a_package_that_shrank_passes_and_is_recorded_on_request(root: Path) -> None:
    store = root / "data/study.py"
    content = store.read_text(encoding="utf-8")
    store.write_text("TEXT = ''\n", encoding="utf-8")
    assert run(root).returncode == 0
    store.write_text(content, encoding="utf-8")
    assert run(root).returncode == 0  # nothing was recorded

    store.write_text("TEXT = ''\n", encoding="utf-8")
    run(root, "--write")
    store.write_text(content, encoding="utf-8")
    assert run(root).returncode == 1


def test_it_names_what_a_figure_counts(root: Path) -> None:
    assert run(root, "--list", "one importer").stdout.splitlines() == [
        "faultatlas.report.tables.csv <- faultatlas.report.pages.html"
    ]
    with (root / "report/tables/csv.py").open("a", encoding="utf-8") as file:
        file.write("import faultatlas.report.pages.html\n")
    assert run(root, "--list", "cycles").stdout.splitlines() == [
        "faultatlas.report.pages <-> faultatlas.report.tables"
    ]
    assert "faultatlas.data.study 3" in run(root, "--list", "short").stdout.splitlines()
