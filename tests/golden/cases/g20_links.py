"""What texts, timelines and copies link, at first, after edits, and when all is read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import compare
from golden.stage import Stage
from loopback import TOKEN, Tracker, World, payloads
from loopback.entries import START, Entry, generated
from loopback.payloads import USERS
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated as questions
from loopback.timelines import happening
from loopback.ways import PLENTY
from repositories_on_disk import Repository

LONGEST = 45_000
_LIB, _GITEE = "example/lib", "gitee.com/m/m"
_TIMELINES = ("example/rest", "example/graphql")
_DAY = 86_400
_SECONDS = 1_500_000_000


def run(stage: Stage) -> None:
    texts = json.loads((stage.inputs / "texts.json").read_text(encoding="utf-8"))
    hub, posts = _hub(texts), _posts(texts["post"])
    api, site = stage.serve(hub).url, stage.serve(posts).url
    git = {name: Repository(stage.folder / name) for name in ("lib", "gitee")}
    _commit(git["lib"], texts["commit"])
    _commit(git["gitee"], texts["gitee"])

    def fetch(label: str, project: str, *options: str, token: str = "") -> None:
        words = (project, *options, "--max-wait", "0", "--api-url", api)
        environment = {"GITHUB_TOKEN": token} if token else {}
        stage.run(label, "miner", "fetch", *words, environment=environment)

    def read_others(when: str) -> None:
        words = ("--tag", "keras", "--max-wait", "0", "--api-url", f"{site}/2.3")
        stage.run(f"posts {when}", "miner", "posts", *words)
        for name, project in (("lib", _LIB), ("gitee", _GITEE)):
            folder = stage.folder / name
            stage.run(f"{name} {when}", "miner", "commits", folder, "--project", project, "--all")

    fetch("texts", _LIB)
    fetch("copies", "example/copies", "--no-comments")
    fetch("timelines", _TIMELINES[0], "--no-comments", "--timeline")
    fetch("timelines by GraphQL", _TIMELINES[1], "--no-comments", "--timeline", token=TOKEN)
    read_others("first")
    stage.run("link", "miner", "link")
    stage.views("first", "links")
    _again(stage, "again")
    _again(stage, "all again", "--again")
    _edit(hub, posts, git)
    fetch("texts edited", _LIB, "--verify", token=TOKEN)
    fetch("copies edited", "example/copies", "--no-comments")
    read_others("edited")
    stage.run("link edited", "miner", "link")
    stage.views("edited", "links")
    _again(stage, "edited, all again", "--again")
    stage.run("link alike", "miner", "link", "--threshold", "0.4")
    stage.query("alike", "SELECT * EXCLUDE run_id FROM links WHERE score IS NOT NULL")
    stage.run("link without copies", "miner", "link", "--no-duplicates")
    stage.query("without", "SELECT * EXCLUDE run_id FROM links WHERE score IS NOT NULL")


def _again(stage: Stage, label: str, *options: str) -> None:
    """Another run finds the same."""
    before = compare.views(stage.study(), ["links"])
    stage.run(f"link {label}", "miner", "link", *options)
    stage.value(f"{label}: the same", compare.views(stage.study(), ["links"]) == before)


def _hub(texts: dict[str, list[str]]) -> World:
    """Issues and pull requests with the texts, nearly equal ones, and two with timelines."""
    world = World(Tracker(_LIB, 77, []))
    written = zip(_kinds(len(texts["issue"]), len(texts["pull"])), _in_turn(texts), strict=True)
    for number, (is_pull, text) in enumerate(written, 1):
        _put(world.tracker, number, f"Row {number}", text, is_pull=is_pull)
    world.now = START + 3_000 * _DAY
    for number, text in enumerate(texts["comment"], 20):
        world.touch(number, comment=text)
    copies = world.add("example/copies")
    for number, text in enumerate(texts["copies"], 1):
        _put(copies, number, "Copies", text, is_pull=False)
    for name in _TIMELINES:
        tracker = world.add(name, generated(12, 0, seed=4, first_id=len(name) * 10_000))
        for number in tracker.entries:
            tracker.events[number] = list(_happened(world, tracker, number))
    for token in (None, TOKEN):
        for resource in ("core", "search", "graphql"):
            world.quota(token, resource).remaining = PLENTY
    return world


def _kinds(issues: int, pulls: int) -> Iterator[bool]:
    """Whether it is a pull request: two of them for each issue, as long as there are both."""
    while issues or pulls:
        is_pull = pulls > 0 and (issues == 0 or (issues + pulls) % 3 > 0)
        issues, pulls = issues - (not is_pull), pulls - is_pull
        yield is_pull


def _in_turn(texts: dict[str, list[str]]) -> Iterator[str]:
    issues, pulls = iter(texts["issue"]), iter(texts["pull"])
    for is_pull in _kinds(len(texts["issue"]), len(texts["pull"])):
        yield next(pulls if is_pull else issues)


def _put(tracker: Tracker, number: int, title: str, text: str, *, is_pull: bool) -> None:
    at = START + number * _DAY
    identity = tracker.id * 1_000 + number
    entry = Entry(number, identity, at, at, None, 0, (), is_pull=is_pull)
    tracker.store({**payloads.issue(entry, tracker.name), "title": title, "body": text})


def _happened(world: World, tracker: Tracker, number: int) -> Iterator[dict[str, Any]]:
    """Three or four events of an issue, of all kinds that say what belongs together."""
    at = START + number * _DAY
    sha = hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()
    commit = {
        "commit_id": sha, "commit_url": f"{payloads.API}/repos/{tracker.name}/commits/{sha}",
    }  # fmt: skip
    issue = world.tracker.payload(number * 5)
    named = (
        ("referenced", commit),
        ("closed", {**commit, "state_reason": "completed"} if number % 3 else {}),
        ("cross-referenced", {"source": {"type": "issue", "issue": issue}}),
        ("reopened", {}),
    )
    for place in range(3 + (number % 3 == 0)):
        kind, more = named[(number + place) % len(named)]
        yield happening(tracker.name, number, kind, at + place, USERS[number % 4], **more)


def _posts(texts: list[str]) -> StackExchange:
    made = list(questions(len(texts), tags=("keras",)))
    for question, text in zip(made, texts, strict=True):
        question.changes["body"] = text
    return StackExchange(made)


def _commit(repository: Repository, messages: list[str]) -> None:
    """Commits without files, one after the other, behind those that there are."""
    stream = b""
    start = len(repository.git("rev-list", "--all").split())
    for place, message in enumerate(messages):
        text = message.encode()
        stream += b"commit refs/heads/main\n"
        for role in (b"author", b"committer"):
            stream += b"%s Ada <ada@example.org> %d +0000\n" % (role, _SECONDS + start + place)
        stream += b"data %d\n%s\n" % (len(text), text)
        if start and not place:
            stream += b"from refs/heads/main^0\n"
    repository.git("fast-import", "--quiet", given=stream)


def _edit(hub: World, posts: StackExchange, git: dict[str, Repository]) -> None:
    """Ten edits of texts, and issues that are new, deleted or transferred."""
    pulls = [number for number, entry in hub.tracker.entries.items() if entry.is_pull]
    issues = [number for number, entry in hub.tracker.entries.items() if not entry.is_pull]
    hub.touch(pulls[0], body="Fixes #6, see #9")
    hub.touch(pulls[1], body="nothing more")
    hub.touch(issues[-1], title="Same as #3", body="Duplicate of #9")
    hub.edit_comment(20, body="Not a duplicate of #12 but of #15")
    hub.touch(hub.create(), title="New", body=f"see #{pulls[0]} and #{issues[0]}")
    hub.delete(issues[1])
    hub.transfer(12, "example/other")
    posts.edit(20, body="<p>https://github.com/example/lib/pull/11</p>")
    _commit(git["lib"], ["Repair it (#11)", "This reverts commit 0123456. Closes #6"])
    copies = hub.trackers[1]
    copies.touch(1, hub.tick(), body="something else that nobody else says, in a few words")
