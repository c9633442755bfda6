"""`miner repos`: the repositories that a search of GitHub finds, beyond its first 1,000 results.

One transaction a page, with the response, its rows and how far its slice was read: killed at
any instant, the same search goes on behind the last page. A search that was finished is made
anew, as its next turn; what it no longer finds stays in the study.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from faultatlas.data import provenance
from faultatlas.data.clock import Clock, current_clock
from faultatlas.data.errors import StudyError
from faultatlas.miner import archive, tables
from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.archive import exchange_of
from faultatlas.miner.payload import entries, entry, integer, moment
from faultatlas.miner.search import slices as search_slices
from faultatlas.miner.search.query import RepositoryQuery, Times
from faultatlas.miner.search.results import SearchPlan, SearchProgress, SearchResult
from faultatlas.miner.search.slices import FULL, LIMIT, OLDEST, PageRead, Slice, Slices
from faultatlas.miner.sources import PAGE, tracker
from faultatlas.miner.study_key import who_in

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome, Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.miner.client import Client
    from faultatlas.miner.http import Response

# After an answer that GitHub did not finish: it is busy, and soon may be less so.
_PAUSES_S = (2.0, 5.0, 15.0)
_A_MINUTE = {True: 30, False: 10}  # searches that GitHub grants with a token and without


def plan_search(client: Client, query: RepositoryQuery, clock: Clock | None = None) -> SearchPlan:
    """What the first request of each query tells; nothing is stored."""
    asker = _Asker(client, query, clock or current_clock(), lambda _message: None)
    counts = {each: asker.page(asker.whole(each))[1].total_count for each in query.queries}
    parts = {each: 1 if n <= LIMIT else -(-n // FULL) for each, n in counts.items()}
    # Measured: a slice costs about one request besides its full pages.
    requests = sum(
        max(1, -(-n // PAGE)) + (parts[each] if n > LIMIT else 0) for each, n in counts.items()
    )
    return SearchPlan(
        query.name, counts, sum(parts.values()), requests, _A_MINUTE[client.has_token]
    )


def search_repositories(
    study: Study,
    client: Client,
    run: Run,
    query: RepositoryQuery,
    *,
    host: str = "github.com",
    clock: Clock | None = None,
    tell: Callable[[str], None] = lambda _message: None,
    on_page: Callable[[SearchProgress], None] = lambda _progress: None,
) -> SearchResult:
    """Make a search, or go on with one that was not finished."""
    asker = _Asker(client, query, clock or current_clock(), tell)
    search = _Search(study, asker, run, host, on_page)
    try:
        result = search.go()
    except KeyboardInterrupt:
        search.end("interrupted")
        raise
    except StudyError as error:
        search.end("partial" if search.pages else "failed")
        raise search.with_kept(error) from None
    except BaseException:
        search.end("failed")
        raise
    search.note("ok" if result.is_complete else "partial")
    return result


class _Asker:
    """Asks for pages of a search."""

    def __init__(
        self, client: Client, query: RepositoryQuery, clock: Clock, tell: Callable[[str], None]
    ) -> None:
        if client.kind != "github":
            raise StudyError(
                "Gitee's search of repositories has no ranges of creation times",
                "Search on GitHub, or give the address of a GitHub server with --api-url.",
            )
        self.client = client
        self.query = query
        self.tell = tell
        self._clock = clock

    def whole(self, query: str) -> Slice:
        """The whole range of a query; up to now, if the user said nothing else."""
        created = self.query.created
        return Slice(0, query, created.first or OLDEST, created.last)

    def page(self, at: Slice) -> tuple[Response, PageRead]:
        """The next page of a slice; asked for again while GitHub says that it did not finish."""
        pauses = () if at.is_incomplete else _PAUSES_S
        for pause in (*pauses, None):
            response = self._get(at)
            said = response.json()
            page = PageRead(
                total_count=integer(entry(said, "total_count")) or 0,
                is_incomplete=entry(said, "incomplete_results") is True,
                next_url=response.next_url if entry(said, "items") else None,
                answered_at=_server_time(response),
            )
            if pause is None or not page.is_incomplete:
                break
            self.tell(f"GitHub did not finish the search; asking again in {pause:g} s")
            self._clock.sleep(pause)
        self._check_range(at, said)
        return response, page

    def _get(self, at: Slice) -> Response:
        url = (
            at.next_url
            or f"/search/repositories?{urlencode({'per_page': PAGE, 'q': self._text(at)})}"
        )
        response = self.client.get(url, accept={422})
        if response.status == 422:
            said = response.json()
            reasons = [each.get("message") for each in entries(entry(said, "errors"))]
            words = "; ".join(str(each) for each in reasons if each) or entry(said, "message")
            raise StudyError(
                f"GitHub does not take the search {self._text(at)!r}: {words}",
                "Check its words and qualifiers; GitHub's own search page takes the same.",
            )
        return response

    def _text(self, at: Slice) -> str:
        created = self.query.created
        if at.created_to is not None:
            created = Times(at.created_from, at.created_to)
        return f"{at.query} {created.qualifier('created')}".strip()

    def _check_range(self, at: Slice, said: Any) -> None:
        """A range that GitHub does not keep to would be split down to its last second."""
        if at.created_to is None:
            return
        times = [moment(each.get("created_at")) for each in entries(entry(said, "items"))]
        outside = [each for each in times if each and not at.created_from <= each <= at.created_to]
        if len(outside) > len(times) / 2:
            raise StudyError(
                f"GitHub does not keep to the time of creation in {self._text(at)!r}",
                "Write a query without OR and NOT: make several searches instead.",
            )


class _Search:
    """One run of a search."""

    def __init__(
        self,
        study: Study,
        asker: _Asker,
        run: Run,
        host: str,
        on_page: Callable[[SearchProgress], None],
    ) -> None:
        self._study = study
        self._asker = asker
        self._run = run
        self._host = host
        self._on_page = on_page
        self.pages = 0
        self._counts = tables.Counts()
        self._sent_before = asker.client.sent
        public = host == "github.com"
        self._search = asker.query.name if public else f"{host}: {asker.query.name}"
        # `search` is never an owner, so this is no repository's key.
        self._key = f"github:{'' if public else f'{host}/'}search/repositories"

    def go(self) -> SearchResult:
        """Ask until nothing is left."""
        slices, was_resumed = self._begin()
        while (at := slices.following()) is not None:
            self._keep(slices, at, *self._asker.page(at))
        with self._study.reading() as reader:
            return self._result(reader, slices, was_resumed=was_resumed)

    def end(self, outcome: Outcome) -> None:
        """Store that the run broke off; the error that broke it off is the one to tell."""
        with suppress(StudyError):
            self.note(outcome)

    def with_kept(self, error: StudyError) -> StudyError:
        """The error, and what stays of the run."""
        if not self.pages:
            return error
        kept = f"{self.pages:,} pages of this run are stored; the same command goes on from there."
        return StudyError(error.message, f"{error.hint} {kept}".strip())

    def note(self, outcome: Outcome) -> None:
        """Store how the run ended, and what it spent."""
        with self._study.writing() as writer:
            provenance.record(writer, self._run, outcome)
            self._note_traffic(writer)

    def _begin(self) -> tuple[Slices, bool]:
        with self._study.writing(keep_log=True) as writer:
            provenance.record(writer, self._run, "running")
            slices = search_slices.load(writer, self._search)
            if slices is not None and slices.following() is not None:
                found = self._found(writer, slices.turn)
                self._asker.tell(f"going on with a search that has {found:,} repositories so far")
                return slices, True
            slices = Slices(self._search, slices.turn + 1 if slices else 1)
            for query in self._asker.query.queries:
                whole = self._asker.whole(query)
                slices.add(query, whole.created_from, whole.created_to)
            slices.save(writer, self._run.run_id, self._run.started_at)
        return slices, False

    def _keep(self, slices: Slices, at: Slice, response: Response, page: PageRead) -> None:
        request = {
            "kind": "repositories",
            "search": self._search,
            "turn": slices.turn,
            "slice": at.number,
            "leave_out": list(self._asker.query.leave_out),
        }
        exchange = exchange_of(response, self._run, "github", self._key, request)
        who = who_in(self._study.directory)(self._host)
        with self._study.writing(keep_log=True) as writer:
            provenance.record(writer, self._run, "running")
            exchange = forgetting.cleaned(writer, exchange, who)
            archive.keep(writer, exchange)
            counts = tables.put(writer, tracker("github").read(exchange, who), exchange)
            slices.advance(at, page, lambda each: self._found(writer, slices.turn, each.number))
            slices.save(writer, self._run.run_id, exchange.fetched_at)
            self._note_traffic(writer)
            found = self._found(writer, slices.turn)
        self._counts.add(counts)
        self.pages += 1
        self._on_page(
            SearchProgress(found, _total(slices), self.pages, sum(s.is_open for s in slices.all))
        )

    def _found(self, reader: Reader, turn: int, number: int | None = None) -> int:
        """Different repositories of a turn, or of one slice."""
        return int(
            reader.value(
                "SELECT count(*) FROM store.search_result "
                "WHERE search = ? AND turn = ? AND slice = coalesce(?, slice)",
                [self._search, turn, number],
            )
        )

    def _result(self, reader: Reader, slices: Slices, *, was_resumed: bool) -> SearchResult:
        rows = reader.rows(
            "SELECT left_out, turn = ? AS is_now, count(*) AS n FROM store.search_result "
            "WHERE search = ? GROUP BY ALL ORDER BY left_out",
            [slices.turn, self._search],
        )
        left_out = {r["left_out"]: r["n"] for r in rows if r["is_now"] and r["left_out"]}
        kept = sum(r["n"] for r in rows if r["is_now"] and not r["left_out"])
        return SearchResult(
            search=self._search,
            turn=slices.turn,
            was_resumed=was_resumed,
            total=_total(slices) or 0,
            found=kept + sum(left_out.values()),
            kept=kept,
            left_out=left_out,
            no_longer_found=sum(r["n"] for r in rows if not r["is_now"] and not r["left_out"]),
            new=self._counts.repositories_new,
            changed=self._counts.repositories_changed,
            pages=self.pages,
            requests=self._asker.client.sent - self._sent_before,
            slices=slices.all,
        )

    def _note_traffic(self, writer: Writer) -> None:
        client = self._asker.client
        writer.put(
            "store.traffic",
            {"run_id": self._run.run_id, "project": self._key},
            {
                "requests": client.sent,
                "not_modified": client.not_modified,
                "waited_s": client.waited_s,
            },
        )


def _total(slices: Slices) -> int | None:
    """What the source counted for the whole ranges."""
    counts = [each.total_count for each in slices.wholes]
    return None if None in counts else sum(count or 0 for count in counts)


def _server_time(response: Response) -> datetime:
    """What time it is for the server; ours where it does not say."""
    try:
        found = parsedate_to_datetime(response.headers.get("date", ""))
        found = found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError, IndexError):
        return response.received_at.replace(microsecond=0)
    return found if found > OLDEST else response.received_at.replace(microsecond=0)
