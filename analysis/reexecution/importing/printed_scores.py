"""The scores that a script prints, read from its text: how they are found, which way is better."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faultatlas.analysis.reexecution.importing.scripts import script_tree


@dataclass(frozen=True)
class Printed:
    """A measure that a script prints: how it is found, and which way is better."""

    pattern: str
    better: str  # higher, lower
    name: str


_NUMBER = r"([-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?|\.\d+))"
_HIGHER = re.compile(
    r"(?:acc(?:uracy)?|reward|score|f1|precision|recall)(?!\w* (?:loss|cost|error))", re.IGNORECASE
)
_LOWER = re.compile(r"loss|cost|err(?:or)?\b|mse\b|rmse\b|perplexity", re.IGNORECASE)
# A print as a text in which a mark stands for each value, and the values.
_Template = tuple[str, list[ast.expr | None]]
_PLACE = "\0"
_PERCENT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]")
_BRACES = re.compile(r"\{[^{}]*\}")
# Behind a label: its value; or a step of training and then the value: `loss after 100 steps: 0.3`.
_VALUE = re.compile(
    rf"(?P<step> [A-Za-z][\w ]{{0,14}}{_PLACE}[A-Za-z ]{{0,12}}[:=]\s{{0,3}}{_PLACE})"
    rf"|[\w ]{{0,12}}[^\w{_PLACE}]{{0,6}}{_PLACE}"
)
_STEP = r"\S{1,20}[A-Za-z ]{0,12}[:=]\s{0,3}"
_COMPUTES = {
    "higher": re.compile(r"^\s*\w*(?:acc|correct|score)\w*\s*=[^=]", re.IGNORECASE | re.MULTILINE),
    "lower": re.compile(
        r"^\s*\w*(?:loss|cost|err|mse|entropy)\w*\s*=[^=]", re.IGNORECASE | re.MULTILINE
    ),
}


def printed_measure(text: str, changed: str = "") -> Printed | None:
    """The last score that a script prints: accuracy before loss; None where it prints none.

    A score that the fix computes in another way cannot compare the sides: where `changed` lines
    assign it, it is passed over.
    """
    tree = script_tree(text)
    if tree is None:
        return None
    found = [each for node in _prints(tree) for each in _measures(node)]
    found = [each for each in found if not _COMPUTES[each.better].search(changed)]
    found.sort(key=lambda each: each.better == "higher")
    return found[-1] if found else None


def changed_lines(buggy: dict[str, str], fixed: dict[str, str]) -> str:
    """The lines of scripts that only one of two sides has, by the scripts' names."""
    found: list[str] = []
    for path, text in buggy.items():
        lines, others = text.splitlines(), fixed.get(path, "").splitlines()
        found += [line for line in lines if line not in others]
        found += [line for line in others if line not in lines]
    return "\n".join(found)


def _prints(tree: ast.Module) -> Iterator[ast.Call]:
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    yield from sorted(calls, key=lambda node: (node.lineno, node.col_offset))


def _measures(call: ast.Call) -> Iterator[Printed]:
    """Measures of one print: a label in a text before a number, or a lone value with a name."""
    text, values = _joined(call.args, " ")
    labelled = False
    for better, words in (("lower", _LOWER), ("higher", _HIGHER)):
        for match in words.finditer(text):
            if (found := _VALUE.match(text, match.end())) is None:
                continue
            labelled = True
            value = values[text.count(_PLACE, 0, found.end()) - 1]
            real = "lower" if match[0].lower() == "score" and _is_loss(value) else better
            step = _STEP if found["step"] else ""
            between = rf"[A-Za-z_ ]{{0,16}}[^\w\n.+-]{{0,6}}{step}{_NUMBER}"
            yield Printed(f"(?i){match[0]}{between}", real, match[0])
    if labelled or text.strip() != _PLACE:
        return
    shown = ast.unparse(call.args[0])
    for better, words in (("lower", _LOWER), ("higher", _HIGHER)):
        if named := words.search(shown):
            yield Printed(rf"(?m)^\[?{_NUMBER}\]?\s*$", better, named[0])
            return


def _is_loss(value: ast.expr | None) -> bool:
    """The first of what Keras evaluates, which its examples print as `Test score`."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Constant)
        and value.slice.value == 0
    )


def _joined(parts: Sequence[ast.expr], between: str) -> _Template:
    found = [_template(each) for each in parts]
    return between.join(text for text, _ in found), [each for _, some in found for each in some]


def _template(node: ast.expr) -> _Template:
    """What is printed of an expression, with a mark for each value; and the values."""
    match node:
        case ast.Constant(value=str() as text):
            return text, []
        case ast.JoinedStr():
            return _joined(node.values, "")
        case ast.BinOp(op=ast.Add()):
            return _joined([node.left, node.right], "")
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod()):
            of = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return _filled(_PERCENT.sub(_PLACE, text), of)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return _filled(_BRACES.sub(_PLACE, text), node.args)
        case _:
            return _PLACE, [node]


def _filled(text: str, values: Sequence[ast.expr]) -> _Template:
    """One value for each mark; of those that are not written down nothing is known."""
    count = text.count(_PLACE)
    return text, [*values, *[None] * count][:count]
