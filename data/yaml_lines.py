"""Reads a YAML file into plain values and remembers on which line each value stands.

For files that people write and we must complain about precisely. Anchors and aliases are
refused: our files need none, and they are how a small file becomes a huge one. So is deep
nesting, which overflows the stack of the C parser, and so are control characters: what is
read here is printed on terminals and labelling pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast
_LARGEST = 4_000_000  # bytes; the largest file we ship has under 0.1 million
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
class Mapping:
    """A YAML mapping: values by key, the line of each key, and plain values as written.

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
    """The file's value: `Mapping`, list, str, int, float, bool or None.

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
        mapping = Mapping(line)
        for key_node, value_node in node.value:
            key = str(getattr(key_node, "value", ""))
            key_line = key_node.start_mark.line + 1
            if key in mapping.values:
                problems.append(Problem(key_line, f"key {key!r} stands twice"))
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
