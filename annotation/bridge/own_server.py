"""The study's own Label Studio: its folder, its secrets, and whether it runs.

Everything of it is in `label-studio/` of the study, which only the user can read. One server is
shared by all raters; with strict blindness every rater has one. The process holds a lock, which
the kernel ends with it: a number of a process that ended is never taken for a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from faultatlas.annotation.bridge.installation import DATABASE, Installation
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import remember_secret

FOLDER = "label-studio"
SHARED = "own"
PORT = 8080
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Access:
    """How to get into a server: the account of whoever leads the study."""

    port: int
    username: str
    password: str
    token: str
    public_url: str = ""  # where raters reach it, if not on this machine
    rater: str | None = None  # whose server it is, if one rater's


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{HOST}:{self.port}"


@dataclass(frozen=True)
class OwnServer:
    """A server of a study: the shared one, or that of one rater."""

    study: Path
    rater: str | None = None
    found_at: Path | None = None  # a folder whose rater nobody knows

    @property
    def name(self) -> str:
        """How the study's tables call it: it stays when the port changes."""
        if self.found_at:
            return f"{SHARED}/{self.found_at.name}"
        return SHARED if self.rater is None else f"{SHARED}/{self.rater}"

    @property
    def folder(self) -> Path:
        """All of it."""
        return self.found_at or self.study / FOLDER / _folder_name(self.rater)

    @property
    def data(self) -> Path:
        """What Label Studio writes."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What Label Studio says."""
        return self.folder / "server.log"

    @property
    def access_file(self) -> Path:
        """Where the secrets are."""
        return self.folder / "access.json"

    @property
    def lock(self) -> Path:
        """What the running process holds; it says who that is."""
        return self.folder / "server.lock"

    def access(self) -> Access:
        """Its secrets."""
        try:
            found = Access(**json.loads(self.access_file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise not_running(self) from None
        except (ValueError, TypeError):
            raise StudyError(
                f"{self.access_file} is damaged",
                "Put a copy back; without it nobody gets into that server.",
            ) from None
        for secret in (found.password, found.token):
            remember_secret(secret)
        return found

    def make_folder(self) -> None:
        """The folders, which only the user can read."""
        for folder in (self.study / FOLDER, self.folder, self.data):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)

    def wanted_access(self, *, port: int | None, first_port: int, public_url: str | None) -> Access:
        """Its secrets, with the port and the address that are wanted now."""
        known = self.access() if self.access_file.exists() else _new_access(first_port)
        address = known.public_url if public_url is None else public_url
        return replace(known, port=port or known.port, public_url=address, rater=self.rater)

    def fill(self, installation: Installation, wanted: Access) -> Access:
        """A new database, unless there is one; port and address are remembered."""
        database = self.data / DATABASE
        if not database.exists():
            draft = database.with_suffix(".new")
            shutil.copyfile(installation.template, draft)
            draft.chmod(0o600)
            draft.rename(database)
        if not self.access_file.exists() or self.access() != wanted:
            _write_private(self.access_file, json.dumps(asdict(wanted), indent=1) + "\n")
        return self.access()

    def running(self) -> Running | None:
        """The server, if it runs."""
        import fcntl

        try:
            file = self.lock.open("r+b")
        except FileNotFoundError:
            return None
        with file:
            try:
                # Shared: who else looks at the same time is not taken for a server.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _running(file.read(40))
        return None

    def hold(self) -> IO[bytes]:
        """The lock, for the server to inherit; refused while another one has it."""
        import fcntl

        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
        file = os.fdopen(descriptor, "r+b")
        for pause in (0.01, 0.05, 0.2, None):  # somebody may just look whether it runs
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if pause is None:
                    file.close()
                    raise StudyError(
                        "a server of this study is just being started", "Wait until it runs."
                    ) from None
                time.sleep(pause)
        file.truncate()  # what a server before has left
        return file

    def clear(self) -> None:
        """Forget the number of a process that has ended."""
        with suppress(FileNotFoundError, StudyError):
            self.hold().close()


def own_servers(study: Path) -> list[OwnServer]:
    """All servers that were ever made; the study itself is not asked."""
    found = []
    for folder in sorted((study / FOLDER).glob("*/")):
        if folder.is_dir():
            whose = OwnServer(study, found_at=folder)
            with suppress(StudyError):
                named = OwnServer(study, whose.access().rater)
                whose = named if named.folder == folder else whose
            found.append(whose)
    return found


def _running(text: bytes) -> Running | None:
    """Who holds the lock, if that is a server that is there."""
    numbers = text.split()
    if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
        return None  # just being started
    running = Running(int(numbers[0]), int(numbers[1]))
    return running if is_server(running) else None


def is_server(running: Running) -> bool:
    """Whether that process is a Label Studio of ours, and not another one that got its number."""
    try:
        if os.getsid(running.pid) != running.pid:  # we start it in a session of its own
            return False
        words = Path(f"/proc/{running.pid}/cmdline").read_bytes().split(b"\0")
    except (ProcessLookupError, PermissionError):
        return False
    except OSError:  # no /proc here
        return not Path("/proc/self").exists()
    return str(running.port).encode() in words


def not_running(server: OwnServer) -> StudyError:
    """What a command says that needs it."""
    if server.rater is None:
        return StudyError("the study's Label Studio does not run", "Start it: annotation serve")
    return StudyError(
        f"the Label Studio of rater {server.rater} does not run",
        f"Start it: annotation serve --own-server {typed(server.rater)}",
    )


def _folder_name(rater: str | None) -> str:
    if rater is None:
        return "shared"
    readable = re.sub(r"[^a-z0-9]+", "-", rater.lower()).strip("-")[:24]
    return f"rater-{readable}-{hashlib.sha256(rater.encode()).hexdigest()[:8]}"


def _new_access(port: int) -> Access:
    return Access(
        port=port,
        username="lead@study.invalid",
        password=new_password(),
        token=secrets.token_hex(20),
    )


def new_password() -> str:
    """A password that can be dictated: four groups of five letters and digits, 100 bits."""
    signs = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(signs) for _ in range(5)) for _ in range(4))


def _write_private(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    with suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
