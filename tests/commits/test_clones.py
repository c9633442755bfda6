"""Repositories by name or URL: a clone in the cache, made whole or not at all, later fetched."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

from miner.commits import clones


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository that git takes for github.com/Own/Layers: no test asks the real one."""
    served = linear(tmp_path / "served" / "own" / "layers.git", 3)
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[url "file://{tmp_path}/served/"]\n\tinsteadOf = https://github.com/\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    return served


def cached(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "faultatlas" / "clones" / "github.com" / "own" / "layers.git"


def tip(made: Repository) -> str:
    return made.git("rev-parse", "main").decode()


def test_a_clone_is_made_once_and_fetched_later(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    found = reading.read("Own/Layers")
    assert (found["project"], found["stored"]["commits"]) == ("git:own/layers", 3)
    assert found["place"] == "https://github.com/own/layers.git"
    assert [path.name for path in cached(tmp_path).parent.iterdir() if path.is_dir()] == [
        "layers.git"
    ]
    made.commit({"a": b"1\n"}, b"fix", [tip(made)])
    made.commit({"b": b"1\n"}, b"fix", [tip(made)], branch="side")
    (cached(tmp_path) / "packed-refs.lock").touch()  # of a fetch that was killed
    found = reading.read("https://github.com/Own/Layers/issues/1")
    assert found["rows"]["commits_new"] == 1
    made.git("branch", "-D", "side")
    made.point("main", made.git("rev-parse", "main~1").decode())
    found = reading.read("own/layers")
    assert (found["rows"]["gone"], found["branches"]) == (1, 1)
    assert reading.run("--show-before", tip(made)[:9], "layers/layer_2.py").returncode == 1


def test_the_default_branch_is_followed(made: Repository, reading: Reading, tmp_path: Path) -> None:
    reading.read("own/layers")
    made.commit({"b": b"1\n"}, b"fix", [tip(made)], branch="trunk")
    made.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    assert reading.read("own/layers")["rows"]["commits_new"] == 1
    assert (cached(tmp_path) / "HEAD").read_text() == "ref: refs/heads/trunk\n"


def test_a_clone_that_fails_leaves_nothing(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    new = Reading(reading.command, tmp_path / "new")
    ended = new.run("own/nothing")
    assert ended.returncode == 1
    assert "cannot be cloned" in ended.stderr
    assert not [path for path in cached(tmp_path).parent.iterdir() if path.is_dir()]
    assert not new.study.exists()
    assert made


@contextmanager
def served(folder: Path, asked: list[str | None]) -> Iterator[int]:
    """A web server on this machine that wants a password."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("authorization"))
            if asked[-1] is None:
                self.send_response(401)
                self.send_header("www-authenticate", 'Basic realm="x"')
                self.send_header("content-length", "0")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_password_is_stored_and_shown_nowhere(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    made.git("update-server-info")
    asked: list[str | None] = []
    with served(tmp_path / "served", asked) as port:
        ended = reading.run(f"http://me:hunter2hunter2@127.0.0.1:{port}/own/layers.git")
        failed = reading.run(f"http://me:hunter2hunter2@127.0.0.1:{port}/own/nothing.git")
    assert (ended.returncode, failed.returncode) == (0, 1), ended.stderr
    assert any(asked)
    assert "hunter2" not in ended.stdout + ended.stderr + failed.stdout + failed.stderr
    assert reading.one("SELECT place FROM git_walks") == f"http://127.0.0.1:{port}/own/layers.git"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"hunter2" in path.read_bytes()]


@pytest.mark.parametrize(
    "text",
    ["--upload-pack=touch x", "ext::sh -c 'touch x'", "ext::sh/x", "-x/y", "", "keras2", "../../x",
     "fd::17/x/y", "git@host:-oProxyCommand=x", "./nowhere", "file+ext://x/y"],
)  # fmt: skip
def test_odd_names_are_refused(reading: Reading, text: str, tmp_path: Path) -> None:
    ended = reading.command("miner", "commits", "--study", reading.study, "--", text)
    assert ended.returncode != 0
    assert not list(tmp_path.rglob("x"))


def test_a_worktree_and_a_folder_inside_one(
    made: Repository, reading: Reading, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    made.git("worktree", "add", "--quiet", str(tree), "main")
    found = reading.read(tree)
    assert (found["project"], found["stored"]["commits"]) == ("git:local/layers", 3)
    ended = reading.run(tree / "layers")
    assert ended.returncode == 1
    assert "is no git repository" in " ".join(ended.stderr.split())


def test_settings_of_a_repository_neither_run_programs_nor_change_what_is_read(
    reading: Reading, tmp_path: Path
) -> None:
    made = Repository(tmp_path / "plain.git")
    names: list[str] = []
    first = made.commit({"a.py": b"x = 1\n\n\n\n\n\n\ny = 2\n", "b.bin": b"1\n"})
    made.commit({"a.py": b"x = 2\n\n\n\n\n\n\ny = 3\n", "b.bin": b"2\n"}, b"fix", [first])
    reading.read(made.folder, "--all")
    tables = ("commit", "commit_file", "commit_hunk")
    plain = [reading.without_runs(f"store.{name}") for name in tables]

    trap = tmp_path / "trap"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n")
    program.chmod(0o755)
    for name, value in {
        "core.fsmonitor": program, "core.pager": program, "core.sshCommand": program,
        "core.hooksPath": tmp_path, "diff.external": program, "pager.log": program,
        "diff.evil.textconv": program, "diff.evil.command": program, "log.showSignature": "true",
        "gpg.program": program, "diff.noprefix": "true", "diff.mnemonicPrefix": "true",
        "diff.algorithm": "patience", "diff.interHunkContext": "99", "diff.context": "0",
        "diff.renames": "false", "color.ui": "always", "core.quotePath": "true",
        "diff.orderFile": program, "i18n.logOutputEncoding": "utf-16", "core.bare": "true",
        "remote.origin.promisor": "true", "remote.origin.url": f"ext::{program}",
        "remote.origin.uploadpack": program, "log.mailmap": "false", "alias.log": f"!{program}",
        "alias.diff-tree": f"!{program}", "core.attributesFile": tmp_path / "attributes",
        "extensions.partialClone": "origin", "core.repositoryFormatVersion": "1",
    }.items():  # fmt: skip
        made.git("config", name, str(value))
        names.append(name)
    (made.folder / "info").mkdir(exist_ok=True)
    for place in (made.folder / "info" / "attributes", tmp_path / "attributes"):
        place.write_text("*.py binary diff=evil\n*.bin diff=evil\n")
    made.git("replace", first, made.git("rev-parse", "main").decode())
    other = Reading(reading.command, tmp_path / "other")
    other.study.mkdir()
    (other.study / "study.key").write_bytes((reading.study / "study.key").read_bytes())
    other.read(made.folder, "--all")
    assert [other.without_runs(f"store.{name}") for name in tables] == plain
    assert not trap.exists()


def test_the_users_environment_changes_nothing(
    made: Repository, reading: Reading, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        "GIT_EXTERNAL_DIFF": "false", "GIT_DIFF_OPTS": "-u0", "GIT_DIR": str(tmp_path),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.noprefix", "GIT_CONFIG_VALUE_0": "1",
        "GIT_PAGER": "false", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    found = reading.read(made.folder, "--all")
    assert (found["stored"]["files"], found["stored"]["hunks"]) == (3, 3)


def test_the_cache_is_not_reached_by_a_name(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"repository|folder|address"):
        clones.wanted("https://example.org/../../x")
    assert subprocess.run(["ls", tmp_path], check=True, capture_output=True).stdout == b""
