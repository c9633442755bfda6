"""Repositories by name or URL: a clone in the cache, made whole or not at all, later fetched."""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commits_reading import Reading
from repositories_on_disk import Repository, linear

from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import redact
from faultatlas.miner.commits import clones, git

PASSWORD = "correct-horse-9431"  # noqa: S105
TOKEN = "tok3n0123456789abcdef"  # noqa: S105


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
    ended = reading.run("--show-before", tip(made)[:9], "layers/layer_2.py")
    assert ended.stderr.startswith("error:")
    assert "was added by" in ended.stderr


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


def refreshed(address: str) -> clones.Wanted:
    """The clone of an address, made or fetched."""
    it = clones.wanted(address)
    clones.refresh(it, lambda _message: None)
    return it


def program(path: Path, lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return path


def on_the_path(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def processes() -> list[bytes]:
    """What every process was started with, as anybody on this machine sees it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:  # it has ended
            continue
    return found


@contextmanager
def served(folder: Path, asked: list[str | None], running: list[bytes]) -> Iterator[int]:
    """A web server on this machine that wants a password."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("authorization"))
            running.extend(processes())
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


@pytest.mark.parametrize(
    ("login", "sent"), [(f"me:{PASSWORD}", f"me:{PASSWORD}"), (TOKEN, f"{TOKEN}:")]
)
def test_a_password_is_stored_and_shown_nowhere(
    made: Repository, reading: Reading, tmp_path: Path, login: str, sent: str
) -> None:
    made.git("update-server-info")
    asked: list[str | None] = []
    running: list[bytes] = []
    with served(tmp_path / "served", asked, running) as port:
        ended = reading.run(f"http://{login}@127.0.0.1:{port}/own/layers.git")
        failed = reading.run(f"http://{login}@127.0.0.1:{port}/own/nothing.git")
    assert (ended.returncode, failed.returncode) == (0, 1), ended.stderr
    assert f"Basic {base64.b64encode(sent.encode()).decode()}" in asked
    secret = sent.rstrip(":").rpartition(":")[2]
    assert secret not in ended.stdout + ended.stderr + failed.stdout + failed.stderr
    assert secret not in redact(f"git said {secret}")
    assert reading.one("SELECT place FROM git_walks") == f"http://127.0.0.1:{port}/own/layers.git"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    if Path("/proc/self/cmdline").exists():
        assert any(f"127.0.0.1:{port}/own/layers.git".encode() in words for words in running)
    assert not [words for words in running if secret.encode() in words]


@pytest.mark.usefixtures("reading")
def test_a_password_that_is_escaped_and_the_users_own_helper(
    made: Repository, tmp_path: Path
) -> None:
    made.git("update-server-info")
    kept = tmp_path / "kept"
    keeper = program(tmp_path / "keeper", f'cat >> {kept}; test "$1" != get || echo password=own')
    with (tmp_path / "gitconfig").open("a") as settings:
        settings.write(f"[credential]\n\thelper = {keeper}\n")
    asked: list[str | None] = []
    with served(tmp_path / "served", asked, []) as port:
        refreshed(f"http://me:p%40ss%2Fw0rd@127.0.0.1:{port}/own/layers.git")
        assert not kept.exists()
        refreshed(f"http://anna@127.0.0.1:{port}/own/layers.git")
    sent = {base64.b64decode(each.split()[1]) for each in asked if each}
    assert sent == {b"me:p@ss/w0rd", b"anna:own"}


@pytest.mark.usefixtures("reading")
def test_settings_of_the_current_folder_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear(tmp_path / "served" / "app.git", 2)
    trap = tmp_path / "trap"
    evil = Repository(tmp_path / "evil" / ".git")
    evil.git("config", "core.bare", "false")
    evil.git("config", "core.sshCommand", str(program(tmp_path / "program", f"touch {trap}")))
    for scheme in ("ssh://git@127.0.0.1:1/", f"ext::{tmp_path}/program "):
        evil.git("config", f"url.{scheme}.insteadOf", f"file://{tmp_path}/served/")
    monkeypatch.chdir(tmp_path / "evil")
    for _ in range(2):  # a clone, then a fetch
        it = refreshed(f"file://{tmp_path}/served/app.git")
    assert "refs/heads/main" in git.branches(clones.open_place(it))
    assert not trap.exists()


@pytest.mark.usefixtures("made", "reading")
def test_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    ssh = program(tmp_path / "bin" / "ssh", f'echo "$SSH_ASKPASS_REQUIRE $0 $*" >> {log}; exit 1')
    other = program(tmp_path / "other", f'echo "$0 $*" >> {log}; exit 1')
    on_the_path(ssh, monkeypatch)
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    monkeypatch.delenv("GIT_SSH", raising=False)
    monkeypatch.setenv("GIT_ASKPASS", str(other))
    monkeypatch.setenv("SSH_ASKPASS", str(other))
    with served(tmp_path / "served", [], []) as port, pytest.raises(StudyError, match="cloned"):
        refreshed(f"http://127.0.0.1:{port}/own/layers.git")
    assert not log.exists()
    with pytest.raises(StudyError, match="cannot be cloned"):
        refreshed("git@example.invalid:o/r.git")
    assert log.read_text().startswith(f"force {ssh} -oBatchMode=yes ")
    log.unlink()
    with (tmp_path / "gitconfig").open("a") as settings:
        settings.write(f"[core]\n\tsshCommand = {other}\n")
    with pytest.raises(StudyError, match="cannot be cloned"):
        refreshed("git@example.invalid:o/r.git")
    assert log.read_text().startswith(f"{other} ")


def test_a_folder_of_somebody_else_is_read_once_the_user_trusts_it(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    lines = f'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"'
    on_the_path(program(tmp_path / "bin" / "git", lines), monkeypatch)
    monkeypatch.chdir(made.folder.parent)
    with pytest.raises(StudyError, match="belongs to somebody else") as refused:
        clones.wanted("layers.git")
    assert refused.value.hint.endswith(f" safe.directory {made.folder}")
    words = refused.value.hint.partition(": ")[2].split()
    subprocess.run(words, check=True)
    assert clones.wanted("layers.git").project == "local/layers"


@pytest.mark.usefixtures("made", "reading")
def test_files_of_a_fetch_whose_parent_was_killed_are_not_swept_away(tmp_path: Path) -> None:
    for name in ("started", "go"):
        os.mkfifo(tmp_path / name)
    real = shutil.which("git")
    slow = program(
        tmp_path / "bin" / "git",
        f'case "$*" in *" fetch "*) echo x > {tmp_path}/started; read x < {tmp_path}/go;; esac\n'
        f'exec {real} "$@"',
    )
    code = (
        "from faultatlas.miner.commits import clones as c; c.refresh(c.wanted('own/layers'), print)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2],
        env={**os.environ, "PATH": f"{slow.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    (tmp_path / "started").read_text()
    killed.kill()
    killed.wait()
    folder = cached(tmp_path).parent
    drafts = list(folder.glob(".layers.git*"))
    assert len(drafts) == 1
    assert "refs/heads/main" in git.branches(clones.open_place(refreshed("own/layers")))
    assert drafts[0].is_dir()
    (tmp_path / "go").write_text("x\n")
    with (folder / "layers.git.busy").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until that git has ended
    assert "refs/heads/main" in git.branches(git.discover(drafts[0]))
    refreshed("own/layers")
    assert not drafts[0].exists()


@pytest.mark.usefixtures("reading")
def test_folders_of_one_name_have_clones_of_their_own(tmp_path: Path) -> None:
    tips = []
    for number in (1, 2):
        made = linear(tmp_path / str(number) / "app.git", number)
        tips.append(tip(made))
        refreshed(f"file://{made.folder}")
    found = [clones.wanted(f"file://{tmp_path}/{number}/app.git") for number in (1, 2)]
    assert [it.project for it in found] == ["local/app"] * 2
    assert [git.branches(clones.open_place(it))["HEAD"] for it in found] == tips


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(("algorithm", "other"), [("sha1", "sha256"), ("sha256", "sha1")])
def test_either_kind_of_hash_is_cloned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, other: str
) -> None:
    made = Repository(tmp_path / "app.git", f"--object-format={algorithm}")
    made.commit({"a": b"1\n"})
    monkeypatch.setenv("GIT_DEFAULT_HASH", other)
    place = clones.open_place(refreshed(f"file://{made.folder}"))
    assert (place.algorithm, git.branches(place)["HEAD"]) == (algorithm, tip(made))


def test_an_old_git_is_refused(
    made: Repository, reading: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_the_path(program(tmp_path / "bin" / "git", "echo git version 2.31.8"), monkeypatch)
    for text in (made.folder, "own/layers"):
        ended = reading.run(text)
        assert ended.stderr.startswith("error: git 2.31 ")
        assert "2.32 or newer" in ended.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--upload-pack=touch x", "names no repository"),
        ("ext::sh -c 'touch x'", "names no repository"),
        ("ext::sh/x", "names no repository"),
        ("-x/y", "names no repository"),
        ("", "names no repository"),
        ("keras2", "there is no project"),
        ("../../x", "there is no folder"),
        ("fd::17/x/y", "names no repository"),
        ("git@host:-oProxyCommand=x", "is no address to clone from"),
        ("./nowhere", "there is no folder"),
        ("file+ext://x/y", "is no address to clone from"),
        ("http://[::1/x/y", "is no address to clone from"),
        ("http://me:p%0aq@127.0.0.1:1/x/y", "has control characters"),
        ("~nobody9/x", "there is no folder"),
        ("./" + "x" * 300, "there is no folder"),
    ],
)
def test_odd_names_are_refused(reading: Reading, text: str, said: str, tmp_path: Path) -> None:
    ended = reading.command("miner", "commits", "--study", reading.study, "--", text)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error:")
    assert said in ended.stderr
    assert not list(tmp_path.rglob("x"))


def test_a_folder_whose_name_no_study_can_keep(made: Repository, tmp_path: Path) -> None:
    for name in (b"caf\xe9", b"a\nb"):
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        made.folder.rename(folder)
        with pytest.raises(StudyError, match="cannot keep the folder's name"):
            clones.wanted(str(folder))
        folder.rename(made.folder)


def test_damaged_branches_are_an_error_with_a_next_step(made: Repository, reading: Reading) -> None:
    (made.folder / "packed-refs").write_text("# pack-refs with: peeled \nzzzz\n")
    ended = reading.run(made.folder)
    assert ended.stderr.startswith("error: the branches of ")
    assert "git fsck" in ended.stderr


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


@pytest.mark.parametrize(
    "address", ["https://example.org/../../x", "https://example.org/..", "git@example.org:../x"]
)
def test_the_cache_is_not_reached_by_a_name(address: str) -> None:
    with pytest.raises(StudyError, match="names no repository"):
        clones.wanted(address)
