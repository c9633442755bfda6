"""Work on so much data: programs that `growth` measures. `python growth_ways.py WAY SIZE FOLDER`.

What is worked on lies in FOLDER already: making it is not measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


def _links(_size: int, folder: Path) -> None:
    from faultatlas.data.study import Study
    from faultatlas.miner.links import THRESHOLD
    from faultatlas.miner.links.command import run_link

    run_link(Study(folder), threshold=THRESHOLD)


def _agreement(size: int, _folder: Path) -> None:
    from bench.agreement import made_ratings, measured_with_intervals

    measured_with_intervals(made_ratings(size), resamples=2_000)


def _dump(_size: int, folder: Path) -> None:
    from bench.dump_ways import into_study

    into_study(folder / "Posts.xml", folder / "study")


_WAYS = {"links": _links, "agreement": _agreement, "dump": _dump}


if __name__ == "__main__":
    _WAYS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
