"""People in texts of issues, comments, posts and commits, as they are mined and as published."""

from __future__ import annotations

import csv
import html
import json
import re
import zipfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from golden.stage import Stage
from loopback import Tracker, World, payloads
from loopback.entries import START, Entry
from loopback.payloads import Payload, user, zulu
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated
from loopback.ways import PLENTY
from repositories_on_disk import Repository

LONGEST = 15_000
_LOGINS = (
    "Alice", "carol", "dave-d", "bob-b", "Erin", "ghost", "dependabot[bot]", "robot", "slow", None,
)  # fmt: skip
_AUTHORS = (
    "Jane Doe <jane@example.org>", "alice <1+alice@users.noreply.github.com>", "Bob B <bob-b@x.io>",
    "JANE DOE <Jane@Example.org>", "dependabot[bot] <49699333+dependabot[bot]@users.noreply.x.com>",
    "No Mail <>",
)  # fmt: skip


def run(stage: Stage) -> None:
    texts = json.loads((stage.inputs / "texts.json").read_text(encoding="utf-8"))
    hub = stage.serve(_tracker("example/tensors", texts, _LOGINS))
    gitee = stage.serve(_tracker("mindspore/mindspore", texts, [one for one in _LOGINS if one]))
    exchange = stage.serve(_posts(texts))
    repository = stage.folder / "repository"
    _commit(Repository(repository), texts)
    for label, *words in (
        ("github", "fetch", "example/tensors", "--max-wait", "0", "--api-url", hub.url),
        ("gitee", "fetch", "mindspore", "--max-wait", "0", "--api-url", gitee.gitee_url),
        ("posts", "posts", "--tag", "keras", "--max-wait", "0", "--api-url", f"{exchange.url}/2.3"),
        ("commits", "commits", repository, "--project", "example/tensors", "--all"),
    ):
        stage.run(label, "miner", *words)
    stage.views("mined", "artifacts", "comments", "issues", "commits", "posts")
    package = stage.folder / "package.zip"
    stage.run("package", "report", "package", package, "--with-texts")
    _observe(stage, package)


def _observe(stage: Stage, package: Path) -> None:
    """What a package says of people and their texts."""
    with zipfile.ZipFile(package) as archive:
        named = {Path(name).name: name for name in archive.namelist() if "/data/" in name}
        for view, key in (("artifacts", "artifact_id"), ("comments", "comment_id")):
            lines = archive.read(named[f"{view}.csv"]).decode().splitlines(keepends=True)
            rows = [
                {name: re.sub(r"^'(?=[-=+@])", "", cell) for name, cell in row.items()}
                for row in csv.DictReader(lines)
            ]
            for source in sorted({row[key].partition(":")[0] for row in rows}):
                stage.value(
                    f"{source} {view} of the package",
                    [
                        [row[key], row["author"], row["body"]]
                        for row in sorted(rows, key=lambda row: row[key])
                        if row[key].startswith(f"{source}:")
                    ],
                )


def _tracker(name: str, texts: list[str], logins: Sequence[str | None]) -> World:
    """An issue with each text as its body, and the same as a comment of somebody else."""
    people = [_user(login) for login in logins]
    authors, writers = cycle(people), cycle([*people[1:], people[0]])
    tracker = Tracker(name, 77, [])
    for number, text in enumerate(texts, 1):
        at = START + number * 3600
        entry = Entry(number, 5_000 + number, at, at, None, 1, (), is_pull=False)
        issue = payloads.issue(entry, "example/elsewhere")
        issue |= {"title": f"Text {number}", "body": text, "user": next(authors)}
        comment = {"created_at": zulu(at), "updated_at": zulu(at), "body": text}
        tracker.receive(issue, [{**comment, "user": next(writers)}], number, at + 60)
    world = World(tracker)
    for resource in ("core", "search"):
        world.quota(None, resource).remaining = PLENTY
    return world


def _user(login: str | None) -> Payload | None:
    """Somebody; of a deleted account there is none."""
    if login is None:
        return None
    return user(login, sum(map(ord, login)), "Bot" if login.endswith("[bot]") else "User")


def _posts(texts: list[str]) -> StackExchange:
    """Questions with each text in HTML, and the same as a comment."""
    made = list(generated(len(texts), tags=("keras",)))
    for question, text in zip(made, texts, strict=True):
        words = html.escape(text)
        question.changes |= {"body": f"<p>{words}</p>\n<pre><code>{words}</code></pre>\n"}
        comment = question.payload("")["comments"][0]
        question.changes |= {"comments": [{**comment, "body": words, "body_markdown": words}]}
    return StackExchange(made)


def _commit(repository: Repository, texts: list[str]) -> None:
    """A commit with each text as its message; whoever commits is not its author."""
    authors, committers = cycle(_AUTHORS), cycle([*_AUTHORS[2:], *_AUTHORS[:2]])
    stream = b""
    for number, text in enumerate(texts):
        message = f"Change {number}\n\n{text}".encode()
        stream += b"commit refs/heads/main\n"
        stream += f"author {next(authors)} {START + number} +0000\n".encode()
        stream += f"committer {next(committers)} {START + number} +0000\n".encode()
        stream += b"data %d\n%s\n" % (len(message), message)
    repository.git("fast-import", "--quiet", given=stream)
