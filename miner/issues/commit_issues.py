"""The pull requests of commits that a file names, and the issues that these close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faultatlas.data.identity import ArtifactId
from faultatlas.miner.payload import entries, entry
from faultatlas.miner.sources import github_graphql as graphql
from faultatlas.miner.sources.github_names import identity

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.ingest import Ingest

_UNKNOWN = (404, 409, 422)  # no such commit


def issues_of_commits(ingest: Ingest, commits: Sequence[ArtifactId]) -> list[ArtifactId]:
    """Ask which pull requests brought the commits, and which issues those close; keep the answers.

    Without a token only the pull requests can be learnt, one commit at a time.
    """
    found: list[ArtifactId] = []
    if ingest.client.has_token:
        owner, _, name = ingest.name.partition("/")
        for start in range(0, len(commits), graphql.BATCH):
            asked = [it.key for it in commits[start : start + graphql.BATCH]]
            response = ingest.client.graphql(
                graphql.commits_query(asked), {"owner": owner, "name": name}
            )
            exchange = ingest.exchange(response, {"kind": "graphql commits", "commits": asked})
            ingest.keep(exchange)
            found.extend(_by_graphql(exchange))
    else:
        for it in commits:
            response = ingest.client.get(
                f"/repos/{ingest.name}/commits/{it.key}/pulls?per_page=100", accept=_UNKNOWN
            )
            exchange = ingest.exchange(response, {"kind": "commit pulls", "commit": it.key})
            ingest.keep(exchange)
            if exchange.status == 200:
                found.extend(_named(each.get("html_url") for each in entries(exchange.json())))
    return list(dict.fromkeys(found))


def _by_graphql(exchange: Exchange) -> list[ArtifactId]:
    repository = entry(exchange.json(), "data", "repository")
    urls: list[object] = []
    for commit in (repository or {}).values():
        for pull in entries(entry(commit, "associatedPullRequests", "nodes")):
            urls.append(pull.get("url"))
            closed = entry(pull, "closingIssuesReferences", "nodes")
            urls.extend(issue.get("url") for issue in entries(closed))
    return _named(urls)


def _named(urls: Iterable[object]) -> list[ArtifactId]:
    return [it for it in map(identity, urls) if it]
