"""Searches of published studies, one TOML file each: facts, with their source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.miner.papers.service import Query, Service


@dataclass(frozen=True)
class Words:
    """One search: a paper has a word of every group."""

    name: str
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Template:
    """The searches of a study, in the venues that it names."""

    name: str
    title: str
    source: str
    venues: tuple[str, ...]
    searches: tuple[Words, ...]
    notes: tuple[str, ...] = ()

    def queries(self, service: Service, since: int | None, until: int | None) -> list[Query]:
        """The searches as an index takes them."""
        return [self._query(words, service, since, until) for words in self.searches]

    def _query(self, words: Words, service: Service, since: int | None, until: int | None) -> Query:
        said = " AND ".join(_group(group) for group in words.groups)
        if service.name == "scopus":
            venues = f"CONF({' OR '.join(self.venues)}) AND " if self.venues else ""
            query = service.query(f"{venues}TITLE-ABS-KEY({said})", since, until)
            return replace(query, name=words.name)
        lacking = (
            f"{service.title} cannot be asked for venues by their acronyms: it is asked for papers "
            "of all venues; choose among them with `miner filter`"
        )
        query = service.query(said, since, until)
        return replace(query, name=words.name, notes=(lacking,) if self.venues else ())


def names() -> list[str]:
    """The templates that are shipped."""
    folder = files(__package__) / "templates"
    found = (each.name for each in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def template(name: str) -> Template:
    """The template of that name."""
    if name not in names():
        raise StudyError(f"there is no template {shown(name)}", f"Known: {', '.join(names())}.")
    said = tomllib.loads(
        (files(__package__) / "templates" / f"{name}.toml").read_text(encoding="utf-8")
    )
    return Template(
        name=name,
        title=said["title"],
        source=said["source"],
        venues=tuple(said.get("venues", ())),
        searches=tuple(
            Words(each["name"], tuple(tuple(group) for group in each["groups"]))
            for each in said["searches"]
        ),
        notes=tuple(said.get("notes", ())),
    )


def _group(words: tuple[str, ...]) -> str:
    quoted = [f'"{word}"' for word in words]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"
