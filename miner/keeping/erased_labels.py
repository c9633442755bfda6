"""What belongs to items, answers and bugs goes with them: it names them and no artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.data.store import Writer

_IS_AN_ITEM = "(SELECT round, item_id FROM store.item)"
_IS_NO_BUG = "bug_id NOT IN (SELECT bug_id FROM store.bug)"
# What is left of an item or a bug that is gone, by table.
LEFT_BEHIND = {
    "store.assignment": f"(round, item_id) NOT IN {_IS_AN_ITEM}",
    "store.suggestion": f"(round, item_id) NOT IN {_IS_AN_ITEM}",
    "store.task": "(server, project_id, item_id) NOT IN (SELECT server, project_id, item_id "
    "FROM store.project JOIN store.item USING (round))",
    "store.relabel": "answer_id NOT IN (SELECT answer_id FROM store.answer)",
    "store.bug_sample": _IS_NO_BUG,
    "store.execution": _IS_NO_BUG,
    "store.verdict": _IS_NO_BUG,
}


def drop_what_is_left(writer: Writer) -> None:
    """Remove what belongs to items, answers and bugs that were removed."""
    for table, condition in LEFT_BEHIND.items():
        writer.execute(f"DELETE FROM {table} WHERE {condition}")
