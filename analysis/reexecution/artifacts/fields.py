"""Tables of a TOML file with their problems: unknown keys, values of another kind or size."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faultatlas.analysis.reexecution.artifacts.places import wrong_path
from faultatlas.analysis.reexecution.artifacts.problems import Problem, quoted

_LONGEST_TEXT = 4_000
_LONGEST_LIST = 2_000
_LONGEST_PATTERN = 400
_DEEPEST_CLAIM = 6
# A group that repeats and is itself repeated, as in (a+)+, costs exponential time.
_REPEATED_TWICE = re.compile(r"\((?:[^()\\]|\\.)*[*+}](?:[^()\\]|\\.)*\)(?:[*+]|\{\d+,)")


@dataclass
class Report:
    """The problems found so far, in one file."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def add(self, where: str, text: str, next_step: str = "") -> None:
        """One more error."""
        self.problems.append(Problem(f"{self.file}: {where}", text, next_step))


class Table:
    """One table; a value that is wrong is reported, and the default taken."""

    def __init__(self, report: Report, name: str, values: Any, known: Iterable[str]) -> None:
        self.report, self.name = report, name
        self.values: Mapping[str, Any] = {}
        known = tuple(known)
        if not isinstance(values, dict):
            report.add(name, "is no table", f"Write {name or 'tables'} above its lines.")
            return
        self.values = values
        for key in values:
            if key not in known:
                self.say(key, *_unknown(key, known))

    def say(self, key: str, text: str, next_step: str = "") -> None:
        """Report a problem of one key."""
        shown = key if key.isidentifier() else quoted(key)
        self.report.add(f"{self.name} {shown}".strip(), text, next_step)

    def text(self, key: str, default: str = "", *, lines: bool = False) -> str:
        """A text, of one line where nothing else is said."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            self.say(key, f"is no text: {quoted(value)}", "Write it in quotation marks.")
            return default
        if len(value) > _LONGEST_TEXT:
            self.say(key, f"has more than {_LONGEST_TEXT:,} characters", "Shorten it.")
            return default
        allowed = value.replace("\n", "").replace("\t", "") if lines else value
        if not allowed.isprintable():
            self.say(key, "holds control characters", "Take them out.")
            return default
        return value

    def choice(self, key: str, known: Iterable[str], default: str) -> str:
        """One of several words."""
        value = self.text(key, default)
        known = tuple(known)
        if value not in known:
            self.say(key, f"is {quoted(value)}", _choices(value, known))
            return default
        return value

    def truth(self, key: str) -> bool:
        """True or false; false where nothing is said."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.say(key, f"is {quoted(value)}", "Write true or false.")
            return False
        return value

    def number(self, key: str, default: float | None = None) -> float | None:
        """A finite number."""
        value = self.values.get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.say(key, f"is no number: {quoted(value)}", "Write it without quotation marks.")
            return default
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite:
            self.say(key, f"is no finite number: {quoted(value)}", "Write a finite one.")
            return default
        return float(value)

    def limit(self, key: str, default: float, least: float, most: float) -> float:
        """A number that lies between two others."""
        value = self.number(key, default)
        if value is None or not least <= value <= most:
            self.say(key, f"is {value:g}", f"It lies between {least:g} and {most:,g}.")
            return default
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
            self.say(key, "is no list of texts", f'Write {key} = ["...", "..."].')
            return ()
        if len(values) > _LONGEST_LIST:
            self.say(key, f"has more than {_LONGEST_LIST:,} entries", "Shorten it.")
            return ()
        for each in values:
            if len(each) > _LONGEST_TEXT or not each.isprintable():
                self.say(key, f"has an entry that is too long or not printable: {quoted(each)}")
                return ()
        return tuple(values)

    def path(self, key: str, default: str) -> str:
        """A path inside the folder or the workspace."""
        value = self.text(key, default)
        if why := value != default and wrong_path(value):
            self.say(key, f"{quoted(value)} {why}", "Write a path inside it, such as src.")
            return default
        return value

    def paths(self, key: str, *, globs: bool = True) -> tuple[str, ...]:
        """Paths, or also globs; all inside."""
        values = self.texts(key)
        for each in values:
            why = wrong_path(each)
            if not why and not globs and set("*?[") & set(each):
                why = "is a pattern"
            if why:
                self.say(key, f"{quoted(each)} {why}", "Write paths inside the workspace.")
                return ()
        return values

    def pattern(self, key: str, *, groups: int) -> str:
        """A regular expression with so many groups, short and not explosive."""
        value = self.text(key)
        if not value:
            return ""
        if len(value) > _LONGEST_PATTERN:
            self.say(key, f"has more than {_LONGEST_PATTERN} characters", "Shorten it.")
            return ""
        try:
            compiled = re.compile(value)
        except (re.error, RecursionError, OverflowError) as error:
            self.say(key, f"is no regular expression: {error}", "Mend it.")
            return ""
        if groups and compiled.groups != groups:
            self.say(
                key,
                f"has {compiled.groups} groups",
                "Exactly one group is the number; write (?:...) for the others.",
            )
            return ""
        if _REPEATED_TWICE.search(value):
            self.say(
                key,
                f"repeats what repeats already, which can take for ever: {quoted(value)}",
                "Write it without a repetition inside a repeated group.",
            )
            return ""
        return value

    def free(self, key: str) -> dict[str, Any]:
        """A table that may hold anything of a modest depth."""
        value = self.values.get(key, {})
        if not isinstance(value, dict) or not _modest(value, _DEEPEST_CLAIM):
            self.say(key, "is no table of plain values", f"Write {key} = {{name = value}}.")
            return {}
        return value


def _unknown(key: str, known: tuple[str, ...]) -> tuple[str, str]:
    return "is not known", _choices(key, known)


def _choices(value: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(value[:60], known, n=1)
    return f"Is {quoted(str(near[0]))} meant?" if near else f"Known: {', '.join(known)}."


def _modest(value: Any, deepest: int) -> bool:
    """Whether it is made of texts, finite numbers, truths, lists and tables only."""
    if isinstance(value, dict):
        return deepest > 0 and all(_modest(each, deepest - 1) for each in value.values())
    if isinstance(value, list):
        return deepest > 0 and all(_modest(each, deepest - 1) for each in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, int))
