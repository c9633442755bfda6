"""What was missing when commits were read, and whether it is there now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING

from faultatlas.miner.commits.git import GitFailed, View

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_PIECE = 1 << 20


def lacking(reader: Reader, project: str) -> dict[str, set[str]]:
    """Commits that could not be read in part or whole, with the objects that they lacked."""
    prefix = f"git:{project}@"
    rows = reader.rows(
        "SELECT artifact_id, problem FROM store.commit_diff "
        "WHERE diff IN ('part', 'unreadable') AND starts_with(artifact_id, ?)",
        [prefix],
    )
    found = {row["artifact_id"]: set(_ID.findall(row["problem"] or "")) for row in rows}
    if found:
        rows = reader.rows(
            "SELECT artifact_id, problem FROM store.commit_file WHERE problem IS NOT NULL "
            "AND artifact_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(found)],
        )
        for row in rows:
            found[row["artifact_id"]].update(_ID.findall(row["problem"]))
    return {name.removeprefix(prefix): ids for name, ids in found.items()}


def back(view: View, lacks: Mapping[str, set[str]]) -> set[str]:
    """Those of the commits for which something that they lacked is there now."""
    named = {sha: ids for sha, ids in lacks.items() if ids}
    if not named:
        return set()
    absent = view.missing(sorted(named))
    here = {sha: ids for sha, ids in named.items() if sha not in absent}
    bad = unreadable(view, {each for ids in here.values() for each in ids})
    return {sha for sha, ids in here.items() if not ids <= bad}


def unreadable(view: View, objects: Iterable[str]) -> set[str]:
    """Objects that are missing, or damaged anywhere: each of the others is read to its end."""
    waiting = sorted(set(objects))
    bad: set[str] = set()
    while waiting:
        done = 0
        try:
            lines = (each.encode() for each in waiting)
            with view.streaming("cat-file", "--batch", "--buffer", lines=lines) as stream:
                for each in waiting:
                    is_whole = _is_whole(stream)
                    if is_whole is None:
                        break
                    done += 1
                    if not is_whole:
                        bad.add(each)
        except GitFailed:  # it stops at a damaged one
            pass
        if done < len(waiting):
            bad.add(waiting[done])
        waiting = waiting[done + 1 :]
    return bad


def without_readable(view: View, problem: str) -> str:
    """What git said, with the names of objects that can be read cut short: they are not lacking."""
    named = set(_ID.findall(problem))
    for each in named - unreadable(view, named):
        problem = problem.replace(each, each[:12])
    return problem


def _is_whole(stream: IO[bytes]) -> bool | None:
    """Whether the next object is there; None where the output ends in it."""
    head = stream.readline()
    if not head.endswith(b"\n"):
        return None
    words = head.split()
    if len(words) != 3 or not words[2].isdigit():
        return False
    left = int(words[2]) + 1
    while left and (part := stream.read(min(left, _PIECE))):
        left -= len(part)
    return None if left else True
