"""How results are called: other parameters are another result, so that none replaces another."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.report import formatting

_LONGEST = 60
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PARTING = re.compile(r"[^A-Za-z0-9_-]+")


def given(**options: Any) -> dict[str, Any]:
    """What was asked for; what was left open is no parameter."""
    return {name: value for name, value in options.items() if value not in (None, "", [], {})}


def result_name(analysis: str, parameters: dict[str, Any], *, bare: tuple[str, ...] = ()) -> str:
    """Such as `distribution-hp-defects-by-framework`.

    The values of `bare` parameters stand without their names. What cannot be said in a file
    name, or not in short, is told apart by a digest.
    """
    words, plain = [analysis], True
    for key, value in parameters.items():
        values = list(map(str, value)) if isinstance(value, list) else [_argument(value)]
        plain = plain and not isinstance(value, dict) and all(map(_PLAIN.fullmatch, values))
        words += ([] if key in bare else [key]) + [word(each) for each in values]
    name = "-".join(filter(None, words))
    if plain and len(name) <= _LONGEST:
        return name
    said = json.dumps([analysis, parameters], sort_keys=True, ensure_ascii=False)
    return f"{name[:_LONGEST].rstrip('-')}-{hashlib.sha256(said.encode()).hexdigest()[:8]}"


def own_name(analysis: str, name: str) -> str:
    """The name of a result that the user named: `associate-deep`, so that no other is replaced."""
    if not _PLAIN.fullmatch(name) or len(name) > _LONGEST:
        raise StudyError(
            f"{formatting.plain(name)!r} is no name for a result",
            f"Lower-case letters, digits and dashes, at most {_LONGEST}: --name deep-and-others",
        )
    return f"{analysis}-{name}"


def called(analysis: str, parameters: dict[str, Any]) -> str:
    """The start of a claim's query: the analysis with what it was called with."""
    inside = ", ".join(f"{key}={_argument(value)}" for key, value in parameters.items())
    return f"{analysis}({inside})"


def word(text: str) -> str:
    """A text as part of a name."""
    return _PARTING.sub("-", text.lower()).strip("-")


def key(text: str) -> str:
    """A text as a part of a claim's id and as a key of a document: no two texts have the same."""
    plain = _PARTING.sub("-", text).strip("-")
    if plain == text:
        return text
    return f"{plain[:40]}-{hashlib.sha256(text.encode()).hexdigest()[:6]}".lstrip("-")


def _argument(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", "given"))
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
