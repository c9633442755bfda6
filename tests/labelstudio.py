"""A real Label Studio for tests, raters who label through its API, and a wire that can be cut."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread
from typing import Any, Literal

import requests
from labelling import Labelled
from population import Population

from faultatlas.annotation.bridge import serving
from faultatlas.annotation.bridge.accounts import sign_up
from faultatlas.annotation.bridge.installation import Installation
from faultatlas.annotation.bridge.own_server import OwnServer
from faultatlas.annotation.bridge.page.answers import result_of
from faultatlas.annotation.bridge.remote import Remote
from faultatlas.annotation.rounds import (
    Assignment,
    Item,
    Round,
    put_assignments,
    put_items,
    put_round,
)
from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

Command = Callable[..., CompletedProcess[str]]
PASSWORD = "correct-horse-battery"  # noqa: S105  (of raters who exist for a minute)


_ports = itertools.count(20_000 + os.getpid() % 1000 * 10, 10)


def free_port() -> int:
    """A port that is free, like the one behind it; below those that connections go out by."""
    for port in _ports:
        try:
            for each in (port, port + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port
    raise AssertionError


@dataclass
class LabelStudio:
    """A server that can be killed and started again, with its data."""

    server: OwnServer
    installation: Installation
    port: int = field(default_factory=free_port)
    _started: serving.Started | None = None

    @classmethod
    def at(cls, folder: Path, installation: Installation) -> LabelStudio:
        return cls(OwnServer(folder), installation)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        """Of whoever leads the study."""
        return self.server.access().token

    def start(self) -> None:
        self._started = serving.start(
            self.server,
            self.installation,
            lambda _message: None,
            port=self.port,
            first_port=self.port,
        )

    def ensure(self) -> None:
        """It runs, whatever a test before did to it."""
        if self._started is None or self._started.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        """As a power cut does it."""
        assert self._started is not None
        self._started.process.kill()
        self._started.process.wait()

    def end(self) -> None:
        if self._started is not None:
            self._started.end()

    def remote(self, token: str | None = None) -> Remote:
        return Remote(self.url, self.url, token or self.token)

    def rater(self, email: str) -> LabellingRater:
        """A new account, and its token."""
        remote = self.remote()
        user = sign_up(remote, email, PASSWORD)
        remote.close()
        return self.known_rater(user.email, PASSWORD)

    def known_rater(self, email: str, password: str) -> LabellingRater:
        """Somebody who logs in as a person does, and asks for her token."""
        with requests.Session() as session:
            page = f"{self.url}/user/login/"
            session.get(page, timeout=60)
            form = {"email": email, "password": password}
            form["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
            session.post(page, data=form, headers={"Referer": page}, timeout=60)
            found = session.get(f"{self.url}/api/current-user/token", timeout=60)
            found.raise_for_status()
            who = session.get(f"{self.url}/api/current-user/whoami", timeout=60).json()
        return LabellingRater(self.url, who["id"], email, found.json()["token"])


@dataclass
class LabellingRater:
    """Somebody who labels, with a token of her own."""

    url: str
    user_id: int
    email: str
    token: str

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        answer = requests.request(
            method,
            f"{self.url}/api/{path}",
            json=content,
            headers={"Authorization": f"Token {self.token}"},
            timeout=60,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def tasks(self, project_id: int) -> dict[str, int]:
        """The task of each item, in the order that she gets them."""
        found = self.ask("GET", f"tasks?project={project_id}&page_size=1000&include=id,meta")
        return {task["meta"]["item_id"]: task["id"] for task in found["tasks"]}

    def label(
        self, task_id: int, result: Sequence[dict[str, Any]], *, seconds: float = 4.5
    ) -> dict[str, Any]:
        content = {"result": result, "lead_time": seconds, "was_cancelled": False}
        made: dict[str, Any] = self.ask("POST", f"tasks/{task_id}/annotations/", content)
        return made

    def skip(self, task_id: int) -> None:
        content = {"result": [], "was_cancelled": True}
        self.ask("POST", f"tasks/{task_id}/annotations/", content)


Cut = Literal["before", "during", "after"]


@dataclass
class Wire:
    """A way to the server that can be cut, and the server killed with it, at one request."""

    target_port: int
    on_cut: Callable[[], None]
    port: int = 0
    asked: list[str] = field(default_factory=list)  # method and path of every request
    _cut: tuple[Cut, re.Pattern[str], int] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self, when: Cut, request: str, number: int = 1) -> None:
        """Cut at the nth request that looks so: before it arrives, while it is worked on, or
        when it is done and its answer is on the way.
        """
        self._cut = (when, re.compile(request), number)

    def due(self, line: str) -> Cut | None:
        self.asked.append(line)
        if self._cut is None or not self._cut[1].search(line):
            return None
        when, pattern, number = self._cut
        self._cut = (when, pattern, number - 1) if number > 1 else None
        return when if number == 1 else None


@contextmanager
def wire_to(target: LabelStudio) -> Iterator[Wire]:
    """A wire to a server; where it is cut, the server is killed."""
    wire = Wire(target.port, target.kill)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            when = wire.due(f"{self.command} {self.path}")
            if when == "before":
                wire.on_cut()
                self.close_connection = True
                return
            connection = HTTPConnection("127.0.0.1", wire.target_port, timeout=60)
            try:
                sent = {name: text for name, text in self.headers.items() if name != "Connection"}
                connection.request(self.command, self.path, body, sent | {"Connection": "close"})
                if when == "during":
                    wire.on_cut()
                answer = connection.getresponse()
                content = answer.read()
            except OSError:
                self.close_connection = True
                return
            finally:
                connection.close()
            if when == "after":
                wire.on_cut()
            if when:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, text in answer.getheaders():
                if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                    self.send_header(name, text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = pass_on  # noqa: N815  (http.server's names)

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        wire.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield wire
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Bench:
    """A study with a round that raters label on a server."""

    study: Study
    server: LabelStudio
    raters: dict[str, LabellingRater] = field(default_factory=dict)

    @classmethod
    def at(
        cls, folder: Path, server: LabelStudio, *, artifacts: int, raters: Sequence[str]
    ) -> Bench:
        """A round `pilot` of so many issues, all for all raters, each in an own order."""
        bench = cls(Study(folder), server)
        ids = Population.at(folder).issues(*(f"It fails *{n}* times." for n in range(artifacts)))
        Labelled(bench.study).taxonomy()
        taxonomy = TaxonomyLibrary(folder).taxonomy("tree")
        run = provenance.begin("by hand", {})
        of = Round("pilot", "designed", "tree", taxonomy.version, taxonomy.choice, tuple(raters))
        assignments = [
            Assignment(item, rater, place)
            for rater in raters
            for place, item in enumerate(
                sorted(ids, key=lambda name: sha256(f"{rater}{name}".encode()).digest()), 1
            )
        ]
        with bench.study.writing() as writer:
            provenance.record(writer, run, "ok")
            put_round(writer, of, taxonomy, run)
            put_items(writer, "pilot", [Item(name, name) for name in ids], run)
            put_assignments(writer, "pilot", assignments, run)
        return bench

    def add_account(self, command: Command, url: str, name: str, email: str) -> LabellingRater:
        """An account as `annotation rater add` makes it."""
        ended = command(
            "annotation", "rater", "add", name, "--email", email, "--url", url, "--json",
            "--study", self.study.directory,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        login = json.loads(ended.stdout)
        self.raters[name] = self.server.known_rater(login["username"], login["password"])
        return self.raters[name]

    def take_accounts(self, url: str, people: Mapping[str, LabellingRater]) -> None:
        """The accounts that people have on the server become those of raters."""
        with self.study.writing() as writer:
            for name, rater in people.items():
                row = [url, name, rater.user_id, rater.email]
                writer.execute("INSERT INTO store.account VALUES (?, ?, ?, ?, 'by hand')", row)
        self.raters.update(people)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with self.study.reading() as reader:
            return reader.rows(sql)

    def projects(self) -> dict[str, int]:
        """The project of each rater."""
        found = self.rows("SELECT rater, project_id FROM store.project ORDER BY rater")
        return {row["rater"]: row["project_id"] for row in found}

    def result(self, *codes: str) -> list[dict[str, Any]]:
        """What the page sends for these codes."""
        return result_of(codes, TaxonomyLibrary(self.study.directory).taxonomy("tree"))

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """All rows that push and pull write, runs included."""
        tables = ("run", "account", "project", "task", "answer")
        with self.study.reading() as reader:
            return {
                name: reader.rows(f"SELECT * FROM store.{name} ORDER BY ALL") for name in tables
            }
