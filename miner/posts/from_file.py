"""Questions that a file of `miner fetch --from` names, site by site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from faultatlas.miner.posts import command, pauses
from faultatlas.miner.posts.named import fetch_named
from faultatlas.miner.posts.selection import PostSelection

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.miner.issues.named import Named
    from faultatlas.report.console import Console

_API = re.compile(r"/2\.[0-9]{1,2}/*\Z")


def choose(found: Named, api_url: str | None) -> None:
    """`--api-url` names one server: what is on another is named in the result and not fetched."""
    if api_url is not None:
        if _API.search(api_url):
            found.only_posts()
        else:
            found.no_posts()


def fetch_posts(
    directory: Path,
    found: Named,
    arguments: Mapping[str, Any],
    console: Console,
    *,
    comments: bool,
    verify: bool,
    api_url: str | None,
    token_file: Path | None,
    max_wait: str,
) -> list[dict[str, Any]]:
    """Bring them into the study; what was done for each site.

    A token in a file is a tracker's, unless there are only posts.
    """
    has_issues = bool(found.issues or found.commits)
    documents = []
    for site, posts in found.posts.items():
        asked = command.Options(
            site=site,
            comments=comments,
            api_url=api_url,
            token_file=None if has_issues else token_file,
            max_wait=max_wait,
        )
        selection = PostSelection(site=site, comments=comments)
        with (
            command.connected(asked, site, console) as client,
            command.recorded(
                directory, arguments, site, console, client=client, name="miner fetch"
            ) as ingest,
        ):
            pauses.remember(ingest)
            fetch_named(ingest, posts, selection, only_new=not verify)
            ingest.note("ok")
            documents.append({"named": len(posts), **command.document_of(ingest, selection)})
    return documents
