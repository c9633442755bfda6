"""Functions and classes of a Python file, and which of them a change touches.

Read with tree-sitter, which makes sense of Python 2, of files that do not compile and of half
a file alike. A pure function of bytes and line numbers; lines count from 1, as in patches.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

Spans = Sequence[tuple[int, int, int, int]]  # first line and number of lines, before and after

LARGEST = 2_000_000  # bytes of a file
_MOST = 20_000  # definitions of a file
_LINE_FEED = re.compile(rb"\n")
_DEFINITIONS = {"function_definition": "function", "class_definition": "class"}
# What can hold a definition; nothing else is looked into.
_HOLDERS = frozenset(
    {
        "module", "block", "decorated_definition", "if_statement", "elif_clause", "else_clause",
        "try_statement", "except_clause", "except_group_clause", "finally_clause",
        "with_statement", "for_statement", "while_statement", "match_statement", "case_clause",
        "ERROR",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class, with its decorators."""

    name: str  # qualified: Dense.call
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a definition."""

    name: str
    kind: str
    change: str
    old: Definition | None
    new: Definition | None


class Source:
    """A version of a file, parsed."""

    def __init__(self, content: bytes, before: Source | None = None, spans: Spans = ()) -> None:
        """With the version before and the spans of lines that differ, little is parsed anew.

        The version before is of no use for that afterwards.
        """
        self._content = content
        tree = before._edited(content, spans) if before is not None else None  # noqa: SLF001
        self._tree = _parser().parse(content, tree) if tree else _parser().parse(content)

    def definitions(self) -> tuple[Definition, ...]:
        """All functions and classes, in their order."""
        return tuple(_walk(self._tree.root_node, self._content))[:_MOST]

    def _edited(self, new: bytes, spans: Spans) -> Tree:
        """The tree, told where the content differs; from the last place to the first."""
        old_at, new_at = _line_offsets(self._content), _line_offsets(new)
        for old_start, old_lines, new_start, new_lines in reversed(spans):
            # Git names the line before where there are none.
            row = old_start - 1 if old_lines else old_start
            new_row = new_start - 1 if new_lines else new_start
            start = _offset(old_at, row)
            length = _offset(new_at, new_row + new_lines) - _offset(new_at, new_row)
            self._tree.edit(
                start_byte=start,
                old_end_byte=_offset(old_at, row + old_lines),
                new_end_byte=start + length,
                start_point=(row, 0),
                old_end_point=(row + old_lines, 0),
                new_end_point=(row + new_lines, 0),
            )
        return self._tree


def definitions(source: bytes) -> tuple[Definition, ...]:
    """The functions and classes of a file."""
    return Source(source).definitions()


def _line_offsets(content: bytes) -> list[int]:
    """Where each line begins, and the end."""
    return [0, *(found.end() for found in _LINE_FEED.finditer(content)), len(content)]


def _offset(offsets: Sequence[int], row: int) -> int:
    return offsets[min(row, len(offsets) - 1)]


def changes(
    old: Sequence[Definition],
    new: Sequence[Definition],
    deleted: Sequence[int],
    added: Sequence[int],
) -> list[Change]:
    """What a change does to them; `deleted` and `added` are sorted numbers of lines.

    One that only one side has was added or deleted. One of both sides was modified if a deleted
    line lies in it before, or an added one after; so were those around it. Of several with one
    name, such as a property and its setter, the first is compared with the first.
    """
    before, after = _numbered(old), _numbered(new)
    found = []
    for key in [*after, *(key for key in before if key not in after)]:
        ours, theirs = before.get(key), after.get(key)
        if ours is None or theirs is None:
            change = "added" if ours is None else "deleted"
        elif _has_line(deleted, ours) or _has_line(added, theirs):
            change = "modified"
        else:
            continue
        found.append(Change(key[0], key[1], change, ours, theirs))
    return found


def changed_lines(text: bytes, old_start: int, new_start: int) -> tuple[list[int], list[int]]:
    """The numbers of the lines that a hunk deletes and adds."""
    deleted: list[int] = []
    added: list[int] = []
    for line in text.split(b"\n"):
        mark = line[:1]
        if mark == b"+":
            added.append(new_start)
            new_start += 1
        elif mark == b"-":
            deleted.append(old_start)
            old_start += 1
        elif mark == b" ":
            old_start += 1
            new_start += 1
    return deleted, added


def _numbered(found: Sequence[Definition]) -> dict[tuple[str, str, int], Definition]:
    turns: Counter[tuple[str, str]] = Counter()
    numbered = {}
    for each in found:
        key = (each.name, each.kind)
        numbered[*key, turns[key]] = each
        turns[key] += 1
    return numbered


def _has_line(lines: Sequence[int], of: Definition) -> bool:
    at = bisect_left(lines, of.start)
    return at < len(lines) and lines[at] <= of.end


def _walk(root: Node, source: bytes) -> Iterator[Definition]:
    waiting: list[tuple[Node, str, Node | None]] = [(root, "", None)]
    while waiting:
        node, inside, decorated = waiting.pop()
        kind = _DEFINITIONS.get(node.type)
        if kind:
            name = node.child_by_field_name("name")
            body = node.child_by_field_name("body")
            if name is None:
                continue
            called = source[name.start_byte : name.end_byte].decode("utf-8", "replace")[:200]
            called = f"{inside}.{called}" if inside else called
            yield Definition(
                called[:2000], kind, (decorated or node).start_point[0] + 1, _last_line(node)
            )
            if body is not None:
                waiting.append((body, called[:2000], None))
            continue
        outer = node if node.type == "decorated_definition" else None
        waiting += [
            (child, inside, outer)
            for child in reversed(node.named_children)
            if child.type in _DEFINITIONS or child.type in _HOLDERS
        ]


def _last_line(node: Node) -> int:
    row, column = node.end_point
    # An end at the beginning of a line is the end of the line before.
    return max(row + 1 if column else row, node.start_point[0] + 1)


@cache
def _parser() -> Parser:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))
