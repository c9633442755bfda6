"""What goes wrong: one clear message with a next step, and nothing that was fetched is lost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

import pytest
from fake_time import FakeTime
from loopback import TOKEN, Fault, World
from mining import Mining

from faultatlas.miner.issues.scope import Scope

Start = Callable[..., Mining]
Command = Callable[..., CompletedProcess[str]]
BAD = "ghp_0123456789abcdef0123456789abcdef0123"


def complaint(ended: CompletedProcess[str]) -> tuple[str, str]:
    """The one message of a command that failed, and its next step."""
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    causes = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    assert len(causes) == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    step = " ".join(lines[causes[0] + 1 :])
    assert step.endswith(".")
    return lines[causes[0]].removeprefix("error: "), step


def outcomes(at: Mining) -> list[str]:
    return at.column("SELECT outcome FROM runs ORDER BY run_id")


def test_a_wrong_project_name(mining: Start) -> None:
    at = mining(World.small())
    cause, step = complaint(at.run("example/tensor"))
    assert "example/tensor" in cause
    assert "?" not in cause  # an address with all of its parameters helps nobody
    assert "spelling" in step
    assert "GITHUB_TOKEN" in step
    assert not at.study.exists()


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_plan_for_a_wrong_project_name(mining: Start, token: str | None) -> None:
    at = mining(World.small())
    cause, _step = complaint(at.run("example/tensor", "--dry-run", token=token))
    assert "example/tensor" in cause


@pytest.mark.parametrize("token", [None, "another-token"])
def test_a_private_repository(mining: Start, token: str | None) -> None:
    at = mining(World.small())
    at.world.tokens["another-token"] = 5000
    at.world.make_private(TOKEN)
    cause, step = complaint(at.run("example/tensors", token=token))
    assert "private" in cause
    assert "GITHUB_TOKEN" in step
    assert at.fetch("example/tensors", token=TOKEN)["rows"]["issues_new"] == 26


def test_a_bad_token(mining: Start, tmp_path: Path) -> None:
    at = mining(World.small())
    cause, step = complaint(at.run("example/tensors", token=BAD))
    assert "the token in GITHUB_TOKEN was refused" in cause
    assert "unset it" in step
    file = tmp_path / "token"
    file.write_text(BAD, encoding="ascii")
    file.chmod(0o600)
    cause, step = complaint(at.run("example/tensors", "--token-file", file))
    assert "--token-file" in cause
    assert BAD not in cause + step


def test_no_network(command: Command, alone: None, fake_time: FakeTime) -> None:  # noqa: ARG001
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    cause, step = complaint(command("miner", "fetch", "example/tensors", "--api-url", url))
    assert "no network, or the server is down" in cause
    assert "Check the network" in step
    assert 10 < sum(fake_time.slept) < 120  # a router that restarts is waited for, not a night


@pytest.mark.parametrize("token", [None, TOKEN])
def test_a_used_up_quota_keeps_what_was_fetched(
    mining: Start, fake_time: FakeTime, token: str | None
) -> None:
    at = mining(World.generated(250, comments_each=1))
    at.world.quota(token).remaining = 2

    ended = at.run("example/large", "--max-wait", "0", token=token)

    assert fake_time.slept == []
    cause, step = complaint(ended)
    assert "quota is used up until" in cause
    assert "2 requests made so far" in cause
    assert "--max-wait" in step
    assert "199 issues" in step  # a page begins with the last row of the one before
    assert "same command goes on" in step
    kept = at.numbers()
    assert len(kept) == 199
    assert outcomes(at) == ["partial"]

    at.world.quota(token).remaining = 60
    found = at.fetch("example/large", token=token)
    assert found["rows"]["issues_new"] == 250 - len(kept)
    assert found["complete"]
    assert outcomes(at) == ["partial", "ok"]


def test_a_fetch_that_ends_incomplete_is_recorded_as_such(
    mining: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = mining(World.small())
    gap = {"artifact_id": "github:example/tensors#1", "is_confirmed": False}
    monkeypatch.setattr(Scope, "gaps", lambda *_: [gap])
    assert at.run("example/tensors", token=TOKEN).returncode == 1
    assert outcomes(at) == ["partial"]


def test_a_wait_within_the_limit_is_waited_for(mining: Start, fake_time: FakeTime) -> None:
    at = mining(World.generated(250, comments_each=0))
    at.world.clock = lambda: fake_time.now.replace(tzinfo=UTC).timestamp()
    at.world.quota(TOKEN).remaining = 1
    ended = at.run("example/large", "--max-wait", "65m", token=TOKEN)
    assert ended.returncode == 0
    assert "the quota is used up; waiting 60 min, until" in ended.stderr
    assert 3500 < sum(fake_time.slept) < 3700


def test_a_server_in_trouble(mining: Start, fake_time: FakeTime) -> None:
    at = mining(World.generated(250, comments_each=1))
    at.world.faults.add(Fault.status(503, times=None, on=3))
    cause, step = complaint(at.run("example/large", token=TOKEN))
    assert "status 503" in cause
    assert "again later" in step
    assert len(at.numbers()) == 199
    assert fake_time.slept

    at.world.faults.clear()
    assert at.fetch("example/large", token=TOKEN)["rows"]["issues_new"] == 51


def test_issues_that_are_switched_off(mining: Start) -> None:
    at = mining(World.small())
    at.world.tracker.has_issues = False
    cause, step = complaint(at.run("example/tensors"))
    assert "Issues are disabled" in cause
    assert "switched off" in step


def test_a_file_that_names_a_project_that_is_not_there(mining: Start, tmp_path: Path) -> None:
    at = mining(World.small())
    sheet = tmp_path / "urls.csv"
    urls = [f"https://github.com/example/tensor/issues/{number}" for number in range(1, 300)]
    sheet.write_text("\n".join(["url", *urls]), encoding="utf-8")
    for token in (None, TOKEN):
        cause, _step = complaint(at.run("--from", sheet, token=token))
        assert "example/tensor" in cause
        assert len(at.asked) <= 2


def test_control_c(mining: Start) -> None:
    at = mining(World.generated(250, comments_each=1))
    words = ["fetch", "example/large", "--api-url", at.running.url, "--study", str(at.study)]
    code = "from faultatlas.report.start import miner as main; main()"
    environment = {**os.environ, "GITHUB_TOKEN": TOKEN}
    process = Popen([sys.executable, "-c", code, *words], stderr=PIPE, text=True, env=environment)
    at.world.before_response = lambda number, _request: (
        os.kill(process.pid, signal.SIGINT) if number == 3 else None
    )
    _nothing, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "has stored 199 issues and 0 comments; the same command goes on from there" in said
    assert "Traceback" not in said
    assert outcomes(at) == ["interrupted"]
    stored = len(at.numbers())
    assert stored == 199

    at.world.before_response = None
    found = at.fetch("example/large", token=TOKEN)
    assert found["rows"]["issues_new"] == 250 - stored
    assert found["complete"]


@pytest.mark.parametrize(
    ("words", "cause", "step"),
    [
        (["pytroch"], "no project 'pytroch'", "Did you mean pytorch?"),
        (["xyzzy"], "no project 'xyzzy'", "owner/name or a URL"),
        ([], "no project is named", "--from"),
        (["a/b", "--label", "bug,help"], "a comma separates labels", "tracker_labels"),
        (["a/b", "--label", " "], "' '", "tracker_labels"),
        (["a/b", "--since", "last week"], "'last week' is not a time", "2023-01-31"),
        (["a/b", "--since", "2023-02-30"], "2023-02-30", "2023-01-31"),
        (["a/b", "--max-wait", "soon"], "'soon' is not a duration", "15m"),
        (["a/b", "--state", "merged"], "--state merged", "open, closed"),
        (["a/b", "--high-priority"], "a/b", "--label"),
        (["a/b", "--any-label"], "--any-label needs --label", "omit --any-label"),
        (
            ["a/b", "--dry-run", "--verify"],
            "--dry-run cannot be combined",
            "Omit one",
        ),
        (["--from", "missing.csv"], "missing.csv", "Check the path"),
        (["a/b", "--token-file", "missing"], "missing cannot be read", "--token-file"),
        (["a/b", "--api-url", "nonsense"], "nonsense", "https://git.example.org/api/v3"),
        (["a/b", "--api-url", "http://git.example.org/api/v3"], "plain http", "https://"),
    ],
)
def test_what_was_typed_is_checked_before_anything_is_asked(
    command: Command,
    alone: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    cause: str,
    step: str,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setattr(
        "faultatlas.miner.http.Transport.send", lambda *_: pytest.fail("something was asked for")
    )
    said = complaint(command("miner", "fetch", *words))
    assert cause in said[0]
    assert step in said[1]
    assert not Path("study.duckdb").exists()


def test_a_study_where_nothing_can_be_written(mining: Start) -> None:
    at = mining(World.small())
    at.study.write_text("a file", encoding="utf-8")
    cause, step = complaint(at.run("example/tensors"))
    assert "is a file, not a directory" in cause
    assert "--study" in step


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions do not count for root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_a_study_directory_that_is_read_only(mining: Start) -> None:
    at = mining(World.small())
    at.fetch("example/tensors", "--no-comments")  # now everything is imported
    at.study = Path(tempfile.mkdtemp())  # pytest's own are closed to others
    at.study.chmod(0o555)
    try:
        with ordinary_user():
            cause, step = complaint(at.run("example/tensors"))
        assert f"{at.study}" in cause
        assert "no permission" in cause
        assert "--study" in step
        assert list(at.study.iterdir()) == []
    finally:
        shutil.rmtree(at.study)


def test_a_damaged_key_is_named(mining: Start) -> None:
    at = mining(World.small())
    at.fetch("example/tensors")
    (at.study / "study.key").write_text("no key", encoding="ascii")
    at.world.touch(3, comment="one more")
    cause, step = complaint(at.run("example/tensors"))
    assert "study.key" in cause
    assert "copy" in step
