"""What errors say reads alike everywhere: a cause in lower case without a full stop, and a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("data", "miner", "annotation", "analysis", "report")
NAMES = ("Cohen's", "Gitee", "GitHub", "GraphQL", "HEAD", "Label Studio")
# Their messages become lines of a list of bad rows, and the list has the next step.
LINES_OF_A_LIST = {
    "annotation/screening/paper_names.py",
    "annotation/screening/place_sheets.py",
    "annotation/sheets/importing.py",
    "annotation/sheets/shapes.py",
    "annotation/taxonomies/relabel_sheets.py",
    "annotation/taxonomies/relabelling.py",
    "data/sheets.py",
}


def _errors() -> Iterator[tuple[str, ast.Call]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if "/shipped/" in place:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "StudyError":
                    yield place, node


def _ends(message: ast.expr) -> tuple[str, str]:
    """How a message begins and how it ends, as far as that is written down."""
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    texts = [
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
        for part in parts
    ]
    return texts[0], texts[-1]


def _problem(place: str, call: ast.Call) -> str:
    if not call.args:
        return "no message"
    first, last = _ends(call.args[0])
    hints = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "hint")]
    is_empty = not hints or (isinstance(hints[0], ast.Constant) and not hints[0].value)
    if last.rstrip().endswith("."):
        return "a full stop behind the message"
    if first[:1].isupper() and not first.startswith(NAMES):
        return "a capital at the start of the message"
    if is_empty and place not in LINES_OF_A_LIST:
        return "no next step"
    return ""


def test_messages_are_in_lower_case_without_a_full_stop_and_name_the_next_step() -> None:
    found = [
        f"{place}:{call.lineno}: {problem}"
        for place, call in _errors()
        if (problem := _problem(place, call))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("StudyError('it is so', 'Do this.')", ""),
        ("StudyError(f'{x} is so', hint)", ""),
        ("StudyError('GitHub is so', 'Do this.')", ""),
        ("StudyError('It is so', 'Do this.')", "a capital at the start of the message"),
        ("StudyError(f'{x} is so.', 'Do this.')", "a full stop behind the message"),
        ("StudyError('it is so')", "no next step"),
        ("StudyError('it is so', hint='')", "no next step"),
    ],
)
def test_the_guard_sees_what_it_is_for(code: str, problem: str) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert _problem("data/any.py", call) == problem
