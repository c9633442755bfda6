"""Links: what a second `miner link` costs, and near duplicates against comparing every pair."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import combinations
from pathlib import Path

import pyarrow as pa
from bench.measured import Line, Target, in_turn, seconds

from faultatlas.data.clock import utc_now
from faultatlas.data.old import arrow_rows
from faultatlas.data.provenance import begin
from faultatlas.data.study import Study
from faultatlas.miner.links import THRESHOLD
from faultatlas.miner.links.command import run_link
from faultatlas.miner.links.duplicates import find_duplicates

TEXTS = 20_000
ROUNDS = 3
PAIRS = 400  # texts of which every pair is compared
_TEMPLATE = "please tell us your version and what you expected to happen instead of that " * 3


def measures() -> Iterator[Line]:
    """Both lines."""
    yield again()
    yield duplicates()


def again() -> Line:
    """`miner link` with nothing new against the first one."""

    def first_and_second() -> tuple[float, float]:
        with study_of_texts(TEXTS) as study:
            link = partial(run_link, study, threshold=THRESHOLD)
            return seconds(link), seconds(link)

    (found,) = in_turn(first_and_second, count=ROUNDS)
    first, second = zip(*found, strict=True)
    return Line(f"a second `miner link` of {TEXTS:,} texts", "the first", second, first,
                target=Target(ratio=0.2))  # fmt: skip


def duplicates() -> Line:
    """Near duplicates of 20,000 texts against every pair of 400, scaled to as many pairs."""
    texts = list(_texts(PAIRS))

    def compare() -> None:
        sets = [
            {*zip(words, words[1:], words[2:], strict=False)} for words in map(str.split, texts)
        ]
        for one, other in combinations(sets, 2):
            len(one & other) / len(one | other)

    def ours() -> float:
        with study_of_texts(TEXTS) as study:
            return seconds(partial(find_duplicates, study, begin("bench", {}), THRESHOLD))

    found, other = in_turn(ours, partial(seconds, compare), count=ROUNDS)
    scaled = tuple(each * (TEXTS / PAIRS) ** 2 for each in other)
    return Line(f"near duplicates of {TEXTS:,} texts", "comparing every pair", found, scaled,
                target=Target(ratio=0.05))  # fmt: skip


@contextmanager
def study_of_texts(count: int) -> Iterator[Study]:
    """A study with so many issues."""
    with tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder))
        numbers = range(1, count + 1)
        moment = utc_now()
        with study.writing() as writer:
            arrow_rows.insert(
                writer,
                "store.issue",
                pa.table(
                    {
                        "artifact_id": [f"github:o/r#{number}" for number in numbers],
                        "source": ["github"] * count,
                        "project": ["o/r"] * count,
                        "number": [str(number) for number in numbers],
                        "is_pull": [False] * count,
                        "body": list(_texts(count)),
                        "tracker_labels": pa.array([[]] * count, pa.list_(pa.string())),
                        "created_at": [moment + timedelta(seconds=number) for number in numbers],
                        "row_hash": pa.array([0] * count, pa.uint64()),
                        "run_id": ["run"] * count,
                        "fetched_at": [moment] * count,
                        "response_id": ["response"] * count,
                    }
                ),
            )
        yield study


def _texts(count: int) -> Iterator[str]:
    """Two hundred words each, behind a template; every twentieth is nearly the one before."""
    chance = random.Random(1)  # noqa: S311  (the same texts every time)
    # Words as rare as in a language: the n-th one is used n times less than the first.
    names, weights = [f"word{n}" for n in range(20_000)], [1 / (n + 1) for n in range(20_000)]
    words: list[str] = []
    for number in range(count):
        if number % 20 != 19:
            words = chance.choices(names, weights, k=200)
        yield f"{_TEMPLATE} see #{number + 7} {' '.join(words[: 200 - number % 20])}"
