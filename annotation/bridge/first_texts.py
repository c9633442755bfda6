"""All raters of a round judge the same text of an item: the one that was labelled first.

An artifact may be fetched again between two pushes and have changed. Once anybody has labelled
the item, the others get it as it was then; the text is taken from the labelled task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge import projects
from faultatlas.annotation.bridge.contents import Content
from faultatlas.annotation.bridge.filling import Filling, Pushed
from faultatlas.annotation.bridge.remote import in_one_line
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.remote import Remote, RemoteTask
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Study

_SHOWN = 5


@dataclass(frozen=True)
class _Labelled:
    """A labelled task with a text that is no more that of the artifact."""

    remote: Remote
    task: RemoteTask


def first_texts(
    study: Study,
    of: Round,
    filled: Sequence[Filling],
    contents: Mapping[str, Content],
    by_name: Callable[[str], Remote],
) -> dict[str, Content | None]:
    """For each item the text that tasks should have; None where it cannot be found out."""
    texts: dict[str, Content | None] = dict(contents)
    if not filled:
        return texts
    others, unknown = _others(study, of, filled, contents, by_name)
    first, mixed = _labelled((*filled, *others), contents)
    for item, labelled in first.items():
        if labelled.task.content == contents[item].digest:
            continue
        if any(_needs(filling, item, labelled.task.content) for filling in filled):
            data = labelled.remote.task_data(labelled.task.task_id)
            meta = contents[item].meta | {"content": labelled.task.content}
            texts[item] = Content(data, meta, labelled.task.content)
        else:
            texts[item] = None  # nobody is to get it
    for item in unknown - first.keys():
        texts[item] = None
    if mixed:
        filled[0].report.notes.append(
            f"raters have labelled different texts of {len(mixed)} items: {_named(mixed)}"
        )
    return texts


def _labelled(
    every: Iterable[Filling], contents: Mapping[str, Content]
) -> tuple[dict[str, _Labelled], set[str]]:
    """The first labelled task of each item, and the items that others have labelled otherwise."""
    first: dict[str, _Labelled] = {}
    mixed: set[str] = set()
    for filling in every:
        for item, task in filling.there.items():
            if item in contents and task.is_labelled and filling.is_as_sent(task):
                before = first.setdefault(item, _Labelled(filling.remote, task))
                if before.task.content != task.content:
                    mixed.add(item)
    return first, mixed


def _needs(filling: Filling, item: str, content: str) -> bool:
    """Whether a project is to show that text, and does not."""
    if item not in filling.items:
        return False
    task = filling.there.get(item)
    return task is None or (not task.is_labelled and task.content != content)


def _others(
    study: Study,
    of: Round,
    filled: Sequence[Filling],
    contents: Mapping[str, Content],
    by_name: Callable[[str], Remote],
) -> tuple[list[Filling], set[str]]:
    """Projects of raters who are not pushed for now, where they may have labelled another text.

    Their servers are asked only then; with the items of those that do not answer.
    """
    here = {(each.place.server, each.place.project_id) for each in filled}
    with study.reading() as reader:
        known = {
            place: projects.known_tasks(reader, place)
            for place in projects.places(reader, of.name)
            if place.stage == "independent" and (place.server, place.project_id) not in here
        }
    others: list[Filling] = []
    unknown: set[str] = set()
    for place, tasks in known.items():
        suspects = {
            task.item_id
            for task in tasks.values()
            if task.item_id in contents and task.content != contents[task.item_id].digest
        }
        if not suspects:
            continue
        report = Pushed(place.rater, place.stage)
        try:
            other = Filling(study, by_name(place.server), place, "", sorted(suspects), report)
            other.look()
            others.append(other)
        except StudyError as error:
            unknown |= suspects
            filled[0].report.problems.append(
                f"{len(suspects)} items have changed, and {place.rater} may have labelled them "
                f"before, so that they are not sent or updated: {_named(suspects)}. "
                f"{in_one_line(error)}"
            )
    return others, unknown


def _named(items: Iterable[str]) -> str:
    every = sorted(items)
    return ", ".join(every[:_SHOWN]) + (", ..." if len(every) > _SHOWN else "")
