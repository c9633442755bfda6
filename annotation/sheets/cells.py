"""Cells of sheets as text: what a spreadsheet program would run as a formula is made harmless.

Whoever opens a sheet with a cell such as `=HYPERLINK(...)` runs it. So cells that begin like a
formula are written with an apostrophe before them, and reading takes it away again.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Any

# Programs skip blanks before the sign, and some also a line break.
_FORMULA = r"(?:[\s\x00-\x1f\ufeff]*[=+\-@]|[\t\r\n])"
_LIKE_FORMULA = re.compile(rf"'*{_FORMULA}")
_MADE_HARMLESS = re.compile(rf"'+{_FORMULA}")
# What XML 1.0 cannot hold, and so no workbook.
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def harmless(text: str) -> str:
    """The text as it may stand in a sheet."""
    return f"'{text}" if _LIKE_FORMULA.match(text) else text


def original(text: str) -> str:
    """The text that `harmless` was given."""
    return text[1:] if _MADE_HARMLESS.match(text) else text


def for_workbook(text: str) -> str:
    """The text without what a workbook cannot hold."""
    return _NO_XML.sub("\ufffd", text)


def as_kept(text: str) -> str:
    """What sheets of every kind keep of a text: what is the same here was not changed."""
    return for_workbook(text).replace("\r\n", "\n").replace("\r", "\n")


def text_of(value: Any) -> str:
    """A workbook's value as it is read on the screen, more or less."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # spreadsheets know one kind of number: issue 12 is 12.0
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return str(value)
