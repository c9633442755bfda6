"""Text without forgotten people and artifacts: mentions, addresses, ids.

A name in plain words stays: it may be a word. So does the owner in the name of the very project
that was mined, without which nothing of it could be named. Every expression looks at each
character a bounded number of times: what is mined is hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from faultatlas.data.identity import split_project
from faultatlas.data.people import UNKNOWN
from faultatlas.miner.payload import Who

GHOST = "ghost"  # GitHub's name for accounts that are gone
PSEUDONYM = re.compile(r"(?:person|bot)_[0-9a-f]{16}")

_LOGIN = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99}+)"
_WHOLE = re.compile(rf"{_LOGIN}(?:\[bot\])?")
_MENTION = re.compile(rf"(?<![A-Za-z0-9_])(@)({_LOGIN}(?:\[bot\])?)")
_QUALIFIER = re.compile(
    r"(?<![A-Za-z0-9_])((?:user|author|creator|assignee|mentions|mentioned|involves|commenter)"
    rf"(?:[:=]|%3A))({_LOGIN})",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])((?:[0-9]{1,20}\+)?)([A-Za-z0-9][A-Za-z0-9_-]{0,99}+(?:\[bot\])?)"
    r"(?=@users\.noreply\.)",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"(?<![A-Za-z0-9_.-])()([A-Za-z0-9][A-Za-z0-9-]{0,99}+)(?=\.(?:github|gitee)\.io)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(https?://(?P<host>[A-Za-z0-9.-]++(?::[0-9]{1,5})?)/(?:api/v[35]/)?(?:repos/)?"
    r"|(?P<source>github|gitee):(?:(?P<named>[A-Za-z0-9-]++\.[A-Za-z0-9.-]++(?::[0-9]{1,5})?)/)?"
    r"|/repos/|(?<![A-Za-z0-9_./:-]))"
    r"(?P<project>[A-Za-z0-9_.-]++/[A-Za-z0-9_.-]++)(?P<mark>\#|/issues/|/pulls?/)"
    r"(?P<key>[0-9A-Za-z]++)"
)
_POST = re.compile(
    r"(https?://(?P<site>[A-Za-z0-9.-]++)/(?P<page>questions|q|a)/"
    r"|stackoverflow:(?:(?P<named>[a-z0-9-]++\.[a-z0-9.-]++)/)?(?P<answer>a/)?)"
    r"(?P<number>[0-9]{1,18}+)(?:/[^\s\"'<>()&]{0,300}+)?"
)
_SHORT = 200
_PUBLIC = {"github": "github.com", "gitee": "gitee.com"}


class Words:
    """What may be said of one host's people and of all artifacts."""

    def __init__(
        self,
        artifacts: frozenset[str],
        people: frozenset[str],
        who: Who,
        project: str,
        on_person: Callable[[str], object] = lambda _pseudonym: None,
    ) -> None:
        self._artifacts = artifacts
        self._has_posts = any(each.startswith("stackoverflow:") for each in artifacts)
        self._papers = _papers(artifacts)
        self._people = people
        self._who = who
        self._source, _, name = project.partition(":")
        self.host, self._project = split_project(name, self._source)
        self._on_person = on_person
        self._known: dict[str, bool] = {}
        self._seen: dict[str, str] = {}

    def is_forgotten(self, login: Any) -> bool:
        """Whether a login is that of a forgotten person."""
        if not self._people or not isinstance(login, str):
            return False
        if login not in self._known:
            pseudonym = self._who(login)
            self._known[login] = pseudonym in self._people
            if pseudonym and pseudonym in self._people:
                self._on_person(pseudonym)
        return self._known[login]

    def has_forgotten_mail(self, address: Any) -> bool:
        """Whether it is the address that GitHub gave a forgotten person."""
        found = _MAIL.match(address) if isinstance(address, str) else None
        return found is not None and self.is_forgotten(found[2])

    def erased(self, text: str) -> str:
        """The text without them."""
        if len(text) > _SHORT:
            return self._erased(text)
        if text not in self._seen:  # a page repeats the addresses of its people
            self._seen[text] = self._erased(text)
        return self._seen[text]

    def _erased(self, text: str) -> str:
        if self._people:
            if "@" in text:
                text = _MENTION.sub(self._without_login, _MAIL.sub(self._without_login, text))
            if "/" in text:
                text = _addresses(self.host).sub(self._without_login, text)
            if "=" in text or "%3" in text or text.count(":") > text.count("://"):
                text = _QUALIFIER.sub(self._without_login, text)
            if ".io" in text.lower():
                text = _PAGES.sub(self._without_login, text)
        if self._artifacts and ("#" in text or "/" in text):
            text = _REFERENCE.sub(self._without_artifact, text)
        if self._has_posts and ("/" in text or "stackoverflow:" in text):
            text = _POST.sub(self._without_post, text)
        return text if self._papers is None else self._papers.sub("0", text)

    def erased_argument(self, text: str) -> str:
        """The same for what was typed: there a login may stand alone."""
        if _WHOLE.fullmatch(text) and self.is_forgotten(text):
            return GHOST
        return self.erased_note(text)

    def erased_note(self, text: str) -> str:
        """The same for what the study itself says: there people are pseudonyms."""
        text = PSEUDONYM.sub(lambda found: UNKNOWN if found[0] in self._people else found[0], text)
        return self.erased(text)

    def _without_login(self, match: re.Match[str]) -> str:
        login = match[2]
        following = match.groupdict().get("following") or ""
        if f"{login}/{following}".lower().removesuffix(".git") == self._project:
            return match[0]
        for spelled in dict.fromkeys((login, login.removesuffix("[bot]"), login.rstrip("-_"))):
            if spelled and self.is_forgotten(spelled):
                before = "" if match.re is _MAIL else match[1]
                return f"{before}{GHOST}{login[len(spelled) :]}"
        return match[0]

    def _without_artifact(self, match: re.Match[str]) -> str:
        said = match["host"] or match["named"]
        source, host = match["source"] or self._source, self.host
        if said:
            host = said.lower().removeprefix("www.").removeprefix("api.")
            others = "gitee" if host == "gitee.com" else "github"
            source = match["source"] or (self._source if host == self.host else others)
        elif match["source"]:
            host = _PUBLIC[source]
        key = match["key"].upper() if source == "gitee" else match["key"]
        place = "" if host == _PUBLIC.get(source) else f"{host}/"
        is_meant = f"{source}:{place}{match['project'].lower()}#{key}" in self._artifacts
        return f"{match[1]}{match['project']}{match['mark']}0" if is_meant else match[0]

    def _without_post(self, match: re.Match[str]) -> str:
        site = (match["site"] or match["named"] or "stackoverflow.com").lower().removeprefix("www.")
        place = "" if site == "stackoverflow.com" else f"{site}/"
        mark = "a/" if match["answer"] or match["page"] == "a" else ""
        is_meant = f"stackoverflow:{place}{mark}{match['number']}" in self._artifacts
        return f"{match[1]}0" if is_meant else match[0]


def _papers(artifacts: frozenset[str]) -> re.Pattern[str] | None:
    """DOIs and hashes of forgotten papers, however they are written around."""
    keys = [each.partition(":")[2] for each in artifacts if each.startswith(("doi:", "paper:"))]
    if not keys:
        return None
    longest_first = sorted(keys, key=lambda key: (-len(key), key))
    named = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?:{named})(?![0-9A-Za-z]|\.[0-9])", re.IGNORECASE)


@cache
def _addresses(host: str) -> re.Pattern[str]:
    """Addresses on a host that begin with a login, or have one where the API has it."""
    hosts = rf"(?:gist\.)?{re.escape(host)}|(?:raw|gist)\.githubusercontent\.com"
    return re.compile(
        rf"((?<![A-Za-z0-9])(?:{hosts})(?::[0-9]{{1,5}})?[/:](?:api/v[35]/)?"
        r"(?:(?:repos|users|apps)/)?|(?<![A-Za-z0-9_.-])/(?:repos|users)/)"
        rf"({_LOGIN})(?![A-Za-z0-9_]|\.[A-Za-z0-9])(?:(?=/(?P<following>[A-Za-z0-9_.-]++)))?",
        re.IGNORECASE,
    )
