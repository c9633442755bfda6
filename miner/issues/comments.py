"""Comments of the issues that a list brought, in as few requests as the server allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from faultatlas.miner import checkpoints
from faultatlas.miner.checkpoints import Checkpoint
from faultatlas.miner.issues import plan, scope
from faultatlas.miner.issues.parts import COMMENTS, PartReader
from faultatlas.miner.selection import stream_key
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.study import Writer
    from faultatlas.miner.http import Response
    from faultatlas.miner.ingest import Ingest
    from faultatlas.miner.issues.plan import Strategy
    from faultatlas.miner.issues.scope import Scope

_STREAM = "comments"
_LENGTH = "length of comments"  # of that list, where it was too long to be read


def read_comments(
    ingest: Ingest, area: Scope, *, is_whole: bool, tell: Callable[[str], None]
) -> tuple[Strategy, int, bool]:
    """Read what is pending; the strategy, the requests that it should take, and whether exactly.

    `is_whole` says that the area is all of the repository, so that its comments are counted
    already; else the list of all comments is asked how long it is.
    """
    reader = PartReader(ingest, area, COMMENTS)
    with ingest.study.reading() as study:
        parts = area.pending(study, COMMENTS.name)
        rows = scope.of_project(ingest.project.repository).count(study)["comments"]
        point = checkpoints.load(study, stream_key(ingest.project.key, _STREAM))
        old = point.since if point and point.is_complete else None
        fits = point is None or old is None or not area.never_read(study, COMMENTS.name, old)
        length = checkpoints.load(study, stream_key(ingest.project.key, _LENGTH))
    singly = plan.cheapest(parts, reader.offered())
    cost = plan.part_requests(parts, singly)
    if singly in ("none", "graphql"):
        # A hundred issues at a time: the list of all comments is never shorter than that.
        return _said(ingest, reader, singly, cost, tell)
    whole_cost = plan.walk_requests(rows) if is_whole else None
    if point is not None:
        whole_cost = 1 if point.is_complete else 0  # what is new since, or the rest of a walk
    elif whole_cost is None and length and length.selection["requests"] >= cost:
        whole_cost = length.selection["requests"]  # it has not become shorter since
    if cost <= 1 or not fits or (whole_cost is not None and whole_cost >= cost):
        return _said(ingest, reader, singly, cost, tell)
    taken = _walk(ingest, area, cost, whole_cost, tell)
    if taken is None:
        return _said(ingest, reader, singly, cost + 1, tell)
    reader.read(reader.offered()[0])  # where the list and the tracker's count disagree
    return "repository", taken, whole_cost is not None


def _said(
    ingest: Ingest,
    reader: PartReader,
    strategy: Strategy,
    cost: int,
    tell: Callable[[str], None],
) -> tuple[Strategy, int, bool]:
    if strategy != "none":
        tell(f"comments: {counted(cost, 'request')}, {plan.WORDS[strategy]}")
    ingest.planned = ingest.client.sent + cost
    reader.read(strategy)
    return strategy, cost, True


def _walk(
    ingest: Ingest, area: Scope, dearest: int, known: int | None, tell: Callable[[str], None]
) -> int | None:
    """Read the list of all comments, unless that is dearer; the requests that it should take."""
    cost = known

    def is_cheap(first: Response) -> bool:
        nonlocal cost
        pages = ingest.tracker.pages(first)
        if cost is None:
            cost = None if pages is None else plan.walk_requests(plan.rows_of_pages(pages))
        if cost is None or cost >= dearest:
            _remember(ingest, cost, first)
            cost = None
            return False
        ingest.planned = ingest.client.sent - 1 + cost
        at_most = "at most " if known is None else ""  # the last page may be short
        tell(f"comments: {at_most}{counted(cost, 'request')}, {plan.WORDS['repository']}")
        return True

    def mark(writer: Writer) -> None:
        writer.execute(
            "INSERT OR REPLACE INTO store.part_read "
            "SELECT i.artifact_id, 'comments', i.updated_at, false, ? FROM store.issue i LEFT JOIN "
            "(SELECT artifact_id, count(*) AS live FROM store.comment WHERE gone_at IS NULL "
            "GROUP BY ALL) c USING (artifact_id) "
            f"WHERE coalesce(c.live, 0) = i.comment_count AND {area.sql}",
            [ingest.run.run_id, *area.parameters],
        )

    has_read = ingest.walk(
        _STREAM,
        {"kind": "comments"},
        lambda since: ingest.tracker.comments_url(ingest.name, since),
        on_first=is_cheap,
        at_end=mark,
    )
    if cost is None:
        return None
    if not has_read:  # nothing is new, so what is pending has all of its comments
        with ingest.study.writing(keep_log=True) as writer:
            mark(writer)
    return cost


def _remember(ingest: Ingest, cost: int | None, first: Response) -> None:
    """Note how long the list is, so that a fetch that goes on need not ask again."""
    if cost is not None:
        about = {"requests": cost}
        stream = stream_key(ingest.project.key, _LENGTH)
        point = Checkpoint(stream, ingest.project.key, about, first.url, is_complete=True)
        with ingest.study.writing(keep_log=True) as writer:
            checkpoints.save(writer, point, ingest.run.run_id, first.received_at)
