"""An exchange with papers without those that a study has forgotten.

A record is cut out by the id that it has by itself; all of them are aliases of their paper, so
that a paper goes with every record of it. People are no logins here: who signs a paper is part of
what is published.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.archive import Exchange
from faultatlas.miner.keeping.erasing import Forgotten, Found
from faultatlas.miner.papers.entries import Entry
from faultatlas.miner.papers.files.reading import read_body, text_of
from faultatlas.miner.papers.reading import FILE, KNOWN
from faultatlas.miner.papers.services import service_of_kind


def without_papers(exchange: Exchange, forgotten: Forgotten) -> tuple[Exchange | None, Found]:
    """What is left, and what was found; the same object where that is nothing."""
    found = Found()
    if not forgotten.artifacts:
        return exchange, found
    if exchange.kind in (FILE, KNOWN):
        body = _file(exchange, forgotten, found)
    else:
        body = _answer(exchange, forgotten, found)
    if body is None:
        return None, found
    return (exchange if body == exchange.body else replace(exchange, body=body)), found


def _file(exchange: Exchange, forgotten: Forgotten, found: Found) -> bytes | None:
    try:
        read = read_body(exchange.body, str(exchange.request["format"]))
    except StudyError:
        return exchange.body
    gone = [entry for entry in read.entries if _is_gone(entry, forgotten, found)]
    if not gone:
        return exchange.body
    if len(gone) == len(read.entries):
        return None
    text = text_of(exchange.body)
    for entry in sorted(gone, key=lambda each: each.span, reverse=True):
        start, end = entry.span
        text = text[:start] + text[end:]
    return text.encode("utf-8", "replace")


def _answer(exchange: Exchange, forgotten: Forgotten, found: Found) -> bytes | None:
    index = service_of_kind(exchange.kind)
    try:
        said = exchange.json()
    except ValueError:
        said = None
    page = index.page(said, exchange.url) if index else None
    if index is None or page is None:
        return exchange.body
    gone = [
        item
        for item, entry in zip(page.items, index.entries(page.items), strict=True)
        if entry is not None and _is_gone(entry, forgotten, found)
    ]
    if not gone:
        return exchange.body
    return json.dumps(_hollowed(said, gone), ensure_ascii=False).encode(errors="surrogatepass")


def _hollowed(value: Any, gone: list[Any]) -> Any:
    """The document with nothing in the places of these: positions of the others stay."""
    if any(value is each for each in gone):
        return {}
    if isinstance(value, list):
        return [_hollowed(each, gone) for each in value]
    if isinstance(value, dict):
        return {name: _hollowed(each, gone) for name, each in value.items()}
    return value


def _is_gone(entry: Entry, forgotten: Forgotten, found: Found) -> bool:
    is_it = entry.own_id in forgotten.artifacts
    found.artifacts |= {entry.own_id} if is_it else set()
    return is_it
