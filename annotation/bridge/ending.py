"""How a push or a pull ended, for the table of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data import provenance

if TYPE_CHECKING:
    from faultatlas.data.study import Study


def finish(
    study: Study, run: provenance.Run, outcome: provenance.Outcome, *, is_told: bool = False
) -> None:
    """Say how the run ended, if it wrote anything, or if it is to be told all the same.

    The store is asked: what is reported of a project comes after it was written.
    """
    with study.reading() as reader:
        wrote = reader.value("SELECT count(*) FROM store.run WHERE run_id = ?", [run.run_id])
    if wrote or is_told:
        with study.writing() as writer:
            provenance.record(writer, run, outcome)


def broken_by(error: BaseException) -> provenance.Outcome:
    """Of a run that did not come to its end: a mistake, or somebody who stopped it."""
    return "failed" if isinstance(error, Exception) else "interrupted"
