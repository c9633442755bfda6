"""`miner repos` from the options to the result."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner import projects
from faultatlas.miner.connecting import connected
from faultatlas.miner.search.repositories import plan_search, search_repositories
from faultatlas.report.formatting import counted
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.miner.search.query import RepositoryQuery
    from faultatlas.miner.search.results import SearchPlan, SearchProgress, SearchResult
    from faultatlas.report.old.console import Output

_API = "https://api.github.com"


def run_search_plan(
    query: RepositoryQuery,
    output: Output,
    *,
    api_url: str | None,
    token_file: Path | None,
    max_wait: str,
) -> SearchPlan:
    """What a search would cost; one request for each language, and nothing is stored."""
    api_url = api_url or projects.usual_api(os.environ) or _API
    with connected(
        "github", api_url, token_file=token_file, max_wait=max_wait, tell=output.tell
    ) as client:
        return plan_search(client, query)


def run_search(
    directory: Path,
    query: RepositoryQuery,
    output: Output,
    *,
    api_url: str | None,
    token_file: Path | None,
    max_wait: str,
) -> SearchResult:
    """Make a search, or go on with one that was not finished."""
    study = Study(directory, wait_s=math.inf, tell=output.tell)
    api_url = api_url or projects.usual_api(os.environ)
    run = provenance.begin("miner repos", {"search": query.name, "api_url": api_url})
    with (
        connected(
            "github", api_url or _API, token_file=token_file, max_wait=max_wait, tell=output.tell
        ) as client,
        progress(output, query.name) as bar,
    ):

        def show(at: SearchProgress) -> None:
            bar.update(
                at.found, at.total, requests=client.sent, note=counted(at.slices_left, "slice")
            )

        return search_repositories(
            study, client, run, query, host=_host(api_url), tell=output.tell, on_page=show
        )


def _host(api_url: str | None) -> str:
    """The host in names; a server on this machine stands for the public one, as for issues."""
    host = urlsplit(api_url or "").hostname or ""
    is_public = host in ("", "api.github.com") or projects.is_this_machine(host)
    return "github.com" if is_public else host.removeprefix("api.")
