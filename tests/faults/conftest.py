"""Servers, the process that runs commands, and a study in which nothing broke."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sandboxed
from faults.reference import Reference
from faults.running import Trial, World, program
from faults.whole_study import STEPS, Step, github, inputs, new_study, stack_exchange
from loopback import serving


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder for all processes that run these tests at the same time."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "faults"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def world(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    sandboxed.needs("bubblewrap")
    with ExitStack() as open_until_the_end:
        running = open_until_the_end.enter_context(program(tmp_path_factory.mktemp("commands")))
        servers = [open_until_the_end.enter_context(serving(each)) for each in
                   (github(), stack_exchange())]  # fmt: skip
        yield World(running, shared / "inputs", *servers)


@pytest.fixture(scope="session")
def reference(shared: Path, world: World) -> Reference:
    """Made by the first who needs it; the others wait."""
    folder, done = shared / "reference", shared / "reference.json"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            inputs(world.inputs)
            done.write_text(json.dumps(_made(world, folder)), encoding="utf-8")
    found = Reference(folder, json.loads(done.read_text(encoding="utf-8")))
    world.program.draw(found.after(STEPS[-1]))
    return found


def _made(world: World, folder: Path) -> dict[str, int]:
    trial = Trial(world, new_study(folder / "study"))
    moments = {}
    for step in STEPS:
        step.before(trial.study)
        moments[step.name] = trial.finish(step).steps
        shutil.copytree(trial.study, folder / step.name / "study")
    return moments


@pytest.fixture
def trial_of(
    world: World, reference: Reference, tmp_path: Path
) -> Iterator[Callable[[Step], Trial]]:
    """A study that is about to take a step."""

    def made(step: Step) -> Trial:
        source, study = reference.before(step), tmp_path / "study"
        if source:
            shutil.copytree(source, study)
        else:
            new_study(study)
        step.before(study)
        return Trial(world, study)

    world.at_peace()
    world.program.folder = tmp_path
    yield made
    world.at_peace()
