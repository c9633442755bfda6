"""Programs that mean harm: each is stopped, recorded as what it is, and leaves nothing behind.

Every one is bounded by itself as well (a few hundred processes, a few hundred MB), so that a
sandbox that fails fails the test and not the machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxed import SMALL, carrying, eventually, needs, ran, request

from faultatlas.analysis.reexecution import workspace
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox import choosing, disk, filtering, groups
from faultatlas.analysis.reexecution.sandbox.bubblewrap import USER
from faultatlas.analysis.reexecution.sandbox.running import run, run_as

FORKS = """
import os, time
children = 0
while True:
    try:
        if children < 300 and os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        children += 1
    except OSError:
        pass
"""
FORKS_AND_FAILS = FORKS.replace("        pass", "        raise")
FILLS_ITS_FOLDER = """
import time
for number in range(300):
    with open("file%d" % number, "wb") as file:
        file.write(b"x" * (1 << 20))
time.sleep(600)
"""
FILLS_WITHOUT_NAMES = """
import os, time
kept = []
for number in range(300):
    kept.append(open("file", "wb", 0))
    os.unlink("file")
    kept[-1].write(b"x" * (1 << 20))
time.sleep(600)
"""
ONE_LONG_FILE = """
with open("file", "wb") as file:
    for number in range(300):
        file.write(b"x" * (1 << 20))
"""
FILLS_TMP = """
import time
try:
    with open("/tmp/file", "wb") as first, open("/tmp/other", "wb") as second:
        for number in range(300):
            first.write(b"x" * (1 << 19))
            second.write(b"x" * (1 << 19))
except OSError:
    time.sleep(600)
"""
ALLOCATES = """
kept = []
while len(kept) < 100 * 1024:
    kept.append(bytearray(b"x") * (1 << 20))
"""
IGNORES_SIGTERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("here")
time.sleep(600)
"""
WRITES_WITHOUT_END = """
import sys
while True:
    sys.stdout.write("x" * 65536)
"""
SIGNALS_EVERYONE = """
import os, signal
for pid in [-1, 1, os.getppid(), {supervisor}]:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError as error:
            print(error)
print("signalled")
"""
LEAVES_A_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("done")
"""


OPENS_SOCKETS = """
import ctypes, errno, json, socket
said = {}
for family in (1, 2, 10, 16, 17, 31, 38, 40, 41):
    try:
        socket.socket(family, socket.SOCK_DGRAM if family in (2, 10, 16) else socket.SOCK_STREAM)
        said[family] = "open"
    except OSError as error:
        said[family] = errno.errorcode[error.errno]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(425, 0, None)
said["io_uring"] = errno.errorcode[ctypes.get_errno()]
libc.syscall(0x40000000 + 41, 40, 1, 0)
said["x32"] = errno.errorcode[ctypes.get_errno()]
said["pair"] = [one.family == socket.AF_UNIX for one in socket.socketpair()]
with open("/proc/self/status") as file:
    said["filtered"] = "Seccomp:\\t2\\n" in file.read()
print(json.dumps(said))
"""


@pytest.fixture(params=["bubblewrap", "namespaces"])
def kind(request: pytest.FixtureRequest) -> str:
    needs(request.param)
    return str(request.param)


def nothing_is_left(token: str) -> bool:
    """No process, and no group of this process's."""
    ours = f"*-{os.getpid()}-*"
    folders = [found for one in groups.parents().values() for found in one.folder.glob(ours)]
    return eventually(lambda: not carrying(token)) and not folders


@pytest.mark.skipif(not filtering.program(), reason="a processor without a filter")
def test_sockets_that_no_namespace_confines_cannot_be_opened(tmp_path: Path, kind: str) -> None:
    """Those of virtual machines lead to the host; some that are not made by this call too."""
    said = json.loads(ran(request(tmp_path, OPENS_SOCKETS, kind)).stdout)
    allowed = {str(int(family)) for family in filtering.FAMILIES}
    assert {name for name, what in said.items() if what == "open"} == allowed
    assert {said[name] for name in ("17", "31", "38", "40", "41")} == {"EAFNOSUPPORT"}
    assert said["pair"] == [True, True]
    assert (said["io_uring"], said["x32"], said["filtered"]) == ("ENOSYS", "ENOSYS", True)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        pytest.param(FORKS, Outcome.TOO_MANY_PROCESSES, id="forks without end"),
        pytest.param(FORKS_AND_FAILS, Outcome.TOO_MANY_PROCESSES, id="forks too often"),
        pytest.param(FILLS_ITS_FOLDER, Outcome.DISK_FULL, id="fills the disk"),
        pytest.param(FILLS_WITHOUT_NAMES, Outcome.DISK_FULL, id="fills it with nameless files"),
        pytest.param(ONE_LONG_FILE, Outcome.DISK_FULL, id="one long file"),
        pytest.param(FILLS_TMP, Outcome.DISK_FULL, id="fills tmp"),
        pytest.param(ALLOCATES, Outcome.OUT_OF_MEMORY, id="allocates 100 GB"),
        pytest.param(WRITES_WITHOUT_END, Outcome.OUTPUT_LIMIT, id="writes without end"),
        pytest.param(IGNORES_SIGTERM, Outcome.TIMED_OUT, id="ignores SIGTERM"),
        pytest.param(SIGNALS_EVERYONE, Outcome.EXITED, id="signals everyone"),
        pytest.param(LEAVES_A_DAEMON, Outcome.EXITED, id="leaves a daemon"),
    ],
)
def test_harm_is_stopped_recorded_and_gone(
    tmp_path: Path, kind: str, code: str, outcome: Outcome
) -> None:
    token = f"token-{os.getpid()}-{tmp_path.name}"
    limits = replace(SMALL, seconds=0.5) if outcome is Outcome.TIMED_OUT else SMALL
    wanted = request(tmp_path, code.replace("{supervisor}", str(os.getpid())), kind, limits=limits)
    wanted = replace(wanted, variables=wanted.variables | {"TOKEN": token})
    result = ran(wanted)
    assert result.ended.outcome is outcome, (result.ended, result.stderr[-500:])
    assert result.ended.isolation.kind == kind
    assert result.ended.isolation.network is False
    assert nothing_is_left(token)
    used = sum(one.stat().st_blocks * 512 for one in result.workspace.rglob("*"))
    assert used < 200 << 20  # stopped before it had written all it wanted
    assert result.ended.memory_kills == (1 if outcome is Outcome.OUT_OF_MEMORY else 0)
    shutil.rmtree(result.workspace)


def test_no_signal_ends_the_sandbox_from_inside(tmp_path: Path, kind: str) -> None:
    """Its first process, or whoever started it; the program's own end is what is recorded."""
    code = """
import os, signal, time
for number in signal.valid_signals() - {signal.SIGCHLD}:
    for pid in {1, os.getppid()}:
        try:
            os.kill(pid, number)
        except OSError:
            pass
print("signalled", flush=True)
time.sleep(0.3)
raise RuntimeError("its own")
"""
    for separate in {False, choosing.offer(kind).separate_user}:
        wanted = request(tmp_path / str(separate), code, kind)
        ended = run_as(wanted, kind, separate_user=separate)
        assert (ended.outcome, ended.exit_code, ended.problem) == (Outcome.EXITED, 1, "")
        assert wanted.stdout.read_text() == "signalled\n"
        assert "RuntimeError: its own" in wanted.stderr.read_text()


def test_what_is_outside_is_neither_read_nor_written(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "study" / "study.key"
    secret.parent.mkdir()
    secret.write_text("a secret")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.org")
    code = f"""
import glob, json, os, sys
reached = []
secret = {str(secret)!r}
home = {str(Path.home())!r}
for path in [secret, os.path.dirname(secret), home + "/.ssh", home + "/.bashrc", "/root/.bashrc",
             "/etc/shadow", "/var/run/docker.sock", "/run/docker.sock", "/sys/kernel",
             "/proc/1/root" + secret, "../" * 12 + secret, "/dev/sda", "/dev/vda", "/dev/mem"]:
    if os.path.exists(path) and os.access(path, os.R_OK):
        reached.append(path)
prefix = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
for path in [secret, "/written", "/usr/written", "/etc/passwd", "/etc/written", "/harness/written",
             "/bin/written", prefix + "/written", sys.prefix + "/written", "/sys/written",
             "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/home/written",
             os.path.dirname(secret) + "/new"]:
    try:
        with open(path, "a") as file:
            file.write("x")
        reached.append(path)
    except OSError:
        pass
words = " ".join(open("/proc/self/environ").read().split(chr(0)))
for word in ("ghp_secret", "proxy.example.org", secret):
    if word in words or word in json.dumps(dict(os.environ)):
        reached.append(word)
for path in ["/tmp/mine", os.path.expanduser("~/mine"), "/dev/shm/mine", "mine"]:
    with open(path, "w") as file:
        file.write("x")
writable = [line.split()[1] for line in open("/proc/self/mounts")
            if "ro" not in line.split()[3].split(",")]
processes = [name for name in os.listdir("/proc") if name.isdigit()]
print(json.dumps([reached, writable, len(processes), os.getuid(), os.getcwd()]))
"""
    result = ran(request(tmp_path, code, kind))
    assert result.ended.exit_code == 0, result.stderr
    reached, writable, processes, user, folder = json.loads(result.stdout)
    assert reached == []
    own = {"/bug", "/tmp", "/home/bug", "/proc"}  # noqa: S108  (inside)
    assert {place for place in writable if not place.startswith("/dev/")} == own
    assert processes < 5
    assert user != 0
    assert folder == "/bug"
    assert secret.read_text() == "a secret"
    assert sorted(one.name for one in secret.parent.iterdir()) == ["study.key"]
    assert (result.workspace / "mine").read_text() == "x"
    assert not Path("/tmp/mine").exists()  # noqa: S108  (the host's)


def test_no_socket_leads_outside(tmp_path: Path, kind: str) -> None:
    arrived = []
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0faultatlas-{os.getpid()}-{kind}")
        named.listen()

        def accept(listening: socket.socket) -> None:
            with contextlib.suppress(OSError):
                listening.accept()[0].close()
                arrived.append(listening)

        waiting = [threading.Thread(target=accept, args=(one,)) for one in (server, named)]
        for one in waiting:
            one.start()
        code = f"""
import socket
for family, address in [(socket.AF_INET, ("127.0.0.1", {server.getsockname()[1]})),
                        (socket.AF_INET, ("192.0.2.1", 80)),
                        (socket.AF_UNIX, "\\0faultatlas-{os.getpid()}-{kind}")]:
    with socket.socket(family) as client:
        client.settimeout(2)
        try:
            client.connect(address)
            print("connected", address)
        except OSError as error:
            print("refused")
with socket.create_server(("127.0.0.1", 0)) as own, socket.create_connection(own.getsockname()):
    print("its own")
try:
    socket.getaddrinfo("example.org", 80)
    print("resolved")
except OSError:
    print("no names")
"""
        result = ran(request(tmp_path, code, kind))
        for one in (server, named):
            one.shutdown(socket.SHUT_RDWR)
        for thread in waiting:
            thread.join()
    assert result.stdout.split("\n")[:-1] == ["refused"] * 3 + ["its own", "no names"], result
    assert arrived == []


def test_links_out_of_the_workspace_lead_nowhere(tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "file").write_text("as it was")
    shared = tmp_path / "shared"
    shared.write_text("elsewhere too")
    owner = shared.stat().st_uid
    wanted = request(
        tmp_path,
        "import os\n"
        "for name in ('folder/new', 'file'):\n"
        "    try:\n"
        "        open(name, 'w').write('x')\n"
        "        print('written')\n"
        "    except OSError:\n"
        "        print('nowhere')\n"
        "os.symlink('/etc', 'later')\n"
        "os.mkdir('closed')\n"
        "open('closed/file', 'w').close()\n"
        "os.chmod('closed', 0)\n",
        kind,
    )
    (wanted.workspace / "folder").symlink_to(outside)
    (wanted.workspace / "file").symlink_to(tmp_path / "file")
    os.link(shared, wanted.workspace / "shared")
    result = ran(wanted)
    assert result.stdout == "nowhere\nnowhere\n"
    assert (tmp_path / "file").read_text() == "as it was"
    assert outside.stat().st_mode & 0o777 == 0o500
    assert outside.stat().st_uid == os.geteuid()
    assert shared.stat().st_uid == owner  # what lies elsewhere too is not given away
    assert result.ended.written_mb < 1
    assert [one.name for one in (wanted.workspace / "closed").iterdir()] == ["file"]
    shutil.rmtree(wanted.workspace)


def test_where_there_are_no_groups_the_limits_hold_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("bubblewrap")
    monkeypatch.setattr(groups, "parents", dict)
    forks = ran(request(tmp_path / "forks", FORKS, "bubblewrap"))
    assert forks.ended.outcome is Outcome.TOO_MANY_PROCESSES
    assert forks.ended.isolation.processes == "watched"
    memory = ran(request(tmp_path / "memory", ALLOCATES, "bubblewrap"))
    assert memory.ended.outcome is Outcome.OUT_OF_MEMORY
    assert memory.ended.isolation.memory == "address space"
    assert memory.ended.memory_kills == 1
    hides = "import os, time\nkept = []\nwhile len(kept) < 100:\n"
    hides += "    kept.append(os.memfd_create('x'))\n    os.write(kept[-1], bytes(8 << 20))\n"
    hidden = ran(request(tmp_path / "hidden", hides + "time.sleep(60)", "bubblewrap"))
    assert hidden.ended.outcome is Outcome.OUT_OF_MEMORY
    at_once = "x = bytearray(100 << 30)"
    refused = ran(request(tmp_path / "at once", at_once, "bubblewrap"))
    assert (refused.ended.outcome, refused.ended.exit_code) == (Outcome.EXITED, 1)
    assert "MemoryError" in refused.stderr


DEEP = """
import os, time
name, part = "d" * 200, b"x" * (4 << 20)
for _ in range(30):  # deeper than any path can say
    os.mkdir(name)
    os.chdir(name)
for number in range(8):
    open(str(number), "wb").write(part)
time.sleep(60)
"""


def test_what_is_written_deeper_than_any_path_is_seen_too(tmp_path: Path) -> None:
    result = ran(request(tmp_path, DEEP, "auto"))
    workspace.remove(result.workspace)
    assert result.ended.outcome is Outcome.DISK_FULL
    assert result.ended.duration_s < 15


def test_many_empty_files_in_memory_are_stopped(tmp_path: Path) -> None:
    code = "import time\nfor n in range(20_000): open(f'/tmp/{n}', 'w').close()\ntime.sleep(60)"
    assert ran(request(tmp_path, code, "auto")).ended.outcome is Outcome.DISK_FULL


def test_a_command_runs_on_in_what_an_earlier_one_has_nested(tmp_path: Path) -> None:
    nests = "import os\nfor _ in range(1010):\n    os.mkdir('d')\n    os.chdir('d')\n"
    wanted = request(tmp_path, nests, "auto", limits=replace(SMALL, disk_mb=64))
    try:
        assert run(wanted).exit_code == 0
        (wanted.workspace / "program.py").write_text("print('goes on')")
        result = ran(wanted)
    finally:
        workspace.remove(wanted.workspace)  # pytest's own way would not get through it
    assert (result.ended.outcome, result.stdout) == (Outcome.EXITED, "goes on\n"), result.ended


def test_a_folder_that_cannot_be_read_is_measured_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    folder = Path("work") / "closed"
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"x" * 100_000)
    is_root = os.geteuid() == 0
    for path in (folder.parent, folder, folder / "file"):
        if is_root:
            os.chown(path, USER, USER)
    folder.chmod(0o300)
    try:
        if is_root:
            os.seteuid(USER)
        assert disk.used(Path("work")).bytes > 100_000
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_only_the_folders_in_memory_can_be_written_besides(tmp_path: Path, kind: str) -> None:
    """As the caller in a user namespace, which is what runs are that nobody privileged starts."""
    needs(kind)
    code = """
for place in ("/", "/dev", "/etc", "/home", "/usr", "/harness", "/proc"):
    try:
        open(place + "/new", "w").close()
        print(place)
    except OSError:
        pass
for place in ("/tmp", "/home/bug", "/dev/shm", "/bug"):
    open(place + "/new", "w").close()
"""
    wanted = request(tmp_path, code, kind)
    ended = run_as(wanted, kind, separate_user=False)
    assert (ended.exit_code, wanted.stdout.read_text()) == (0, "")


KEYCTL, ADD_KEY = {"x86_64": (250, 248), "aarch64": (219, 217)}.get(os.uname().machine, (0, 0))
FINDS_KEY = f"""
import ctypes
find = ctypes.CDLL(None).syscall
print(find({KEYCTL}, 10, -3, b"user", b"faultatlas-test", 0) > 0)
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_keys_of_the_session_stay_outside(tmp_path: Path, kind: str) -> None:
    needs(kind)
    libc = ctypes.CDLL(None)
    held: list[int] = []

    def with_a_key() -> None:
        if KEYCTL and libc.syscall(KEYCTL, 1, None) > 0:
            held.append(libc.syscall(ADD_KEY, b"user", b"faultatlas-test", b"secret", 6, -3))
            wanted = request(tmp_path, FINDS_KEY, kind)
            run_as(wanted, kind, separate_user=False)

    thread = threading.Thread(target=with_a_key)  # the test's own keeps its session
    thread.start()
    thread.join()
    if not held or held[0] <= 0:
        pytest.skip("this kernel keeps no keys")
    assert (tmp_path / "stdout").read_text() == "False\n"


LEAVES_KEY = f"""
import ctypes
call = ctypes.CDLL(None).syscall
call({KEYCTL}, 8, -4, -3)  # the user's keyring is looked into when it is linked to the session's
print(call({KEYCTL}, 10, -3, b"user", b"of-another-run", 0) > 0)
print(call({ADD_KEY}, b"user", b"of-another-run", b"left", 4, -4) > 0)
"""


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_no_key_is_left_for_the_next_run(tmp_path: Path, kind: str, closed: bool) -> None:  # noqa: FBT001
    """Root's runs are all those of one user, and a user has a keyring."""
    needs(kind)
    separate = choosing.offer(kind).separate_user
    if not KEYCTL or (closed and not choosing.is_closed(kind, separate_user=separate)):
        pytest.skip("this host has no user namespaces for that, or numbers that are not known")
    # A name of its own: the kernel may take a moment to forget the keys of the case before.
    code = LEAVES_KEY.replace("of-another-run", f"{kind}-{closed}")
    for number in ("first", "second"):
        wanted = request(tmp_path / number, code, kind)
        assert run_as(wanted, kind, separate_user=separate, closed=closed).exit_code == 0
        found, made = wanted.stdout.read_text().split()
        if number == "first" and made == "False":
            pytest.skip("this kernel keeps no keys")
        assert found == "False"


@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_there_is_no_way_to_a_capability(tmp_path: Path, kind: str) -> None:
    """In a user namespace of its own a program would have all of them, mounts and networks too."""
    needs(kind)
    code = """
import ctypes, os
libc = ctypes.CDLL(None)
for flags in (0x10000000, 0x10000000 | 0x00020000 | 0x40000000):
    print(libc.unshare(flags))
try:
    open("/proc/sys/user/max_user_namespaces", "w").write("9")
except OSError:
    print("closed")
print([line.split()[1].strip("0") for line in open("/proc/self/status") if line[:3] == "Cap"])
"""
    for separate in {False, choosing.offer(kind).separate_user}:
        if not choosing.is_closed(kind, separate_user=separate):
            pytest.skip("this host does not let us close user namespaces")
        wanted = request(tmp_path / str(separate), code, kind)
        ended = run_as(wanted, kind, separate_user=separate)
        assert ended.exit_code == 0, wanted.stderr.read_text()
        said = wanted.stdout.read_text().splitlines()
        assert said == ["-1", "-1", "closed", str([""] * 5)]
