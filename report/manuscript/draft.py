"""A claims file proposed from a manuscript: the numbers that are written in known forms.

A draft knows only what is next to a number. It misses much, and a person reads it before it is
kept. Every pattern is bounded, so that a hostile text costs no more than its length.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from faultatlas.analysis.statistics.scales import AGREEMENT_SCALES, EFFECT_SCALES
from faultatlas.data.errors import StudyError

LARGEST = 2_000_000  # bytes
_MOST = 1_000  # proposals from sentences, and from tables
_LONGEST_ROW = 2_000  # characters
_MOST_ROWS = 500

Fields = dict[str, Any]


class Proposal(NamedTuple):
    """A claim with its line, its kind and its fields."""

    line: int
    kind: str
    fields: Fields


def draft(path: Path) -> str:
    """The claims file for a manuscript; nothing if no number was recognised."""
    try:
        if path.stat().st_size > LARGEST:
            raise StudyError(f"{path} is larger than {LARGEST:,} bytes", "Name the text only.")
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Name a text file.") from None
    return draft_text(text, path.stem, tex=path.suffix.lower() == ".tex")


def draft_text(text: str, name: str, *, tex: bool = False) -> str:
    """The claims file for a text."""
    if tex:
        for pattern, replacement in _TEX:
            text = pattern.sub(replacement, text)
    text = text.replace("$", "")
    proposals = [
        *islice(_in_sentences(text), _MOST),
        *islice(_in_tables(text, tex=tex), _MOST),
    ]
    proposals.sort(key=lambda proposal: proposal.line)
    if not proposals:
        return ""
    parts = [f"study = {json.dumps(name)}\n"]
    for number, (line, kind, fields) in enumerate(proposals, start=1):
        head = {"id": f"{number}.line-{line}", "place": f"line {line}", "kind": kind}
        rows = (f"{key} = {json.dumps(value)}\n" for key, value in (head | fields).items())
        parts.append("[[claim]]\n" + "".join(rows))
    return "\n".join(parts)


# LaTeX without what hides its numbers; lines stay where they are.
_TEX = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<!\\)((?:\\\\)*)%[^\n]*", r"\1"),
        (r"\\(?:chi|upchi)\s*\^\s*\{?2\}?", "chi2"),
        (r"\\kappa", "kappa"),
        (r"\\(?:approx|sim)\b", "~"),
        (r"\\lt\b", "<"),
        (r"\\gt\b", ">"),
        (r"\\leq?(?:slant)?\b", "\N{LESS-THAN OR EQUAL TO}"),
        (r"\\geq?(?:slant)?\b", "\N{GREATER-THAN OR EQUAL TO}"),
        (r"\\%", "%"),
        (r"\{,\}", ","),
        (r"\\[,;:! ]|(?<!\\)~", " "),
        (r"\\(?:textbf|textit|emph|mathit|mathrm|text|num)\b", ""),
    )
)


# --- sentences ---------------------------------------------------------------------------

_COUNT = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,9}"
_DECIMAL = r"-?(?:\d{1,6}(?:\.\d{1,10})?|\.\d{1,10})"
_VALUE = rf"(?P<value>{_DECIMAL})"
_P = (
    r",?\s?(?:and\s)?p\s?(?:-?values?)?\s?(?P<sign>[=<>~\u2248\u2264\u2265])\s?"
    rf"(?P<p>{_DECIMAL}(?:e-?\d{{1,3}})?)"
)
_CHI = r"(?:chi2|chi-squared?|X2|X\^2|\N{GREEK SMALL LETTER CHI}\^?[2\N{SUPERSCRIPT TWO}])"
_PERCENT = r"(?P<share>\d{1,3}(?:\.\d{1,6})?)\s?%"
_PART = (
    rf"(?P<count>{_COUNT})(?:\s?/\s?|\s(?:out\s)?of\s(?:the\s|all\s|our\s)?)"
    rf"(?P<total>{_COUNT})(?![\d.])"
)
_KAPPA_WORDS = {step.word for scale in AGREEMENT_SCALES.values() for step in scale.steps}
_EFFECT_WORDS = {step.word for scale in EFFECT_SCALES.values() for step in scale.steps}
_EFFECT_SCALES = {"d": "cohen-d", "v": "cramer-v"}


def _in_sentences(text: str) -> Iterator[Proposal]:
    """Shares with counts, samples, tests, and words for values."""
    # On one line, no character moved.
    flat = re.sub(r"[\n\r\t\N{NO-BREAK SPACE}\N{THIN SPACE}]", " ", text)
    flat = flat.replace("\N{MINUS SIGN}", "-")
    starts = [0, *(line.end() for line in re.finditer("\n", text))]
    seen: set[int] = set()
    for pattern, kind, fields_of in _FORMS:
        for match in re.finditer(pattern, flat):
            fields = fields_of(match)
            if fields is not None and match.start() not in seen:
                seen.add(match.start())
                yield Proposal(bisect(starts, match.start()), kind, fields)


def _percentage(match: re.Match[str]) -> Fields | None:
    count, total = match["count"], match["total"]
    if not 0 < float(total.replace(",", "")) >= float(count.replace(",", "")):
        return None
    return {"printed": f"{match['share']} %", "count": count, "total": total}


def _sample(match: re.Match[str]) -> Fields | None:
    confidence, margin = match["confidence"], match["margin"]
    if not 50 <= float(confidence) < 100 or not 0.1 <= float(margin) <= 50:
        return None
    return {"printed": match["size"], "confidence": confidence, "margin": margin}


def _test(statistic: str) -> Callable[[re.Match[str]], Fields | None]:
    def fields_of(match: re.Match[str]) -> Fields | None:
        groups = match.groupdict()
        degrees = [groups[name] for name in ("df", "df2") if groups.get(name)]
        if any(float(number) <= 0 for number in degrees):
            return None
        sign = "" if match["sign"] == "=" else match["sign"]
        fields = {
            "printed": f"{sign}{match['p']}", "statistic": statistic, "value": match["value"],
        }  # fmt: skip
        return fields | ({"df": degrees} if degrees else {})

    return fields_of


def _word(match: re.Match[str]) -> Fields:
    return {"values": [[match["value"], " ".join(match["word"].lower().split())]]}


def _effect(match: re.Match[str]) -> Fields:
    scale = _EFFECT_SCALES.get(match["name"].lower(), "cliff-delta")
    return _word(match) | {"scale": scale}


def _any_of(words: set[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_TESTS = {
    "t": rf"\bt\s?\(\s?(?P<df>\d{{1,9}}(?:\.\d{{1,3}})?)\s?\)\s?=\s?{_VALUE}",
    "chi2": rf"{_CHI}\s?\(\s?(?:df\s?=\s?)?(?P<df>\d{{1,6}})"
    rf"(?:\s?,\s?[Nn]\s?=\s?(?:{_COUNT}))?\s?\)\s?=\s?{_VALUE}",
    "F": rf"\bF\s?\(\s?(?P<df>\d{{1,6}})\s?,\s?(?P<df2>\d{{1,9}})\s?\)\s?=\s?{_VALUE}",
    "r": r"\br\s?\(\s?(?P<df>\d{1,9})\s?\)\s?=\s?(?P<value>-?0?\.\d{1,6})",
    "z": rf"\b[zZ]\s?=\s?{_VALUE}",
}
_SAMPLE = (
    rf"(?:\bn\s?=\s?|\bsamples?\sof\s|\bsampled\s|\bselected\s)(?P<size>{_COUNT})(?![\d.%])"
    rf"[^.%\d]{{0,80}}(?P<confidence>\d\d(?:\.\d{{1,2}})?)\s?%[^.%\d]{{0,60}}"
    r"(?P<margin>\d{1,2}(?:\.\d{1,2})?)\s?%"
)
_KAPPA = (
    r"(?i)\b(?:kappa|\N{GREEK SMALL LETTER KAPPA})\b[^.\d%]{0,60}"
    r"(?P<value>0?\.\d{1,4}|\d{2}(?:\.\d{1,2})?\s?%)[^.\d]{0,40}?"
    rf"\b(?P<word>{_any_of(_KAPPA_WORDS)})\b"
)
_EFFECT = (
    r"(?i)\b(?P<name>d|V|(?:Cliff'?s\s)?delta)\s?=\s?(?P<value>-?\d?\.\d{1,4})\s?"
    rf"[(,]\s?(?:an?\s)?(?P<word>{_any_of(_EFFECT_WORDS)})\b"
)
_COUNT_FIRST = rf"(?<![\d.,]){_PART}(?:\s[A-Za-z][A-Za-z -]{{0,60}})?,?\s?\(\s?{_PERCENT}"
_SHARE_FIRST = rf"(?<![\d.,]){_PERCENT}\s?\(\s?{_PART}"
_FORMS: list[tuple[str, str, Callable[[re.Match[str]], Fields | None]]] = [
    (_COUNT_FIRST, "percentage", _percentage),
    (_SHARE_FIRST, "percentage", _percentage),
    (_SAMPLE, "sample-size", _sample),
    *((test + _P, "p-value", _test(statistic)) for statistic, test in _TESTS.items()),
    (_KAPPA, "kappa-word", _word),
    (_EFFECT, "effect-word", _effect),
]


# --- tables ------------------------------------------------------------------------------

_TOTAL = re.compile(r"(?:grand |sub-?)?(?:totals?|sum|all|overall)\W*", re.IGNORECASE)
_WHOLE = re.compile(_COUNT)
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^}]{0,20}\})")


def _in_tables(text: str, *, tex: bool) -> Iterator[Proposal]:
    """Totals below columns of whole numbers, in tables of LaTeX (&), Markdown (|) and tabs."""
    above: list[list[str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        cells = _cells(line, tex=tex)
        if cells is None:
            if line.strip() and not _is_rule(line):
                above = []
        elif not any(_WHOLE.fullmatch(cell) for cell in cells[1:]):
            above = []  # a heading
        elif any(_TOTAL.fullmatch(cell) for cell in cells[:2]):
            yield from (Proposal(number, "sum", fields) for fields in _totals(above, cells))
            above = []
        elif len(above) <= _MOST_ROWS:
            above.append(cells)


def _totals(rows: list[list[str]], total: list[str]) -> Iterator[Fields]:
    if not 2 <= len(rows) <= _MOST_ROWS or any(len(row) != len(total) for row in rows):
        return
    for column, printed in enumerate(total):
        parts = [row[column] for row in rows]
        is_numbering = parts == [str(place) for place in range(1, len(parts) + 1)]
        if _WHOLE.fullmatch(printed) and all(map(_WHOLE.fullmatch, parts)) and not is_numbering:
            yield {"printed": printed, "parts": parts}


def _cells(line: str, *, tex: bool) -> list[str] | None:
    """The cells of a row; None if the line is not a row."""
    if len(line) > _LONGEST_ROW:
        return None
    if tex:
        row = _RULES.sub("", line).replace("\\\\", "")
        return [cell.strip(" {}") for cell in row.split("&")] if "&" in line else None
    if line.lstrip().startswith("|"):
        cells = [cell.strip(" *") for cell in line.strip().strip("|").split("|")]
        return None if all(set(cell) <= set("-: ") for cell in cells) else cells
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else None


def _is_rule(line: str) -> bool:
    """Whether a line of a table has no cells."""
    return not _RULES.sub("", line).strip() or set(line.strip()) <= set("|-: +=")
