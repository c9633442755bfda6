"""Stack Overflow and the other sites of Stack Exchange: API, data dump, Data Explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.old.records import Rows
from faultatlas.miner.posts.api_rows import read_answers, read_questions
from faultatlas.miner.posts.sede_rows import rows_of_sede

if TYPE_CHECKING:
    from faultatlas.miner.archive import Exchange
    from faultatlas.miner.payload import Who


class StackOverflow:
    """Reads what the API, a dump or the Data Explorer said."""

    name = "stackoverflow"

    def read(self, exchange: Exchange, who: Who) -> Rows:
        """The rows that an answer, or a part of a file, holds."""
        site = exchange.project.partition(":")[2]
        match exchange.kind:
            case "questions" if exchange.status == 200:
                return read_questions(exchange, who)
            case "answers" if exchange.status == 200:
                return read_answers(exchange)
            case "sede":
                return rows_of_sede(exchange.body, site, who)
            case "dump questions" | "dump answers" | "dump comments":
                from faultatlas.miner.posts.dump_rows import read_part

                return read_part(exchange, who)
        return Rows()  # filters, and what was forgotten


SOURCE = StackOverflow()
