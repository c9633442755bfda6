"""Which issues of a project a fetch is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.data.old.records import IssueRow
from faultatlas.miner.payload import moment


@dataclass(frozen=True)
class Selection:
    """Labels (all of them, or any), state, pull requests or not, and the oldest update."""

    labels: tuple[str, ...] = ()
    any_label: bool = False
    state: str = "all"
    pulls: bool = True
    since: str | None = None  # ISO 8601, UTC
    priorities: tuple[int, ...] = ()  # one of them, in Gitee's field; none asks for any

    def __post_init__(self) -> None:
        for label in self.labels:
            if "," in label or not label.strip():
                raise StudyError(
                    f"the label {label!r} cannot be asked for: a comma separates labels",
                    "Fetch without it, then select the rows by tracker_labels.",
                )

    def as_json(self) -> dict[str, Any]:
        """Plain values, the same for the same selection."""
        labels = sorted(self.labels, key=str.casefold)
        return {**asdict(self), "labels": labels, "priorities": list(self.priorities)}

    def streams(self) -> list[Selection]:
        """Lists that a tracker can give: labels in one list must all hold."""
        if self.any_label and len(self.labels) > 1:
            return [replace(self, labels=(label,), any_label=False) for label in self.labels]
        return [replace(self, any_label=False)]

    def accepts(self, row: IssueRow) -> bool:
        """Whether an issue is meant; trackers match labels without regard to case, and so do we."""
        if row.is_pull and not self.pulls:
            return False
        if self.state not in ("all", row.state):
            return False
        oldest = moment(self.since)
        if oldest and row.updated_at and row.updated_at < oldest:
            return False
        if self.priorities and row.tracker_priority not in self.priorities:
            return False
        return not self.missing_labels(row)

    def missing_labels(self, row: IssueRow) -> list[str]:
        """The labels for which the issue is not meant."""
        there = {label.casefold() for label in row.tracker_labels}
        missing = [label for label in self.labels if label.casefold() not in there]
        return [] if self.any_label and len(missing) < len(self.labels) else missing

    def words(self) -> str:
        """For a message."""
        parts = [" or ".join(self.labels) if self.any_label else " and ".join(self.labels)]
        parts.append(
            f"priority {' or '.join(map(str, self.priorities))}" if self.priorities else ""
        )
        parts.append("" if self.state == "all" else self.state)
        parts.append("" if self.pulls else "no pull requests")
        parts.append(f"since {self.since[:10]}" if self.since else "")
        return ", ".join(part for part in parts if part) or "everything"


def selection_of(values: Mapping[str, Any]) -> Selection:
    """A selection as `as_json` wrote it."""
    lists = {name: tuple(values.get(name, ())) for name in ("labels", "priorities")}
    return Selection(**{**values, **lists})


def stream_key(project: str, what: str, selection: Selection | None = None) -> str:
    """The name of a list that is walked page by page."""
    said = json.dumps(selection.as_json(), sort_keys=True) if selection else ""
    return f"{project} {what} {said}".strip()


def since_text(value: datetime | None) -> str | None:
    """A time as trackers take it."""
    return None if value is None else f"{value:%Y-%m-%dT%H:%M:%SZ}"
