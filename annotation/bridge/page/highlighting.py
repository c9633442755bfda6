"""Code in colours. Classes, no styles: the page brings the sheet for them."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIMIT = 20_000  # characters of one block; what is longer stays black
PREFIX = "hl-"

# Languages that reports are written with. Others stay black: a lexer runs on hostile text.
_LANGUAGES = {
    "bash": "bash", "c": "c", "c++": "cpp", "cmake": "cmake", "console": "console", "cpp": "cpp",
    "cu": "cuda", "cuda": "cuda", "cxx": "cpp", "diff": "diff", "docker": "docker",
    "dockerfile": "docker", "go": "go", "html": "html", "ini": "ini", "java": "java",
    "javascript": "javascript", "js": "javascript", "json": "json", "patch": "diff", "py": "python",
    "pycon": "pycon", "pytb": "pytb", "python": "python", "python-traceback": "pytb",
    "python2": "python", "python3": "python", "r": "r", "rust": "rust", "sh": "bash",
    "shell": "bash", "toml": "toml", "typescript": "typescript", "ts": "typescript", "xml": "xml",
    "yaml": "yaml", "yml": "yaml", "zsh": "bash",
}  # fmt: skip
_PYTHON = re.compile(
    r"^[ \t]*+(?:import \w|from [\w.]++ import |def \w++\(|class \w++[(:]|@\w|with \w.*:$|print\()",
    re.MULTILINE,
)


def highlighted(code: str, language: str = "") -> str:
    """Code as HTML in colours; as it is where its language is unknown or it is too long."""
    from pygments import highlight

    name = _LANGUAGES.get(language) or ("" if language else _guessed(code[:LIMIT]))
    if not name or len(code) > LIMIT:
        return html.escape(code)
    return str(highlight(code, _lexer(name), _formatter()))


def style_sheet(inside: str) -> str:
    """The rules for everything that `highlighted` makes, in elements of that class."""
    return str(_formatter().get_style_defs(f".{inside}"))


def _guessed(code: str) -> str:
    if "Traceback (most recent call last)" in code:
        return "pytb"
    if code.startswith(">>> "):
        return "pycon"
    if code.startswith("diff --git "):
        return "diff"
    return "python" if _PYTHON.search(code) else ""


@cache
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _formatter():  # type: ignore[no-untyped-def]  # noqa: ANN202  (its type takes a parameter)
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True, classprefix=PREFIX, style="default")
