"""What builds may take: the room of environments, and that limits hold from the beginning."""

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest
from needed import needing
from wheel_making import make_wheel

from faultatlas.analysis.reexecution.bugs import EnvironmentSpec
from faultatlas.analysis.reexecution.environments import installing, limiting
from faultatlas.analysis.reexecution.environments.keeping import Cache, Lock
from faultatlas.analysis.reexecution.environments.preparing import EnvironmentProblem, prepare
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox import groups

pytestmark = needing(installing.find_uv(), "uv is not installed (the extra reexecution)")


@pytest.fixture
def bug(tmp_path: Path) -> Path:
    folder = tmp_path / "bug"
    for version in ("1.0", "1.4"):
        make_wheel(folder / "wheels", "leaf", version)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "cache"


def spec(*lines: str) -> EnvironmentSpec:
    return EnvironmentSpec(requirements=("--no-index", "--find-links wheels", *lines))


def test_a_command_begins_in_its_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However late whoever watches it comes."""
    wait = limiting.Guard.wait

    def late(
        guard: limiting.Guard, child: subprocess.Popen[bytes], log: IO[bytes], seconds: float
    ) -> None:
        child.wait()
        wait(guard, child, log, seconds)

    monkeypatch.setattr(limiting.Guard, "wait", late)
    words = ["cat", "/proc/self/cgroup"]
    code, said = installing._supervised(words, {"PATH": "/bin"}, tmp_path, 60.0)  # noqa: SLF001
    assert code == 0
    for name in groups.parents():
        lines = [line for line in said.splitlines() if name in line or line.startswith("0::")]
        assert any(f"/{groups.MARK}-" in line for line in lines), (name, said)


def test_a_disk_that_is_full_already_lets_nothing_begin(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiting.Guard, "_free_mb", lambda _: 1.0)

    with pytest.raises(EnvironmentProblem, match="disk has less than") as caught:
        prepare(spec("leaf==1.0"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NOT_STARTED


def test_the_limit_of_disk_holds_for_wheels_too(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = os.urandom(5_000_000).hex()  # 10 MB, of which setuptools has not half
    make_wheel(bug / "wheels", "large", "1.0", files={"large.txt": large})
    monkeypatch.setattr(limiting, "DISK_MB", 9)

    assert prepare(spec("leaf==1.0"), cache=cache, base=bug).versions["leaf"] == "1.0"
    with pytest.raises(EnvironmentProblem, match="writes more than 9 MB") as caught:
        prepare(spec("large==1.0"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT


_UNPACKS = """
import os, sys
unpacked, ready = sys.argv[1:]
os.mkdir(unpacked + "/.tmp1")
with open(unpacked + "/.tmp1/file", "wb") as file:
    file.write(os.urandom(5 << 20))
    file.flush()
    print("open", flush=True)
    input()
os.rename(unpacked + "/.tmp1", unpacked + "/archive")
print("renamed", flush=True)
input()
"""


def test_of_a_shared_folder_counts_what_the_command_unpacks(tmp_path: Path) -> None:
    (tmp_path / ".tmp-of-others").mkdir()
    (tmp_path / ".tmp-of-others" / "file").write_bytes(os.urandom(9 << 20))
    words = [sys.executable, "-c", _UNPACKS, str(tmp_path), ""]
    shell = ["/bin/sh", "-c", '"$@"; :', "sh", *words]  # whose descendant it is
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        assert one.stdin is not None
        unpacked = limiting._Unpacked(tmp_path)  # noqa: SLF001
        for said in ("open\n", "renamed\n"):
            assert one.stdout.readline() == said
            unpacked._next_look = 0.0  # noqa: SLF001
            unpacked.look(one.pid)
            assert 5 << 20 <= unpacked.written < 6 << 20
            one.stdin.write("\n")
            one.stdin.flush()
        unpacked.close()


def _cut_short(wheel: Path) -> None:
    """Without its list of files no installer takes it, once it is unpacked."""
    with zipfile.ZipFile(wheel) as whole:
        parts = {name: whole.read(name) for name in whole.namelist() if "RECORD" not in name}
    with zipfile.ZipFile(wheel, "w") as cut:
        for name, content in parts.items():
            cut.writestr(name, content)


def test_failed_builds_leave_nothing_that_takes_room_from_others(bug: Path, cache: Path) -> None:
    kept = Cache(cache)
    good = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    good.release()
    budget = int(kept.size_mb()) + 3
    for number in range(4):
        large = os.urandom(1_500_000).hex()  # 3 MB
        make_wheel(bug / "wheels", f"large{number}", "1.0", files={f"l{number}.txt": large})
        _cut_short(make_wheel(bug / "wheels", f"cut{number}", "1.0"))
        left = kept.downloads / f".tmp{number}"  # what uv leaves when it is killed
        left.mkdir()
        (left / "unpacked").write_bytes(os.urandom(3_000_000))
        wanted = spec(f"large{number}==1.0", f"cut{number}==1.0")
        with pytest.raises(EnvironmentProblem):
            prepare(wanted, cache=cache, base=bug, budget_mb=budget)
        assert kept.size_mb() <= budget
        assert not list(kept.downloads.rglob(".tmp*"))
    assert kept.keys() == [good.key]


def test_after_a_killed_build_all_is_measured(bug: Path, cache: Path) -> None:
    kept = Cache(cache)
    first = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    first.release()
    budget = int(kept.size_mb()) + 20
    kept.make_room(budget, has_failed=True)
    unfinished = kept.place("unfinished")
    (unfinished / "venv").mkdir(parents=True)
    package = kept.downloads / "archive-v0" / "of-a-killed-build"
    package.mkdir(parents=True)
    (package / "unpacked").write_bytes(os.urandom(20_000_000))

    prepare(spec("leaf==1.4"), cache=cache, base=bug, budget_mb=budget)

    assert not package.exists()
    assert not unfinished.exists()
    assert kept.record(first.key)
    assert kept.size_mb() <= budget


def test_threads_of_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    for name in ("a", "b", "c", "d"):
        (kept.place(name) / "venv" / "bin").mkdir(parents=True)
        (kept.place(name) / "venv" / "bin" / "python").touch()
        kept.finish(name, {"size_mb": 1.0})
    before = kept._measured_mb()  # noqa: SLF001

    def work(number: int) -> None:
        kept.answer("request", {"key": str(number)})
        kept._at_most_mb("abcd"[number % 4])  # noqa: SLF001

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(200)))
    assert kept._at_most_mb("") == pytest.approx(before + 200)  # noqa: SLF001
    assert not [file for file in tmp_path.rglob(".*") if file.is_file()]


def test_while_somebody_builds_nothing_of_theirs_is_removed(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    (kept.downloads / ".tmpx").mkdir(parents=True)
    kept.place("x").mkdir(parents=True)
    building = kept.lock("x")
    assert building.take(shared=False)
    with kept.downloading():
        kept.make_room(0, has_failed=True)
        assert (kept.downloads / ".tmpx").exists()
        assert kept.place("x").exists()
    building.release()
    kept.make_room(0)
    assert not (kept.downloads / ".tmpx").exists()
    assert not kept.place("x").exists()


def test_an_environment_that_is_removed_in_the_moment_it_is_ready_is_built_again(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To turn a lock of one kind into one of the other gives it up for a moment."""
    take, gone = Lock.take, []

    def taken(lock: Lock, *, shared: bool, seconds: float | None = None) -> bool:
        ready = list(cache.glob("envs/*/environment.json"))
        if shared and seconds is None and ready and not gone:
            take(lock, shared=True)
            lock.release()
            gone.append(Cache(cache).remove(ready[0].parent.name))
            lock.__init__(cache / "locks" / ready[0].parent.name)  # type: ignore[misc]
        return take(lock, shared=shared, seconds=seconds)

    monkeypatch.setattr(Lock, "take", taken)
    made = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    assert gone == [True]
    assert made.python.exists()
    assert not Cache(cache).remove(made.key)  # it is in use
