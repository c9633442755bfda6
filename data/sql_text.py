"""Texts and names as they stand in SQL."""

from __future__ import annotations

from collections.abc import Iterable


def literal(text: str) -> str:
    """A text as it stands in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Texts as they stand between the brackets of IN; none is a text that nothing equals."""
    return ", ".join(map(literal, texts)) or "NULL"


def quoted(name: str) -> str:
    """A name from a catalog as a statement takes it: a foreign file may call a table anything."""
    return '"' + name.replace('"', '""') + '"'
