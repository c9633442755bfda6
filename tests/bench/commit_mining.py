"""Commits: CPU against PyDriller for the same commits, files and hunks, and equal counts.

`BENCH_REPOSITORY` names a repository with a long history, such as a clone of keras; without it
nothing is measured: a small one would measure how Python starts.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measured import Measured

from data.store import Study

SAMPLE = 500
_OURS = """
import json, resource, sys
from miner.cli import main
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


@dataclass(frozen=True)
class Spent:
    """CPU seconds."""

    own: float
    git: float

    @property
    def total(self) -> float:
        return self.own + self.git


def measures() -> list[Measured]:
    """Lines of the table."""
    place = os.environ.get("BENCH_REPOSITORY")
    if not place:
        print("commits: skipped; set BENCH_REPOSITORY to a repository of 10,000 commits or more")
        return []
    return list(_measures(Path(place).resolve()))


def _measures(place: Path) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        words, everything = Path(folder, "words"), Path(folder, "all")
        lexicons = ("--keywords", "bugfix", "--keywords", "ml")
        clone = Path(folder, "clone")  # PyDriller does not find its way in every bare repository
        subprocess.run(
            ["git", "clone", "-q", "--shared", "--no-checkout", place, clone], check=True
        )
        some = _ours(place, words, *lexicons, "--no-functions")
        every = _ours(place, everything, "--all")
        for name, spent, study, share in (
            ("commits that match", some, words, 1 / 4),
            ("every commit", every, everything, 1 / 5),
        ):
            shas = _read(study)
            other, counts = _pydriller(clone, shas, Path(folder))
            yield Measured(f"{name} / PyDriller", spent.total, other, f"<= {share}",
                           spent.total / other <= share)  # fmt: skip
            yield Measured(f"{name}: our own Python / all of it", spent.own, spent.total,
                           "<= 0.3", spent.own / spent.total <= 0.3)  # fmt: skip
            sample = random.Random(4).sample(sorted(shas), min(SAMPLE, len(shas)))  # noqa: S311
            same = _counts(study, sample) == {sha: counts.get(sha, [0] * 4) for sha in sample}
            yield Measured(f"{name}: equal counts of {len(sample)}", len(sample), len(sample),
                           "= 1", same, "requests")  # fmt: skip
        with_functions = _ours(place, Path(folder, "functions"), *lexicons)
        yield Measured("commits that match, with functions / without", with_functions.total,
                       some.total, "told only", met=True)  # fmt: skip


def _ours(place: Path, study: Path, *options: str) -> Spent:
    with Study(study).writing():  # making a study is measured elsewhere
        pass
    words = [str(place), "--study", str(study), "--quiet", *options]
    ended = subprocess.run(
        [sys.executable, "-c", _OURS, *words], check=True, capture_output=True, text=True
    )
    code, own, git = json.loads(ended.stdout.splitlines()[-1])
    if code:
        raise RuntimeError(f"miner commits ended with {code}: {ended.stderr}")
    return Spent(own, git)


def _pydriller(
    place: Path, shas: Sequence[str], folder: Path
) -> tuple[float, dict[str, list[int]]]:
    listed = folder / "shas"
    listed.write_text("\n".join(shas))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PYDRILLER, str(place), str(listed)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, json.loads(ended.stdout)


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
