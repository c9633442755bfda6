"""Repositories in GitHub's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from faultatlas.data.old.records import FoundRow, RepositoryRow, Rows
from faultatlas.miner.archive import Exchange
from faultatlas.miner.payload import Who, boolean, entries, entry, integer, moment, names, text
from faultatlas.miner.sources.github_names import identity

LEFT_OUT = {"fork": "is_fork", "disabled": "is_disabled", "archived": "is_archived"}


def read_repositories(rows: Rows, exchange: Exchange, said: Any, _who: Who) -> None:
    """The repositories on a page of a search, and that this search found them."""
    request = exchange.request
    for item in entries(entry(said, "items")):
        row = repository_row(item)
        if row is None:
            continue
        rows.repositories.append(row)
        rows.found.append(
            FoundRow(
                search=request["search"],
                turn=request["turn"],
                slice=request["slice"],
                repository_id=row.repository_id,
                project=row.project,
                left_out=left_out(row, request["leave_out"]),
            )
        )


def left_out(row: RepositoryRow, kinds: Iterable[str]) -> str | None:
    """The first of these kinds that a repository is of."""
    return next((kind for kind in kinds if getattr(row, LEFT_OUT[kind])), None)


def repository_row(said: Mapping[str, Any]) -> RepositoryRow | None:
    """A repository as the REST interface gives it, or None for what is none.

    Its owner may be a person. The login stays: it is half of the project's name, under which
    issues are fetched and artifacts have their ids.
    """
    it = identity(f"{said.get('html_url')}/issues/1")
    number = said.get("id")
    if it is None or not isinstance(number, int):
        return None
    host = "" if it.host == "github.com" else f"{it.host}/"
    return RepositoryRow(
        repository_id=f"github:{host}repository/{number}",
        source=it.source,
        project=it.repository,
        url=text(said.get("html_url")),
        description=text(said.get("description")) or None,
        language=text(said.get("language")),
        stars=integer(said.get("stargazers_count")),
        forks=integer(said.get("forks_count")),
        open_issues=integer(said.get("open_issues_count")),
        topics=names(said.get("topics")),
        license=text(entry(said, "license", "spdx_id")),
        is_fork=boolean(said.get("fork")),
        is_archived=boolean(said.get("archived")),
        is_disabled=boolean(said.get("disabled")),
        size_kb=integer(said.get("size")),
        default_branch=text(said.get("default_branch")),
        created_at=moment(said.get("created_at")),
        pushed_at=moment(said.get("pushed_at")),
        updated_at=moment(said.get("updated_at")),
    )
