"""Proposes a claims file from a manuscript: the numbers that stand in known forms.

A draft knows only what stands beside a number. It misses much, and a person reads it before it
is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.report.manuscript import draft_sentences, draft_tables

LARGEST = 2_000_000  # bytes
MOST = 2_000  # proposals

_TEX = (
    (re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*"), r"\1"),
    (re.compile(r"\\(?:chi|upchi)\s*\^\s*\{?2\}?"), "chi2"),
    (re.compile(r"\\kappa"), "kappa"),
    (re.compile(r"\\(?:approx|sim)\b"), "~"),
    (re.compile(r"\\lt\b"), "<"),
    (re.compile(r"\\gt\b"), ">"),
    (re.compile(r"\\leq?(?:slant)?\b"), "\N{LESS-THAN OR EQUAL TO}"),
    (re.compile(r"\\geq?(?:slant)?\b"), "\N{GREATER-THAN OR EQUAL TO}"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,;:! ]|(?<!\\)~"), " "),
    (re.compile(r"\\(?:textbf|textit|emph|mathit|mathrm|text|num)\b"), ""),
)


@dataclass(frozen=True)
class Proposal:
    """A claim that was found: the line, the kind and its fields."""

    line: int
    kind: str
    fields: dict[str, Any]


def draft(path: Path) -> str:
    """The claims file for a manuscript; nothing if no number was found."""
    try:
        if path.stat().st_size > LARGEST:
            raise StudyError(f"{path} is larger than {LARGEST:,} bytes", "Name the text only.")
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Name a text file.") from None
    return drafted(text, path.stem, tex=path.suffix.lower() == ".tex")


def drafted(text: str, name: str, *, tex: bool = False) -> str:
    """The claims file for a text."""
    plain = untexed(text) if tex else text.replace("$", "")
    both = (draft_sentences.found(plain), draft_tables.found(plain, tex=tex))
    proposals = [Proposal(*each) for found in both for each in islice(found, MOST // 2)]
    proposals.sort(key=lambda each: each.line)
    return _toml(name, proposals) if proposals else ""


def untexed(text: str) -> str:
    """LaTeX without what stands in the way of its numbers; lines stay where they are."""
    for pattern, instead in _TEX:
        text = pattern.sub(instead, text)
    return text.replace("$", "")


def _toml(name: str, proposals: Iterable[Proposal]) -> str:
    parts = [f"study = {json.dumps(name)}\n"]
    for number, each in enumerate(proposals, start=1):
        lines = [
            "[[claim]]",
            f'id = "{number}.line-{each.line}"',
            f'place = "line {each.line}"',
            f'kind = "{each.kind}"',
            *(f"{key} = {json.dumps(value)}" for key, value in each.fields.items()),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
