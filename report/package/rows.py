"""The files with rows: all tables of the study as it is packed, and its views for readers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.data.sheets import csv_text
from faultatlas.report.package.policy import LEFT_OUT

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Reader

IDS = "ids.csv"

# What is computed, what no reader asks for, and what stands in claims.json.
_UNSHOWN = frozenset(
    {
        "assignments", "candidates", "claims", "dumps", "git_walks", "package_rows", "responses",
        "results",
    }
)  # fmt: skip
# Columns of texts: without texts they are left out, not empty.
_TEXTS = frozenset({"title", "body", "message", "abstract", "text", "section", "comment", "quote",
                    "description", "evidence", "detail"})  # fmt: skip
_NO_TEXT = {None, "", LEFT_OUT}


def parquet(rows: pa.Table) -> bytes:
    """A table as Parquet, the same bytes for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    bare = rows.replace_schema_metadata(None)
    file = pa.BufferOutputStream()
    pq.write_table(bare, file, compression="zstd", store_schema=False, version="2.6")
    return bytes(file.getvalue())


def views(reader: Reader) -> Iterator[tuple[str, pa.Table]]:
    """The documented views that have rows, without columns that have nothing."""
    for row in reader.rows(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
    ):
        name = row["view_name"]
        if name in _UNSHOWN:
            continue
        rows = reader.arrow(f"SELECT * FROM {name} ORDER BY ALL")
        empty = [
            each
            for each in rows.column_names
            if each in _TEXTS and {*rows.column(each).unique().to_pylist()} <= _NO_TEXT
        ]
        if rows.num_rows:
            yield name, rows.drop_columns(empty)


def csv_bytes(rows: pa.Table) -> bytes:
    """A table as CSV: lists as JSON, times in ISO 8601."""
    names = rows.column_names
    return csv_of(names, ([row[name] for name in names] for row in rows.to_pylist()))


def csv_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows as CSV."""
    text = csv_text([names, *([_cell(value) for value in row] for row in rows)])
    # Half a surrogate pair, which broken sources deliver, has no bytes in UTF-8.
    return text.encode("utf-8", errors="backslashreplace")


def artifact_ids(reader: Reader) -> list[dict[str, Any]]:
    """What texts can be fetched again of: ids, addresses and how each is fetched."""
    return reader.rows(
        "SELECT artifact_id, kind, source, project, url FROM artifacts "
        "WHERE kind IS NOT NULL ORDER BY artifact_id"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
