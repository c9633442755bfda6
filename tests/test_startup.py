"""`--help` is instant: it imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "duckdb", "github", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn",
    "statsmodels",
    "_hashlib", "tomllib",  # some milliseconds each: a tenth of what an empty program needs
)  # fmt: skip
PROGRAM = """
import sys
from faultatlas.report.program import application
application(sys.argv[1])(["--help"], standalone_mode=False)
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize("name", ["miner", "annotation", "analysis", "report"])
def test_help_imports_nothing_heavy(name: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "Usage:" in ended.stdout
    imported = ended.stderr.split()
    assert [each for each in HEAVY if each in imported] == []
