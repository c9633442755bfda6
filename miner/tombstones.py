"""What a study has forgotten, and how it stays so: nothing is stored that still holds it.

`store.forgotten` has a tombstone for every artifact and every person; a person's is the
pseudonym. `miner forget` itself is `faultatlas.miner.keeping.forget`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import parse
from faultatlas.miner.archive import Exchange
from faultatlas.miner.keeping.erasing import Forgotten, emptied, without
from faultatlas.miner.payload import Who

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer


def cleaned(writer: Writer, exchange: Exchange, who: Who) -> Exchange:
    """The exchange without what the study has forgotten, as it may be stored.

    An issue that a forgotten person has written since is forgotten from now on, too.
    """
    known = forgotten(writer)
    if not known:
        return exchange
    left, found = without(exchange, known, who)
    bury(writer, "artifact", found.written, exchange.run_id, exchange.fetched_at)
    return emptied(exchange) if left is None else left


def forgotten(reader: Reader) -> Forgotten:
    """Everything that the study has forgotten, artifacts by all their names."""
    rows = reader.rows("SELECT subject, kind FROM store.forgotten")
    if not rows:
        return Forgotten()
    people = {row["subject"] for row in rows if row["kind"] == "person"}
    artifacts = {row["subject"] for row in rows if row["kind"] == "artifact"}
    return Forgotten(frozenset(names(reader, artifacts)), frozenset(people))


def bury(
    writer: Writer, kind: str, subjects: Iterable[str], run_id: str, forgotten_at: datetime
) -> None:
    """Set tombstones, where there are none yet."""
    for subject in sorted(subjects):
        writer.execute(
            "INSERT INTO store.forgotten VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO NOTHING",
            [subject, kind, forgotten_at, run_id],
        )


def counts(reader: Reader, project: str) -> dict[str, int]:
    """How many artifacts of a project, such as github:pytorch/pytorch, and people are forgotten."""
    (row,) = reader.rows(
        "SELECT count(*) FILTER (starts_with(subject, ?)) AS forgotten, "
        "count(*) FILTER (kind = 'person') AS forgotten_people FROM store.forgotten",
        [f"{project}#"],
    )
    return row


def expect_gaps(writer: Writer, artifacts: Iterable[str]) -> None:
    """Note that these issues, of which all comments were read, have as many as there will be.

    A tracker counts the comments of forgotten people; nobody should look for them.
    """
    if writer.value("SELECT count(*) FROM store.forgotten WHERE kind = 'person'"):
        writer.execute(
            "UPDATE store.part_read SET is_short = true WHERE part = 'comments' "
            "AND list_contains(?, artifact_id) AND artifact_id IN (SELECT artifact_id "
            "FROM store.issue LEFT JOIN (SELECT artifact_id, count(*) AS live FROM store.comment "
            "WHERE gone_at IS NULL GROUP BY ALL) USING (artifact_id) "
            "WHERE coalesce(live, 0) < comment_count)",
            [list(artifacts)],
        )


def names(reader: Reader, artifacts: Iterable[str]) -> set[str]:
    """The artifacts with all other names that the study knows for them, older and newer ones."""
    known = set(artifacts)
    aliases = reader.rows("SELECT alias, artifact_id, kind FROM store.alias") if known else []
    size = -1
    while size != len(known):  # an alias may lead to another
        size = len(known)
        for row in aliases:
            pair = {row["alias"], row["artifact_id"]}
            if row["kind"] == "repository":
                known |= {other for each in known for other in _in_other_name(each, pair)}
            elif known & pair:
                known |= pair
    return known


def _in_other_name(artifact: str, repositories: set[str]) -> list[str]:
    """The id that an artifact has in the other one of two names of its repository."""
    try:
        it = parse(artifact)
    except StudyError:
        return []
    if it.repository not in repositories:
        return []
    mark = "@" if it.source == "git" else "#"
    others = repositories - {it.repository}
    return [str(parse(f"{it.source}:{other}{mark}{it.key}")) for other in others]
