"""From an index or a file into the study: one transaction a page, with the response, its records,
the papers that they are, and where to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.miner import archive, checkpoints, tables, traffic
from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.archive import Exchange, exchange_of
from faultatlas.miner.sources import source
from faultatlas.miner.study_key import check_key

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Study
    from faultatlas.miner.checkpoints import Checkpoint
    from faultatlas.miner.http import Response
    from faultatlas.miner.papers.client import Client

NAME = "paper"


@dataclass
class PaperIngest:
    """One run that brings papers."""

    study: Study
    project: str  # paper:openalex, paper:scopus, paper:files
    run: Run
    client: Client | None = None
    on_page: Callable[[PaperIngest], None] = lambda _self: None
    counts: tables.Counts = field(default_factory=tables.Counts)
    pages: int = 0
    planned: int | None = None  # requests, as far as that is known by now
    stage: str = ""  # what is at hand, for the progress bar

    def exchange(self, response: Response, request: Mapping[str, Any]) -> Exchange:
        """A response with what it answers."""
        return exchange_of(response, self.run, NAME, self.project, request)

    def begun(self, stream: str) -> Checkpoint | None:
        """Where a list or a file was left."""
        if not self.study.exists:  # it is made with the first page, not for a misspelt query
            return None
        # Not reading: the run before may have been killed before there were tables.
        with self.study.writing(keep_log=True) as writer:
            return checkpoints.load(writer, stream)

    def keep(self, exchange: Exchange, point: Checkpoint) -> None:
        """Store an exchange, its records and where to go on, all or nothing."""
        with self.study.writing(keep_log=True) as writer:
            provenance.record(writer, self.run, "running")
            check_key(writer, self.study.directory, self.run.run_id)
            exchange = forgetting.cleaned(writer, exchange, lambda login: login)
            archive.keep(writer, exchange)
            rows = source(NAME).read(exchange, lambda login: login)
            counts = tables.put(writer, rows, exchange)
            checkpoints.save(writer, point, self.run.run_id, exchange.fetched_at)
            self._note_traffic(writer)
        self.counts.add(counts)
        self.pages += 1
        self.on_page(self)

    def note(self, outcome: Outcome) -> None:
        """Store what was spent so far, and how the run stands."""
        with self.study.writing() as writer:
            provenance.record(writer, self.run, outcome)
            self._note_traffic(writer)

    def _note_traffic(self, writer: Any) -> None:
        if self.client is not None:
            traffic.note(writer, self.run.run_id, self.project, self.client)
