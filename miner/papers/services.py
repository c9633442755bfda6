"""The indexes that can be asked, by name."""

from __future__ import annotations

from typing import Literal, cast, get_args

from faultatlas.miner.papers import openalex, scopus
from faultatlas.miner.papers.service import Service

Name = Literal["openalex", "scopus"]
NAMES: tuple[Name, ...] = get_args(Name)
_SERVICES: dict[str, Service] = {"openalex": openalex.SERVICE, "scopus": scopus.SERVICE}


def service(name: str) -> Service:
    """The index of that name."""
    return _SERVICES[cast("Name", name)]


def service_of_kind(kind: str) -> Service | None:
    """The index whose answers are of that kind."""
    return next((each for each in _SERVICES.values() if each.kind == kind), None)
