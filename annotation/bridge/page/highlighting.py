"""Code in colours. Classes, no styles: the page brings the sheet for them."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIMIT = 8_000  # characters of one block; what is longer stays black
PREFIX = "hl-"

# Languages whose lexers stay fast on hostile text; all others stay black. Tracebacks do: the
# lexer for them takes minutes on some real ones, such as that of a worker inside a traceback.
_LANGUAGES = {
    "bash": "bash", "c": "c", "c++": "cpp", "cpp": "cpp", "cu": "cuda", "cuda": "cuda",
    "cxx": "cpp", "javascript": "javascript", "js": "javascript", "json": "json", "py": "python",
    "python": "python", "python2": "python", "python3": "python", "sh": "bash", "shell": "bash",
    "toml": "toml", "yaml": "yaml", "yml": "yaml", "zsh": "bash",
}  # fmt: skip
# What makes those lexers slow, and is no code: one letter again and again, empty lines.
_ODD = re.compile(r"([^\n])\1{100}|\n(?:[ \t]*+\n){30}")
_DIFF = {"+": "gi", "-": "gd", "@": "gu"}
_PYTHON = re.compile(
    r"^[ \t]*+(?:import \w|from [\w.]++ import |def \w++\(|class \w++[(:]|@\w|with \w.*:$|print\()",
    re.MULTILINE,
)


def highlighted(code: str, language: str = "") -> str:
    """Code as HTML in colours; as it is where its language is unknown or it is too long."""
    from pygments import highlight

    if language in {"diff", "patch"} or (not language and code.startswith("diff --git ")):
        return "\n".join(map(_changed_line, code.split("\n")))
    name = _LANGUAGES.get(language) or ("" if language else _guessed(code[:LIMIT]))
    if not name or len(code) > LIMIT or _ODD.search(code):
        return html.escape(code)
    return str(highlight(code, _lexer(name), _formatter()))


def _changed_line(line: str) -> str:
    kind = _DIFF.get(line[:1])
    text = html.escape(line)
    return f'<span class="{PREFIX}{kind}">{text}</span>' if kind else text


def style_sheet(inside: str) -> str:
    """The rules for everything that `highlighted` makes, in elements of that class."""
    return str(_formatter().get_style_defs(f".{inside}"))


def _guessed(code: str) -> str:
    if "Traceback (most recent call last)" in code:
        return ""
    return "python" if _PYTHON.search(code) else ""


@cache
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _formatter():  # type: ignore[no-untyped-def]  # noqa: ANN202  (its type takes a parameter)
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True, classprefix=PREFIX, style="default")
