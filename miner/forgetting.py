"""People and artifacts that must not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miner.archive import Exchange
from miner.payload import Who

if TYPE_CHECKING:
    from data.store import Reader


def cleaned(reader: Reader, exchange: Exchange, who: Who) -> Exchange:
    """The exchange without what the study has forgotten."""
    if not reader.value("SELECT count(*) FROM store.forgotten"):
        return exchange
    raise NotImplementedError(who)
