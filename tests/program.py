"""How tests run `miner`, `annotation`, `analysis` and `report`: the one file that knows how a
program is entered, what its options were called earlier, and what of it a test replaces.

`run` runs a program in this process. A `Child` does the same in another process, with another
Python if wanted: so tests of `tests/golden` run the old program, which has an environment of its
own. For that this file imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

# The old program is commit d9e4d64, in which the packages were not yet parts of `faultatlas`.
_PACKAGE = "faultatlas." if importlib.util.find_spec("faultatlas") else ""
# What a user may have set, and a test must not see.
PRIVATE = ("STUDY", "GITHUB_TOKEN", "GITEE_TOKEN", "STACKEXCHANGE_KEY", "OPENALEX_API_KEY",
           "SCOPUS_API_KEY", "GITHUB_API_URL", "GITEE_API_URL")  # fmt: skip


def main(program: str) -> None:
    """The entry point of a program: the console script of the same name calls it."""
    if _PACKAGE:
        importlib.import_module("faultatlas.report.program").run(program)
    else:
        importlib.import_module(f"{program}.cli").main()


def tree(program: str) -> Any:
    """The program with all its commands and their options, as click knows them."""
    return importlib.import_module("faultatlas.report.program").complete(program)


# Running


@dataclass(frozen=True)
class Ended:
    """How a program ended, what it printed, and how long it waited on a fake clock."""

    code: int
    out: str = ""
    err: str = ""
    waits: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Call:
    """A program with its arguments, and what surrounds it."""

    program: str
    arguments: Sequence[str]
    folder: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)
    fake_clock: str = ""  # the time at which it starts, ISO 8601 in UTC; empty: the machine's


def run(call: Call) -> Ended:
    """Run a program in this process, as its console script does."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(call.folder))
        stack.enter_context(_environment(call.environment))
        waits = stack.enter_context(_clock(call.fake_clock)) if call.fake_clock else []
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        stack.enter_context(_arguments([call.program, *call.arguments]))
        forget_secrets()
        code = exit_code(call.program)
    printed = []
    for stream in streams:
        stream.flush()
        printed.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))  # type: ignore[attr-defined]
    return Ended(code, *printed, waits)


def exit_code(program: str) -> int:
    """Run a program with the arguments in `sys.argv`; whatever is not an exit is an error."""
    try:
        main(program)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    raise AssertionError(f"{program} ended without an exit code")


@contextlib.contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in PRIVATE:
        os.environ.pop(name, None)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


# What a test replaces in the product


def forget_secrets() -> None:
    """Have the program forget the tokens that an earlier command of this process has read."""
    redaction = importlib.import_module(f"{_PACKAGE}data.redaction")
    if hasattr(redaction, "forget_all"):
        redaction.forget_all()
    else:
        redaction._remembered.clear()  # noqa: SLF001 - the old program has no hook


@contextlib.contextmanager
def _clock(start: str) -> Iterator[list[float]]:
    """Clients of the program live in a time that moves only when they wait; the waits."""
    now, waits = [datetime.fromisoformat(start)], []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += timedelta(seconds=seconds)

    seeded = random.Random(1)  # noqa: S311 - the jitter of retries
    if not _PACKAGE:
        with _old_clock((lambda: now[0], sleep, seeded)):
            yield waits
        return
    clock = importlib.import_module(f"{_PACKAGE}data.clock")
    clock.set_testing(clock.Clock(lambda: now[0], sleep, seeded))
    try:
        yield waits
    finally:
        clock.set_testing(None)


@contextlib.contextmanager
def _old_clock(defaults: tuple[object, ...]) -> Iterator[None]:
    """The old program has no hook for it."""
    clock = importlib.import_module("miner.ratelimit").Clock
    before = clock.__init__.__defaults__
    clock.__init__.__defaults__ = defaults
    try:
        yield
    finally:
        clock.__init__.__defaults__ = before


# What options were called earlier


@dataclass(frozen=True)
class Renamed:
    """Options of some commands that have a new name. Cases are written with the new one."""

    commands: tuple[str, ...]  # "miner fetch"; the longest that fits is meant
    to_old: Callable[[list[str]], list[str]]  # the words behind the command
    is_done: bool = False  # whether the new program has the new name


def _dry_run(words: list[str]) -> list[str]:
    return ["--plan" if word == "--dry-run" else word for word in words]


def _threshold(words: list[str]) -> list[str]:
    """`--gate --threshold X` was `--gate X`."""
    if "--threshold" not in words:
        return words
    place = words.index("--threshold")
    value, rest = words[place + 1], words[:place] + words[place + 2 :]
    gate = rest.index("--gate")
    return [*rest[: gate + 1], value, *rest[gate + 1 :]]


def _functions(words: list[str]) -> list[str]:
    """Without `--functions` the old command reads those of commits that match."""
    is_about_changes = "--show-before" not in words
    return [*words, "--no-functions"] if is_about_changes and "--functions" not in words else words


def _own_servers(words: list[str]) -> list[str]:
    """`--own-servers ROUND --rater RATER` was `--own-server RATER`."""
    if "--rater" not in words:
        return words
    place = words.index("--own-servers")
    rest = words[:place] + words[place + 2 :]
    return ["--own-server" if word == "--rater" else word for word in rest]


def _no_sandbox(words: list[str]) -> list[str]:
    if "--no-sandbox" not in words:
        return words
    rest = [word for word in words if word != "--no-sandbox"]
    return [*rest, "--isolation", "none", "--unsafe-network"]


RENAMES = (
    Renamed(("miner fetch",), _dry_run, is_done=True),
    Renamed(
        ("miner forget", "miner papers", "miner posts", "miner repos", "annotation push",
         "annotation taxonomy migrate"),
        _dry_run,
    ),
    Renamed(("annotation agreement",), _threshold, is_done=True),
    Renamed(("miner commits",), _functions),
    Renamed(("annotation serve",), _own_servers),
    Renamed(("analysis reexecute",), _no_sandbox),
)  # fmt: skip

# Commands that moved: new name, old name, and which of their options had another name.
_MOVED = {
    "analysis bugs import": ("analysis reexecute --import", {}),
    "analysis bugs check": ("analysis reexecute --validate", {}),
    "analysis bugs list": ("analysis reexecute --list", {}),
}
_MOVED_DONE: frozenset[str] = frozenset()  # those that the new program has


def translated(program: str, words: Sequence[str], *, is_old: bool) -> list[str]:
    """The arguments as this program knows them: the old one, or the new one as it is today."""
    kept = list(words)
    command = " ".join([program, *words[:2]])
    for new, (old, options) in _MOVED.items():
        if command.startswith(new) and (is_old or new not in _MOVED_DONE):
            rest = [options.get(word, word) for word in kept[len(new.split()) - 1 :]]
            return [*old.split()[1:], *rest]
    for renamed in RENAMES:
        fits = any(f"{command} ".startswith(f"{name} ") for name in renamed.commands)
        if fits and (is_old or not renamed.is_done):
            kept = renamed.to_old(kept)
    return kept


# Another process


@dataclass
class Child:
    """Programs of another Python, run one after the other in one process of it."""

    python: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        words = [str(self.python), "-P", str(Path(__file__).resolve())]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, text=True, env={**kept, **self.environment}
        )
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def run(self, call: Call) -> Ended:
        """Run a program there."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(call)), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, f"{self.python} ended in {call.program} {' '.join(call.arguments)}"
        return Ended(**json.loads(line))


def _serve() -> None:
    """Be such a process: a line of JSON for each call, and one for how it ended."""
    calls, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # no program reads the calls
    os.dup2(2, 1)  # nor comes between the answers
    for line in calls:
        ended: dict[str, Any] = asdict(run(Call(**json.loads(line))))
        print(json.dumps(ended), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
