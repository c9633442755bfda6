"""One call of `analysis reexecute`: the bugs, a pool, the display, and the study's rows.

Rows are written in short transactions after the files they speak of, and can always be made again
from those: whoever is killed in between loses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.analysis.reexecution import devices, judging, pools, results, storing
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.runs import Device, Outcome, Run
from faultatlas.analysis.reexecution.sampler import Done, Handling, Job, Kept, Left, Now, Sampler
from faultatlas.data.errors import StudyError
from faultatlas.report.console import explained
from faultatlas.report.formatting import counted
from faultatlas.report.old.console import Output
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.executing import Task
    from faultatlas.data import provenance
    from faultatlas.data.study import Study

FOLDER = "reexecution"  # of a study: where runs lie
_EVERY_S = 2.0  # how often rows are written


@dataclass(frozen=True)
class Asked:
    """What the user wants of the runs."""

    seeds: int = 3
    device: str = "auto"
    isolation: str = "auto"
    unsafe_network: bool = False
    workers: int | None = None
    cluster: str = ""
    budget_s: float | None = None
    cache_mb: int | None = None  # that all environments may take


@dataclass
class Session:
    """Bugs that are run and judged in a study."""

    study: Study
    asked: Asked
    output: Output
    run: provenance.Run
    _waiting: list[Done] = field(default_factory=list)
    _stored_at: float = 0.0

    @property
    def root(self) -> Path:
        """Where the runs lie; absolute, since workers may stand elsewhere."""
        return self.study.directory.absolute() / FOLDER

    def check(self) -> None:
        """Refuse what cannot be run here, before anything is drawn or stored."""
        if self.asked.cluster:
            from faultatlas.analysis.reexecution import cluster

            cluster.reach(self.asked.cluster)
            return
        from faultatlas.analysis.reexecution.sandbox.choosing import choose

        choose(self.asked.isolation, unsafe_network=self.asked.unsafe_network)
        devices.check(self.asked.device)

    def execute(self, bugs: Sequence[Bug]) -> list[Done | Left]:
        """Run what is missing and judge; whatever ends it, what was judged is stored."""
        swept = results.sweep(self.root)
        for folder in swept.set_aside:
            self.output.tell(f"{folder} cannot be read; the run is made again")
        with self._pool(bugs) as (pool, has_gpu):
            jobs, spoilt = self._jobs(bugs, has_gpu)
            sampler = self._sampler(jobs)
            try:
                with progress(self.output, "re-execution", unit="runs") as bar:
                    sampler.shown = lambda now: bar.update(
                        now.runs_done, now.runs_known, note=_note(now)
                    )
                    sampler.run(pool)
            except KeyboardInterrupt:
                self._say_what_is_left(sampler)
                raise
            except OSError as error:
                raise self._explained(error, sampler) from error
            finally:
                self.flush()
        return [*sampler.ended, *spoilt]

    def judge_again(self, bugs: Sequence[Bug]) -> list[Done | Left]:
        """Judge the stored runs anew; nothing is run, so nothing that runs need is needed."""
        jobs, spoilt = self._split(bugs, self._stored_job)
        sampler = self._sampler(jobs)
        sampler.judge_stored()
        self.flush()
        ended: list[Done | Left] = []
        for each in sampler.ended:
            if isinstance(each, Done) or each.has_runs:
                ended.append(each)
            elif results.devices_of(self.root, each.job.bug.bug_id) & {*self._devices}:
                ended.append(replace(each, why="what it runs was changed since it was run"))
        return [*ended, *spoilt]

    def flush(self) -> None:
        """Write the rows of what was judged."""
        if self._waiting:
            runs = [run for done in self._waiting for run in done.runs]
            judged = [
                storing.Judged(done.job.bug, done.job.content, done.judgement, done.job.device)
                for done in self._waiting
            ]
            storing.store(self.study, runs, judged, run=self.run, outcome="running")
            self._waiting.clear()
        self._stored_at = time.monotonic()

    def _keep(self, done: Done) -> None:
        self._waiting.append(done)
        if time.monotonic() - self._stored_at >= _EVERY_S:
            self.flush()

    def _sampler(self, jobs: Sequence[Job]) -> Sampler:
        handling = Handling(
            stored=self._stored,
            task=self._task,
            kept=_kept,
            evidence=lambda kept: results.evidence(kept.folder),
            judge=judging.judge,
            lost=self._lost,
            is_prepared=self._is_prepared,
            preparing=self._preparing,
            has_interpreter=_has_interpreter if not self.asked.cluster else _perhaps,
            may_be_built=_may_be_built,
        )
        return Sampler(
            jobs,
            handling,
            seeds=self.asked.seeds,
            budget_s=self.asked.budget_s,
            judged=self._keep,
        )

    def _split(
        self, bugs: Sequence[Bug], job: Callable[[Bug], Job]
    ) -> tuple[list[Job], list[Left]]:
        """Jobs; and bugs whose files became bad since they were looked at, for themselves."""
        jobs, spoilt = [], []
        for bug in bugs:
            try:
                jobs.append(job(bug))
            except (StudyError, OSError) as error:
                why = error.message if isinstance(error, StudyError) else str(error.strerror)
                spoilt.append(Left(Job(bug, ""), why.partition("\n")[0], 0))
        return jobs, spoilt

    def _jobs(
        self,
        bugs: Sequence[Bug],
        has_gpu: bool,  # noqa: FBT001
    ) -> tuple[list[Job], list[Left]]:
        """Each on a GPU if there is one and it makes a difference, or if told so."""

        def device(bug: Bug) -> str:
            if self.asked.device == "auto":
                return "cuda" if has_gpu and devices.may_use_gpu(bug) else "cpu"
            return self.asked.device

        return self._split(bugs, lambda bug: Job(bug, content_hash(bug), device(bug)))

    @property
    def _devices(self) -> tuple[str, ...]:
        """The kinds that were asked for, the one to be preferred first."""
        return ("cuda", "cpu") if self.asked.device == "auto" else (self.asked.device,)

    def _stored_job(self, bug: Bug) -> Job:
        """Of runs on a GPU and on a CPU, those that were asked for, else those on the GPU."""
        content, asked = content_hash(bug), self._devices
        there = [each for each in asked if results.stored(self.root, bug.bug_id, content, each)]
        return Job(bug, content, there[0] if there else asked[-1])

    def _stored(self, job: Job) -> Iterator[Kept]:
        for folder in results.stored(self.root, job.bug.bug_id, job.content, job.device):
            yield _kept(folder)

    def _is_prepared(self, job: Job, side: str, seed: int, attempt: int) -> bool:
        """A workspace is made once the environment is there."""
        of = (job.bug.bug_id, job.content, job.device)
        folder = results.run_folder(self.root, *of, side=side, seed=seed, attempt=attempt)
        return (folder / results.WORKSPACE).is_dir()

    def _preparing(self, job: Job, side: str, seed: int, attempt: int) -> str:
        """What is done for its environment just now."""
        of = (job.bug.bug_id, job.content, job.device)
        folder = results.run_folder(self.root, *of, side=side, seed=seed, attempt=attempt)
        return results.preparing(folder)

    def _task(self, job: Job, side: str, seed: int, attempt: int) -> Task:
        from faultatlas.analysis.reexecution.executing import Task

        return Task(
            folder=job.bug.folder.absolute(),
            bug_id=job.bug.bug_id,
            content=job.content,
            side=side,
            seed=seed,
            root=self.root,
            attempt=attempt,
            device=job.device,
            isolation=self.asked.isolation,
            unsafe_network=self.asked.unsafe_network,
            budget_mb=self.asked.cache_mb,
        )

    def _lost(self, job: Job, side: str, seed: int, attempt: int, why: str) -> Kept:
        """Record that the workers of a task died one after the other."""
        of = (job.bug.bug_id, job.content)
        folder = results.run_folder(
            self.root, *of, job.device, side=side, seed=seed, attempt=attempt
        )
        with results.alone(folder) as is_ours:
            if is_ours:
                device = Device(job.device)
                run = Run(*of, side, seed, attempt, Outcome.LOST, device=device, problem=why)
                results.write_run(folder, run)
        return _kept(folder)

    @contextmanager
    def _pool(self, bugs: Sequence[Bug]) -> Iterator[tuple[pools.Pool, bool]]:
        from faultatlas.analysis.reexecution.executing import execute

        pool: pools.Pool
        if self.asked.cluster:
            from faultatlas.analysis.reexecution import cluster

            client = cluster.connect(self.asked.cluster, self.root)
            has_gpu = cluster.has_gpu(client)
            if self.asked.device == "cuda" and not has_gpu:
                client.close()
                raise StudyError(
                    "no worker of the cluster says that it has a GPU",
                    "Start one with `dask worker ADDRESS --resources GPU=1`, or take --device cpu.",
                )
            pool = cluster.ClusterPool(client, execute, self.root)
        else:
            self.check()
            gpus = len(devices.gpus()) if self.asked.device != "cpu" else 0
            has_gpu = gpus > 0
            pool = pools.LocalPool(self.asked.workers or pools.workers_for(bugs), gpus, execute)
        try:
            yield pool, has_gpu
        except BaseException:
            pool.stop()
            raise
        pool.close()

    def _say_what_is_left(self, sampler: Sampler) -> None:
        with suppress(StudyError):
            self.flush()
        done = sum(isinstance(each, Done) for each in sampler.ended)
        self.output.tell(
            f"{done:,} of {counted(len(sampler.ended), 'bug')} are judged; finished runs are kept: "
            "the same command goes on from there"
        )

    def _explained(self, error: OSError, sampler: Sampler) -> StudyError:
        done = sum(isinstance(each, Done) for each in sampler.ended)
        then = (
            f"run this again: {done:,} of {counted(len(sampler.ended), 'bug')} are judged, and "
            "finished runs are kept"
        )
        return explained(error, self.root, then)


def _kept(folder: Path) -> Kept:
    run = results.read_run(folder)
    if run is None:
        raise StudyError(
            f"{folder} has no result although it was run",
            "Look whether something removes files there, then run this again.",
        )
    return Kept(run, folder)


def _has_interpreter(bug: Bug) -> bool:
    """Whether the host has one now; of its own installation also what the bug needs of it."""
    from faultatlas.analysis.reexecution.environments import host, interpreters
    from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem

    if bug.environment.python.strip() == "host":
        return host.satisfied(bug.environment.requirements) is not None
    try:
        interpreters.choose(bug.environment.python)
    except EnvironmentProblem:
        return False
    return True


def _may_be_built(run: Run) -> bool:
    """Whether other repairs are known than when no environment could be built."""
    from faultatlas.analysis.reexecution.environments import repairing

    return run.repairs_edition != repairing.edition()


def _perhaps(_bug: Bug) -> bool:
    """Nobody knows here what a worker has."""
    return True


def _note(now: Now) -> str:
    """What runs: one of them by name."""
    if not now.running:
        return ""
    more = f" +{len(now.running) - 1}" if len(now.running) > 1 else ""
    building = f", {now.preparing[0]}" if now.preparing else ""
    return f"{now.bugs_done}/{now.bugs} bugs, {now.running[0]}{more}{building}"
