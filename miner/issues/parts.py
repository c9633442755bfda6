"""Comments and events of issues: read for those that are new or have changed since.

Which issues those are is a question to the study, asked before every request; so a fetch that
was killed goes on where it stopped, and an issue is marked as read in the transaction that
holds its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.identity import parse
from faultatlas.miner import checkpoints
from faultatlas.miner.checkpoints import Checkpoint
from faultatlas.miner.ingest import Ingest, PartRead
from faultatlas.miner.issues.asking import ask_for
from faultatlas.miner.refusals import Refused, Trouble
from faultatlas.miner.selection import stream_key
from faultatlas.miner.sources import github_graphql as graphql
from faultatlas.miner.sources.github_names import event_row

if TYPE_CHECKING:
    from faultatlas.data.old.records import Rows
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.http import Response
    from faultatlas.miner.issues.plan import Strategy
    from faultatlas.miner.issues.scope import Scope

_MISSING = (404, 410, 451)
_FEW = 3  # left out of an answer: asking for them one by one is cheaper than once more together


@dataclass(frozen=True)
class Part:
    """What is read of an issue besides itself."""

    name: str  # in store.part_read
    kind: str  # of the request for one issue
    query: str  # for a hundred issues
    connection: str  # where the query's answer has it


COMMENTS = Part("comments", "issue comments", graphql.COMMENTS_QUERY, "comments")
EVENTS = Part("events", "timeline", graphql.EVENTS_QUERY, "timelineItems")


class PartReader:
    """Reads one part of the issues of a scope."""

    def __init__(self, ingest: Ingest, scope: Scope, part: Part) -> None:
        self._ingest = ingest
        self._scope = scope
        self._part = part
        self._batch = graphql.BATCH
        self._is_refused = False  # an older server may not know what the query asks for

    def read(self, strategy: Strategy) -> None:
        """Read until nothing is pending, one issue or a hundred at a time."""
        self._finish_long_ones()
        while rows := self._pending(self._batch if strategy == "graphql" else graphql.BATCH):
            if strategy == "graphql" and not self._is_refused:
                self._read_batch(rows)
            else:
                for row in rows:
                    self._read_issue(row["artifact_id"], row["number"], row["comment_count"])

    def offered(self) -> list[Strategy]:
        """The ways that this server allows, the preferred ones first."""
        return ["graphql", "issue"] if self._may_ask_graphql() else ["issue"]

    def _may_ask_graphql(self) -> bool:
        return self._ingest.project.source == "github" and self._ingest.client.has_token

    def _pending(self, most: int) -> list[dict[str, Any]]:
        with self._ingest.study.reading() as reader:
            return self._scope.next_pending(reader, self._part.name, most)

    def _read_batch(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """A hundred issues by their node ids; fewer where the server finds that too much."""
        asked = [row for row in rows if row["node_id"]]
        for row in rows:
            if not row["node_id"]:
                self._read_issue(row["artifact_id"], row["number"], row["comment_count"])
        if not asked:
            return
        response = self._ask_together(asked)
        if response is None:
            return
        artifacts = [row["artifact_id"] for row in asked]
        exchange = self._ingest.exchange(
            response, {"kind": f"graphql {self._part.name}", "artifacts": artifacts}
        )
        missing, unfinished = graphql.unread(exchange, self._part.connection)
        exchange = graphql.with_unread(exchange, missing)
        counted = {row["artifact_id"]: row["comment_count"] for row in asked}
        listed = _listed(exchange)
        done = [each for each in artifacts if each not in unfinished and each not in missing]
        parts = [self._as_read(each, listed[each], counted[each]) for each in done]
        points = [self._point(each, "graphql", at, listed[each]) for each, at in unfinished.items()]
        self._ingest.keep(exchange, parts=parts, points=points)
        numbers = {row["artifact_id"]: row["number"] for row in asked}
        for artifact in unfinished:
            self._go_on(artifact, numbers[artifact], counted[artifact])
        if len(missing) > _FEW and graphql.is_too_much(exchange):
            self._batch = max(_FEW, len(asked) // 4)  # they are pending still
            return
        for artifact in missing:
            self._read_issue(artifact, numbers[artifact], counted[artifact])

    def _ask_together(self, asked: Sequence[Mapping[str, Any]]) -> Response | None:
        """The answer for some issues, or None where they are to be asked for otherwise."""
        try:
            return self._ingest.client.graphql(
                self._part.query, {"ids": [row["node_id"] for row in asked], "after": None}
            )
        except Refused as refused:
            if refused.status != 200:
                raise
            self._is_refused = True
        except Trouble:
            self._batch = max(1, len(asked) // 4)
            if len(asked) == 1:  # too much even alone: it was not their number
                (row,) = asked
                self._read_issue(row["artifact_id"], row["number"], row["comment_count"])
                self._batch = graphql.BATCH
        return None

    def _read_issue(self, artifact: str, number: str, counted: int | None) -> None:
        ingest = self._ingest
        url = (
            ingest.tracker.issue_comments_url
            if self._part is COMMENTS
            else ingest.tracker.timeline_url
        )
        # Its own repository: what a file named may have been transferred.
        self._read_pages(artifact, counted, url(parse(artifact).project, number), [])

    def _read_pages(
        self, artifact: str, counted: int | None, url: str, seen: Sequence[str]
    ) -> None:
        """The pages of one issue from one of them on, with the ids that the earlier ones had."""
        ingest, at, known = self._ingest, url, list(seen)
        while True:
            response = ingest.client.get(at, accept=_MISSING)
            if response.status in _MISSING:
                self._ask_about(artifact)
                return
            following = ingest.tracker.next_url(response)
            exchange = ingest.exchange(
                response,
                {
                    "kind": self._part.kind,
                    "artifact": artifact,
                    "is_last": following is None,
                    "seen": list(known),
                },
            )
            checkpoints.refuse_circle(at, following)
            known.extend(self._ids(exchange))
            if following is None:
                part = self._as_read(artifact, known, counted)
                ingest.keep(exchange, parts=[part], drop=self._stream(artifact))
                return
            ingest.keep(exchange, points=[self._point(artifact, "rest", following, known)])
            at = following

    def _ask_about(self, artifact: str) -> None:
        """Ask for an issue whose part is not there: only its own answer says what became of it."""
        ask_for(self._ingest, [{"artifact_id": artifact, "number": artifact.rpartition("#")[2]}])
        self._ingest.mark([PartRead(artifact, self._part.name, is_short=True)])
        with self._ingest.study.writing(keep_log=True) as writer:
            checkpoints.drop(writer, self._stream(artifact))

    def _go_on(self, artifact: str, number: str, counted: int | None) -> None:
        """The further pages of an issue that has more than one."""
        with self._ingest.study.reading() as reader:
            point = checkpoints.load(reader, self._stream(artifact))
        if point is None:
            return
        try:
            self._read_further(point, artifact, number, counted)
        except Refused:  # the address of the next page holds no longer
            self._read_issue(artifact, number, counted)

    def _read_further(
        self, point: Checkpoint, artifact: str, number: str, counted: int | None
    ) -> None:
        seen = list(point.selection["seen"])
        if point.selection["via"] == "rest":
            self._read_pages(artifact, counted, point.url, seen)
            return
        with self._ingest.study.reading() as reader:
            node = reader.value("SELECT node_id FROM store.issue WHERE artifact_id = ?", [artifact])
        cursor: str | None = point.url
        while cursor is not None:
            response = self._ingest.client.graphql(
                self._part.query, {"ids": [node], "after": cursor}
            )
            asked = {"artifacts": [artifact], "after": cursor, "seen": list(seen)}
            exchange = self._ingest.exchange(
                response, {"kind": f"graphql {self._part.name}", **asked}
            )
            missing, unfinished = graphql.unread(exchange, self._part.connection)
            if missing:
                self._read_issue(artifact, number, counted)
                return
            exchange = graphql.with_unread(exchange, missing)
            seen.extend(_listed(exchange)[artifact])
            checkpoints.refuse_circle(cursor, unfinished.get(artifact))
            cursor = unfinished.get(artifact)
            if cursor is None:
                part = self._as_read(artifact, seen, counted)
                self._ingest.keep(exchange, parts=[part], drop=self._stream(artifact))
            else:
                self._ingest.keep(exchange, points=[self._point(artifact, "graphql", cursor, seen)])

    def _finish_long_ones(self) -> None:
        """Issues whose first pages were read before the last run ended."""
        start = f"{self._stream('')}%"
        with self._ingest.study.reading() as reader:
            rows = reader.rows(
                "SELECT i.artifact_id, i.number, i.comment_count, i.updated_at, "
                "c.selection ->> 'updated_at' AS begun_at FROM store.checkpoint c "
                "JOIN store.issue i ON i.artifact_id = c.selection ->> 'artifact' "
                f"WHERE c.stream LIKE ? AND {self._scope.sql} ORDER BY i.artifact_id",
                [start, *self._scope.parameters],
            )
        for row in rows:
            if str(row["updated_at"]) == row["begun_at"]:
                self._go_on(row["artifact_id"], row["number"], row["comment_count"])
            else:  # it has changed since: what was on its first pages may have, too
                with self._ingest.study.writing(keep_log=True) as writer:
                    checkpoints.drop(writer, self._stream(row["artifact_id"]))

    def _ids(self, exchange: Exchange) -> list[str]:
        if exchange.status != 200:
            return []
        rows = self._ingest.tracker.read(exchange, lambda login: login)
        return [each for _artifact, each in _ids_in(rows)]

    def _as_read(self, artifact: str, listed: Sequence[str], counted: int | None) -> PartRead:
        is_short = self._part is COMMENTS and counted is not None and len(listed) < counted
        return PartRead(artifact, self._part.name, is_short)

    def _point(self, artifact: str, via: str, url: str, seen: Sequence[str]) -> Checkpoint:
        with self._ingest.study.reading() as reader:
            updated = reader.value(
                "SELECT updated_at FROM store.issue WHERE artifact_id = ?", [artifact]
            )
        about = {"artifact": artifact, "via": via, "seen": list(seen), "updated_at": str(updated)}
        return Checkpoint(self._stream(artifact), self._ingest.project.key, about, url)

    def _stream(self, artifact: str) -> str:
        return stream_key(self._ingest.project.key, f"{self._part.name} of {artifact}")


def _listed(exchange: Exchange) -> dict[str, list[str]]:
    """The ids of the comments or events that a GraphQL answer lists for each issue."""
    found: dict[str, list[str]] = {artifact: [] for artifact in exchange.request["artifacts"]}
    for artifact, each in _ids_in(graphql.read(exchange, lambda login: login)):
        found[artifact].append(each)
    return found


def _ids_in(rows: Rows) -> Iterator[tuple[str, str]]:
    """Artifacts with the ids of their comments and events."""
    for comment in rows.comments:
        yield comment.artifact_id, comment.comment_id
    for event in rows.events:
        yield event.artifact_id, event.event_id
        # And the id that it has as soon as the study forgets what it names.
        nameless = event_row(
            event.artifact_id,
            event.kind,
            actor=None,
            label=event.label,
            other=None,
            detail=None,
            created_at=event.created_at,
        )
        if event.other_id:
            yield event.artifact_id, nameless.event_id
