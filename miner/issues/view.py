"""What a fetch did, for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from faultatlas.data.results import Field, Quantity, Result, Table
from faultatlas.miner.posts.view import posts_notes, posts_table
from faultatlas.report.formatting import count, counted

_SHOWN_GAPS = 5


def fetch_result(document: dict[str, Any]) -> Result:
    """One table for each fetched project, and for each site of posts."""
    fetched = document.get("projects", [document])
    sites = document.get("posts", [])
    names = [project["project"].partition(":")[2] for project in fetched]
    names += [site["site"] for site in sites]
    several = len(fetched) > 1
    return Result(
        title=f"Fetched from {names[0]}" if len(names) == 1 else "Fetched",
        quantities=tuple(quantity for project in fetched for quantity in _quantities(project)),
        labels={"kind": "Rows"},
        tables=(
            *(
                Table(
                    f"fetched-{place}" if several else "fetched",
                    project["project"].partition(":")[2] if len(names) > 1 else "Rows",
                    rows=("kind",),
                    columns="rows",
                    fields=(Field("value"),),
                    where={"project": project["project"]},
                    note=_spent(project),
                )
                for place, project in enumerate(fetched, start=1)
            ),
            *(posts_table(site) for site in sites),
        ),
        data=document,
    )


def _quantities(project: dict[str, Any]) -> Iterator[Quantity]:
    rows, stored, key = project["rows"], project["stored"], project["project"]
    kinds = [
        ("issues", rows["issues_new"], rows["issues_changed"], stored["issues"] + stored["pulls"]),
        ("comments", rows["comments_new"], rows["comments_changed"], stored["comment_rows"]),
    ]
    if rows["events_new"]:
        kinds.append(("events", rows["events_new"], 0, stored["events"]))
    for kind, new, changed, there in kinds:
        for name, value in (("new", new), ("changed", changed), ("stored", there)):
            yield Quantity(
                {"project": key, "kind": kind, "rows": name},
                value,
                statement=f"{kind.capitalize()} of {key}, {name}",
            )
    yield Quantity(
        {"project": key, "measure": "requests"},
        project["requests"],
        statement=f"Requests sent to fetch {key}",
    )


def fetch_notes(found: dict[str, Any]) -> list[str]:
    """What is missing or differs, and what to do."""
    notes = [note for each in found.get("projects", [found]) for note in _notes(each)]
    notes += [note for each in found.get("posts", []) for note in posts_notes(each)]
    if others := found.get("not_issues"):
        notes.append(
            f"{counted(len(others), 'line')} of the file named no issue and brought nothing: "
            + ", ".join(others[:_SHOWN_GAPS])
        )
    if unreadable := found.get("unreadable"):
        first = unreadable[0]
        notes.append(
            f"{counted(len(unreadable), 'line')} of the file cannot be read as an address, "
            f"such as line {first['line']}: {first['text']}"
        )
    return notes


def _spent(project: dict[str, Any]) -> str:
    """What the fetch cost."""
    stored, quota = project["stored"], project["quota"]
    spent = counted(project["requests"], "request")
    if project["requests"] == project["not_modified"] > 0:
        spent += ": nothing has changed"
    elif project["not_modified"]:
        spent += f", {count(project['not_modified'])} of them found nothing changed"
    if quota:
        spent += f"; {count(quota['left'])} of {count(quota['limit'])} left in this hour"
    pulls = f"; of the issues {count(stored['pulls'])} are pull requests" if stored["pulls"] else ""
    return f"{spent}{pulls}."


def _notes(each: dict[str, Any]) -> list[str]:
    notes = []
    stored, search = each["stored"], each["counted"]
    if search and search["issues"] is not None:
        there, here = (
            search["issues"] + (search["pulls"] or 0),
            stored["issues"] + stored["pulls"],
        )
        # How many of the forgotten ones the search counts depends on what was selected.
        if not here <= there <= here + stored["forgotten"]:
            notes.append(
                f"the tracker's search counts {count(there)}, the study has {count(here)}: "
                + (
                    "its index lags behind"
                    if each["verified"]
                    else "its index lags behind, or issues are gone; --verify finds out"
                )
            )
    elif search and search["reason"]:
        notes.append(f"not compared with the tracker's count: {search['reason']}")
    gaps = each["missing_comments"]
    if gaps:
        confirmed = sum(gap["is_confirmed"] for gap in gaps)
        named = ", ".join(gap["artifact_id"] for gap in gaps[:_SHOWN_GAPS])
        or_forgotten = " or people are forgotten" if stored["forgotten_people"] else ""
        notes.append(
            f"of {counted(len(gaps), 'issue')} the study has fewer comments than the tracker "
            f"counts, of {count(confirmed)} because it lists fewer itself{or_forgotten}: {named}"
        )
    if not stored["issues"] + stored["pulls"] and not each["rows"]["gone"]:
        notes.append("the tracker lists no such issue: check labels, state and dates")
    checked = each["verified"]
    if each["rows"]["gone"] and not checked:
        notes.append(
            f"{counted(each['rows']['gone'], 'issue')} asked for by name: gone or moved; the "
            "column gone_reason of `artifacts` says which and why"
        )
    if checked:
        notes.append(
            f"verified: {count(checked['listed'])} listed, {count(checked['missing'])} missing: "
            f"{count(checked['gone'])} gone, {count(checked['transferred'])} transferred, "
            f"{count(checked['lost_label'])} without the label"
        )
    return notes
