"""What `miner posts` did, for a reader."""

from __future__ import annotations

from typing import Any

from faultatlas.data.old.results import Column, Table
from faultatlas.report.formatting import count, counted


def posts_table(found: dict[str, Any]) -> Table:
    """What is new and what the study has of the selection."""
    rows, stored, quota = found["rows"], found["stored"], found["quota"]
    columns = (
        Column("what", "Rows"),
        Column("new", "New", "count"),
        Column("changed", "Changed", "count"),
        Column("stored", "Stored", "count"),
    )
    lines = (
        ("questions", rows["posts_new"], rows["posts_changed"], stored["posts"]),
        (
            "answers and comments",
            rows["replies_new"],
            rows["replies_changed"],
            stored["answers"] + stored["comments"],
        ),
    )
    note = f"{counted(stored['accepted'], 'question')} with an accepted answer, "
    note += f"{counted(stored['answers'], 'answer')}."
    if found["requests"]:
        left = f", {count(quota['left'])} of {count(quota['limit'])} left today" if quota else ""
        note += f" {counted(found['requests'], 'request')}{left}."
    if "dump" in found:
        note += f" {found['dump']['words']}."
    tags = f": {', '.join(found['tags'])}" if found["tags"] else ""
    return Table("posts", f"{found['site']}{tags}", columns, lines, note)


def posts_notes(found: dict[str, Any]) -> list[str]:
    """What is missing, and what to do."""
    notes = [
        f"no question on {found['site']} has the tag {tag}: check the spelling"
        for tag in found["unknown_tags"]
    ]
    if gone := found["rows"]["gone"]:
        notes.append(
            f"{counted(gone, 'post')} asked for by name: {found['site']} no longer gives "
            f"{'it' if gone == 1 else 'them'}; marked as gone in `artifacts`"
        )
    return [*notes, *found.get("dump", {}).get("problems", ())]
