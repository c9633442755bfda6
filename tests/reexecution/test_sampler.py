"""Which runs are made, and when a bug is done: with runs that cost nothing."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from faultatlas.analysis.reexecution import session
from faultatlas.analysis.reexecution.bugs import (
    Bug,
    Commands,
    EnvironmentSpec,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.pools import WorkerLostError
from faultatlas.analysis.reexecution.runs import Evidence, Outcome, Run
from faultatlas.analysis.reexecution.sampler import Done, Handling, Job, Kept, Left, Now, Sampler
from faultatlas.analysis.reexecution.traces.aborts import FROM_OUTSIDE
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.data.errors import StudyError

Task = tuple[Job, str, int, int]
NUMPY = EnvironmentSpec("3.8", ("numpy==1.20",))


def bug(name: str, *, symptom: Symptom = Symptom.CRASH, sides: Sequence[str] = ("buggy", "fixed"),
        environment: EnvironmentSpec | None = None) -> Bug:  # fmt: skip
    runs = {side: Commands((("python", "main.py"),)) for side in sides}
    return Bug(
        bug_id=f"made/{name}", folder=Path(name), title=name, url="", source="own",
        labels=Labels(), environment=environment or EnvironmentSpec(), data=(),
        runs=runs, clean=(), outputs=(), oracle=Oracle(symptom), limits=Limits(), fidelity=(),
        own_oracle={},
    )  # fmt: skip


def judge(of: Bug, evidence: Sequence[Evidence], seeds: int) -> Judgement:
    """Verified by all runs; more of them where the sides of `flaky` disagree."""
    ran = [each.run for each in evidence if each.run.outcome is Outcome.EXITED]
    a_side = {side: sum(run.side == side for run in ran) for side in of.runs}
    if len(ran) < len(evidence):
        return Judgement(Verdict.INFRASTRUCTURE, Reason.HOST, "", wanted=0)
    wanted = 5 if "flaky" in of.bug_id else seeds
    enough = min(a_side.values()) >= wanted
    return Judgement(Verdict.VERIFIED, Reason.NONE, "", wanted=0 if enough else wanted)


@dataclass
class World:
    """Files and workers: what would be run, and how that ends."""

    ends: Callable[[Task], Outcome | Exception] = lambda _task: Outcome.EXITED
    signal: int = 9
    disk: dict[Path, Run] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    waiting: list[tuple[Task, Future[Path]]] = field(default_factory=list)
    width: int = 2
    gpus: int = 1
    stopped: bool = False
    most: int = 0
    after: Callable[[], None] = lambda: None
    judge: Callable[[Bug, Sequence[Evidence], int], Judgement] = judge

    def handling(self, **more: Any) -> Handling:
        given: dict[str, Any] = {
            "stored": self.stored,
            "task": lambda *task: task,
            "kept": lambda path: Kept(self.disk[path], path),
            "evidence": lambda kept: Evidence(kept.run, "", ""),
            "judge": self.judge,
            "lost": lambda job, side, seed, attempt, _why: self.keep(
                (job, side, seed, attempt), Outcome.LOST
            ),
        }
        return Handling(**given | more)

    def stored(self, job: Job) -> list[Kept]:
        of = [(path, run) for path, run in self.disk.items() if run.bug_id == job.bug.bug_id]
        return [Kept(run, path) for path, run in of]

    def keep(self, task: Task, outcome: Outcome) -> Kept:
        job, side, seed, attempt = task
        path = Path(job.bug.bug_id, f"{side}-{seed}-{attempt}")
        signal = self.signal if outcome is Outcome.SIGNALLED else None
        self.disk[path] = Run(job.bug.bug_id, job.content, side, seed, attempt, outcome,
                              signal=signal)  # fmt: skip
        return Kept(self.disk[path], path)

    # The pool. A task ends when the sampler has nothing else to give: the first that waits.

    def slots(self, *, gpu: bool) -> int:
        return self.gpus if gpu else self.width

    def submit(self, task: Task, *, gpu: bool) -> Future[Path]:
        assert gpu == (task[0].device == "cuda")
        future: Future[Path] = Future()
        self.tasks.append(task)
        self.waiting.append((task, future))
        self.most = max(self.most, len(self.waiting))
        return future

    def end_one(self) -> None:
        task, future = self.waiting.pop(0)
        ends = self.ends(task)
        if isinstance(ends, Exception):
            future.set_exception(ends)
        else:
            future.set_result(self.keep(task, ends).folder)
        self.after()

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        pass

    def run(self, *bugs: Bug | Job, **more: Any) -> Sampler:
        jobs = [each if isinstance(each, Job) else Job(each, "0" * 16) for each in bugs]
        shown = more.pop("shown", lambda _now: None)

        def tell(now: Now) -> None:
            shown(now)
            self.end_one()  # called before the sampler waits: then something has ended

        sampler = Sampler(jobs, self.handling(), shown=tell, **more)
        sampler.run(self)
        return sampler

    def run_keys(self) -> list[tuple[str, str, int, int]]:
        return [(job.bug.bug_id.partition("/")[2], *rest) for job, *rest in self.tasks]


def test_both_sides_are_run_with_the_same_seeds() -> None:
    world = World()
    ended = world.run(bug("a")).ended
    assert sorted(world.run_keys()) == [
        ("a", side, n, 1) for side in ("buggy", "fixed") for n in (1, 2, 3)
    ]
    assert isinstance(ended[0], Done)
    assert (ended[0].judgement.verdict, ended[0].fresh) == (Verdict.VERIFIED, 6)


def test_the_fixed_side_of_a_hang_is_run_first() -> None:
    world = World(width=1)
    world.run(bug("a", symptom=Symptom.HANG))
    assert [side for _, side, _, _ in world.run_keys()] == ["fixed", "buggy"] * 3


def test_a_side_that_is_missing_is_not_run() -> None:
    world = World()
    assert isinstance(world.run(bug("a", sides=["buggy"])).ended[0], Done)
    assert {side for _, side, _, _ in world.run_keys()} == {"buggy"}


def test_more_runs_only_where_the_judgement_asks() -> None:
    world = World()
    world.run(bug("a"), bug("flaky"))
    assert sorted(
        seed for name, side, seed, _ in world.run_keys() if (name, side) == ("flaky", "buggy")
    ) == [1, 2, 3, 4, 5]
    assert max(seed for name, _, seed, _ in world.run_keys() if name == "a") == 3


def test_a_second_sampler_runs_nothing() -> None:
    world = World()
    world.run(bug("a"), bug("flaky"))
    world.tasks.clear()
    again = world.run(bug("a"), bug("flaky"))
    assert world.tasks == []
    assert all(isinstance(each, Done) and each.fresh == 0 for each in again.ended)


def test_what_is_there_is_not_run_again() -> None:
    world = World()
    job = Job(bug("a"), "0" * 16)
    world.keep((job, "buggy", 1, 1), Outcome.EXITED)
    world.keep((job, "fixed", 3, 1), Outcome.EXITED)
    world.run(job)
    assert len(world.tasks) == 4
    assert not {("a", "buggy", 1, 1), ("a", "fixed", 3, 1)} & set(world.run_keys())


def test_one_task_builds_an_environment_and_others_use_it() -> None:
    world = World(width=4)
    alone: list[int] = []
    world.after = lambda: alone.append(len(world.waiting))
    world.run(bug("a", environment=NUMPY), bug("b", environment=NUMPY))
    assert alone[0] == 0  # nothing else had been begun when the first run ended
    assert world.most == 4
    assert len(world.tasks) == 12


def test_others_wait_for_an_environment_and_not_for_the_run_that_built_it() -> None:
    world, prepared = World(width=4), set[str]()
    jobs = [Job(bug(name, environment=NUMPY), "0" * 16) for name in ("long", "b")]
    handling = world.handling(is_prepared=lambda job, *_run: job.bug.bug_id in prepared)
    sampler = Sampler(jobs, handling)
    begun = []
    for _ in range(2):
        sampler._fill(world)  # noqa: SLF001
        begun.append(len(world.tasks))
        prepared.add("made/long")
    assert begun == [1, 4]


def test_what_is_done_for_an_environment_is_shown_while_runs_wait_for_it() -> None:
    world, shown = World(), list[Now]()
    said = "building an environment with Python 3.8.18"
    handling = world.handling(preparing=lambda *_run: said)

    def tell(now: Now) -> None:
        shown.append(now)
        world.end_one()

    Sampler([Job(bug("a", environment=NUMPY), "0" * 16)], handling, shown=tell).run(world)
    assert [now.preparing for now in shown] == [(said,), *[()] * (len(shown) - 1)]
    assert session._note(shown[0]) == f"0/1 bugs, made/a buggy 1, {said}"  # noqa: SLF001


@pytest.mark.parametrize("outcome", [Outcome.NO_ENVIRONMENT, Outcome.NO_DATA])
def test_what_no_seed_would_change_is_run_once(outcome: Outcome) -> None:
    world = World(ends=lambda _task: outcome)
    world.run(bug("a"))
    assert len(world.tasks) == 1
    assert isinstance(world.run(bug("a")).ended[0], Done)
    assert len(world.tasks) == 1


def test_a_missing_interpreter_is_looked_for_again_when_one_has_come() -> None:
    world = World(ends=lambda _task: Outcome.NO_INTERPRETER)
    world.run(bug("a"))
    assert world.run_keys() == [("a", "buggy", 1, 1)]
    still = Sampler([Job(bug("a"), "0" * 16)], world.handling(has_interpreter=lambda _bug: False))
    still.run(world)
    assert isinstance(still.ended[0], Done)
    assert len(world.tasks) == 1
    world.ends = lambda _task: Outcome.EXITED
    assert isinstance(world.run(bug("a")).ended[0], Done)
    assert world.run_keys()[1] == ("a", "buggy", 1, 2)
    assert len(world.tasks) == 7


def test_an_environment_is_built_again_when_other_repairs_are_known() -> None:
    world = World(ends=lambda _task: Outcome.NO_ENVIRONMENT)
    world.run(bug("a"))

    def again() -> Done | Left:
        handling = world.handling(may_be_built=lambda _run: True)
        sampler = Sampler([Job(bug("a"), "0" * 16)], handling, shown=lambda _now: world.end_one())
        sampler.run(world)
        return sampler.ended[0]

    assert isinstance(again(), Done)  # once, and then it is told
    assert world.run_keys() == [("a", "buggy", 1, 1), ("a", "buggy", 1, 2)]
    world.ends = lambda _task: Outcome.EXITED
    mended = again()
    assert isinstance(mended, Done)
    assert mended.judgement.verdict is Verdict.VERIFIED


def test_the_hosts_fault_is_tried_again_and_then_told() -> None:
    world = World(ends=lambda _task: Outcome.NOT_STARTED)
    ended = world.run(bug("a")).ended[0]
    assert world.run_keys() == [("a", "buggy", 1, attempt) for attempt in (1, 2, 3)]
    assert isinstance(ended, Done)
    assert ended.judgement.verdict is Verdict.INFRASTRUCTURE
    world.ends = lambda _task: Outcome.EXITED  # another day
    mended = world.run(bug("a")).ended[0]
    assert isinstance(mended, Done)
    assert mended.judgement.verdict is Verdict.VERIFIED
    assert world.run_keys()[3] == ("a", "buggy", 1, 4)


@pytest.mark.parametrize("number", sorted(FROM_OUTSIDE))
def test_a_program_that_somebody_killed_is_run_once_more(number: int) -> None:
    world = World(
        ends=lambda task: Outcome.SIGNALLED if task[1:] == ("fixed", 2, 1) else Outcome.EXITED,
        signal=number,
    )
    ended = world.run(bug("a")).ended[0]
    assert isinstance(ended, Done)
    assert ended.judgement.verdict is Verdict.VERIFIED
    assert [key for key in world.run_keys() if key[3] > 1] == [("a", "fixed", 2, 2)]
    assert len(ended.runs) == 7


def test_the_second_time_it_is_the_programs_own_end_whatever_happened_besides() -> None:
    told: list[list[int]] = []
    world = World(signal=15)

    def judged(of: Bug, evidence: Sequence[Evidence], seeds: int) -> Judgement:
        told.append([each.killed for each in evidence])
        return judge(of, evidence, seeds)

    world.judge = judged
    attempts = [Outcome.LOST, Outcome.SIGNALLED, Outcome.SIGNALLED]
    world.ends = lambda task: attempts[task[3] - 1] if task[1:3] == ("buggy", 2) else Outcome.EXITED
    world.run(bug("a"))
    assert [key for key in world.run_keys() if key[3] > 1] == [
        ("a", "buggy", 2, attempt) for attempt in (2, 3)
    ]
    assert sorted(told[-1]) == [0, 0, 0, 0, 0, 2]
    world.tasks.clear()
    world.run(bug("a"))  # another sampler knows it too
    assert world.tasks == []
    assert sorted(told[-1]) == [0, 0, 0, 0, 0, 2]


def test_a_signal_that_is_the_programs_own_is_not_run_again() -> None:
    world = World(ends=lambda _task: Outcome.SIGNALLED, signal=11)
    world.run(bug("a"))
    assert {key[3] for key in world.run_keys()} == {1}


def test_a_lost_worker_has_its_task_run_again_and_no_other() -> None:
    dead = WorkerLostError("signal 9")
    left = [dead, dead]
    world = World(
        ends=lambda task: left.pop() if task[1:3] == ("buggy", 2) and left else Outcome.EXITED
    )
    ended = world.run(bug("a")).ended[0]
    assert isinstance(ended, Done)
    assert ended.judgement.verdict is Verdict.VERIFIED
    assert [world.run_keys().count(("a", "buggy", seed, 1)) for seed in (1, 2, 3)] == [1, 3, 1]


def test_a_task_that_kills_every_worker_is_given_up() -> None:
    world = World(
        ends=lambda task: (
            WorkerLostError("signal 9") if "deadly" in task[0].bug.bug_id else Outcome.EXITED
        )
    )
    ended = world.run(bug("deadly"), bug("a")).ended
    assert world.run_keys().count(("deadly", "buggy", 1, 1)) == 3
    assert [each.judgement.verdict for each in ended if isinstance(each, Done)] == [
        Verdict.INFRASTRUCTURE, Verdict.VERIFIED,
    ]  # fmt: skip
    assert Outcome.LOST in {run.outcome for run in world.disk.values()}


def test_a_worker_that_died_after_its_work_did_it() -> None:
    world = World(width=1)

    def ends(task: Task) -> Exception:
        world.keep(task, Outcome.EXITED)
        return WorkerLostError("signal 9")

    world.ends = ends
    assert isinstance(world.run(bug("a")).ended[0], Done)
    assert len(world.tasks) == 6


def test_after_the_budget_nothing_is_begun_and_what_runs_ends() -> None:
    now = 0.0
    world = World(width=2)

    def pass_time() -> None:
        nonlocal now
        now += 10

    world.after = pass_time
    sampler = world.run(bug("a"), bug("b"), budget_s=15, clock=lambda: now)
    assert len(world.disk) == len(world.tasks) == 3
    assert not world.stopped
    assert [(each.why, each.missing) for each in sampler.ended if isinstance(each, Left)] == [
        ("the budget is used up", 3), ("the budget is used up", 6),
    ]  # fmt: skip


def test_a_full_disk_ends_it_with_what_is_kept() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    world = World(ends=lambda task: full if task[0].bug.bug_id == "made/b" else Outcome.EXITED)
    kept: list[Done] = []
    with pytest.raises(OSError, match="No space"):
        world.run(bug("a"), bug("b"), bug("c"), judged=kept.append)
    assert [done.job.bug.bug_id for done in kept] == ["made/a"]
    world.ends = lambda _task: Outcome.EXITED
    again = world.run(bug("a"), bug("b"), bug("c"))
    assert all(isinstance(each, Done) for each in again.ended)


def test_a_bug_that_cannot_be_run_is_left_and_the_others_go_on() -> None:
    wrong = StudyError("its folder is a link", "Mend it.")
    world = World(ends=lambda task: wrong if task[0].bug.bug_id == "made/b" else Outcome.EXITED)
    ended = world.run(bug("a"), bug("b"), bug("c")).ended
    assert [type(each) for each in ended] == [Done, Left, Done]
    assert [each.why for each in ended if isinstance(each, Left)] == ["its folder is a link"]


@pytest.mark.parametrize("wrong", [TypeError("odd\nline"), OSError(errno.EIO, "broken")])
def test_what_nobody_foresaw_of_one_bug_leaves_the_others_alone(wrong: Exception) -> None:
    world = World(ends=lambda task: wrong if task[0].bug.bug_id == "made/b" else Outcome.EXITED)
    ended = world.run(bug("a"), bug("b"), bug("c")).ended
    assert [type(each) for each in ended] == [Done, Left, Done]
    (left,) = [each for each in ended if isinstance(each, Left)]
    assert left.why.startswith(f"it could not be run: {type(wrong).__name__}: ")
    assert "\n" not in left.why


def test_what_nobody_foresaw_of_any_bug_ends_it() -> None:
    world = World(ends=lambda _task: TypeError("odd"))
    with pytest.raises(StudyError, match="odd") as caught:
        world.run(*[bug(str(number)) for number in range(20)])
    assert isinstance(caught.value.__cause__, TypeError)
    assert len(world.tasks) < 9


def test_where_no_bug_can_be_run_it_ends_at_once() -> None:
    world = World(ends=lambda _task: StudyError("there is no sandbox", "Install one."))
    with pytest.raises(StudyError, match="there is no sandbox"):
        world.run(*[bug(str(number)) for number in range(20)])
    assert len(world.tasks) < 9


def test_an_interrupt_stops_the_pool_and_keeps_what_had_ended() -> None:
    world = World(width=2)
    kept: list[Done] = []

    def interrupt() -> None:
        if len(world.disk) == 5:
            world.end_one()  # ends in the same instant
            raise KeyboardInterrupt

    world.after = interrupt
    with pytest.raises(KeyboardInterrupt):
        world.run(bug("a"), bug("b"), judged=kept.append)
    assert world.stopped
    assert [done.job.bug.bug_id for done in kept] == ["made/a"]


def test_no_more_runs_on_gpus_than_there_are() -> None:
    world = World(width=4, gpus=1)
    shown: list[Now] = []
    jobs = [Job(bug(name), "0" * 16, "cuda" if name == "g" else "cpu") for name in "gab"]
    together: list[int] = []
    world.after = lambda: together.append(
        sum(task[0].device == "cuda" for task, _ in world.waiting)
    )
    world.run(*jobs, shown=shown.append)
    assert max(together) <= 1
    assert world.most == 4
    assert shown[0].bugs == 3
    assert "made/g buggy 1" in shown[0].running
    assert (shown[-1].runs_done, shown[-1].runs_known) == (17, 18)


def test_judging_again_takes_what_is_there_and_runs_nothing() -> None:
    world = World()
    jobs = [Job(bug(name), "0" * 16) for name in ("whole", "half", "never", "unlucky")]
    for side in ("buggy", "fixed"):
        for seed in (1, 2, 3):
            world.keep((jobs[0], side, seed, 1), Outcome.EXITED)
    world.keep((jobs[1], "buggy", 1, 1), Outcome.EXITED)
    world.keep((jobs[3], "buggy", 1, 1), Outcome.NOT_STARTED)
    sampler = Sampler(jobs, world.handling())
    sampler.judge_stored()
    whole, half, never, unlucky = sampler.ended
    assert isinstance(whole, Done)
    assert isinstance(half, Left)
    assert (half.why, half.missing, half.has_runs) == ("more runs are wanted", 5, True)
    assert isinstance(never, Left)
    assert not never.has_runs
    assert isinstance(unlucky, Done)  # as it was judged when it was run
    assert world.tasks == []


def test_a_bug_that_cannot_be_run_at_all_is_judged_without() -> None:
    world = World()
    nothing = Judgement(Verdict.INVALID, Reason.ARTIFACT_DEFECT, "there is no command")
    sampler = Sampler([Job(bug("a"), "0" * 16)], world.handling(judge=lambda *_: nothing))
    sampler.run(world)
    assert [type(each) for each in sampler.ended] == [Done]
    assert world.tasks == []


def test_a_bug_about_a_gpu_is_run_once_where_there_is_none() -> None:
    world = World()
    about = replace(bug("a"), labels=Labels(about_gpu=True))
    device = Judgement(Verdict.INFRASTRUCTURE, Reason.DEVICE, "it ran on a CPU")

    def judged(_bug: Bug, evidence: Sequence[Evidence], seeds: int) -> Judgement:
        return device if evidence else replace(device, wanted=seeds)

    world.judge = judged
    assert isinstance(world.run(about).ended[0], Done)
    assert world.run_keys() == [("a", "buggy", 1, 1), ("a", "fixed", 1, 1)]


def test_workers_that_went_away_are_waited_for_and_then_missed() -> None:
    now = 0.0

    def sleep(_seconds: float) -> None:
        nonlocal now
        now += 10

    world = World(width=0)
    job = Job(bug("a"), "0" * 16)
    sampler = Sampler([job], world.handling(), clock=lambda: now, sleep=sleep)
    with pytest.raises(StudyError, match="there was no worker"):
        sampler.run(world)
    assert now > 60
