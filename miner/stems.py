"""How a text is read: as stems of tokens, without the addresses of pages and people.

A token is a run of letters of one script: in "训练loss" there are two. The parts of a name in
CamelCase count as well: "BatchNorm" is `batchnorm`, `batch` and `norm`. Digits part tokens, as in
the published vocabulary ("Conv2D" has `conv`); read with digits, "int8" is a token too.
All of it takes time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from Stemmer import Stemmer

MOST_LETTERS = 64  # of a token: longer ones are data, not words
Stems = tuple[str, ...]

_LATIN = (
    r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\u2c60-\u2c7f"
    r"\ua722-\ua787\ua78b-\ua7ff\uff21-\uff3a\uff41-\uff5a"
)
_WORD = re.compile(rf"[{_LATIN}]+|[^\W\d_{_LATIN}]+")
_WORD_OR_NUMBER = re.compile(rf"[\d{_LATIN}]+|[^\W\d_{_LATIN}]+")
_DIGIT = re.compile(r"\d")
_PART = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
# An address ends where Markdown, HTML or another script goes on. What may stand before "://" or
# "@" is looked at from its beginning only, or a long word would be read again from every letter.
_PAGE = re.compile(r"(?<![A-Za-z0-9+])[A-Za-z0-9+]*+://[^\s<>\"`|)\]}\u0080-\U0010ffff]*+")
_PERSON = re.compile(
    r"(?<![A-Za-z0-9_.%+-])[A-Za-z0-9_.%+-]*+@[A-Za-z0-9_.-]*+"
    r"(?::?[A-Za-z0-9_.~-]*+/[A-Za-z0-9_.~/-]*+)?"  # git@host:owner/name, @owner/team
)


class Steps:
    """The tokens of a text in their order, for entries of several words."""

    def __init__(self, text: str, *, digits: bool) -> None:
        self._from: list[list[tuple[str, int]]] = []  # by position: a stem, and where it leads
        for token in (_WORD_OR_NUMBER if digits else _WORD).findall(without_addresses(text)):
            here = len(self._from)
            whole = stems_of_token(token)[0] if len(token) <= MOST_LETTERS else ""
            parts = _parts(token)
            self._from.append([(whole, here + max(1, len(parts)))])
            if parts:
                stems = [stem(part.lower()) for part in parts]
                self._from[here].append((stems[0], here + 1))
                self._from += [[(each, here + at)] for at, each in enumerate(stems[1:], 2)]

    def have(self, stems: Stems) -> bool:
        """Whether they stand one behind the other, be it inside a name."""
        places = set(range(len(self._from)))
        for each in stems:
            places = {
                there
                for place in places
                if place < len(self._from)
                for label, there in self._from[place]
                if label == each
            }
        return bool(places)


@lru_cache(maxsize=2)  # of one text, two lexicons are asked for one after the other
def tokens_of(text: str) -> frozenset[str]:
    """The runs of letters in a text."""
    return frozenset(_WORD.findall(without_addresses(text)))


def numbered_tokens_of(text: str) -> frozenset[str]:
    """The runs of letters and digits that have a digit."""
    found = _WORD_OR_NUMBER.findall(without_addresses(text))
    return frozenset(token for token in found if _DIGIT.search(token))


@lru_cache(maxsize=50_000)
def stems_of_token(token: str) -> Stems:
    """The stem of a token, and of its parts; a single letter of a name is no word."""
    return (stem(token.lower()), *(stem(part.lower()) for part in _parts(token) if len(part) > 1))


def words_of(entry: str) -> list[str]:
    """The words of an entry, with their digits if there are some."""
    has_digits = any(sign.isdecimal() for sign in entry)
    return (_WORD_OR_NUMBER if has_digits else _WORD).findall(entry.lower())


def without_addresses(text: str) -> str:
    """A text in which no address of a page or of a person is left."""
    if "://" in text:
        text = _PAGE.sub(" ", text)
    return _PERSON.sub(" ", text) if "@" in text else text


def stem(word: str) -> str:
    """What is left of a word without its ending, by Porter."""
    return str(_stemmer().stemWord(word))


def _parts(token: str) -> list[str]:
    """Of a name in CamelCase."""
    if len(token) > MOST_LETTERS or not _INNER_CAPITAL.search(token):
        return []
    return _PART.findall(token)


@cache
def _stemmer() -> Stemmer:
    return Stemmer("porter")
