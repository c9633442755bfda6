"""TOML and YAML files that people write: read safely, with problems named by their lines.

TOML is checked against a pydantic model. YAML files hold trees, and all their problems are reported
at once: anchors and aliases are refused, because our files need none and they are how a small file
becomes a huge one. So is deep nesting, which overflows the stack of the C parser, and so are
control characters: what is read here is printed on terminals and labelling pages.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

_LARGEST = 4_000_000  # bytes; the largest file we ship has under 0.1 million


# --- TOML --------------------------------------------------------------------------------


def read_toml(path: Path, model: type[T], *, hint: str) -> T:
    """The file as a pydantic dataclass or model; raise StudyError that names every problem."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            f"{path} cannot be read: {error}", "It must be a text file in UTF-8."
        ) from None
    return parse_toml(text, model, str(path), hint=hint)


def parse_toml(text: str, model: type[T], name: str, *, hint: str) -> T:
    """The text of a TOML file as a model; `name` is for messages."""
    from pydantic import TypeAdapter, ValidationError

    if len(text) > _LARGEST:
        raise StudyError(f"{name} is larger than {_LARGEST:,} characters", hint)
    try:
        plain = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{name}: {error}", "Fix the line; put text in quotes.") from None
    except ValueError:  # a number of thousands of digits
        raise StudyError(f"{name}: a number is too long", hint) from None
    try:
        return TypeAdapter(model).validate_python(plain)
    except ValidationError as error:
        problems = [
            f"line {line_of(text, details['loc'])}: {in_words(details)}"
            for details in error.errors(include_url=False)
        ]
        raise StudyError(f"{name}: {'; '.join(dict.fromkeys(problems))}", hint) from None


def line_of(text: str, place: Sequence[int | str]) -> int:
    """The line of a key, such as ("study", "authors", 0); the nearest line above it if unclear."""
    lines = text.splitlines()
    line = 0
    for part in place:
        key = re.escape(str(part))
        pattern = re.compile(
            rf"\s*(?:\[\[?\s*(?:[^\]]*\.)?[\"']?{key}[\"']?\s*\]|[\"']?{key}[\"']?\s*[=.])"
        )
        for number in range(line, len(lines)):
            if isinstance(part, str) and pattern.match(lines[number]):
                line = number
                break
    return line + 1


_PLAIN_WORDS = {  # by the type of pydantic's error
    "extra_forbidden": "unknown key {where!r}",
    "unexpected_keyword_argument": "unknown key {where!r}",
    "missing": "{where} is missing",
    "missing_argument": "{where} is missing",
    "literal_error": "{where} = {value!r}: expected {expected}",
    "string_type": "{where} = {value!r}: expected text in quotes",
    "float_type": "{where} = {value!r}: expected a number",
    "int_type": "{where} = {value!r}: expected a number",
    "bool_type": "{where} = {value!r}: expected true or false",
    "list_type": "{where} = {value!r}: expected a list",
    "dataclass_type": "{where} = {value!r}: expected a section [{where}] or {{key = ...}}",
}


def in_words(details: ErrorDetails) -> str:
    """An error of pydantic in plain words."""
    where = ".".join(str(part) for part in details["loc"])
    if details["type"] == "value_error":  # our own words
        reason = details["msg"].partition(", ")[2]
        return f"{where}: {reason}" if where else reason
    words = _PLAIN_WORDS.get(details["type"], "{where} = {value!r}: {message}")
    expected = details.get("ctx", {}).get("expected", "")
    message = details["msg"][:1].lower() + details["msg"][1:]
    return words.format(where=where, value=details.get("input"), expected=expected, message=message)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to suggest for an unknown word: the nearest known one, and all."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    return (f"Did you mean {near[0]}? " if near else "") + f"Known: {', '.join(names)}."


# --- YAML --------------------------------------------------------------------------------

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast
_DEEPEST = 100  # levels; ours have four

# C0 but for tab and line feed, DEL and C1, separators of lines, and the explicit direction
# controls with which a text can be made to read as another one. The plain marks U+200E and
# U+200F, which Hebrew and Arabic need, are let through.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file."""

    line: int
    text: str


@dataclass
class Section:
    """A mapping of a YAML file: values by key, the line of each key, and plain values as written.

    What is written `1.10` has the value 1.1: a complaint must show the former.
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)


class UnreadableYamlError(Exception):
    """The file is no YAML that we accept."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems = problems


def load(path: Path, content: bytes | None = None) -> Any:
    """The file's value: `Section`, list, str, int, float, bool or None.

    A file that is not on disk any more comes with its content.
    """
    try:
        text = path.read_bytes() if content is None else content
        if len(text) > _LARGEST:
            raise UnreadableYamlError([Problem(1, f"larger than {_LARGEST:,} bytes")])
        decoded = text.decode("utf-8")
    except OSError as error:
        raise UnreadableYamlError([Problem(1, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise UnreadableYamlError([Problem(line, "is not UTF-8")]) from error
    try:
        problems = _control_characters(decoded) or _refused_events(decoded)
        value = None if problems else _composed(decoded, problems)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        text_ = error.problem or error.context or "cannot be parsed"
        raise UnreadableYamlError([Problem(line, f"bad YAML: {text_}")]) from error
    except yaml.reader.ReaderError as error:  # a character that YAML does not know, as U+FFFF
        line = text[: error.position].count(b"\n") + 1
        first = str(error).splitlines()[0]
        raise UnreadableYamlError([Problem(line, f"bad YAML: {first}")]) from error
    if problems:
        raise UnreadableYamlError(problems)
    return value


def _control_characters(text: str) -> list[Problem]:
    """Those that stand in the file as they are, in comments too; CR LF ends a line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [problem for line, each in enumerate(lines, 1) for problem in _controls(each, line)]


def _controls(text: str, line: int) -> list[Problem]:
    found = _CONTROL.search(text)
    if found is None:
        return []
    return [Problem(line, f"control character U+{ord(found[0]):04X} is not accepted")]


def _refused_events(text: str) -> list[Problem]:
    """Anchors, aliases, deep nesting and escaped control characters; builds nothing."""
    problems = []
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1
        if getattr(event, "anchor", None):
            problems.append(Problem(line, "anchors and aliases (&, *) are not accepted"))
        # A complaint shows a tag as well, and `!%1B` is an escape, too.
        written = f"{getattr(event, 'value', '')}{getattr(event, 'tag', '')}"
        problems.extend(_controls(written, line))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            problems.append(Problem(line, f"nested more than {_DEEPEST} levels deep"))
            break
    return problems


def _composed(text: str, problems: list[Problem]) -> Any:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(loader, node, problems)
    finally:
        loader.dispose()


def _value(loader: Any, node: Any, problems: list[Problem]) -> Any:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping = Section(line)
        for key_node, value_node in node.value:
            key = str(getattr(key_node, "value", ""))
            key_line = key_node.start_mark.line + 1
            if key in mapping.values:
                problems.append(Problem(key_line, f"key {key!r} occurs twice"))
            mapping.values[key] = _value(loader, value_node, problems)
            mapping.lines[key] = key_line
            if isinstance(value_node, yaml.ScalarNode):
                mapping.written[key] = value_node.value
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, problems) for item in node.value]
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError):
        # PyYAML's own slips on an explicit tag: `!!bool maybe`, `!!int ""`, `!!timestamp x`.
        problems.append(Problem(line, f"cannot be read as {node.tag}"))
        return None


class Fields:
    """Takes text fields out of a mapping and notes what is missing or strange."""

    def __init__(self, mapping: Section, problems: list[Problem], where: str = "") -> None:
        self.mapping = mapping
        self.problems = problems
        self.where = f"{where}: " if where else ""

    def complain(self, text: str, key: str = "") -> None:
        """Note a problem, on the line of the key if it is there."""
        line = self.mapping.lines.get(key, self.mapping.line)
        self.problems.append(Problem(line, f"{self.where}{text}"))

    def expect(self, required: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Complain about keys that mean nothing here."""
        known = {*required, *optional}
        for key in self.mapping.values:
            if key not in known:
                self.complain(f"unknown key {key!r}", key)

    def text(self, key: str, *, required: bool = True) -> str:
        """A text without superfluous spaces; "" where there is none."""
        value = self.mapping.values.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            if required:
                self.complain(f"{key} is missing", key)
            return ""
        if isinstance(value, str):
            return " ".join(value.split())
        written = self.mapping.written.get(key, "")
        advice = f": put {written} in quotes" if written else ""
        self.complain(f"{key} must be text{advice}", key)
        return written

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.mapping.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.complain(f"{key} must be a list of texts", key)
            return ()
        texts = tuple(" ".join(item.split()) for item in value)
        if not all(texts):
            self.complain(f"{key} must not be blank", key)
        return texts

    def codes(self, key: str) -> tuple[str, ...]:
        """One code or a list of them."""
        if isinstance(self.mapping.values.get(key), list):
            return tuple(dict.fromkeys(self.texts(key)))
        text = self.text(key, required=False)
        return (text,) if text else ()

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        """A text that must be one of some."""
        value = self.text(key)
        if value and value not in allowed:
            self.complain(f"{key} must be one of {', '.join(allowed)}, not {value!r}", key)
        return value

    def matching(self, key: str, pattern: re.Pattern[str], meaning: str) -> str:
        """A text of a certain form."""
        value = self.text(key)
        if value and not pattern.match(value):
            self.complain(f"{key} must be {meaning}, not {value!r}", key)
        return value

    def entries(self, key: str) -> list[Section]:
        """A list of mappings with at least one."""
        value = self.mapping.values.get(key)
        if not isinstance(value, list) or not value:
            self.complain(f"{key} must be a list with at least one entry", key)
            return []
        entries = [item for item in value if isinstance(item, Section)]
        if len(entries) < len(value):
            self.complain(f"every entry of {key} must have keys", key)
        return entries
