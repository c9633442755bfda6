"""Slices of a search: ranges of creation times, so that each has the 1,000 results at most that
GitHub gives.

They are cut by `created`, which never changes: cut by `pushed`, a repository that is pushed to
during the search moves into a slice that was read already and is never seen.

A slice is asked for from its first page, which also tells how many results there are. With too
many it is split. The slices that were read or wait always cover the whole range without
overlap: a split replaces one by two that meet, each shorter by a second at least, and a slice
of one second is read as far as GitHub lets us. Two things make this cheaper than bisection. When
the first part of a split was read, the rest of the count belongs to the second: if that is still
too much, it is split again without being asked for. And a split is not made in the middle, but
where the parts that will be needed come out equal, or nearer, where the slice before says that
a full slice ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer

LIMIT = 1000  # results that GitHub gives of those it counts
FULL = 900  # results to aim for: counts grow while slices are read, and guesses are guesses
# GitHub's oldest repository, mojombo/grit, is of 2007-10-29.
OLDEST = datetime(2007, 10, 1)  # noqa: DTZ001  (UTC without a zone, as everywhere in the study)

State = Literal["waiting", "reading", "split", "complete", "short", "incomplete", "truncated"]
OPEN: tuple[State, ...] = ("waiting", "reading")
_SECOND = timedelta(seconds=1)
_COLUMNS = (
    "number, query, created_from, created_to, state, total_count, found_count, pages, reads, "
    "is_incomplete, next_url, counted, counted_from"
)


@dataclass(frozen=True)
class Slice:
    """One range, and how far it was read."""

    number: int
    query: str
    created_from: datetime
    created_to: datetime | None  # None until the first answer says what time it is
    state: State = "waiting"
    total_count: int | None = None
    found_count: int | None = None
    pages: int = 0
    reads: int = 0
    is_incomplete: bool = False
    next_url: str | None = None
    counted: int | None = None  # results from counted_from on, the slices before it included
    counted_from: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether something is left to ask."""
        return self.state in OPEN

    @property
    def is_read(self) -> bool:
        """Whether its results are in the study."""
        return self.state not in (*OPEN, "split")

    @property
    def missing(self) -> int:
        """Results that were counted and not given."""
        return max((self.total_count or 0) - (self.found_count or 0), 0) if self.is_read else 0

    @property
    def end(self) -> datetime:
        """The last second, where it is known."""
        return self.created_to or self.created_from


@dataclass(frozen=True)
class PageRead:
    """What a page says about its slice."""

    total_count: int
    is_incomplete: bool
    next_url: str | None
    answered_at: datetime


def cut(first: datetime, last: datetime, count: int, density: float | None) -> datetime:
    """The last second of the first of two parts; neither part is empty.

    `density` is that of the slice before, in results a second.
    """
    seconds = int((last - first).total_seconds())
    parts = max(2, -(-count // FULL))
    length = seconds * (parts // 2) // parts
    if density:
        length = min(length, int(FULL / density))
    return first + timedelta(seconds=max(0, min(length, seconds - 1)))


class Slices:
    """The slices of one turn of a search: what comes next, and what a page changes."""

    def __init__(self, search: str, turn: int, slices: Iterable[Slice] = ()) -> None:
        self.search = search
        self.turn = turn
        self._slices = {each.number: each for each in slices}
        self._changed: set[int] = set()

    @property
    def all(self) -> tuple[Slice, ...]:
        """In the order in which they were made."""
        return tuple(self._slices[number] for number in sorted(self._slices))

    @property
    def wholes(self) -> tuple[Slice, ...]:
        """The first slice of each query: its whole range."""
        firsts: dict[str, Slice] = {}
        for each in self.all:
            firsts.setdefault(each.query, each)
        return tuple(firsts.values())

    def add(
        self,
        query: str,
        first: datetime,
        last: datetime | None,
        *,
        counted: int | None = None,
        counted_from: datetime | None = None,
    ) -> Slice:
        """One more slice that waits."""
        number = max(self._slices, default=0) + 1
        return self._put(
            Slice(number, query, first, last, counted=counted, counted_from=counted_from)
        )

    def following(self) -> Slice | None:
        """The slice to ask for next; None when all were read.

        The one that was begun, then the whole ranges, which tell the size of the search, then
        the oldest. What is known to hold too much is not asked for as a whole.
        """
        wholes = {each.number for each in self.wholes}
        left = sorted(
            (each for each in self.all if each.state in OPEN),
            key=lambda each: (
                each.state != "reading",
                each.number not in wholes,
                each.query,
                each.created_from,
            ),
        )
        if not left:
            return None
        found = left[0]
        expected = self._expected(found)
        if expected is not None and expected > LIMIT and found.end > found.created_from:
            middle = self._middle(found, expected)
            self.add(
                found.query,
                middle + _SECOND,
                found.created_to,
                counted=expected,
                counted_from=found.created_from,
            )
            found = self._put(replace(found, created_to=middle, counted=None, counted_from=None))
        return found

    def advance(self, at: Slice, page: PageRead, found: Callable[[Slice], int]) -> None:
        """Note a page; `found` counts the different repositories that a slice has given."""
        now = replace(
            at,
            created_to=at.created_to or page.answered_at,
            state="reading",
            total_count=page.total_count,
            pages=at.pages + 1,
            is_incomplete=at.is_incomplete or page.is_incomplete,
            next_url=page.next_url,
        )
        is_first_page = at.next_url is None
        if is_first_page and page.total_count > LIMIT and now.end > now.created_from:
            self._split(now)
        elif page.next_url is not None:
            self._put(now)
        else:
            self._finish(now, found(now))

    def _split(self, at: Slice) -> None:
        count, middle = at.total_count or 0, self._middle(at, at.total_count or 0)
        self._put(replace(at, state="split", next_url=None))
        self.add(at.query, at.created_from, middle)
        self.add(
            at.query,
            middle + _SECOND,
            at.created_to,
            counted=count,
            counted_from=at.created_from,
        )

    def _finish(self, at: Slice, found: int) -> None:
        counted = at.total_count or 0
        read = replace(at, found_count=found, next_url=None)
        if counted > LIMIT and at.end == at.created_from:
            self._put(replace(read, state="truncated"))
        elif at.is_incomplete:
            self._put(replace(read, state="incomplete"))
        elif found >= counted:
            self._put(replace(read, state="complete"))
        elif at.reads:
            self._put(replace(read, state="short", reads=at.reads + 1))
        else:  # pages are not of one moment: what moved between them may be seen the second time
            self._put(replace(read, found_count=None, reads=1))

    def _middle(self, at: Slice, count: int) -> datetime:
        before = [
            each
            for each in self.all
            if each.is_read and each.query == at.query and each.end == at.created_from - _SECOND
        ]
        density = None
        if before:
            seconds = (before[0].end - before[0].created_from + _SECOND).total_seconds()
            density = (before[0].total_count or 0) / seconds
        return cut(at.created_from, at.end, count, density)

    def _expected(self, at: Slice) -> int | None:
        """How many results there should be, from a count that others were part of."""
        if at.counted is None or at.counted_from is None:
            return None
        return at.counted - sum(
            each.total_count or 0
            for each in self.all
            if each.is_read
            and each.query == at.query
            and at.counted_from <= each.created_from < at.created_from
        )

    def _put(self, one: Slice) -> Slice:
        self._slices[one.number] = one
        self._changed.add(one.number)
        return one

    def save(self, writer: Writer, run_id: str, now: datetime) -> None:
        """Store what has changed, in the transaction of the page that changed it."""
        for number in sorted(self._changed):
            writer.execute(
                f"INSERT OR REPLACE INTO store.search_slice (search, turn, {_COLUMNS}, run_id, "
                f"updated_at) VALUES ({', '.join('?' * 17)})",
                [self.search, self.turn, *astuple(self._slices[number]), run_id, now],
            )
        self._changed.clear()


def load(reader: Reader, search: str) -> Slices | None:
    """The newest turn of a search, if it was ever begun."""
    turn = reader.value("SELECT max(turn) FROM store.search_slice WHERE search = ?", [search])
    if turn is None:
        return None
    rows = reader.rows(
        f"SELECT {_COLUMNS} FROM store.search_slice WHERE search = ? AND turn = ?", [search, turn]
    )
    return Slices(search, turn, (Slice(**row) for row in rows))
