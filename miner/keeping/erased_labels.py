"""What belongs to items, answers and bugs goes with them: it names them and no artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.schema import schema

if TYPE_CHECKING:
    from faultatlas.data.study import Writer

# What is left of an item or a bug that was removed, by table.
LEFT_BEHIND = {
    f"store.{table.name}": table.orphaned for table in schema().tables.values() if table.orphaned
}


def drop_what_is_left(writer: Writer) -> None:
    """Remove what belongs to items, answers and bugs that were removed."""
    for table, condition in LEFT_BEHIND.items():
        writer.execute(f"DELETE FROM {table} WHERE {condition}")
