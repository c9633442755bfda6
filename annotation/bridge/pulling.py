"""Brings labels back from Label Studio.

The server takes anything from anybody, so every label is checked: the rater's own, for an item of
the round, with codes of the taxonomy. What is not is told and left there; the rest is stored.
Pull can be repeated, and ended at any instant: labels are stored in one transaction a project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from annotation.bridge import projects
from annotation.bridge.accounts import Account, accounts
from annotation.bridge.annotations import Found, Label, read_annotations
from annotation.bridge.contents import kept_taxonomy
from annotation.bridge.remote import GoneError, Remote, RemoteTask
from annotation.labels import Answer, append
from annotation.rounds import find_round
from data import provenance

if TYPE_CHECKING:
    from annotation.bridge.projects import Place
    from annotation.rounds import Round
    from data.store import Reader, Study
    from data.taxonomy import Taxonomy

_SHOWN = 5  # items of one problem that are named


@dataclass
class Pulled:
    """What became of one project's labels."""

    rater: str
    stage: str
    server: str
    project_id: int
    tasks: int = 0
    labelled: int = 0  # tasks with a label of the rater that can be used
    new: int = 0
    changed: int = 0
    known: int = 0
    withdrawn: int = 0
    skipped: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def pull(
    study: Study,
    round_name: str,
    servers: Callable[[str], Remote],  # by the name that the study's tables have for it
    *,
    rater: str | None = None,
    advance: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Pulled]:
    """Store the labels of all projects of a round, or of one rater's."""
    with study.reading() as reader:
        of = find_round(reader, round_name)
        places = [
            place
            for place in projects.places(reader, round_name)
            if rater is None or place.rater == rater
        ]
    run = provenance.begin("annotation pull", {"round": round_name, "rater": rater})
    reports = []
    for number, place in enumerate(places, 1):
        reports.append(_pull(study, of, place, servers(place.server), run))
        advance(number, len(places))
    _finish(study, run, reports)
    return reports


@dataclass(frozen=True)
class _Known:
    """What the study knows of a project."""

    wanted: projects.Wanted
    taxonomy: Taxonomy
    tasks: Mapping[int, tuple[str, str]]  # item, content
    accounts: Mapping[str, Account]
    items: frozenset[str]  # of the round
    stored: Mapping[int, set[str]]  # task: items whose current label came from it


def _known(reader: Reader, of: Round, place: Place) -> _Known:
    rows = reader.rows("SELECT item_id FROM store.item WHERE round = ?", [of.name])
    return _Known(
        projects.wanted_project(
            reader,
            replace(of, taxonomy_version=place.taxonomy_version),
            place.rater,
            place.stage,
        ),
        kept_taxonomy(reader, of.taxonomy, place.taxonomy_version),
        projects.known_tasks(reader, place),
        accounts(reader, place.server),
        frozenset(row["item_id"] for row in rows),
        _stored(reader, place),
    )


def _pull(study: Study, of: Round, place: Place, remote: Remote, run: provenance.Run) -> Pulled:
    report = Pulled(place.rater, place.stage, place.server, place.project_id)
    with study.reading() as reader:
        known = _known(reader, of, place)
    account = known.accounts.get(place.rater)
    # What was negotiated is what all say: whoever notes it.
    if account is None and place.stage != "negotiated":
        report.problems.append(
            f"{place.rater} has no account on {remote.url}, so that no label in project "
            f"{place.project_id} is known to be {place.rater}'s. Say which account it is: "
            f"annotation rater add {place.rater} --email ADDRESS"
        )
        return report
    try:
        projects.require_ours(remote, place, known.wanted)
        there = remote.tasks(place.project_id)
        exported = remote.labelled(place.project_id)
    except GoneError as error:
        report.problems.append(". ".join(filter(None, (error.message, error.hint))))
        return report
    user_id = account.user_id if account else None
    found = read_annotations(exported, known.taxonomy, of.choice, known.items, user_id)
    answers = [_answer(place, label) for label in found.usable]
    taken_back = _taken_back(place, there, known, found)
    report.tasks, report.labelled = len(there), len(answers)
    report.withdrawn, report.skipped = len(taken_back), len(found.skipped)
    _tell(report, found, place, {each.user_id: name for name, each in known.accounts.items()})
    _tell_missing(report, place, remote, known, there)
    if taken_back:
        report.notes.append(
            f"{len(taken_back)} labels of {place.rater} were deleted on the server and count as "
            f"withdrawn: {_named({answer.item_id for answer in taken_back})}"
        )
    if answers or taken_back:
        with study.writing() as writer:
            stored = append(writer, of.name, [*answers, *taken_back], run)
            if stored.new or stored.changed:
                provenance.record(writer, run, "running")
        report.new, report.known = stored.new, stored.known
        report.changed = stored.changed - len(taken_back)
    return report


def _answer(place: Place, label: Label) -> Answer:
    return Answer(
        item_id=label.item_id,
        rater=place.rater,
        codes=label.parsed.codes,
        taxonomy_version=place.taxonomy_version,
        origin=f"{_origin(place, label.task_id)}annotation {label.annotation_id}",
        stage=place.stage,
        confidence=label.parsed.confidence,
        comment=label.parsed.comment,
        proposed=label.parsed.proposed,
        lead_time_s=label.lead_time_s,
        labelled_at=label.labelled_at,
    )


def _taken_back(
    place: Place, there: Sequence[RemoteTask], known: _Known, found: Found
) -> list[Answer]:
    """Of tasks that are there, but without the label that was stored: it was deleted."""
    return [
        Answer(
            item, place.rater, (), place.taxonomy_version,
            f"{_origin(place, task.task_id)}label deleted", place.stage,
        )
        for task in there
        for item in sorted(known.stored.get(task.task_id, ()))
        if item not in found.items_with_labels
    ]  # fmt: skip


def _tell_missing(
    report: Pulled, place: Place, remote: Remote, known: _Known, there: Sequence[RemoteTask]
) -> None:
    gone = {item for item, _content in known.tasks.values()} - {task.item_id for task in there}
    if gone:
        report.problems.append(
            f"{len(gone)} of {len(known.tasks)} tasks of project {place.project_id} "
            f"({place.rater}) were removed on {remote.url}: {_named(gone)}. Labels that were "
            "pulled are kept. To send them again: annotation push "
            f"{place.round} --rater {place.rater} --again"
        )


def _origin(place: Place, task_id: int) -> str:
    return f"{place.server} project {place.project_id} task {task_id} "


def _stored(reader: Reader, place: Place) -> dict[int, set[str]]:
    """For each task of a project the items whose current answer came from it."""
    prefix = f"{place.server} project {place.project_id} task "
    rows = reader.rows(
        "SELECT DISTINCT item_id, origin FROM labels WHERE round = ? AND rater = ? AND stage = ? "
        "AND taxonomy_version = ? AND is_current AND starts_with(origin, ?)",
        [place.round, place.rater, place.stage, place.taxonomy_version, prefix],
    )
    found: dict[int, set[str]] = {}
    for row in rows:
        task = row["origin"].removeprefix(prefix).partition(" ")[0]
        found.setdefault(int(task), set()).add(row["item_id"])
    return found


def _tell(report: Pulled, found: Found, place: Place, raters: dict[int, str]) -> None:
    """What was found and not stored, or must be known."""
    where = f"project {place.project_id} ({place.rater})"
    for user_id, items in sorted(found.foreign.items()):
        who = f"rater {raters[user_id]}" if user_id in raters else f"user {user_id}"
        report.problems.append(
            f"{where}: {who} has labelled or changed {len(items)} items, which are not stored: "
            f"{_named(items)}. Delete these labels on the server, so that {place.rater} can label."
        )
    for item, problem in found.wrong:
        report.problems.append(f"{where}: {item}: {problem}; not stored")
    for task_id in found.unknown_tasks:
        report.problems.append(
            f"{where}: task {task_id} shows no item of round {place.round}; not stored"
        )
    if found.repeated:
        report.notes.append(
            f"{where}: {len(found.repeated)} items have several labels of {place.rater}; the last "
            f"one counts: {_named(found.repeated)}"
        )
    if found.skipped:
        report.notes.append(
            f"{where}: {len(found.skipped)} items were skipped and have no label: "
            f"{_named(found.skipped)}"
        )


def _named(items: set[str]) -> str:
    first = sorted(items)[:_SHOWN]
    return ", ".join(first) + (", ..." if len(items) > _SHOWN else "")


def _finish(study: Study, run: provenance.Run, reports: list[Pulled]) -> None:
    """Say how the run ended, if it wrote anything."""
    if any(report.new or report.changed or report.withdrawn for report in reports):
        with study.writing() as writer:
            problems = any(report.problems for report in reports)
            provenance.record(writer, run, "partial" if problems else "ok")
