"""Growth: time and memory for ten times the data. A ratio of 10 is as much more as there is data.

Each piece of work is a process of its own, so that its peak is its own; small and large take
turns. What it works on is made before and not measured.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from bench.dump_mining import write_dump
from bench.issue_mining import fetched_from, served
from bench.links import study_of_texts
from bench.made_repository import make_repository
from bench.measured import Line, Spent, child, in_turn

BIN = Path(sys.executable).parent
WAYS = Path(__file__).with_name("growth_ways.py")
TIMES = 10
ROUNDS = 2
Work = Callable[[], Spent]
Making = Callable[[int], AbstractContextManager[Work]]


def measures() -> Iterator[Line]:
    """Two lines for each kind of work."""
    for what, make, small in (
        ("`miner fetch` of {} issues with comments", _fetch, 1_000),
        ("`miner commits --all` of {} commits", _commits, 1_000),
        ("`miner posts --from-dump` of {} MB", _dump, 20),
        ("`miner link` of {} texts", _links, 2_000),
        ("agreement of 6 raters on {} items, 2,000 resamples", _agreement, 3_000),
        ("`report build` with {} labels", _report, 500),
    ):
        yield from _grown(what, make, small)


def _grown(what: str, make: Making, small: int) -> Iterator[Line]:
    large = small * TIMES
    with make(large) as much, make(small) as little:
        more, less = in_turn(much, little, count=ROUNDS)
    said = what.format(f"{large:,}")
    yield Line(f"{said}: time", f"{small:,}", tuple(each.cpu_s for each in more),
               tuple(each.cpu_s for each in less))  # fmt: skip
    yield Line(f"{said}: memory", f"{small:,}", tuple(each.peak_mb for each in more),
               tuple(each.peak_mb for each in less), "MB")  # fmt: skip


@contextmanager
def _fetch(issues: int) -> Iterator[Work]:
    with served(issues) as url:
        yield partial(fetched_from, url, issues)


@contextmanager
def _commits(commits: int) -> Iterator[Work]:
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        place, study = Path(folder, "made.git"), Path(folder, "study")
        make_repository(place, commits)

        def work() -> Spent:
            shutil.rmtree(study, ignore_errors=True)
            return child([BIN / "miner", "commits", place, "--all", "-q", "--study", study])

        yield work


@contextmanager
def _dump(megabytes: int) -> Iterator[Work]:
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        write_dump(Path(folder, "Posts.xml"), megabytes)

        def work() -> Spent:
            shutil.rmtree(Path(folder, "study"), ignore_errors=True)
            return _way("dump", megabytes, Path(folder))

        yield work


@contextmanager
def _links(texts: int) -> Iterator[Work]:
    with study_of_texts(texts) as study, tempfile.TemporaryDirectory() as copies:

        def work() -> Spent:
            copy = Path(copies, "study")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(study.directory, copy)
            return _way("links", texts, copy)

        yield work


@contextmanager
def _agreement(items: int) -> Iterator[Work]:
    yield partial(_way, "agreement", items, Path())


@contextmanager
def _report(labels: int) -> Iterator[Work]:
    """A study of labels by three raters, with their agreement and distribution."""
    with tempfile.TemporaryDirectory(prefix="faultatlas-bench-") as folder:
        sheet = Path(folder, "labels.csv")
        _write_labels(sheet, labels)
        for words in (
            ("annotation", "import", "made", sheet, "--item", "URL", "--rater-columns", "rater_*",
             "--final", "final", "--taxonomy", "hp-defects"),
            ("annotation", "agreement", "made"),
            ("analysis", "distribution", "hp-defects"),
        ):  # fmt: skip
            program, *rest = words
            child([BIN / str(program), *rest, "-q", "--study", folder])
        yield partial(child, [BIN / "report", "build", "-q", "--study", folder])


def _write_labels(sheet: Path, labels: int) -> None:
    codes = ("A1", "B1", "C1", "D1", "E1")
    with sheet.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["URL", "rater_1", "rater_2", "rater_3", "final"])
        for number in range(1, labels + 1):
            code = codes[number * 7 % len(codes)]
            other = codes[number % len(codes)] if number % 6 == 0 else code
            url = f"https://github.com/example/large/issues/{number}"
            rows.writerow([url, code, code, other, code])


def _way(way: str, size: int, folder: Path) -> Spent:
    return child([sys.executable, WAYS, way, str(size), folder])
