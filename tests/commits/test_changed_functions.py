"""Functions and classes that a change touches."""

from __future__ import annotations

import ast
import difflib
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.miner.commits.functions import (
    Definition,
    Source,
    changed_lines,
    changes,
    definitions,
)


def touched(old: str, new: str) -> list[tuple[str, str, str]]:
    """What git would say of these two files, and what becomes of it."""
    deleted, added = [], []
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            deleted += range(i1 + 1, i2 + 1)
            added += range(j1 + 1, j2 + 1)
    found = changes(definitions(old.encode()), definitions(new.encode()), deleted, added)
    return sorted((each.change, each.kind, each.name) for each in found)


CLASS = """\
class Dense:
    def call(self, x):
        def inner(y):
            return y
        return inner(x)

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, n):
        pass


async def train():
    await step()
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("await step()", "await other()", [("modified", "function", "train")]),
        (
            "return y",
            "return -y",
            [
                ("modified", "class", "Dense"),
                ("modified", "function", "Dense.call"),
                ("modified", "function", "Dense.call.inner"),
            ],
        ),
        (
            "@size.setter",
            "@size.setter  # writes",
            [("modified", "class", "Dense"), ("modified", "function", "Dense.size")],
        ),
        ("        pass\n", "        pass\n\n", []),  # an empty line behind the last one
        ("\n\nasync def", "\nimport os\n\nasync def", []),
        (
            "async def train",
            "async def fit",
            [("added", "function", "fit"), ("deleted", "function", "train")],
        ),
        (
            "        return inner(x)\n",
            "",
            [("modified", "class", "Dense"), ("modified", "function", "Dense.call")],
        ),
        (
            "\n    @size.setter\n    def size(self, n):\n        pass\n",
            "",
            [("deleted", "function", "Dense.size"), ("modified", "class", "Dense")],
        ),
    ],
)
def test_what_a_change_touches(old: str, new: str, expected: list[tuple[str, str, str]]) -> None:
    assert old in CLASS
    assert touched(CLASS, CLASS.replace(old, new)) == expected


def test_python_2_and_half_a_file() -> None:
    source = (
        b"def a():\n    print 'x', y\n    exec 'z'\n\ndef b(:\n    return (\n\ndef c():\n    pass\n"
    )
    assert {each.name for each in definitions(source)} >= {"a", "c"}


@pytest.mark.parametrize(
    "source", [b"", b"\xff\xfe\x00", b"def", b"class (", b"(" * 5000, b"\x00" * 50]
)
def test_what_is_no_python_has_no_functions(source: bytes) -> None:
    assert definitions(source) == ()


def test_a_tower_of_functions_is_no_trap() -> None:
    source = "\n".join(" " * n + f"def f{n}():" for n in range(300)) + "\n" + " " * 300 + "pass\n"
    assert len(definitions(source.encode())) <= 300


def test_the_lines_of_a_hunk() -> None:
    text = b" a\n-b\n--c\n++d\n e\n\\ No newline at end of file"
    assert changed_lines(text, 10, 20) == ([11, 12], [21])


NAMES = st.sampled_from("abc")
LINES = st.sampled_from(
    ["x = 1", "return", "'''doc\n{0}string'''", "f(\n{0}    1,\n{0})", "# why", ""]
)


def body(depth: int) -> st.SearchStrategy[list[str]]:
    """Statements at a depth, in lines."""
    margin = "    " * depth
    plain = LINES.map(lambda line: [margin + line.format(margin)])
    if depth == 3:
        return st.lists(plain, max_size=3).map(lambda parts: [*chain(*parts), margin + "pass"])

    def definition(made: tuple[str, str, bool, list[str]]) -> list[str]:
        kind, name, is_decorated, inside = made
        head = [f"{margin}@wrap", f"{margin}# between"] if is_decorated else []
        return [*head, f"{margin}{kind} {name}{'()' if 'def' in kind else ''}:", *inside]

    kinds = st.sampled_from(["def", "async def", "class"])
    block = st.sampled_from(["if x:", "for x in y:", "with x:", "while x:"])
    inner = st.deferred(lambda: body(depth + 1))
    nested = st.tuples(kinds, NAMES, st.booleans(), inner).map(definition)
    under = st.tuples(block, inner).map(lambda made: [margin + made[0], *made[1]])
    parts = st.lists(st.one_of(plain, nested, under), max_size=4)
    return parts.map(lambda found: [*chain(*found), margin + "pass"])


def by_ast(source: str) -> list[Definition]:
    """The same from Python's own parser."""
    found = []

    def walk(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = inside
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{inside}.{child.name}" if inside else child.name
                start = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                kind = "class" if isinstance(child, ast.ClassDef) else "function"
                assert child.end_lineno is not None
                found.append(Definition(name, kind, start, child.end_lineno))
            walk(child, name)

    walk(ast.parse(source), "")
    return found


@given(body(0).map(lambda lines: "\n".join(lines) + "\n"))
def test_lines_are_those_of_pythons_own_parser(source: str) -> None:
    try:
        expected = by_ast(source)
    except SyntaxError:  # `return` outside a function
        return
    assert list(definitions(source.encode())) == expected


SOURCES = body(0).map(lambda lines: "\n".join(lines) + "\n")


@given(SOURCES, SOURCES)
def test_a_version_is_parsed_the_same_with_the_one_before(old: str, new: str) -> None:
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    spans = [
        (i1 + (i2 > i1), i2 - i1, j1 + (j2 > j1), j2 - j1)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        if kind != "equal"
    ]
    source = Source(new.encode(), Source(old.encode()), spans)
    assert source.definitions() == definitions(new.encode())
