"""The parts of the benchmark: choosing some, and running each so that none takes others along."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench.measured import Line, NotMeasured

# By the name to choose it by: the heading, and where `measures` is, imported when it is needed.
PARTS = {
    "start": ("Start-up of the programs", "bench.start_up"),
    "store": ("Rows into the store", "bench.stored_rows"),
    "requests": ("Issues with comments from GitHub", "bench.issue_peers"),
    "commits": ("Commits of a repository", "bench.commit_mining"),
    "dump": ("A data dump of Stack Overflow", "bench.dump_mining"),
    "links": ("Links and near duplicates", "bench.links"),
    "agreement": ("Agreement of raters", "bench.agreement"),
    "reexecution": ("Re-execution, besides the bug's own program", "bench.reexecution"),
    "issues": ("Memory of a fetch", "bench.issue_mining"),
    "growth": ("Growth: ten times the data", "bench.growth"),
}
Measure = Callable[[], Iterable[Line | str]]


@dataclass(frozen=True)
class Untold:
    """A line that could not be had: `failed` if something broke, else a tool is missing here."""

    what: str
    reason: str
    failed: bool


@dataclass
class Part:
    """What came out of a part; notes are sentences about how it was measured."""

    name: str
    heading: str
    lines: list[Line | Untold] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    day: str = ""
    load: float = 0.0  # of the machine, when it began
    took_s: float = 0.0

    @property
    def is_good(self) -> bool:
        """Nothing missed, nothing broken."""
        return all(
            line.is_met if isinstance(line, Line) else not line.failed for line in self.lines
        )


def chosen(wanted: str, known: Mapping[str, object] = PARTS) -> list[str]:
    """The parts that a list with commas names, in the order of the table; all without one."""
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no part {', '.join(unknown)}; known: {', '.join(known)}")
    return [name for name in known if name in names or not names]


def measure_of(name: str) -> Measure:
    """What measures a part; importing it may fail for a lack of a package, and is part of it."""

    def measure() -> Iterator[Line | str]:
        module = importlib.import_module(PARTS[name][1])
        yield from module.measures()

    return measure


def run_parts(
    names: Sequence[str],
    measure: Callable[[str], Measure] = measure_of,
    tell: Callable[[str], None] = lambda _text: None,
) -> Iterator[Part]:
    """Each part in turn."""
    for name in names:
        tell(f"measuring {name}")
        yield run_part(name, measure(name))


def run_part(name: str, measure: Measure) -> Part:
    """Its lines; where it breaks off, those before stay and the last one says why."""
    part = Part(
        name,
        PARTS[name][0] if name in PARTS else name,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        load=os.getloadavg()[0],
    )
    began = time.perf_counter()
    try:
        for each in measure():
            if isinstance(each, str):
                part.notes.append(each)
            else:
                part.lines.append(each)
    except NotMeasured as reason:
        part.lines.append(Untold(name, str(reason), failed=False))
    except Exception as error:  # noqa: BLE001  (a part of a batch: recorded, the rest goes on)
        said = f"{type(error).__name__}: {error}"
        part.lines.append(Untold(name, said, failed=True))
    part.took_s = time.perf_counter() - began
    return part
