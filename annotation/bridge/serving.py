"""Starts and ends the study's own Label Studio, on the loopback interface only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import urlsplit

from faultatlas.annotation.bridge.installation import Installation, variables
from faultatlas.annotation.bridge.own_server import HOST, Access, OwnServer, Running
from faultatlas.annotation.bridge.server_database import set_token
from faultatlas.data.errors import StudyError
from faultatlas.report.start import accept_interrupt

PATIENCE_S = 180.0  # of an old machine that migrates
_PAUSE_S = 0.1
_ENDING_S = 10.0

Tell = Callable[[str], None]


@dataclass
class Started:
    """A server that this command started."""

    server: OwnServer
    running: Running
    process: subprocess.Popen[bytes]

    def end(self) -> None:
        """End it, and wait until it has ended."""
        _end(self.running.pid, lambda: self.process.poll() is not None)
        self.server.clear()


def start(
    server: OwnServer,
    installation: Installation,
    tell: Tell,
    *,
    port: int | None = None,
    first_port: int,
    public_url: str | None = None,
    patience_s: float = PATIENCE_S,
) -> Started:
    """Start a server and wait until it answers; it is exactly on its port, or not at all."""
    server.make_folder()
    with server.hold() as lock, _private_log(server) as log:
        access = server.wanted_access(port=port, first_port=first_port, public_url=public_url)
        _require_free(access.port)  # before it is remembered
        server.fill(installation, access)
        set_token(server, access)
        tell(f"starting Label Studio on port {access.port}")
        process = subprocess.Popen(
            installation.words(
                "start", "--no-browser", "--internal-host", HOST, "--port", str(access.port)
            ),
            env=variables(server.data, _settings(access)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us, who then end it
            pass_fds=(lock.fileno(),),
        )
        lock.write(f"{process.pid} {access.port}".encode())
        lock.flush()
    started = Started(server, Running(process.pid, access.port), process)
    try:
        _wait(started, access, patience_s)
    except BaseException:
        started.end()
        raise
    return started


def stop(server: OwnServer) -> bool:
    """End a server that runs; whether one did."""
    running = server.running()
    if running is None:
        return False
    _end(running.pid, lambda: server.running() is None)
    server.clear()
    return True


def watch(started: Sequence[Started]) -> None:
    """Stay until the user ends it (Ctrl-C, or a signal to terminate), then end the servers."""

    def interrupted(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        while True:
            for each in started:
                if each.process.poll() is not None:
                    raise _ended(each)
            time.sleep(_PAUSE_S)
    except KeyboardInterrupt:
        accept_interrupt()
    finally:
        signal.signal(signal.SIGTERM, before)
        for each in started:
            each.end()


def _settings(access: Access) -> dict[str, str]:
    hosts = [HOST, "localhost", urlsplit(access.public_url).hostname]
    settings = {
        "LABEL_STUDIO_USERNAME": access.username,
        "LABEL_STUDIO_PASSWORD": access.password,
        "LABEL_STUDIO_USER_TOKEN": access.token,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        # A page that the user visits cannot talk to it under another name.
        "LABEL_STUDIO_ALLOWED_HOSTS": ",".join(filter(None, hosts)),
        "LABEL_STUDIO_CORS_ALLOW_ALL_ORIGINS": "false",
    }
    if access.public_url:
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(access.public_url))
        settings |= {
            "LABEL_STUDIO_HOST": access.public_url,
            "LABEL_STUDIO_CSRF_TRUSTED_ORIGINS": origin,
            "LABEL_STUDIO_SESSION_COOKIE_SECURE": "1",
            "LABEL_STUDIO_CSRF_COOKIE_SECURE": "1",
        }
    return settings


@contextmanager
def _private_log(server: OwnServer) -> Iterator[IO[bytes]]:
    descriptor = os.open(server.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as log:
        yield log


def _require_free(port: int) -> None:
    """Label Studio would silently take the next port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            raise StudyError(
                f"port {port} is taken by another program, or may not be used",
                f"Choose another one: add --port {port + 10} to the command.",
            ) from None


def _wait(started: Started, access: Access, patience_s: float) -> None:
    """Until it answers, and it is the one that we started who answers."""
    import requests

    give_up = time.monotonic() + patience_s
    with requests.Session() as session:
        session.trust_env = False  # no proxy stands between us and this machine
        while time.monotonic() < give_up:
            if started.process.poll() is not None:
                raise _ended(started)
            try:
                health = session.get(f"{started.running.url}/health", timeout=5)
                if health.ok:
                    who = session.get(
                        f"{started.running.url}/api/current-user/whoami",
                        headers={"Authorization": f"Token {access.token}"},
                        timeout=30,
                    )
                    if who.ok and who.json().get("email") == access.username:
                        return
                    if started.process.poll() is None:
                        raise StudyError(
                            f"Label Studio runs, but does not let {access.username} in",
                            f"What it said: {started.server.log}. If that account was deleted "
                            "there, put a copy of the folder back.",
                        )
            except (requests.ConnectionError, requests.Timeout):
                pass
            time.sleep(_PAUSE_S)
    raise StudyError(
        f"Label Studio did not answer within {patience_s:.0f} s",
        f"What it said: {started.server.log}",
    )


def _ended(started: Started) -> StudyError:
    return StudyError("Label Studio has ended by itself", f"What it said: {started.server.log}")


def _end(pid: int, has_ended: Callable[[], bool]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        give_up = time.monotonic() + _ENDING_S
        while time.monotonic() < give_up:
            if has_ended():
                return
            time.sleep(_PAUSE_S / 5)
