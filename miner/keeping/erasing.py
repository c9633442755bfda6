"""An exchange without what a study has forgotten: artifacts by their ids, people by pseudonyms.

A pure function of the exchange. What is about a forgotten artifact or was written by a forgotten
person is cut out; where such a person only acted on something of others, GitHub's `ghost` did.
Only pseudonyms are known, so every name that may be a login is hashed and compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, parse, split_project
from faultatlas.miner.archive import Exchange
from faultatlas.miner.keeping.erased_words import GHOST, Words
from faultatlas.miner.payload import Who, entries, entry
from faultatlas.miner.sources import gitee
from faultatlas.miner.sources.github_names import comment_id, identity_of_any

NOTHING = "forgotten"  # the kind of a request of which nothing is left, and a name in its place

_CUT = object()
_ADDRESSES = ("html_url", "url", "issue_url", "pull_request_url")
_NUMBERED = re.compile(r"/(?:issues|pulls?|commits?)/([0-9A-Za-z]+)")
_AUTHORS = ("user", "author", "actor")
_OWN_WORDS = ("body", "title", "message")
_NAMED_PEOPLE = ("project_creator", "members")  # Gitee's: logins without anything around them


@dataclass(frozen=True)
class Forgotten:
    """What a study must not have."""

    artifacts: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()  # pseudonyms
    comments: frozenset[str] = frozenset()  # ids of comments that were cut out elsewhere

    def __bool__(self) -> bool:
        return bool(self.artifacts or self.people)

    def with_found(self, found: Found, written: Iterable[str]) -> Forgotten:
        """The same with what a search for it brought up: issues that they wrote, and comments."""
        return Forgotten(
            self.artifacts.union(written), self.people, self.comments.union(found.comments)
        )


@dataclass
class Found:
    """What of it an exchange held."""

    artifacts: set[str] = field(default_factory=set)
    people: set[str] = field(default_factory=set)
    comments: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)  # issues whose author is forgotten

    def add(self, other: Found) -> None:
        """What of it several exchanges held."""
        self.artifacts |= other.artifacts
        self.people |= other.people
        self.comments |= other.comments
        self.written |= other.written


def without(exchange: Exchange, forgotten: Forgotten, who: Who) -> tuple[Exchange | None, Found]:
    """What is left of an exchange, and what was found; the same object if that is nothing."""
    if exchange.source == "stackoverflow":
        from faultatlas.miner.keeping.erasing_posts import PostEraser

        posts = PostEraser(exchange, forgotten, who)
        return posts.rest(), posts.found
    if exchange.source == "paper":
        from faultatlas.miner.keeping.erasing_papers import without_papers

        return without_papers(exchange, forgotten)
    eraser = _Eraser(exchange, forgotten, who)
    return eraser.rest(), eraser.found


def emptied(exchange: Exchange) -> Exchange:
    """An exchange of which nothing is left: that something was asked, not what."""
    return replace(
        exchange,
        request={"kind": NOTHING},
        url="",
        final_url="",
        status=200,
        headers={},
        body=b"",
    )


class _Eraser:
    def __init__(self, exchange: Exchange, forgotten: Forgotten, who: Who) -> None:
        self._exchange = exchange
        self._is_github = exchange.source != "gitee"
        self._by_graphql = exchange.kind.startswith("graphql ")
        self._comments = forgotten.comments
        source, _, name = exchange.project.partition(":")
        self._host = split_project(name, source)[0]
        self.found = Found()
        self._said = _json(exchange)
        self._artifacts = forgotten.artifacts | self._renamed(forgotten.artifacts)
        self._keys = {re.split("[#@]", artifact)[-1].lower() for artifact in self._artifacts}
        self._words = Words(
            self._artifacts, forgotten.people, who, exchange.project, self.found.people.add
        )

    def rest(self) -> Exchange | None:
        request, said = self._exchange.request, self._said
        if request.get("artifact") in self._artifacts:
            self.found.artifacts.add(request["artifact"])
            return None
        kept = self._value(said)
        if kept is _CUT:
            return None
        request = {name: self._asked(name, item) for name, item in request.items()}
        if self._by_graphql:
            kept, request = self._without_nodes(said, kept, request)
        url, final_url = self._words.erased(self._exchange.url), self._exchange.final_url
        final_url = url if final_url == self._exchange.url else self._words.erased(final_url)
        left = replace(
            self._exchange,
            request=request,
            url=url,
            final_url=final_url,
            headers={
                name: self._words.erased(text) for name, text in self._exchange.headers.items()
            },
            body=self._exchange.body if kept == said else _encoded(kept),
        )
        return self._exchange if left == self._exchange else left

    def _asked(self, name: str, item: Any) -> Any:
        if name == "seen" and isinstance(item, list):
            return [each for each in item if each not in self._comments]
        return self._value(item, name)

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            if key in _NAMED_PEOPLE and self._words.is_forgotten(value):
                return self._nobody
            if key == "commit_url" and self._identity(value) in self._artifacts:
                return None
            return self._words.erased(value)
        if isinstance(value, list):
            kept = [self._value(item, key) for item in value]
            if self._by_graphql:  # the place in the list says what was asked for
                return [None if item is _CUT else item for item in kept]
            return [item for item in kept if item is not _CUT]
        return self._object(value) if isinstance(value, Mapping) else value

    def _object(self, value: Mapping[str, Any]) -> Any:
        if self._is_about_forgotten(value) or self._is_by_forgotten(value):
            self._note_comment(value)
            return _CUT
        if self._is_person(value):
            return None if self._by_graphql else {"login": self._nobody, "type": "User"}
        kept = {name: self._value(item, name) for name, item in value.items()}
        if self._words.has_forgotten_mail(value.get("email")):
            kept |= {name: GHOST for name in ("name", "email") if name in value}
        return {name: None if item is _CUT else item for name, item in kept.items()}

    @property
    def _nobody(self) -> str:
        return GHOST if self._is_github else ""  # on Gitee somebody may be called ghost

    def _is_person(self, value: Any) -> bool:
        login = entry(value, "login")
        if not isinstance(login, str):
            return False
        is_bot = "Bot" in (value.get("__typename"), value.get("type"))
        marked = f"{login}[bot]" if is_bot and not login.endswith("[bot]") else login
        return self._words.is_forgotten(marked)

    def _is_about_forgotten(self, value: Mapping[str, Any]) -> bool:
        """An issue, something on an issue, or the trace that it left on another."""
        if not self._artifacts:
            return False
        source = value.get("source")
        places = (value, source, entry(source, "issue"))
        named = {self._named(place) for place in places if self._may_be_forgotten(place)}
        about = {it for it in named if it in self._artifacts and it is not None}
        self.found.artifacts |= about
        return bool(about)

    def _may_be_forgotten(self, value: Any) -> bool:
        """Whether a number fits: most do not, and to understand an address takes longer."""
        if not isinstance(value, Mapping):
            return False
        if "target" in value:
            return True
        found = (_NUMBERED.search(str(value[name])) for name in _ADDRESSES if value.get(name))
        return any(each and each[1].lower() in self._keys for each in found)

    def _is_by_forgotten(self, value: Mapping[str, Any]) -> bool:
        if "full_name" in value or "nameWithOwner" in value:
            return self._is_person(value.get("owner"))
        issue = entry(value, "source", "issue")
        if isinstance(issue, Mapping):
            return any(self._is_person(issue.get(name)) for name in _AUTHORS)
        if not any(name in value for name in _OWN_WORDS):
            return False
        if not any(self._is_person(value.get(name)) for name in _AUTHORS):
            return False
        it = self._named(value)
        if it is not None and "title" in value:
            self.found.written.add(it)
        return True

    def _named(self, value: Any) -> str | None:
        """The artifact that an object is, or is a part of."""
        if not isinstance(value, Mapping):
            return None
        for name in _ADDRESSES:
            if (it := self._identity(value.get(name))) is not None:
                return it
        number = entry(value, "target", "issue", "number")  # a comment on Gitee has no address
        if isinstance(number, str) and not self._is_github:
            return f"{self._exchange.project}#{number.upper()}"
        return None

    def _identity(self, url: Any) -> str | None:
        if not isinstance(url, str) or not _NUMBERED.search(url):
            return None
        if self._is_github:
            return identity_of_any(url)
        try:
            return str(parse(url, hosts={self._host: "gitee"}))
        except StudyError:
            return None

    def _note_comment(self, value: Mapping[str, Any]) -> None:
        number = value.get("fullDatabaseId") or value.get("id")
        if "body" in value and "title" not in value and isinstance(number, int | str):
            name = comment_id if self._is_github else gitee.comment_id
            self.found.comments.add(name(self._host, number))

    def _without_nodes(
        self, said: Any, kept: Any, request: Mapping[str, Any]
    ) -> tuple[Any, Mapping[str, Any]]:
        """A GraphQL answer without the issues that were asked for and are forgotten."""
        asked: Sequence[str] = self._exchange.request.get("artifacts", ())
        answered = entry(kept, "data", "repository")
        nodes, before = entry(kept, "data", "nodes"), entry(said, "data", "nodes")
        places: set[Any] = set()
        names = list(asked)
        for at, artifact in enumerate(asked):
            name = f"n{artifact.rpartition('#')[2]}"
            had = isinstance(entry(said, "data", "repository", name), Mapping)
            is_cut = artifact in self._artifacts or (had and entry(answered, name) is None)
            if isinstance(nodes, list) and len(nodes) == len(asked):
                is_cut = is_cut or (nodes[at] is None and isinstance(before[at], Mapping))
                nodes[at] = None if is_cut else nodes[at]
            if is_cut:
                self.found.artifacts |= {artifact} & self._artifacts
                names[at] = NOTHING
                places |= {at, name}
                if isinstance(answered, dict):
                    answered.pop(name, None)
        if not places:
            return kept, request
        if isinstance(kept, dict) and "errors" in kept:
            kept["errors"] = [
                error for error in entries(kept["errors"]) if places.isdisjoint(_path(error))
            ]
        return kept, {**request, "artifacts": names}

    def _renamed(self, artifacts: frozenset[str]) -> frozenset[str]:
        """The ids in a repository's new name, where a list shows that it got one."""
        asked = self._exchange.request.get("name")
        shown = next(filter(None, (self._named(item) for item in entries(self._said))), None)
        if shown is None or not isinstance(asked, str):
            return frozenset()
        it = parse(shown)
        if it.source == "git" or it.project == asked:
            return frozenset()
        old = str(ArtifactId(it.source, it.host, asked, it.key)).removesuffix(it.key)
        new = shown.removesuffix(it.key)
        return frozenset(new + each.removeprefix(old) for each in artifacts if each.startswith(old))


def _path(error: Mapping[str, Any]) -> list[Any]:
    path = error.get("path")
    return [part for part in path if isinstance(part, int | str)] if isinstance(path, list) else []


def _json(exchange: Exchange) -> Any:
    try:
        return exchange.json()
    except ValueError:  # a page of words, such as an error's
        return exchange.body.decode(errors="replace")


def _encoded(said: Any) -> bytes:
    if isinstance(said, str):
        return said.encode(errors="replace")
    # Halves of surrogate pairs come and go as they are.
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="surrogatepass")
