"""Environments: built without a network from packages made by hand."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from needed import needing
from wheel_making import make_source, make_wheel

from faultatlas.analysis.reexecution.bugs import EnvironmentSpec, Fidelity
from faultatlas.analysis.reexecution.environments import installing, limiting, preparing
from faultatlas.analysis.reexecution.environments.keeping import Cache
from faultatlas.analysis.reexecution.environments.preparing import (
    EnvironmentProblem,
    Prepared,
    prepare,
)
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox import groups
from faultatlas.analysis.reexecution.sandbox.processes import of_process

OFFLINE = ("--no-index", "--find-links wheels")

pytestmark = needing(installing.find_uv(), "uv is not installed (the extra reexecution)")
needs_bubblewrap = needing(installing.has_bubblewrap(), "packages are built in bubblewrap alone")


@pytest.fixture
def bug(tmp_path: Path) -> Path:
    folder = tmp_path / "bug"
    make_wheel(folder / "wheels", "leaf", "1.0")
    make_wheel(folder / "wheels", "leaf", "1.4")
    make_wheel(folder / "wheels", "tree", "2.0", requires=["leaf<1.3"])
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "cache"


def spec(*lines: str, python: str = "any") -> EnvironmentSpec:
    return EnvironmentSpec(python=python, requirements=(*OFFLINE, *lines))


def run(prepared: Prepared, code: str) -> str:
    words = [prepared.python, "-B", "-c", code]
    ended = subprocess.run(words, check=True, capture_output=True, text=True, env={})
    return ended.stdout.strip()


def test_the_declared_pins_are_installed_compiled_and_recorded(bug: Path, cache: Path) -> None:
    made = prepare(spec("tree==2.0"), cache=cache, base=bug)

    assert run(made, "import tree, leaf; print(tree.VERSION, leaf.VERSION)") == "2.0 1.0"
    assert made.versions["tree"] == "2.0"
    assert made.versions["leaf"] == "1.0"
    assert made.fidelity == (Fidelity.DECLARED,)
    assert made.repairs == ()
    packages = next(made.python.parent.parent.glob("lib/python*/site-packages"))
    assert list(packages.glob("__pycache__/tree.*.pyc"))
    record = json.loads((cache / "envs" / made.key / "environment.json").read_text())
    assert record["versions"] == made.versions
    assert record["size_mb"] >= record["own_mb"] > 0


def test_packages_are_shared_with_the_downloads_by_hard_links(bug: Path, cache: Path) -> None:
    made = prepare(spec("tree==2.0"), cache=cache, base=bug)

    module = next(made.python.parent.parent.glob("lib/python*/site-packages/tree.py"))
    assert module.stat().st_nlink > 1


def test_a_second_request_takes_what_is_there(bug: Path, cache: Path) -> None:
    told: list[str] = []
    first = prepare(spec("tree==2.0"), cache=cache, base=bug, tell=told.append)
    again = prepare(spec("tree==2.0"), cache=cache, base=bug, tell=told.append)

    assert again == first
    assert len(told) == 1


def test_the_order_of_lines_comments_and_the_folder_do_not_matter(
    bug: Path, cache: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    (other / "wheels").mkdir(parents=True)
    for wheel in (bug / "wheels").iterdir():
        (other / "wheels" / wheel.name).write_bytes(wheel.read_bytes())

    first = prepare(spec("tree==2.0", "leaf==1.0"), cache=cache, base=bug)
    second = prepare(spec("Leaf == 1.0  # here", "", "tree==2.0"), cache=cache, base=other)

    assert first.key == second.key


def test_another_wheel_under_the_same_name_is_another_environment(bug: Path, cache: Path) -> None:
    first = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    make_wheel(bug / "wheels", "leaf", "1.0", files={"more.py": ""})

    assert prepare(spec("leaf==1.0"), cache=cache, base=bug).key != first.key


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("tree==2.0", "leaf==1.4"), "leaf"),
        (("nowhere==1.0",), "nowhere was not found"),
        (("tree==7.0",), "tree==7.0"),
        (("what is this?",), "what is this?"),
        (("-r /etc/passwd",), "leaves the bug's folder"),
        (("--find-links ../../..", "leaf"), "leaves the bug's folder"),
        (("--frobnicate yes",), "is not known"),
        (("./src",), "a folder is no package"),
        (("leaf @ file:///etc/leaf-1.0-py3-none-any.whl",), "leaves the bug's folder"),
        (("leaf @ file://localhost/etc/hostname",), "is no package of the bug's"),
        (("leaf @ file:../x/leaf-1.0-py3-none-any.whl",), "leaves the bug's folder"),
        (("leaf @ git+file:///home/ann/leaf",), "none of the bug's"),
        (("-e git+file:///home/ann/leaf#egg=leaf",), "none of the bug's"),
    ],
)
def test_pins_that_cannot_be_installed_are_told_in_one_line(
    bug: Path, cache: Path, lines: tuple[str, ...], said: str
) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        prepare(spec(*lines), cache=cache, base=bug)

    assert caught.value.outcome is Outcome.NO_ENVIRONMENT
    assert said in caught.value.line
    assert "\n" not in caught.value.line
    assert str(cache) not in caught.value.line + caught.value.log
    assert not Cache(cache).keys()


def test_a_failure_is_remembered_and_not_tried_again_at_once(bug: Path, cache: Path) -> None:
    wanted = spec("leaf==1.0", "sprout")
    told: list[str] = []
    for _ in range(2):
        with pytest.raises(EnvironmentProblem, match="sprout"):
            prepare(wanted, cache=cache, base=bug, tell=told.append)

    assert len(told) == 1


def test_a_problem_can_be_sent_between_processes() -> None:
    problem = EnvironmentProblem(Outcome.NOT_STARTED, "line", "log")

    copy = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own

    assert (copy.outcome, copy.line, copy.log) == (problem.outcome, "line", "log")


def test_a_prepared_environment_can_be_sent_between_processes(bug: Path, cache: Path) -> None:
    made = prepare(spec("leaf==1.0"), cache=cache, base=bug)

    copy = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert copy == made
    made.release()
    assert Cache(cache).remove(made.key)  # the copy holds nothing


def test_a_vanished_pin_is_replaced_by_the_nearest_patch_release(bug: Path, cache: Path) -> None:
    make_wheel(bug / "wheels", "bush", "1.2.1")
    make_wheel(bug / "wheels", "bush", "1.2.9")
    make_wheel(bug / "wheels", "bush", "1.3.0")

    made = prepare(spec("bush==1.2.3"), cache=cache, base=bug)

    assert made.versions["bush"] == "1.2.1"
    assert made.repairs == ("nearest-release",)
    assert made.fidelity == (Fidelity.SUBSTITUTED,)


def test_another_minor_version_does_not_stand_in(bug: Path, cache: Path) -> None:
    make_wheel(bug / "wheels", "bush", "1.3.0")

    with pytest.raises(EnvironmentProblem, match=r"bush==1\.2\.3"):
        prepare(spec("bush==1.2.3"), cache=cache, base=bug)


def test_guessed_versions_are_marked(bug: Path, cache: Path) -> None:
    wanted = EnvironmentSpec("any", (*OFFLINE, "leaf==1.0"), guessed=("leaf",))

    assert Fidelity.GUESSED in prepare(wanted, cache=cache, base=bug).fidelity


def test_an_unknown_repair_is_named(bug: Path, cache: Path) -> None:
    wanted = EnvironmentSpec("any", (*OFFLINE, "leaf==1.0"), repairs=("magic",))

    with pytest.raises(EnvironmentProblem, match="magic"):
        prepare(wanted, cache=cache, base=bug)


def test_without_uv_the_next_step_is_told(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "find_uv", lambda: None)

    with pytest.raises(EnvironmentProblem, match=r"faultatlas\[reexecution\]") as caught:
        prepare(spec("leaf==1.0"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NOT_STARTED


def test_a_cache_that_cannot_be_written_is_the_hosts_fault(bug: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(EnvironmentProblem) as caught:
        prepare(spec("leaf==1.0"), cache=file, base=bug)
    assert caught.value.outcome is Outcome.NOT_STARTED


# -- this installation ----------------------------------------------------------------------------


def test_what_this_installation_has_is_not_built(cache: Path) -> None:
    made = prepare(EnvironmentSpec("any", ("packaging", "rich>=13")), cache=cache)

    assert made.python == Path(sys.executable)
    assert made.key.startswith("host-")
    assert {"packaging", "rich", "pygments"} <= set(made.versions)
    assert Path(sys.base_prefix) in made.readonly
    assert not cache.exists()


def test_the_host_shows_every_folder_that_its_interpreter_needs() -> None:
    made = prepare(EnvironmentSpec())
    real = Path(os.path.realpath(sys.executable))

    assert any(real.is_relative_to(os.path.realpath(place)) for place in made.readonly)
    assert any(Path(sys.executable).is_relative_to(place) for place in made.readonly)


@pytest.mark.parametrize("line", ["packaging<1", "surely-not-installed", "x @ file:///x.whl"])
def test_what_it_does_not_have_is_not_taken_from_it(line: str) -> None:
    assert preparing.host.satisfied((line,)) is None


@pytest.mark.parametrize("line", ['packaging; os_name ~= "posix"', "packaging; nonsense == '1'"])
def test_a_marker_that_cannot_be_answered_is_a_problem_of_its_line(cache: Path, line: str) -> None:
    assert preparing.host.satisfied((line,)) is None
    with pytest.raises(EnvironmentProblem, match="is no requirement") as caught:
        prepare(EnvironmentSpec("any", (line,)), cache=cache)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT


def test_what_the_host_must_have_is_never_built(cache: Path) -> None:
    made = prepare(EnvironmentSpec("host", ("packaging",)), cache=cache)
    assert made.python == Path(sys.executable)
    lines = ("packaging", "torch-of-tomorrow", "torchvision-of-tomorrow>=9", "x;$(touch y)")
    with pytest.raises(EnvironmentProblem) as caught:
        prepare(EnvironmentSpec("host", lines), cache=cache)
    assert caught.value.outcome is Outcome.NO_INTERPRETER
    step = "pip install torch-of-tomorrow 'torchvision-of-tomorrow>=9' ..."
    assert caught.value.line.endswith(step)
    assert not cache.exists()


def test_nothing_is_imported_to_look_at_this_installation() -> None:
    code = (
        "import sys; from faultatlas.analysis.reexecution.environments.preparing import prepare; "
        "from faultatlas.analysis.reexecution.bugs import EnvironmentSpec; "
        "prepare(EnvironmentSpec(requirements=('numpy', 'pandas'))); "
        "print('numpy' in sys.modules or 'pandas' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert ended.stdout.strip() == "False"


# -- packages that must be built ------------------------------------------------------------------


@needs_bubblewrap
def test_a_package_without_a_wheel_is_built(bug: Path, cache: Path) -> None:
    make_source(bug / "wheels", "root", "3.1")
    made = prepare(spec("root==3.1", "tree==2.0"), cache=cache, base=bug)

    assert run(made, "import root, tree; print(root.VERSION)") == "3.1"
    assert sorted(path.name for path in (cache / "envs" / made.key).iterdir()) == [
        "environment.json", "log.txt", "venv",
    ]  # fmt: skip


@needs_bubblewrap
def test_a_build_sees_neither_home_nor_cache_nor_variables(
    bug: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.write_text("x")
    monkeypatch.setenv("HOME", str(secret.parent))
    monkeypatch.setenv("SOME_TOKEN", "hunter2")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter2@127.0.0.1:9")
    seen = (
        f"import os, sys\n"
        f"seen = [p for p in ({str(secret)!r}, {str(cache / 'uv')!r}) if os.path.exists(p)]\n"
        f"seen += [k for k, v in os.environ.items() if 'hunter2' in v]\n"
        f"try:\n    open({str(bug / 'written')!r}, 'w'); seen.append('bug')\n"
        f"except OSError: pass\n"
        f"sys.exit('seen: ' + repr(seen))"
    )
    make_source(bug / "wheels", "root", "3.1", seen)

    with pytest.raises(EnvironmentProblem, match=r"seen: \[\]"):
        prepare(spec("root==3.1"), cache=cache, base=bug)


@needs_bubblewrap
def test_what_a_build_prints_is_told_without_control_characters(bug: Path, cache: Path) -> None:
    make_source(bug / "wheels", "root", "3.1", "import sys\nsys.exit('\\x1b[31mno \\x07compiler')")

    with pytest.raises(EnvironmentProblem, match=r"root==3\.1.*no compiler") as caught:
        prepare(spec("root==3.1"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT
    assert not {"\x1b", "\x07"} & set(caught.value.line + caught.value.log)


@needs_bubblewrap
def test_a_build_cannot_blame_the_host(bug: Path, cache: Path) -> None:
    make_source(bug / "wheels", "root", "3.1", "import sys\nsys.exit('No space left on device')")

    with pytest.raises(EnvironmentProblem) as caught:
        prepare(spec("root==3.1"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT


@needs_bubblewrap
def test_a_build_that_hangs_is_cut_and_leaves_nothing(bug: Path, cache: Path) -> None:
    make_source(bug / "wheels", "root", "3.1", _sleep("97531.1"))

    with pytest.raises(EnvironmentProblem, match="not built within") as caught:
        prepare(spec("root==3.1"), cache=cache, base=bug, seconds=3.0)
    assert caught.value.outcome is Outcome.NOT_STARTED
    assert not _running("97531.1")
    assert not Cache(cache).keys()


_MANY = "import os, time\nfor _ in range(600):\n    if os.fork() == 0:\n        time.sleep(600)"
_LARGE = "kept = bytearray(1 << 30)\nimport time\ntime.sleep(600)"
_FULL = "with open('full', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20))"


@needs_bubblewrap
@pytest.mark.parametrize("has_groups", [True, False])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (_MANY, "starts more than"),
        (_LARGE, "needs more than 600 MB of memory"),
        (_FULL, "writes more than 50 MB"),
    ],
)
def test_a_build_without_measure_is_stopped(
    bug: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    said: str,
    *,
    has_groups: bool,
) -> None:
    if has_groups and not {"memory", "pids"} <= set(groups.parents()):
        pytest.skip("no control groups can be made here")
    if not has_groups:
        monkeypatch.setattr(groups, "parents", dict)
    processes = 150 if has_groups else 40  # threads count only there
    for name, most in (("MEMORY_MB", 600), ("PROCESSES", processes), ("DISK_MB", 50)):
        monkeypatch.setattr(limiting, name, most)
    make_source(bug / "wheels", "root", "3.1", code)

    with pytest.raises(EnvironmentProblem, match=said) as caught:
        prepare(spec("root==3.1"), cache=cache, base=bug, seconds=60.0)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT
    assert not Cache(cache).keys()


def test_a_disk_that_gets_full_is_the_hosts_fault(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter([10**6])
    monkeypatch.setattr(limiting.Guard, "_free_mb", lambda _: next(left, 1.0))
    monkeypatch.setattr(limiting, "_EVERY_S", 0.001)

    with pytest.raises(EnvironmentProblem, match="disk has less than") as caught:
        prepare(spec("leaf==1.0"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NOT_STARTED


def test_without_a_sandbox_nothing_is_built(
    bug: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "has_bubblewrap", lambda: False)
    ran = bug / "ran"
    make_source(bug / "wheels", "root", "3.1", f"open({str(ran)!r}, 'w')")

    with pytest.raises(EnvironmentProblem, match="root has no wheel") as caught:
        prepare(spec("root==3.1"), cache=cache, base=bug)
    assert caught.value.outcome is Outcome.NOT_STARTED
    assert not ran.exists()
    # Wheels need no code of their own to be installed.
    assert prepare(spec("leaf==1.0"), cache=cache, base=bug).versions["leaf"] == "1.0"
    # It can be allowed.
    made = prepare(spec("root==3.1"), cache=cache, base=bug, isolation="none")
    assert made.versions["root"] == "3.1"
    assert ran.exists()


def _sleep(seconds: str) -> str:
    code = "import subprocess\nopen('/tmp/started', 'w').close()\n"
    return f"{code}subprocess.run(['sleep', '{seconds}'])"


def _running(word: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(place.name))
    return found


def _wait(until: Callable[[], object], seconds: float = 30.0) -> None:
    ends_at = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < ends_at, "it never happened"
        time.sleep(0.02)


def _started(bug: Path, cache: Path, *lines: str) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; "
        "from faultatlas.analysis.reexecution.bugs import EnvironmentSpec; "
        "from faultatlas.analysis.reexecution.environments.preparing import prepare; "
        "bug, cache, *lines = sys.argv[1:]; "
        "made = prepare(EnvironmentSpec(requirements=tuple(lines)), cache=Path(cache), "
        "base=Path(bug), tell=print); print(made.key)"
    )
    words = [sys.executable, "-c", code, str(bug), str(cache), *OFFLINE, *lines]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@needs_bubblewrap
def test_a_killed_build_leaves_nothing_that_counts_and_nobody_alive(bug: Path, cache: Path) -> None:
    hang = bug / "hang"
    hang.touch()
    code = f"import os\nif os.path.exists({str(hang)!r}):\n    import subprocess\n"
    code += "    open('/tmp/started', 'w').close()\n    subprocess.run(['sleep', '97531.2'])"
    make_source(bug / "wheels", "root", "3.1", code)
    with _started(bug, cache, "root==3.1") as builder:
        _wait(lambda: list(cache.glob("envs/*/tmp/started")) and _running("97531.2"))
        builder.send_signal(signal.SIGKILL)

    _wait(lambda: not _running("97531.2"))
    (unfinished,) = Cache(cache).keys()
    assert Cache(cache).record(unfinished) is None
    hang.unlink()
    assert prepare(spec("root==3.1"), cache=cache, base=bug).versions["root"] == "3.1"


# Where there is no bubblewrap: a child, and one that left the session and the group.
_FAMILY = """
import subprocess, sys, time
words = [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]]
subprocess.Popen(words)
subprocess.Popen(words, start_new_session=True)
open(sys.argv[2], "w").close()
if len(sys.argv) > 3:
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_without_bubblewrap_a_killed_builder_leaves_nobody_alive(
    tmp_path: Path, number: signal.Signals
) -> None:
    name, started = str(tmp_path / "family"), tmp_path / "started"
    code = (
        "import sys; from pathlib import Path; "
        "from faultatlas.analysis.reexecution.environments.installing import _supervised; "
        "_supervised(sys.argv[2:], {}, Path(sys.argv[1]), 600.0)"
    )
    words = [sys.executable, "-c", _FAMILY, name, str(started), "stay"]
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path), *words]) as builder:
        _wait(started.exists)
        builder.send_signal(number)

    _wait(lambda: not _running(name))


@pytest.mark.parametrize("more", [[], ["stay"]])
def test_without_bubblewrap_nothing_outlives_its_command(tmp_path: Path, more: list[str]) -> None:
    """Neither when it has ended nor when it took too long."""
    name = str(tmp_path / "family")
    words = [sys.executable, "-c", _FAMILY, name, str(tmp_path / "started"), *more]
    if more:
        with pytest.raises(subprocess.TimeoutExpired):
            installing._supervised(words, {}, tmp_path, 0.5)  # noqa: SLF001
    else:
        assert installing._supervised(words, {}, tmp_path, 60.0) == (0, "")  # noqa: SLF001
    assert _running(name) == []


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    code, said = installing._supervised(["/nowhere/at/all"], {}, tmp_path, 60.0)  # noqa: SLF001
    assert (code, said.strip()) == (127, "/nowhere/at/all: No such file or directory")


@needs_bubblewrap
def test_of_two_builders_one_builds_and_the_other_waits(bug: Path, cache: Path) -> None:
    go = bug / "go"
    code = "import os, time\nopen('/tmp/started', 'w').close()\nfor _ in range(1500):\n"
    code += f"    if os.path.exists({str(go)!r}):\n        break\n    time.sleep(0.02)"
    make_source(bug / "wheels", "root", "3.1", code)
    with _started(bug, cache, "root==3.1") as first:
        _wait(lambda: list(cache.glob("envs/*/tmp/started")))
        with _started(bug, cache, "root==3.1") as second:
            _wait(lambda: _holds(second.pid, cache / "locks"))
            go.touch()
            said = [first.communicate(timeout=60)[0], second.communicate(timeout=60)[0]]

    assert sum("building" in one for one in said) == 1
    assert said[0].split()[-1] == said[1].split()[-1]


def _holds(pid: int, folder: Path) -> bool:
    """Whether a process has a file of this folder open."""
    opened = []
    for place in of_process(pid, "fd"):
        try:
            opened.append(place.readlink())
        except OSError:
            continue
    return any(one.is_relative_to(folder) for one in opened)


# -- room -----------------------------------------------------------------------------------------


def test_what_was_used_longest_ago_goes_first_and_never_what_is_used(
    bug: Path, cache: Path
) -> None:
    kept = Cache(cache)
    old = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    used = prepare(spec("leaf==1.4"), cache=cache, base=bug)
    for days, made in ((3, used), (2, old)):
        then = time.time() - days * 86400
        os.utime(cache / "envs" / made.key / "environment.json", (then, then))
    assert kept.keys() == [used.key, old.key]
    old.release()

    new = prepare(spec("tree==2.0"), cache=cache, base=bug, budget_mb=0)

    assert kept.keys() == [used.key, new.key]  # the older one is in use, the newer one just came
    assert run(used, "import leaf; print(leaf.VERSION)") == "1.4"
    assert run(new, "import tree; print(tree.VERSION)") == "2.0"
    again = prepare(spec("leaf==1.0"), cache=cache, base=bug)
    assert again.key == old.key
    assert run(again, "import leaf; print(leaf.VERSION)") == "1.0"


def test_an_environment_that_nobody_refers_to_any_more_may_go(bug: Path, cache: Path) -> None:
    key = prepare(spec("leaf==1.0"), cache=cache, base=bug).key

    assert Cache(cache).remove(key)


def test_only_as_much_goes_as_is_needed_and_links_count_once(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    for position, name in enumerate(("a", "b", "c")):
        folder = kept.place(name)
        folder.mkdir(parents=True)
        (folder / "own").write_bytes(os.urandom(1_000_000))
        (folder / "environment.json").write_text("{}")
        os.utime(folder / "environment.json", (1000 + position, 1000 + position))
    archive = kept.downloads / "archive-v0" / "package"
    archive.mkdir(parents=True)
    (archive / "shared").write_bytes(os.urandom(1_000_000))
    for name in ("b", "c"):
        (kept.place(name) / "shared").hardlink_to(archive / "shared")
    assert 4.0 < kept.size_mb() < 4.3

    assert kept.make_room(3.5) == ["a"]
    assert kept.make_room(2.5) == ["b"]
    assert (archive / "shared").exists()  # c still has it
    assert kept.make_room(0.5) == ["c"]
    assert not archive.exists()


def test_what_a_killed_removal_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "envs" / ".gone-x-1"
    left.mkdir(parents=True)

    Cache(tmp_path).make_room(1000)

    assert not left.exists()
