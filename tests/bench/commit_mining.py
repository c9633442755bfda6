"""Commits: CPU against PyDriller and bare git for the same commits, files and hunks.

`BENCH_REPOSITORY` names a repository with a long history, such as a clone of keras; without it
one is made, with 10,000 commits: a small one would measure how Python starts.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import measured
from bench.made_repository import make_repository
from bench.measured import Line, NotMeasured, Target, child, in_turn

from faultatlas.data.study import Study

COMMITS = 10_000
SAMPLE = 500
ROUNDS = 3
FEW = 20  # commits: what reading them takes is starting the program
_OURS = """
import json, resource, sys
from faultatlas.report.start import miner as main
sys.argv = ["miner", "commits", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    code = int(end.code or 0)
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([code, *(each.ru_utime + each.ru_stime for each in spent)]))
"""
# All messages first, then the changes of the commits that match: as a user of PyDriller does it.
# Which ones match is given, so that it need not look for words.
_PYDRILLER = """
import json, sys
from pydriller import Repository
wanted = set(open(sys.argv[2]).read().split())
found = {}
for commit in Repository(sys.argv[1]).traverse_commits():
    commit.msg
    if commit.hash not in wanted:
        continue
    files = hunks = added = deleted = 0
    for file in commit.modified_files:
        files += 1
        parsed = file.diff_parsed
        added += len(parsed["added"])
        deleted += len(parsed["deleted"])
        hunks += sum(line.startswith("@@ -") for line in file.diff.splitlines())
    found[commit.hash] = [files, hunks, added, deleted]
json.dump(found, sys.stdout)
"""


class Spent(NamedTuple):
    """CPU seconds of Python and of git, and the study or the counts that came of it."""

    own: float
    git: float
    counts: dict[str, list[int]]

    @property
    def total(self) -> float:
        """All of it."""
        return self.own + self.git


def measures() -> Iterator[Line | str]:
    """Lines of the table, of the repository that is named or of one that is made."""
    named = os.environ.get("BENCH_REPOSITORY")
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        place = Path(named).absolute() if named else Path(folder, "made.git")
        if not named:
            make_repository(place, COMMITS)
        elif not place.is_dir():
            raise NotMeasured("there is no repository where BENCH_REPOSITORY says")
        clone = Path(folder, "clone")  # PyDriller does not find its way in every bare repository
        subprocess.run(
            ["git", "clone", "-q", "--shared", "--no-checkout", place, clone], check=True
        )
        yield _which(place, named=bool(named))
        lexicons = ("--keywords", "bugfix", "--keywords", "ml")
        few = ("commits with words of two lexicons", (*lexicons, "--no-functions"), 1 / 4)
        every = ("every commit (`--all`)", ("--all",), 1 / 5)
        start_s = _starting(Path(folder))
        for what, options, share in (few, every):
            yield from _beside(what, options, share, place, clone, Path(folder), start_s)
        yield from _functions(lexicons, place, Path(folder))


def _which(place: Path, *, named: bool) -> str:
    """A sentence about the repository; of a named one the folder's name, not the path."""
    commits = int(_git(place, "rev-list", "--count", "HEAD").said)
    name = place.parent.name if place.name == ".git" else place.stem
    if named:
        return f"The repository is {name}, with {commits:,} commits."
    return (
        f"The repository has {commits:,} commits and was made by git fast-import, the same every "
        "time; BENCH_REPOSITORY names another one."
    )


def _starting(folder: Path) -> float:
    """CPU seconds of our own Python for next to no commits."""
    make_repository(folder / "few.git", FEW)
    (found,) = in_turn(lambda: _fresh(folder / "few.git", folder, "--all").own, count=ROUNDS)
    return statistics.median(found)


def _beside(
    what: str,
    options: Sequence[str],
    share: float,
    place: Path,
    clone: Path,
    folder: Path,
    start_s: float,
) -> Iterator[Line]:
    """Ours, PyDriller and bare git in turn, and whether ours and PyDriller's counts are equal."""
    study = folder / f"study-{len(options)}"
    shas: list[str] = []

    def ours() -> Spent:
        shutil.rmtree(study, ignore_errors=True)
        spent = _ours(place, study, *options)
        shas[:] = _read(study)
        return spent

    mine, other, bare = in_turn(
        ours,
        lambda: _pydriller(clone, shas, folder),
        lambda: _bare(place, shas, is_all="--all" in options),
        count=ROUNDS,
    )
    total = tuple(each.total for each in mine)
    yield Line(what, "PyDriller", total, tuple(each.total for each in other),
               target=Target(ratio=share))  # fmt: skip
    yield Line(what, "bare git for the same", total, tuple(each.git for each in bare))
    rest = statistics.median((each.own - start_s) / (each.total - start_s) for each in mine)
    yield Line(
        f"{what}: our own Python", "all of ours", tuple(each.own for each in mine), total,
        target=Target(ratio=0.3),
        why=f"Starting Python with DuckDB and Arrow takes {start_s:.2f} s of it, however many "
        f"commits there are; without that it is {rest:.2f}.",
    )  # fmt: skip
    sample = random.Random(4).sample(sorted(shas), min(SAMPLE, len(shas)))  # noqa: S311
    stored, counts = _counts(study, sample), other[-1].counts
    same = sum(stored[sha] == counts.get(sha, [0] * 4) for sha in sample)
    yield Line(f"{what}: equal counts of files, hunks and lines", "PyDriller", (same,),
               (len(sample),), "commits", Target(ratio_at_least=1))  # fmt: skip


def _functions(lexicons: Sequence[str], place: Path, folder: Path) -> Iterator[Line]:
    def way(*options: str) -> float:
        return _fresh(place, folder, *lexicons, *options).total

    ours, other = in_turn(way, lambda: way("--no-functions"), count=ROUNDS)
    yield Line("commits with words, and the functions they change", "without functions", ours,
               other)  # fmt: skip


def _fresh(place: Path, folder: Path, *options: str) -> Spent:
    """Into a study that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=folder) as study:
        return _ours(place, Path(study), *options)


def _ours(place: Path, study: Path, *options: str) -> Spent:
    with Study(study).writing():  # making a study is measured elsewhere
        pass
    words = [str(place), "--study", str(study), "--quiet", *options]
    said = child([sys.executable, "-c", _OURS, *words]).said
    code, own, git = json.loads(said.splitlines()[-1])
    if code:
        raise RuntimeError(f"miner commits ended with {code}")
    return Spent(own, git, {})


def _pydriller(place: Path, shas: Sequence[str], folder: Path) -> Spent:
    listed = folder / "shas"
    listed.write_text("\n".join(shas))
    spent = child([sys.executable, "-W", "ignore", "-c", _PYDRILLER, str(place), str(listed)])
    return Spent(spent.cpu_s, 0, json.loads(spent.said))


def _bare(place: Path, shas: Sequence[str], *, is_all: bool) -> Spent:
    """What git takes to print the same and nobody to read it: messages, and changes of some."""
    if is_all:
        return Spent(0, _git(place, "log", "-M", "-p", "--raw", "--numstat", "HEAD").cpu_s, {})
    messages = _git(place, "log", "--format=%H %B", "HEAD").cpu_s
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "shas")
        listed.write_text("\n".join(shas))
        words = f"git -C {shlex.quote(str(place))} diff-tree --stdin -M -p --raw --numstat <"
        changes = child(["sh", "-c", f"{words} {shlex.quote(str(listed))} >/dev/null"]).cpu_s
    return Spent(0, messages + changes, {})


def _git(place: Path, *words: str) -> measured.Spent:
    return child(["git", "-C", place, *words])


def _read(study: Path) -> list[str]:
    with Study(study).reading() as reader:
        return [row["sha"] for row in reader.rows("SELECT sha FROM commits WHERE diff = 'read'")]


def _counts(study: Path, shas: Sequence[str]) -> dict[str, list[int]]:
    with Study(study).reading() as reader:
        rows = reader.rows(
            "SELECT sha, [files, (SELECT count(*) FROM commit_hunks h WHERE h.artifact_id = "
            "commits.artifact_id), added, deleted] AS counts FROM commits "
            "WHERE list_contains(?, sha)",
            [list(shas)],
        )
    return {row["sha"]: [int(value or 0) for value in row["counts"]] for row in rows}
