"""The state behind the loopback GitHub and Gitee: repositories, callers, what is to go wrong."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from loopback import payloads
from loopback.entries import Entry, generated
from loopback.exchange import Reply, Request
from loopback.faults import Faults
from loopback.quota import Quota, Quotas
from loopback.repositories import Facts, catalogue
from loopback.tracker import Gone, Tracker

TOKEN = "loopback-token"  # noqa: S105 - known to this server only
DATASETS_ID = 250_213_286
SMALL_ID = 77_001_234
Hook = Callable[[int, Request], object]


class World:
    """Repositories and everything that happens to them. The first is the main one."""

    def __init__(self, *trackers: Tracker, clock: Callable[[], float] = time.time) -> None:
        self.trackers = list(trackers)
        self.clock = clock  # of headers and quotas
        self.now = max((e.updated for t in trackers for e in t.entries.values()), default=0) + 3600
        self.tokens: dict[str, int] = {TOKEN: 5000}
        self.readers: dict[str, set[str]] = {}  # private repository -> tokens that may see it
        self.quotas = Quotas(self.tokens, self._time)
        self.requests: list[Request] = []
        self.keeps_log = True
        self.errors: list[BaseException] = []  # of the server itself
        self.faults = Faults()
        self.page_limit = 100
        self.cursor_only = False
        self.page_ceiling: int | None = None  # the last page number that is not refused
        self.gzip = True
        self.incomplete_searches = 0  # so many of the next searches time out
        self.catalogue: list[Facts] = []  # more repositories, for searches only
        self.node_limit: int | None = None  # GraphQL queries that ask for more time out
        self.before_response: Hook | None = None  # the request has arrived, nothing was sent
        self.mid_body: Hook | None = None  # half of the body was sent
        self.after_response: Hook | None = None  # all of it was sent
        self.base_url = ""
        self.lock = threading.RLock()
        self._former: dict[str, Tracker] = {}  # earlier names

    @classmethod
    def of_datasets(cls, study_fixtures: Path) -> World:
        """The 3,655 real payloads of huggingface/datasets, with made-up comments."""
        source = study_fixtures / "github" / "datasets_issues.jsonl.gz"
        with gzip.open(source, "rt", encoding="utf-8") as lines:
            return cls(Tracker.of_payloads("huggingface/datasets", DATASETS_ID, lines))

    @classmethod
    def small(cls, name: str = "example/tensors") -> World:
        """A few made-up issues and pull requests; several share one `updated_at`."""
        entries = list(generated(26, 3, seed=5, first_id=2_147_483_640))
        latest = max(entry.updated for entry in entries[10:14])
        for entry in entries[10:14]:
            entry.updated = latest
        entries[2].comments = 0
        entries[4].comments = 12
        return cls(Tracker(name, SMALL_ID, entries))

    @classmethod
    def generated(
        cls, count: int, comments_each: int = 2, seed: int = 1, name: str = "example/large"
    ) -> World:
        """As many made-up issues as wanted; their payloads are made when asked for."""
        entries = generated(count, comments_each, seed, first_id=1_900_000_000)
        return cls(Tracker(name, SMALL_ID + 1, entries))

    def _time(self) -> float:
        return self.clock()  # which a test may replace at any time

    # Finding

    @property
    def tracker(self) -> Tracker:
        return self.trackers[0]

    def add(self, name: str, entries: Iterable[Any] = ()) -> Tracker:
        """One more repository, empty unless entries are given."""
        order = len(self.trackers)
        base = 3_000_000_000 + order * 100_000_000
        made = Tracker(name, 900_000_000 + order, entries, comment_base=base)
        self.trackers.append(made)
        return made

    def add_repositories(self, count: int, seed: int = 1) -> None:
        """Repositories that searches find."""
        self.catalogue = list(catalogue(count, seed))

    def find(self, name: str) -> tuple[Tracker | None, bool]:
        """The repository of that name, and whether the name is an earlier one."""
        for tracker in self.trackers:
            if tracker.name.lower() == name.lower():
                return tracker, False
        return self._former.get(name.lower()), True

    def by_id(self, identity: int) -> Tracker | None:
        return next((tracker for tracker in self.trackers if tracker.id == identity), None)

    def may_see(self, tracker: Tracker, token: str | None) -> bool:
        return not tracker.private or token in self.readers.get(tracker.name, set())

    # Happening; each is later than everything before it

    def tick(self, seconds: int = 1) -> int:
        with self.lock:
            self.now += seconds
            return self.now

    def touch(self, number: int, comment: str | None = None, **changes: Any) -> str:
        """Change an issue (title, body, labels, state, ...) or add a comment.

        Returns the new `updated_at`.
        """
        with self.lock:
            at = payloads.instant(changes.pop("at")) if "at" in changes else self.tick()
            self.tracker.touch(number, at, comment, **changes)
            return payloads.zulu(at)

    def create(self, *labels: str) -> int:
        """Open an issue; returns its number."""
        with self.lock:
            at = self.tick()
            number = max([*self.tracker.entries, *self.tracker.gone], default=0) + 1
            entry = Entry(number, 2_000_000_000 + number, at, at, None, 0, labels, is_pull=False)
            self.tracker.store(payloads.issue(entry, self.tracker.name))
            return number

    def edit_comment(self, number: int, index: int = 0, body: str = "edited") -> int:
        with self.lock:
            return self.tracker.edit_comment(number, self.tick(), index, body)

    def delete_comment(self, number: int, index: int = 0) -> int:
        with self.lock:
            return self.tracker.delete_comment(number, self.tick(), index)

    def remove_label(self, number: int, label: str) -> None:
        with self.lock:
            self.tracker.remove_label(number, label, self.tick())

    def delete(self, number: int) -> None:
        """From now on 410."""
        with self.lock:
            self.tracker.remove(number, Gone("deleted"))

    def hide(self, number: int) -> None:
        """From now on 404, as of a spammer's issue."""
        with self.lock:
            self.tracker.remove(number, Gone("hidden"))

    def transfer(self, number: int, name: str) -> int:
        """Move an issue to another repository (made if need be); returns its number there."""
        with self.lock:
            at = self.tick()
            target = self.find(name)[0] or self.add(name)
            payload = self.tracker.payload(number)
            remarks = [self.tracker.comment_payload(r) for r in self.tracker.comments_of(number)]
            new = max(target.entries, default=0) + 1
            self.tracker.remove(
                number, Gone("transferred", f"/repositories/{target.id}/issues/{new}")
            )
            target.receive(payload, remarks, new, at)
            return new

    def to_discussion(self, number: int) -> None:
        """Convert an issue: it stays, closed and locked, and its timeline says why."""
        with self.lock:
            at = self.tick()
            self.tracker.happened(number, "converted_to_discussion", at)
            self.tracker.touch(number, at, state="closed", locked=True)

    def rename(self, name: str) -> None:
        """The main repository gets another name; the old one redirects."""
        with self.lock:
            self._former[self.tracker.name.lower()] = self.tracker
            self.tracker.rename(name)

    def make_private(self, *readers: str) -> None:
        """Only these tokens may see the main repository; for everybody else it is not there."""
        with self.lock:
            self.tracker.private = True
            self.readers[self.tracker.name] = set(readers)

    def quota(self, token: str | None = None, resource: str = "core") -> Quota:
        """What a caller has left; set its fields as a test needs them."""
        with self.lock:
            return self.quotas.of(token, resource)

    # Answering

    def answer(self, request: Request) -> Reply:
        from loopback import gitee, github

        with self.lock:
            if self.keeps_log:
                self.requests.append(request)
            fault = self.faults.take(request)

            def go() -> Reply:
                if request.path.startswith("/api/v5/"):
                    return gitee.answer(self, request)
                return github.answer(self, request)

            reply = fault.act(request, self, go) if fault else go()
            request.status = reply.status
            return reply
