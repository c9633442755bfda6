"""What an export of Label Studio says: whose labels, of which items, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from faultatlas.annotation.bridge.page.answers import Parsed, answer_of
from faultatlas.annotation.bridge.page.tasks import content_hash
from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Label:
    """A label of the rater that can be used."""

    item_id: str
    task_id: int
    annotation_id: int
    parsed: Parsed
    lead_time_s: float | None
    labelled_at: datetime | None


@dataclass
class Found:
    """What is in a project."""

    usable: list[Label] = field(default_factory=list)
    labelled_too: dict[int, set[str]] = field(default_factory=dict)  # user: items
    edited: dict[int, set[str]] = field(
        default_factory=dict
    )  # user: items whose label is not known
    changed: set[str] = field(default_factory=set)  # items whose text was changed on the server
    wrong: list[tuple[str, str]] = field(default_factory=list)  # item, what is wrong
    skipped: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    unknown_tasks: list[int] = field(default_factory=list)
    items_with_labels: set[str] = field(default_factory=set)  # of anybody, usable or not


@dataclass(frozen=True)
class Expected:
    """What the study knows of a project before it reads the labels there."""

    taxonomy: Taxonomy
    choice: str
    items: AbstractSet[str]  # of the round
    user_id: int | None  # the rater's; None: labels of all count
    contents: Mapping[int, str]  # of tasks
    stored: Mapping[str, Parsed]  # items: the label that is stored


def read_annotations(tasks: Iterable[Mapping[str, Any]], expected: Expected) -> Found:
    """The labels of one user in the tasks of an export; of all, where no user is given."""
    found = Found()
    mine: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for task in tasks:
        meta = task.get("meta")
        item = meta.get("item_id") if isinstance(meta, Mapping) else None
        if not isinstance(meta, Mapping) or not isinstance(item, str) or item not in expected.items:
            found.unknown_tasks.append(int(task["id"]))
            continue
        sent = {meta.get("content"), expected.contents.get(int(task["id"]))}
        is_as_sent = content_hash(task.get("data") or {}) in sent
        for annotation in task.get("annotations") or ():
            if annotation.get("was_cancelled"):
                found.skipped.add(item)
                continue
            found.items_with_labels.add(item)
            if not is_as_sent:
                found.changed.add(item)
            elif _is_the_raters(annotation, item, expected, found):
                mine.setdefault(item, []).append((int(task["id"]), annotation))
    found.skipped -= found.items_with_labels
    for item, given in mine.items():
        if len(given) > 1:
            found.repeated.add(item)
        task_id, last = max(given, key=lambda each: (_time(each[1]) or _LONG_AGO, each[1]["id"]))
        parsed = answer_of(last.get("result"), expected.taxonomy, choice=expected.choice)
        if parsed.problems:
            found.wrong.append((item, "; ".join(parsed.problems)))
            continue
        lead_time = last.get("lead_time")
        found.usable.append(
            Label(
                item,
                task_id,
                int(last["id"]),
                parsed,
                float(lead_time) if isinstance(lead_time, int | float) else None,
                _time(last),
            )
        )
    return found


def _is_the_raters(
    annotation: Mapping[str, Any], item: str, expected: Expected, found: Found
) -> bool:
    """Whether a label is the rater's own; if not, whose it is gets noted."""
    by = _user(annotation.get("completed_by"))
    saved_by = _user(annotation.get("updated_by")) or by
    if expected.user_id is None:
        return True
    if by != expected.user_id:
        found.labelled_too.setdefault(by or 0, set()).add(item)
        return False
    if saved_by == expected.user_id or _is_stored(annotation, item, expected):
        return True
    found.edited.setdefault(saved_by or 0, set()).add(item)
    return False


def _is_stored(annotation: Mapping[str, Any], item: str, expected: Expected) -> bool:
    """Whether a label that another one saved (starring it is enough) is what the rater had said."""
    parsed = answer_of(annotation.get("result"), expected.taxonomy, choice=expected.choice)
    said = replace(parsed, codes=tuple(sorted(parsed.codes)))
    return said == expected.stored.get(item)


_LONG_AGO = datetime.min  # noqa: DTZ901  (UTC, as in the study)


def _user(value: Any) -> int | None:
    """An account is a number, or an object with one."""
    number = value.get("id") if isinstance(value, Mapping) else value
    return number if isinstance(number, int) else None


def _time(annotation: Mapping[str, Any]) -> datetime | None:
    """When it was last changed: UTC without a zone."""
    text = annotation.get("updated_at") or annotation.get("created_at")
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when
