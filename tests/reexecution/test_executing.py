"""One run from the bug's folder to its record, in the real sandbox."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import signal
import site
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bug_making import make_bug
from sandboxed import needs

from faultatlas.analysis.reexecution import devices, executing, results
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.environments import repairing
from faultatlas.analysis.reexecution.executing import Task, execute
from faultatlas.analysis.reexecution.runs import Evidence, Isolation, Outcome, Run
from faultatlas.analysis.reexecution.sandbox import running
from faultatlas.analysis.reexecution.traces.failures import failure_of

ROOT = Path(__file__).parents[2]
CRASH = "print('begins')\nraise ValueError('too short')"


@pytest.fixture(autouse=True)
def no_gpu_of_this_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "PROGRAM", "nvidia-smi-of-tests")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def task_for(folder: Path, side: str = "buggy", **more: Any) -> Task:
    bug = read(folder)
    root = folder.parent / "results"
    keys: dict[str, Any] = {"seed": 1, "cache": folder.parent / "environments", **more}
    return Task(folder, bug.bug_id, content_hash(bug), side, root=root, **keys)


def ran(folder: Path, side: str = "buggy", **more: Any) -> Evidence:
    return results.evidence(execute(task_for(folder, side, **more)))


def make(tmp_path: Path, buggy: Any = CRASH, **more: Any) -> Path:
    return make_bug(tmp_path / "bug", buggy=buggy, fixed=more.pop("fixed", "print('ok')"), **more)


def problem_of(evidence: Evidence, tmp_path: Path) -> tuple[Outcome, str]:
    """Also sees that nothing in the record names a place of this host."""
    run = evidence.run
    assert str(tmp_path) not in results.encoded(run)
    assert run.problem.isprintable()
    return run.outcome, run.problem


def test_a_run_is_recorded_with_all_that_was_seen(tmp_path: Path) -> None:
    folder = make(tmp_path)
    before = content_hash(read(folder))
    where = execute(task_for(folder))
    assert where.relative_to(tmp_path).as_posix() == f"results/made/bug/{before[:16]}-cpu/buggy-1-1"
    found = results.evidence(where)
    run = found.run
    assert (run.bug_id, run.content, run.side, run.seed) == ("made/bug", before, "buggy", 1)
    assert (run.outcome, run.exit_code, run.problem) == (Outcome.EXITED, 1, "")
    assert found.stdout == "begins\n"
    assert "ValueError: too short" in found.stderr
    assert 0 < run.duration_s < 20
    assert run.output_bytes == len(found.stdout) + len(found.stderr)
    assert run.isolation.kind in {"bubblewrap", "namespaces"}
    assert run.isolation.network is False
    assert run.device.kind == "cpu"
    assert run.fidelity == ("declared",)
    assert run.source_bytes == len(CRASH)
    assert run.host["processors"] >= 1
    assert not (where / "workspace").exists()
    assert str(tmp_path) not in (where / "run.json").read_text()


def test_a_readme_beside_an_empty_script_is_no_program(tmp_path: Path) -> None:
    folder = make(tmp_path, fixed=" \n\n")
    (folder / "fixed" / "README.md").write_text("The fix is in train.py.\n")
    assert ran(folder, "fixed").run.source_bytes == 0


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    task = task_for(make(tmp_path))
    where = execute(task)
    first = (where / "run.json").read_bytes()
    assert execute(task) == where
    assert (where / "run.json").read_bytes() == first


def test_two_at_once_run_it_once(tmp_path: Path) -> None:
    task = task_for(make(tmp_path, "import time\nprint(time.time_ns())"))
    found = []
    threads = [threading.Thread(target=lambda: found.append(execute(task))) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found[0] == found[1]
    assert len(results.evidence(found[0]).stdout.split()) == 1


def test_the_seed_decides_and_the_run_does_not(tmp_path: Path) -> None:
    folder = make(tmp_path, "import random\nprint(random.random())")
    first, second, other = (
        ran(folder, seed=seed, attempt=attempt).stdout for seed, attempt in ((1, 1), (1, 2), (2, 1))
    )
    assert first == second != other


def test_commands_run_in_turn_until_one_fails(tmp_path: Path) -> None:
    files = {"a.py": "open('a', 'w').write('A')", "b.py": "print(open('a').read()); raise KeyError"}
    commands = [["python", "a.py"], ["python3", "b.py"], ["python", "a.py"]]
    found = ran(make(tmp_path, files, run={"buggy": {"commands": commands}}))
    assert (found.run.command, found.run.exit_code, found.stdout) == (1, 1, "A\n")


@pytest.mark.parametrize("isolation", ["bubblewrap", "namespaces"])
@pytest.mark.parametrize("then", ["", "os.symlink('/nowhere', 'sub')", "open('sub', 'w')"])
def test_a_program_that_removes_its_directory_blames_no_host(
    tmp_path: Path, then: str, isolation: str
) -> None:
    needs(isolation)
    removes = f"import os, shutil\nos.chdir('/bug')\nshutil.rmtree('sub')\n{then}"
    files = {"sub/a.py": "print('begun')", "remove.py": removes}
    commands = [["python", "a.py"], ["python", "/bug/remove.py"], ["python", "a.py"]]
    folder = make(tmp_path, files, run={"buggy": {"commands": commands, "directory": "sub"}})
    found = ran(folder, isolation=isolation)
    assert (found.run.outcome, found.run.exit_code, found.run.command) == (Outcome.EXITED, 127, 2)
    assert found.stderr == "'sub': an earlier command has removed it\n"
    assert (found.stdout, found.run.problem) == ("begun\n", "")
    assert found.run.isolation.kind == isolation


def test_all_commands_share_the_time_and_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def ended(request: Any) -> Any:
        given.append((request.limits.seconds, request.limits.disk_mb))
        isolation = Isolation("bubblewrap")
        last = len(given) == 2
        return executing.running.Ended(
            Outcome.TIMED_OUT if last else Outcome.EXITED,
            isolation,
            exit_code=None if last else 0,
            duration_s=7.0,
            cpu_s=1.0,
            last_output_s=2.0,
            output_bytes=10,
            written_mb=3.5,
            peak_memory_mb=100 / len(given),
        )

    monkeypatch.setattr(executing.running, "run", ended)
    commands = [["python", "main.py"]] * 3
    limits = {"seconds": 20, "disk_mb": 64}
    folder = make(tmp_path, "", run={"buggy": {"commands": commands}}, limits=limits)
    run = ran(folder).run
    assert given == [(20, 64), (13, 61)]
    assert (run.outcome, run.command) == (Outcome.TIMED_OUT, 1)
    assert (run.duration_s, run.cpu_s, run.last_output_s) == (14, 2, 9)
    assert (run.output_bytes, run.written_mb, run.peak_memory_mb) == (20, 7, 100)


def test_a_later_command_may_add_to_a_long_file(tmp_path: Path) -> None:
    """What it may write is not how long the file may be."""
    begins = "open('log', 'ab').write(bytes(5 << 20))"
    adds = "open('log', 'ab').write(bytes(1 << 20)); print(len(open('log', 'rb').read()) >> 20)"
    commands = [["python", "-c", begins], ["python", "-c", adds]]
    folder = make(tmp_path, run={"buggy": {"commands": commands}}, limits={"disk_mb": 8})
    found = ran(folder)
    assert (found.run.outcome, found.run.exit_code, found.stdout) == (Outcome.EXITED, 0, "6\n")


def test_place_directory_and_data_are_where_the_artifact_says(tmp_path: Path) -> None:
    found = ran(
        make(
            tmp_path,
            "import os\nprint(os.getcwd(), open('../in/t.csv').read(), os.listdir('/bug'))",
            data={"t.csv": "1,2"},
            run={"data": "in", "buggy": {"place": "src", "directory": "src"}},
        )
    )
    assert found.stdout in {"/bug/src 1,2 ['src', 'in']\n", "/bug/src 1,2 ['in', 'src']\n"}


def test_a_bug_cannot_change_its_artifact(tmp_path: Path) -> None:
    spoil = """
import os
for name in ("main.py", "data/t.csv"):
    open(name, "w").write("spoilt")
os.makedirs("deep/er"); os.chmod("deep/er", 0); os.chmod("deep", 0)
"""
    folder = make(tmp_path, spoil, data={"t.csv": "1"})
    before = content_hash(read(folder))
    where = execute(task_for(folder))
    assert results.evidence(where).run.exit_code == 0
    assert content_hash(read(folder)) == before
    assert {path.name for path in where.iterdir()} == {"run.json", "stdout", "stderr"}


def test_outputs_are_kept_when_they_are_fresh_text_of_the_run(tmp_path: Path) -> None:
    files = {
        "main.py": "import os\n"
        "open('new.txt', 'w').write('loss 0.5')\n"
        "os.symlink('/etc/passwd', 'link.txt')\n"
        "open('score.txt', 'w').write('7')\n",
        "stale.json": "{}",
    }
    found = ran(
        make(
            tmp_path,
            files,
            run={"outputs": ["new.txt", "stale.json", "none.txt", "link.txt"]},
            symptom="incorrect output",
            oracle={"file": "score.txt", "pattern": "(.)", "expected": 7},
        )
    )
    assert found.run.files == {
        "new.txt": "fresh",
        "stale.json": "stale",
        "none.txt": "missing",
        "link.txt": "missing",
        "score.txt": "fresh",
    }
    assert found.outputs == {"new.txt": "loss 0.5", "score.txt": "7"}


CHECKING = {
    "symptom": "incorrect output",
    "oracle": {"check": ["python", "check.py"]},
    "files": {"check.py": "import sys\nprint('seen')\nsys.exit(open('out').read() != 'good')"},
}


@pytest.mark.parametrize(("wrote", "code"), [("good", 0), ("bad", 1)])
def test_the_oracles_check_sees_what_the_run_left(tmp_path: Path, wrote: str, code: int) -> None:
    """The check is the artifact's, whatever a run put into its place."""
    program = f"""
import os
open('out', 'w').write('{wrote}')
open('check.py', 'w').write('')
os.makedirs('.check/check.py')
os.symlink('/etc', '.check/etc')
"""
    found = ran(make(tmp_path, program, **CHECKING))
    assert (found.run.checked, found.run.exit_code) == (code, 0)
    assert (found.stdout, found.checked) == ("", "seen\n")


def test_a_check_may_name_a_file_twice_and_lie_behind_a_linked_folder(tmp_path: Path) -> None:
    code = "import sys\nsys.exit(open(sys.argv[1]).read() != open(sys.argv[2]).read())"
    folder = make(
        tmp_path,
        "open('right', 'w').write('other')",
        symptom="incorrect output",
        oracle={"check": ["python", "check.py", "right", "right"]},
        files={"check.py": code, "right": "as it is"},
    )
    (tmp_path / "linked").symlink_to(folder)
    assert ran(tmp_path / "linked").run.checked == 0


def test_a_check_in_the_data_is_found_from_another_directory(tmp_path: Path) -> None:
    found = ran(
        make(
            tmp_path,
            "open('out', 'w').write('bad')",
            symptom="incorrect output",
            oracle={"check": ["python", "data/check.py"]},
            data={"check.py": CHECKING["files"]["check.py"]},  # type: ignore[index]
            run={"buggy": {"place": "src", "directory": "src"}},
        )
    )
    assert found.run.checked == 1


def test_what_crashed_is_not_checked(tmp_path: Path) -> None:
    found = ran(make(tmp_path, "open('out', 'w').write('bad'); 1 / 0", **CHECKING))
    assert (found.run.checked, found.run.exit_code, found.checked) == (None, 1, "")


def test_a_check_that_does_not_end_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "CHECK_S", 0.3)
    more = {**CHECKING, "files": {"check.py": "import time; time.sleep(60)"}}
    run = ran(make(tmp_path, "print()", **more)).run
    assert (run.outcome, run.checked) == (Outcome.EXITED, None)
    assert run.problem == "the check command did not end: timed out"


def test_missing_data_is_no_data(tmp_path: Path) -> None:
    folder = make(tmp_path, data={"t.csv": "1"})
    (folder / "data/t.csv").write_text("other")
    outcome, problem = problem_of(ran(folder), tmp_path)
    assert (outcome, problem) == (
        Outcome.NO_DATA,
        "data/t.csv has another checksum than declared",
    )


def test_an_interpreter_that_is_not_here_is_named(tmp_path: Path) -> None:
    folder = make(tmp_path, environment={"python": "3.99"})
    outcome, problem = problem_of(ran(folder), tmp_path)
    assert outcome is Outcome.NO_INTERPRETER
    assert "3.99" in problem


def test_a_script_that_is_not_there_is_told_without_where_the_interpreter_lies(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path, run={"buggy": {"commands": [["python", "trian.py"]]}})
    found = ran(folder)
    assert f"{sys.executable}: can't open file '/bug/trian.py'" in found.stderr
    failure = failure_of(read(folder), found.run, found.stdout, found.stderr)
    assert failure is not None
    assert failure.message.startswith("python: can't open file '/bug/trian.py'")


def test_what_the_sandbox_says_itself_names_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"bwrap: Can't find source path {sys.prefix}/lib and /mnt/ann/x: no such file"
    ended = running.Ended(Outcome.NOT_STARTED, Isolation("bubblewrap"), problem=said)
    monkeypatch.setattr(running, "run", lambda _request: ended)
    assert problem_of(ran(make(tmp_path)), tmp_path) == (
        Outcome.NOT_STARTED,
        "bwrap: Can't find source path <path>/lib and <path>/x: no such file",
    )


def test_an_environment_that_cannot_be_built_is_a_result_with_its_line(tmp_path: Path) -> None:
    folder = make(tmp_path, requirements=["this is no requirement"])
    outcome, problem = problem_of(ran(folder), tmp_path)
    assert outcome is Outcome.NO_ENVIRONMENT
    assert "this is no requirement" in problem


def test_while_an_environment_is_built_its_run_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_for(make(tmp_path), budget_mb=7000)
    seen: list[Any] = []

    def building(*_spec: Any, **named: Any) -> None:
        named["tell"](f"building in {tmp_path}/environments with Python 3.8")
        (folder,) = task.root.rglob("buggy-1-1")
        seen.extend([results.preparing(folder), named["budget_mb"]])
        raise executing.EnvironmentProblem(Outcome.NO_ENVIRONMENT, "gone")

    monkeypatch.setattr(executing, "prepare", building)
    folder = execute(task)
    assert seen == ["building in the cache with Python 3.8", 7000]
    assert results.preparing(folder) == ""
    assert sorted(each.name for each in folder.iterdir()) == ["run.json"]


def test_a_program_that_the_environment_has_not_is_named(tmp_path: Path) -> None:
    folder = make(tmp_path, run={"buggy": {"commands": [["no-such-program", "x"]]}})
    found = ran(folder)
    outcome, problem = problem_of(found, tmp_path)
    assert outcome is Outcome.NO_ENVIRONMENT
    assert problem == "the program 'no-such-program' is not in the environment"
    assert found.run.repairs_edition == repairing.edition()  # until then it stays so


def test_a_program_is_found_from_the_top_of_the_workspace(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho started\n"
    commands = {"commands": [["/bug/run.sh"]], "directory": "work"}
    folder = make(tmp_path, {"run.sh": script}, run={"buggy": commands})
    (folder / "buggy/run.sh").chmod(0o755)
    assert ran(folder).stdout == "started\n"


def test_an_artifact_that_changed_meanwhile_is_not_run_under_the_old_name(tmp_path: Path) -> None:
    folder = make(tmp_path)
    task = task_for(folder)
    (folder / "buggy/main.py").write_text("print('other')")
    outcome, problem = problem_of(results.evidence(execute(task)), tmp_path)
    assert outcome is Outcome.NOT_STARTED
    assert problem == "the bug's folder has changed since the run was planned"


def test_an_artifact_that_is_gone_is_said(tmp_path: Path) -> None:
    folder = make(tmp_path)
    task = task_for(folder)
    shutil.rmtree(folder)
    outcome, problem = problem_of(results.evidence(execute(task)), tmp_path)
    assert outcome is Outcome.NOT_STARTED
    assert problem.startswith("the bug's folder/bug.toml")


def test_a_side_without_commands_is_said(tmp_path: Path) -> None:
    folder = make(tmp_path, fixed=None)
    outcome, problem = problem_of(ran(folder, "fixed"), tmp_path)
    assert (outcome, problem) == (
        Outcome.NOT_STARTED,
        "the bug has no commands for its fixed side",
    )


def test_a_link_that_leaves_is_not_followed(tmp_path: Path) -> None:
    folder = make(tmp_path)
    task = task_for(folder)
    (folder / "buggy/secret").symlink_to("/etc/passwd")
    outcome, problem = problem_of(results.evidence(execute(task)), tmp_path)
    assert outcome is Outcome.BAD_ARTIFACT
    assert "secret" in problem


def test_files_that_cannot_lie_beside_each_other_are_the_artifacts_fault(tmp_path: Path) -> None:
    folder = make(tmp_path, {"main.py": "print()", "data": "a file"}, data={"t.csv": "1"})
    outcome, problem = problem_of(ran(folder), tmp_path)
    assert outcome is Outcome.BAD_ARTIFACT
    assert problem == "made/bug: data would be a file and a folder of the workspace"


@pytest.mark.parametrize("where", ["scandir", "open"])
def test_what_the_host_cannot_read_now_is_no_fault_of_the_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder = make(tmp_path)
    task = task_for(folder)
    real = getattr(os, where)
    unread = folder / "buggy" if where == "scandir" else folder / "buggy" / "main.py"

    def broken(path: Any = ".", *more: Any, **named: Any) -> Any:
        if path == unread:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, where, broken)
        found = results.evidence(execute(task))
    outcome, problem = problem_of(found, tmp_path)
    assert (outcome, problem) == (Outcome.NOT_STARTED, "the host failed: Too many open files")


def test_a_worker_that_lives_long_sees_what_is_installed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(packages)])
    wanted = {"python": "host"}
    folder = make(tmp_path, environment=wanted, requirements=["sapling==1.0"])
    assert ran(folder).run.outcome is Outcome.NO_INTERPRETER
    info = packages / "sapling-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sapling\nVersion: 1.0\n")
    assert ran(folder, attempt=2).run.outcome is Outcome.EXITED
    executing.forget()


def test_a_disk_too_full_for_the_copy_is_the_hosts_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _where: usage)
    outcome, problem = problem_of(ran(make(tmp_path)), tmp_path)
    assert outcome is Outcome.NOT_STARTED
    assert problem.startswith("the host failed: a copy of 0 MB is needed")


def test_a_disk_that_filled_up_while_it_ran_is_not_the_bugs_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "FULL_MB", 1 << 40)
    outcome, problem = problem_of(ran(make(tmp_path)), tmp_path)
    assert (outcome, problem) == (
        Outcome.NOT_STARTED,
        "the disk of the host was full while the bug ran",
    )


def test_a_record_that_cannot_be_written_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    task = task_for(make(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="made/bug could not be written"):
            execute(task)
    assert not list((tmp_path / "results").rglob("*-1-1"))
    assert results.read_run(execute(task)) is not None


def test_without_a_sandbox_nothing_runs_unless_told_so(tmp_path: Path) -> None:
    folder = make(tmp_path, "open('out', 'w').write('bad')", **CHECKING)
    refused = ran(folder, isolation="none")
    outcome, problem = problem_of(refused, tmp_path)
    assert outcome is Outcome.NOT_STARTED
    assert problem.startswith("without isolation")
    assert refused.run.isolation.kind == ""  # nothing ran, so nothing ran without a sandbox
    told = ran(folder, isolation="none", unsafe_network=True, attempt=2).run
    assert (told.outcome, told.checked) == (Outcome.EXITED, 1)
    assert (told.isolation.kind, told.isolation.network) == ("none", True)


def test_asking_for_a_gpu_where_there_is_none_is_the_hosts_fault(tmp_path: Path) -> None:
    where = execute(task_for(make(tmp_path), device="cuda"))
    found = results.evidence(where)
    assert where.parent.name.endswith("-cuda")
    assert found.run.device.kind == "cuda"
    outcome, problem = problem_of(found, tmp_path)
    assert outcome is Outcome.NOT_STARTED
    assert problem.startswith("no GPU was found")


SHOW = "import os\nprint(os.environ['CUDA_VISIBLE_DEVICES'])"


def test_a_bug_about_a_gpu_runs_on_a_cpu_and_its_record_says_so(tmp_path: Path) -> None:
    found = ran(make(tmp_path, SHOW, labels={"about_gpu": True}))
    assert (found.run.outcome, found.run.device.kind) == (Outcome.EXITED, "cpu")
    assert found.stdout == "\n"


def test_a_run_on_a_gpu_sees_one_and_is_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "nvidia-smi-of-tests"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *index*) echo "0, GPU-1234, Fake 1, 8192";; '
        '*) echo "77, 5";; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = ran(make(tmp_path, SHOW, labels={"about_gpu": True}))
    assert found.stdout == "GPU-1234\n"
    device = found.run.device
    assert (device.kind, device.name, device.uuid, device.memory_mb, device.peak_memory_mb) == (
        "cuda",
        "Fake 1",
        "GPU-1234",
        8192,
        77,
    )


def test_a_task_is_small(tmp_path: Path) -> None:
    task = task_for(make(tmp_path, "x" * 100_000))
    packed = pickle.dumps(task)
    assert len(packed) < 1500
    assert pickle.loads(packed) == task  # noqa: S301


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    task = task_for(make(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(executing.running, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            execute(task)
    assert not list((tmp_path / "results").rglob("*-1-1"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_the_run_and_all_its_processes(
    tmp_path: Path, number: signal.Signals
) -> None:
    mark = f"mark-{os.getpid()}-{tmp_path.name}-{number}"
    sleep = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{mark}'])\n"
        "print('begins', flush=True)\ntime.sleep(600)\n"
    )
    commands = [["python", "main.py", mark]]
    task = task_for(make(tmp_path, sleep, run={"buggy": {"commands": commands}}))
    program = (
        "import pickle, sys\n"
        "from faultatlas.analysis.reexecution.executing import execute\n"
        "execute(pickle.load(sys.stdin.buffer))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as worker:
        assert worker.stdin is not None
        worker.stdin.write(pickle.dumps(task))
        worker.stdin.close()
        _until(lambda: len(_processes(mark)) >= 2)
        assert results.sweep(task.root) == results.Swept()  # it is in progress
        worker.send_signal(number)
        assert worker.wait(30) == -number
    _until(lambda: not _processes(mark))
    left = list(task.root.rglob("buggy-1-1"))
    if number is signal.SIGKILL:
        assert list(results.sweep(task.root).removed) == left != []
    else:
        assert left == []
    assert results.stored(task.root, task.bug_id, task.content, "cpu") == []


def _processes(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and b"--die-with-parent" not in words:
            found.append(path.name)
    return found


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def test_a_killed_runs_remains_do_not_mix_with_the_next(tmp_path: Path) -> None:
    task = task_for(make(tmp_path))
    where = execute(task)
    record = json.loads((where / "run.json").read_text())
    (where / "run.json").unlink()
    (where / "lock").touch()
    (where / "stdout").write_text("of the killed one\n")
    (where / "workspace").mkdir()
    (where / "workspace/main.py").write_text("print('of the killed one')")
    assert execute(task) == where
    found = results.evidence(where)
    assert found.stdout == "begins\n"
    assert isinstance(found.run, Run)
    assert replace(found.run).content == record["content"]
