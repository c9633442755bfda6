"""Numbers of the study itself as claims: each is the count of the rows that its query lists."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.analysis.statistics.shares import wilson_share
from faultatlas.data.old.results import Claim

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

ANALYSIS = "study"

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def word(text: str) -> str:
    """A text as a word of a claim's id; a digest tells apart what would read the same."""
    plain = _ODD.sub("-", text).strip("-")
    if plain == text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:6]
    return f"{plain}-{digest}" if plain else digest


def path_of(words: Sequence[str]) -> tuple[str, ...]:
    """Where a number stands in the document, and what its id is made of."""
    return tuple(map(word, words))


def count(reader: Reader, words: Sequence[str], statement: str, rows: str) -> Claim:
    """How many rows there are."""
    value = reader.value(f"SELECT count(*) FROM ({rows})")
    return number(words, statement, float(value), rows)


def number(
    words: Sequence[str], statement: str, value: float | None, rows: str | None, unit: str = ""
) -> Claim:
    """A number that the study holds already."""
    path = path_of(words)
    return Claim(
        claim_id=".".join((ANALYSIS, *path)),
        statement=statement,
        value=value,
        unit=unit,
        query=f"{ANALYSIS}(): {'.'.join(path)}",
        rows_query=rows,
    )


def share(reader: Reader, words: Sequence[str], statement: str, rows: str, of: str) -> Claim:
    """The share of the rows in those of another query, with its interval."""
    part = reader.value(f"SELECT count(*) FROM ({rows})")
    total = reader.value(f"SELECT count(*) FROM ({of})")
    found = wilson_share(part, max(total, part))
    path = path_of(words)
    return Claim(
        claim_id=".".join((ANALYSIS, *path)),
        statement=statement,
        value=found.percent,
        unit="percent",
        query=f"{ANALYSIS}(): {'.'.join(path)}",
        count=found.count,
        total=found.total,
        low=found.low,
        high=found.high,
        method=found.method,
        rows_query=rows,
    )
