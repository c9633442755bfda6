"""Issues asked for by their numbers: those that a file names, or that a list lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.data.identity import parse
from faultatlas.miner.ingest import PartRead
from faultatlas.miner.payload import entry
from faultatlas.miner.refusals import Refused, Trouble
from faultatlas.miner.sources import github_graphql as graphql
from faultatlas.miner.sources.github_names import identity

if TYPE_CHECKING:
    from faultatlas.miner.ingest import Ingest
    from faultatlas.miner.selection import Selection

# A single issue may be gone, blocked, or moved: a redirect is followed.
_ANSWERS = (404, 410, 451)
FEW = 3  # below, asking one by one is no dearer than a batch and what it leaves open


def ask_for(
    ingest: Ingest, issues: Sequence[dict[str, Any]], selection: Selection | None = None
) -> None:
    """Ask for issues by their numbers, a hundred at a time where the server allows it."""
    about = {"selection": selection.as_json()} if selection else {}
    left = list(issues)
    if ingest.client.has_token and ingest.project.source == "github" and len(left) > FEW:
        left = _ask_together(ingest, left, about)
    for row in left:
        _ask_one(ingest, row, about)


def _ask_one(ingest: Ingest, row: dict[str, Any], about: dict[str, Any]) -> None:
    name = parse(row["artifact_id"]).project
    response = ingest.client.get(ingest.tracker.issue_url(name, row["number"]), accept=_ANSWERS)
    if response.status == 200 and ingest.project.source == "github" and name == ingest.name:
        it = identity(entry(response.json(), "html_url"))
        if it is not None and it.project != name:
            _ask_name(ingest)  # was the issue transferred, or has the repository a new name?
    request = {"kind": "issue", "artifact": row["artifact_id"], **about}
    ingest.keep(ingest.exchange(response, request))


def _ask_name(ingest: Ingest) -> None:
    """Learn what a repository is called now; once is enough."""
    if ingest.name not in ingest.known_names:
        ingest.known_names.add(ingest.name)
        response = ingest.client.get(f"/repos/{ingest.name}")
        ingest.keep(ingest.exchange(response, {"kind": "repository"}))
        ingest.known_names.add(ingest.name)  # the new one


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
            if len(batch) > 1:
                most = max(1, most // 4)
                continue
            lacking.extend(batch)  # too much even alone: by itself it is asked for otherwise
        except Refused as refused:
            if refused.status != 200:
                raise
            return [*lacking, *issues[done:]]  # an older server, which lacks a field
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
    found = entry(exchange.json(), "data", "repository") or {}
    return [row for row in rows if not entry(found, f"n{row['number']}")]
