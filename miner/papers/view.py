"""What `miner papers` did or would do, for a reader."""

from __future__ import annotations

from typing import Any

from faultatlas.data.old.results import Column, Table
from faultatlas.report.formatting import count, counted, plain

_MOST_SHOWN = 20


def papers_table(found: dict[str, Any]) -> Table:
    """What each search or file gave, and what the study has now."""
    columns = (
        Column("what", "Search or file"),
        Column("total", "Counted there", "count"),
        Column("records", "Records", "count"),
        Column("broken", "Broken", "count"),
    )
    lines = tuple(
        (plain(each["name"] or each["search"])[:60], each["total"], each["records"], None)
        for each in found["searches"]
    ) + tuple(
        (plain(each["name"])[:60], None, each["entries"], len(each["broken"]))
        for each in found["files"]
    )
    if found.get("known"):
        note = f"{counted(found['stored']['known'], 'known paper')} in all lists."
        return Table("papers", f"Known papers: {plain(found['known'])}", columns, lines, note)
    rows, stored = found["rows"], found["stored"]
    note = (
        f"{counted(rows['records_new'], 'new record')}, "
        f"{counted(rows['papers_new'], 'new paper')}. "
        f"The study has {counted(stored['papers'], 'paper')} of "
        f"{counted(stored['records'], 'record')}, "
        f"{count(stored['with_abstract'])} with an abstract."
    )
    if found["requests"]:
        quota = found["quota"]
        left = f", {count(quota['left'])} of {count(quota['limit'])} left" if quota else ""
        note += f" {counted(found['requests'], 'request')}{left}."
    return Table("papers", "Papers", columns, lines, note)


def papers_notes(found: dict[str, Any]) -> list[str]:
    """What is missing, and what to know."""
    notes = [
        f"{each['name'] or each['source']}: {note}"
        for each in found["searches"]
        for note in each["notes"]
    ]
    for file in found["files"]:
        if file["was_known"]:
            notes.append(f"{file['name']} was read before; nothing is new")
        notes += [f"{file['name']}, {note}" for note in file["notes"][:_MOST_SHOWN]]
        broken = file["broken"]
        notes += [broken_words(each) for each in broken[:_MOST_SHOWN]]
        if len(broken) > _MOST_SHOWN:
            more = counted(len(broken) - _MOST_SHOWN, "more broken entry", "more broken entries")
            notes.append(f"{file['name']}: {more}; --json lists all")
        if broken:
            notes.append(
                f"{file['name']}: {counted(file['entries'], 'whole paper')} in, "
                f"{counted(len(broken), 'broken entry', 'broken entries')} left out; mend them and "
                "read the file again"
            )
    return [plain(note) for note in dict.fromkeys(notes)]


def broken_words(entry: dict[str, Any]) -> str:
    """Where an entry is broken, and why."""
    called = f" ({entry['key']})" if entry["key"] else ""
    return f"{entry['file']}, line {entry['line']}{called}: {entry['reason']}"


def plan_words(found: dict[str, Any]) -> str:
    """The questions to each index."""
    lines = []
    if "template" in found:
        lines += [f"{found['template']}: {found['source']}", *found["notes"], ""]
    for name, queries in found["plan"].items():
        lines.append(f"{name}:")
        for query in queries:
            called = f"{query['name']}: " if query["name"] else ""
            lines.append(f"  {called}{query['query']}")
        lines += [f"  ({note})" for note in dict.fromkeys(n for q in queries for n in q["notes"])]
    return "\n".join(plain(line) if line else "" for line in lines)
