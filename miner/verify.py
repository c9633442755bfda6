"""`--verify`: what the tracker no longer lists was deleted, moved, blocked or lost its label.

None of that shows up in a list of changes, so the whole list is read again, and what is missing
from it is asked for by name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from miner import checkpoints, graphql, scope
from miner.ingest import PartRead
from miner.payload import entry
from miner.refusals import Trouble
from miner.selection import Selection, stream_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miner.ingest import Ingest

# A single issue may be gone, blocked, or moved: a redirect is followed.
_ANSWERS = (404, 410, 451)
FEW = 3  # below, asking one by one is no dearer than a batch and what it leaves open


@dataclass(frozen=True)
class Verified:
    """What a verification found."""

    listed: int
    missing: int
    gone: int
    transferred: int
    lost_label: int


def verify(ingest: Ingest, selection: Selection) -> Verified:
    """List everything again and mark what is not there any more."""
    area = scope.of_selection(ingest.project.repository, selection)
    mark = f"listed {_short(selection)}"
    for stream in selection.streams():
        _list_again(ingest, stream, mark)
    with ingest.study.reading() as reader:
        listed = reader.value("SELECT count(*) FROM store.part_read WHERE part = ?", [mark]) or 0
        missing = reader.rows(
            "SELECT i.artifact_id, i.number FROM store.issue i "
            f"WHERE {area.sql} AND i.artifact_id NOT IN "
            "(SELECT artifact_id FROM store.part_read WHERE part = ?) "
            "AND i.artifact_id NOT IN (SELECT artifact_id FROM store.departure) "
            "ORDER BY TRY_CAST(i.number AS BIGINT), i.number",
            [*area.parameters, mark],
        )
    ask_for(ingest, missing, selection)
    found = _outcome(ingest, [row["artifact_id"] for row in missing], int(listed))
    with ingest.study.writing(keep_log=True) as writer:
        writer.execute("DELETE FROM store.part_read WHERE part = ?", [mark])
        for stream in selection.streams():
            checkpoints.drop(writer, stream_key(ingest.project.key, "verification", stream))
    return found


def ask_for(
    ingest: Ingest, issues: Sequence[dict[str, Any]], selection: Selection | None = None
) -> None:
    """Ask for issues by their numbers, a hundred at a time where the server allows it."""
    about = {"selection": selection.as_json()} if selection else {}
    left = list(issues)
    if ingest.client.has_token and ingest.project.source == "github" and len(left) > FEW:
        left = _ask_together(ingest, left, about)
    for row in left:
        response = ingest.client.get(
            ingest.tracker.issue_url(ingest.name, row["number"]), accept=_ANSWERS
        )
        request = {"kind": "issue", "artifact": row["artifact_id"], **about}
        ingest.keep(ingest.exchange(response, request))


def _ask_together(
    ingest: Ingest, issues: Sequence[dict[str, Any]], about: dict[str, Any]
) -> list[dict[str, Any]]:
    """Ask for a hundred at a time, fewer where the server finds that too much; what it lacked."""
    lacking: list[dict[str, Any]] = []
    most, done = graphql.BATCH, 0
    while done < len(issues):
        batch = issues[done : done + most]
        try:
            lacking.extend(_ask_batch(ingest, batch, about))
        except Trouble:
            if most == 1:
                raise
            most = max(1, most // 4)
            continue
        done += len(batch)
    return lacking


def _ask_batch(
    ingest: Ingest, rows: Sequence[dict[str, Any]], about: dict[str, Any]
) -> list[dict[str, Any]]:
    """Ask for a hundred; those that the answer lacks must be asked for one by one, to learn why."""
    owner, _, name = ingest.name.partition("/")
    query = graphql.issues_query(int(row["number"]) for row in rows)
    response = ingest.client.graphql(query, {"owner": owner, "name": name})
    artifacts = [row["artifact_id"] for row in rows]
    exchange = ingest.exchange(
        response, {"kind": "graphql issues", "artifacts": artifacts, **about}
    )
    if entry(exchange.json(), "data", "repository") is None:
        ingest.client.get(f"/repos/{ingest.name}")  # says what is wrong with the project
    answered = graphql.read(exchange, lambda login: login)
    complete = [PartRead(each, "comments") for each in answered.all_comments_of]
    ingest.keep(exchange, parts=complete)
    found = {row.number for row in answered.issues}
    return [row for row in rows if row["number"] not in found]


def _list_again(ingest: Ingest, stream: Selection, mark: str) -> None:
    ingest.walk(
        "verification",
        {"kind": "issues", "selection": stream.as_json()},
        lambda since: ingest.tracker.issues_url(ingest.name, stream, since),
        selection=stream,
        listed=mark,
    )


def _outcome(ingest: Ingest, missing: list[str], listed: int) -> Verified:
    with ingest.study.reading() as reader:
        gone = reader.rows(
            "SELECT reason, count(*) AS n FROM store.departure "
            "WHERE artifact_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY reason",
            [missing],
        )
        lost = reader.value(
            "SELECT count(DISTINCT artifact_id) FROM store.lost_label "
            "WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
            [missing],
        )
    by_reason = {row["reason"]: row["n"] for row in gone}
    moved = by_reason.pop("transferred", 0)
    return Verified(listed, len(missing), sum(by_reason.values()), moved, int(lost or 0))


def _short(selection: Selection) -> str:
    return hashlib.blake2b(str(selection.as_json()).encode(), digest_size=6).hexdigest()
