"""`miner commits` from the options to the result."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.clock import utc_time
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import project_of
from faultatlas.data.study import Study
from faultatlas.miner.commits import clones, git, gone, lacking, walks
from faultatlas.miner.commits.messages import objects
from faultatlas.miner.commits.mining import Mined, Reading
from faultatlas.miner.commits.walks import Walk, Wishes
from faultatlas.miner.ending import noting
from faultatlas.miner.lexicon import lexicon
from faultatlas.miner.study_key import check_key
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer
    from faultatlas.report.old.console import Output
    from faultatlas.report.progress import Bar

DEFAULT_LEXICON = "bugfix"
_SHOWN = 20


@dataclass(frozen=True)
class Options:
    """What was typed."""

    repository: str | None
    keywords: tuple[str, ...] = ()
    any_keyword: bool = False
    since: str | None = None
    everything: bool = False
    all_branches: bool = False
    functions: bool | None = None
    project: str | None = None

    def wishes(self, directory: Path) -> Wishes:
        """The same with lexicons and times in place of their names."""
        names = self.keywords or (() if self.everything else (DEFAULT_LEXICON,))
        if self.any_keyword and len(names) < 2:
            raise StudyError(
                "--any-keyword needs two lexicons to choose from",
                "Name them with --keywords, or leave out --any-keyword.",
            )
        since = utc_time(self.since).replace(tzinfo=UTC).timestamp() if self.since else None
        return Wishes(
            lexicons=tuple(lexicon(name, directory) for name in dict.fromkeys(names)),
            any_keyword=self.any_keyword,
            since=None if since is None else int(since),
            everything=self.everything,
            all_branches=self.all_branches,
            functions=bool(names) if self.functions is None else self.functions,
        )


def run_commits(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    """Read a repository into the study."""
    if options.repository is None:
        raise StudyError(
            "no repository is named", "Give an alias, owner/name, a URL, or the folder of one."
        )
    wishes = options.wishes(directory)
    it = clones.wanted(options.repository)
    if options.project is not None:
        it = _named(it, options.project)
    clones.refresh(it, output.tell)
    place = clones.open_place(it)
    study = Study(directory, wait_s=math.inf, tell=output.tell)
    arguments = {**asdict(options), "repository": it.place, "project": it.project}
    run = provenance.begin("miner commits", arguments)
    with git.viewing(place) as view, progress(output, it.project) as bar, _uncollected():
        tips = git.branches(place)
        _check_head(tips, it, wishes)
        if not study.exists:
            with study.writing():  # the folder for the lock
                pass
        doing = f"reads {it.project} into this study"
        with study.turn(f"commits {it.project}", doing) as has_waited:
            asked = _Asked(
                study, view, it, git.branches(place) if has_waited else tips, wishes, run
            )
            reading = _reading(asked)
            if reading is None:
                return _document(asked, None)
            reading.progress = _shown(bar)
            with noting(study, run):
                mined = reading.run()
            return _document(asked, mined)


def _named(it: clones.Wanted, project: str) -> clones.Wanted:
    """A folder as a clone of the project that it is said to be of."""
    if it.is_clone:
        raise StudyError(
            f"{it.place} is {it.project}, whatever --project says", "Leave out --project."
        )
    return replace(it, project=project_of(project))


def run_before(directory: Path, options: Options, wanted: tuple[str, str], output: Output) -> None:
    """Print a file as it was before a commit: its bytes and nothing else."""
    from faultatlas.miner.commits.before import file_before

    found = file_before(directory, options.repository, *wanted, output.tell)
    output.document(
        {
            "sha": found.sha,
            "path": found.path,
            "old_path": found.old_path,
            "blob": found.blob,
            "bytes": len(found.content),
            "text": found.content.decode(errors="replace"),
        }
    )
    if not output.as_json and not output.quiet:
        sys.stdout.flush()
        sys.stdout.buffer.write(found.content)
        sys.stdout.buffer.flush()


def _shown(bar: Bar) -> Any:
    def show(done: int, total: int, what: str) -> None:
        bar.update(done, total, note=what)

    return show


def _check_head(tips: dict[str, str], it: clones.Wanted, wishes: Wishes) -> None:
    if "HEAD" not in tips and tips and not wishes.all_branches:
        raise StudyError(
            f"HEAD of {it.place} leads to no commit",
            f"--all-branches reads its branches, {', '.join(list(tips)[:3])}.",
        )


@dataclass(frozen=True)
class _Asked:
    """A repository, as it is now, and what is to be read of it."""

    study: Study
    view: git.View
    it: clones.Wanted
    tips: dict[str, str]
    wishes: Wishes
    run: Run


def _reading(asked: _Asked) -> Reading | None:
    """What there is to read; None where nothing has changed since it was read."""
    study, view, it, run = asked.study, asked.view, asked.it, asked.run
    tips, wishes = asked.tips, asked.wishes
    options = wishes.options(sorted(view.shallow))
    earlier: list[Walk] = []
    if study.exists:
        with study.reading() as reader:
            earlier = walks.complete(reader, it.project)
            if _is_unchanged(reader, asked, options, earlier):
                return None

    def begin(writer: Writer) -> None:
        provenance.record(writer, run, "running")
        check_key(writer, study.directory, run.run_id)

    def end(writer: Writer, mined: Mined) -> None:
        bad = mined.missing or _unreadable(writer, it.project, limit=1)
        provenance.record(writer, run, "partial" if bad else "ok")

    return Reading(
        directory=study.directory,
        opened=lambda: study.writing(keep_log=True),
        view=view,
        project=it.project,
        place=it.place,
        tips=tips,
        wishes=wishes,
        run_id=run.run_id,
        started_at=run.started_at,
        options=options,
        earlier=earlier,
        on_begin=begin,
        on_end=end,
    )


def _is_unchanged(
    reader: Reader, asked: _Asked, options: dict[str, Any], earlier: list[Walk]
) -> bool:
    it, tips = asked.it, asked.tips
    covering = [
        walk for walk in earlier if walks.asked_for(walk, it.place, options) and walk.tips == tips
    ]
    if not covering or _last_tips(asked, earlier) != tips:
        return False
    broken = reader.value(
        "SELECT count(*) FROM store.git_walk WHERE NOT is_complete AND project = ? AND place = ?",
        [it.project, it.place],
    )
    return not broken and not _has_come_back(reader, asked.view, covering[-1])


def _last_tips(asked: _Asked, earlier: list[Walk]) -> dict[str, str]:
    """Of this repository when it was read last, by whatever address."""
    others = {each.walk.place for each in gone.other_places(asked.view, asked.it.place, earlier)}
    return dict([walk for walk in earlier if walk.place not in others][-1].tips)


def _has_come_back(reader: Reader, view: git.View, walk: Walk) -> bool:
    """Whether something that was missing when it was needed is there now."""
    if any(content is not None for _sha, content in objects(view, walk.missing)):
        return True
    return bool(lacking.back(view, lacking.lacking(reader, walk.project)))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for cycles: there are none among millions of rows, and it takes its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _unreadable(reader: Reader, project: str, limit: int = _SHOWN) -> list[dict[str, Any]]:
    return reader.rows(
        "SELECT artifact_id, diff, d.problem FROM store.commit_diff AS d "
        "JOIN store.commit USING (artifact_id) WHERE project = ? "
        "AND diff IN ('part', 'unreadable') AND gone_at IS NULL ORDER BY artifact_id LIMIT ?",
        [project, limit],
    )


def _document(asked: _Asked, mined: Mined | None) -> dict[str, Any]:
    study, it, wishes = asked.study, asked.it, asked.wishes
    with study.reading() if study.exists else nullcontext() as reader:
        stored = _stored(reader, it.project, wishes) if reader else {}
        unreadable = _unreadable(reader, it.project) if reader else []
        unrelated = _unrelated(reader, asked) if reader else []
    missing = mined.missing if mined else []
    rows = asdict(mined or Mined())
    rows.pop("missing")
    return {
        "project": f"git:{it.project}",
        "place": it.place,
        "folder": str(it.folder),
        "is_clone": it.is_clone,
        "unrelated_places": unrelated,
        "run_id": asked.run.run_id if mined else None,
        "changed": mined is not None,
        "branches": len([name for name in asked.tips if name != "HEAD"]),
        "all_branches": wishes.all_branches,
        "lexicons": [each.name for each in wishes.lexicons],
        "any_keyword": wishes.any_keyword,
        "all": wishes.everything,
        "functions": wishes.functions,
        "rows": rows,
        "stored": stored,
        "unreadable": unreadable,
        "missing_commits": missing[:_SHOWN],
        "complete": not missing and not stored.get("unreadable"),
    }


def _unrelated(reader: Reader, asked: _Asked) -> list[str]:
    """Other places of a project without a remote, whose commits this repository has none of."""
    it = asked.it
    if not it.project.startswith("local/"):
        return []
    others = gone.other_places(asked.view, it.place, walks.complete(reader, it.project))
    if not others:
        return []
    rows = reader.rows("SELECT sha, parents FROM store.commit WHERE project = ?", [it.project])
    parents = {row["sha"]: row["parents"] for row in rows}
    found = []
    for each in others:
        theirs = gone.stored_behind(each.walk.tips.values(), parents)
        if theirs and asked.view.missing(sorted(theirs)) == theirs:
            found.append(each.walk.place)
    return found


def _stored(reader: Reader, project: str, wishes: Wishes) -> dict[str, int]:
    """How much the study has of the project."""
    names = [each.name for each in wishes.lexicons]
    needed = 1 if wishes.any_keyword else len(names)
    (row,) = reader.rows(
        "SELECT count(*) AS commits, count(*) FILTER (len(parents) > 1) AS merges, "
        "count(diff) AS diffs, count(*) FILTER (gone_at IS NOT NULL) AS gone, "
        "count(*) FILTER (diff IN ('part', 'unreadable') AND gone_at IS NULL) AS unreadable "
        "FROM store.commit LEFT JOIN store.commit_diff USING (artifact_id) WHERE project = ?",
        [project],
    )
    mine = "artifact_id IN (SELECT artifact_id FROM store.commit WHERE project = ?)"
    row["matching"] = reader.value(
        f"SELECT count(*) FROM (SELECT artifact_id FROM store.keyword_hit WHERE {mine} "
        "AND list_contains(?, lexicon) AND list_contains(?, reading) AND len(words) > 0 "
        "GROUP BY ALL HAVING count(*) >= ?)",
        [project, names, [each.reading() for each in wishes.lexicons], needed],
    )
    for name in ("file", "hunk", "function"):
        row[f"{name}s"] = reader.value(
            f"SELECT count(*) FROM store.commit_{name} WHERE {mine}", [project]
        )
    return row
