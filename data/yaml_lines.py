"""Reads a YAML file into plain values and remembers on which line each value stands.

For files that people write and we must complain about precisely. Anchors and aliases are
refused: our files need none, and they are how a small file becomes a huge one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast
_LARGEST = 4_000_000  # bytes; the largest file we ship has under 0.1 million


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file."""

    line: int
    text: str


@dataclass
class Mapping:
    """A YAML mapping: values by key, and the line of each key."""

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


class UnreadableYamlError(Exception):
    """The file is no YAML that we accept."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems = problems


def load(path: Path) -> Any:
    """The file's value: `Mapping`, list, str, int, float, bool or None."""
    try:
        text = path.read_bytes()
        if len(text) > _LARGEST:
            raise UnreadableYamlError([Problem(1, f"larger than {_LARGEST:,} bytes")])
        decoded = text.decode("utf-8")
    except OSError as error:
        raise UnreadableYamlError([Problem(1, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise UnreadableYamlError([Problem(line, "is not UTF-8")]) from error
    try:
        loader = _Loader(decoded)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            problems: list[Problem] = []
            value = _value(loader, node, problems, set())
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        text_ = error.problem or error.context or "cannot be parsed"
        raise UnreadableYamlError([Problem(line, f"bad YAML: {text_}")]) from error
    except yaml.YAMLError as error:
        first = str(error).splitlines()[0]
        raise UnreadableYamlError([Problem(1, f"bad YAML: {first}")]) from error
    except RecursionError as error:
        raise UnreadableYamlError([Problem(1, "bad YAML: nested too deeply")]) from error
    if problems:
        raise UnreadableYamlError(problems)
    return value


def _value(loader: Any, node: Any, problems: list[Problem], seen: set[int]) -> Any:
    line = node.start_mark.line + 1
    if id(node) in seen:
        problems.append(Problem(line, "anchors and aliases (&, *) are not accepted"))
        return None
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        mapping = Mapping(line)
        for key_node, value_node in node.value:
            key = str(getattr(key_node, "value", ""))
            key_line = key_node.start_mark.line + 1
            if key in mapping.values:
                problems.append(Problem(key_line, f"key {key!r} stands twice"))
            mapping.values[key] = _value(loader, value_node, problems, seen)
            mapping.lines[key] = key_line
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, problems, seen) for item in node.value]
    try:
        return loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError):
        problems.append(Problem(line, f"cannot be read as {node.tag}"))
        return None
