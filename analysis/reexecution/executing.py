"""One run of one side, from the bug's folder to `run.json`.

What the host does wrong is a Run too, with its reason in one line; only what nobody could record
(a full disk) is an error. A run that is interrupted leaves nothing, neither files nor processes.
"""

from __future__ import annotations

import contextlib
import os
import platform
import posixpath
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution import devices, inside, results
from faultatlas.analysis.reexecution import workspace as workspaces
from faultatlas.analysis.reexecution.artifacts.content import check_files, content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.bugs import Bug, Fidelity
from faultatlas.analysis.reexecution.environments import repairing
from faultatlas.analysis.reexecution.environments.preparing import (
    EnvironmentProblem,
    Prepared,
    forget,
    prepare,
)
from faultatlas.analysis.reexecution.host_places import without_places
from faultatlas.analysis.reexecution.runs import RAN, Device, Outcome, Run
from faultatlas.analysis.reexecution.sandbox import running
from faultatlas.analysis.reexecution.workspace import DataError, Workspace
from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError

ENVIRONMENT_LOG = "environment.log"
CHECK = ".check"  # of the workspace: the oracle's own files, put there after the run
CHECK_S = 60.0
_PYTHONS = frozenset({"python", "python3", "python2"})
_LONGEST = 300  # characters of a problem
FULL_MB = 4  # a disk with less was full while the bug ran


@dataclass(frozen=True)
class Task:
    """What is to be run. It pickles small: a worker reads the bug itself."""

    folder: Path  # of the bug
    bug_id: str
    content: str
    side: str
    seed: int
    root: Path  # of the results
    attempt: int = 1
    device: str = "auto"  # auto, cpu, cuda
    isolation: str = "auto"  # auto, bubblewrap, namespaces, none
    unsafe_network: bool = False
    cache: Path | None = None  # of environments
    budget_mb: int | None = None  # that they may take


def execute(task: Task) -> Path:
    """Run it unless it has been run; its folder, in which run.json is now.

    Raises OSError where the disk is too full to record it, StudyError where it cannot be recorded
    for another reason.
    """
    forget()  # what is installed here may be another thing than at the last task
    bug, kind, problem = _read(task)
    folder = results.run_folder(
        task.root,
        task.bug_id,
        task.content,
        kind,
        side=task.side,
        seed=task.seed,
        attempt=task.attempt,
    )
    if results.read_run(folder) is not None:
        return folder
    with _ended_by_sigterm(), results.alone(folder) as is_ours:
        if is_ours:
            run = _Running(task, kind, folder).run(bug, problem)
            results.write_run(folder, run)
    return folder


def _read(task: Task) -> tuple[Bug | None, str, str]:
    """The bug, the kind of device that it runs on here, and why one of them is not to be had."""
    asked = "cuda" if task.device == "cuda" else "cpu"
    try:
        bug = read(task.folder)
        return bug, devices.kind(task.device, bug), ""
    except StudyError as error:
        return None, asked, error.message
    except OSError as error:
        return None, asked, f"the bug's folder cannot be read: {error.strerror}"


class _NotStartedError(Exception):
    """The run ends before it began; the text is the problem."""

    def __init__(self, problem: str, outcome: Outcome = Outcome.NOT_STARTED) -> None:
        super().__init__(problem)
        self.outcome = outcome


@contextlib.contextmanager
def _faults_of_the_artifact() -> Iterator[None]:
    """What is wrong with a bug's files is no fault of the host: another one would end so too."""
    try:
        yield
    except StudyError as error:
        raise _NotStartedError(error.message, Outcome.BAD_ARTIFACT) from error


class _Running:
    """The making of one Run."""

    def __init__(self, task: Task, kind: str, folder: Path) -> None:
        self._task, self._folder = task, folder
        self._so_far = Run(
            bug_id=task.bug_id,
            content=task.content,
            side=task.side,
            seed=task.seed,
            attempt=task.attempt,
            outcome=Outcome.NOT_STARTED,
            device=Device(kind),
            started_at=utc_now().replace(tzinfo=UTC).isoformat(timespec="milliseconds"),
            host=_host(),
        )

    def run(self, bug: Bug | None, problem: str) -> Run:
        """The whole of it; every failure that is not ours alone is in the record."""
        try:
            if bug is None:
                self._failed(Outcome.NOT_STARTED, problem)
            else:
                self._check(bug)
                prepared = self._environment(bug)
                try:
                    self._in_workspace(bug, prepared)
                finally:
                    prepared.release()
        except EnvironmentProblem as error:
            self._log(error.log)
            self._failed(error.outcome, error.line)
        except DataError as error:
            self._failed(Outcome.NO_DATA, str(error))
        except _NotStartedError as error:
            self._failed(error.outcome, str(error))
        except StudyError as error:
            self._failed(Outcome.NOT_STARTED, error.message)
        except OSError as error:
            self._failed(Outcome.NOT_STARTED, f"the host failed: {error.strerror or error}")
        return replace(self._so_far, problem=self._one_line(self._so_far.problem))

    def _check(self, bug: Bug) -> None:
        task = self._task
        with _faults_of_the_artifact():
            content = content_hash(bug)
        if bug.bug_id != task.bug_id or content != task.content:
            raise _NotStartedError("the bug's folder has changed since the run was planned")
        if task.side not in bug.runs:
            raise _NotStartedError(f"the bug has no commands for its {task.side} side")
        workspaces.check_data(bug)

    def _environment(self, bug: Bug) -> Prepared:
        task = self._task
        try:
            prepared = prepare(
                bug.environment,
                device=self._so_far.device.kind,
                cache=task.cache,
                base=bug.folder,
                budget_mb=task.budget_mb,
                isolation=task.isolation,
                tell=self._tell,
            )
        finally:
            results.prepares(self._folder, "")
        stand_in = [Fidelity.STAND_IN_DATA] if any(each.stand_in for each in bug.data) else []
        marks = dict.fromkeys([*bug.fidelity, *prepared.fidelity, *stand_in])
        self._so_far = replace(
            self._so_far,
            environment=prepared.key,
            versions=dict(prepared.versions),
            repairs=tuple(prepared.repairs),
            fidelity=tuple(str(mark) for mark in marks),
        )
        return prepared

    def _in_workspace(self, bug: Bug, prepared: Prepared) -> None:
        place = self._folder / results.WORKSPACE
        try:
            with _faults_of_the_artifact():
                made = workspaces.make(bug, self._task.side, place)
            self._so_far = replace(self._so_far, source_bytes=made.source_bytes)
            with contextlib.ExitStack() as stack:
                gpu = watch = None
                if self._so_far.device.kind == "cuda":
                    gpu = stack.enter_context(devices.lent())
                    watch = stack.enter_context(devices.Watch(gpu))
                commands = _Commands(self._task, bug, prepared, made, gpu)
                self._commands(bug, commands)
            if watch is not None:
                self._so_far = replace(self._so_far, device=watch.device)
            self._collect(bug, made)
            if bug.oracle.check and _is_good(self._so_far):
                self._checked(bug, commands)
        finally:
            with contextlib.suppress(OSError):  # swept later
                workspaces.remove(place)

    def _commands(self, bug: Bug, commands: _Commands) -> None:
        """One after the other, in the time that is left, until one fails."""
        logs = self._folder / results.STDOUT, self._folder / results.STDERR
        for log in logs:
            log.touch()
        for number, words in enumerate(bug.runs[self._task.side].commands):
            so_far = self._so_far
            if number and not _is_folder(commands.made.folder, commands.directory):
                self._so_far = replace(so_far, exit_code=127, command=number)
                with logs[1].open("a", encoding="utf-8") as said:
                    said.write(f"{commands.directory!r}: an earlier command has removed it\n")
                break
            left = replace(
                bug.limits,
                seconds=max(0.05, bug.limits.seconds - so_far.duration_s),
                disk_mb=max(1, bug.limits.disk_mb - int(so_far.written_mb)),
            )
            ended = commands.run(words, left, *logs)
            self._so_far = _added(so_far, ended, number)
            if not _is_good(self._so_far):
                break
        if self._so_far.outcome in RAN and _is_full(self._folder):
            raise _NotStartedError("the disk of the host was full while the bug ran")

    def _collect(self, bug: Bug, made: Workspace) -> None:
        states = workspaces.states(made, bug)
        self._so_far = replace(self._so_far, files=states)
        fresh = [path for path, state in states.items() if state == workspaces.FRESH]
        results.keep_outputs(self._folder, made.folder, fresh)

    def _checked(self, bug: Bug, commands: _Commands) -> None:
        """What the oracle's own command says about what the run left."""
        words = _check_words(bug, commands.made.folder, commands.directory)
        limits = replace(bug.limits, seconds=CHECK_S)
        logs = self._folder / results.CHECK_STDOUT, self._folder / results.CHECK_STDERR
        ended = commands.run(words, limits, *logs)
        if ended.outcome is Outcome.EXITED:
            self._so_far = replace(self._so_far, checked=ended.exit_code)
        else:
            why = ended.problem or str(ended.outcome)
            problem = f"the check command did not end: {why}"
            self._so_far = replace(self._so_far, problem=problem)

    def _tell(self, text: str) -> None:
        with contextlib.suppress(OSError):  # it is for a display
            results.prepares(self._folder, self._one_line(text))

    def _failed(self, outcome: Outcome, problem: str) -> None:
        self._so_far = replace(self._so_far, outcome=outcome, problem=problem)
        if outcome is Outcome.NO_ENVIRONMENT:  # until other repairs are known
            self._so_far = replace(self._so_far, repairs_edition=repairing.edition())

    def _one_line(self, text: str) -> str:
        """Short, printable, and without the paths of this host."""
        task = self._task
        for path, name in (
            (self._folder, "the run's folder"),
            (task.folder, "the bug's folder"),
            (task.root, "the results"),
            (task.cache, "the cache"),
        ):
            if path is not None and path != Path(path.anchor):
                text = text.replace(str(path.absolute()), name).replace(str(path), name)
        text = "".join(each if each.isprintable() else " " for each in text)
        text = without_places(" ".join(text.split()))
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    def _log(self, text: str) -> None:
        if text:
            path = self._folder / ENVIRONMENT_LOG
            path.write_text(text, encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class _Commands:
    """How commands are run in one workspace."""

    task: Task
    bug: Bug
    prepared: Prepared
    made: Workspace
    gpu: devices.Gpu | None

    @property
    def directory(self) -> str:
        """Where commands run, in the workspace."""
        return self.bug.runs[self.task.side].directory

    def run(self, words: tuple[str, ...], limits: Any, stdout: Path, stderr: Path) -> running.Ended:
        """One command in the sandbox."""
        task, python = self.task, self.prepared.python
        variables = inside.variables(task.seed, self.gpu.uuid if self.gpu else "cpu")
        variables["PATH"] = f"{python.parent}:{variables['PATH']}"
        directory = self.directory
        program = str(python) if words[0] in _PYTHONS else words[0]
        if not _is_there(program, variables["PATH"], self.made.folder, directory):
            raise _NotStartedError(
                f"the program {program!r} is not in the environment", Outcome.NO_ENVIRONMENT
            )
        return running.run(
            running.Request(
                argv=(program, *words[1:]),
                workspace=self.made.folder,
                directory=directory,
                readonly=self.prepared.readonly,
                variables=variables,
                limits=limits,
                stdout=stdout,
                stderr=stderr,
                devices=devices.nodes() if self.gpu else (),
                isolation=task.isolation,
                unsafe_network=task.unsafe_network,
            )
        )


def _added(run: Run, ended: running.Ended, number: int) -> Run:
    """The record with one command more."""
    wrote = ended.output_bytes > 0
    return replace(
        run,
        outcome=ended.outcome,
        exit_code=ended.exit_code,
        signal=ended.signal,
        command=number,
        duration_s=run.duration_s + ended.duration_s,
        cpu_s=run.cpu_s + ended.cpu_s,
        peak_memory_mb=max(run.peak_memory_mb, ended.peak_memory_mb),
        memory_kills=run.memory_kills + ended.memory_kills,
        last_output_s=run.duration_s + ended.last_output_s if wrote else run.last_output_s,
        output_bytes=run.output_bytes + ended.output_bytes,
        output_cut=run.output_cut or ended.output_cut,
        written_mb=run.written_mb + ended.written_mb,
        isolation=ended.isolation,
        problem=ended.problem,
    )


def _is_good(run: Run) -> bool:
    return run.outcome is Outcome.EXITED and run.exit_code == 0


def _is_folder(workspace: Path, directory: str) -> bool:
    """Whether the workspace still has it: what a program did with it is no fault of the host."""
    place = os.path.realpath(workspace / directory)
    return Path(place).is_relative_to(os.path.realpath(workspace)) and Path(place).is_dir()


def _is_there(program: str, path: str, workspace: Path, directory: str) -> bool:
    """Whether a program can be found; one with a `/` is a file of the workspace or the system."""
    if "/" in program:
        if program.startswith(f"{inside.WORKSPACE}/"):
            return os.path.lexists(workspace / program.removeprefix(f"{inside.WORKSPACE}/"))
        return os.path.lexists(workspace / directory / program)
    return shutil.which(program, path=path) is not None


def _check_words(bug: Bug, folder: Path, directory: str) -> tuple[str, ...]:
    """The check command; files of the bug's folder that it names are put into the workspace.

    They come from the artifact, not from what the run left of them.
    """
    workspaces.remove(folder / CHECK)
    there = {}
    for word in check_files(bug):
        to = folder / CHECK / word
        to.parent.mkdir(parents=True, exist_ok=True)
        with workspaces.reading(bug.folder.resolve(), word) as file:
            if file is None:
                raise _NotStartedError("the bug's folder has changed since the run was planned")
            with to.open("wb") as copy:
                shutil.copyfileobj(file, copy)
        there[word] = posixpath.relpath(posixpath.join(CHECK, word), directory)
    return tuple(there.get(word, word) for word in bug.oracle.check)


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < FULL_MB << 20


def _host() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": os.cpu_count() or 0,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
    }


class _EndedBySigtermError(BaseException):
    """Not an Exception, so that nobody takes it for a failed run."""


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM, where nobody else takes it, cleans up first and kills the process then."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _EndedBySigtermError

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _EndedBySigtermError:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
