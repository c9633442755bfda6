"""Brings labels back from Label Studio.

The server takes anything from anybody, so every label is checked: the rater's own, for an item of
the round, with codes of the taxonomy. What is not is told and left there; the rest is stored.
Pull can be repeated, and ended at any instant: labels are stored in one transaction a project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge import projects
from faultatlas.annotation.bridge.accounts import Account, account_command, accounts, is_there
from faultatlas.annotation.bridge.annotations import Expected, Found, Label, read_annotations
from faultatlas.annotation.bridge.contents import kept_taxonomy
from faultatlas.annotation.bridge.ending import broken_by, finish
from faultatlas.annotation.bridge.page.answers import Parsed
from faultatlas.annotation.bridge.remote import GoneError, Remote, RemoteTask, in_one_line
from faultatlas.annotation.labels import HOLDS, Answer, append
from faultatlas.annotation.rounds import find_round, require_rater
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.projects import Place
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader, Study
    from faultatlas.data.taxonomy import Taxonomy

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
    """Store the labels of all projects of a round, or of one rater's.

    What a server does not give is told, and the others are asked.
    """
    with study.reading() as reader:
        of = find_round(reader, round_name)
        every = projects.places(reader, round_name)
        left_out = _left_out(reader, of, every)
    if rater is not None:
        require_rater(of, rater, (place.rater for place in every))
    places = [place for place in every if rater is None or place.rater == rater]
    run = provenance.begin("annotation pull", {"round": round_name, "rater": rater})
    reports: list[Pulled] = []
    errors: dict[str, StudyError] = {}  # of servers
    try:
        for number, place in enumerate(places, 1):
            report = Pulled(place.rater, place.stage, place.server, place.project_id)
            try:
                if place.server not in errors:
                    report = pull_place(study, of, place, servers(place.server), run)
            except StudyError as error:
                errors[place.server] = error
            if place.server in errors:
                report.problems.append(in_one_line(errors[place.server]))
            reports.append(report)
            advance(number, len(places))
    except BaseException as error:
        finish(study, run, broken_by(error))
        raise
    if len(errors) == 1 and not any(report.tasks for report in reports):
        raise next(iter(errors.values()))  # nothing else is to be said
    problems = any(report.problems for report in reports)
    finish(study, run, "partial" if problems else "ok")
    if left_out and reports and rater is None:
        reports[0].notes.append(
            f"no project, though there are items for them: {', '.join(left_out)}. "
            f"To make one: annotation push {typed(round_name)}"
        )
    return reports


def _left_out(reader: Reader, of: Round, places: Sequence[Place]) -> list[str]:
    """Raters of a round in Label Studio who have items, and neither a project nor a label."""
    with_project = {place.rater for place in places if place.stage == "independent"}
    rows = reader.rows(
        "SELECT DISTINCT rater FROM store.assignment WHERE round = ? AND rater NOT IN "
        "(SELECT rater FROM store.answer WHERE round = ? AND NOT contains(origin, ' project ')) "
        "ORDER BY rater",
        [of.name, of.name],
    )
    return [row["rater"] for row in rows if with_project and row["rater"] not in with_project]


@dataclass(frozen=True)
class _Known:
    """What the study knows of a project."""

    wanted: projects.Wanted
    taxonomy: Taxonomy
    tasks: Mapping[int, projects.KnownTask]
    accounts: Mapping[str, Account]
    items: frozenset[str]  # of the round
    stored: Mapping[str, Parsed]  # items: the rater's current label


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


def pull_place(
    study: Study, of: Round, place: Place, remote: Remote, run: provenance.Run
) -> Pulled:
    """Store the labels of one project."""
    report = Pulled(place.rater, place.stage, place.server, place.project_id)
    with study.reading() as reader:
        known = _known(reader, of, place)
    users = remote.users()
    real = {rater: each for rater, each in known.accounts.items() if is_there(each, users)}
    account = real.get(place.rater)
    # What was negotiated is what all say: whoever notes it.
    if account is None and place.stage != "negotiated":
        report.problems.append(
            f"{place.rater} has no account on {remote.url}, so that no label in project "
            f"{place.project_id} is known to be {place.rater}'s. Say which account it is: "
            f"{account_command(place.rater, remote)}"
        )
        return report
    try:
        projects.require_ours(remote, place, known.wanted)
        there = remote.tasks(place.project_id)
        exported = remote.labelled(place.project_id)
    except GoneError as error:
        report.problems.append(in_one_line(error))
        return report
    expected = Expected(
        known.taxonomy, of.choice, known.items, account.user_id if account else None,
        {number: task.content for number, task in known.tasks.items()}, known.stored,
    )  # fmt: skip
    found = read_annotations(exported, expected)
    answers = [_answer(place, label) for label in found.usable]
    taken_back = _taken_back(place, there, known, found)
    report.tasks, report.labelled = len(there), len(answers)
    report.withdrawn, report.skipped = len(taken_back), len(found.skipped)
    _tell(report, found, place, {each.user_id: name for name, each in real.items()})
    _tell_missing(report, place, remote, known, there)
    if taken_back:
        items = {answer.item_id for answer in taken_back}
        report.notes.append(
            f"{_count(items, 'label', '')} of {place.rater} {_were(items)} deleted on the server "
            f"and {'counts' if len(items) == 1 else 'count'} as withdrawn: {_named(items)}"
        )
    pulled = [
        label.task_id
        for label in found.usable
        if label.task_id in known.tasks and not known.tasks[label.task_id].is_pulled
    ]
    if answers or taken_back:
        with study.writing() as writer:
            stored = append(writer, of.name, [*answers, *taken_back], run)
            if stored.new or stored.changed:
                provenance.record(writer, run, "running")
            if pulled:
                writer.execute(
                    "UPDATE store.task SET is_pulled = true WHERE server = ? AND project_id = ? "
                    "AND list_contains(?, task_id)",
                    [place.server, place.project_id, pulled],
                )
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
    """Of tasks that are there and had a label once, but have none: it was deleted."""
    return [
        Answer(
            task.item_id, place.rater, (), place.taxonomy_version,
            f"{_origin(place, task.task_id)}label deleted", place.stage,
        )
        for task in there
        if task.item_id
        and task.item_id in known.stored
        and task.item_id not in found.items_with_labels
        and task.task_id in known.tasks
        and known.tasks[task.task_id].is_pulled
    ]  # fmt: skip


def _tell_missing(
    report: Pulled, place: Place, remote: Remote, known: _Known, there: Sequence[RemoteTask]
) -> None:
    gone = {task.item_id for task in known.tasks.values()} - {task.item_id for task in there}
    if gone:
        report.problems.append(
            f"{len(gone)} of {len(known.tasks)} tasks of project {place.project_id} "
            f"({place.rater}) {_were(gone)} removed on {remote.url}: {_named(gone)}. Labels that "
            f"were pulled are kept. To send what was removed again: {known.wanted.command}"
        )


def _origin(place: Place, task_id: int) -> str:
    return f"{place.server} project {place.project_id} task {task_id} "


def _stored(reader: Reader, place: Place) -> dict[str, Parsed]:
    """The current answers of the rater at this stage, wherever they came from."""
    rows = reader.rows(
        "SELECT item_id, codes, confidence, comment, proposed FROM store.answer "
        "WHERE round = ? AND rater = ? AND stage = ? AND taxonomy_version = ? AND len(codes) > 0 "
        f"AND {HOLDS}",
        [place.round, place.rater, place.stage, place.taxonomy_version],
    )
    return {
        row["item_id"]: Parsed(
            tuple(row["codes"]), row["confidence"], row["comment"], row["proposed"]
        )
        for row in rows
    }


def _tell(report: Pulled, found: Found, place: Place, raters: dict[int, str]) -> None:
    """What was found and not stored, or must be known."""
    where = f"project {place.project_id} ({place.rater})"
    for user_id, items in sorted(found.labelled_too.items()):
        report.problems.append(
            f"{where}: {_who(user_id, raters)} has labelled {_count(items, 'item', '')} too: "
            f"{_named(items)}. These labels are not stored; delete them on the server."
        )
    for user_id, items in sorted(found.edited.items()):
        report.problems.append(
            f"{where}: {_who(user_id, raters)} has starred, saved or edited the labels of "
            f"{_count(items, 'item', '')}, so that they are not stored: {_named(items)}. Let "
            f"{place.rater} look at them and save them again, or delete them on the server."
        )
    if found.changed:
        report.problems.append(
            f"{where}: the text of {_count(found.changed, 'item')} changed on the server, so that "
            f"labels of it are not stored: {_named(found.changed)}. Delete these labels there, and "
            "push: then the right text can be labelled."
        )
    for item, problem in found.wrong:
        report.problems.append(f"{where}: {item}: {problem}; not stored.")
    for task_id in found.unknown_tasks:
        report.problems.append(
            f"{where}: task {task_id} shows no item of round {place.round}; not stored."
        )
    if found.repeated:
        report.notes.append(
            f"{where}: {_count(found.repeated, 'item', '')} with several labels of {place.rater}; "
            f"the last one counts: {_named(found.repeated)}"
        )
    if found.skipped:
        report.notes.append(
            f"{where}: {_count(found.skipped, 'item')} skipped, so without a label: "
            f"{_named(found.skipped)}"
        )


def _who(user_id: int, raters: Mapping[int, str]) -> str:
    return f"rater {raters[user_id]}" if user_id in raters else f"user {user_id}"


def _were(things: AbstractSet[str]) -> str:
    return "was" if len(things) == 1 else "were"


def _count(things: AbstractSet[str], word: str, verb: str | None = None) -> str:
    ending = _were(things) if verb is None else verb
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'} {ending}".rstrip()


def _named(items: AbstractSet[str]) -> str:
    first = sorted(items)[:_SHOWN]
    return ", ".join(first) + (", ..." if len(items) > _SHOWN else "")
