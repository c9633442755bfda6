"""A search, walked page by page to its end, from where it was left.

A search that was read to its end is asked again from its beginning: an index changes its order.
A cursor that the index no longer knows, too, begins anew. Of several searches of which some were
not read to their end only these are asked: a quota for a day would never reach the last.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.checkpoints import Checkpoint
from faultatlas.miner.papers.client import NotAllowed
from faultatlas.miner.refusals import Refused, Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultatlas.miner.http import Response
    from faultatlas.miner.papers.ingest import PaperIngest
    from faultatlas.miner.papers.service import Manner, Page, Query, Service

_EXPIRED = (400, 404, 410)


@dataclass
class Walked:
    """What came of a search."""

    source: str
    search: str
    name: str = ""
    total: int | None = None  # as the index counts
    records: int = 0  # that it gave, in this and earlier runs
    without_title: int = 0  # of this run
    is_complete: bool = False
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dict(self.__dict__)


def walk_all(
    ingest: PaperIngest, queries: Sequence[Query], tell: Callable[[str], None]
) -> list[Walked]:
    """Read searches to their ends: all of them, or those that the run before did not."""
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    points = [ingest.begun(_stream(ingest, query)) for query in queries]
    done = [point is not None and point.is_complete for point in points]
    if all(done):
        done = [False] * len(queries)
    walks = []
    for query, point, is_done in zip(queries, points, done, strict=True):
        if is_done and point is not None:
            walks.append(_read_before(ingest.client.service.name, query, point))
        else:
            walks.append(walk(ingest, query, tell))
    return walks


def _read_before(service: str, query: Query, point: Checkpoint) -> Walked:
    """What an earlier run read: to its end, which need not be all that the index counts."""
    note = "it was read to its end before; all are asked again when all were"
    total, records = point.selection.get("total"), int(point.since or 0)
    is_complete = total is None or records >= total
    return Walked(
        service, query.text, query.name, total, records, is_complete=is_complete, notes=[note]
    )


def walk(ingest: PaperIngest, query: Query, tell: Callable[[str], None]) -> Walked:
    """Read a search to its end."""
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    client, service = ingest.client, ingest.client.service
    walked = Walked(service.name, query.text, query.name, notes=list(query.notes))
    stream = _stream(ingest, query)
    manners = list(service.manners(has_key=client.has_key))
    point = ingest.begun(stream)
    if point is None or point.is_complete or _manner(manners, point) is None:
        point = _beginning(service, query, manners[0], stream, ingest.project)
    is_resumed = point.since is not None
    asked: set[str] = set()
    while True:
        if point.url in asked:
            raise Trouble(
                f"{service.title} leads back to a page that it gave before",
                "What was read is stored. Run the same command again later.",
            )
        asked.add(point.url)
        manner = _manner(manners, point) or manners[0]
        try:
            response = client.get(point.url)
        except NotAllowed as refused:
            following = _following(manners, manner)
            if following is None or point.since is not None:
                raise
            tell(f"{refused.message}; asking for less: {following.loss}")
            point = _beginning(service, query, following, stream, ingest.project)
            continue
        except Refused as refused:
            if refused.status not in _EXPIRED or not is_resumed:
                raise
            is_resumed = False  # the place where it was left is no longer known
            asked.clear()
            point = _beginning(service, query, manner, stream, ingest.project)
            continue
        page = _page(service, response)
        point = _keep(ingest, query, point, page=page, response=response, walked=walked)
        if point.is_complete:
            return _ended(walked, manner)
        if page.total:
            left = max(page.total - walked.records, 0)
            size = max(len(page.items), 1)
            ingest.planned = client.sent + -(-left // size)


def _keep(
    ingest: PaperIngest,
    query: Query,
    point: Checkpoint,
    *,
    page: Page,
    response: Response,
    walked: Walked,
) -> Checkpoint:
    """Store a page with where to go on; the checkpoint after it."""
    done = int(point.since or 0)
    after = replace(
        point,
        url=page.following or point.url,
        since=str(done + len(page.items)),
        is_complete=page.following is None,
        selection={**point.selection, "total": page.total},
    )
    service = ingest.client.service if ingest.client else None
    assert service is not None  # noqa: S101  (as above)
    request = {"kind": service.kind, "search": query.text, "first": done + 1}
    if query.name:
        request["name"] = query.name
    ingest.keep(ingest.exchange(response, request), after)
    walked.total = page.total
    walked.records = done + len(page.items)
    walked.without_title += sum(each is None for each in service.entries(page.items))
    ingest.stage = query.name
    return after


def _ended(walked: Walked, manner: Manner) -> Walked:
    reached = walked.total is None or walked.records >= walked.total
    walked.is_complete = reached
    if manner.loss:
        walked.notes.append(f"the key gives {manner.loss}")
    if not reached and manner.most is not None and walked.records >= manner.most:
        walked.notes.append(
            f"{walked.total:,} papers, of which this key can read the first {manner.most:,}: "
            "cut the search by years with --since and --until"
        )
    elif not reached:
        walked.notes.append(
            f"the index counts {walked.total:,} papers and gave {walked.records:,}: run it again"
        )
    if walked.without_title:
        walked.notes.append(f"{walked.without_title:,} results without a title are left out")
    return walked


def _stream(ingest: PaperIngest, query: Query) -> str:
    return f"{ingest.project} search {json.dumps({'search': query.text})}"


def _beginning(
    service: Service, query: Query, manner: Manner, stream: str, project: str
) -> Checkpoint:
    about = {"search": query.text, "manner": manner.name}
    return Checkpoint(stream, project, about, service.first_url(query, manner))


def _manner(manners: Sequence[Manner], point: Checkpoint) -> Manner | None:
    wanted = point.selection.get("manner")
    return next((each for each in manners if each.name == wanted), None)


def _following(manners: Sequence[Manner], manner: Manner) -> Manner | None:
    behind = list(manners)[list(manners).index(manner) + 1 :]
    return behind[0] if behind else None


def _page(service: Service, response: Response) -> Page:
    page = service.page(response.json(), response.url)
    if page is None:  # the client takes no other answer
        raise StudyError(f"{service.title} gave no list", "Run the same command again.")
    return page
