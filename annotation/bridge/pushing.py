"""Sends a round to Label Studio: one project for each rater and stage.

Before anything is sent, the server is asked what is there; after an error the same. So push can
be repeated, and ended at any instant: nothing is doubled, nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge import projects
from faultatlas.annotation.bridge.accounts import account_command, accounts, is_there
from faultatlas.annotation.bridge.contents import Content, contents_of, page_of
from faultatlas.annotation.bridge.ending import broken_by, finish
from faultatlas.annotation.bridge.filling import Filling, Pushed
from faultatlas.annotation.bridge.first_texts import first_texts
from faultatlas.annotation.bridge.pulling import pull_place
from faultatlas.annotation.bridge.remote import GoneError, Remote, in_one_line
from faultatlas.annotation.planning.gates import require_gate
from faultatlas.annotation.rounds import find_round, require_rater
from faultatlas.annotation.taxonomies.relabelling import relabel_queue
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.page.tasks import Said
    from faultatlas.annotation.bridge.projects import Place
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader, Study

# The server of a rater. The same one may be given to several.
Servers = Callable[[str], Remote]
Advance = Callable[[int, int], None]


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
    for rater in raters:
        require_rater(of, rater)
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
    for rater in raters:
        require_rater(of, rater, sorted({said.rater for said in waiting}))
    items: dict[str, list[str]] = {}
    for said in waiting:
        there = items.setdefault(said.rater, [])
        if said.item_id not in there:
            there.append(said.item_id)
    wanted = {rater: each for rater, each in items.items() if not raters or rater in raters}
    of = replace(of, taxonomy_version=version, suggestions=False)
    return Plan(of, "independent", wanted, {})


def stage_plan(
    reader: Reader,
    round_name: str,
    stage: Stage,
    rater: str,
    said: Mapping[str, Sequence[Said]],
    *,
    version: str = "",
) -> Plan:
    """Items in a given order for one rater, with what raters said before, without their names."""
    of = find_round(reader, round_name)
    there = {
        row["item_id"]
        for row in reader.rows("SELECT item_id FROM store.item WHERE round = ?", [round_name])
    }
    for item in said:
        if item not in there:
            raise StudyError(
                f"{item} is no item of round {round_name!r}",
                f"Its items: SELECT item_id FROM items WHERE round = '{round_name}'",
            )
    if version and version != of.taxonomy_version:
        Versions.stored(reader, of.taxonomy).taxonomy(version)  # unknown ones are refused
        of = replace(of, taxonomy_version=version, suggestions=False)
    return Plan(of, stage, {rater: list(said)} if said else {}, said)


def push(
    study: Study,
    plan: Plan,
    servers: Servers,
    by_name: Callable[[str], Remote],  # by the name that the study's tables have for it
    *,
    again: bool = False,
    abandon: bool = False,
    tell: Callable[[str], None] = lambda _message: None,
    advance: Advance = lambda _done, _all: None,
) -> list[Pushed]:
    """Make the projects and fill them; one that is gone is reported, the others are filled."""
    run = provenance.begin(
        "annotation push",
        {"round": plan.round.name, "stage": plan.stage, "raters": list(plan.items), "again": again},
    )
    reports: list[Pushed] = []
    with _alone(study.directory, tell):
        try:
            _push(
                study, plan, servers, by_name,
                reports=reports, run=run, again=again, abandon=abandon, advance=advance,
            )  # fmt: skip
        except BaseException as error:
            finish(study, run, broken_by(error), is_told=_updated(reports))
            raise
        problems = any(report.problems for report in reports)
        finish(study, run, "partial" if problems else "ok", is_told=_updated(reports))
    return reports


def _push(
    study: Study,
    plan: Plan,
    servers: Servers,
    by_name: Callable[[str], Remote],
    *,
    reports: list[Pushed],
    run: provenance.Run,
    again: bool,
    abandon: bool,
    advance: Advance,
) -> None:
    every = list(dict.fromkeys(item for items in plan.items.values() for item in items))
    with study.reading() as reader:
        wanted = {
            rater: projects.wanted_project(reader, plan.round, rater, plan.stage)
            for rater in plan.items
        }
        page = page_of(reader, plan.round, plan.stage)
        contents = contents_of(reader, plan.round, page, every, plan.said)
    filled: list[Filling] = []
    for rater, items in plan.items.items():
        remote = servers(rater)
        report = Pushed(rater, plan.stage, remote.name, title=wanted[rater].title)
        reports.append(report)
        leave = partial(_leave, study, plan.round, by_name, report=report, run=run, abandon=abandon)
        try:
            place, report.is_new = projects.ensure_project(
                study, remote, wanted[rater], page.config, run, again=again, leave=leave
            )
            report.project_id, report.blindness = place.project_id, place.blindness
            report.url = f"{remote.public_url}/projects/{place.project_id}"
            _note_account(study, remote, place, report)
            filling = Filling(study, remote, place, wanted[rater].command, items, report)
            filling.look()
            filled.append(filling)
        except GoneError as error:
            report.problems.append(in_one_line(error))
    texts: Mapping[str, Content | None] = contents
    if plan.stage == "independent":
        texts = first_texts(study, plan.round, filled, contents, by_name)
    done, total = 0, sum(len(filling.items) for filling in filled)
    for filling in filled:
        filling.fill(texts, contents, run, again=again)
        done += len(filling.items)
        advance(done, total)


def _leave(
    study: Study,
    of: Round,
    by_name: Callable[[str], Remote],
    place: Place,
    *,
    report: Pushed,
    run: provenance.Run,
    abandon: bool,
) -> None:
    """Pull a project before it is left; refuse to leave it, if that cannot be done."""
    try:
        problems = pull_place(study, of, place, by_name(place.server), run).problems
    except StudyError as error:
        problems = [in_one_line(error)]
    if not problems:
        return
    if not abandon:
        raise StudyError(
            f"the labels of {place.rater} on {place.server} (project {place.project_id}) could not "
            f"be pulled: {problems[0]}",
            "Mend that first. Or leave what was not pulled behind: add --abandon.",
        )
    report.notes.append(
        f"project {place.project_id} of {place.rater} on {place.server} was left, with labels "
        f"that were not pulled, if there are any: {problems[0]}"
    )


def _note_account(study: Study, remote: Remote, place: Place, report: Pushed) -> None:
    """What was negotiated is noted by anybody; else the rater needs an account."""
    if place.stage == "negotiated":
        return
    with study.reading() as reader:
        account = accounts(reader, remote.name).get(place.rater)
    if account is None or not is_there(account, remote.users()):
        report.notes.append(
            f"{place.rater} has no account on {remote.url} yet: "
            f"{account_command(place.rater, remote)}"
        )


@contextmanager
def _alone(study: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, nobody else pushes: two that find nothing would both make projects."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (study / ".push.lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("another push of this study is going on: waiting until it has ended")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _updated(reports: Sequence[Pushed]) -> bool:
    """Whether the server was changed where nothing is written here."""
    return any(report.updated for report in reports)
