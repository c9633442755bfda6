"""What reading a repository brought, for a reader."""

from __future__ import annotations

import shlex
from typing import Any

from faultatlas.data.old.results import Column, Table
from faultatlas.report.formatting import count, counted

_SHOWN = 5


def commits_table(found: dict[str, Any]) -> Table:
    """New rows, and what the study has."""
    rows, stored = found["rows"], found["stored"]
    kinds = [
        ("commits", rows["commits_new"], stored.get("commits", 0)),
        ("files", rows["files"], stored.get("files", 0)),
        ("hunks", rows["hunks"], stored.get("hunks", 0)),
    ]
    if found["functions"] or stored.get("functions"):
        kinds.append(("functions and classes", rows["functions"], stored.get("functions", 0)))
    if found["lexicons"]:
        kinds.insert(
            1, (f"matching {_joined(found)}", rows["commits_matching"], stored.get("matching", 0))
        )
    if stored.get("unreadable"):
        kinds.append(("unreadable in part or whole", None, stored["unreadable"]))
    return Table(
        "commits",
        found["project"].partition(":")[2],
        (
            Column("what", "What"),
            Column("new", "New", "count"),
            Column("stored", "In the study", "count"),
        ),
        tuple(kinds),
        _note(found),
    )


def commits_notes(found: dict[str, Any]) -> list[str]:
    """What could not be read, and what is gone."""
    notes = []
    rows, stored = found["rows"], found["stored"]
    if rows["gone"]:
        notes.append(
            f"{counted(rows['gone'], 'commit')} that no branch leads to any more: "
            "history was rewritten or a branch was deleted; they are kept and marked gone"
        )
    if rows["came_back"]:
        notes.append(f"{counted(rows['came_back'], 'commit')} came back")
    notes += [
        f"{found['project'].partition(':')[2]} is also the name of {place}, with which "
        f"{found['place']} shares no commit: two repositories are mixed. Read one of them into "
        "another --study, or rename its folder before it is read"
        for place in found["unrelated_places"]
    ]
    if found["missing_commits"]:
        notes.append(
            "commits that are not in the repository: "
            + ", ".join(found["missing_commits"][:_SHOWN])
        )
    notes += [f"{each['artifact_id']}: {each['problem']}" for each in found["unreadable"][:_SHOWN]]
    if (left := stored.get("unreadable", 0) - _SHOWN) > 0:
        notes.append(
            f"and {count(left)} more: SELECT artifact_id, problem FROM commits "
            "WHERE diff IN ('part', 'unreadable')"
        )
    return [*notes, *_next_steps(found)]


def _next_steps(found: dict[str, Any]) -> list[str]:
    """How what is missing can be had."""
    problems = [each["problem"] or "" for each in found["unreadable"]]
    if not problems and not found["missing_commits"]:
        return []
    folder = shlex.quote(found["folder"])
    if found["is_clone"]:
        return [f"To clone it anew: remove {folder}, then run the same command"]
    steps = []
    if any("shallow clone" in each for each in problems):
        steps.append(
            f"To have all history: git -C {folder} fetch --unshallow, then the same command"
        )
    if found["missing_commits"] or any("shallow clone" not in each for each in problems):
        steps.append(
            f"To have what is missing: git -C {folder} fetch --refetch (or read a new clone, "
            "where something is damaged), then the same command"
        )
    return steps


def _joined(found: dict[str, Any]) -> str:
    return (" or " if found["any_keyword"] else " and ").join(found["lexicons"])


def _note(found: dict[str, Any]) -> str:
    what = "every branch" if found["all_branches"] else "HEAD's branch"
    changes = "every commit" if found["all"] else "matching commits"
    news = "" if found["changed"] else "; nothing has changed since the last reading"
    said = f"Commits of {what}; changes of {changes}, merges have none of their own{news}."
    is_usual = found["lexicons"] == ["bugfix"] and not found["all"]
    return f"{said} --keywords names other words, --all takes every commit." if is_usual else said
