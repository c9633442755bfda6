"""What changes on the tracker while a fetch reads it, or between two: nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import TOKEN, Fault, World, studies
from loopback.payloads import instant, zulu
from loopback.ways import WAYS, Way
from mining import Mining

from miner import checkpoints
from miner.checkpoints import Checkpoint, Page, advance

Start = Callable[..., Mining]
law = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# Issues to comment on, to edit a comment of, to delete a comment of, and to delete.
TOUCHED = {"graphql": (7, 13, 31, 17), "repository": (3, 6, 9, 11), "issue": (6, 13, 11, 22)}


@pytest.fixture(autouse=True)
def close(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    with studies.opened_once(monkeypatch) as closing:
        yield closing


def fetched(at: Mining, way: Way, *more: str) -> dict[str, Any]:
    found = at.fetch(at.world.tracker.name, *way.arguments, *more, token=way.token)
    assert found["complete"]
    return found


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


@pytest.mark.parametrize("k", range(1, len(LISTED.kinds) + 1))
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_two_pages_of_the_list(
    mining: Start, close: Callable[[], None], tmp_path: Path, change: str, k: int
) -> None:
    make, changed = CHANGES[change]
    at = mining(LISTED.world())
    at.study = studies.keyed(tmp_path / "changing")
    at.world.faults.add(Fault.between(lambda: make(at.world), after=k))
    fetched(at, LISTED)
    pages = [request for request in at.asked if request.path.endswith("/tensors/issues")]
    assert at.world.faults.pending == []
    first = rows(at, close)
    fetched(at, LISTED)
    second = rows(at, close)
    at.study = studies.keyed(tmp_path / "after")
    fetched(at, LISTED)
    after = rows(at, close)

    assert {n: row for n, row in first.items() if n not in changed} == {
        n: row for n, row in after.items() if n not in changed
    }
    assert second.items() >= after.items()
    assert second.keys() - after.keys() <= changed
    if any(request.number > k for request in pages):  # the list was not yet at its end
        assert first == second


def rows(at: Mining, close: Callable[[], None]) -> dict[int, Any]:
    close()
    return {int(row[3]): row for row in studies.live(at.study)["issue"]}


@pytest.mark.parametrize(
    ("name", "k"),
    [
        pytest.param(name, k, id=f"{name}-{k}{kind}")
        for name, way in WAYS.items()
        for k, kind in enumerate(way.kinds, 1)
        if k + 1 >= way.kinds.rindex("L")
    ],
)
def test_changes_between_two_pages_of_comments(
    mining: Start, close: Callable[[], None], tmp_path: Path, name: str, k: int
) -> None:
    """All at once; after the last page they are changes between two runs."""
    way = WAYS[name]
    at = mining(way.world())
    at.study = studies.keyed(tmp_path / "changing")

    def change() -> None:
        commented, edited, shortened, deleted = TOUCHED[name]
        at.world.touch(commented, comment="one more")
        at.world.edit_comment(edited)
        at.world.delete_comment(shortened)
        at.world.delete(deleted)
        number = at.world.create("crash")
        at.world.touch(number, comment="the first")

    at.world.faults.add(Fault.between(change, after=k))
    fetched(at, way)
    assert at.world.faults.pending == []
    fetched(at, way, "--verify")
    close()
    assert not repeated(at.study)
    found = studies.live(at.study)
    at.study = studies.keyed(tmp_path / "after")
    fetched(at, way)
    close()
    assert found == studies.live(at.study)


def repeated(study: Path) -> list[Any]:
    with studies.opened(study) as found:
        return found.execute(
            "SELECT url FROM store.issue GROUP BY ALL HAVING count(*) > 1 UNION ALL "
            "SELECT url FROM store.comment GROUP BY ALL HAVING count(*) > 1"
        ).fetchall()


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
@settings(law, max_examples=12)
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
@given(
    ties=st.lists(st.integers(0, 3), min_size=1, max_size=14),
    size=st.integers(2, 4),
    during=st.lists(st.lists(HAPPENING, max_size=3), max_size=30),
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
