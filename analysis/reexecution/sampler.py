"""Many bugs at once: which runs are still wanted, until every bug is judged.

It knows no processes: a pool takes tasks and gives futures. What a run showed stands in its folder
before its future ends, and that is all that counts: a sampler that starts again takes what is there
and runs only what is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.reexecution.bugs import SIDES, Bug, Symptom
from faultatlas.analysis.reexecution.pools import Pool, WorkerLostError
from faultatlas.analysis.reexecution.results import FULL
from faultatlas.analysis.reexecution.runs import RAN, Evidence, Outcome, Run
from faultatlas.analysis.reexecution.traces.aborts import KILLED_ATTEMPTS, was_killed
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.verdicts import Judgement

ATTEMPTS = 3  # of a run that the host did not let happen, each time that the sampler is started
MOST_RUNS = 50  # a side; judging asks for 20 at most
_HOSTS_FAULT = frozenset({Outcome.NOT_STARTED, Outcome.LOST})
# Another seed would end the same way.
_FOR_ALL_SEEDS = frozenset({Outcome.NO_ENVIRONMENT, Outcome.NO_INTERPRETER, Outcome.NO_DATA})
PATIENCE_S = 60.0  # without any worker
_FAILURES = 3  # of so many bugs in a row: it is not theirs
_LONGEST = 300  # characters of what went wrong with one
_TICK_S = 0.5  # how often the display is told that time passes

Key = tuple[str, int]  # side and seed


@dataclass(frozen=True)
class Kept:
    """A run that has ended, and where what it left lies."""

    run: Run
    folder: Path


@dataclass(frozen=True)
class Job:
    """A bug that is to be judged, on a kind of device."""

    bug: Bug
    content: str
    device: str = "cpu"

    @property
    def is_out_of_place(self) -> bool:
        """About a GPU, and run on a CPU: one run is enough to say so."""
        return self.bug.labels.about_gpu and self.device == "cpu"


@dataclass(frozen=True)
class Done:
    """A bug with its verdict; `runs` are all attempts, the judgement rests on the last of each."""

    job: Job
    judgement: Judgement
    runs: tuple[Run, ...]
    fresh: int = 0  # how many of them were run now


@dataclass(frozen=True)
class Left:
    """A bug that has no verdict yet, and why."""

    job: Job
    why: str
    missing: int  # runs
    has_runs: bool = False  # some of them are there


@dataclass(frozen=True)
class Now:
    """What is going on."""

    running: tuple[str, ...]
    runs_done: int
    runs_known: int  # so many it will be, as far as it is known
    bugs_done: int
    bugs: int
    preparing: tuple[str, ...] = ()  # what is done for environments that runs wait for


@dataclass(frozen=True)
class Handling:
    """How runs are made, read and judged: of results.py, executing.py and judging.py."""

    stored: Callable[[Job], Iterable[Kept]]
    task: Callable[[Job, str, int, int], Any]  # side, seed, attempt
    kept: Callable[[Path], Kept]
    evidence: Callable[[Kept], Evidence]
    judge: Callable[[Bug, Sequence[Evidence], int], Judgement]
    lost: Callable[[Job, str, int, int, str], Kept]  # writes that a run could not be had, and why
    has_interpreter: Callable[[Bug], bool] = lambda _bug: True  # one may have come since
    # Whether a run that is on its way has its environment: others need not wait for its end.
    is_prepared: Callable[[Job, str, int, int], bool] = lambda *_run: False
    # What is done for its environment just now, in a few words; '' where nobody says.
    preparing: Callable[[Job, str, int, int], str] = lambda *_run: ""
    may_be_built: Callable[[Run], bool] = lambda _run: False  # a repair may have come since


@dataclass
class _State:
    """One bug: what is there of it, and what is on its way."""

    job: Job
    wanted: int  # runs a side
    runs: dict[Key, Kept] = field(default_factory=dict)  # the last attempt of each
    attempts: list[Run] = field(default_factory=list)
    tries: dict[Key, int] = field(default_factory=dict)  # by this sampler
    flying: set[Key] = field(default_factory=set)
    ended: Done | Left | None = None
    fresh: int = 0
    has_interpreter: bool = True  # as far as it is known
    may_be_built: bool = False

    @property
    def sides(self) -> list[str]:
        """The fixed one first where the other may hang: it says how long is long."""
        found = [side for side in SIDES if side in self.job.bug.runs]
        is_slow = self.job.bug.oracle.symptom is Symptom.HANG
        return found[::-1] if is_slow else found

    def add(self, kept: Kept) -> None:
        self.attempts.append(kept.run)
        key = (kept.run.side, kept.run.seed)
        before = self.runs.get(key)
        if before is None or before.run.attempt <= kept.run.attempt:
            self.runs[key] = kept

    def is_due(self, key: Key) -> bool:
        """Whether there is no run of it, or one that is to be tried again."""
        kept = self.runs.get(key)
        if kept is None:
            return True
        if kept.run.outcome in _HOSTS_FAULT:
            return self.tries.get(key, 0) < ATTEMPTS
        if kept.run.outcome is Outcome.NO_INTERPRETER:
            return self.has_interpreter and not self.tries
        if kept.run.outcome is Outcome.NO_ENVIRONMENT:
            return self.may_be_built and not self.tries
        return was_killed(kept.run) and self.kills(key) < KILLED_ATTEMPTS

    def kills(self, key: Key) -> int:
        """How many attempts of it somebody may have killed."""
        return sum((run.side, run.seed) == key and was_killed(run) for run in self.attempts)

    @property
    def is_blocked(self) -> bool:
        """No further run would say more."""
        return any(
            not self.is_due(key) and kept.run.outcome in _FOR_ALL_SEEDS | _HOSTS_FAULT
            for key, kept in self.runs.items()
        )

    def missing(self) -> list[Key]:
        """What is to be run still, in its order."""
        if self.ended is not None or self.is_blocked:
            return []
        keys = [(side, seed) for seed in range(1, self.wanted + 1) for side in self.sides]
        return [key for key in keys if key not in self.flying and self.is_due(key)]

    def attempt(self, key: Key) -> int:
        kept = self.runs.get(key)
        return 1 if kept is None else kept.run.attempt + 1


class Sampler:
    """Runs what is missing of some bugs and judges them."""

    def __init__(
        self,
        jobs: Sequence[Job],
        handling: Handling,
        *,
        seeds: int = 3,
        budget_s: float | None = None,
        judged: Callable[[Done], None] = lambda _done: None,
        shown: Callable[[Now], None] = lambda _now: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._handling, self._seeds = handling, seeds
        self._judged, self.shown, self._clock = judged, shown, clock
        self._sleep = sleep
        self._end = None if budget_s is None else clock() + budget_s
        self._states = [_State(job, 1 if job.is_out_of_place else seeds) for job in jobs]
        self._flying: dict[Future[Path], tuple[_State, Key, int]] = {}
        self._ready: set[Any] = set()  # environments that are known to be there
        self._stopped_by: OSError | StudyError | None = None
        self._idle_since: float | None = None
        self._failed: list[_State] = []  # one after the other
        for state in self._states:
            for kept in handling.stored(state.job):
                state.add(kept)
                self._note_environment(state, kept.run)
            if any(each.run.outcome is Outcome.NO_INTERPRETER for each in state.runs.values()):
                state.has_interpreter = handling.has_interpreter(state.job.bug)
            state.may_be_built = any(
                each.run.outcome is Outcome.NO_ENVIRONMENT and handling.may_be_built(each.run)
                for each in state.runs.values()
            )

    @property
    def ended(self) -> list[Done | Left]:
        """What is known of each bug, in their order."""
        return [state.ended or _left(state, "not run yet") for state in self._states]

    def settle(self) -> None:
        """Judge what the stored runs suffice for; nothing is run."""
        for state in self._states:
            if not state.runs:
                judgement = self._handling.judge(state.job.bug, (), self._seeds)
                if not judgement.wanted:  # there is nothing that could be run
                    self._end_with(state, judgement)
            self._look(state)

    def judge_stored(self) -> None:
        """Judge every bug on the runs that are there; nothing is run."""
        for state in self._states:
            if not state.runs:
                continue
            judgement = self._judgement(state)
            outcomes = {kept.run.outcome for kept in state.runs.values()}
            if judgement.wanted and not outcomes & (_FOR_ALL_SEEDS | _HOSTS_FAULT):
                state.wanted = judgement.wanted
                state.ended = _left(state, "more runs are wanted")
            else:
                self._end_with(state, judgement)

    def run(self, pool: Pool) -> None:
        """Until every bug is judged, the budget is used up, or the disk is full."""
        try:
            self.settle()
            self._fill(pool)
            while self._flying or self._is_waiting():
                self._tell()
                if self._flying:
                    ended, _ = wait(self._flying, timeout=_TICK_S, return_when=FIRST_COMPLETED)
                    for future in ended:
                        self._take(future)
                else:
                    self._sleep(_TICK_S)
                self._fill(pool)
        except BaseException:
            pool.stop()
            self._keep_finished()
            raise
        if self._stopped_by is not None:
            raise self._stopped_by
        for state in self._states:
            if state.ended is None:
                state.ended = _left(state, "the budget is used up")

    @property
    def is_over(self) -> bool:
        """Whether nothing new is begun."""
        is_late = self._end is not None and self._clock() >= self._end
        return is_late or self._stopped_by is not None

    def _is_waiting(self) -> bool:
        """Whether something is to be run and nothing can run it now: workers may come back."""
        if self.is_over or next(self._due(), None) is None:
            self._idle_since = None
            return False
        if self._idle_since is None:
            self._idle_since = self._clock()
        if self._clock() - self._idle_since > PATIENCE_S:
            self._stopped_by = StudyError(
                f"for {PATIENCE_S:.0f} s there was no worker that could run what is left",
                "Start workers (for bugs on a GPU: with GPU=1), then run this again: finished "
                "runs are kept.",
            )
            return False
        return True

    def _fill(self, pool: Pool) -> None:
        """Give the pool as much as runs at once."""
        if self.is_over or all(state.ended is not None for state in self._states):
            return
        free = pool.slots(gpu=False) - len(self._flying)
        on_gpus = sum(state.job.device == "cuda" for state, _, _ in self._flying.values())
        free_gpus = pool.slots(gpu=True) - on_gpus
        self._note_prepared()
        building = {
            _environment(state) for state, _, _ in self._flying.values()
        } - self._ready  # one task builds; others would only wait for it
        for state, key in self._due():
            if free <= 0:
                break
            gpu = state.job.device == "cuda"
            environment = _environment(state)
            if environment in building or (gpu and free_gpus <= 0):
                continue
            self._submit(pool, state, key)
            self._idle_since = None
            free -= 1
            free_gpus -= gpu
            if environment not in self._ready:
                building.add(environment)

    def _due(self) -> Iterator[tuple[_State, Key]]:
        for state in self._states:
            if state.ended is None:
                for key in state.missing():
                    yield state, key

    def _submit(self, pool: Pool, state: _State, key: Key) -> None:
        side, seed = key
        attempt = state.attempt(key)
        task = self._handling.task(state.job, side, seed, attempt)
        state.flying.add(key)
        state.tries[key] = state.tries.get(key, 0) + 1
        future = pool.submit(task, gpu=state.job.device == "cuda")
        self._flying[future] = (state, key, attempt)

    def _take(self, future: Future[Path]) -> None:
        state, key, attempt = self._flying.pop(future)
        state.flying.discard(key)
        try:
            kept = self._handling.kept(future.result())
        except WorkerLostError as error:
            found = self._finished(state, key, attempt)  # it may have died after its work
            if found is None and state.tries[key] < ATTEMPTS:
                return
            kept = found or self._handling.lost(state.job, *key, attempt, str(error))
        except StudyError as error:
            self._fail(state, error)
            return
        except Exception as error:  # noqa: BLE001  (of one bug among many: it is told, and left)
            if isinstance(error, OSError) and error.errno in FULL:
                self._stopped_by = error
            else:
                self._fail(state, _unforeseen(error))
            return
        self._failed.clear()
        state.fresh += 1
        state.add(kept)
        self._note_environment(state, kept.run)
        self._look(state)

    def _fail(self, state: _State, error: StudyError) -> None:
        """A bug that cannot be run is left; if none can be, something is wrong with all."""
        if state.ended is None:
            state.ended = _left(state, error.message)
        if state not in self._failed:
            self._failed.append(state)
        if len(self._failed) >= _FAILURES:
            self._stopped_by = error

    def _finished(self, state: _State, key: Key, attempt: int) -> Kept | None:
        stored = self._handling.stored(state.job)
        wanted = (*key, attempt)
        return next(
            (each for each in stored if (each.run.side, each.run.seed, each.run.attempt) == wanted),
            None,
        )

    def _look(self, state: _State) -> None:
        """Judge a bug once nothing of it is on its way or wanted."""
        if state.ended is None and not state.flying and not state.missing():
            self._judge(state)

    def _judge(self, state: _State) -> None:
        while True:
            judgement = self._judgement(state)
            wanted = min(judgement.wanted, MOST_RUNS)
            if state.is_blocked or wanted <= state.wanted:
                break
            state.wanted = wanted
            if state.missing():
                return
        self._end_with(state, judgement)

    def _judgement(self, state: _State) -> Judgement:
        evidence = [
            replace(self._handling.evidence(kept), killed=state.kills(key))
            for key, kept in state.runs.items()
        ]
        return self._handling.judge(state.job.bug, evidence, self._seeds)

    def _end_with(self, state: _State, judgement: Judgement) -> None:
        state.ended = Done(state.job, judgement, tuple(state.attempts), state.fresh)
        self._judged(state.ended)

    def _keep_finished(self) -> None:
        """What ended while everything else was stopped is kept, and judged if it suffices."""
        for future in [each for each in self._flying if each.done() and not each.cancelled()]:
            if future.exception() is None:
                self._take(future)

    def _note_environment(self, state: _State, run: Run) -> None:
        if run.outcome in RAN:
            self._ready.add(_environment(state))

    def _note_prepared(self) -> None:
        for state, key, attempt in self._flying.values():
            environment = _environment(state)
            if environment not in self._ready and self._handling.is_prepared(
                state.job, *key, attempt
            ):
                self._ready.add(environment)

    def _tell(self) -> None:
        flying = sorted((state.job.bug.bug_id, *key) for state, key, _ in self._flying.values())
        done = sum(len(state.runs) for state in self._states)
        open_runs = sum(len(state.missing()) for state in self._states) + len(flying)
        self.shown(
            Now(
                tuple(f"{bug_id} {side} {seed}" for bug_id, side, seed in flying),
                done,
                done + open_runs,
                sum(state.ended is not None for state in self._states),
                len(self._states),
                self._preparing(),
            )
        )

    def _preparing(self) -> tuple[str, ...]:
        said = [
            self._handling.preparing(state.job, *key, attempt)
            for state, key, attempt in self._flying.values()
            if _environment(state) not in self._ready
        ]
        return tuple(dict.fromkeys(each for each in said if each))


def _unforeseen(error: Exception) -> StudyError:
    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    told = StudyError(
        f"it could not be run: {said[:_LONGEST]}",
        "Run this again: finished runs are kept. If it ends so again, report it.",
    )
    told.__cause__ = error
    return told


def _environment(state: _State) -> Any:
    return state.job.bug.environment, state.job.device


def _left(state: _State, why: str) -> Left:
    return Left(state.job, why, len(state.missing()) + len(state.flying), bool(state.runs))
