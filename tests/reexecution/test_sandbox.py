"""What a sandbox measures and says, what it refuses, and that nothing survives whoever runs it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest
from sandboxed import PREFIXES, SMALL, carrying, eventually, needs, ran, request

from faultatlas.analysis.reexecution.inside import variables
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox import choosing, groups, tasks, watching
from faultatlas.analysis.reexecution.sandbox.places import check_prefix, places
from faultatlas.analysis.reexecution.sandbox.running import run
from faultatlas.data.errors import StudyError

KINDS = ["bubblewrap", "namespaces", "none"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param != "none":
        needs(request.param)
    return str(request.param)


def test_a_run_says_what_it_used(tmp_path: Path, kind: str) -> None:
    code = """
import sys, time
kept = bytearray(b"x") * (64 << 20)
print("begun")
with open("written", "wb") as file:
    file.write(b"x" * (3 << 20))
end = time.process_time() + 0.2
while time.process_time() < end:
    pass
print("failed", file=sys.stderr)
sys.exit(7)
"""
    result = ran(request(tmp_path, code, kind))
    ended = result.ended
    assert (ended.outcome, ended.exit_code, ended.signal) == (Outcome.EXITED, 7, None)
    assert (result.stdout, result.stderr) == ("begun\n", "failed\n")
    assert ended.output_bytes == len("begun\nfailed\n")
    assert not ended.output_cut
    assert 64 < ended.peak_memory_mb < 128
    assert 3 <= ended.written_mb < 3.5
    assert 0.2 <= ended.cpu_s <= ended.duration_s + 0.3
    assert 0.2 <= ended.last_output_s <= ended.duration_s + 0.1
    assert ended.isolation.kind == kind
    assert ended.isolation.network is (kind == "none")
    assert ended.problem == ""


def test_a_signal_is_told_from_an_exit(tmp_path: Path, kind: str) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    ended = ran(request(tmp_path, code, kind)).ended
    assert (ended.outcome, ended.signal) == (Outcome.SIGNALLED, signal.SIGSEGV)


def test_at_the_limit_of_time_a_program_may_still_say_good_bye(tmp_path: Path, kind: str) -> None:
    code = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("good bye"))
print("here")
time.sleep(600)
"""
    result = ran(request(tmp_path, code, kind, limits=replace(SMALL, seconds=1)))
    assert result.ended.outcome is Outcome.TIMED_OUT
    assert result.stderr == "good bye\n"
    assert 1 <= result.ended.duration_s < 10
    assert result.ended.last_output_s < 1  # a good-bye ends no silence: it had hung


def test_of_too_much_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    needs("bubblewrap")
    code = "print('first'); print('x' * (3 << 20)); print('last')"
    wanted = request(tmp_path, code, "bubblewrap")
    wanted.stdout.write_text("of an earlier command\n")
    result = ran(wanted)
    assert result.ended.outcome is Outcome.EXITED
    assert result.ended.output_cut
    assert result.ended.output_bytes == len("first\n\nlast\n") + (3 << 20)
    assert result.stdout.startswith("of an earlier command\nfirst\nxxx")
    assert result.stdout.endswith("xxx\nlast\n")
    assert "bytes were not kept]" in result.stdout
    assert len(result.stdout) < 2 << 20


def test_a_program_that_is_not_there_is_the_bugs_problem(tmp_path: Path, kind: str) -> None:
    result = ran(replace(request(tmp_path, "", kind), argv=("/no/such/program",)))
    assert (result.ended.outcome, result.ended.exit_code) == (Outcome.EXITED, 127)
    assert "/no/such/program" in result.stderr


def test_a_directory_that_leaves_the_workspace_is_refused(tmp_path: Path) -> None:
    for directory in ("..", "/etc", "a/../../b"):
        wanted = replace(request(tmp_path, "", "none"), directory=directory)
        with pytest.raises(StudyError, match="leaves the workspace"):
            run(wanted)


def test_no_prefix_opens_what_must_stay_closed(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for wide in (Path("/"), Path("/etc"), Path.home(), tmp_path):
        with pytest.raises(StudyError, match="more than an interpreter"):
            places(workspace, [wide], [], SMALL)


def test_an_interpreter_in_the_home_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "ann"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "disk" / "cache"))
    for own in (".pyenv/versions/3.8.18", ".local/share/uv/python/cpython-3.8", "venv"):
        check_prefix(home / own)
    for wide in (home, home / ".local", home / ".cache", home.parent, tmp_path / "disk"):
        with pytest.raises(StudyError, match="more than an interpreter"):
            check_prefix(wide)
    check_prefix(tmp_path / "study")
    with pytest.raises(StudyError, match="more than an interpreter"):
        check_prefix(tmp_path / "study", tmp_path / "study" / "bugs")


def test_runs_beside_each_other_in_threads(tmp_path: Path) -> None:
    needs("bubblewrap")
    code = "import sys, time; time.sleep(0.3); print(open('number').read())"

    def one(number: int) -> str:
        wanted = request(tmp_path / str(number), code, "bubblewrap")
        (wanted.workspace / "number").write_text(str(number))
        return ran(wanted).stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == ["0", "1", "2", "3"]


# What this host offers


def offers(monkeypatch: pytest.MonkeyPatch, *working: str) -> None:
    monkeypatch.setattr(
        choosing,
        "offer",
        lambda kind: choosing.Offer(kind, works=kind in working, problem="not allowed"),
    )


def test_the_best_sandbox_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    offers(monkeypatch, "bubblewrap", "namespaces")
    assert choosing.choose() == "bubblewrap"
    assert choosing.choose("namespaces") == "namespaces"
    assert choosing.choose(unsafe_network=True) == "bubblewrap"  # it is no wish to go without
    offers(monkeypatch, "namespaces")
    assert choosing.choose() == "namespaces"


def test_without_a_sandbox_nothing_runs_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    offers(monkeypatch)
    with pytest.raises(StudyError, match="bubblewrap: not allowed; namespaces: not allowed") as no:
        choosing.choose()
    assert no.value.hint
    assert choosing.choose(unsafe_network=True) == "none"
    with pytest.raises(StudyError, match="no sandbox"):
        choosing.choose("bubblewrap", unsafe_network=True)
    with pytest.raises(StudyError, match="read your files") as bare:
        choosing.choose("none")
    assert "--unsafe-network" in bare.value.hint
    with pytest.raises(StudyError, match="no isolation called"):
        choosing.choose("docker")


def test_a_kind_is_offered_only_when_a_trial_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing.shutil, "which", lambda _: "/bin/false")
    ask = choosing.offer.__wrapped__
    assert not ask("bubblewrap").works
    assert ask("bubblewrap").problem
    monkeypatch.setattr(choosing.shutil, "which", lambda _: None)
    assert ask("bubblewrap").problem == "bwrap is not installed"


ASKS_AT_ONCE = """
import sys, threading
sys.path[:0] = sys.argv[1].split(":")
from faultatlas.analysis.reexecution.sandbox import choosing, groups
trials = []
tried, works = choosing._tried, groups._works
choosing._tried = lambda kind, **how: trials.append(kind) or tried(kind, **how)
groups._works = lambda parent, name: trials.append((parent, name)) or works(parent, name)
together = threading.Barrier(8)
found = []
def ask():
    together.wait()
    found.append((tuple(sorted(groups.parents())), choosing.offer("bubblewrap").works))
threads = [threading.Thread(target=ask) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(len(trials) == len(set(trials)), sorted(set(found)), flush=True)
"""


def test_threads_that_ask_at_once_disturb_no_trial(start: Callable[..., Popen[str]]) -> None:
    """A wrong answer would stay: the worker's runs would be without groups for its whole life."""
    needs("bubblewrap")
    paths = os.pathsep.join(path for path in sys.path if path)
    told, _ = start("asks.py", ASKS_AT_ONCE, paths).communicate()
    expected = [(tuple(sorted(groups.parents())), True)]
    assert told == f"True {expected}\n"


# Groups


def test_groups_of_version_2_are_looked_for_upwards(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tmp_path / "cgroup").write_text("0::/user.slice/app.slice/terminal.scope\n")
    (tmp_path / "mountinfo").write_text(f"31 23 0:28 / {tree} rw - cgroup2 cgroup2 rw\n")
    found = groups.candidates("memory", tmp_path)
    assert [one.version for one in found] == ["cgroup v2"] * 4
    names = ["user.slice/app.slice/terminal.scope", "user.slice/app.slice", "user.slice", ""]
    assert [one.folder for one in found] == [tree / name for name in names]


def test_groups_of_version_1_are_made_where_the_process_is(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("8:pids:/\n4:memory:/docker/abc/mine\n0::/\n")
    (tmp_path / "mountinfo").write_text(
        "35 31 0:32 /docker/abc /cgroups/memory rw - cgroup cgroup rw,memory\n"
        "39 31 0:36 / /cgroups/pids rw - cgroup cgroup rw,pids\n"
        "41 31 0:38 / /cgroups/unified rw - cgroup2 cgroup2 rw\n"
    )
    memory, pids = (groups.candidates(name, tmp_path) for name in ("memory", "pids"))
    assert memory == [groups.Parent(Path("/cgroups/memory/mine"), "cgroup v1")]
    assert pids == [groups.Parent(Path("/cgroups/pids"), "cgroup v1")]


def test_counters_of_version_2_are_read(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 2\noom_kill 1\n")
    (tmp_path / "memory.stat").write_text("anon 1048576\nfile 99999999\nshmem 1048576\n")
    (tmp_path / "pids.events").write_text("max 17\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "cgroup.procs").write_text("0\n12\n13\n")
    group = groups.Group(dict.fromkeys(("memory", "pids"), (tmp_path, "cgroup v2")))
    assert (group.memory_kills(), group.refused_processes()) == (1, 17)
    assert (group.memory_mb(), group.cpu_s()) == (2.0, 2.5)
    assert group.members() == {12, 13}
    assert group.entrances() == [str(tmp_path / "cgroup.procs")]


def test_groups_of_other_users_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They could not be removed, and trying takes its time."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    home = tmp_path / "groups" / "session"
    dead = home / f"{groups.MARK}-{namespace}-{2**22 + 1}-1-aa"
    dead.mkdir(parents=True)
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    parents = {"pids": groups.Parent(home, groups.V1)}
    assert (groups.sweep(parents), dead.exists()) == (0, True)
    monkeypatch.setattr(os, "geteuid", lambda: own)
    assert (groups.sweep(parents), dead.exists()) == (1, False)


def test_only_groups_whose_sampler_is_dead_are_swept(tmp_path: Path) -> None:
    with Popen([sys.executable, "-c", "pass"]) as child:
        dead = child.pid
    space = Path("/proc/self/ns/pid").stat().st_ino
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    tree = tmp_path / "groups" / "mine"
    orphan = tmp_path / "groups" / "another" / f"faultatlas-{space}-{dead}-1-abc"
    reused = tree / f"faultatlas-{space}-{os.getpid()}-1-abc"
    kept = [
        tree / f"faultatlas-{space}-{os.getpid()}-{started}-abc",
        tree / f"faultatlas-1-{dead}-1-abc",  # of another container
        tree / "faultatlas-something",
        tree / "another",
    ]
    for folder in (orphan, reused, *kept):
        folder.mkdir(parents=True)
    assert groups.sweep({"pids": groups.Parent(tree, "cgroup v1")}) == 2
    assert sorted(tree.iterdir()) == sorted(kept)
    assert not orphan.exists()


def test_homes_of_dead_processes_are_removed_where_there_is_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = "from faultatlas.analysis.reexecution.sandbox.groups import new_name; print(new_name())"
    words = [sys.executable, "-c", code]
    ended = subprocess.run(words, check=True, capture_output=True, text=True)
    dead, alive = tmp_path / ended.stdout.strip(), tmp_path / groups.new_name()
    other = tmp_path / "faultatlas-notes"
    for home in (dead / "deep", alive, other):
        home.mkdir(parents=True)
    tasks._sweep_homes.__wrapped__()  # type: ignore[attr-defined]  # noqa: SLF001
    assert sorted(tmp_path.iterdir()) == sorted([alive, other])


def test_a_home_without_a_sandbox_says_whose_it_is_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    result = ran(request(tmp_path, "import os; print(os.environ['HOME'])", "none"))
    home = Path(result.stdout.strip())
    assert home.parent == tmp_path / "tmp"
    assert f"-{os.getpid()}-" in home.name
    assert not home.exists()


# Nothing survives

DAEMONS = """
import os, time
for number in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
open("ready", "w").close()
time.sleep(600)
"""
SUPERVISOR = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path[:0] = sys.argv[1].split(":")
from sandboxed import request
from faultatlas.analysis.reexecution.sandbox import groups
from faultatlas.analysis.reexecution.sandbox.running import run
if sys.argv[6] == "without groups":
    groups.parents = dict
folder, kind, token = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
wanted = request(folder, Path(sys.argv[5]).read_text(), kind)
run(replace(wanted, argv=(sys.executable, "-c", "pass")))  # what is tried once is tried now
print("now", flush=True)
run(replace(wanted, variables=wanted.variables | {"TOKEN": token}))
"""


def supervised(
    start: Callable[..., Popen[str]], tmp_path: Path, kind: str, token: str, how: str
) -> Popen[str]:
    """Another process that is about to run a program that leaves daemons."""
    code = tmp_path / "daemons.py"
    code.write_text(DAEMONS)
    paths = os.pathsep.join(path for path in sys.path if path)
    process = start("supervisor.py", SUPERVISOR, paths, tmp_path / "run", kind, token, code, how)
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    return process


@pytest.mark.parametrize("moment", [0.0, 0.05, "running"])
def test_a_killed_supervisor_leaves_nothing(
    tmp_path: Path, kind: str, start: Callable[..., Popen[str]], moment: float | str
) -> None:
    token = f"token-{os.getpid()}-{tmp_path.name}"
    # A sweep of somebody else's would end what is in a group: here the kernel has to, alone.
    how = "without groups" if moment == "running" else "with groups"
    supervisor = supervised(start, tmp_path, kind, token, how)
    if moment == "running":
        assert eventually((tmp_path / "run" / "workspace" / "ready").exists)
        assert eventually(lambda: len(carrying(token)) > 3)
    else:
        time.sleep(float(moment))  # it is killed somewhere on the way there
    supervisor.kill()
    supervisor.wait()
    assert eventually(lambda: not carrying(token))
    groups.sweep(groups.parents())
    mine = f"**/faultatlas-*-{supervisor.pid}-*"
    assert not [left for one in groups.parents().values() for left in one.folder.glob(mine)]


# The launcher, in which the first process of the sandbox is slow to become another user: whoever
# waits for it dies while no signal would tell.
SLOW = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("launcher", {launcher!r})
launcher = importlib.util.module_from_spec(spec)
spec.loader.exec_module(launcher)
reading, writing = os.pipe()
step_down = launcher.step_down

def slow(user, *, mapped):
    if os.getpid() == 1:
        os.close(writing)
        launcher.prctl(launcher.PR_SET_PDEATHSIG, 0)
        open("/bug/slow", "w").close()
        os.read(reading, 1)  # until nobody else has the other end
    step_down(user, mapped=mapped)

launcher.step_down = slow
sys.exit(launcher.main())
"""
SLOWLY = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path[:0] = sys.argv[1].split(":")
from sandboxed import request
from faultatlas.analysis.reexecution.sandbox import groups, watching
from faultatlas.analysis.reexecution.sandbox.running import run
groups.parents = dict
wanted = request(Path(sys.argv[2]), "import time; time.sleep(600)", "namespaces")
run(replace(wanted, argv=(sys.executable, "-c", "pass")))
watching.LAUNCHER = Path(sys.argv[3])
run(replace(wanted, variables=wanted.variables | {"TOKEN": sys.argv[4]}))
"""


def test_a_supervisor_that_dies_while_the_user_changes_leaves_nothing(
    tmp_path: Path, start: Callable[..., Popen[str]]
) -> None:
    needs("namespaces")
    token = f"token-{os.getpid()}-{tmp_path.name}"
    launcher = tmp_path / "launcher.py"
    launcher.write_text(SLOW.format(launcher=str(watching.LAUNCHER)))
    paths = os.pathsep.join(path for path in sys.path if path)
    supervisor = start("supervisor.py", SLOWLY, paths, tmp_path / "run", launcher, token)
    assert eventually((tmp_path / "run" / "workspace" / "slow").exists)
    program = (tmp_path / "run" / "workspace" / "program.py").name.encode()
    assert eventually(lambda: any(program in _words(pid) for pid in carrying(token)))
    supervisor.kill()
    supervisor.wait()
    assert eventually(lambda: not carrying(token))


def _words(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@pytest.mark.parametrize("which", ["launcher", "sandbox"])
def test_a_killed_sandbox_is_lost_and_leaves_nothing(tmp_path: Path, which: str) -> None:
    needs("bubblewrap")
    token = f"token-{os.getpid()}-{tmp_path.name}"
    wanted = request(tmp_path, DAEMONS, "bubblewrap")
    wanted = replace(wanted, variables=wanted.variables | {"TOKEN": token})
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, wanted)
        assert eventually((wanted.workspace / "ready").exists)
        launcher = min(_children(os.getpid()))
        victim = launcher if which == "launcher" else min(_children(launcher))
        os.kill(victim, signal.SIGKILL)
        ended = running.result()
    assert ended.outcome is Outcome.LOST
    assert ended.problem == "the sandbox was killed from outside"
    assert eventually(lambda: not carrying(token))


def _children(pid: int) -> set[int]:
    """Those that run our launcher, or what it started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and (b"launcher.py" in words or b"bwrap" in words):
            found.add(int(folder.name))
    return found


def test_harness_and_sandbox_cost_little(tmp_path: Path) -> None:
    """In computing time, which does not depend on what else runs; the clock is for benchmarks."""
    needs("bubblewrap")
    wanted = replace(request(tmp_path, "", "bubblewrap"), argv=(sys.executable, "-c", "pass"))
    run(wanted)

    def computed() -> float:
        whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(sum(resource.getrusage(one)[:2]) for one in whose)

    def cost_s(what: Callable[[], object]) -> float:
        before = computed()
        what()
        return computed() - before

    plain = [sys.executable, "-c", "pass"]
    alone = min(cost_s(lambda: subprocess.run(plain, check=True)) for _ in range(3))
    inside = min(cost_s(lambda: run(wanted)) for _ in range(3))
    assert inside - alone < 0.3


def test_the_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    found = variables(7)
    assert found["FAULTATLAS_SEED"] == found["PYTHONHASHSEED"] == "7"
    assert (found["TZ"], found["HOME"]) == ("UTC", "/home/bug")
    assert found["CUDA_VISIBLE_DEVICES"] == ""
    assert variables(7, "GPU-1")["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    assert 0 <= int(variables(2**40 + 5)["PYTHONHASHSEED"]) < 2**32
    assert not {name for name in found if "TOKEN" in name or "PROXY" in name.upper()}
    assert not [value for value in found.values() if str(PREFIXES[0]) in value]
