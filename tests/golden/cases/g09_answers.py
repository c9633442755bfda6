"""First answers that go wrong: what is waited for, what ends the fetch, and where no token goes."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

import compare
from golden.stage import Stage
from loopback import Fault, Reply, Request, Running, World
from loopback.entries import generated
from loopback.ways import PLENTY
from loopback.world import TOKEN

_NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
_ROOT = "/api/v3"
_ISSUES = (
    "SELECT number, title, state, tracker_labels, comment_count, created_at, updated_at, closed_at,"
    " (SELECT count(*) FROM issue_events e WHERE e.artifact_id = i.artifact_id) AS events "
    "FROM issues i WHERE project = '{project}'"
)


def run(stage: Stage) -> None:
    text = (stage.inputs / "answers.json").read_text(encoding="utf-8")
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(text):
        rows.setdefault(row.get("together", row["name"]), []).append(row)
    hub, other = _hub([len(group) for group in rows.values()]), World.generated(1)
    running, elsewhere = stage.serve(hub), stage.serve(other)
    hub.base_url += _ROOT  # its links lead into the API
    _fetch(stage, running, "undisturbed", 0)
    _fetch(stage, running, "undisturbed with events", 1, "--timeline")
    whole = {}  # with the repository that has the same issues
    for number, (name, group) in enumerate(rows.items(), 2):
        about = [_About(row, hub.trackers[number], running, elsewhere) for row in group]
        if len(group) == 1:
            row = group[0]
            fault = Fault(about[0].act, row.get("times", 1), row.get("on", "/issues?"))
            events = ("--timeline",) if "on" in row else ()
        else:
            row, fault, events = {}, Fault(_InTurn(about).act, None, "/issues?"), ()
        hub.faults.add(fault)
        hub.page_limit = 100 if row else 2
        code = _fetch(stage, running, name, number, *row.get("options", ()), *events)
        hub.faults.clear()
        if row.get("again"):
            code = _fetch(stage, running, f"{name}, again", number, *events)
        if row and not code:
            whole[number] = int("on" in row)
    stage.value("tokens", sorted({str(request.token) for request in hub.requests}))
    stage.value("asked elsewhere", [request.target for request in other.requests])
    stage.nowhere("token", [TOKEN], stage.study())
    for number, quiet in whole.items():
        found, expected = (
            compare.query(stage.study(), _ISSUES.format(project=hub.trackers[place].name))
            for place in (number, quiet)
        )
        stage.value(f"{hub.trackers[number].name}: as undisturbed", found == expected)
    stage.views("all", "issues", "issue_events")


def _hub(counts: list[int]) -> World:
    """Two repositories that are left in peace, and one for each fetch: all begin with the same
    three issues. Where more answers go wrong than one, there is a page for each.
    """
    world = World(clock=_NOW.timestamp)
    for number, count in enumerate([1, 1, *counts]):
        world.add(f"example/r{number}", generated(count + 2, 0, 1, first_id=1_000 * (number + 1)))
    for resource in ("core", "search", "graphql"):
        world.quota(TOKEN, resource).remaining = PLENTY
    world.gzip = False  # bodies are sent as they are
    return world


def _fetch(stage: Stage, running: Running, label: str, number: int, *options: str) -> int:
    """One fetch, with what it asked and how long it waited; its exit code."""
    world = running.world
    before = len(world.requests)
    ended = stage.run(
        label, "miner", "fetch", world.trackers[number].name, "--no-comments", *options,
        "--api-url", running.url + _ROOT, environment={"GITHUB_TOKEN": TOKEN},
        clock=_NOW.replace(tzinfo=None).isoformat(), names="none",
    )  # fmt: skip
    stage.requests(label, world.requests[before:])
    stage.value(f"{label}: waits", [_plain(wait) for wait in ended.waits])
    return ended.code


def _plain(wait: float) -> float | str:
    """A wait without its jitter, which is up to half of it more."""
    return wait if wait == int(wait) else f"about {2 ** int(math.log2(wait))}"


@dataclass
class _InTurn:
    """The first answer for each page goes wrong in another way."""

    about: list[_About]
    seen: set[str] = field(default_factory=set)

    def act(self, request: Request, world: World, go: Callable[[], Reply]) -> Reply:
        if request.target in self.seen or not self.about:
            return go()
        self.seen.add(request.target)
        return self.about.pop(0).act(request, world, go)


@dataclass
class _About:
    """How a first answer is made of a row."""

    row: dict[str, Any]
    tracker: Any
    running: Running
    elsewhere: Running

    def act(self, request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
        row = self.row
        if "status" in row:
            body = "[" * row.get("nested", 0) + row.get("body", "{}")
            return Reply(row["status"], body.encode(), self._headers(row, "headers", request))
        reply = go()
        reply.headers |= self._headers(row, "change", request)
        reply.cut, reply.reset = row.get("cut"), row.get("reset", False)
        reply.chunked = row.get("chunked", False)
        if row.get("half"):
            reply.body = reply.body[: len(reply.body) // 2]
        if row.get("chunks"):
            reply.chunked = True
            parts = (reply.body[:1000], reply.body[1000:], b"")
            reply.body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        if "spaces" in row:
            reply.body = gzip.compress(b" " * row["spaces"], 1)
            reply.headers["content-encoding"] = "gzip"
        return reply

    def _headers(self, row: dict[str, Any], name: str, request: Request) -> dict[str, str]:
        return {key: self._filled(value, request) for key, value in row.get(name, {}).items()}

    def _filled(self, text: str, request: Request) -> str:
        """A header with the names and times of this run."""
        other = urlsplit(self.elsewhere.url)
        named = {
            "id": self.tracker.id, "path": request.path.removeprefix(_ROOT),
            "target": request.target, "server": self.running.url, "other": self.elsewhere.url,
            "serverhost": urlsplit(self.running.url).netloc, "otherhost": other.netloc,
            "otherport": other.port, "secure": self.running.url.replace("http:", "https:"),
        }  # fmt: skip

        def fill(found: re.Match[str]) -> str:
            word, seconds = found[1], timedelta(seconds=int(found[2] or 0))
            match word:
                case "now":
                    return str(int((_NOW + seconds).timestamp()))
                case "http":
                    return format_datetime(_NOW + seconds, usegmt=True)
                case "zone":
                    return f"{_NOW + seconds + timedelta(hours=1):%a, %d %b %Y %H:%M:%S} +0100"
            return str(named[word])

        return re.sub(r"\{(\w+)([+-]\d+)?\}", fill, text)
