"""From a stored exchange to records: a function of the exchange alone, so that it can be redone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.identity import title_key
from faultatlas.data.old.records import KnownPaperRow, Rows
from faultatlas.miner.papers.entries import Entry, record_rows
from faultatlas.miner.papers.files.reading import read_body
from faultatlas.miner.papers.services import service_of_kind

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange

FILE = "paper file"
KNOWN = "known papers"


def read_exchange(exchange: Exchange) -> Rows:
    """The records of an answer or a file; nothing of what was forgotten."""
    request = exchange.request
    if exchange.kind == FILE:
        read = read_body(exchange.body, str(request["format"]))
        return Rows(papers=record_rows(read.entries, str(request["file"])))
    if exchange.kind == KNOWN:
        read = read_body(exchange.body, str(request["format"]))
        return Rows(known_papers=_known(str(request["list"]), read.entries))
    index = service_of_kind(exchange.kind)
    if index is None or exchange.status != 200:
        return Rows()
    page = index.page(exchange.json(), exchange.url)
    found = index.entries(page.items) if page else []
    first = int(request["first"])
    rows = [
        row
        for position, entry in enumerate(found, first)
        if entry is not None
        for row in record_rows([entry], index.name, str(request["search"]), position)
    ]
    return Rows(papers=rows)


def _known(name: str, entries: list[Entry]) -> list[KnownPaperRow]:
    return [
        KnownPaperRow(name, position, entry.title, title_key(entry.title), entry.year, entry.doi)
        for position, entry in enumerate(entries, 1)
    ]
