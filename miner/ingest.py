"""From a source into the study: one transaction a page, with the response, its rows and where
to go on. Killed at any instant, a fetch has whole pages only, and the next one goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.old.records import AliasRow
from faultatlas.miner import archive, checkpoints, tables, traffic
from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.archive import Exchange, exchange_of
from faultatlas.miner.checkpoints import Checkpoint, Page
from faultatlas.miner.payload import Who, entries
from faultatlas.miner.refusals import Refused
from faultatlas.miner.selection import stream_key
from faultatlas.miner.sources import Tracker, tracker
from faultatlas.miner.study_key import check_key, who_in

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.miner.client import Client
    from faultatlas.miner.http import Response
    from faultatlas.miner.projects import Project
    from faultatlas.miner.selection import Selection

_EXPIRED = (400, 404, 410, 422)


@dataclass(frozen=True)
class PartRead:
    """That the comments or events of an issue were read, and whether the source was short."""

    artifact_id: str
    part: str
    is_short: bool = False


@dataclass
class Ingest:
    """One run that fetches one project."""

    study: Study
    client: Client
    project: Project
    run: Run
    on_page: Callable[[Ingest], None] = lambda _self: None
    counts: tables.Counts = field(default_factory=tables.Counts)
    pages: int = 0
    planned: int | None = None  # requests, as far as that is known by now

    def __post_init__(self) -> None:
        self.tracker: Tracker = tracker(self.project.source)
        self.known_names: set[str] = set()  # repositories that were asked what they are called
        if self.study.exists:
            with self.study.reading() as reader:
                self._follow(_new_names(reader, self.project.repository))
        self._whos: Callable[[str], Who] | None = None
        self._expired: set[str] = set()  # addresses that were refused; twice is no accident

    def exchange(self, response: Response, request: Mapping[str, Any]) -> Exchange:
        """A response with what it answers."""
        asked = {**request, "name": self.project.name.lower()}
        return exchange_of(response, self.run, self.project.source, self.project.key, asked)

    def keep(
        self,
        exchange: Exchange,
        *,
        after: Callable[[], Checkpoint | None] = lambda: None,
        at_end: Callable[[Writer], None] = lambda _writer: None,
        points: Iterable[Checkpoint] = (),
        drop: str | None = None,
        parts: Iterable[PartRead] = (),
    ) -> Checkpoint | None:
        """Store an exchange, its rows and where to go on, all or nothing.

        `at_end` belongs to the last page of a list.
        """
        with self.study.writing(keep_log=True) as writer:
            provenance.record(writer, self.run, "running")
            check_key(writer, self.study.directory, self.run.run_id)
            exchange = forgetting.cleaned(writer, exchange, self.who)
            archive.keep(writer, exchange)
            rows = self.tracker.read(exchange, self.who)
            counts = tables.put(writer, rows, exchange)
            self._follow(rows.aliases)
            point = after()
            for each in [*points, *([point] if point else [])]:
                checkpoints.save(writer, each, self.run.run_id, exchange.fetched_at)
            if drop is not None:
                checkpoints.drop(writer, drop)
            _mark_read(writer, parts, self.run)
            if point is not None and point.is_complete:
                at_end(writer)
            traffic.note(writer, self.run.run_id, self.project.key, self.client)
        self.counts.add(counts)
        self.pages += 1
        self.on_page(self)
        return point

    def mark(self, parts: Iterable[PartRead]) -> None:
        """Mark parts of issues as read, apart from a page."""
        with self.study.writing(keep_log=True) as writer:
            _mark_read(writer, parts, self.run)

    def walk(
        self,
        what: str,
        request: Mapping[str, Any],
        url_since: Callable[[str | None], str],
        *,
        selection: Selection | None = None,
        on_first: Callable[[Response], bool] = lambda _response: True,
        at_end: Callable[[Writer], None] = lambda _writer: None,
        listed: str | None = None,
    ) -> bool:
        """Read a list to its end, from where it was left; whether there was anything to read.

        `on_first` sees the first page of a list that was never begun, and may decline the rest.
        `at_end` is done together with the last page, so that no kill comes between.
        `listed` marks every issue on the list as read in that part.
        """
        point = self._begun(stream_key(self.project.key, what, selection))
        is_new = point is None
        if point is None:
            about = selection.as_json() if selection else {}
            point = Checkpoint("", self.project.key, about, url_since(None))
        while True:
            point, response = self._page(point, url_since)
            if response.status == 304:
                self.note()
                return False
            if is_new and not on_first(response):
                return False
            is_new = False
            seen = (
                [PartRead(each, listed) for each in self._artifacts(response, request)]
                if listed
                else []
            )

            def after(at: Checkpoint = point, page: Response = response) -> Checkpoint:
                found = Page(self.tracker.next_url(page), _updates(page.json()), page.etag)
                # The project may have got another name by what the page said.
                stream = stream_key(self.project.key, what, selection)
                if at.project != self.project.key:  # the old one costs a redirect every time
                    at = replace(at, project=self.project.key, url=url_since(at.since))
                at = replace(at, stream=stream)
                return checkpoints.advance(at, found, url_since)

            found = self.keep(
                self.exchange(response, request), after=after, at_end=at_end, parts=seen
            )
            if found is None or found.is_complete:
                return True
            point = found

    def _begun(self, stream: str) -> Checkpoint | None:
        if not self.study.exists:  # it is made with the first page, not for a misspelt name
            return None
        # Not reading: the run before may have been killed before there were tables.
        with self.study.writing(keep_log=True) as writer:
            return checkpoints.load(writer, stream)

    def _page(
        self, point: Checkpoint, url_since: Callable[[str | None], str]
    ) -> tuple[Checkpoint, Response]:
        try:
            response = self.client.get(point.url, etag=point.etag)
        except Refused as refused:
            # A cursor that has expired, or a page number that is too high for the server.
            again = url_since(point.since)
            if refused.status not in _EXPIRED or again == point.url or point.url in self._expired:
                raise
            self._expired.add(point.url)
            return replace(point, url=again, etag=None, tie=None), self.client.get(again)
        if response.status == 304 and self.tracker.next_url(response):
            response = self.client.get(point.url)  # the same rows, but no longer the last ones
        return point, response

    def _artifacts(self, response: Response, request: Mapping[str, Any]) -> list[str]:
        rows = self.tracker.read(self.exchange(response, request), lambda login: login)
        return [row.artifact_id for row in rows.issues]

    def _follow(self, aliases: Iterable[AliasRow]) -> None:
        """Go on under a repository's new name: the old one costs a redirect for every page."""
        for alias in aliases:
            if alias.kind == "repository" and alias.alias == self.project.repository:
                name = "/".join(alias.artifact_id.split("/")[-2:])
                self.project = replace(self.project, name=name)

    def note(self, outcome: Outcome = "running") -> None:
        """Store what was spent so far, and how the run stands."""
        final = outcome != "running"
        with self.study.writing(keep_log=not final) as writer:
            provenance.record(writer, self.run, outcome)
            traffic.note(writer, self.run.run_id, self.project.key, self.client)

    @property
    def name(self) -> str:
        """`owner/name`, as addresses have it."""
        return self.project.name

    @property
    def who(self) -> Who:
        """Logins to pseudonyms, on the project's host."""
        if self._whos is None:
            self._whos = who_in(self.study.directory)
        return self._whos(self.project.host)


def _new_names(reader: Reader, repository: str) -> Iterator[AliasRow]:
    """The names that a repository got, one after the other."""
    seen: set[str] = set()
    while repository not in seen:
        seen.add(repository)
        rows = reader.rows(
            "SELECT alias, artifact_id, kind FROM store.alias "
            "WHERE alias = ? AND kind = 'repository'",
            [repository],
        )
        for row in rows:
            yield AliasRow(**row)
            repository = row["artifact_id"]


def _updates(said: Any) -> tuple[str, ...]:
    """The times of update on a page, as the source writes them."""
    return tuple(str(item["updated_at"]) for item in entries(said) if item.get("updated_at"))


def _mark_read(writer: Writer, parts: Iterable[PartRead], run: Run) -> None:
    groups: dict[tuple[str, bool], list[str]] = {}
    for part in parts:
        groups.setdefault((part.part, part.is_short), []).append(part.artifact_id)
    for (name, is_short), artifacts in groups.items():
        writer.execute(
            "INSERT OR REPLACE INTO store.part_read SELECT artifact_id, ?, updated_at, ?, ? "
            "FROM store.issue WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
            [name, is_short, run.run_id, artifacts],
        )
        forgetting.expect_gaps(writer, artifacts)
