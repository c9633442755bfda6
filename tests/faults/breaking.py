"""What can break in a step, as data: which steps it can hit, and how it is done.

Each is given a study that is about to take a step. It lets the step run while something is broken,
sees that a failure is told as it should be, and mends what it broke. Whatever it leaves to be done
is done by the same command again.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from faults import leftovers
from faults.running import Ended, Trial
from faults.whole_study import Step
from loopback import Fault as ServerFault
from loopback import Request

DAY_S = 86_400.0
SOON_S = 0.2  # how long a command waits for its turn, where nobody will give it
Break = Callable[[Trial, Step, random.Random], None]


@dataclass(frozen=True)
class Fault:
    """One way in which things break."""

    name: str
    hits: Callable[[Step], bool]
    happen: Break
    may_do_it: bool = False  # whether the step can be done in spite of it


def writes(step: Step) -> bool:
    """Whether a step changes the study's database."""
    return step.name not in {"export", "check", "package", "verify"}


def _is_done_or_refused(trial: Trial, ended: Ended, *said: str) -> None:
    leftovers.none_left(trial.study, ended)
    if ended.code != 0:
        leftovers.refused(ended, *said)


# Disks


def full_disk(room: int) -> Break:
    """So many bytes are left on a real, small disk."""

    def happen(trial: Trial, step: Step, _drawn: random.Random) -> None:
        ended = trial.run(step, room=room)
        _is_done_or_refused(trial, ended, "no room left to write", "Free disk space")

    return happen


def half(path: Path, drawn: random.Random) -> None:
    """Cut a file somewhere in its middle."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * (0.3 + 0.4 * drawn.random()))])


def cut_input(trial: Trial, step: Step, drawn: random.Random) -> None:
    """The file that a step reads has lost its end; then it is whole."""
    inputs = trial.study.with_name("inputs")
    shutil.copytree(trial.world.inputs, inputs)
    path = Path(step.reads.format(**trial.places({"inputs": inputs})))
    whole = path.read_bytes()
    half(path, drawn)
    ended = trial.run(step, places={"inputs": inputs})
    if step.name == "import":  # a sheet that ends after some row is a sheet
        assert ended.code == 0, ended
    else:
        leftovers.refused(ended, path.name)
    path.write_bytes(whole)
    shutil.rmtree(inputs)


def cut_database(trial: Trial, step: Step, drawn: random.Random) -> None:
    """Half of the database is gone; then a copy is put back."""
    database = trial.study / "study.duckdb"
    whole = database.read_bytes()
    half(database, drawn)
    cut = database.read_bytes()
    leftovers.refused(trial.run(step), "study.duckdb", "damaged", "Put a copy of it back")
    assert database.read_bytes() == cut
    database.write_bytes(whole)


# Others who have the study


@contextmanager
def held(trial: Trial, *, reading: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """As a notebook has it: this process opens the file and leaves it open."""
    connection = duckdb.connect(str(trial.study / "study.duckdb"), read_only=reading)
    try:
        yield connection
    finally:
        connection.close()


def held_for_long(trial: Trial, step: Step, drawn: random.Random) -> None:
    """A notebook, or another writer, keeps it until the command has given up."""
    with held(trial, reading=drawn.random() < 0.5):
        leftovers.refused(trial.run(step, wait_s=SOON_S), "is in use by process", "waited")


def held_for_a_while(trial: Trial, step: Step, _drawn: random.Random) -> None:
    """A notebook gives it back when the command has said that it waits."""
    program = trial.world.program
    with held(trial, reading=True):
        program.start(trial.wanted(step, quiet=False))
        program.wait_until(lambda: "waiting for process" in program.said(), step.name)
    [ended] = program.end()
    assert ended.code == 0, ended
    assert ended.said.count("waiting for process") == 1, ended.said


def twice_at_once(trial: Trial, step: Step, _drawn: random.Random) -> None:
    """The same command, started twice: both end well, or one says why it does not go on."""
    program = trial.world.program
    program.start(trial.wanted(step), trial.wanted(step))
    both = program.end()
    assert any(ended.code == 0 for ended in both), both
    for ended in both:
        _is_done_or_refused(trial, ended)


# Servers


def server(make: Callable[..., ServerFault]) -> Break:
    """From a request in the middle on, every answer is broken; then the server is well again."""

    def happen(trial: Trial, step: Step, drawn: random.Random) -> None:
        world = trial.world.server(step)
        first = len(world.requests) + drawn.randrange(2)
        seen = world.requests

        def is_due(_request: Request) -> bool:
            return len(seen) > first

        world.faults.add(make(times=None, on=is_due))
        leftovers.refused(trial.run(step))
        world.faults.clear()

    return happen


def server_down(trial: Trial, step: Step, _drawn: random.Random) -> None:
    """Nobody listens at the address."""
    nobody = "http://127.0.0.1:9"
    ended = trial.run(step, places={step.asks: nobody})
    leftovers.refused(ended, "127.0.0.1")


# Clocks


def clock(days: float) -> Break:
    """The machine's clock is wrong by so many days."""

    def happen(trial: Trial, step: Step, _drawn: random.Random) -> None:
        ended = trial.run(step, clock_s=days * DAY_S)
        assert ended.code == 0, ended

    return happen


def quota_until(reset: float) -> Callable[..., ServerFault]:
    """The quota is used up until a time that cannot be, because a clock is wrong."""

    def make(**when: object) -> ServerFault:
        return ServerFault.primary_limit(reset, **when)  # type: ignore[arg-type]

    return make


# Places


def moved(trial: Trial, _step: Step, _drawn: random.Random) -> None:
    """The study goes on in another folder."""
    place = trial.study.with_name("another place") / "study"
    if trial.study == place:
        place = trial.study.parents[1] / "study"
    place.parent.mkdir(exist_ok=True)
    trial.study.rename(place)
    trial.study = place


def copied(trial: Trial, step: Step, _drawn: random.Random) -> None:
    """A copy goes on, and the study does too; it is not changed by what the copy does."""
    copy = Trial(trial.world, trial.study.with_name("copy"))
    shutil.copytree(trial.study, copy.study)
    before = (trial.study / "study.duckdb").read_bytes()
    copy.finish(step)
    assert (trial.study / "study.duckdb").read_bytes() == before
    shutil.rmtree(copy.study)


def killed(trial: Trial, step: Step, drawn: random.Random) -> None:
    """`kill -9` at a moment of its beginning, which every run of it has."""
    ended = trial.run(step, kill_at=1 + drawn.randrange(4))
    assert ended.was_killed or ended.code == 0, ended
    leftovers.none_left(trial.study, ended)


def _always(_step: Step) -> bool:
    return True


def _asks(step: Step) -> bool:
    return bool(step.asks)


def _asks_github(step: Step) -> bool:
    return step.asks == "github"


def _reads(step: Step) -> bool:
    return bool(step.reads)


def _has_database(step: Step) -> bool:
    return step.name != "fetch"  # which makes it


def _waits(step: Step) -> bool:
    return writes(step) and _has_database(step)


def _gives_up(step: Step) -> bool:
    # Others mine for long, and wait as long as it takes.
    return _waits(step) and step.name not in {"commits", "dump", "posts"}


def _may_be_twice(step: Step) -> bool:
    return step.name != "gap"  # which tells what changed since the last time


FAULTS = (
    Fault("killed", _always, killed, may_do_it=True),
    Fault("full disk", _always, full_disk(16_384), may_do_it=True),
    Fault("nearly full disk", _always, full_disk(600_000), may_do_it=True),
    Fault("cut input", _reads, cut_input),
    Fault("cut database", _has_database, cut_database),
    Fault("held for long", _gives_up, held_for_long),
    Fault("held for a while", _waits, held_for_a_while, may_do_it=True),
    Fault("twice at once", _may_be_twice, twice_at_once, may_do_it=True),
    Fault("server down", _asks, server_down),
    Fault("500", _asks, server(lambda **when: ServerFault.status(500, **when))),
    Fault("429", _asks, server(lambda **when: ServerFault.too_many(60, **when))),
    Fault("garbage", _asks, server(ServerFault.bad_json)),
    Fault("another page", _asks, server(lambda **when: ServerFault.html(200, **when))),
    Fault("cut answer", _asks, server(ServerFault.cut_body)),
    Fault("reset connection", _asks, server(ServerFault.reset)),
    Fault("quota until long ago", _asks_github, server(quota_until(1.0))),
    Fault("quota until far away", _asks_github, server(quota_until(4e9))),
    Fault("clock a year back", _always, clock(-365), may_do_it=True),
    Fault("clock a year ahead", _always, clock(365), may_do_it=True),
    Fault("moved", _has_database, moved),
    Fault("copied", _has_database, copied),
)
BY_NAME = {fault.name: fault for fault in FAULTS}
