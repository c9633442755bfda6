"""From a site into the study: one transaction a page, with the response, its rows and where to
go on. Killed at any instant, there are whole pages only, and the next run goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.miner import archive, checkpoints, tables, traffic
from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.archive import Exchange, exchange_of
from faultatlas.miner.payload import Who
from faultatlas.miner.posts.naming import project_of_site
from faultatlas.miner.sources import source
from faultatlas.miner.study_key import check_key, who_in

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Study, Writer
    from faultatlas.miner.checkpoints import Checkpoint
    from faultatlas.miner.http import Response
    from faultatlas.miner.posts.client import Client

NAME = "stackoverflow"


@dataclass
class PostIngest:
    """One run that brings posts of one site."""

    study: Study
    site: str
    run: Run
    client: Client | None = None
    on_page: Callable[[PostIngest], None] = lambda _self: None
    counts: tables.Counts = field(default_factory=tables.Counts)
    pages: int = 0
    planned: int | None = None  # requests, as far as that is known by now
    stage: str = ""  # what is at hand, for the progress bar
    waiting: list[Exchange] = field(default_factory=list)  # stored with the next page
    _who: Who | None = None

    @property
    def project(self) -> str:
        """`stackoverflow:stackoverflow.com`."""
        return project_of_site(self.site)

    @property
    def who(self) -> Who:
        """Accounts to pseudonyms, on the site."""
        if self._who is None:
            self._who = who_in(self.study.directory)(self.site)
        return self._who

    def exchange(self, response: Response, request: Mapping[str, Any]) -> Exchange:
        """A response with what it answers."""
        return exchange_of(response, self.run, NAME, self.project, request)

    def keep(
        self,
        exchange: Exchange,
        points: Iterable[Checkpoint] = (),
        also: Callable[[Writer], None] = lambda _writer: None,
    ) -> None:
        """Store an exchange, its rows and where to go on, all or nothing."""
        with self.study.writing(keep_log=True) as writer:
            provenance.record(writer, self.run, "running")
            check_key(writer, self.study.directory, self.run.run_id)
            for early in self.waiting:
                archive.keep(writer, early)
            exchange = forgetting.cleaned(writer, exchange, self.who)
            archive.keep(writer, exchange)
            counts = tables.put(writer, source(NAME).read(exchange, self.who), exchange)
            for point in points:
                checkpoints.save(writer, point, self.run.run_id, exchange.fetched_at)
            also(writer)
            if self.client is not None:
                traffic.note(writer, self.run.run_id, self.project, self.client)
        self.waiting.clear()
        self.counts.add(counts)
        self.pages += 1
        self.on_page(self)

    def note(self, outcome: Outcome) -> None:
        """Store what was spent so far, and how the run stands."""
        with self.study.writing() as writer:
            provenance.record(writer, self.run, outcome)
            if self.client is not None:
                traffic.note(writer, self.run.run_id, self.project, self.client)
