"""Reads a `test_script.py` that runs one of two folders: its commands, never running it."""

from __future__ import annotations

import ast
import re

from faultatlas.analysis.reexecution.importing.scripts import script_tree
from faultatlas.analysis.reexecution.importing.texts import line

_CALLS = re.compile(r"(?:subprocess\.)?(?:call|run|check_call|check_output|Popen)|os\.system")
_FETCHES = re.compile(r"download|fetch|wget|curl", re.IGNORECASE)


def commands(text: str, folder: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """The commands for the side of that folder's name, and what is not run."""
    found: list[tuple[str, ...]] = []
    left_out: list[str] = []
    tree = script_tree(text)
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, ast.Call) or not _CALLS.fullmatch(ast.unparse(node.func)):
            continue
        if not node.args or not isinstance(node.args[0], (ast.List, ast.Tuple)):
            continue
        words = [_word(each, folder) for each in node.args[0].elts]
        if not words or None in words:
            left_out.append(line(ast.unparse(node)))
            continue
        plain = [word for word in words if word is not None]
        if any(_FETCHES.search(word) for word in plain[1:2]):
            left_out.append(line(" ".join(plain)))
            continue
        found.append(("python", *plain[1:]) if plain[0] == "python" else tuple(plain))
    return found, left_out


def _word(node: ast.expr, folder: str) -> str | None:
    """A word of a command: plain, the interpreter, or a text with the folder's name in it."""
    shown = ast.unparse(node)
    if isinstance(node, ast.Constant):
        return str(node.value)
    if "interpreter" in shown or "sys.executable" in shown:
        return "python"
    if isinstance(node, ast.BinOp):
        return _joined(node, folder)
    is_folder = isinstance(node, ast.Call) and re.search(r"dir|folder|path|version", shown)
    return folder if is_folder else None


def _joined(node: ast.BinOp, folder: str) -> str | None:
    left, right = _word(node.left, folder), _word(node.right, folder)
    if left is None or right is None:
        return None
    return left.replace("%s", right) if isinstance(node.op, ast.Mod) else left + right
