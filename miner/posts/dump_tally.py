"""What a reading of a dump has seen so far; stored with the place that it has reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

NAMED = 20  # damaged rows that are named; a hostile file may have any number


@dataclass
class Tally:
    """Rows of a file by what they are, and the damaged ones by where they are."""

    kept: int = 0
    kinds: dict[str, int] = field(default_factory=dict)  # question, answer, tag wiki, comment
    tags: dict[str, int] = field(default_factory=dict)  # questions that have a tag of the selection
    accepted: int = 0  # kept questions with an accepted answer
    damaged: int = 0
    named: list[tuple[int, str]] = field(default_factory=list)  # byte, and what is wrong there

    @property
    def rows(self) -> int:
        """Everything that was looked at."""
        return sum(self.kinds.values())

    def count(self, kind: str, number: int = 1) -> None:
        """Count rows of a kind."""
        if number:
            self.kinds[kind] = self.kinds.get(kind, 0) + number

    def tag(self, names: Iterable[str]) -> None:
        """Count a question under tags."""
        for name in names:
            self.tags[name] = self.tags.get(name, 0) + 1

    def damage(self, position: int, reason: str) -> None:
        """Count a row that cannot be read."""
        self.damaged += 1
        if len(self.named) < NAMED:
            self.named.append((position, reason))

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def tally_of(values: Mapping[str, Any]) -> Tally:
    """A tally as `as_json` wrote it."""
    named = [(int(position), str(reason)) for position, reason in values["named"]]
    return Tally(**{**values, "kinds": dict(values["kinds"]), "named": named})
