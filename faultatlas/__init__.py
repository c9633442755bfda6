"""faultatlas: empirical studies of machine-learning bugs.

    import faultatlas

    study = faultatlas.open("study")
    study.coverage_gap(evidence="corpus")

This module imports nothing: every command starts with it, and Ctrl-C may come at any time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes its time to import
if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.report.notebook import Notebook


def open(directory: str | Path = ".", *, dry_run: bool = False) -> Notebook:  # noqa: A001  (as gzip.open)
    """Return a study for notebooks and scripts: views and analyses are its methods.

    It holds the database only while a method runs. In a dry run nothing is stored.
    """
    from pathlib import Path

    from faultatlas.report.notebook import Notebook

    return Notebook(Path(directory), dry_run=dry_run)
