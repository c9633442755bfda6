"""Reads the `test_suite.py` of a defect4ML bug: what it runs and what it asks, never running it."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass, field

from faultatlas.analysis.reexecution.bugs import SIDES
from faultatlas.analysis.reexecution.importing.scripts import script_tree
from faultatlas.analysis.reexecution.importing.texts import line

_CALLS = ("os.system", "os.popen", "subprocess.call", "subprocess.run", "subprocess.Popen",
          "subprocess.check_call", "subprocess.check_output", "subprocess.getoutput")  # fmt: skip
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.GtE: ">=", ast.Gt: ">", ast.LtE: "<=", ast.Lt: "<", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_HIGHER = re.compile(r"acc|reward|score|f1|precision|recall|auc", re.IGNORECASE)
_LOWER = re.compile(r"loss|cost|err|time|mse|mae", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """The number that a suite asks for, in the file that the program writes."""

    key: str  # of the JSON file; a regular expression
    operator: str
    threshold: float | None  # None where it is no number
    side: str  # whose test asks for it

    @property
    def better(self) -> str:
        """Which way is better: by its name, else by the comparison."""
        if _HIGHER.search(self.key):
            return "higher"
        if _LOWER.search(self.key):
            return "lower"
        return "higher" if self.operator in {">", ">="} else "lower"

    @property
    def has_direction(self) -> bool:
        """Whether it says which way is better: by its name, or by what the fixed side shall do."""
        named = _HIGHER.search(self.key) or _LOWER.search(self.key)
        return self.operator not in {"==", "!="} and bool(named or self.side == "fixed")

    @property
    def is_reversed(self) -> bool:
        """It asks for what its name says is worse."""
        wanted = {">": "higher", ">=": "higher", "<": "lower", "<=": "lower"}.get(self.operator)
        return self.threshold is not None and wanted is not None and wanted != self.better

    @property
    def pattern(self) -> str:
        """What finds the number in the file."""
        return rf'"{self.key}":\s*"?([-+.\w]+)'


@dataclass
class Suite:
    """What was read."""

    commands: dict[str, list[str]] = field(default_factory=dict)  # of the shell, by side
    raises: bool = False  # it expects an exception
    files: dict[str, str] = field(default_factory=dict)  # that it reads, by side
    asked: Asked | None = None  # of the fixed side, or where nothing is, of the buggy one
    asserts: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # what is wrong about it


def read_suite(text: str) -> Suite:
    """The suite of a text; an empty one where it cannot be read."""
    suite = Suite()
    tree = script_tree(text)
    if tree is None:
        suite.wrong.append("it is no Python")
        return suite
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for side in SIDES:
        runs = functions.get(f"run_{side}")
        suite.commands[side] = [] if runs is None else _shell(runs)
        test = functions.get(f"test_{side}")
        if test is not None:
            _test(suite, side, test)
    shell = any("system" in ast.unparse(node.func) for node in _called(tree))
    if suite.raises and shell:
        suite.wrong.append("it expects an exception of os.system, which never raises one")
    if suite.asked and suite.asked.side == "fixed" and suite.asked.is_reversed:
        suite.wrong.append(f"it asks for {suite.asked.key} the wrong way round")
    return suite


def _called(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _shell(function: ast.FunctionDef) -> list[str]:
    found = []
    for node in _called(function):
        if ast.unparse(node.func) not in _CALLS or not node.args:
            continue
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            found.append(first.value)
        elif isinstance(first, ast.List):
            words = [each.value for each in first.elts if isinstance(each, ast.Constant)]
            found.append(shlex.join(str(word) for word in words))
    return found


def _test(suite: Suite, side: str, test: ast.FunctionDef) -> None:
    other = next(each for each in SIDES if each != side)
    names = {ast.unparse(node.func) for node in _called(test)}
    if f"run_{other}" in names and f"run_{side}" not in names:
        suite.wrong.append(f"its test of the {side} side runs the {other} side")
    if any(name.endswith("raises") for name in names):
        suite.raises = True
        if any(isinstance(node, ast.Raise) for node in ast.walk(test)):
            suite.wrong.append(f"its test of the {side} side raises an exception itself")
    for node in _called(test):
        if ast.unparse(node.func) == "open":
            name = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "file")]
            if name and isinstance(name[0], ast.Constant) and isinstance(name[0].value, str):
                suite.files[side] = name[0].value
    keys = _keys(test)
    asserts = [each for each in ast.walk(test) if isinstance(each, ast.Assert)]
    suite.asserts += [f"{side}: {line(ast.unparse(each))}" for each in asserts]
    asked = next(filter(None, (_asked(each, keys, side) for each in asserts)), None)
    suite.asked = asked or suite.asked  # the fixed side comes last


def _keys(test: ast.FunctionDef) -> dict[str, str]:
    """Variables of a test, and the key of the file that each holds; sums count as their part."""
    keys: dict[str, str] = {}
    for node in ast.walk(test):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        target, value = node.targets[0].id, node.value
        if found := re.search(r"(?:\.get\(|\[)'([\w ]+)'", ast.unparse(value)):
            keys[target] = re.escape(found[1])
        elif ".values()" in ast.unparse(value):
            keys[target] = r"\w+"
        else:
            used = [each.id for each in ast.walk(value) if isinstance(each, ast.Name)]
            known = [keys[name] for name in used if name in keys]
            if known:
                keys[target] = known[-1]
    return keys


def _asked(node: ast.Assert, keys: dict[str, str], side: str) -> Asked | None:
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    named = [each.id for each in ast.walk(test.left) if isinstance(each, ast.Name)]
    key = next((keys[name] for name in named if name in keys), None)
    operator = _OPERATORS.get(type(test.ops[0]))
    if key is None or operator is None:
        return None
    right = test.comparators[0]
    plain = right.value if isinstance(right, ast.Constant) else None
    if isinstance(plain, (int, float)) and not isinstance(plain, bool):
        return Asked(key, operator, float(plain), side)
    return Asked(key, operator, None, side)


@dataclass(frozen=True)
class Steps:
    """Shell commands as argument lists, the directory they begin in, and what to know of them."""

    commands: tuple[tuple[str, ...], ...]
    directory: str = "."
    notes: tuple[str, ...] = ()


def steps(lines: list[str]) -> Steps:
    """Commands of a shell without the shell: `cd`, `;` and `&&` are understood, nothing else."""
    commands: list[tuple[str, ...]] = []
    notes: list[str] = []
    directory = ""
    for each in lines:
        here = "."
        for part in re.split(r";|&&|\n", each):
            words = _words(part)
            if not words:
                continue
            if words[0] == "cd" and len(words) > 1:
                here = words[1].rstrip("/") if here == "." else f"{here}/{words[1]}"
            elif words[0].startswith("python") or words[0] in {"bash", "sh", "pytest"}:
                if re.search(r"[|<>`$&]", part) or (directory and directory != here):
                    notes.append(f"{line(part)!r} is not run: it needs a shell")
                    continue
                directory = here
                python = words[0].startswith("python")
                commands.append(("python" if python else words[0], *words[1:]))
            else:
                notes.append(f"{line(part)!r} is not run: runs have no network and no shell")
    return Steps(tuple(commands), directory or ".", tuple(notes))


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return part.split()
