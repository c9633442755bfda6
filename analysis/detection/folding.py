"""Found defects that are the same: one artifact, or duplicates of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Folding:
    """Groups of artifacts that are one defect; each is called by its first artifact."""

    _leader: dict[str, str] = field(default_factory=dict)

    @classmethod
    def by(cls, duplicates: Iterable[tuple[str, str]]) -> Folding:
        """What is a duplicate of a duplicate is the same defect, too."""
        found = cls()
        for one, other in duplicates:
            first, second = sorted((found.of(one), found.of(other)))
            if first != second:
                found._leader[second] = first
        return found

    def of(self, artifact_id: str) -> str:
        """The defect that an artifact is of."""
        path = [artifact_id]
        while path[-1] in self._leader:
            path.append(self._leader[path[-1]])
        for each in path[:-1]:
            self._leader[each] = path[-1]
        return path[-1]
