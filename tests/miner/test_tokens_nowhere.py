"""A token is in no table, log, error message, run record or archive, whatever a server does."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fake_time import FakeTime
from loopback import Fault, Reply, Request, World
from mining import Mining

from faultatlas.data.study import Study
from faultatlas.miner.archive import replay

Start = Callable[..., Mining]

GITHUB = "ghp_" + "Zebra7Quagga9Okapi3" * 2
GITEE = "f00dcafe" * 4
ODD = "s3cret+tok/en=="  # short, and written otherwise in an address
TOKENS = (GITHUB, GITEE, ODD)


@pytest.fixture(autouse=True)
def talkative(caplog: pytest.LogCaptureFixture, fake_time: FakeTime) -> None:  # noqa: ARG001
    caplog.set_level(logging.DEBUG)


def spellings(token: str) -> list[bytes]:
    forms = {token, quote(token, safe=""), json.dumps(token)[1:-1]}
    return [form.encode() for form in forms]


def found_in(at: Mining, said: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Wherever a token is: files byte by byte, tables, archived bodies, output, log."""
    places: dict[str, bytes] = {"output": said.encode()}
    records = [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    places["log"] = "\n".join(records).encode()
    for path in at.study.rglob("*"):
        if path.is_file():
            places[path.name] = path.read_bytes()
    if at.study.exists():
        places |= _tables(at)
    return [
        f"{name}: {form!r}"
        for name, content in places.items()
        for token in TOKENS
        for form in spellings(token)
        if form in content
    ]


def _tables(at: Mining) -> dict[str, bytes]:
    places: dict[str, bytes] = {}
    with Study(at.study).reading() as reader:
        tables = reader.rows("SELECT schema_name, table_name FROM duckdb_tables()")
        for table in tables:
            name = f"{table['schema_name']}.{table['table_name']}"
            places[name] = str(reader.rows(f"FROM {name}")).encode()
        for number, exchange in replay(reader):
            places[f"response {number}"] = exchange.body + str(exchange).encode()
    assert "store.run" in places
    return places


def echo(reply: Reply, request: Request) -> None:
    """Say back all that a careless server could."""
    sent = [request.headers.get("authorization", ""), request.target]
    sent.append(request.query.get("access_token", ""))
    sent.append((request.token or "") + " was seen")
    with suppress(ValueError):
        body: Any = json.loads(reply.body)
        for item in body if isinstance(body, list) else [body]:
            item["debug"] = sent
            for key in ("title", "body", "message"):
                if key in item:
                    item[key] = f"{item[key]} {' '.join(sent)}"
        reply.body = json.dumps(body).encode()
    token = request.token or request.query.get("access_token", "")
    reply.headers |= {
        "x-debug": " ".join(sent),
        "etag": f'W/"{token}"',
        "x-github-request-id": token,
        "x-ratelimit-resource": f"core {token}",
    }
    if "link" in reply.headers:
        reply.headers["link"] = reply.headers["link"].replace("?", f"?seen={quote(token)}&")


def echoing(times: int | None = None) -> Fault:
    def act(request: Request, _world: World, go: Callable[[], Reply]) -> Reply:
        reply = go()
        echo(reply, request)
        return reply

    return Fault(act, times)


def two_pages() -> World:
    world = World.generated(15, comments_each=1, name="mindspore/mindspore")
    world.page_limit = 10
    for token in TOKENS:
        world.tokens[token] = 5000
    return world


def redirecting(request: Request, _world: World, _go: Callable[[], Reply]) -> Reply:
    token = request.token or request.query.get("access_token", "")
    return Reply(302, b"{}", {"location": f"https://{token}@example.org/?access_token={token}"})


FAULTS: dict[str, Callable[[], list[Fault]]] = {
    "nothing": list,
    "an echo": lambda: [echoing()],
    "a refusal that quotes": lambda: [Fault(_quoting(422), None, 2)],
    "trouble that quotes": lambda: [Fault(_quoting(503), None, 2)],
    "forbidden with a quote": lambda: [Fault(_quoting(403), None, 2)],
    "not allowed with a quote": lambda: [Fault(_quoting(401), None)],
    "a redirect away": lambda: [Fault(redirecting, None, 2)],
    "a body that is cut": lambda: [Fault.cut_body(times=None, on=2)],
    "a reset": lambda: [Fault.reset(times=None, on=2)],
    "no JSON": lambda: [Fault.bad_json(times=None, on=2)],
}


def _quoting(status: int) -> Callable[..., Reply]:
    def act(request: Request, _world: World, _go: Callable[[], Reply]) -> Reply:
        reply = Reply(status, json.dumps({"message": "no"}).encode())
        echo(reply, request)
        return reply

    return act


CASES = [
    *((GITHUB, False, fault) for fault in FAULTS),
    *((GITEE, True, fault) for fault in FAULTS),
    (ODD, False, "an echo"),
    (ODD, True, "an echo"),
]


@pytest.mark.parametrize(("token", "is_gitee", "fault"), CASES)
def test_a_token_of_the_environment_is_nowhere(
    mining: Start, caplog: pytest.LogCaptureFixture, fault: str, token: str, *, is_gitee: bool
) -> None:
    at = mining(two_pages())
    at.world.faults.add(*FAULTS[fault]())
    ended = at.run("mindspore/mindspore", "--json", "-v", token=token, gitee=is_gitee)
    sent = [r.token or r.query.get("access_token") for r in at.asked]
    assert set(sent) == {token}  # it was used
    assert found_in(at, ended.stdout + ended.stderr, caplog) == []


def test_a_token_of_a_file_is_nowhere(
    mining: Start, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    at = mining(two_pages())
    file = tmp_path / "token"
    file.write_text(f"{GITHUB}\n", encoding="ascii")
    at.world.faults.add(echoing())
    ended = at.run("mindspore/mindspore", "--timeline", "--verify", "--token-file", file)
    assert {request.token for request in at.asked} == {GITHUB}
    assert found_in(at, ended.stdout + ended.stderr, caplog) == []
    (arguments,) = at.column("SELECT arguments FROM runs")
    assert "token_file" not in json.loads(arguments)  # it means something on this machine only


def test_a_token_in_the_wrong_place_is_not_repeated(
    mining: Start, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    at = mining(two_pages())
    sheet = tmp_path / "urls.csv"
    sheet.write_text(f"https://{GITHUB}@github.com/o/r/issues/1\n{GITHUB}\n", encoding="ascii")
    typed = (
        [f"https://{GITHUB}@github.com/o/r"],
        ["o/r", "--label", f"{GITHUB},"],
        ["o/r", "--since", GITHUB],
        ["o/r", "--max-wait", GITHUB],
        ["--from", sheet],
    )
    for words in typed:
        ended = at.run(*words, token=GITHUB)
        assert found_in(at, ended.stdout + ended.stderr, caplog) == []


def test_this_test_would_find_a_token(mining: Start, caplog: pytest.LogCaptureFixture) -> None:
    at = mining(two_pages())
    at.fetch("mindspore/mindspore", token=GITHUB)
    with Study(at.study).writing() as writer:
        writer.execute("UPDATE store.run SET version = ?", [GITHUB])
    logging.getLogger("any").debug("sent %s", GITEE)
    places = " ".join(found_in(at, quote(ODD, safe=""), caplog))
    assert all(place in places for place in ("store.run", "study.duckdb", "log", "output"))
