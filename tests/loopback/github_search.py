"""GitHub's search: its query language, its ceiling of 1,000 results, its incomplete answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loopback import pages
from loopback.entries import Entry
from loopback.exchange import Reply, Request, as_json, error
from loopback.payloads import instant
from loopback.repositories import Facts, facts_of, found
from loopback.tracker import Tracker

if TYPE_CHECKING:
    from loopback.world import World

CEILING = 1_000
WORD = re.compile(r'(?:(-?)([\w-]+):)?("[^"]*"(?:,"[^"]*")*|\S+)')
UNSEARCHABLE = (
    "The listed users and repositories cannot be searched either because the resources do not "
    "exist or you do not have permission to view them."
)
Check = Callable[[Any], bool]


@dataclass
class Query:
    """A parsed query: qualifiers with their values, and words."""

    qualifiers: list[tuple[bool, str, str]] = field(default_factory=list)  # whether negated
    words: list[str] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        return [value for negated, key, value in self.qualifiers if key == name and not negated]


def parse(text: str) -> Query:
    query = Query()
    for negation, name, value in WORD.findall(text):
        plain = value.strip('"') if value.count('"') == 2 else value
        if name:
            query.qualifiers.append((bool(negation), name.lower(), plain))
        else:
            query.words.append(plain.lower())
    return query


def answer(world: World, request: Request, path: str) -> Reply:
    text = request.query.get("q", "")
    if not text.strip():
        missing = [{"resource": "Search", "field": "q", "code": "missing"}]
        return error(422, "Validation Failed", "/search/search", errors=missing)
    try:
        if path == "/search/issues":
            rows: Sequence[Any] = issues(world, text, request.token, request.query.get("sort"))
            make: Callable[[Any], Any] = _issue
        elif path == "/search/repositories":
            rows, make = repositories(world, text, request.query.get("sort")), found
        else:
            return error(404, "Not Found")
    except ValueError as problem:
        invalid = [{"message": str(problem), "resource": "Search", "field": "q", "code": "invalid"}]
        return error(422, "Validation Failed", "/search/", errors=invalid)
    if request.query.get("order", "desc") == "asc":
        rows = rows[::-1]
    return _page(world, request, path, rows, make)


def _page(
    world: World, request: Request, path: str, rows: Sequence[Any], make: Callable[[Any], Any]
) -> Reply:
    if (pages.number(request) - 1) * pages.size(request, world.page_limit) >= CEILING:
        reply = error(422, "Only the first 1000 search results are available")
        reply.body = reply.body.replace(b"docs.github.com/rest", b"docs.github.com/v3/search/")
        return reply
    is_incomplete = world.incomplete_searches > 0
    if is_incomplete:
        world.incomplete_searches -= 1
        rows = rows[: len(rows) // 2]
    page = pages.by_number(request, rows[:CEILING], world.base_url + path, world.page_limit)
    return as_json(
        {
            "total_count": len(rows),
            "incomplete_results": is_incomplete,
            "items": [make(row) for row in page.rows],
        },
        headers={name: _spaces(value) for name, value in page.headers.items()},
    )


def issues(
    world: World, text: str, token: str | None, sort: str | None = None
) -> list[tuple[Tracker, Entry]]:
    """Issues and pull requests that a query finds; the newest first unless sorted otherwise."""
    query = parse(text)
    names = query.all("repo")
    trackers = [tracker for name in names if (tracker := world.find(name)[0])]
    trackers = [t for t in (trackers if names else world.trackers) if world.may_see(t, token)]
    if names and not trackers:
        raise ValueError(UNSEARCHABLE)
    checks = [check for q in query.qualifiers if (check := _issue_check(*q))]
    key = sort if sort in {"updated", "comments"} else "created"
    rows = [
        (tracker, entry)
        for tracker in trackers
        for entry in tracker.entries.values()
        if all(check(entry) for check in checks) and _says(tracker, entry, query.words)
    ]
    return sorted(rows, key=lambda row: (getattr(row[1], key), row[1].number), reverse=True)


def repositories(world: World, text: str, sort: str | None = None) -> list[Facts]:
    """Repositories that a query finds; forks only where it asks for them."""
    query = parse(text)
    checks = [check for q in query.qualifiers if (check := _repository_check(*q))]
    forks = (query.all("fork") or ["false"])[-1]
    everything = [facts_of(t) for t in world.trackers if not t.private] + world.catalogue
    rows = [
        facts
        for facts in everything
        if (facts.fork if forks == "only" else forks == "true" or not facts.fork)
        and all(check(facts) for check in checks)
        and all(word in facts.name.lower() for word in query.words)
    ]
    key = "pushed" if sort == "updated" else "stars"
    return sorted(rows, key=lambda facts: (getattr(facts, key), facts.id), reverse=True)


def _issue_check(negated: bool, name: str, value: str) -> Check | None:  # noqa: FBT001
    check: Check
    if name in {"is", "type", "state"}:
        kinds = {"pr": True, "pull-request": True, "issue": False}
        if value in kinds:
            check = _same("is_pull", kinds[value])
        elif value in {"open", "closed"}:
            check = _same("state", value)
        else:
            return None
    elif name == "label":
        wanted = {part.strip('"').lower() for part in value.split(",")}

        def check(entry: Entry) -> bool:
            return not wanted.isdisjoint(label.lower() for label in entry.labels)
    elif name in {"comments", "created", "updated"}:
        check = _within(name, value)
    else:
        return None
    return (lambda row: not check(row)) if negated else check


def _repository_check(negated: bool, name: str, value: str) -> Check | None:  # noqa: FBT001
    check: Check
    if name == "language":

        def check(facts: Facts) -> bool:
            return facts.language.lower() == value.lower()
    elif name in {"stars", "created", "pushed"}:
        check = _within(name, value)
    elif name == "archived":
        check = _same("archived", value == "true")
    else:
        return None
    return (lambda row: not check(row)) if negated else check


def _same(name: str, wanted: object) -> Check:
    return lambda row: getattr(row, name) == wanted


def _within(name: str, text: str) -> Check:
    low, high = bounds(text)
    return lambda row: low <= getattr(row, name) <= high


def bounds(text: str) -> tuple[float, float]:
    """The smallest and the largest value of `5`, `>5`, `1..5`, `2020-01-01..2020-01-31`, `*..5`."""
    endless = float("inf")
    if ".." in text:
        first, last = text.split("..", 1)
        return (
            -endless if first == "*" else _edges(first)[0],
            endless if last == "*" else _edges(last)[1],
        )
    match = re.fullmatch(r"(>=|<=|>|<)?(.+)", text)
    sign, value = (match[1], match[2]) if match else (None, text)
    low, high = _edges(value)
    return {
        None: (low, high),
        ">": (high + 1, endless),
        ">=": (low, endless),
        "<": (-endless, low - 1),
        "<=": (-endless, high),
    }[sign]


def _edges(text: str) -> tuple[int, int]:
    """A number or the first and last second of a day or time."""
    if re.fullmatch(r"\d{1,9}", text):
        return int(text), int(text)
    start = instant(text)
    return start, start + (86_399 if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else 0)


def _says(tracker: Tracker, entry: Entry, words: Iterable[str]) -> bool:
    words = list(words)
    if not words:
        return True
    payload = tracker.payload(entry.number)
    said = f"{payload['title']} {payload['body'] or ''}".lower()
    return all(word in said for word in words)


def _issue(row: tuple[Tracker, Entry]) -> Any:
    tracker, entry = row
    payload = tracker.payload(entry.number)
    payload.pop("closed_by", None)
    if payload["body"] is None:  # GitHub's description knows no null here
        del payload["body"]
    return {**payload, "score": 1.0}


def _spaces(link: str) -> str:
    """GitHub writes the query of a search with %20 where a form would have a plus."""
    return link.replace("+", quote(" "))
