"""Which paper of the study a cell means: by DOI, URL, id or title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import MAX_LENGTH, artifact_id, shown, title_key

if TYPE_CHECKING:
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class PaperNames:
    """The papers of a study, by all their names."""

    ids: frozenset[str]
    aliases: dict[str, str]
    titles: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, reader: Reader) -> PaperNames:
        """Those that the study has."""
        titles: dict[str, list[str]] = {}
        rows = reader.rows("SELECT artifact_id, title FROM store.paper ORDER BY artifact_id")
        for row in rows:
            titles.setdefault(title_key(row["title"][:MAX_LENGTH]), []).append(row["artifact_id"])
        aliases = reader.rows(
            "SELECT alias, artifact_id FROM artifact_aliases "
            "SEMI JOIN store.paper USING (artifact_id)"
        )
        return cls(
            frozenset(row["artifact_id"] for row in rows),
            {row["alias"]: row["artifact_id"] for row in aliases},
            {key: tuple(ids) for key, ids in titles.items()},
        )

    def find(self, text: str) -> str:
        """The id of the paper; one that is not there, or may be two, is refused."""
        try:
            named = artifact_id(text)
        except StudyError:
            named = ""
        named = self.aliases.get(named, named)
        if named in self.ids:
            return named
        if named:
            raise StudyError(f"{shown(text)} is no paper of the study: miner papers --from FILE")
        if len(text) > MAX_LENGTH:
            raise StudyError(f"{shown(text)} is no title")
        found = self.titles.get(title_key(text), ())
        if len(found) == 1:
            return found[0]
        if found:
            raise StudyError(f"{shown(text)} may be {' or '.join(found)}: give the DOI or the id")
        raise StudyError(f"{shown(text)} is no paper of the study, neither DOI, id nor title")
