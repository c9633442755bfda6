"""A number against a formula of printed numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from faultatlas.report.manuscript.comparing import computed_from
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "arithmetic"
ABOUT = "a number against a formula (+ - * / and brackets) of other printed numbers"
FIELDS = {
    "formula": "such as (f/F) / ((f/F) + (p/P))",
    "values": 'the numbers with their names: { f = "9", F = "9" }',
    "share": "true: the result is a fraction, and printed may be in percent (optional)",
}
EXAMPLE = """
printed = "284"
formula = "middle * (1 + margin)"
values = { middle = "227", margin = "0.25" }
"""
_LONGEST = 300
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def check(entry: Entry) -> Outcome:
    """What the formula gives."""
    formula = entry.words("formula")
    values = entry.named("values")
    names = list(values)
    if len(formula) > _LONGEST:
        raise entry.error("the formula is too long", f"at most {_LONGEST} characters")
    try:
        tree = ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise entry.error(f"{formula!r} is no formula", "+ - * / and brackets") from None

    def compute(numbers: Sequence[float]) -> float:
        return _value(tree, dict(zip(names, numbers, strict=True)))

    return computed_from(entry, list(values.values()), compute, fraction=entry.flag("share"))


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    """The value of a formula; nothing in it is ever run."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    raise ValueError(f"{ast.unparse(node)[:40]!r} has no value here: + - * / and brackets")
