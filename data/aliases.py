"""Other names of artifacts: old repository names, transferred issues, node ids, short hashes.

Aliases are facts that a miner learns; this module only follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import (
    ArtifactId,
    artifact_id,
    parse,
    project_of,
    shown,
    split_project,
)

AliasKind = Literal["repository", "transfer", "node", "short_hash", "answer", "paper"]


@dataclass(frozen=True, slots=True)
class Alias:
    """`alias` is another name of `artifact_id`.

    `repository`: an old name of a project, both as `project_of` writes them; it holds for all
    issues and commits of that project. `transfer`: an issue's id before it was moved.
    `short_hash`, `answer`: a provisional id. `node`: an API's opaque id, kept as it is.
    `paper`: the id that another record of the same paper would have had alone.
    """

    alias: str
    artifact_id: str
    kind: AliasKind

    def __post_init__(self) -> None:
        canonical = project_of if self.kind == "repository" else artifact_id
        names = [self.artifact_id] if self.kind == "node" else [self.alias, self.artifact_id]
        sound = self.kind in get_args(AliasKind) and self.alias not in ("", self.artifact_id)
        # An alias in another spelling would never be found, and nobody would notice.
        if not sound or any(canonical(name) != name for name in names):
            hint = f"Use two canonical names, and one of {', '.join(get_args(AliasKind))}."
            message = f"{shown(self.alias)} is no {self.kind} alias of {shown(self.artifact_id)}"
            raise StudyError(message, hint)


def alias_index(aliases: Iterable[Alias]) -> dict[str, str]:
    """Aliases by name, for many calls of `resolve`; a name for two artifacts is refused."""
    index: dict[str, str] = {}
    for item in aliases:
        other = index.setdefault(item.alias, item.artifact_id)
        if other != item.artifact_id:
            message = f"{shown(item.alias)} is an alias of {other} and of {item.artifact_id}"
            raise StudyError(message, "Remove one of the two.")
    return index


def resolve(name: str, aliases: Mapping[str, str] | Iterable[Alias]) -> str:
    """Follow aliases from an id (or a node id) to the name that has no further alias."""
    index = aliases if isinstance(aliases, Mapping) else alias_index(aliases)
    path = {name: None}  # a dictionary keeps the order for the message
    while (following := _next_name(name, index)) is not None:
        if following in path:
            circle = " -> ".join([*map(shown, path), shown(following)][-5:])
            hint = "Remove the alias that is out of date."
            raise StudyError(f"the aliases run in a circle: {circle}", hint)
        name = following
        path[name] = None
    return name


def _next_name(name: str, index: Mapping[str, str]) -> str | None:
    if name in index:
        return index[name]
    try:
        it = parse(name)
    except StudyError:  # a node id, or a name of a kind that only the index knows
        return None
    host, project = split_project(index.get(it.repository, it.repository), "git")
    # Commits keep their hashes wherever a repository moves; issue numbers belong to one tracker.
    if it.repository not in index or (it.source != "git" and host != it.host):
        return None
    return str(ArtifactId(it.source, host, project, it.key))
