"""Stored responses: what a source said, kept before it is interpreted, and read again.

An `Exchange` is one request and its answer. Rows are a function of exchanges alone (and of
the study's key), so that `miner rebuild` makes the same rows from the same exchanges.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.data.redaction import redact, redact_bytes

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.http import Response

_KEPT_HEADERS = ("date", "etag", "link", "x-github-request-id", "total_count", "total_page")


@dataclass(frozen=True)
class Exchange:
    """A request and its answer."""

    run_id: str
    source: str
    project: str
    request: Mapping[str, Any]
    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    fetched_at: datetime
    body: bytes

    @property
    def kind(self) -> str:
        """What was asked for."""
        return str(self.request["kind"])

    @property
    def response_id(self) -> str:
        """The same for the same page with the same content, whichever run asked."""
        said = json.dumps(
            [self.source, self.project, self.request, self.url, self.status], sort_keys=True
        )
        return hashlib.blake2b(said.encode() + self.body, digest_size=12).hexdigest()

    def json(self) -> Any:
        """The body; an empty one is None."""
        return json.loads(self.body) if self.body else None


def exchange_of(
    response: Response, run: Run, source: str, project: str, request: Mapping[str, Any]
) -> Exchange:
    """A response with what it answers, without our secrets even if the server repeats them."""
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return Exchange(
        run_id=run.run_id,
        source=source,
        project=project,
        request=request,
        url=redact(response.url),
        final_url=redact(response.final_url),
        status=response.status,
        headers={name: redact(value) for name, value in headers.items()},
        fetched_at=response.received_at,
        body=redact_bytes(response.body),
    )


def keep(writer: Writer, exchange: Exchange) -> None:
    """Store an exchange behind those that are there."""
    writer.execute(
        "INSERT INTO store.response SELECT coalesce(max(number), 0) + 1, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM store.response",
        [
            exchange.response_id,
            exchange.run_id,
            exchange.source,
            exchange.project,
            json.dumps(exchange.request, sort_keys=True),
            exchange.url,
            exchange.final_url,
            exchange.status,
            json.dumps(exchange.headers, sort_keys=True),
            exchange.fetched_at,
            len(exchange.body),
            packed(exchange.body),
        ],
    )


def numbers(reader: Reader) -> list[int]:
    """The numbers of all stored exchanges, in their order."""
    rows = reader.rows("SELECT number FROM store.response ORDER BY number")
    return [row["number"] for row in rows]


def replay(reader: Reader) -> Iterator[tuple[int, Exchange]]:
    """All stored exchanges in their order, one at a time in memory."""
    for number in numbers(reader):
        (row,) = reader.rows("SELECT * FROM store.response WHERE number = ?", [number])
        yield number, exchange_of_row(row)


def exchange_of_row(row: Mapping[str, Any]) -> Exchange:
    """An exchange as `store.response` holds it."""
    return Exchange(
        run_id=row["run_id"],
        source=row["source"],
        project=row["project"],
        request=json.loads(row["request"]),
        url=row["url"],
        final_url=row["final_url"],
        status=row["status"],
        headers=json.loads(row["headers"]),
        fetched_at=row["fetched_at"],
        body=unpacked(row["body"], row["size"]),
    )


def packed(body: bytes) -> bytes:
    """The body as it is stored."""
    import pyarrow as pa

    return bytes(pa.Codec("zstd", compression_level=3).compress(body, asbytes=True))


def unpacked(stored: bytes, size: int) -> bytes:
    """The body as it came."""
    import pyarrow as pa

    return bytes(pa.Codec("zstd").decompress(stored, decompressed_size=size, asbytes=True))
