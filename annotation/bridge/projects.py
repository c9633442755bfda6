"""Which project on a server is whose, and which task shows which item.

A project is found by the study's own row or, if a command was killed before it could write that,
by the mark in its description. A task is known by the item in its metadata, never by its number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.bridge.remote import GoneError, Remote, RemoteTask
from data import provenance
from data.errors import StudyError

if TYPE_CHECKING:
    from annotation.labels import Stage
    from annotation.rounds import Round
    from data.store import Reader, Study

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
        """What raters see in their list of projects."""
        stage = "" if self.stage == "independent" else f" ({self.stage})"
        stage += f" {self.version}" if self.version else ""
        room = _TITLE - len(stage) - 3
        rater = self.rater[: room // 2]
        return f"{self.round.name[: room - len(rater)]} · {rater}{stage}"

    @property
    def description(self) -> str:
        """For whoever looks at the project's settings."""
        return (
            f"Round {self.round.name}, rater {self.rater}, stage {self.stage}, taxonomy "
            f"{self.round.taxonomy} {self.round.taxonomy_version}. Keep this mark: {self.mark}"
        )


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
    """The projects of a round; those on a server of a merged study cannot be reached from here."""
    rows = reader.rows(
        "SELECT server, project_id, round, rater, stage, taxonomy_version, blindness "
        "FROM store.project WHERE round = ? AND NOT starts_with(server, 'elsewhere ') "
        "ORDER BY stage DESC, rater, server, project_id",
        [round_name],
    )
    return [Place(**row) for row in rows]


def ensure_project(
    study: Study, remote: Remote, wanted: Wanted, config: str, run: provenance.Run, *, again: bool
) -> tuple[Place, bool]:
    """The project, made if there is none; whether it was made."""
    with study.reading() as reader:
        known = [
            place
            for place in places(reader, wanted.round.name)
            if (place.rater, place.stage, place.taxonomy_version)
            == (wanted.rater, wanted.stage, wanted.round.taxonomy_version)
        ]
    for place in known:
        if again and not _is_there(remote, place, wanted):
            _forget(study, place, run)
        elif place.server != remote.name:
            raise StudyError(
                f"the labels of {wanted.rater} in round {wanted.round.name} are on another server "
                f"({place.server}, project {place.project_id})",
                "Push there; or pull, then push here with --again.",
            )
        else:
            require_ours(remote, place, wanted)
            return place, False
    found = [number for number, text in remote.projects().items() if wanted.mark in text]
    project_id = min(found, default=0) or remote.create_project(
        title=wanted.title, description=wanted.description, config=config
    )
    place = Place(
        remote.name, project_id, wanted.round.name, wanted.rater, wanted.stage,
        wanted.round.taxonomy_version,
        OWN_SERVER if remote.name.endswith(f"/{wanted.rater}") else OWN_PROJECT,
    )  # fmt: skip
    with study.writing() as writer:
        provenance.record(writer, run, "running")
        writer.execute(
            "INSERT INTO store.project VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                place.server, place.project_id, place.round, place.rater, place.stage,
                place.taxonomy_version, place.blindness, run.run_id,
            ],
        )  # fmt: skip
    return place, not found


def require_ours(remote: Remote, place: Place, wanted: Wanted) -> None:
    """The project must be there, and be the one that we made."""
    try:
        description = remote.description(place.project_id)
    except GoneError:
        raise GoneError(
            f"project {place.project_id} (round {place.round}, rater {place.rater}) was deleted "
            f"on {remote.url}",
            "What was pulled is kept. To make it anew: annotation push "
            f"{place.round} --rater {place.rater} --again",
        ) from None
    if wanted.mark not in description:
        raise GoneError(
            f"project {place.project_id} on {remote.url} is not that of round {place.round}, rater "
            f"{place.rater}: its description has no mark {wanted.mark}",
            "Put the mark back, if it was removed. If the server is another one, make the project "
            f"anew: annotation push {place.round} --rater {place.rater} --again",
        )


def known_tasks(reader: Reader, place: Place) -> dict[int, tuple[str, str]]:
    """The tasks that the study knows of a project: item and content."""
    rows = reader.rows(
        "SELECT task_id, item_id, content_hash FROM store.task "
        "WHERE server = ? AND project_id = ? ORDER BY task_id",
        [place.server, place.project_id],
    )
    return {row["task_id"]: (row["item_id"], row["content_hash"]) for row in rows}


def put_tasks(
    study: Study, place: Place, tasks: Iterable[RemoteTask], removed: set[str], run: provenance.Run
) -> None:
    """Note which task shows which item; those of `removed` items stay and are told again."""
    there = {task.task_id: (task.item_id or "", task.content) for task in tasks if task.item_id}
    with study.reading() as reader:
        before = known_tasks(reader, place)
    kept = {number: each for number, each in before.items() if each[0] in removed}
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
        for number, (item, content) in sorted(after.items()):
            if before.get(number) != (item, content):
                writer.execute(
                    "INSERT OR REPLACE INTO store.task VALUES (?, ?, ?, ?, ?, ?)",
                    [*key, number, item, content, run.run_id],
                )


def _is_there(remote: Remote, place: Place, wanted: Wanted) -> bool:
    if place.server != remote.name:
        return False
    try:
        require_ours(remote, place, wanted)
    except GoneError:
        return False
    return True


def _forget(study: Study, place: Place, run: provenance.Run) -> None:
    """Drop what the study knows of a project that is no more; labels stay."""
    with study.writing() as writer:
        provenance.record(writer, run, "running")
        for table in ("store.task", "store.project"):
            writer.execute(
                f"DELETE FROM {table} WHERE server = ? AND project_id = ?",
                [place.server, place.project_id],
            )
