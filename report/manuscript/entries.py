"""The claims file: a TOML list of printed numbers, read strictly.

Numbers are text, so that their digits count. A field that a kind does not know is an error: a
slip in a claims file must not look like a number that was checked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar

from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import plain
from faultatlas.report.manuscript.numbers import Printed, parse

T = TypeVar("T")

LARGEST_FILE = 1_000_000  # bytes
MOST_ENTRIES = 5_000
MOST_VALUES = 1_000  # in a list
LONGEST_TEXT = 500
DOCUMENTED = "docs/manuscript.md describes the format; report manuscript --kinds lists the kinds."

# What every entry may have, beside the fields of its kind.
ABOUT = ("id", "kind", "figure", "place", "what", "inputs")
Inputs = Literal["stated", "inferred"]
INPUTS: tuple[Inputs, ...] = ("stated", "inferred")


@dataclass(frozen=True)
class Entry:
    """A printed claim: where it stands and the numbers that belong to it."""

    entry_id: str
    kind: str
    fields: Mapping[str, Any]
    where: str  # the file, for messages
    asked: set[str] = field(default_factory=set, compare=False)

    @property
    def inferred(self) -> bool:
        """Whether a reader inferred what the number was computed from."""
        return self.choice("inputs", INPUTS) == "inferred"

    def words(self, name: str, default: str | None = None) -> str:
        """A text."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a text in quotes", value)
        if len(value) > LONGEST_TEXT:
            raise self.error(f"{name} has {len(value):,} characters", f"at most {LONGEST_TEXT}")
        return plain(value)

    def choice(self, name: str, known: Sequence[T]) -> T:
        """One of a few words; the first is the default."""
        value = self._value(name, known[0])
        if value not in known:
            raise self.error(f"{name} = {_short(value)}", f"known: {', '.join(map(str, known))}")
        return known[known.index(value)]

    def flag(self, name: str) -> bool:
        """Yes or no; no if nothing is said."""
        value = self._value(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def has(self, name: str) -> bool:
        """Whether the entry says it."""
        self.asked.add(name)
        return name in self.fields

    def number(self, name: str, default: str | None = None) -> Printed:
        """A number as it was printed."""
        return self._number(name, self._value(name, default))

    def numbers(self, name: str, *, least: int = 1) -> list[Printed]:
        """Several numbers; one alone may stand without brackets."""
        return [self._number(name, each) for each in self._list(name, least)]

    def texts(self, name: str, *, least: int = 1) -> list[str]:
        """Several texts; one alone may stand without brackets."""
        values = self._list(name, least)
        for each in values:
            if not isinstance(each, str) or len(each) > LONGEST_TEXT:
                raise self._wrong(name, "texts in quotes", each)
        return [plain(each) for each in values]

    def table(self, name: str, *, least: int = 2) -> list[list[Printed]]:
        """Rows of numbers, all of one length."""
        rows = self._list(name, least)
        if not all(isinstance(row, list) and len(row) <= MOST_VALUES for row in rows):
            raise self._wrong(name, "rows: [[1, 2], [3, 4]]", rows)
        if len({len(row) for row in rows}) != 1:
            raise self.error(f"the rows of {name} have different lengths", "fill them")
        return [[self._number(name, each) for each in row] for row in rows]

    def named(self, name: str) -> dict[str, Printed]:
        """Numbers with names: { first = "6", second = "7" }."""
        value = self._value(name, None)
        if not isinstance(value, dict) or not 0 < len(value) <= MOST_VALUES:
            raise self._wrong(name, 'numbers with names: { first = "6", second = "7" }', value)
        return {plain(key): self._number(name, each) for key, each in value.items()}

    def pairs(self, name: str) -> list[tuple[Printed, Any]]:
        """Lists of two: a number and what belongs to it."""
        found = self._list(name, 1)
        if not all(isinstance(each, list) and len(each) == 2 for each in found):
            raise self._wrong(name, "pairs: [[..., ...], ...]", found)
        return [(self._number(name, first), second) for first, second in found]

    def printed(self) -> list[Printed]:
        """The numbers that are checked; none if the paper prints none."""
        return self.numbers("printed") if self.has("printed") else []

    def only_printed(self) -> Printed:
        """The number that is checked, for a kind that checks one."""
        printed = self.numbers("printed")
        if len(printed) > 1:
            raise self.error(f"{self.kind} checks one printed number", "an entry for each place")
        return printed[0]

    def all_asked(self) -> None:
        """Refuse fields that nobody looked at."""
        if unknown := sorted(set(self.fields) - self.asked - set(ABOUT)):
            raise self._unknown(unknown[0])

    def error(self, message: str, hint: str = "") -> StudyError:
        """What is wrong with the entry."""
        what = f"{self.where}: {self.entry_id}: {message}"
        return StudyError(f"{what} ({hint})" if hint else what, DOCUMENTED)

    def guarded(self, compute: Callable[..., T], *arguments: Any) -> T:
        """A computation whose numbers may be impossible."""
        try:
            return compute(*arguments)
        except (ZeroDivisionError, OverflowError, ValueError) as cause:
            raise self.error(f"cannot be computed: {cause}") from None

    def _value(self, name: str, default: Any) -> Any:
        self.asked.add(name)
        value = self.fields.get(name, default)
        if value is None:
            for each in set(self.fields) - self.asked - set(ABOUT):
                if get_close_matches(each, [name]):
                    raise self._unknown(each, name)
            raise self.error(f"{self.kind or 'a claim'} needs {name}", "see --kinds")
        return value

    def _unknown(self, name: str, meant: str = "") -> StudyError:
        near = [meant] if meant else get_close_matches(name, {*self.asked, *ABOUT}, n=1)
        what = f"; did you mean {near[0]!r}?" if near else ""
        return self.error(f"unknown field {plain(name)!r} of {self.kind}{what}", "see --kinds")

    def _list(self, name: str, least: int) -> list[Any]:
        value = self._value(name, None)
        values = value if isinstance(value, list) else [value]
        if not least <= len(values) <= MOST_VALUES:
            raise self.error(
                f"{name} has {len(values):,} values", f"between {least} and {MOST_VALUES:,}"
            )
        return values

    def _number(self, name: str, value: Any) -> Printed:
        if isinstance(value, float):
            raise self.error(f"{name} = {value} is no text", f'its digits count: "{value}"')
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self._wrong(name, "a number in quotes", value)
        try:
            return parse(str(value))
        except ValueError as cause:
            raise self.error(f"{name}: {plain(cause)}") from None

    def number_of(self, name: str, value: Any) -> Printed:
        """A value inside a pair, as a number."""
        return self._number(name, value)

    def _wrong(self, name: str, wanted: str, value: Any) -> StudyError:
        return self.error(f"{name} = {_short(value)}", f"wanted: {wanted}")


@dataclass(frozen=True)
class ClaimsFile:
    """The printed claims of a manuscript."""

    study: str
    title: str
    entries: tuple[Entry, ...]


def read(path: Path) -> ClaimsFile:
    """A claims file of the user's."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise StudyError(f"{path} is larger than {LARGEST_FILE:,} bytes", "Split the file.")
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise StudyError(f"{path} cannot be read: {reason}", DOCUMENTED) from None
    return parsed(content, str(path), path.stem)


def parsed(content: str, where: str, name: str) -> ClaimsFile:
    """The claims of a text in TOML."""
    try:
        document = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        is_known = isinstance(error, tomllib.TOMLDecodeError)  # else thousands of digits, brackets
        said = str(error) if is_known else "it is no TOML that can be read"
        raise StudyError(f"{where}: {said}", "Mend the line; text stands in quotes.") from None
    claims = document.get("claim", [])
    if isinstance(document.get("claims"), dict):
        raise StudyError(
            f"{where}: this is a file for `analysis claims`", f"Run that, or see {DOCUMENTED}"
        )
    if unknown := sorted(set(document) - {"study", "title", "source", "claim"}):
        raise StudyError(f"{where}: nothing is called {unknown[0]!r}", DOCUMENTED)
    if not isinstance(claims, list) or not claims or not all(isinstance(x, dict) for x in claims):
        raise StudyError(f"{where} has no claims", f"Each begins with [[claim]]. {DOCUMENTED}")
    if len(claims) > MOST_ENTRIES:
        raise StudyError(f"{where} has {len(claims):,} claims", f"At most {MOST_ENTRIES:,}.")
    entries = tuple(_entry(fields, place, where) for place, fields in enumerate(claims, start=1))
    seen: set[str] = set()
    for each in entries:
        if each.entry_id in seen:
            raise each.error("the id is used twice")
        seen.add(each.entry_id)
    return ClaimsFile(
        plain(document.get("study", name)), plain(document.get("title", name)), entries
    )


def _entry(fields: dict[str, Any], position: int, where: str) -> Entry:
    named = fields.get("id", f"claim {position}")
    entry = Entry(plain(named)[:LONGEST_TEXT], str(fields.get("kind", "")), fields, where)
    for name in ("id", "kind"):
        entry.words(name)
    return entry


def _short(value: Any) -> str:
    text = plain(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
