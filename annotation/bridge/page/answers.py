"""Answers: what comes back from a labelling page, as codes of the taxonomy.

The server takes anything, so nothing is taken on trust here: what is no answer is a problem,
told in words, and nobody's label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faultatlas.annotation.bridge.page.config import (
    ARTIFACT,
    CODE,
    COMMENT,
    CONFIDENCE,
    CONFIDENCES,
    PROPOSED,
)
from faultatlas.annotation.labels import NEW_CODE, SPECIAL
from faultatlas.data.identity import shown
from faultatlas.data.taxonomy import Taxonomy

_TYPES = {CODE: "taxonomy", CONFIDENCE: "choices", COMMENT: "textarea", PROPOSED: "textarea"}
_VALUES = {CODE: "taxonomy", CONFIDENCE: "choices", COMMENT: "text", PROPOSED: "text"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer; one with problems is to be told, not stored."""

    codes: tuple[str, ...] = ()
    confidence: float | None = None
    comment: str | None = None
    proposed: str | None = None
    problems: tuple[str, ...] = ()


def answer_of(result: Any, taxonomy: Taxonomy, *, choice: str | None = None) -> Parsed:
    """The answer that the `result` of an annotation holds.

    `choice` is that of the round; that of the taxonomy, if none is given.
    """
    values, problems = _values(result)
    codes: dict[str, None] = {}
    for path in values[CODE]:
        code, problem = _code(path, taxonomy)
        if problem:
            problems.append(problem)
        else:
            codes[code] = None
    confidence = _confidence(values[CONFIDENCE], problems)
    comment = _text(values[COMMENT], problems)
    proposed = _text(values[PROPOSED], problems)
    problems += _contradictions(tuple(codes), choice or taxonomy.choice, problems)
    # A name typed before the rater thought again is hidden by the page, and no proposal.
    proposed = proposed if NEW_CODE in codes else None
    return Parsed(tuple(codes), confidence, comment, proposed, tuple(problems))


def result_of(
    codes: Sequence[str],
    taxonomy: Taxonomy,
    *,
    confidence: int | None = None,
    comment: str | None = None,
    proposed: str | None = None,
) -> list[dict[str, Any]]:
    """What the page sends for an answer: the way back of `answer_of`."""
    paths = [
        [code] if code in SPECIAL else [*reversed(taxonomy.ancestors(code)), code] for code in codes
    ]
    given: dict[str, list[Any]] = {
        CODE: paths,
        CONFIDENCE: [] if confidence is None else [str(confidence)],
        COMMENT: [comment] if comment else [],
        PROPOSED: [proposed] if proposed else [],
    }
    return [
        {
            "from_name": name,
            "to_name": ARTIFACT,
            "type": _TYPES[name],
            "value": {_VALUES[name]: value},
        }
        for name, value in given.items()
        if value
    ]


def _values(result: Any) -> tuple[dict[str, list[Any]], list[str]]:
    values: dict[str, list[Any]] = {name: [] for name in _TYPES}
    problems: list[str] = []
    if not isinstance(result, list):
        return values, ["it holds no list of answers"]
    for part in result:
        name = part.get("from_name") if isinstance(part, Mapping) else None
        value = part.get("value") if isinstance(part, Mapping) else None
        given = value.get(_VALUES[name]) if name in _VALUES and isinstance(value, Mapping) else None
        if isinstance(given, str) and _VALUES[str(name)] == "text":
            given = [given]
        if not isinstance(given, list):
            problems.append(
                f"it holds something that the page does not ask for: {shown(str(name))}"
            )
        else:
            values[str(name)] += given
    return values, problems


def _code(path: Any, taxonomy: Taxonomy) -> tuple[str, str]:
    """The code at the end of a path, or what is wrong with it."""
    names = [path] if isinstance(path, str) else path
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return "", "it holds a code that cannot be read"
    code = names[-1]
    if code in SPECIAL and len(names) == 1:
        return code, ""
    if code not in taxonomy:
        return "", f"{shown(code)} is no code of {taxonomy.name} {taxonomy.version}"
    if code not in {node.code for node in taxonomy.selectable}:
        return "", f"{code} is a category of {taxonomy.name}: one of the codes below it is needed"
    if len(names) > 1 and names[:-1] != [*reversed(taxonomy.ancestors(code))]:
        return "", f"{code} does not stand under {shown(' / '.join(names[:-1]))} in {taxonomy.name}"
    return code, ""


def _confidence(given: Iterable[Any], problems: list[str]) -> float | None:
    found = [str(value) for value in given]
    if not found:
        return None
    if len(found) > 1 or found[0] not in CONFIDENCES:
        problems.append(f"{shown(', '.join(found))} is no confidence from 1 to 5")
        return None
    return float(found[0])


def _text(given: Sequence[Any], problems: list[str]) -> str | None:
    if not all(isinstance(text, str) for text in given):
        problems.append("it holds a comment that is no text")
        return None
    return "\n".join(text.strip() for text in given if text.strip()) or None


def _contradictions(codes: tuple[str, ...], choice: str, problems: Sequence[str]) -> list[str]:
    special = [code for code in codes if code in SPECIAL]
    if not codes:
        return [] if problems else ["no code was chosen"]
    if choice == "single" and len(codes) > 1:
        return [f"{', '.join(codes)}: one code was asked for"]
    if special and len(codes) > 1:
        words = " and ".join(SPECIAL[code] for code in special)
        # With several codes, one that is missing may be asked for beside those that fit.
        return [] if special == [NEW_CODE] else [f'"{words}" beside other codes']
    return []
