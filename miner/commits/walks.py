"""Readings of a repository that the study has recorded, and what they leave for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.lexicon import Lexicon

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer

_MOST_MISSING = 1000


@dataclass(frozen=True)
class Wishes:
    """What is to be read of a repository."""

    lexicons: tuple[Lexicon, ...] = ()
    any_keyword: bool = False
    since: int | None = None  # seconds; of the time of committing
    everything: bool = False  # changes of every commit, not of the matching ones only
    all_branches: bool = False
    functions: bool = True

    def options(self, shallow: Sequence[str] = ()) -> dict[str, Any]:
        """As `store.git_walk` records them."""
        return {
            "all": self.everything,
            "all_branches": self.all_branches,
            "any_keyword": self.any_keyword and len(self.lexicons) > 1,
            "functions": self.functions,
            "lexicons": {each.name: each.reading() for each in self.lexicons},
            "missing": [],  # commits that were not there; known when it ends
            "shallow": sorted(shallow),
            "since": self.since,
        }


@dataclass(frozen=True)
class Walk:
    """A reading."""

    number: int
    project: str
    place: str
    tips: Mapping[str, str]
    seen: tuple[str, ...]
    options: Mapping[str, Any]
    run_id: str
    started_at: datetime

    @property
    def walked(self) -> list[str]:
        """The commits that it began with."""
        return starts(self.tips, all_branches=self.options["all_branches"])

    @property
    def missing(self) -> list[str]:
        """Commits that it looked for and that were not there, or the first of them."""
        found: list[str] = self.options.get("missing", [])
        return found


def starts(tips: Mapping[str, str], *, all_branches: bool) -> list[str]:
    """The commits to begin with: those of all branches, or HEAD's."""
    if all_branches:
        return sorted(set(tips.values()))
    return [tips["HEAD"]] if "HEAD" in tips else []


def complete(reader: Reader, project: str | None = None) -> list[Walk]:
    """The readings that came to their end, in their order."""
    rows = reader.rows(
        "SELECT number, project, place, tips, seen, options, run_id, started_at "
        "FROM store.git_walk WHERE is_complete AND (? IS NULL OR project = ?) ORDER BY number",
        [project, project],
    )
    return [
        Walk(
            row["number"],
            row["project"],
            row["place"],
            json.loads(row["tips"]),
            tuple(row["seen"]),
            json.loads(row["options"]),
            row["run_id"],
            row["started_at"],
        )
        for row in rows
    ]


def covers(walk: Walk, place: str, options: Mapping[str, Any]) -> bool:
    """Whether all that these options ask for was read by a walk, as far as its tips lead."""
    return not walk.missing and asked_for(walk, place, options)


def asked_for(walk: Walk, place: str, options: Mapping[str, Any]) -> bool:
    """Whether a walk asked for all that these options ask for; something may have been missing."""
    had = walk.options
    return (
        walk.place == place
        and had["shallow"] == options["shallow"]
        and (had["all_branches"] or not options["all_branches"])
        and _reaches_back(had["since"], options["since"])
        and had["lexicons"] == options["lexicons"]
        and had["any_keyword"] == options["any_keyword"]
        and had["all"] == options["all"]
        and (had["functions"] or not options["functions"])
    )


def _reaches_back(had: int | None, wanted: int | None) -> bool:
    return had is None or (wanted is not None and had <= wanted)


def begin(writer: Writer, walk: Walk) -> None:
    """Record a reading, in the place of those that were broken off."""
    writer.execute(
        "DELETE FROM store.git_walk WHERE NOT is_complete AND project = ? AND place = ?",
        [walk.project, walk.place],
    )
    writer.execute(
        "INSERT INTO store.git_walk SELECT coalesce(nullif(?, 0), max(number) + 1, 1), "
        "?, ?, ?, ?, ?, false, ?, ? FROM store.git_walk",
        [
            walk.number,
            walk.project,
            walk.place,
            json.dumps(dict(walk.tips), sort_keys=True),
            list(walk.seen),
            json.dumps(dict(walk.options), sort_keys=True),
            walk.run_id,
            walk.started_at,
        ],
    )


def check(reader: Reader, walk: Walk) -> None:
    """Refuse to go on when another reading, which has begun since, has taken our place."""
    if not reader.value(
        "SELECT count(*) FROM store.git_walk WHERE run_id = ? AND NOT is_complete", [walk.run_id]
    ):
        raise StudyError(
            f"another reading of {walk.project} has begun",
            "Let it finish, then run this again. What was stored is kept.",
        )


def end(writer: Writer, walk: Walk, missing: Sequence[str]) -> None:
    """Mark it as complete, with the commits that it did not find."""
    options = {**walk.options, "missing": sorted(set(missing))[:_MOST_MISSING]}
    writer.execute(
        "UPDATE store.git_walk SET is_complete = true, options = ? "
        "WHERE run_id = ? AND NOT is_complete",
        [json.dumps(options, sort_keys=True), walk.run_id],
    )
