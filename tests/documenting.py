"""The site of docs/, built from a copy of the pages, in which tests may plant what is wrong."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copied(folder: Path) -> Path:
    """A folder with all that the site is made of."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for page in [*ROOT.glob("*.md"), ROOT / "CITATION.cff"]:
        shutil.copy(page, folder)
    return folder


def made(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What `make site` runs; with --check what `make check` runs."""
    return subprocess.run(
        [sys.executable, "-m", "docs.site", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
