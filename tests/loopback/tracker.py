"""The issues and comments of one repository, and what happens to them."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loopback import payloads, timelines
from loopback.entries import COMMENT_SLOTS, Entry
from loopback.payloads import Payload, instant, zulu

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Remark:
    """A comment without its text; times in seconds since 1970."""

    id: int
    number: int
    created: int
    updated: int


@dataclass(frozen=True)
class Gone:
    """Why an issue is no longer here."""

    how: str  # deleted, hidden, transferred
    to: str = ""  # of a transfer: /repositories/ID/issues/N


class Tracker:
    """Issues and comments. `make` gives the payload of an issue that nobody has changed."""

    def __init__(
        self,
        name: str,
        identity: int,
        entries: Iterable[Entry],
        make: Callable[[Entry], Payload] | None = None,
        comment_base: int = 2_145_000_000,
    ) -> None:
        self.name = name
        self.id = identity
        self.private = False
        self.has_issues = True
        self.entries = {entry.number: entry for entry in entries}
        self.gone: dict[int, Gone] = {}
        self.events: dict[int, list[Payload]] = {}  # of issues that were changed
        self._make = make or (lambda entry: payloads.issue(entry, self.name))
        self._comment_base = comment_base
        self._encoded: dict[int, bytes] = {}
        self._remarks: dict[int, list[Remark]] = {}
        self._written: dict[int, Payload] = {}  # comments that were added or edited
        self._lists: dict[Any, tuple[list[int], list[Any]]] = {}
        self._nodes: dict[str, int] | None = None

    @classmethod
    def of_payloads(cls, name: str, identity: int, lines: Iterable[str]) -> Tracker:
        """Real payloads, one a line. They are kept encoded, ready to be sent."""
        entries, encoded = [], {}
        for line in lines:
            found = json.loads(line)
            # A table has these columns for all; the API leaves them out of what is no pull request.
            for key in ("draft", "pull_request"):
                if found.get(key) is None:
                    found.pop(key, None)
            entries.append(entry_of(found))
            encoded[found["number"]] = encode(found)
        made = cls(name, identity, entries)
        made._encoded = encoded
        return made

    # Reading

    def payload(self, number: int) -> Payload:
        if number in self._encoded:
            return json.loads(self._encoded[number])  # type: ignore[no-any-return]
        return self._make(self.entries[number])

    def encoded(self, number: int) -> bytes:
        known = self._encoded.get(number)
        return known if known is not None else encode(self._make(self.entries[number]))

    def issues(
        self,
        *,
        state: str = "all",
        labels: Iterable[str] = (),
        sort: str = "created",
        descending: bool = True,
        since: int | None = None,
    ) -> Sequence[Entry]:
        wanted = frozenset(label.lower() for label in labels)
        key = ("issues", state, wanted, sort)
        if key not in self._lists:
            found = [
                (_sort_key(entry, sort), entry.number, entry)
                for entry in self.entries.values()
                if state in {"all", entry.state} and (not wanted or entry.has(wanted))
            ]
            found.sort(key=lambda row: row[:2])
            self._lists[key] = [row[0] for row in found], [row[2] for row in found]
        return self._cut(key, sort, since, descending=descending)

    def comments(
        self, *, sort: str = "id", descending: bool = False, since: int | None = None
    ) -> Sequence[Remark]:
        """The comments of all issues."""
        key = ("comments", sort)
        if key not in self._lists:
            found = [
                (getattr(remark, sort), remark.id, remark)
                for number in self.entries
                for remark in self.comments_of(number)
            ]
            found.sort(key=lambda row: row[:2])
            self._lists[key] = [row[0] for row in found], [row[2] for row in found]
        return self._cut(key, sort, since, descending=descending)

    def _cut(self, key: Any, sort: str, since: int | None, *, descending: bool) -> Sequence[Any]:
        keys, rows = self._lists[key]
        if since is not None and sort == "updated":
            rows = rows[bisect_left(keys, since) :]
        elif since is not None:
            rows = [row for row in rows if row.updated >= since]
        return rows[::-1] if descending else rows

    def comments_of(self, number: int) -> list[Remark]:
        """The comments of one issue in order of their ids."""
        if number in self._remarks:
            return self._remarks[number]
        entry = self.entries[number]
        span = entry.updated - entry.created
        made = []
        for k in range(entry.comments):
            identity = self._comment_base + number * COMMENT_SLOTS + k
            written = entry.created + span * (k + 1) // (entry.comments + 1)
            edited = written + (entry.updated - written) // 2 if identity % 6 == 0 else written
            made.append(Remark(identity, number, written, edited))
        return made

    def comment_payload(self, remark: Remark) -> Payload:
        if remark.id in self._written:
            return self._written[remark.id]
        author = payloads.USERS[(remark.number + remark.id % 13) % len(payloads.USERS)]
        is_pull = self.entries[remark.number].is_pull
        return payloads.comment(
            self.name,
            remark.number,
            remark.id,
            author,
            remark.created,
            remark.updated,
            is_pull=is_pull,
        )

    def number_of(self, node: str) -> int | None:
        """The number of the issue with that global id."""
        if self._nodes is None:
            self._nodes = {self.payload(n)["node_id"]: n for n in self.entries}
        number = self._nodes.get(node)
        return number if number in self.entries else None

    # Changing

    def store(self, payload: Payload) -> Entry:
        """Take over a payload, new or changed."""
        entry = entry_of(payload)
        self.entries[entry.number] = entry
        self._encoded[entry.number] = encode(payload)
        self._lists.clear()
        self._nodes = None
        return entry

    def touch(self, number: int, at: int, comment: str | None = None, **changes: Any) -> None:
        """Change fields of the payload, or add a comment; `updated_at` becomes `at`."""
        self._keep(number)
        payload = self.payload(number)
        if "labels" in changes:
            self._label(number, payload, changes.pop("labels"), at)
        if changes.get("state", payload["state"]) != payload["state"]:
            closed = changes["state"] == "closed"
            payload["closed_at"] = zulu(at) if closed else None
            payload["closed_by"] = payloads.USERS[0] if closed else None
            if "pull_request" not in payload:
                payload["state_reason"] = "completed" if closed else "reopened"
            reason = {"state_reason": payload["state_reason"]} if closed else {}
            self.happened(number, "closed" if closed else "reopened", at, **reason)
        if changes.get("title", payload["title"]) != payload["title"]:
            rename = {"from": payload["title"], "to": changes["title"]}
            self.happened(number, "renamed", at, rename=rename)
        if comment is not None:
            remarks = self._remarks[number]
            slot = max((r.id for r in remarks), default=self._first_id(number) - 1) + 1
            remarks.append(Remark(slot, number, at, at))
            author = payloads.USERS[number % len(payloads.USERS)]
            is_pull = self.entries[number].is_pull
            written = payloads.comment(self.name, number, slot, author, at, at, is_pull=is_pull)
            self._written[slot] = {**written, "body": comment}
            payload["comments"] = len(remarks)
        payload |= {**changes, "updated_at": zulu(at)}
        self.store(payload)

    def edit_comment(self, number: int, at: int, index: int = 0, body: str = "edited") -> int:
        """Edit a comment, which also updates its issue; returns the comment's id."""
        self._keep(number)
        remark = self._remarks[number][index]
        payload = self.comment_payload(remark)
        self._remarks[number][index] = replace(remark, updated=at)
        self._written[remark.id] = {**payload, "body": body, "updated_at": zulu(at)}
        self.touch(number, at)
        return remark.id

    def delete_comment(self, number: int, at: int, index: int = 0) -> int:
        """Remove a comment; returns its id."""
        self._keep(number)
        removed = self._remarks[number].pop(index)
        self.touch(number, at, comments=len(self._remarks[number]))
        return removed.id

    def remove(self, number: int, gone: Gone) -> None:
        """Take an issue away; requests for it are answered by what became of it."""
        self._keep(number)
        del self.entries[number]
        self.gone[number] = gone
        self._lists.clear()

    def remove_label(self, number: int, name: str, at: int) -> None:
        kept = [label for label in self.entries[number].labels if label.lower() != name.lower()]
        self.touch(number, at, labels=kept)

    def receive(self, payload: Payload, comments: list[Payload], number: int, at: int) -> None:
        """Take over an issue that was transferred here; it gets a number and ids of this place."""
        old = payload["repository_url"].split("/repos/")[1]
        issue = _renamed(
            payload, f"{old}/issues/{payload['number']}", f"{self.name}/issues/{number}"
        )
        issue = _renamed(issue, old, self.name)
        identity = self._first_id(number) + COMMENT_SLOTS // 2
        issue |= {"number": number, "id": identity, "node_id": payloads.node_id("I", identity)}
        self._remarks[number] = []
        for k, comment in enumerate(comments):
            slot = self._first_id(number) + k
            written, edited = instant(comment["created_at"]), instant(comment["updated_at"])
            self._remarks[number].append(Remark(slot, number, written, edited))
            made = payloads.comment(self.name, number, slot, comment["user"], written, edited)
            self._written[slot] = {**made, "body": comment["body"]}
        self.store({**issue, "updated_at": zulu(at)})
        self.happened(number, "transferred", at)

    def rename(self, name: str) -> None:
        """Give the repository another name; payloads carry it in their addresses from now on."""
        old, self.name = self.name, name
        for number, known in list(self._encoded.items()):
            self._encoded[number] = encode(_renamed(json.loads(known), old, name))
        for identity, written in list(self._written.items()):
            self._written[identity] = _renamed(written, old, name)
        self.events = {number: _renamed(e, old, name) for number, e in self.events.items()}
        self._lists.clear()

    def happened(self, number: int, event: str, at: int, **more: Any) -> None:
        """Put an event into the timeline of an issue."""
        self._keep(number)
        self.events[number].append(
            timelines.happening(self.name, number, event, at, payloads.USERS[0], **more)
        )

    def _label(self, number: int, payload: Payload, names: Iterable[str], at: int) -> None:
        before = {label["name"]: label for label in payload["labels"]}
        after = {name: payloads.label(self.name, name) for name in names}
        for event, changed in (
            ("labeled", after.keys() - before.keys()),
            ("unlabeled", before.keys() - after.keys()),
        ):
            for name in sorted(changed):
                color = (after | before)[name]["color"]
                self.happened(number, event, at, label={"name": name, "color": color})
        payload["labels"] = [before.get(name, label) for name, label in after.items()]

    def _keep(self, number: int) -> None:
        """Comments and events are made from their issue: fix them before it changes."""
        if number not in self._remarks:
            self._remarks[number] = self.comments_of(number)
        if number not in self.events:
            self.events[number] = timelines.made_up(self, number)

    def _first_id(self, number: int) -> int:
        return self._comment_base + number * COMMENT_SLOTS


def encode(payload: Payload) -> bytes:
    return ENCODER.encode(payload).encode()


def entry_of(payload: Payload) -> Entry:
    return Entry(
        number=payload["number"],
        id=payload["id"],
        created=instant(payload["created_at"]),
        updated=instant(payload["updated_at"]),
        closed=instant(payload["closed_at"]) if payload["closed_at"] else None,
        comments=payload["comments"],
        labels=tuple(label["name"] for label in payload["labels"]),
        is_pull=payload.get("pull_request") is not None,
    )


def _sort_key(entry: Entry, sort: str) -> int:
    found: int = getattr(entry, sort if sort in {"updated", "comments"} else "created")
    return found


def _renamed(value: Any, old: str, new: str) -> Any:
    """The payload with another repository name in its addresses; texts stay as they are."""
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item.replace(f"/{old}", f"/{new}")
        if key.endswith("url") and isinstance(item, str)
        else _renamed(item, old, new)
        for key, item in value.items()
    }
