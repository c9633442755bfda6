"""What the tracker counts, against what the study has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from faultatlas.data.clock import utc_now
from faultatlas.miner.payload import entry, integer
from faultatlas.miner.refusals import QuotaUsedUp, Refused, Unreachable
from faultatlas.miner.selection import stream_key

if TYPE_CHECKING:
    from faultatlas.miner.ingest import Ingest
    from faultatlas.miner.selection import Selection


@dataclass(frozen=True)
class Counted:
    """Issues and pull requests that the tracker's search finds; None where it does not say."""

    issues: int | None
    pulls: int | None
    reason: str = ""


def check(ingest: Ingest, selection: Selection) -> Counted:
    """Ask how many there are, and note that beside the list that was read."""
    counted = count(ingest, selection)
    streams = selection.streams()
    if counted.issues is not None and len(streams) == 1:
        with ingest.study.writing(keep_log=True) as writer:
            writer.execute(
                "UPDATE store.checkpoint SET listed_count = ?, counted_at = ? WHERE stream = ?",
                [
                    counted.issues + (counted.pulls or 0),
                    utc_now(),
                    stream_key(ingest.project.key, "issues", streams[0]),
                ],
            )
    return counted


def count(ingest: Ingest, selection: Selection) -> Counted:
    """Ask the tracker's search for the number of issues; a refusal is no reason to fail."""
    try:
        if ingest.project.source == "gitee":
            return _count_gitee(ingest, selection)
        issues = _search(ingest, search_text(ingest.name, selection, "is:issue"))
        pulls = 0
        if selection.pulls:
            pulls = _search(ingest, search_text(ingest.name, selection, "is:pr")) or 0
        return Counted(issues, pulls)
    except (Refused, QuotaUsedUp, Unreachable) as error:
        return Counted(None, None, error.message)


def search_text(project: str, selection: Selection, *more: str) -> str:
    """A selection in the words of GitHub's search."""
    words = [f"repo:{project}", *more]
    quoted = [f'"{label.replace(chr(34), "")}"' for label in selection.labels]
    if selection.any_label and quoted:
        words.append(f"label:{','.join(quoted)}")
    else:
        words.extend(f"label:{label}" for label in quoted)
    if selection.state != "all":
        words.append(f"state:{selection.state}")
    if selection.since:
        words.append(f"updated:>={selection.since}")
    return " ".join(words)


def _search(ingest: Ingest, text: str) -> int | None:
    url = f"/search/issues?{urlencode({'per_page': 1, 'q': text})}"
    return integer(entry(ingest.client.get(url).json(), "total_count"))


def _count_gitee(ingest: Ingest, selection: Selection) -> Counted:
    if selection.priorities or selection.any_label:
        return Counted(None, 0, "Gitee does not count by priority, or for one of several labels")
    url = ingest.tracker.issues_url(ingest.name, selection, None).replace(
        "per_page=100", "per_page=1"
    )
    said = ingest.client.get(url).headers.get("total_count", "")
    if not re.fullmatch("[0-9]{1,9}", said):
        return Counted(None, 0, "Gitee did not say how many there are")
    return Counted(int(said), 0)
