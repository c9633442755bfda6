"""Commits without forgotten people: who wrote one is known by a hash of the address alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from faultatlas.data.people import UNKNOWN
from faultatlas.miner.commits.people import identity_of

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.payload import Who

    Whos = Callable[[str], Who]  # for a host, its people's pseudonyms

FORGOTTEN = "forgotten"
_ADDRESS = re.compile(
    r"(?:<[ \t]{0,3})?(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,254}+"
    r"(?:\[bot\])?@[A-Za-z0-9.-]{1,254}+)(?:[ \t]{0,3}>)?"
)
# What stands before a name: the mark of a trailer, another person, or what ends a phrase.
_TRAILER = re.compile(
    r"[ \t>*]{0,8}(?:[A-Za-z]{1,20}(?:-[A-Za-z]{1,20}){1,3}|from|to|b?cc|author|committer)[ \t]?:",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[>:,;()\[\]\"]")
_WORD = re.compile(r"\S+")
_NAME_LENGTH = 100
_NO_NAMES = {"and", "author", "by", "cc", "committer", "for", "from", "of", "thanks", "to", "with"}
_PARTICLES = {"al", "bin", "da", "de", "del", "der", "di", "du", "el", "la", "le", "van", "von"}


def message_without(message: str, people: Collection[str], whos: Whos) -> str:
    """A message in which forgotten people are not named by their addresses.

    With an address in angle brackets goes the name before it.
    """
    if "@" not in message or not people:
        return message
    kept, at = [], 0
    for found in _ADDRESS.finditer(message):
        if _person(found[1], whos) in people:
            start = found.start()
            if found[0].startswith("<"):
                start -= len(_name_before(message[max(at, start - _NAME_LENGTH) : start]))
            kept += [message[at:start], FORGOTTEN]
            at = found.end()
    return "".join([*kept, message[at:]])


def _name_before(text: str) -> str:
    """The name that a text ends with, and what separates it from the address behind it."""
    line = text.rpartition("\n")[2]
    if trailer := _TRAILER.match(line):
        name = line[trailer.end() :].rpartition(">")[2]
        return name.lstrip(" \t,;")
    phrase = _BREAK.split(line)[-1]
    words = list(_WORD.finditer(phrase))
    first = len(words)
    while first and _is_of_name(words[first - 1][0]):
        first -= 1
    if first == len(words):  # written small
        first = max(0, first - 2)
        while first < len(words) and words[first][0].lower() in _NO_NAMES:
            first += 1
    return phrase[words[first].start() :] if first < len(words) else ""


def _is_of_name(word: str) -> bool:
    lowered = word.lower()
    return lowered not in _NO_NAMES and (not word[0].islower() or lowered in _PARTICLES)


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


def erase_people(writer: Writer, people: Collection[str], whos: Whos) -> set[str]:
    """Take people out of what is left of commits: as committers, and out of messages.

    Gives the commits that were changed.
    """
    if not people:
        return set()
    meant = "FROM store.commit WHERE list_contains(?, committer)"
    rows = writer.rows(f"SELECT artifact_id {meant}", [sorted(people)])
    changed = {row["artifact_id"] for row in rows}
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
            # Words may have stood in what is gone: a filter reads the text again.
            writer.execute(
                "UPDATE store.keyword_hit SET text_run = '' WHERE artifact_id = ?",
                [row["artifact_id"]],
            )
            changed.add(row["artifact_id"])
    return changed


def _messages(reader: Reader) -> list[dict[str, str]]:
    return reader.rows("SELECT artifact_id, message FROM store.commit WHERE contains(message, '@')")


def _person(address: str, whos: Whos) -> str | None:
    host, login = identity_of(address)
    return whos(host)(login)
