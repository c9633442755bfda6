"""How a run of a miner ends: it is recorded, and what was stored is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Reader, Study


class Recorded(Protocol):
    """A run that stores page after page."""

    pages: int

    @property
    def study(self) -> Study:
        """Where the pages go."""

    def note(self, outcome: Outcome) -> None:
        """Store how the run stands."""


@contextmanager
def ending(
    ingest: Recorded, stored: Callable[[], str], tell: Callable[[str], None]
) -> Iterator[None]:
    """Record a run that does not come to its end; `stored` says what of it stays."""

    def kept() -> str:
        if not ingest.pages:
            return "nothing was stored yet; the same command begins again"
        return f"this run has stored {stored()}; the same command goes on from there"

    try:
        yield
    except KeyboardInterrupt:
        _note(ingest, "interrupted")
        tell(kept())
        raise
    except StudyError as error:
        _note(ingest, "partial" if ingest.pages else "failed")
        if not ingest.pages:
            raise
        words = kept()
        raise StudyError(error.message, f"{error.hint} {words[0].upper()}{words[1:]}.") from None
    except BaseException:
        _note(ingest, "failed")
        raise


@contextmanager
def noting(study: Study, run: Run) -> Iterator[None]:
    """Record a run that has stored something and does not come to its end; what it stored stays."""
    try:
        yield
    except BaseException as error:
        outcome: Outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        if study.exists:
            with suppress(StudyError), study.writing() as writer:
                if is_noted(writer, run):
                    provenance.record(writer, run, outcome)
        raise


def is_noted(reader: Reader, run: Run) -> bool:
    """Whether anything says of a run that there was one."""
    return bool(reader.value("SELECT count(*) FROM store.run WHERE run_id = ?", [run.run_id]))


def _note(ingest: Recorded, outcome: Outcome) -> None:
    """A study that nothing was written to is not made for that."""
    if ingest.study.exists:
        with suppress(StudyError):  # a full disk: what ended the run is told, not this
            ingest.note(outcome)
