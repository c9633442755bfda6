"""Results of commands of the frame, computed without a command line and without being stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from faultatlas.data.old.results import Result as StoredResult
from faultatlas.data.results import Listing, Result
from faultatlas.data.study import Study
from faultatlas.report.catalogue import find
from faultatlas.report.invocation import load
from faultatlas.report.old.stored import as_stored


def computed(command: str, study: Study, arguments: Mapping[str, Any] = {}, **more: Any) -> Result:
    """What the command would store with these arguments."""
    return load(find(command)).compute_again(study, {**arguments, **more})


coverage_gap = partial(computed, "analysis coverage-gap")
agreement = partial(computed, "annotation agreement")


def stored(result: Result) -> StoredResult:
    """The result as the study keeps it."""
    return as_stored(result)


def table_of(result: Result, name: str) -> Listing:
    """The table of that name."""
    return next(table for table in result.listings() if table.name == name)


def rows_of(result: Result, name: str) -> list[dict[str, Any]]:
    """The rows of the table of that name."""
    return table_of(result, name).records()
