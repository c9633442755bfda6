"""Whom or what a word on the command line means: an artifact, a login or a pseudonym."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import artifact_id, resolve, shown
from faultatlas.data.people import UNKNOWN
from faultatlas.miner.commits.people import identity_of
from faultatlas.miner.keeping.erased_words import PSEUDONYM
from faultatlas.miner.posts.naming import STACK_OVERFLOW, site_of
from faultatlas.miner.rebuild import host_of
from faultatlas.miner.tombstones import names

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.miner.payload import Who

_LOGIN = re.compile(r"@?([A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?)")
_QUALIFIED = re.compile(
    r"(github|gitee):(?:([a-z0-9.-]+\.[a-z0-9-]+(?::[0-9]{1,5})?)/)?@?"
    r"([A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?)"
)
_MAIL = re.compile(r"(?:git:)?([^\s@<>:/]{1,254}@[^\s@<>/]{3,254})")
_USER = re.compile(r"stackoverflow:(?:([a-z0-9.-]+)/)?users/(-?[0-9]{1,18})")
_USER_PAGE = re.compile(r"users/(-?[0-9]{1,18})(?:/.*)?")
_HOSTS = {"github": "github.com", "gitee": "gitee.com"}


@dataclass(frozen=True)
class Subject:
    """An artifact by all its names, or a person by the pseudonyms that may be theirs."""

    shown: str = ""  # how it may be called in a message and in the study
    artifacts: frozenset[str] = frozenset()
    lasting_names: frozenset[str] = frozenset()  # of these; the others follow from a repository's
    people: frozenset[str] = frozenset()


def subject_of(reader: Reader, text: str, people: Callable[[str], Who]) -> Subject:
    """What `text` means in a study. A login without a host may be anybody's of that name."""
    text = text.strip()
    if PSEUDONYM.fullmatch(text):
        return Subject(text, people=frozenset({text}))
    if mail := _MAIL.fullmatch(text):
        return Subject(people=frozenset({_author(mail[1], people)}))
    if person := _person(reader, text):
        login, hosts = person
        pseudonyms = {people(host)(login) or UNKNOWN for host in hosts}
        if UNKNOWN in pseudonyms or text == UNKNOWN:
            raise StudyError(
                f"{shown(text)} stands for everybody whose account is gone",
                "Nothing is known of them that could be forgotten.",
            )
        return Subject(people=frozenset(pseudonyms))
    return _artifact(reader, text)


def _author(address: str, people: Callable[[str], Who]) -> str:
    """Who has an address in commits; one that GitHub gave out is that of a login."""
    host, login = identity_of(address)
    return people(host)(login) or UNKNOWN


def _person(reader: Reader, text: str) -> tuple[str, list[str]] | None:
    if found := _QUALIFIED.fullmatch(text):
        return found[3], [found[2] or _HOSTS[found[1]]]
    if found := _USER.fullmatch(text):
        return found[2], [site_of(found[1] or STACK_OVERFLOW)]
    if found := _LOGIN.fullmatch(text):
        rows = reader.rows("SELECT DISTINCT project FROM store.response")
        # Commits name logins of GitHub in addresses that GitHub gave out.
        hosts = {"github.com", *(host_of(row["project"]) for row in rows)}
        return found[1], sorted(hosts)
    return _page(text)


def _page(address: str) -> tuple[str, list[str]] | None:
    """Whose page it is, and where."""
    try:
        parts = urlsplit(address)
    except ValueError:  # http://[abc
        return None
    page = parts.path.strip("/")
    if parts.scheme in ("http", "https") and parts.hostname and _LOGIN.fullmatch(page):
        return page, [parts.netloc.lower().removeprefix("www.")]
    if parts.hostname and (found := _USER_PAGE.fullmatch(page)):
        return found[1], [site_of(parts.hostname)]
    return None


def _artifact(reader: Reader, text: str) -> Subject:
    rows = reader.rows("SELECT alias, artifact_id, kind FROM store.alias")
    try:
        asked = artifact_id(text)
    except StudyError as error:
        raise StudyError(
            error.message,
            "Give the address or id of an issue, or a login such as octocat or github:octocat.",
        ) from error
    it = resolve(asked, {row["alias"]: row["artifact_id"] for row in rows})
    others = names(reader, {it, asked})
    moved = {row["alias"] for row in rows if row["kind"] != "repository"} & others
    return Subject(it, frozenset(others), frozenset({it, *moved}))
