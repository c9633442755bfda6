"""Who wrote a commit, as a pseudonym.

An address that GitHub gave out holds the login: its owner is the same person as in issues. All
others are told by their address, after the repository's own `.mailmap` has joined those of one
person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from faultatlas.data.people import UNKNOWN, pseudonym, study_key
from faultatlas.miner.commits.git import GitFailed, View
from faultatlas.miner.commits.messages import Signature

HOST = "git"
_NOREPLY = re.compile(
    r"(?:[0-9]{1,20}\+)?([a-z0-9][a-z0-9_-]{0,99}(?:\[bot\])?)@users\.noreply\.([a-z0-9.-]{3,200})"
)


def pseudonym_of(key: bytes, name: str, address: str) -> str:
    """The pseudonym behind a name and an address."""
    host, login = identity_of(address)
    return pseudonym(key, host, login or name) if login or name.strip() else UNKNOWN


def identity_of(address: str) -> tuple[str, str]:
    """Where somebody has which name: the login on GitHub, or the address itself."""
    address = address.strip().casefold()
    own = _NOREPLY.fullmatch(address)
    return (own[2], own[1]) if own else (HOST, address)


class People:
    """The pseudonyms of a repository's authors, each found once."""

    def __init__(self, directory: Path, view: View, tip: str | None) -> None:
        self._key = study_key(directory)
        self._view = view
        self._tip = tip  # of which the .mailmap is taken
        self._known: dict[bytes, str] = {}

    def learn(self, signatures: Iterable[Signature | None]) -> None:
        """Find the pseudonyms of these people."""
        new = {each.person for each in signatures if each and each.person not in self._known}
        if not new:
            return
        ordered = sorted(new)
        for person, mapped in zip(ordered, self._mapped(ordered), strict=True):
            name, _, address = mapped.rpartition(b"<")
            self._known[person] = pseudonym_of(
                self._key, _text(name), _text(address.rpartition(b">")[0])
            )

    def of(self, signature: Signature | None) -> str | None:
        """The pseudonym of somebody who was learnt."""
        return self._known[signature.person] if signature else None

    def _mapped(self, people: list[bytes]) -> list[bytes]:
        # It takes one person a line, and nothing without an address.
        plain = [p for p in people if b"\n" not in p and b"\r" not in p and b"\0" not in p]
        if self._tip is None or not plain:
            return people
        try:
            words = ("-c", f"mailmap.blob={self._tip}:.mailmap", "check-mailmap", "--stdin")
            found = self._view.run(*words, lines=plain).split(b"\n")[:-1]
        except GitFailed:
            return people
        if len(found) != len(plain):
            return people
        mapped = dict(zip(plain, found, strict=True))
        return [mapped.get(person, person) for person in people]


def _text(raw: bytes) -> str:
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        return raw.decode("iso-8859-1").strip()
