"""`--verify`: what the tracker no longer lists was deleted, moved, blocked or lost its label.

None of that shows up in a list of changes, so the whole list is read again, and what is missing
from it is asked for by name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.miner import checkpoints
from faultatlas.miner.issues import scope
from faultatlas.miner.issues.asking import ask_for
from faultatlas.miner.selection import Selection, stream_key

if TYPE_CHECKING:
    from faultatlas.miner.ingest import Ingest


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
    mark = f"listed {_short(ingest.project.key, selection)}"
    for stream in selection.streams():
        _list_again(ingest, stream, mark)
    with ingest.study.reading() as reader:
        listed = reader.value("SELECT count(*) FROM store.part_read WHERE part = ?", [mark]) or 0
        missing = reader.rows(
            "SELECT i.artifact_id, i.number FROM store.issue i "
            f"WHERE {area.sql} AND i.artifact_id NOT IN "
            "(SELECT artifact_id FROM store.part_read WHERE part = ?) "
            # Why one was not found may be known by now: it is asked for again.
            "AND i.artifact_id NOT IN "
            "(SELECT artifact_id FROM store.departure WHERE reason <> 'not found') "
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


def _short(project: str, selection: Selection) -> str:
    # With the project: the same selection may be verified in two projects at the same time.
    said = f"{project} {selection.as_json()}"
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()
