"""The fate of every paper of a study: where it left, where it is open, or that it is included.

Each paper has one, so that whatever is counted by them adds up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Records:
    """What searches and files gave."""

    sources: Mapping[str, int]  # records of papers that the study has
    matched_by: Mapping[str, int]  # of those how many were known before, and by what
    papers: int  # that they are
    bare: int  # papers without any record


@dataclass(frozen=True)
class Fates:
    """How many papers have which fate."""

    records: Records
    counts: Counter[tuple[str, int | None, str | None]]  # fate, position, reason
    steps: tuple[tuple[int, str], ...]  # of screening: position and name
    funnel: tuple[str, ...]  # steps that papers went through
    despite: int  # screened although the funnel does not let them through
    names: Mapping[str, str]  # of reasons

    @property
    def papers(self) -> int:
        """All of them."""
        return self.counts.total()

    def count(self, fate: str, position: int | None = None) -> int:
        """Papers of a fate, at a step if it is one of screening."""
        return sum(n for (name, at, _), n in self.counts.items() if (name, at) == (fate, position))

    def reasons(self, fate: str, position: int | None = None) -> dict[str, int]:
        """The same by reason, the most frequent first."""
        found = {
            str(reason): n
            for (name, at, reason), n in self.counts.items()
            if (name, at) == (fate, position)
        }
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def read_fates(reader: Reader) -> Fates:
    """The fates of a study's papers; without papers there is nothing to tell."""
    if not reader.value("SELECT count(*) FROM papers"):
        raise StudyError("the study has no papers", "Search for them: miner papers QUERY")
    rows = reader.rows(
        "SELECT fate, position, reason, count(*) AS n FROM paper_fates GROUP BY ALL ORDER BY ALL"
    )
    steps = reader.rows("SELECT DISTINCT position, step FROM screenings ORDER BY position")
    funnel = reader.rows(
        "SELECT DISTINCT position, step FROM funnel WHERE kind = 'paper' AND position > 0 "
        "ORDER BY position"
    )
    return Fates(
        _records(reader),
        Counter({(row["fate"], row["position"], row["reason"]): row["n"] for row in rows}),
        tuple((row["position"], row["step"]) for row in steps),
        tuple(row["step"] for row in funnel),
        reader.value(
            "SELECT count(*) FROM paper_fates WHERE is_screened AND funnel_step IS NOT NULL"
        ),
        _names(reader),
    )


def _records(reader: Reader) -> Records:
    known = "FROM paper_records SEMI JOIN papers USING (artifact_id)"
    sources = reader.rows(
        f"SELECT source, count(*) AS n {known} GROUP BY ALL ORDER BY n DESC, source"
    )
    matched = reader.rows(
        f"SELECT matched_by, count(*) AS n {known} WHERE matched_by IS NOT NULL GROUP BY ALL "
        "ORDER BY n DESC, matched_by"
    )
    papers = reader.value(f"SELECT count(DISTINCT artifact_id) {known}")
    bare = reader.value("SELECT count(*) FROM papers") - papers
    return Records(
        {row["source"]: row["n"] for row in sources},
        {row["matched_by"]: row["n"] for row in matched},
        papers,
        bare,
    )


def _names(reader: Reader) -> dict[str, str]:
    """What reasons are called in the taxonomies that papers were screened with."""
    from faultatlas.annotation.taxonomies.versions import Versions

    found: dict[str, str] = {}
    rows = reader.rows("SELECT DISTINCT taxonomy FROM rounds SEMI JOIN screenings USING (round)")
    for row in rows:
        for taxonomy in Versions.stored(reader, row["taxonomy"]).texts.values():
            found |= {node.code: node.name for node in taxonomy.nodes}
    return found
