"""What `analysis reexecute` was asked for, step by step: import, choose, run, judge, estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from faultatlas.analysis.reexecution import (
    collecting,
    drawing,
    showing,
    stored_estimates,
    storing,
    validation,
)
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.sampler import Done, Left
from faultatlas.analysis.reexecution.session import FOLDER, Asked, Session
from faultatlas.data import provenance
from faultatlas.data.clock import seconds
from faultatlas.data.errors import StudyError
from faultatlas.report.old.console import Output
from faultatlas.report.publish import publish

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.bugs import Bug
    from faultatlas.data.old.results import Result
    from faultatlas.data.provenance import Outcome
    from faultatlas.data.study import Study

_MOST_SEEDS = 50
_MOST_WORKERS = 1024
_MOST_GB = 100_000
_MOST_BUGS = 1_000_000
# The options that mean nothing beside another one, and why.
_RUNNING = ("seeds", "workers", "cluster", "budget", "cache_gb", "isolation", "unsafe_network")
_DRAWING = ("sample", "stratify", "seed")
_CONTRADICTIONS = {
    "validate": (*_RUNNING, *_DRAWING, "import_from", "list_bugs", "judge_again", "device"),
    "list_bugs": (*_RUNNING, *_DRAWING, "import_from", "judge_again", "device"),
    "judge_again": (*_RUNNING, *_DRAWING, "import_from"),
    "cluster": ("workers",),
    "sample": ("bugs",),
}
_NEEDS = {"importer": "import_from", "stratify": "sample", "seed": "sample"}
_NAMES = {
    "bugs": "naming bugs",
    "import_from": "--import",
    "importer": "--as",
    "list_bugs": "--list",
    "judge_again": "--judge-again",
    "unsafe_network": "--unsafe-network",
    "cache_gb": "--cache-gb",
}

Estimate = Callable[["Study", dict[str, Any]], "Result"]  # of its parameters: sample, or set


@dataclass(frozen=True)
class Call:
    """The command line."""

    bugs: tuple[str, ...] = ()
    import_from: Path | None = None
    importer: str = ""
    validate: bool = False
    list_bugs: bool = False
    sets: tuple[str, ...] = ()
    sample: int | None = None
    stratify: tuple[str, ...] = ()
    seed: int | None = None
    seeds: int | None = None
    judge_again: bool = False
    device: str = "auto"
    workers: int | None = None
    cluster: str = ""
    budget: str = ""
    cache_gb: int | None = None
    isolation: str = "auto"
    unsafe_network: bool = False

    def is_given(self, name: str) -> bool:
        """Whether an option says something."""
        return bool(getattr(self, name) != getattr(Call, name))

    @property
    def arguments(self) -> dict[str, Any]:
        """What is recorded of it: what was given. Folders by their name, as people have them."""
        given = {name: getattr(self, name) for name in vars(self) if self.is_given(name)}
        if self.import_from is not None:
            given["import_from"] = self.import_from.name
        given.pop("cluster", None)  # an address of the user's network is nobody else's business
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in given.items()
        }


def call(study: Study, output: Output, asked: Call, estimate: Estimate) -> None:
    """Do it; a partial success says what is missing and is no success."""
    _check(asked)
    budget_s = _budget(asked.budget)
    if asked.validate:
        _end(validation.validate(study, output, asked.bugs, asked.sets))
        return
    if asked.list_bugs:
        meant = collecting.chosen(collecting.known(study), asked.bugs, asked.sets)
        showing.show_bugs(output, study, meant, _strangers(study, asked))
        return
    run = provenance.begin(storing.COMMAND, asked.arguments)
    imports = None
    if asked.import_from is not None:
        imports = collecting.import_bugs(study, asked.import_from, asked.importer, run)
        showing.tell_imports(output, imports)
        if asked.sample is None and not asked.bugs:
            _note(study, run, "partial" if imports.problems else "ok")
            showing.show_imports(output, imports)
            _end(not imports.problems)
            return
    session = Session(study, _asked(asked, budget_s), output, run)
    if not asked.judge_again:
        session.check()
    there = _there(study, output, asked, run)
    strangers = _strangers(study, asked)
    showing.tell_strangers(output, strangers)
    drawn = _drawn(study, output, asked, run)
    usual = asked.sets or (() if asked.bugs else collecting.usual_sets(there))
    meant = collecting.chosen(there, asked.bugs, usual)
    if drawn is not None:
        by_id = {each.bug_id: each for each in meant}
        meant = [by_id[each] for each in drawn.bug_ids if each in by_id]
    bugs, unread = collecting.read_all(meant)
    bugs = _register(study, run, bugs, unread)
    ended = _ended(session, bugs, asked)
    if not ended and not unread:
        raise StudyError(
            "no runs of these bugs are stored" if asked.judge_again else "there is nothing to run",
            "Run them first: analysis reexecute.",
        )
    left = [each for each in ended if isinstance(each, Left)]
    done = [each for each in ended if isinstance(each, Done)]
    is_whole = not (left or unread or strangers or (imports and imports.problems))
    published = None
    for parameters in _estimates(study, asked, drawn, there, meant) if done else ():
        if (result := _estimated(study, output, asked, estimate, parameters)) is not None:
            published = showing.Published(result, publish(study, result, run, keep=True))
    _note(study, run, "ok" if is_whole else "partial")
    folder = study.directory / FOLDER
    showing.show(
        output,
        showing.Shown(
            run, drawn, ended, unread, published, is_whole, folder, judges_only=asked.judge_again
        ),
    )
    _end(is_whole)


def _strangers(study: Study, asked: Call) -> dict[Path, str]:
    """Folders beside the bugs that are none of them; of no matter where some bugs are named."""
    return {} if asked.bugs or asked.sets else collecting.strangers(study)


def _estimated(
    study: Study, output: Output, asked: Call, estimate: Estimate, parameters: dict[str, Any]
) -> Result | None:
    try:
        return estimate(study, parameters)
    except StudyError as error:
        if not asked.judge_again:
            raise
        output.tell(f"an estimate stays as it was: {error.message}. {error.hint}")
        return None


def _estimates(
    study: Study,
    asked: Call,
    drawn: drawing.Drawn | None,
    there: Sequence[storing.KnownBug],
    meant: Sequence[storing.KnownBug],
) -> list[dict[str, Any]]:
    """Parameters of the estimates to store, the one to show last."""
    if drawn is not None:
        return [{"sample": drawn.sample}]
    sets = sorted({each.set_name for each in meant})
    if asked.judge_again:
        return stored_estimates.stored(study, sets, or_new=not asked.bugs)
    if asked.bugs:
        found = stored_estimates.of_bugs(study, there, meant)
        return [] if found is None else [found]
    return [{"set": sets}]


def _register(
    study: Study, run: provenance.Run, bugs: Sequence[Bug], unread: dict[str, str]
) -> list[Bug]:
    """They may have been edited; one whose files were spoilt meanwhile is its own problem."""
    contents = {}
    for bug in bugs:
        try:
            contents[bug.bug_id] = content_hash(bug)
        except (StudyError, OSError) as error:
            unread[bug.bug_id] = str(error).partition("\n")[0]
    good = [bug for bug in bugs if bug.bug_id in contents]
    if good:
        storing.register(
            study, good, run=run, outcome="running", content_of=lambda bug: contents[bug.bug_id]
        )
    return good


def _ended(session: Session, bugs: Sequence[Bug], asked: Call) -> list[Done | Left]:
    try:
        return session.judge_again(bugs) if asked.judge_again else session.execute(bugs)
    except KeyboardInterrupt:
        _note(session.study, session.run, "interrupted")
        raise
    except BaseException:
        _note(session.study, session.run, "failed")
        raise


def _there(
    study: Study, output: Output, asked: Call, run: provenance.Run
) -> list[storing.KnownBug]:
    """The study's bugs; without any, those that come with the program, if some are to be run."""
    there = collecting.known(study, run)
    collecting.check_named(study, asked.bugs)
    if asked.judge_again and not there:
        with study.reading():  # a mistyped study is told of as everywhere
            return there
    if there:
        return there
    collecting.check_shipped(asked.bugs, asked.sets)
    brought = collecting.bring_shipped(study, run)
    output.tell(
        f"the study has no bugs: took the {brought.count} that come with the program, into "
        f"{study.directory / storing.FOLDER / storing.SHIPPED}"
    )
    return collecting.known(study, run)


def _drawn(study: Study, output: Output, asked: Call, run: provenance.Run) -> drawing.Drawn | None:
    if asked.sample is None:
        return None
    drawn = drawing.draw(
        study,
        asked.sample,
        asked.stratify,
        drawing.DEFAULT_SEED if asked.seed is None else asked.seed,
        sets=asked.sets,
        run=run,
        outcome="running",
    )
    output.tell(drawn.words())
    return drawn


def _asked(asked: Call, budget_s: float | None) -> Asked:
    return Asked(
        seeds=asked.seeds or Asked.seeds,
        device=asked.device,
        isolation=asked.isolation,
        unsafe_network=asked.unsafe_network,
        workers=asked.workers,
        cluster=asked.cluster,
        budget_s=budget_s,
        cache_mb=None if asked.cache_gb is None else asked.cache_gb * 1000,
    )


def _budget(text: str) -> float | None:
    return float(seconds(text)) if text else None


def _check(asked: Call) -> None:
    """Refuse what contradicts itself, before anything is done."""
    for name, others in _CONTRADICTIONS.items():
        if asked.is_given(name):
            for other in others:
                if asked.is_given(other):
                    raise StudyError(
                        f"{_name(name)} and {_name(other)} do not go together", "Leave one out."
                    )
    for name, needed in _NEEDS.items():
        if asked.is_given(name) and not asked.is_given(needed):
            raise StudyError(
                f"{_name(name)} says nothing without {_name(needed)}",
                f"Give {_name(needed)} too, or leave it out.",
            )
    for name, what, least, most in (
        ("seeds", "runs", Asked.seeds, _MOST_SEEDS),
        ("workers", "runs", 1, _MOST_WORKERS),
        ("cache_gb", "gigabytes", 1, _MOST_GB),
        ("sample", "bugs", 1, _MOST_BUGS),
    ):
        number = getattr(asked, name)
        if number is None or least <= number <= most:
            continue
        why = " Fewer than 3 runs of each side decide nothing." if 1 <= number < least else ""
        raise StudyError(
            f"{_name(name)} {number} is no number of {what}",
            f"Give one from {least:,} to {most:,}.{why}",
        )


def _name(option: str) -> str:
    return _NAMES.get(option, f"--{option}")


def _note(study: Study, run: provenance.Run, outcome: Outcome) -> None:
    """How the command ended, if it wrote anything."""
    if study.exists:
        with suppress(StudyError), study.writing() as writer:  # a full disk has been told of
            if writer.value("SELECT count(*) FROM store.run WHERE run_id = ?", [run.run_id]):
                provenance.record(writer, run, outcome)


def _end(is_good: bool) -> None:  # noqa: FBT001
    if not is_good:
        raise typer.Exit(1)
