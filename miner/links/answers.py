"""What GitHub answered about commits: their pull requests, and the issues that these close."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, parse
from faultatlas.miner.archive import Exchange, exchange_of_row
from faultatlas.miner.links.references import Reference
from faultatlas.miner.payload import entries, entry
from faultatlas.miner.sources.github_names import identity

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

KINDS = ("graphql commits", "commit pulls")  # of stored exchanges


def answered(reader: Reader, number: int) -> Iterator[tuple[str, Reference]]:
    """What the stored response of that number says: commit to pull request to issue."""
    rows = reader.rows("SELECT * FROM store.response WHERE number = ?", [number])
    for row in rows:
        exchange = exchange_of_row(row)
        try:
            said = exchange.json()
        except ValueError:
            return
        if exchange.kind == "commit pulls":
            commit = _commit(exchange, exchange.request.get("commit"))
            yield from _pulls(commit, said, "html_url")
        else:
            commits = entry(said, "data", "repository")
            for each in commits.values() if isinstance(commits, dict) else ():
                commit = _commit(exchange, entry(each, "oid"))
                yield from _pulls(commit, entry(each, "associatedPullRequests", "nodes"), "url")


def _pulls(commit: str | None, said: Any, address: str) -> Iterator[tuple[str, Reference]]:
    for each in entries(said):
        pull = identity(each.get(address))
        if pull is None or commit is None:
            continue
        yield commit, Reference(str(pull), "part of", "associated pull request")
        for issue in entries(entry(each, "closingIssuesReferences", "nodes")):
            if closed := identity(issue.get("url")):
                yield str(pull), Reference(str(closed), "fixes", "closing issue reference")


def _commit(exchange: Exchange, sha: Any) -> str | None:
    try:
        it = parse(f"{exchange.project}#1")
        return str(ArtifactId("git", it.host, it.project, str(sha).lower()))
    except StudyError:
        return None
