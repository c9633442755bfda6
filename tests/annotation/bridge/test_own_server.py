"""`annotation serve` and `annotation rater`: the study's own Label Studio, as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import requests
from labelstudio import Bench, LabellingRater, LabelStudio, free_port

from faultatlas.annotation.bridge import serving
from faultatlas.annotation.bridge.installation import Installation
from faultatlas.annotation.bridge.own_server import OwnServer
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]
ANNOTATION = Path(sys.executable).parent / "annotation"


@pytest.fixture
def study(tmp_path: Path, installation: Installation) -> Iterator[Path]:
    """A round of three items and two raters, in a study whose servers end with the test."""
    folder = tmp_path / "s"
    Bench.at(folder, LabelStudio.at(folder, installation), artifacts=3, raters=("ana", "ben"))
    yield folder
    for rater in (None, "ana", "ben"):
        serving.stop(OwnServer(folder, rater))


@dataclass
class Annotation:
    """Runs `annotation` in the study: `serve` in a process of its own, which a server outlives."""

    study: Path
    command: Command

    def __call__(self, *words: Any, expect: int = 0) -> CompletedProcess[str]:
        line = (*map(str, words), "--study", str(self.study))
        if words[0] == "serve":
            ended = subprocess.run([ANNOTATION, *line], check=False, capture_output=True, text=True)
        else:
            ended = self.command("annotation", *line)
        assert ended.returncode == expect, ended.stderr
        return ended

    def document(self, *words: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*words, "--json").stdout)
        return found

    def rater(self, name: str, port: int) -> LabellingRater:
        """A new rater who logs in with what was printed."""
        login = self.document("rater", "add", name)
        server = LabelStudio(OwnServer(self.study), Installation(self.study), port)
        return server.known_rater(login["username"], login["password"])


@pytest.fixture
def run(study: Path, command: Command) -> Annotation:
    return Annotation(study, command)


def test_the_own_server_keeps_its_secrets_its_name_and_its_data(
    study: Path, run: Annotation
) -> None:
    port = free_port()
    started = run("serve", "--detach", "--port", port)
    url = f"http://127.0.0.1:{port}"
    assert f"Label Studio: {url}" in started.stdout
    server = OwnServer(study)
    access = server.access()
    for path, mode in ((study / "label-studio", 0o700), (server.folder, 0o700),
                       (server.access_file, 0o600), (server.log, 0o600)):  # fmt: skip
        assert stat.S_IMODE(path.stat().st_mode) == mode
    secrets = (access.password, access.token)
    shown = started.stdout + started.stderr + server.log.read_text(encoding="utf-8")
    assert not [secret for secret in secrets if secret in shown]

    refused = run("serve", "--detach", expect=1)
    assert f"Label Studio runs already: {url}" in refused.stderr

    ana = run.rater("ana", port)  # she can log in with what was printed
    again = run.document("rater", "add", "ana")
    assert (again["username"], again["password"]) == (ana.email, None)
    assert run.document("rater", "list")["raters"][0]["accounts"] == [
        {"server": "own", "username": "ana@study.invalid"}
    ]
    link = run.document("rater", "add", "ben", "--invite")["invite_link"]
    assert requests.get(link, timeout=60).status_code == 200

    (pushed, _) = run.document("push", "pilot")["projects"]
    assert (pushed["server"], pushed["blindness"], pushed["sent"]) == ("own", "own project", 3)
    # What is passed on to raters is not cut or broken, however narrow the terminal is.
    where = f"ana labels here: {url}/projects/{pushed['project_id']}"
    assert where in run("push", "pilot").stdout.splitlines()
    bench = Bench(Study(study), LabelStudio(server, Installation(study), port))
    task = ana.tasks(pushed["project_id"])["github:o/r#2"]
    ana.label(task, bench.result("a2"))

    # Who leads the study is no rater, and names that look alike have an account each.
    names = ("lead", "José", "jose", "张伟")
    logins = [run.document("rater", "add", name)["username"].partition("@")[0] for name in names]
    assert logins == ["lead.2", "jose", "jose.2", "rater"]
    renewed = run.document("rater", "add", "ana", "--new-password")
    assert bench.server.known_rater(ana.email, renewed["password"]).user_id == ana.user_id
    # Somebody resets the token in Label Studio: the next start sets it again.
    reset = f"{url}/api/current-user/reset-token/"
    requests.post(reset, headers={"Authorization": f"Token {access.token}"}, timeout=60)
    locked_out = run("pull", "pilot", expect=1).stderr
    assert "does not accept the token that the study has for it" in locked_out
    assert "LABEL_STUDIO_API_KEY" not in locked_out

    assert run("serve", "--stop").stdout == "ended: the study's Label Studio\n"
    assert server.running() is None
    down = run("pull", "pilot", expect=1)
    assert down.stderr.splitlines() == [
        "error: the study's Label Studio does not run",
        "Start it: annotation serve",
    ]
    run("serve", "--detach", "--port", free_port())  # another port, the same server
    pulled = run.document("pull", "pilot", "--rater", "ana")
    assert [(each["new"], each["problems"]) for each in pulled["projects"]] == [(1, [])]
    written = json.dumps(
        [bench.rows(f"SELECT * FROM store.{table}") for table in ("run", "account", "project")],
        default=str,
    )
    assert not [secret for secret in (*secrets, ana.token) if secret in written]
    lose_the_folder(study, run, bench)


def lose_the_folder(study: Path, run: Annotation, bench: Bench) -> None:
    """Accounts and projects are made anew, in any order, on a server with other numbers."""
    run("serve", "--stop")
    shutil.rmtree(study / "label-studio")
    port = free_port()
    run("serve", "--detach", "--port", port)
    assert "ana has no account on" in run("pull", "pilot", expect=1).stderr
    ben = run.rater("ben", port)
    run.rater("ana", port)
    assert "was deleted" in run("pull", "pilot", expect=1).stderr
    again = run.document("push", "pilot", "--again")
    assert [(each["sent"], each["notes"]) for each in again["projects"]] == [(3, []), (3, [])]
    ben.label(ben.tasks(bench.projects()["ben"])["github:o/r#2"], bench.result("a2"))
    pulled = run.document("pull", "pilot")
    assert [each["new"] for each in pulled["projects"]] == [0, 1]
    assert len(bench.rows("SELECT * FROM labels WHERE is_current")) == 2


def test_strictly_blind_raters_have_a_server_each(study: Path, run: Annotation) -> None:
    run("serve", "--own-servers", "pilot", "--detach", "--port", free_port())
    running = {name: OwnServer(study, name).running() for name in ("ana", "ben")}
    people = {name: run.rater(name, each.port) for name, each in running.items() if each}
    pushed = run.document("push", "pilot", "--own-servers")
    assert [(each["rater"], each["server"], each["blindness"]) for each in pushed["projects"]] == [
        ("ana", "own/ana", "own server"), ("ben", "own/ben", "own server"),
    ]  # fmt: skip
    bench = Bench(Study(study), LabelStudio(OwnServer(study, "ana"), Installation(study), 1))
    for person in people.values():  # neither sees anything of the other
        (project,) = person.ask("GET", "projects/")["results"]
        assert project["task_number"] == 3
        person.label(person.tasks(project["id"])["github:o/r#1"], bench.result("b1"))
    pulled = run.document("pull", "pilot")
    assert [(each["rater"], each["new"]) for each in pulled["projects"]] == [("ana", 1), ("ben", 1)]
    assert bench.rows("SELECT blindness FROM rounds") == [{"blindness": "own server"}]
    Study(study).database.write_bytes(b"broken")  # no study is needed to end servers
    assert run("serve", "--stop").stdout == (
        "ended: Label Studio of rater ana, Label Studio of rater ben\n"
    )


def test_a_server_behind_a_proxy_with_tls_ends_with_ctrl_c(study: Path, run: Annotation) -> None:
    public = "https://labels.example.org"
    port = free_port()
    line = [ANNOTATION, "serve", "--port", str(port), "--public-url", public, "--study", study]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        lines = list(iter(serve.stdout.readline, "End it with Ctrl-C.\n"))
        assert lines[0] == f"Label Studio: {public}\n"
        login = run.document("rater", "add", "ana")
        assert login["url"] == public
        invited = run("rater", "add", "ben", "--invite").stdout
        link = re.search(rf"{public}(/user/signup/\?token=[\w-]+)", invited)
        assert link  # whole, not masked

        # As her browser asks, and the proxy passes it on.
        page = f"http://127.0.0.1:{port}/user/login/"
        sent = {"Host": "labels.example.org", "Origin": public, "X-Forwarded-Proto": "https"}
        shown = requests.get(page, headers=sent, timeout=60)
        assert all("Secure" in text for text in shown.headers["Set-Cookie"].split(", sessionid"))
        form = {"email": login["username"], "password": login["password"]}
        form["csrfmiddlewaretoken"] = shown.cookies["csrftoken"]
        sent["Cookie"] = f"csrftoken={shown.cookies['csrftoken']}"
        entered = requests.post(page, form, headers=sent, allow_redirects=False, timeout=60)
        assert entered.status_code == 302
        assert requests.get(page, headers={"Host": "evil.example"}, timeout=60).status_code == 400

        server = OwnServer(study)
        assert server.running() is not None
        kept = server.wanted_access(port=None, first_port=1, public_url=None)
        assert (kept.public_url, kept.port) == (public, port)  # without saying it again
        serve.send_signal(signal.SIGINT)
        _, told = serve.communicate(timeout=60)
    assert (serve.returncode, told.splitlines()[-1]) == (0, "Label Studio has ended")
    assert OwnServer(study).running() is None


def test_a_busy_port_is_said_and_not_evaded(study: Path, run: Annotation) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = run("serve", "--detach", "--port", port, expect=1)
    assert refused.stderr.startswith(f"error: port {port} is taken by another program")
    assert f"add --port {port + 10} to the command" in refused.stderr
    assert OwnServer(study).running() is None
    assert not OwnServer(study).access_file.exists()  # the port is not remembered


def test_raters_can_be_known_before_any_server_is(study: Path, command: Command) -> None:
    added = command("annotation", "rater", "add", "eva", "--study", study)
    assert added.stdout == (
        "rater eva: added; no account, because no server runs\n"
        "Start one, then add the rater again: annotation serve --detach; annotation rater add eva\n"
    )
    assert command("annotation", "rater", "add", "eva", "--study", study).returncode == 0
    listed = json.loads(command("annotation", "rater", "list", "--json", "--study", study).stdout)
    assert [each["rater"] for each in listed["raters"]] == ["ana", "ben", "eva"]
    refused = command("annotation", "rater", "add", "eva", "--invite", "--study", study)
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (
        1, "error: no server runs that could make an account",
    )  # fmt: skip


def test_a_number_of_a_dead_process_is_no_server(study: Path) -> None:
    server = OwnServer(study)
    server.folder.mkdir(parents=True)
    server.lock.write_text(f"{os.getpid()} 8080", encoding="utf-8")  # ours, and not a server
    assert server.running() is None
    assert not serving.stop(server)
