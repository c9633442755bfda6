"""Rows as Arrow batches, for packages that are not rewritten yet."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Writer


def insert(writer: Writer, table: str, batch: pa.Table) -> int:
    """Append a batch to a table, columns matched by name; return the number of rows."""
    # After an error the transaction is over and so is the connection: unregistering then would only
    # hide what went wrong behind "transaction is aborted".
    connection = writer._connection  # noqa: SLF001
    connection.register("incoming_batch", batch)
    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming_batch")
    connection.unregister("incoming_batch")
    return int(batch.num_rows)


def upsert(
    writer: Writer, table: str, key: str, batch: pa.Table, keep: AbstractSet[str] = frozenset()
) -> tuple[int, int]:
    """Put a batch into a table that has `row_hash`; return how many rows are new and changed.

    A row whose hash is stored already is left alone. Where the batch has `updated_at`, an older row
    never replaces a newer one. In the columns of `keep` a NULL replaces nothing.
    """
    connection = writer._connection  # noqa: SLF001
    newer = "AND coalesce(i.updated_at >= t.updated_at, true)"
    connection.register("incoming_batch", batch)
    rows = connection.execute(
        f"SELECT i.{key}, t.{key} IS NOT NULL FROM incoming_batch i "
        f"LEFT JOIN {table} t USING ({key}) WHERE t.{key} IS NULL OR "
        f"(i.row_hash <> t.row_hash {newer if 'updated_at' in batch.column_names else ''})"
    ).fetchall()
    new = [row[0] for row in rows if not row[1]]
    changed = [row[0] for row in rows if row[1]]
    incoming = (
        f"INSERT INTO {table} BY NAME SELECT * FROM incoming_batch "
        f"WHERE {key} IN (SELECT unnest(?::VARCHAR[]))"
    )
    if new:  # by themselves: most batches have nothing else, and looking for others is dear
        connection.execute(incoming, [new])
    if changed:
        columns = [name for name in batch.column_names if name != key]
        stored = table.rpartition(".")[2]
        values = {name: f"excluded.{name}" for name in columns} | {
            name: f"coalesce(excluded.{name}, {stored}.{name})" for name in keep & {*columns}
        }
        assigned = ", ".join(f"{name} = {value}" for name, value in values.items())
        connection.execute(f"{incoming} ON CONFLICT ({key}) DO UPDATE SET {assigned}", [changed])
    connection.unregister("incoming_batch")
    return len(new), len(changed)
