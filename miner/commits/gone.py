"""Commits that no branch leads to any more: history was rewritten, or a branch was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.miner.commits import clones, git
from faultatlas.miner.commits.git import GitFailed, Place, View
from faultatlas.miner.commits.messages import reachable

if TYPE_CHECKING:
    from faultatlas.data.study import Writer
    from faultatlas.miner.commits.walks import Walk

UNREACHABLE = "unreachable"


def mark(writer: Writer, view: View, walk: Walk, earlier: Sequence[Walk]) -> tuple[int, int]:
    """Mark stored commits that are gone, and those that are back; how many of each.

    Gone is what neither this repository nor another one of the project, as it was when it was
    read last, has on a branch. What cannot be known is not marked.
    """
    project, tips = walk.project, walk.tips
    were_gone = writer.value(
        "SELECT count(*) FROM store.commit WHERE project = ? AND gone_reason = ?",
        [project, UNREACHABLE],
    )
    others = other_places(view, walk.place, earlier)
    if not were_gone and not _is_rewritten(view, tips, _without(earlier, others)):
        return 0, 0
    rows = writer.rows(
        "SELECT sha, parents, gone_at FROM store.commit WHERE project = ?", [project]
    )
    parents = {row["sha"]: row["parents"] for row in rows}
    alive, is_known = _alive(view, tips.values(), parents)
    for each in others:
        with git.viewing(each.where) if each.where else nullcontext() as there:
            more, is_all = _alive(there, each.walk.tips.values(), parents)
        alive |= more
        is_known = is_known and is_all
    left = [row["sha"] for row in rows if row["sha"] not in alive and row["gone_at"] is None]
    if not is_known:
        left = []
    back = [row["sha"] for row in rows if row["sha"] in alive and row["gone_at"] is not None]
    for shas, values in ((left, [walk.started_at, UNREACHABLE]), (back, [None, None])):
        if shas:
            writer.execute(
                "UPDATE store.commit SET gone_at = ?, gone_reason = ? WHERE project = ? "
                "AND sha IN (SELECT unnest(?::VARCHAR[]))",
                [*values, project, shas],
            )
    return len(left), len(back)


@dataclass(frozen=True)
class Other:
    """Another repository of the project, as it was read last; `where` if it can be opened."""

    walk: Walk
    where: Place | None


def other_places(view: View, place: str, earlier: Sequence[Walk]) -> list[Other]:
    """Without those that are this repository by another address."""
    last = {walk.place: walk for walk in earlier if walk.place != place}
    found = [Other(walk, _opened(name)) for name, walk in last.items()]
    return [each for each in found if not each.where or each.where.git_dir != view.place.git_dir]


def _opened(place: str) -> Place | None:
    try:
        return clones.open_place(clones.at(place))
    except (StudyError, GitFailed):
        return None


def _without(earlier: Sequence[Walk], others: Sequence[Other]) -> list[Walk]:
    places = {each.walk.place for each in others}
    return [walk for walk in earlier if walk.place not in places]


def _alive(
    view: View | None, tips: Iterable[str], parents: Mapping[str, Sequence[str]]
) -> tuple[set[str], bool]:
    """Commits that tips lead to, and whether those are all of the stored ones.

    Behind a commit that the repository has not, what is stored leads on.
    """
    holes, ends = set(tips), set()
    alive: set[str] = set()
    if view is not None:
        there = holes - view.missing(sorted(holes))
        found, missing = reachable(view, sorted(there))
        alive = set(found)
        holes = (holes - there) | missing
        ends = {each for sha in view.shallow & alive for each in parents.get(sha, ())}
    known = stored_behind(holes, parents)
    is_all = all(each in parents for each in holes) and all(
        each in parents or each in alive for sha in known for each in parents[sha]
    )
    return alive | known | stored_behind(ends, parents), is_all


def _is_rewritten(view: View, tips: Mapping[str, str], mine: Sequence[Walk]) -> bool:
    """Whether something that this repository's branches led to is not on them now."""
    old = {tip for walk in mine[-1:] for tip in walk.tips.values()} - {*tips.values()}
    if not old:
        return False
    if view.missing(sorted(old)):
        return True
    here = {*tips.values()} - view.missing(sorted(set(tips.values())))
    return bool(reachable(view, sorted(old), sorted(here))[0])


def stored_behind(tips: Iterable[str], parents: Mapping[str, Sequence[str]]) -> set[str]:
    """Tips and commits behind them, as far as the study has them."""
    found: set[str] = set()
    waiting = [tip for tip in tips if tip in parents]
    while waiting:
        sha = waiting.pop()
        if sha not in found:
            found.add(sha)
            waiting += [each for each in parents[sha] if each in parents]
    return found
