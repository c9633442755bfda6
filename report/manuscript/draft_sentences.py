"""Numbers in sentences: shares with counts, samples, tests, and words for values.

Every pattern is bounded, so that a hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from typing import Any

from faultatlas.analysis.statistics.scales import AGREEMENT_SCALES, EFFECT_SCALES

Found = tuple[int, str, dict[str, Any]]

_COUNT = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,9}"
_DECIMAL = r"-?(?:\d{1,6}(?:\.\d{1,10})?|\.\d{1,10})"
_SIGN = r"p\s?(?:-?values?)?\s?(?P<sign>[=<>~\u2248\u2264\u2265])\s?"
_P = rf"{_SIGN}(?P<p>{_DECIMAL}(?:e-?\d{{1,3}})?)"
_CHI = r"chi2|chi-squared?|X2|X\^2|\N{GREEK SMALL LETTER CHI}\^?[2\N{SUPERSCRIPT TWO}]"
_PERCENT = r"(?P<share>\d{1,3}(?:\.\d{1,6})?)\s?%"
_OF = r"(?:\s?/\s?|\s(?:out\s)?of\s(?:the\s|all\s|our\s)?)"
_KAPPA_WORDS = sorted(
    {step.word for scale in AGREEMENT_SCALES.values() for step in scale.steps},
    key=len,
    reverse=True,
)
_EFFECT_WORDS = sorted(
    {step.word for scale in EFFECT_SCALES.values() for step in scale.steps}, key=len, reverse=True
)
_EFFECT_SCALES = {"d": "cohen-d", "delta": "cliff-delta", "v": "cramer-v"}


def found(text: str) -> Iterator[Found]:
    """What stands in known forms, with its line."""
    flat = _flat(text)
    starts = [0, *(place.end() for place in re.finditer("\n", text))]
    seen: set[int] = set()
    for pattern, make in _FORMS:
        for hit in pattern.finditer(flat):
            fields = make(hit)
            if fields is not None and hit.start() not in seen:
                seen.add(hit.start())
                yield bisect(starts, hit.start()), fields[0], fields[1]


def _flat(text: str) -> str:
    """The text on one line, no character moved."""
    return re.sub(r"[\n\r\t\N{NO-BREAK SPACE}\N{THIN SPACE}]", " ", text).replace(
        "\N{MINUS SIGN}", "-"
    )


def _percentage(hit: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
    if float(hit["count"].replace(",", "")) > float(hit["total"].replace(",", "")):
        return None
    return "percentage", {
        "printed": f"{hit['share']} %",
        "count": hit["count"],
        "total": hit["total"],
    }


def _sample(hit: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
    confidence, margin = float(hit["confidence"]), float(hit["margin"])
    if not 50 <= confidence < 100 or not 0.1 <= margin <= 50:
        return None
    return "sample-size", {
        "printed": hit["size"],
        "confidence": hit["confidence"],
        "margin": hit["margin"],
    }


def _test(statistic: str) -> Callable[[re.Match[str]], tuple[str, dict[str, Any]] | None]:
    def made(hit: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
        groups = hit.groupdict()
        degrees = [groups[name] for name in ("df", "df2") if groups.get(name)]
        if any(float(each) <= 0 for each in degrees):
            return None
        sign = "" if hit["sign"] == "=" else hit["sign"]
        fields: dict[str, Any] = {
            "printed": f"{sign}{hit['p']}",
            "statistic": statistic,
            "value": hit["value"],
        }
        return "p-value", {**fields, "df": degrees} if degrees else fields

    return made


def _kappa(hit: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
    word = " ".join(hit["word"].lower().split())
    return "kappa-word", {"values": [[hit["value"], word]]}


def _effect(hit: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
    scale = _EFFECT_SCALES["delta" if hit["name"].lower().endswith("delta") else
                           "v" if hit["name"] in "vV" else "d"]  # fmt: skip
    word = " ".join(hit["word"].lower().split())
    return "effect-word", {"values": [[hit["value"], word]], "scale": scale}


_FORMS: tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[str, dict[str, Any]] | None]], ...
] = (
    (
        re.compile(
            rf"(?<![\d.,])(?P<count>{_COUNT}){_OF}(?P<total>{_COUNT})(?![\d.])"
            rf"(?:\s[A-Za-z][A-Za-z -]{{0,60}})?,?\s?\(\s?{_PERCENT}"
        ),
        _percentage,
    ),
    (
        re.compile(
            rf"(?<![\d.,]){_PERCENT}\s?\(\s?(?P<count>{_COUNT}){_OF}(?P<total>{_COUNT})(?![\d.])"
        ),
        _percentage,
    ),
    (
        re.compile(
            rf"(?:\bn\s?=\s?|\bsamples?\sof\s|\bsampled\s|\bselected\s)(?P<size>{_COUNT})(?![\d.%])"
            rf"[^.%\d]{{0,80}}(?P<confidence>\d\d(?:\.\d{{1,2}})?)\s?%[^.%\d]{{0,60}}"
            rf"(?P<margin>\d{{1,2}}(?:\.\d{{1,2}})?)\s?%"
        ),
        _sample,
    ),
    (
        re.compile(
            rf"\bt\s?\(\s?(?P<df>\d{{1,9}}(?:\.\d{{1,3}})?)\s?\)\s?=\s?(?P<value>{_DECIMAL})"
            rf",?\s?(?:and\s)?{_P}"
        ),
        _test("t"),
    ),
    (
        re.compile(
            rf"(?:{_CHI})\s?\(\s?(?:df\s?=\s?)?(?P<df>\d{{1,6}})"
            rf"(?:\s?,\s?[Nn]\s?=\s?(?:{_COUNT}))?\s?\)\s?=\s?"
            rf"(?P<value>{_DECIMAL}),?\s?(?:and\s)?{_P}"
        ),
        _test("chi2"),
    ),
    (
        re.compile(
            rf"\bF\s?\(\s?(?P<df>\d{{1,6}})\s?,\s?(?P<df2>\d{{1,9}})\s?\)\s?=\s?"
            rf"(?P<value>{_DECIMAL}),?\s?(?:and\s)?{_P}"
        ),
        _test("F"),
    ),
    (
        re.compile(
            rf"\br\s?\(\s?(?P<df>\d{{1,9}})\s?\)\s?=\s?(?P<value>-?0?\.\d{{1,6}}),?\s?(?:and\s)?{_P}"
        ),
        _test("r"),
    ),
    (re.compile(rf"\b[zZ]\s?=\s?(?P<value>{_DECIMAL}),?\s?(?:and\s)?{_P}"), _test("z")),
    (
        re.compile(
            r"\b(?:[kK]appa|\N{GREEK SMALL LETTER KAPPA})\b[^.\d%]{0,60}"
            r"(?P<value>0?\.\d{1,4}|\d{2}(?:\.\d{1,2})?\s?%)[^.\d]{0,40}?"
            rf"\b(?P<word>{'|'.join(_KAPPA_WORDS)})\b",
            re.IGNORECASE,
        ),
        _kappa,
    ),
    (
        re.compile(
            r"\b(?P<name>d|V|(?:Cliff'?s\s)?delta)\s?=\s?(?P<value>-?\d?\.\d{1,4})\s?"
            rf"[(,]\s?(?:an?\s)?(?P<word>{'|'.join(_EFFECT_WORDS)})\b",
            re.IGNORECASE,
        ),
        _effect,
    ),
)
