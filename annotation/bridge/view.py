"""What `annotation serve`, `rater`, `push` and `pull` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faultatlas.annotation.bridge.accounts import Added
from faultatlas.annotation.bridge.own_server import SHARED
from faultatlas.annotation.typed import typed
from faultatlas.data.old.results import Column, Table
from faultatlas.data.redaction import redact
from faultatlas.report.console import stdout
from faultatlas.report.formatting import plain
from faultatlas.report.old.console import Output


def print_lines(output: Output, lines: Sequence[str], *, may_show_secrets: bool = False) -> None:
    """Lines for a person that are not broken: links, paths and passwords are copied from them."""
    if not (output.as_json or output.quiet):
        for line in lines:
            shown = line if may_show_secrets else redact(line)
            stdout().print(plain(shown), soft_wrap=True)


def serve_lines(document: Mapping[str, Any], *, detached: bool) -> list[str]:
    """Where to go, and how to get in."""
    lines = []
    for server in document["servers"]:
        whose = f" of rater {server['rater']}" if server["rater"] else ""
        lines += [
            f"Label Studio{whose}: {server['public_url'] or server['url']}",
            f"  account {server['username']}, password in {server['password_file']}",
        ]
    return [*lines, "End it: annotation serve --stop" if detached else "End it with Ctrl-C."]


def stopped_line(names: Sequence[str]) -> str:
    """Which servers were ended, called as `serve_lines` calls them."""
    told = [
        f"Label Studio of rater {name.removeprefix(f'{SHARED}/')}"
        if name != SHARED
        else "the study's Label Studio"
        for name in names
    ]
    return f"ended: {', '.join(told)}" if told else "no server of this study runs"


def added_document(rater: str, added: Added) -> dict[str, Any]:
    """A rater that was added; a new password is in here, and nowhere else."""
    account = added.account
    return {
        "rater": rater,
        "new": added.is_new,
        "server": account.server if account else None,
        "url": added.url,
        "username": account.username if account else None,
        "password": added.password,
        "invite_link": added.invite,
    }


def added_lines(rater: str, added: Added, url: str | None = None) -> list[str]:
    """The same for a person."""
    there = f" --url {url}" if url else ""
    known = "added" if added.is_new else "in the study already"
    if added.invite:
        return [
            f"rater {rater}: {known}",
            f"To sign up: {added.invite}",
            f"Then: annotation rater add {typed(rater)} --email THE_ADDRESS_USED_THERE{there}",
        ]
    if added.account is None:
        again = f"annotation rater add {typed(rater)}{there}"
        return [
            f"rater {rater}: {known}; no account, because no server runs",
            f"Start one, then add the rater again: annotation serve --detach; {again}",
        ]
    lines = [
        f"rater {rater}: {known}",
        f"  address   {added.url}",
        f"  account   {added.account.username}",
    ]
    if added.password:
        return [*lines, f"  password  {added.password}   (shown once: pass it on now)"]
    return [*lines, "  password  the one that the account has (another one: --new-password)"]


def raters_table(raters: Sequence[Mapping[str, Any]]) -> Table:
    """All raters."""
    rows = [
        (
            each["rater"],
            each["rounds"],
            each["items"],
            ", ".join(f"{one['username']} ({one['server']})" for one in each["accounts"]),
        )
        for each in raters
    ]
    return Table(
        "raters",
        "Raters",
        (
            Column("rater", "Rater"),
            Column("rounds", "Rounds", "count"),
            Column("items", "Items labelled", "count"),
            Column("accounts", "Accounts"),
        ),
        tuple(rows),
    )


def plan_table(plan: Mapping[str, Any]) -> Table:
    """What a push would send."""
    return Table(
        "plan",
        f"Round {plan['round']}, {plan['taxonomy']} {plan['taxonomy_version']}: nothing was sent",
        (Column("rater", "Rater"), Column("tasks", "Tasks", "count")),
        tuple(plan["raters"].items()),
        note="" if plan["raters"] else "No items are assigned to raters.",
    )


_PUSHED = (
    Column("rater", "Rater"),
    Column("stage", "Stage", "code"),
    Column("project_id", "Project", "code"),
    Column("title", "Called"),
    Column("tasks", "Tasks", "count"),
    Column("sent", "Sent", "count"),
    Column("updated", "Updated", "count"),
    Column("outdated", "Outdated", "count"),
    Column("blindness", "Blindness"),
)
_PULLED = (
    Column("rater", "Rater"),
    Column("stage", "Stage", "code"),
    Column("project_id", "Project", "code"),
    Column("tasks", "Tasks", "count"),
    Column("labelled", "Labelled", "count"),
    Column("new", "New", "count"),
    Column("changed", "Changed", "count"),
    Column("known", "Known", "count"),
    Column("withdrawn", "Withdrawn", "count"),
    Column("skipped", "Skipped", "count", aside=True),
    Column("server", "Server", aside=True),
)


def pushed_table(document: Mapping[str, Any]) -> Table:
    """What became of each rater's project."""
    note = ""
    if any(each["outdated"] for each in document["projects"]):
        note = (
            "Outdated: the artifact has changed since, but a rater has labelled it: all raters "
            "keep that text."
        )
    return _table("pushed", "pushed", _PUSHED, document, note)


def address_lines(document: Mapping[str, Any]) -> list[str]:
    """Where each rater labels: what is passed on to them."""
    return [
        f"{each['rater']} labels here: {each['url']}"
        for each in document["projects"]
        if each["rater"] and each["url"]
    ]


def pulled_table(document: Mapping[str, Any]) -> Table:
    """What became of each project's labels."""
    return _table("pulled", "pulled", _PULLED, document, "")


def _table(
    name: str, word: str, columns: tuple[Column, ...], document: Mapping[str, Any], note: str
) -> Table:
    rows = tuple(
        tuple(
            "" if each[column.key] is None else _cell(each[column.key], column)
            for column in columns
        )
        for each in document["projects"]
    )
    if not rows:
        push = f"annotation push {typed(document['round'])}"
        note = f"No rater has anything to label there yet: no project. Make them: {push}"
    return Table(name, f"Round {document['round']}: {word}", columns, rows, note=note)


def _cell(value: Any, column: Column) -> Any:
    return str(value) if column.kind == "code" else value


def remarks(document: Mapping[str, Any]) -> list[str]:
    """What the user must know: notes, then problems."""
    projects = document["projects"]
    notes = [note for each in projects for note in each.get("notes", ())]
    # What a server does not give is the same for all of its projects.
    return list(
        dict.fromkeys([*notes, *(problem for each in projects for problem in each["problems"])])
    )
