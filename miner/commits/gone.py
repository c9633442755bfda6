"""Commits that no branch leads to any more: history was rewritten, or a branch was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from miner.commits.git import View
from miner.commits.messages import reachable

if TYPE_CHECKING:
    from data.store import Writer
    from miner.commits.walks import Walk

UNREACHABLE = "unreachable"


def mark(writer: Writer, view: View, walk: Walk, earlier: Sequence[Walk]) -> tuple[int, int]:
    """Mark stored commits that are gone, and those that are back; how many of each.

    Gone is what neither this repository nor another one of the project, as it was when it was
    read last, has on a branch.
    """
    project, place, tips = walk.project, walk.place, walk.tips
    were_gone = writer.value(
        "SELECT count(*) FROM store.commit WHERE project = ? AND gone_reason = ?",
        [project, UNREACHABLE],
    )
    if not were_gone and not _is_rewritten(view, place, tips, earlier):
        return 0, 0
    lost = view.missing(sorted(set(tips.values())))
    alive = set(reachable(view, sorted({*tips.values()} - lost))[0])
    rows = writer.rows(
        "SELECT sha, parents, gone_at FROM store.commit WHERE project = ?", [project]
    )
    parents = {row["sha"]: row["parents"] for row in rows}
    others = {each.place: each for each in earlier if each.place != place}
    alive |= _known_from({tip for each in others.values() for tip in each.walked}, parents)
    left = [row["sha"] for row in rows if row["sha"] not in alive and row["gone_at"] is None]
    back = [row["sha"] for row in rows if row["sha"] in alive and row["gone_at"] is not None]
    for shas, values in ((left, [walk.started_at, UNREACHABLE]), (back, [None, None])):
        if shas:
            writer.execute(
                "UPDATE store.commit SET gone_at = ?, gone_reason = ? WHERE project = ? "
                "AND sha IN (SELECT unnest(?::VARCHAR[]))",
                [*values, project, shas],
            )
    return len(left), len(back)


def _is_rewritten(view: View, place: str, tips: Mapping[str, str], earlier: Sequence[Walk]) -> bool:
    """Whether something that this repository's branches led to is not on them now."""
    before = [walk for walk in earlier if walk.place == place][-1:]
    old = {tip for walk in before for tip in walk.tips.values()} - {*tips.values()}
    if not old:
        return False
    if view.missing(sorted(old)):
        return True
    here = {*tips.values()} - view.missing(sorted(set(tips.values())))
    return bool(reachable(view, sorted(old), sorted(here))[0])


def _known_from(tips: Iterable[str], parents: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [tip for tip in tips if tip in parents]
    while waiting:
        sha = waiting.pop()
        if sha not in found:
            found.add(sha)
            waiting += [each for each in parents[sha] if each in parents]
    return found
