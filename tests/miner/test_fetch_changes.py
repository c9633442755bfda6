"""What changes on the tracker while it is read, or between two fetches, is not lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loopback import TOKEN, Fault, Reply, World, studies
from loopback.payloads import instant, zulu
from loopback.ways import WAYS, Way
from mining import Mining

from faultatlas.data.study import Study
from faultatlas.miner import checkpoints
from faultatlas.miner.checkpoints import Checkpoint, Page, advance

Start = Callable[..., Mining]
law = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# Issues to comment on, to edit a comment of, to delete a comment of, and to delete.
TOUCHED = {"graphql": (7, 13, 31, 17), "repository": (3, 6, 9, 11), "issue": (6, 13, 11, 22)}


@pytest.fixture(autouse=True)
def close() -> Iterator[Callable[[], None]]:
    with Study.kept_open() as closing:
        yield closing


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """What fetches find that begin when all has happened."""
    return {}


@pytest.fixture
def fetch(tmp_path: Path, close: Callable[[], None]) -> Callable[..., Any]:
    """Fetches into a study of that name; what is live in it then."""

    def run(at: Mining, study: str, way: Way, *more: str) -> Any:
        at.study = tmp_path / study
        if not at.study.exists():
            studies.keyed(at.study)
        found = at.fetch(at.world.tracker.name, *way.arguments, *more, token=way.token)
        assert found["complete"]
        close()
        return studies.live(at.study)

    return run


def crowd() -> World:
    """Fourteen issues on pages of four; six of them have one timestamp."""
    world = World.generated(14, comments_each=0)
    world.page_limit = 4
    for number, entry in world.tracker.entries.items():
        entry.labels = ("bug",)
        if number in range(5, 11):
            entry.updated = world.tracker.entries[10].updated
    return world


LISTED = Way(crowd, "LLLLLLLL", ("--label", "bug", "--no-comments"), TOKEN)
CHANGES: dict[str, tuple[Callable[[World], object], set[int]]] = {
    "one that was read": (lambda world: world.touch(1), {1}),
    "the first of a timestamp": (lambda world: world.touch(5), {5}),
    "two of a timestamp": (lambda world: (world.touch(6), world.touch(8)), {6, 8}),
    "the last of a timestamp": (lambda world: world.touch(10), {10}),
    "one that is to come": (lambda world: world.touch(13), {13}),
    "one deleted": (lambda world: world.delete(7), {7}),
    "one without its label": (lambda world: world.remove_label(6, "bug"), {6}),
    "one more": (lambda world: world.create("bug"), {15}),
}


@pytest.mark.parametrize("k", [2, 5, len(LISTED.kinds)])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_two_pages_of_the_list(
    mining: Start, fetch: Callable[..., Any], known: dict[str, Any], change: str, k: int
) -> None:
    make, changed = CHANGES[change]
    at = mining(LISTED.world())
    at.world.faults.add(Fault.between(lambda: make(at.world), after=k))
    first = by_number(fetch(at, "study", LISTED))
    assert at.world.faults.pending == []
    last = max(each.number for each in at.asked if "/search/" not in each.path)
    if change not in known:
        known[change] = by_number(fetch(at, "after", LISTED))
    after = known[change]
    if k >= last:  # the list was at its end
        assert {n for n in after if first.get(n) != after[n]} <= changed
        first = by_number(fetch(at, "study", LISTED))
    assert {**first, **after} == first  # what is gone from the list stays in the study
    assert first.keys() - after.keys() <= changed


@pytest.mark.parametrize(("count", "limit", "has_link"), [(100, 100, False), (7, 4, True)])
def test_a_new_issue_behind_a_last_page_that_is_full(
    mining: Start, fetch: Callable[..., Any], *, count: int, limit: int, has_link: bool
) -> None:
    """It does not change that page, nor its ETag; perhaps it changes the link to the next."""
    way = Way(lambda: World.generated(count, comments_each=0), "", ("--no-comments",), TOKEN)
    at = mining(way.world())
    at.world.page_limit = limit
    if not has_link:
        at.world.faults.add(Fault.changed(without_link_if_unchanged, times=None))
    for number in range(count, count + 3):
        assert by_number(fetch(at, "study", way)).keys() == set(range(1, number + 1))
        at.world.create()


def without_link_if_unchanged(reply: Reply) -> None:
    if reply.status == 304:
        reply.headers.pop("link", None)


def test_a_list_that_ended_in_pages_of_one_timestamp(
    mining: Start, fetch: Callable[..., Any]
) -> None:
    way = Way(lambda: World.generated(9, comments_each=0), "", ("--no-comments",), TOKEN)
    at = mining(way.world())
    at.world.page_limit = 4
    for entry in at.world.tracker.entries.values():
        entry.updated = at.world.now
    assert len(by_number(fetch(at, "study", way))) == 9
    fetch(at, "study", way)
    assert [request.status for request in at.asked] == [304]
    for number in (1, 2, 4, 5, 9):
        at.world.touch(number, title=f"Changed: {number}")
    assert fetch(at, "study", way) == fetch(at, "after", way)


def by_number(live: Any) -> dict[int, Any]:
    return {int(row[3]): row for row in live["issue"]}


@pytest.mark.parametrize(
    ("name", "k"),
    [
        pytest.param(name, k, id=f"{name}-{k}{kind}")
        for name, way in WAYS.items()
        for k, kind in enumerate(way.kinds, 1)
        if k >= way.kinds.rindex("L") and (k % 2 == 0 or k == len(way.kinds))
    ],
)
def test_changes_between_two_pages_of_comments(
    mining: Start, fetch: Callable[..., Any], known: dict[str, Any], name: str, k: int
) -> None:
    """All at once; after the last page they are changes between two runs."""
    way = WAYS[name]
    at = mining(way.world())

    def change() -> None:
        commented, edited, shortened, deleted = TOUCHED[name]
        at.world.touch(commented, comment="one more")
        at.world.edit_comment(edited)
        at.world.delete_comment(shortened)
        at.world.delete(deleted)
        at.world.touch(at.world.create("crash"), comment="the first")

    at.world.faults.add(Fault.between(change, after=k))
    fetch(at, "study", way)
    assert at.world.faults.pending == []
    found = fetch(at, "study", way, "--verify")
    with studies.opened(at.study) as study:
        for table in ("issue", "comment"):
            urls = study.execute(f"SELECT count(url) - count(DISTINCT url) FROM store.{table}")
            assert urls.fetchall() == [(0,)]
    if name not in known:
        known[name] = fetch(at, "after", way)
    assert found == known[name]


# What happens between two requests: touched, commented on, deleted, or new, by number.
HAPPENING = st.tuples(
    st.sampled_from(["touch", "touch", "comment", "delete", "create"]), st.integers(1, 12)
)
HAPPENINGS = st.lists(st.lists(HAPPENING, max_size=3), max_size=14)


def happen(world: World, what: Sequence[tuple[str, int]]) -> None:
    for kind, number in what:
        if kind == "create":
            world.touch(world.create("bug"), comment="the first")
        elif number in world.tracker.entries and kind == "delete":
            world.delete(number)
        elif number in world.tracker.entries:
            world.touch(number, comment="one more" if kind == "comment" else None)


@pytest.mark.parametrize(
    ("token", "arguments"),
    [(TOKEN, ("--no-comments",)), (TOKEN, ()), (None, ())],
    ids=["issues", "graphql", "repository"],
)
@settings(law, max_examples=10)
@given(
    ties=st.lists(st.integers(0, 2), min_size=5, max_size=12),
    size=st.integers(2, 4),
    during=HAPPENINGS,
    between=st.lists(HAPPENING, max_size=4),
)
def test_whatever_happens_in_the_meantime_nothing_is_lost_or_doubled(
    mining: Start,
    close: Callable[[], None],
    tmp_path_factory: pytest.TempPathFactory,
    token: str | None,
    arguments: tuple[str, ...],
    ties: list[int],
    size: int,
    during: list[list[tuple[str, int]]],
    between: list[tuple[str, int]],
) -> None:
    world = Way(lambda: World.generated(len(ties), comments_each=1), "", ()).world()
    world.page_limit = size
    latest = max(entry.updated for entry in world.tracker.entries.values())
    for entry, later in zip(world.tracker.entries.values(), ties, strict=True):
        entry.updated = latest + later
    world.now = latest + 60
    for after, what in enumerate(during, 1):
        world.faults.add(Fault.between(lambda what=what: happen(world, what), after=after))
    at = mining(world)
    at.study = tmp_path_factory.mktemp("changing") / "study"
    at.fetch(world.tracker.name, *arguments, token=token)
    happen(world, between)
    while at.world.faults.pending:  # more may happen than the first fetch has requests
        at.fetch(world.tracker.name, *arguments, token=token)
    found = at.fetch(world.tracker.name, *arguments, token=token)
    close()

    assert found["complete"]
    with studies.opened(at.study) as study:
        issues = study.execute(
            "SELECT number::INTEGER, epoch(updated_at)::BIGINT, comment_count FROM store.issue"
        ).fetchall()
        comments = study.execute(
            "SELECT comment_id, epoch(updated_at)::BIGINT FROM store.comment WHERE gone_at IS NULL"
        ).fetchall()
    tracker = world.tracker
    expected = {(n, entry.updated, entry.comments) for n, entry in tracker.entries.items()}
    assert {row for row in issues if row[0] not in tracker.gone} == expected
    assert len({row[0] for row in issues}) == len(issues)
    if "--no-comments" not in arguments:
        there = {(f"github:comment/{each.id}", each.updated) for each in tracker.comments()}
        assert set(comments) >= there
        assert len(comments) - len(there) <= 30 * len(tracker.gone)


@settings(law, max_examples=400)
# More rows of a timestamp move than a page has, right before the page with the rows behind it.
@example(
    ties=[0, 0, 0, 0, 1, 2, 3, 4, 5],
    size=2,
    during=[[], [], [], [], [], [("touch", 1), ("touch", 2), ("touch", 3)]],
    between=[],
    again=[],
)
@given(
    ties=st.lists(st.integers(0, 3), min_size=1, max_size=14),
    size=st.integers(2, 4),
    during=st.lists(st.lists(HAPPENING, max_size=5), max_size=30),
    between=st.lists(HAPPENING, max_size=5),
    again=st.lists(st.lists(HAPPENING, max_size=3), max_size=10),
)
def test_a_list_that_is_walked_while_its_rows_move(
    ties: list[int],
    size: int,
    during: list[list[tuple[str, int]]],
    between: list[tuple[str, int]],
    again: list[list[tuple[str, int]]],
) -> None:
    moving = Moving({number: 1_000 + later for number, later in enumerate(ties, 1)}, size)
    moving.walk(during)
    assert moving.known.items() >= moving.rows.items()
    moving.happen(between)
    moving.walk(again)
    assert moving.known.items() >= moving.rows.items()


class Moving:
    """A list on counted pages, without a server, and who walks it."""

    def __init__(self, updates: dict[int, int], size: int) -> None:
        self.rows = updates
        self.known: dict[int, int] = {}
        self._size = size
        self._now = 2_000
        self._point = Checkpoint("list", "project", {}, self._url(None))

    def walk(self, meanwhile: Sequence[Sequence[tuple[str, int]]]) -> None:
        for turn in range(1_000):
            page, rows = self._page()
            if page.etag == self._point.etag:
                return
            self.known.update(rows)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(checkpoints, "PAGE", self._size)
                self._point = advance(self._point, page, self._url)
            if self._point.is_complete:
                return
            self.happen(meanwhile[turn] if turn < len(meanwhile) else ())
        pytest.fail("it does not end")

    def happen(self, what: Sequence[tuple[str, int]]) -> None:
        for kind, number in what:
            self._now += 1
            if kind == "delete":
                self.rows.pop(number, None)
            elif kind == "create":
                self.rows[max(self.rows, default=0) + 1] = self._now
            elif number in self.rows:
                self.rows[number] = self._now

    def _page(self) -> tuple[Page, dict[int, int]]:
        asked = parse_qs(urlsplit(self._point.url).query)
        since, number = asked.get("since", [""])[0], int(asked.get("page", ["1"])[0])
        oldest = instant(since) if since else 0
        listed = sorted((at, row) for row, at in self.rows.items() if at >= oldest)
        here = listed[(number - 1) * self._size : number * self._size]
        more = f"/list?since={since}&page={number + 1}" if listed[number * self._size :] else None
        page = Page(more, tuple(zulu(at) for at, _row in here), etag=repr(here))
        return page, {row: at for at, row in here}

    @staticmethod
    def _url(since: str | None) -> str:
        return f"/list?since={since or ''}"
