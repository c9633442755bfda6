"""Fills one rater's project with tasks: what is missing is sent, what has changed is updated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.bridge import projects

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.contents import Content
    from faultatlas.annotation.bridge.projects import KnownTask, Place
    from faultatlas.annotation.bridge.remote import Remote, RemoteTask
    from faultatlas.data import provenance
    from faultatlas.data.study import Study

_BATCH = 100  # tasks of a request
_BATCH_SIZE = 5_000_000  # characters


@dataclass
class Pushed:
    """What became of one rater's project."""

    rater: str
    stage: str
    server: str = ""
    project_id: int | None = None
    title: str = ""
    url: str = ""
    blindness: str = ""
    is_new: bool = False
    tasks: int = 0  # that are there now
    sent: int = 0
    updated: int = 0
    outdated: int = 0  # their artifact has changed since, but a rater has labelled it before
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class Filling:
    """A project that is being filled."""

    study: Study
    remote: Remote
    place: Place
    command: str  # that sends removed tasks again
    items: Sequence[str]
    report: Pushed
    there: dict[str, RemoteTask] = field(default_factory=dict)  # item: task
    known: dict[int, KnownTask] = field(default_factory=dict)

    def look(self) -> None:
        """See what is there. A request whose answer was lost may have been carried out late."""
        place, report = self.place, self.report
        with self.study.reading() as reader:
            self.known = projects.known_tasks(reader, place)
        self.there = {}
        tasks = self.remote.tasks(place.project_id, with_content=True)
        # The labelled one is kept, or else the first.
        for task in sorted(tasks, key=lambda each: not each.is_labelled):
            if task.item_id is None:
                continue
            if task.item_id not in self.there:
                self.there[task.item_id] = task
            elif task.is_labelled:
                problem = f"project {place.project_id}: {task.item_id} was labelled in two tasks"
                if problem not in report.problems:
                    report.problems.append(problem)
            else:
                self.remote.delete_task(task.task_id)

    def is_as_sent(self, task: RemoteTask) -> bool:
        """Whether a task has what we sent, not what somebody made of it."""
        known = self.known.get(task.task_id)
        return task.content in {task.sent, known.content if known else task.sent}

    def fill(
        self,
        texts: Mapping[str, Content | None],
        now: Mapping[str, Content],
        run: provenance.Run,
        *,
        again: bool,
    ) -> None:
        """Send and update tasks; those without a text stay as they are."""
        place, report = self.place, self.report
        missing = [item for item in self.items if item not in self.there]
        known = {task.item_id for task in self.known.values()}
        removed = set() if again else known & set(missing)
        updated = self._update(texts, now)
        new = [
            content
            for item in missing
            if item not in removed and (content := texts.get(item)) is not None
        ]
        for batch in _batches(new):
            self.remote.import_tasks(place.project_id, batch)
        report.sent = len(new)
        if new or updated:
            self.look()
            lost = [item for item in missing if item not in self.there and item not in removed]
            lost = [item for item in lost if texts.get(item) is not None]
            if lost:
                report.problems.append(
                    f"{len(lost)} of {len(new)} tasks did not arrive in project "
                    f"{place.project_id}, such as {lost[0]}. Run this again."
                )
        if removed:
            report.problems.append(
                f"{_tasks(len(removed))} removed from project {place.project_id} ({place.rater}) "
                f"on {self.remote.url}, such as {min(removed)}. To send what was removed again: "
                f"{self.command}"
            )
        report.tasks = len(self.there)
        projects.put_tasks(
            self.study, place, self.there.values(), run, updated=updated, removed=removed
        )

    def _update(self, texts: Mapping[str, Content | None], now: Mapping[str, Content]) -> set[int]:
        """Give tasks that nobody has labelled the text that they should have."""
        updated = set()
        wanted = set(self.items)
        for item, task in self.there.items():
            if item not in wanted:
                continue
            content = texts[item]
            if task.is_labelled and not self.is_as_sent(task):
                self.report.problems.append(
                    f"project {self.place.project_id} ({self.place.rater}): the text of {item} was "
                    "changed on the server, and it is labelled. Delete the label there, and push: "
                    "then it can be labelled as it is."
                )
            elif not task.is_labelled and content and content.digest != task.content:
                self.remote.update_task(task.task_id, content.data, content.meta)
                updated.add(task.task_id)
                self.report.updated += 1
                self.report.outdated += content.digest != now[item].digest
            else:
                shown = task.content if self.is_as_sent(task) else task.sent
                self.report.outdated += shown != now[item].digest
        return updated


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


def _tasks(count: int) -> str:
    return "1 task was" if count == 1 else f"{count} tasks were"
