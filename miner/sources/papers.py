"""Papers: OpenAlex, Scopus, and files of reference managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.old.records import Rows
from faultatlas.miner.papers.reading import read_exchange

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.payload import Who


class Papers:
    """Reads what an index or a file said."""

    name = "paper"

    def read(self, exchange: Exchange, who: Who) -> Rows:  # noqa: ARG002  (authors sign papers)
        """The records that an answer or a file holds."""
        return read_exchange(exchange)


SOURCE = Papers()
