"""Lexicons: words that tell texts of one kind from others. A lexicon is a file.

Words are compared as stems (Porter's, which made the published vocabulary), so that "fixes" is
"fix" and "prefix" is not. What is a word of a text, `faultatlas.miner.stems` says.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table
from faultatlas.miner.stems import (
    MOST_LETTERS,
    Stems,
    Steps,
    numbered_tokens_of,
    stem,
    stems_of_token,
    tokens_of,
    words_of,
)

FOLDER = Path(__file__).parent / "lexicons"
OWN = "lexicons"  # folder of a study with lexicons of its own

_READING = (
    "2"  # another one when texts are read in another way: then stored hits are no longer true
)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NAMES = "small letters, digits, - and _"
_HEADER = re.compile(r"#\s*(title|source|entries):\s*(.+)")
_TO_DIGIT = re.compile(r".*\d")
_SIGN = re.compile(r"[^\w\s]|_")
_JOINING = "-_/.:&'\u2019"  # signs that may stand between two words of an entry
_MOST_BYTES = 1_000_000
_MOST_KNOWN = 100_000  # tokens that a lexicon remembers


@dataclass(frozen=True)
class Lexicon:
    """Words with a name, and where they come from."""

    name: str
    title: str
    source: str
    entries: tuple[str, ...]
    are_stems: bool = False
    _phrases: dict[str, Stems] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_phrases", {each: self._stems(each) for each in self.entries})

    @cached_property
    def digest(self) -> str:
        """Of what is compared, and how: another title does not change it."""
        said = "\n".join([_READING, *sorted(" ".join(stems) for stems in self._phrases.values())])
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
        tokens = tokens_of(text) - self._without
        if self._numbers and _has_one(text.lower(), self._numbers):
            tokens |= numbered_tokens_of(text) - self._without
        found: set[str] = set()
        for token in tokens:
            if len(token) > MOST_LETTERS:
                continue
            stems = stems_of_token(token)
            if self._known.isdisjoint(stems):
                self._without.add(token)
            else:
                found.update(stems)
        if len(self._without) > _MOST_KNOWN:
            self._without.clear()
        if not found:
            return ()
        words = {entry for each in found & self._by_word.keys() for entry in self._by_word[each]}
        return tuple(sorted(words.union(self._phrases_in(text, found))))

    def _phrases_in(self, text: str, found: set[str]) -> Iterable[str]:
        """The entries of several words, for which the order in the text counts."""
        asked = [each for each in self._longer if found.issuperset(each[1])]
        read: dict[bool, Steps] = {}
        for entry, stems in asked:
            digits = any(map(_TO_DIGIT.match, stems))
            if digits not in read:
                read[digits] = Steps(text, digits=digits)
            if read[digits].have(stems):
                yield entry

    @cached_property
    def _without(self) -> set[str]:
        """Tokens that are no word of it: most are none, and come again and again."""
        return set()

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(stem for stems in self._phrases.values() for stem in stems)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """What a text must have to be read with digits: stems up to the last one."""
        return frozenset(match[0] for each in self._known if (match := _TO_DIGIT.match(each)))

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        """Entries of one word, by its stem: "fail" and "failing" are one."""
        found: dict[str, list[str]] = {}
        for entry, stems in self._phrases.items():
            if len(stems) == 1:
                found.setdefault(stems[0], []).append(entry)
        return found

    @cached_property
    def _longer(self) -> list[tuple[str, Stems]]:
        return [(entry, stems) for entry, stems in self._phrases.items() if len(stems) > 1]

    def _stems(self, entry: str) -> Stems:
        words = words_of(entry)
        return tuple(words) if self.are_stems else tuple(map(stem, words))


def lexicon(name: str, study: Path | None = None) -> Lexicon:
    """A shipped lexicon, or one of a study's own, which comes first."""
    files = _files(study)
    if name in files and _NAME.fullmatch(name):
        return read_lexicon(files[name])
    known = ", ".join(sorted(each for each in files if _NAME.fullmatch(each)))
    if name in files:
        raise StudyError(
            f"{files[name]} cannot be used: {name!r} is no name of a lexicon",
            f"A name has {_NAMES}: rename the file. Known: {known}.",
        )
    odd = ", ".join(sorted(path.name for each, path in files.items() if not _NAME.fullmatch(each)))
    raise StudyError(
        f"there is no lexicon {name!r}",
        f"Known: {known}. Your own goes into {OWN}/NAME.txt of the study, "
        f"one word on each line; NAME has {_NAMES}."
        + (f" For their names, these are not read: {odd}." if odd else ""),
    )


def lexicons(study: Path | None = None) -> list[Lexicon]:
    """All that there are, by name; not files with names that cannot be asked for."""
    files = sorted(_files(study).items())
    return [read_lexicon(path) for name, path in files if _NAME.fullmatch(name)]


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
        elif line.strip() and not line.lstrip().startswith("#"):
            entries.append(_entry(line, f"{path}:{number}"))
    if about["entries"] not in ("words", "stems"):
        raise StudyError(
            f"{path}: entries are {about['entries']!r}", "Write `# entries: words` or `stems`."
        )
    if not entries:
        raise StudyError(f"{path} has no words", "Write one on each line.")
    return Lexicon(
        path.stem, about["title"], about["source"], tuple(entries), about["entries"] == "stems"
    )


def _entry(line: str, where: str) -> str:
    entry = " ".join(line.lower().split())
    if not any(each.isalpha() for each in entry):
        raise StudyError(f"{where}: {entry!r} has no letter", "Remove the line.")
    for sign in _SIGN.finditer(entry):
        if _is_lost(entry, sign.start()):
            raise StudyError(
                f"{where}: {entry!r} has the sign {sign[0]!r}, which is not compared",
                "Only letters and digits are: write it without the sign, or remove the line.",
            )
    return entry


def _is_lost(entry: str, at: int) -> bool:
    """Whether a sign tells an entry from others ("c++") rather than joins two words."""
    if unicodedata.category(entry[at])[0] not in "PS":
        return False  # a mark that belongs to a letter
    between = entry[at - 1 : at].isalnum() and entry[at + 1 : at + 2].isalnum()
    return not (between and entry[at] in _JOINING)


def _has_one(text: str, parts: Iterable[str]) -> bool:
    return any(part in text for part in parts)
