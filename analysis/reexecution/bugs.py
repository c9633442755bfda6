"""A bug that can be run: what its `bug.toml` says, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

SIDES = ("buggy", "fixed")


class Fidelity(StrEnum):
    """How near what is run is to what the bug's reporter ran."""

    DECLARED = "declared"  # as the artifact declares it
    GUESSED = "guessed"  # versions that nobody declared, taken from the date of the commit
    REPAIRED = "repaired"  # a pin was changed by a known repair so that it resolves
    SUBSTITUTED = "substituted"  # another version or package stands in for one that is gone
    STAND_IN_DATA = "stand-in data"  # other data than the reporter's


class Symptom(StrEnum):
    """What an oracle looks for. The codes of the taxonomy `symptoms` name the first five sorts."""

    CRASH = "crash"
    NAN = "nan"
    HANG = "hang"
    OUT_OF_MEMORY = "out of memory"
    INCORRECT_OUTPUT = "incorrect output"
    BAD_PERFORMANCE = "bad performance"


@dataclass(frozen=True)
class Labels:
    """What the artifact, or the study, says about the bug; '' where nobody says."""

    symptom: str = ""  # a code of the taxonomy symptoms
    fault: str = ""  # a code, such as 4.2 of humbatova
    taxonomy: str = ""  # of `fault`
    property: str = ""  # a code of testing-properties
    framework: str = ""  # tensorflow, keras, pytorch, numpy, scikit-learn, ...
    about_gpu: bool = False  # the bug is about a GPU: on a CPU it cannot be judged


@dataclass(frozen=True)
class EnvironmentSpec:
    """What a bug needs to run; `python` is 'any', '3.6', '3.7.16', '>=3.8,<3.12' or 'host'.

    'host' is the running installation only: what it lacks is never built (PyTorch is gigabytes);
    where a requirement is not installed, the host cannot run the bug (NO_INTERPRETER).
    """

    python: str = "any"
    requirements: tuple[str, ...] = ()  # lines of requirements.txt, as they stand
    repairs: tuple[str, ...] = ()  # names of known repairs that the artifact asks for
    guessed: tuple[str, ...] = ()  # which of it was guessed: 'python', 'tensorflow', ...


@dataclass(frozen=True)
class DataFile:
    """A file that the bug reads."""

    path: str  # inside the artifact's `data/`
    digest: str = ""  # SHA-256; '' where nobody declared it
    stand_in: bool = False
    source: str = ""  # where it comes from, when it is not in the folder


@dataclass(frozen=True)
class Commands:
    """How one side is run: argument lists, one after the other; 'python' is the environment's."""

    commands: tuple[tuple[str, ...], ...]
    directory: str = "."  # inside the workspace
    place: str = "."  # where the side's files are put in the workspace


@dataclass(frozen=True)
class Oracle:
    """What shows the symptom: our own rule, never the artifact's.

    crash             `exception` and `message` (a regular expression), both may be empty: any crash
    nan               `pattern`: a regular expression with one group, the number; '' for any output
    hang              `hang_seconds`: a silence of so long, and of 5 times what the other side needs
    out of memory     nothing more
    incorrect output  `pattern` (one group) with `expected` (text or number) and `tolerance`,
                      or `at_least`, `at_most`; or `check`: a command whose exit code 1 says wrong
    bad performance   `pattern` (one group, the last match counts) or `measure` (duration,
                      peak memory), and `better` (higher, lower)
    """

    symptom: Symptom
    exception: str = ""
    message: str = ""
    pattern: str = ""
    file: str = ""  # where the pattern is looked for: a file of the workspace; '' for the output
    expected: str | float | None = None
    tolerance: float = 0.0
    at_least: float | None = None
    at_most: float | None = None
    check: tuple[str, ...] = ()
    measure: str = ""
    better: str = ""  # where nobody says, higher is
    hang_seconds: float = 60.0  # the shortest silence that is called a hang


@dataclass(frozen=True)
class Limits:
    """What one run may use."""

    seconds: float = 600.0
    memory_mb: int = 4096
    processes: int = 256
    disk_mb: int = 2048
    output_mb: int = 16


@dataclass(frozen=True)
class Bug:
    """One artifact: a folder with `bug.toml`, `buggy/`, `fixed/`, `requirements.txt`, `data/`."""

    bug_id: str  # <set>/<name>, lower case: defect4ml/001
    folder: Path
    title: str
    url: str  # '' where there is none
    source: str  # github, stackoverflow, own, ...
    labels: Labels
    environment: EnvironmentSpec
    data: tuple[DataFile, ...]
    runs: dict[str, Commands]  # by side; a side without one cannot be run
    clean: tuple[str, ...]  # globs that are removed from the workspace before each run
    outputs: tuple[str, ...]  # files that a run must write anew: an unchanged one is stale
    oracle: Oracle
    limits: Limits
    fidelity: tuple[Fidelity, ...]
    own_oracle: dict[str, Any]  # what the artifact brought: recorded, shown beside, never trusted
    claimed_verdict: str = ""  # what the artifact's author says comes out: shown beside
    claimed_reason: str = ""
    notes: tuple[str, ...] = ()
    data_place: str = "data"  # where the files of `data/` are put in the workspace

    @property
    def set_name(self) -> str:
        """The collection it comes from."""
        return self.bug_id.split("/", 1)[0]
