"""Sends a round to Label Studio: one project for each rater and stage.

Before anything is sent, the server is asked what is there; after an error the same. So push can
be repeated, and ended at any instant: nothing is doubled, nothing is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from annotation.bridge import projects
from annotation.bridge.contents import Content, contents_of, page_of
from annotation.bridge.remote import GoneError, Remote, RemoteTask
from annotation.planning.gates import require_gate
from annotation.rounds import find_round
from annotation.taxonomies.relabelling import relabel_queue
from data import provenance
from data.errors import StudyError

if TYPE_CHECKING:
    from annotation.bridge.page.tasks import Said
    from annotation.bridge.projects import Place
    from annotation.labels import Stage
    from annotation.rounds import Round
    from data.store import Reader, Study

_BATCH = 100  # tasks of a request
_BATCH_SIZE = 5_000_000  # characters

# The server of a rater. The same one may be given to several.
Servers = Callable[[str], Remote]
Advance = Callable[[int, int], None]


@dataclass
class Pushed:
    """What became of one rater's project."""

    rater: str
    stage: str
    server: str = ""
    project_id: int | None = None
    url: str = ""
    blindness: str = ""
    is_new: bool = False
    tasks: int = 0  # that are there now
    sent: int = 0
    updated: int = 0
    outdated: int = 0  # their artifact has changed since, but they are labelled
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What a push would send: for each rater items in the rater's order, with what was said."""

    round: Round
    stage: Stage
    items: Mapping[str, Sequence[str]]
    said: Mapping[str, Sequence[Said]]


def independent_plan(reader: Reader, round_name: str, raters: Sequence[str] = ()) -> Plan:
    """The items that raters label on their own, each in the rater's own order."""
    of = find_round(reader, round_name)
    _refuse_unknown(of, raters)
    require_gate(reader, of)
    items: dict[str, list[str]] = {
        rater: [] for rater in of.raters if not raters or rater in raters
    }
    for row in reader.rows(
        "SELECT rater, item_id FROM store.assignment WHERE round = ? ORDER BY rater, position",
        [round_name],
    ):
        if row["rater"] in items:
            items[row["rater"]].append(row["item_id"])
    return Plan(of, "independent", {rater: each for rater, each in items.items() if each}, {})


def relabel_plan(reader: Reader, round_name: str, version: str, raters: Sequence[str] = ()) -> Plan:
    """The items whose labels wait to be given again in a version, for those who gave them.

    A model's proposals are of the version before and are not shown.
    """
    of = find_round(reader, round_name)
    waiting = [
        each.said for each in relabel_queue(reader, of, version) if each.said.stage == "independent"
    ]
    _refuse_unknown(of, raters, {said.rater for said in waiting})
    items: dict[str, list[str]] = {}
    for said in waiting:
        there = items.setdefault(said.rater, [])
        if said.item_id not in there:
            there.append(said.item_id)
    wanted = {rater: each for rater, each in items.items() if not raters or rater in raters}
    of = replace(of, taxonomy_version=version, suggestions=False)
    return Plan(of, "independent", wanted, {})


def _refuse_unknown(of: Round, raters: Sequence[str], others: Iterable[str] = ()) -> None:
    unknown = [rater for rater in raters if rater not in {*of.raters, *others}]
    if unknown:
        raise StudyError(
            f"{unknown[0]} is no rater of round {of.name}",
            f"Its raters: {', '.join(of.raters) or 'none'}.",
        )


def stage_plan(
    reader: Reader, round_name: str, stage: Stage, rater: str, said: Mapping[str, Sequence[Said]]
) -> Plan:
    """Items in a given order for one rater, with what raters said before, without their names."""
    of = find_round(reader, round_name)
    there = {
        row["item_id"]
        for row in reader.rows("SELECT item_id FROM store.item WHERE round = ?", [round_name])
    }
    for item in said:
        if item not in there:
            raise StudyError(f"{item} is no item of round {round_name}")
    return Plan(of, stage, {rater: list(said)} if said else {}, said)


def push(
    study: Study,
    plan: Plan,
    servers: Servers,
    *,
    again: bool = False,
    advance: Advance = lambda _done, _all: None,
) -> list[Pushed]:
    """Make the projects and fill them; one that is gone is reported, the others are filled."""
    run = provenance.begin(
        "annotation push",
        {"round": plan.round.name, "stage": plan.stage, "raters": list(plan.items), "again": again},
    )
    every = list(dict.fromkeys(item for items in plan.items.values() for item in items))
    with study.reading() as reader:
        wanted = {
            rater: projects.wanted_project(reader, plan.round, rater, plan.stage)
            for rater in plan.items
        }
        page = page_of(reader, plan.round, plan.stage)
        contents = contents_of(reader, plan.round, page, every, plan.said)
    done, total = 0, sum(map(len, plan.items.values()))
    reports = []
    for rater, items in plan.items.items():
        remote = servers(rater)
        report = Pushed(rater, plan.stage, remote.name)
        reports.append(report)
        try:
            place, report.is_new = projects.ensure_project(
                study, remote, wanted[rater], page.config, run, again=again
            )
            report.project_id, report.blindness = place.project_id, place.blindness
            report.url = f"{remote.public_url}/projects/{place.project_id}"
            wanted_tasks = {item: contents[item] for item in items}
            _fill(study, remote, place, wanted_tasks, report=report, run=run, again=again)
        except GoneError as error:
            report.problems.append(" ".join(filter(None, (error.message, error.hint))))
        done += len(items)
        advance(done, total)
    _finish(study, run, reports)
    return reports


def _fill(
    study: Study,
    remote: Remote,
    place: Place,
    wanted: Mapping[str, Content],
    *,
    report: Pushed,
    run: provenance.Run,
    again: bool,
) -> None:
    with study.reading() as reader:
        known = {item for item, _content in projects.known_tasks(reader, place).values()}
    there = _without_doubles(remote, place, report)
    missing = [item for item in wanted if item not in there]
    removed = set() if again else known & set(missing)
    for task in there.values():
        content = wanted.get(task.item_id or "")
        if content is None or content.digest == task.content:
            continue
        if task.is_labelled:
            report.outdated += 1
        else:
            remote.update_task(task.task_id, content.data, content.meta)
            report.updated += 1
    new = [item for item in missing if item not in removed]
    for batch in _batches(wanted[item] for item in new):
        remote.import_tasks(place.project_id, batch)
    report.sent = len(new)
    if new or report.updated:
        there = _without_doubles(remote, place, report)
        lost = [item for item in new if item not in there]
        if lost:
            report.problems.append(
                f"{len(lost)} of {len(new)} tasks did not arrive in project {place.project_id}, "
                f"such as {lost[0]}. Run this again."
            )
    if removed:
        report.problems.append(
            f"{_tasks(len(removed))} of project {place.project_id} ({place.rater}) removed on "
            f"{remote.url}, such as {min(removed)}. To send them again: annotation push "
            f"{place.round} --rater {place.rater} --again"
        )
    report.tasks = len(there)
    projects.put_tasks(study, place, there.values(), removed, run)


def _without_doubles(remote: Remote, place: Place, report: Pushed) -> dict[str, RemoteTask]:
    """For each item its task. A request whose answer was lost may have been carried out late."""
    there: dict[str, RemoteTask] = {}
    # The labelled one is kept, or else the first.
    for task in sorted(remote.tasks(place.project_id), key=lambda each: not each.is_labelled):
        if task.item_id is None:
            continue
        if task.item_id not in there:
            there[task.item_id] = task
        elif task.is_labelled:
            problem = f"project {place.project_id}: {task.item_id} was labelled in two tasks"
            if problem not in report.problems:
                report.problems.append(problem)
        else:
            remote.delete_task(task.task_id)
    return there


def _batches(contents: Iterable[Content]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for content in contents:
        task = {"data": content.data, "meta": content.meta}
        length = len(json.dumps(task))
        if batch and (len(batch) == _BATCH or size + length > _BATCH_SIZE):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += length
    if batch:
        yield batch


def _finish(study: Study, run: provenance.Run, reports: list[Pushed]) -> None:
    """Say how the run ended, if it wrote anything or changed the server."""
    with study.reading() as reader:
        wrote = reader.value("SELECT count(*) FROM store.run WHERE run_id = ?", [run.run_id])
    if wrote or any(report.updated for report in reports):
        with study.writing() as writer:
            problems = any(report.problems for report in reports)
            provenance.record(writer, run, "partial" if problems else "ok")


def _tasks(count: int) -> str:
    return "1 task was" if count == 1 else f"{count} tasks were"
