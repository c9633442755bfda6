"""How a text is read: as stems of tokens, without the addresses of pages and people.

A token is a run of letters of one script: in "训练loss" there are two. The parts of a name in
CamelCase count as well: "BatchNorm" is `batchnorm`, `batch` and `norm`. Digits part tokens, as in
the published vocabulary ("Conv2D" has `conv`); read with digits, "int8" is a token too.
All of it takes time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from Stemmer import Stemmer

MOST_LETTERS = 64  # of a token: longer ones are data, not words

_LATIN = (
    r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\u2c60-\u2c7f"
    r"\ua722-\ua787\ua78b-\ua7ff\uff21-\uff3a\uff41-\uff5a"
)
_WORD = re.compile(rf"[{_LATIN}]+|[^\W\d_{_LATIN}]+")
_WORD_OR_NUMBER = re.compile(rf"[\d{_LATIN}]+|[^\W\d_{_LATIN}]+")
_PART = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
# An address ends where Markdown, HTML or another script goes on. What may stand before "://" or
# "@" is looked at from its beginning only, or a long word would be read again from every letter.
_PAGE = re.compile(r"(?<![A-Za-z0-9+])[A-Za-z0-9+]*+://[^\s<>\"`|)\]}\u0080-\U0010ffff]*+")
_PERSON = re.compile(
    r"(?<![A-Za-z0-9_.%+-])[A-Za-z0-9_.%+-]*+@[A-Za-z0-9_.-]*+"
    r"(?::?[A-Za-z0-9_.~-]*+/[A-Za-z0-9_.~/-]*+)?"  # git@host:owner/name, @owner/team
)


class Token(NamedTuple):
    """Stems of a token: of the whole, and of its parts if it is a name."""

    whole: str
    parts: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What counts as a word of its own: a single letter of a name does not."""
        return (self.whole, *(part for part in self.parts if len(part) > 1))


class Steps:
    """The tokens of a text in their order, for entries of several words."""

    def __init__(self, text: str, *, digits: bool) -> None:
        self._from: list[list[tuple[str, int]]] = []  # by position: a stem, and where it leads
        for token in _tokens(without_addresses(text), digits=digits):
            here = len(self._from)
            parts = token.parts or (token.whole,)
            self._from += [[(part, here + at)] for at, part in enumerate(parts, 1)]
            if token.parts:
                self._from[here].append((token.whole, here + len(parts)))

    def have(self, stems: tuple[str, ...]) -> bool:
        """Whether they stand one behind the other, be it inside a name."""
        places = set(range(len(self._from)))
        for stem in stems:
            places = {
                there
                for place in places
                if place < len(self._from)
                for label, there in self._from[place]
                if label == stem
            }
        return bool(places)


@lru_cache(maxsize=2)  # of one text, two lexicons are asked for one after the other
def chunks(text: str) -> frozenset[str]:
    """What stands between spaces: neither a token nor an address goes over one."""
    return frozenset(text.split())


def stems_of_chunk(chunk: str, *, digits: bool) -> frozenset[str]:
    """The stems of all tokens in a piece of text."""
    if len(chunk) > MOST_LETTERS:
        return _stems_of_chunk.__wrapped__(chunk, digits=digits)
    return _stems_of_chunk(chunk, digits=digits)


@lru_cache(maxsize=4_096)
def _stems_of_chunk(chunk: str, *, digits: bool) -> frozenset[str]:
    readings = (False, True) if digits else (False,)
    text = without_addresses(chunk)
    return frozenset(
        stem for each in readings for token in _tokens(text, digits=each) for stem in token.words
    )


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


def _tokens(text: str, *, digits: bool) -> Iterator[Token]:
    return map(_token, (_WORD_OR_NUMBER if digits else _WORD).findall(text))


def _token(found: str) -> Token:
    return Token("") if len(found) > MOST_LETTERS else _stems_of_token(found)


@lru_cache(maxsize=50_000)
def _stems_of_token(token: str) -> Token:
    whole = stem(token.lower())
    if not _INNER_CAPITAL.search(token):
        return Token(whole)
    return Token(whole, tuple(stem(part.lower()) for part in _PART.findall(token)))


@cache
def _stemmer() -> Stemmer:
    return Stemmer("porter")
