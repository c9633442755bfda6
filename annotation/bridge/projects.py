"""Which project on a server is whose, and which task shows which item.

A project is found by the study's own row or, if a command was killed before it could write that,
by the mark in its description. A task is known by the item in its metadata, never by its number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge.own_server import SHARED
from faultatlas.annotation.bridge.remote import ChangedError, GoneError, Remote, RemoteTask
from faultatlas.annotation.typed import typed
from faultatlas.data import clock, provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader, Study, Writer

OWN_PROJECT = "own project"
OWN_SERVER = "own server"
_TITLE = 50  # Label Studio's limit


@dataclass(frozen=True)
class Place:
    """A project of a round, as the study knows it."""

    server: str
    project_id: int
    round: str
    rater: str
    stage: Stage
    taxonomy_version: str
    blindness: str


@dataclass(frozen=True)
class Wanted:
    """A project that a round needs: that of a rater at a stage."""

    round: Round
    rater: str
    stage: Stage
    mark: str  # in the description of the project
    version: str = ""  # of the taxonomy, where it is not the one that the round began with

    @property
    def title(self) -> str:
        """What all see in the list of projects: a number, so that nobody looks for a name."""
        part = f" · {self.stage}"
        if self.stage == "independent":
            known = self.rater in self.round.raters
            part = f" · {self.round.raters.index(self.rater) + 1}" if known else ""
        part += f" ({self.version})" if self.version else ""
        return f"{self.round.name[: _TITLE - len(part)]}{part}"

    def description(self, config: str) -> str:
        """For whoever looks at the project's settings; with a fingerprint of the page."""
        return (
            f"Round {self.round.name}, {self.stage} stage, taxonomy {self.round.taxonomy} "
            f"{self.round.taxonomy_version}. Keep this mark: {self.mark}-{_fingerprint(config)}"
        )

    @property
    def command(self) -> str:
        """What sends it again."""
        name = typed(self.round.name)
        if self.stage == "independent":
            version = f" --version {self.version}" if self.version else ""
            return f"annotation push {name} --rater {typed(self.rater)}{version} --again"
        third = f" --third {typed(self.rater)}" if self.stage == "adjudicated" else ""
        return f"annotation adjudicate {name}{third} --push"


def wanted_project(reader: Reader, of: Round, rater: str, stage: Stage) -> Wanted:
    """The project of a rater, with a mark that no other study has."""
    [made] = reader.rows(
        "SELECT run_id, taxonomy_version FROM store.round WHERE round = ?", [of.name]
    )
    is_first = made["taxonomy_version"] == of.taxonomy_version
    parts = (made["run_id"], of.name, rater, stage, of.taxonomy, of.taxonomy_version)
    mark = f"faultatlas:{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}"
    return Wanted(of, rater, stage, mark, "" if is_first else of.taxonomy_version)


def places(reader: Reader, round_name: str) -> list[Place]:
    """The projects of a round that are in use.

    Those on a server of a merged study cannot be reached from here.
    """
    rows = reader.rows(
        "SELECT server, project_id, round, rater, stage, taxonomy_version, blindness "
        "FROM store.project WHERE round = ? AND retired_at IS NULL "
        "AND NOT starts_with(server, 'elsewhere ') "
        "ORDER BY stage DESC, rater, server, project_id",
        [round_name],
    )
    return [Place(**row) for row in rows]


def ensure_project(
    study: Study,
    remote: Remote,
    wanted: Wanted,
    config: str,
    run: provenance.Run,
    *,
    again: bool,
    leave: Callable[[Place], None],
) -> tuple[Place, bool]:
    """The project, made if there is none; whether it was made.

    One on another server is left only `again`, and only if `leave` does not refuse it. The study
    forgets it when the new one is there.
    """
    with study.reading() as reader:
        known = [
            place
            for place in places(reader, wanted.round.name)
            if (place.rater, place.stage, place.taxonomy_version)
            == (wanted.rater, wanted.stage, wanted.round.taxonomy_version)
        ]
    left = []
    for place in sorted(known, key=lambda each: each.server != remote.name):
        if place.server == remote.name:
            if not again or _is_there(remote, place, wanted):
                require_ours(remote, place, wanted, config if again else None)
                return place, False
        elif not again:
            raise StudyError(
                f"the labels of {wanted.rater} in round {wanted.round.name} are on another server "
                f"({place.server}, project {place.project_id})",
                "Push there; or push here with --again, which pulls them first.",
            )
        else:
            leave(place)
        left.append(place)
    found = [number for number, text in remote.projects().items() if wanted.mark in text]
    project_id = min(found, default=0) or remote.create_project(
        title=wanted.title, description=wanted.description(config), config=config
    )
    place = Place(
        remote.name, project_id, wanted.round.name, wanted.rater, wanted.stage,
        wanted.round.taxonomy_version,
        OWN_SERVER if remote.name == f"{SHARED}/{wanted.rater}" else OWN_PROJECT,
    )  # fmt: skip
    with study.writing() as writer:
        provenance.record(writer, run, "running")
        for old in left:
            _retire(writer, old, is_replaced=_key(old) == _key(place))
        writer.execute(
            "INSERT OR REPLACE INTO store.project VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [
                place.server, place.project_id, place.round, place.rater, place.stage,
                place.taxonomy_version, place.blindness, run.run_id,
            ],
        )  # fmt: skip
    return place, not found


def require_ours(
    remote: Remote, place: Place, wanted: Wanted, mend_with: str | None = None
) -> None:
    """The project must be there, be the one that we made, and have the page that we made.

    A page that was changed is put back, if there is one to mend it with.
    """
    where = f"project {place.project_id} (round {place.round}, rater {place.rater})"
    try:
        found = remote.project(place.project_id)
    except GoneError:
        raise GoneError(
            f"{where} was deleted on {remote.url}",
            f"What was pulled is kept. To make it anew: {wanted.command}",
        ) from None
    if wanted.mark not in found.description:
        raise GoneError(
            f"project {place.project_id} on {remote.url} is not that of round {place.round}, rater "
            f"{place.rater}: its description has no mark {wanted.mark}",
            "Put the mark back, if it was removed. If the server is another one, make the project "
            f"anew: {wanted.command}",
        )
    if f"{wanted.mark}-{_fingerprint(found.config)}" in found.description:
        return
    if mend_with is None:
        raise ChangedError(
            f"{where}: its labelling page was changed on {remote.url}",
            f"No label of it is stored until the page is as it was. To put it back: "
            f"{wanted.command}",
        )
    remote.put_page_back(
        place.project_id, description=wanted.description(mend_with), config=mend_with
    )


def _fingerprint(config: str) -> str:
    return hashlib.sha256(config.strip().encode()).hexdigest()[:12]


def _key(place: Place) -> tuple[str, int]:
    return place.server, place.project_id


@dataclass(frozen=True)
class KnownTask:
    """A task that the study knows."""

    item_id: str
    content: str
    is_pulled: bool  # a label of it was


def known_tasks(reader: Reader, place: Place) -> dict[int, KnownTask]:
    """The tasks that the study knows of a project."""
    rows = reader.rows(
        "SELECT task_id, item_id, content_hash, is_pulled FROM store.task "
        "WHERE server = ? AND project_id = ? ORDER BY task_id",
        [place.server, place.project_id],
    )
    return {
        row["task_id"]: KnownTask(row["item_id"], row["content_hash"], row["is_pulled"])
        for row in rows
    }


def put_tasks(
    study: Study,
    place: Place,
    tasks: Iterable[RemoteTask],
    run: provenance.Run,
    *,
    updated: AbstractSet[int],
    removed: AbstractSet[str],
) -> None:
    """Note which task shows which item; those of `removed` items stay and are told again."""
    with study.reading() as reader:
        before = known_tasks(reader, place)
    kept = {number: each for number, each in before.items() if each.item_id in removed}
    there = {}
    for task in tasks:
        old = before.get(task.task_id)
        if task.item_id and old and task.task_id not in updated:
            there[task.task_id] = old  # whatever it says now
        elif task.item_id:
            there[task.task_id] = KnownTask(task.item_id, task.sent, bool(old and old.is_pulled))
    after = kept | there
    if after == before:
        return
    key = [place.server, place.project_id]
    with study.writing() as writer:
        provenance.record(writer, run, "running")
        for number in before.keys() - after.keys():
            writer.execute(
                "DELETE FROM store.task WHERE server = ? AND project_id = ? AND task_id = ?",
                [*key, number],
            )
        for number, each in sorted(after.items()):
            if before.get(number) != each:
                writer.execute(
                    "INSERT OR REPLACE INTO store.task VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [*key, number, each.item_id, each.content, run.run_id, each.is_pulled],
                )


def _is_there(remote: Remote, place: Place, wanted: Wanted) -> bool:
    try:
        require_ours(remote, place, wanted)
    except ChangedError:
        return True
    except GoneError:
        return False
    return True


def _retire(writer: Writer, place: Place, *, is_replaced: bool) -> None:
    """Note that a project is used no more; one without any label is as if it had never been."""
    key = [place.server, place.project_id]
    writer.execute("DELETE FROM store.task WHERE server = ? AND project_id = ?", key)
    if is_replaced:
        return
    origin = f"{place.server} project {place.project_id} task "
    if writer.value("SELECT 1 FROM store.answer WHERE starts_with(origin, ?) LIMIT 1", [origin]):
        writer.execute(
            "UPDATE store.project SET retired_at = ? WHERE server = ? AND project_id = ?",
            [clock.utc_now(), *key],
        )
    else:
        writer.execute("DELETE FROM store.project WHERE server = ? AND project_id = ?", key)
