"""Takes people, secrets, places on disks and raters' names out of what goes into a package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from faultatlas.data.people import UNKNOWN, scrub
from faultatlas.data.redaction import redact

NAME = "<name>"
PATH = "<path>"

# The folder of a person: in tracebacks that strangers pasted.
HOME = re.compile(
    r"((?<![\w.-])/(?:home|Users)/|\b[A-Za-z]:\\{1,4}Users\\{1,4})(?!<)([^/\\\s\"'`<>:|,;()]+)"
)
# A place on a disk, in words of the team. Mined projects are `owner/name`, never `/owner/name`.
PLACE = re.compile(
    r"(?<![\w.:/~<-])(?:file:/{2,3}|~/|/(?:home|Users|root|mnt|media|Volumes|private|srv|scratch|nfs"
    r"|tmp|var|opt|work|workspace|data|export|net)/)[^\s\"'`<>|,;()]+"
    r"|(?<![\w])[A-Za-z]:\\{1,4}[^\s\"'`<>|,;()]+|(?<![\w\\])\\\\[\w.-]+\\[^\s\"'`<>|,;()]+"
)
PSEUDONYM = re.compile(r"\b(?:person|bot)_[0-9a-f]{16}\b")
_WORD = re.compile(r"\w+")
_ROW = re.compile(r"(?:\brow |:)([0-9]+)( rater [0-9]+)?\Z")
_TASK = re.compile(r" project [0-9]+ task [0-9]+ [a-z0-9 ]*\Z")
_SHORTEST = 3  # a name of a rater that is looked for in sentences
_ORDINARY = frozenset({"admin", "annotator", "anonymous", "author", "coder", "evaluator", "root",
                       "runner", "ubuntu", "user"})  # fmt: skip

# Arguments of commands that say how something was done, and name no file, server or person.
_SAID = frozenset(
    {
        "accepted", "again", "all", "all_branches", "all_tags", "answers", "any_keyword",
        "any_label", "any_lexicon", "batch", "by", "code", "comments", "confidence", "device",
        "duplicates", "evidence", "first", "functions", "gate", "high_priority", "highest",
        "judge_again", "keywords", "label", "level", "lexicon", "margin", "most", "name", "on",
        "overlap", "papers", "project", "pulls", "resamples", "round", "rounds", "rule", "sample",
        "scale", "seed", "seeds", "set", "since", "site", "size", "stage", "state", "statistic",
        "step", "stratify", "support", "tag", "taxonomy", "template", "threshold", "timeline",
        "until", "verify", "where", "without",
    }
)  # fmt: skip


def is_ordinary(name: str, vocabulary: frozenset[str]) -> bool:
    """Whether a name is also an ordinary word: in sentences it cannot be told from one."""
    word = name.casefold()
    is_plain = word.isdigit() or len(word) < _SHORTEST or word.startswith("rater")
    return is_plain or word in _ORDINARY or word in vocabulary


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def whole_word(
    names: Iterable[str], *, in_paths: bool = False, in_any_case: bool = False
) -> re.Pattern[str] | None:
    """What finds these names where they stand alone; as a part of a path or an id if asked for."""
    spelled = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    edge = r"\w" if in_paths else r"\w/"
    # In the path of a claim's query a tilde is %7E.
    before = rf"(?:(?<![{edge}])|(?<=%[0-9A-F]{{2}}))"
    flags = re.IGNORECASE if in_any_case else re.NOFLAG
    return re.compile(rf"{before}(?:{spelled})(?![{edge}])", flags) if spelled else None


@dataclass(frozen=True)
class Cleaner:
    """What people are called from now on, and what cleans values of every kind."""

    raters: Mapping[str, str] = field(default_factory=dict)
    vocabulary: frozenset[str] = frozenset()  # words that are not looked for as names
    own_names: tuple[str, ...] = ()  # of this machine and its user; for review, of the authors
    is_blind: bool = False
    people: Mapping[str, str] = field(default_factory=dict)  # pseudonyms; for review only
    runs: Mapping[str, str] = field(default_factory=dict)  # the same
    servers: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    who: Callable[[str], str] = lambda _login: UNKNOWN

    @property
    def unsearched(self) -> list[str]:
        """Raters whose names are ordinary words: sentences are not searched for them."""
        return [name for name in self.raters if is_ordinary(name, self.vocabulary)]

    @cached_property
    def _raters(self) -> re.Pattern[str] | None:
        return whole_word(
            name for name in self.raters if name and not is_ordinary(name, self.vocabulary)
        )

    @cached_property
    def _own_names(self) -> re.Pattern[str] | None:
        return whole_word(self.own_names)

    def text(self, text: str) -> str:
        """A text of strangers."""
        text = HOME.sub(rf"\1{NAME}", scrub(redact(text), self.who))
        if not self.is_blind:
            return text
        return PSEUDONYM.sub(lambda found: self.people.get(found[0], UNKNOWN), text)

    def tag(self, text: str) -> str:
        """A short word of strangers, such as the label of a tracker."""
        return self.text(PLACE.sub(PATH, text))

    def words(self, text: str) -> str:
        """Words of the team."""
        text = self.tag(text)
        if self._raters:
            text = self._raters.sub(lambda found: self.raters[found[0]], text)
        return self._own_names.sub(NAME, text) if self._own_names else text

    def plain(self, value: Any, clean: Callable[[str], str] | None = None) -> Any:
        """Plain values, cleaned in all their texts; where raters are named, they are renamed."""
        clean = clean or self.words
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list | tuple):
            return [self.plain(each, clean) for each in value]
        if isinstance(value, Mapping):
            return {
                str(key): self._renamed(each)
                if key in {"rater", "raters", "adjudicator"}
                else self.plain(each, clean)
                for key, each in value.items()
            }
        return value

    def definition(self, text: str) -> str:
        """JSON of the team's words."""
        return _json(self.plain(json.loads(text)))

    def cells(self, text: str) -> str:
        """A row of a published package."""
        return _json(self.plain(json.loads(text), self.text))

    def arguments(self, text: str) -> str:
        """What a command was told, as far as it names no file, no server and no person."""
        given = {name: value for name, value in json.loads(text).items() if name in _SAID}
        return _json(self.plain(given))

    def rater(self, name: str) -> str:
        """What a rater is called."""
        return self.raters.get(name, name)

    def person(self, name: str) -> str:
        """A pseudonym, also where a login got into the study."""
        known = name if PSEUDONYM.fullmatch(name) or name == UNKNOWN else self.who(name)
        return self.people.get(name, known)

    def claim_id(self, claim_id: str) -> str:
        """The id of a claim when raters have their new names."""
        parts = [self.raters.get(part) or self.words(part) for part in claim_id.split(".")]
        return ".".join(parts)

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.rater(value)
        return [self._renamed(each) for each in value] if isinstance(value, list) else value


def row_of(place: str) -> str:
    """Of a file and its row the row; of a server and its task the task."""
    if found := _ROW.search(place):
        return f"row {found[1]}{found[2] or ''}"
    found = _TASK.search(place)
    return f"server{found[0]}" if found else ""


def bare_address(address: str) -> str:
    """An address without what stands behind the question mark; nothing for the name of a file."""
    if not address.startswith(("https://", "http://")):
        return ""
    return redact(re.split(r"[?#]", address, maxsplit=1)[0])


def request_kind(request: str) -> str:
    """Of a request its kind: the rest may name whom it was about."""
    found = json.loads(request)
    kind = found.get("kind") if isinstance(found, dict) else None
    return _json({"kind": kind} if isinstance(kind, str) else {})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
