"""Lexicons: words that tell texts of one kind from others. A lexicon is a file.

Words are compared as stems (Porter's, which made the published vocabulary), so that "fixes" is
"fix" and "prefix" is not. A token is a run of letters; the parts of a name in CamelCase count as
well: "BatchNorm" is `batchnorm`, `batch` and `norm`. Addresses of pages and people are no words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from Stemmer import Stemmer

from data.errors import StudyError
from data.results import Column, Table

FOLDER = Path(__file__).parent / "lexicons"
OWN = "lexicons"  # folder of a study with lexicons of its own

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HEADER = re.compile(r"#\s*(title|source|entries):\s*(.+)")
_WORD = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_MOST_BYTES = 1_000_000
_MOST_LETTERS = 64  # of a token: longer ones are data, not words
_Stems = tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """Words with a name, and where they come from."""

    name: str
    title: str
    source: str
    entries: tuple[str, ...]
    are_stems: bool = False
    _phrases: dict[str, _Stems] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_phrases", {each: self._stems(each) for each in self.entries})

    @cached_property
    def digest(self) -> str:
        """Of what is compared: another title does not change it."""
        said = "\n".join(sorted(" ".join(stems) for stems in self._phrases.values()))
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "digest": self.digest,
            "entries": list(self.entries),
            "are_stems": self.are_stems,
        }

    def reading(self, *, code: bool = False, quotes: bool = False) -> str:
        """What hits are a function of, beside the text: the words and how the text was read."""
        return f"{self.digest}{'+code' if code else ''}{'+quotes' if quotes else ''}"

    def hits(self, text: str) -> tuple[str, ...]:
        """The entries that a text has, sorted."""
        found = _stems_in(text)
        known = self._by_word
        words = [entry for stem in found if stem in known for entry in known[stem]]
        phrases = [
            entry
            for entry, stems in self._longer
            if found.issuperset(stems) and _has_phrase(text, stems)
        ]
        return tuple(sorted({*words, *phrases}))

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        """Entries of one word, by its stem: "fail" and "failing" are one."""
        found: dict[str, list[str]] = {}
        for entry, stems in self._phrases.items():
            if len(stems) == 1:
                found.setdefault(stems[0], []).append(entry)
        return found

    @cached_property
    def _longer(self) -> list[tuple[str, _Stems]]:
        return [(entry, stems) for entry, stems in self._phrases.items() if len(stems) > 1]

    def _stems(self, entry: str) -> _Stems:
        words = _WORD.findall(entry.lower())
        return tuple(words) if self.are_stems else tuple(_stem(word) for word in words)


def lexicon(name: str, study: Path | None = None) -> Lexicon:
    """A shipped lexicon, or one of a study's own, which comes first."""
    return _read(_files(study).get(name), name, study)


def lexicons(study: Path | None = None) -> list[Lexicon]:
    """All that there are, by name."""
    return [_read(path, name, study) for name, path in sorted(_files(study).items())]


def lexicons_table(found: Iterable[Lexicon]) -> Table:
    """Lexicons for a reader."""
    columns = (
        Column("name", "Lexicon"),
        Column("words", "Words", "count"),
        Column("title", "Title"),
        Column("source", "Source", aside=True),
    )
    rows = tuple((each.name, len(each.entries), each.title, each.source) for each in found)
    return Table("lexicons", "Lexicons", columns, rows)


def _files(study: Path | None) -> dict[str, Path]:
    folders = [FOLDER, *([study / OWN] if study else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.txt"))}


def _read(path: Path | None, name: str, study: Path | None) -> Lexicon:
    if path is None or not _NAME.fullmatch(name):
        known = ", ".join(sorted(_files(study)))
        raise StudyError(
            f"there is no lexicon {name!r}",
            f"There are {known}; your own goes into {OWN}/NAME.txt of the study, "
            "one word on each line.",
        )
    return read_lexicon(path)


def read_lexicon(path: Path) -> Lexicon:
    """A lexicon file: one entry on each line, `# title:`, `# source:` and `# entries:` above."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}", "It must be UTF-8 text.") from error
    if len(raw) > _MOST_BYTES:
        raise StudyError(f"{path} has more than {_MOST_BYTES:,} bytes", "Is it a list of words?")
    about = {"title": path.stem, "source": "", "entries": "words"}
    entries: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line.strip()):
            about[header[1]] = header[2].strip()
        elif line.strip() and not line.startswith("#"):
            entry = " ".join(line.lower().split())
            if not _WORD.search(entry):
                raise StudyError(f"{path}:{number}: {entry!r} has no letter", "Remove the line.")
            entries.append(entry)
    if about["entries"] not in ("words", "stems"):
        raise StudyError(
            f"{path}: entries are {about['entries']!r}", "Write `# entries: words` or `stems`."
        )
    if not entries:
        raise StudyError(f"{path} has no words", "Write one on each line.")
    return Lexicon(
        path.stem, about["title"], about["source"], tuple(entries), about["entries"] == "stems"
    )


@lru_cache(maxsize=2)  # of one text, two lexicons are asked for one after the other
def _stems_in(text: str) -> frozenset[str]:
    found: set[str] = set()
    for token in set(_WORD.findall(_without_addresses(text))):
        found.update(_stems_of_token(token))
    return frozenset(found)


def _without_addresses(text: str) -> str:
    if "://" not in text and "@" not in text:
        return text
    return " ".join(word for word in text.split() if "://" not in word and "@" not in word)


def _has_phrase(text: str, stems: _Stems) -> bool:
    """Whether the words stand one behind the other."""
    tokens = [_stems_of_token(token) for token in _WORD.findall(_without_addresses(text))]
    return any(
        all(stem in token for stem, token in zip(stems, tokens[at:], strict=False))
        for at in range(len(tokens) - len(stems) + 1)
    )


@lru_cache(maxsize=200_000)
def _stems_of_token(token: str) -> _Stems:
    """The stem of a token, and of its parts if it is a name."""
    return tuple(dict.fromkeys(_stem(word) for word in _words_of_token(token)))


def _words_of_token(token: str) -> Iterator[str]:
    if len(token) > _MOST_LETTERS:
        return
    yield token.lower()
    if _INNER_CAPITAL.search(token):
        yield from (part.lower() for part in _PART.findall(token) if len(part) > 1)


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Stemmer:
    return Stemmer("porter")
