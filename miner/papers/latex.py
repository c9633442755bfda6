"""LaTeX of a BibTeX field as plain text: accents, commands, dashes, formulas."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_NEEDED = re.compile(r"[\\{}$~]|--|``|''")
_ESCAPED = re.compile(r"\\([%&#_])")
_BARE = re.compile(r"(?<!\\)([%&#])")  # in BibTeX these are often written as they are
_DOLLAR = re.compile(r"(?<!\\)\$")
_COMMAND = re.compile(r"\\[A-Za-z]+\s?|\\.|[{}$]")
_SIGNS = {"---": "\N{EM DASH}", "--": "\N{EN DASH}", "``": "\u201c", "''": "\u201d", "~": "\xa0",
          "{": "", "}": ""}  # fmt: skip
_DEEPEST = 40
_KEPT = 20_000  # a file is read when it comes, and once more from what was stored


@lru_cache(maxsize=_KEPT)
def plain(text: str) -> str:
    """The text without LaTeX; what is no sound LaTeX loses its commands and braces only."""
    if not _NEEDED.search(text):
        return text
    simple = _ESCAPED.sub(r"\1", text)
    if "\\" not in simple and "$" not in simple:  # most texts: braces and dashes
        for sign, meant in _SIGNS.items():
            simple = simple.replace(sign, meant)
        return simple
    said = _BARE.sub(r"\\\1", text)
    if len(_DOLLAR.findall(said)) % 2:
        said = _DOLLAR.sub(r"\\$", said)
    if _depth(said) <= _DEEPEST:
        try:
            return str(_reader().latex_to_text(said))
        except (ValueError, LookupError, TypeError, RecursionError):  # of a hostile text, anything
            pass
    return _COMMAND.sub("", text)


def _depth(text: str) -> int:
    deepest = depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest


@cache
def _reader() -> Any:
    # It imports tables of symbols: not before there is LaTeX.
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text")
