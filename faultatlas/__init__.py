"""faultatlas: empirical studies of machine-learning bugs.

    import faultatlas

    study = faultatlas.open("study")
    study.coverage_gap(evidence="corpus")

This module imports nothing heavy: every command starts with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.report.notebook import Notebook


def open(directory: str | Path = ".", *, dry_run: bool = False) -> Notebook:  # noqa: A001  (as gzip.open)
    """Return a study for notebooks and scripts: views and analyses are its methods.

    It holds the database only while a method runs. In a dry run nothing is stored.
    """
    from faultatlas.report.notebook import Notebook

    return Notebook(Path(directory), dry_run=dry_run)
