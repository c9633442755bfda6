"""What bugs and their logs say, as it may be stored: one line, no control characters, no people, no
secrets, no place on the host's disk. A bug is hostile, and what it prints is too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from faultatlas.analysis.reexecution.host_places import without_places
from faultatlas.data.people import UNKNOWN, scrub
from faultatlas.data.redaction import redact

LONGEST = 500
_MOST = 1_000  # entries of a list or a table
_DEEPEST = 6


def line(text: str, most: int = LONGEST) -> str:
    """A text as one line, with at most so many characters."""
    shown = "".join(each if each.isprintable() else " " for each in text[: 4 * most])
    shown = " ".join(shown.split())
    shown = scrub(redact(shown), lambda _login: UNKNOWN)
    shown = without_places(shown)
    return shown if len(shown) <= most else f"{shown[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def plain(value: Any, depth: int = 0) -> Any:
    """Plain values that JSON and DuckDB can hold, cleaned in all their texts."""
    if isinstance(value, str):
        return line(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        kept = list(value.items())[:_MOST]
        return {line(str(name), 100): plain(each, depth + 1) for name, each in kept}
    if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        listed = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(each, depth + 1) for each in list(listed)[:_MOST]]
    return line(str(value))


def json_text(value: Any) -> str:
    """The same as JSON, the same text for the same values."""
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True)
