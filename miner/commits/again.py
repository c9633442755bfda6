"""The commits of a study once more, from the repositories that its walks have recorded.

Every walk is read again with what it asked for, from the tips that it saw, in the order of the
walks: what rewritten history hid is found in a clone as long as git has not thrown it away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.miner.commits import clones, git, walks
from faultatlas.miner.commits.mining import Reading
from faultatlas.miner.commits.rows import DERIVED
from faultatlas.miner.commits.walks import Walk, Wishes
from faultatlas.miner.lexicon import Lexicon, lexicon

if TYPE_CHECKING:
    from faultatlas.data.study import Study, Writer

Progress = Callable[[int, int], None]  # walks read, and in all


def read_again(
    writer: Writer, study: Study, progress: Progress = lambda _done, _total: None
) -> list[str]:
    """Make the tables of commits anew, in the caller's transaction; returns what is missing.

    A project of which a repository, a tip or a lexicon is missing keeps its rows, and is named.
    """
    everything = walks.complete(writer)
    ordered = sorted(everything, key=lambda walk: (walk.project, walk.number))
    problems: list[str] = []
    done = 0
    for project, group in groupby(ordered, key=lambda walk: walk.project):
        own = list(group)
        try:
            _check(own, study)
        except StudyError as error:
            said = f"{project}: its commits are kept as they are: {error.message}"
            problems.append(f"{said}. {error.hint}" if error.hint else said)
        else:
            _project(writer, study, project, own)
        done += len(own)
        progress(done, len(everything))
    return problems


def _check(own: Sequence[Walk], study: Study) -> None:
    for walk in own:
        place = clones.open_place(clones.at(walk.place))
        with git.viewing(place) as view:
            needed = {*walk.tips.values(), *walk.seen} - {*walk.missing}
            if lost := view.missing(sorted(needed)):
                raise StudyError(
                    f"{walk.place} has no commit {min(lost)} any more",
                    "Fetch it into that repository, then run this again.",
                )
        _lexicons(walk.options, study)


def _project(writer: Writer, study: Study, project: str, own: Sequence[Walk]) -> None:
    names = sorted({name for walk in own for name in walk.options["lexicons"]})
    # By their ids: the rows of the commits themselves may be gone already.
    mine, prefix = "starts_with(artifact_id, ?)", f"git:{project}@"
    writer.execute(
        f"DELETE FROM store.keyword_hit WHERE {mine} AND list_contains(?, lexicon) "
        "AND NOT contains(reading, '+')",
        [prefix, names],
    )
    for table in DERIVED:
        writer.execute(f"DELETE FROM {table} WHERE {mine}", [prefix])
    # Also those under way: their rows are gone now, and they have to begin anew.
    writer.execute("DELETE FROM store.git_walk WHERE project = ?", [project])
    earlier: list[Walk] = []
    for walk in own:
        _walk(writer, study, walk, tuple(earlier))
        earlier.append(walk)


def _walk(writer: Writer, study: Study, walk: Walk, earlier: Sequence[Walk]) -> None:
    options = walk.options
    wishes = Wishes(
        lexicons=_lexicons(options, study),
        any_keyword=options["any_keyword"],
        since=options["since"],
        everything=options["all"],
        all_branches=options["all_branches"],
        functions=options["functions"],
    )
    with git.viewing(clones.open_place(clones.at(walk.place))) as view:
        Reading(
            directory=study.directory,
            opened=lambda: nullcontext(writer),
            view=view,
            project=walk.project,
            place=walk.place,
            tips=walk.tips,
            wishes=wishes,
            run_id=walk.run_id,
            started_at=walk.started_at,
            options=wishes.options(sorted(view.shallow)),
            earlier=earlier,
            number=walk.number,
        ).run()


def _lexicons(options: Mapping[str, Any], study: Study) -> tuple[Lexicon, ...]:
    return tuple(lexicon(name, study.directory) for name in options["lexicons"])
