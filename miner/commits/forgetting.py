"""Commits without forgotten people: who wrote one is known by a hash of the address alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from data.people import UNKNOWN
from miner.commits.people import identity_of

if TYPE_CHECKING:
    from data.store import Reader, Writer
    from miner.payload import Who

    Whos = Callable[[str], Who]  # for a host, its people's pseudonyms

FORGOTTEN = "forgotten"
# A name and an address, as trailers have them, or an address alone.
_ADDRESS = re.compile(
    r"(?:(?<=: )[^\n<>@]{1,100}<)?(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,254}+"
    r"(?:\[bot\])?@[A-Za-z0-9.-]{1,254}+)>?"
)


def message_without(message: str, people: Collection[str], whos: Whos) -> str:
    """A message in which forgotten people are not named by their addresses."""
    if "@" not in message or not people:
        return message

    def rest(found: re.Match[str]) -> str:
        return FORGOTTEN if _person(found[1], whos) in people else found[0]

    return _ADDRESS.sub(rest, message)


def written_by(reader: Reader, people: Collection[str]) -> set[str]:
    """The commits whose author is one of these."""
    rows = reader.rows(
        "SELECT artifact_id FROM store.commit WHERE list_contains(?, author)", [sorted(people)]
    )
    return {row["artifact_id"] for row in rows}


def named_in_commits(reader: Reader, people: Collection[str], whos: Whos) -> set[str]:
    """Which of these people wrote or committed something, or are named in a message."""
    if not people:
        return set()
    rows = reader.rows("SELECT DISTINCT unnest([author, committer]) AS person FROM store.commit")
    found = {row["person"] for row in rows}
    for message in _messages(reader):
        found.update(_person(address[1], whos) for address in _ADDRESS.finditer(message["message"]))
    return found & set(people)


def erase_people(writer: Writer, people: Collection[str], whos: Whos) -> None:
    """Take people out of what is left of commits: as committers, and out of messages."""
    if not people:
        return
    writer.execute(
        "UPDATE store.commit SET committer = ? WHERE list_contains(?, committer)",
        [UNKNOWN, sorted(people)],
    )
    for row in _messages(writer):
        left = message_without(row["message"], people, whos)
        if left != row["message"]:
            writer.execute(
                "UPDATE store.commit SET message = ? WHERE artifact_id = ?",
                [left, row["artifact_id"]],
            )


def _messages(reader: Reader) -> list[dict[str, str]]:
    return reader.rows("SELECT artifact_id, message FROM store.commit WHERE contains(message, '@')")


def _person(address: str, whos: Whos) -> str | None:
    host, login = identity_of(address)
    return whos(host)(login)
