"""Where a golden case runs commands, in the new program or the old, and observes what they did."""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import compare
import golden.cases
from program import Call, Ended, run, translated

HERE = Path(__file__).parent
EXPECTED, INPUTS = HERE / "expected", HERE / "inputs"
_KEY = "5" * 64  # of every study: pseudonyms are the same in all of them
_LONGEST = 12_000  # characters of an observation; a longer one is recorded as hashes


@dataclass(frozen=True)
class Case:
    """A module of `golden/cases`: `g06_spellings` is the case G06.

    It has a function `run(stage)`. With `REAL = True` it reads the real data of the studies, of
    which nothing but hashes is recorded; with `NEEDS = ("bubblewrap",)` it needs such parts.
    Without `FIGURES = True` the new program draws no figures, which take longest; `LONGEST` says
    how many characters of an observation are recorded as they are.
    """

    name: str
    module: ModuleType

    @property
    def is_real(self) -> bool:
        return bool(getattr(self.module, "REAL", False))

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(getattr(self.module, "NEEDS", ()))

    @property
    def draws(self) -> bool:
        return bool(getattr(self.module, "FIGURES", False))

    @property
    def inputs(self) -> Path:
        return INPUTS / self.name

    @property
    def expected(self) -> Path:
        return EXPECTED / f"{self.name}.json"


def cases() -> list[Case]:
    """All cases, found by discovery."""
    names = [found.name for found in pkgutil.iter_modules(golden.cases.__path__)]
    return [
        Case(name.split("_")[0].upper(), importlib.import_module(f"golden.cases.{name}"))
        for name in sorted(names)
        if re.match(r"g\d\d_", name)
    ]


@dataclass
class Stage:
    """A folder, a program, and what was observed of it so far."""

    case: Case
    folder: Path
    call: Callable[[Call], Ended] = run  # in this process; the recorder has that of another
    is_old: bool = False  # for translating options only: a case does the same in both programs
    real_data: Path | None = None
    observed: dict[str, compare.Observation] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)  # on standard error, by label
    broken: str = ""  # the traceback of a case that broke off
    _open: ExitStack = field(default_factory=ExitStack)
    _places: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._places[str(self.folder)] = "{folder}"
        if self.real_data:
            self._places[str(self.real_data)] = "{real}"
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    @property
    def inputs(self) -> Path:
        """The files of this case in `golden/inputs`."""
        return self.case.inputs

    def study(self, name: str = "study", key: str = _KEY) -> Path:
        """The directory of a study, made with a fixed key when it is first named."""
        directory = self.folder / name
        if not directory.exists():
            directory.mkdir()
            (directory / "study.key").write_text(key, encoding="ascii")
            (directory / "study.key").chmod(0o600)
            self.settings("", name)
        return directory

    def settings(self, text: str, study: str = "study") -> None:
        """Write `study.toml`; figures are switched off where the program can."""
        if not self.is_old and not self.case.draws:
            text += "\n[report]\nfigures = false\n"
        if text:
            (self.study(study) / "study.toml").write_text(text, encoding="utf-8")

    def serve(self, world: Any) -> Any:
        """A loopback server of that world, until the case ends; its `url` has no name in rows."""
        from loopback import serving

        running = self._open.enter_context(serving(world))
        number = sum(name.startswith("{server") for name in self._places.values())
        self._places[running.url.split("://")[1].split("/")[0]] = f"{{server{number or ''}}}"
        return running

    def neutral(self, text: str) -> str:
        """A text without the names that this run's folders and servers have."""
        for place, name in self._places.items():
            text = text.replace(place, name)
        return text

    # Running

    def run(
        self,
        label: str,
        program: str,
        *arguments: object,
        study: str | None = "study",
        environment: Mapping[str, str] | None = None,
        clock: str = "",
        names: str = "",
    ) -> Ended:
        """Run a command on a study (None: without `--study`), in the words of the new program.

        Its exit code is observed, with the ids, files and line numbers that an error names.
        `names` says otherwise: all (also of a command that succeeds), lines or none.
        """
        words = translated(program, list(map(str, arguments)), is_old=self.is_old)
        if study:
            words += ["--study", str(self.study(study))]
        ended = self.call(Call(program, words, str(self.folder), dict(environment or {}), clock))
        err = self.neutral(ended.err)
        self.printed[label] = err
        self._observe(f"{label}: exit", compare.ended(ended.code, err, names))
        return ended

    # Observing: each under a label that no other observation has

    def views(self, label: str, *names: str, study: str = "study") -> None:
        """V: rows of these views, or of all."""
        for name, found in compare.views(self.study(study), names, self.neutral).items():
            self._observe(f"{label}: view {name}", found)

    def query(self, label: str, sql: str, study: str = "study") -> None:
        """V: what a query of the study gives."""
        self._observe(f"{label}: query", compare.query(self.study(study), sql, self.neutral))

    def claims(
        self, label: str, *results: str, study: str = "study", without: Collection[str] = ()
    ) -> None:
        """C: the claims of these results, or all, as `report claims export --csv` writes them.

        `without` are claims that the new program decides otherwise on purpose.
        """
        path = self.folder / "claims.csv"
        words = translated("report", ["claims", "export", *results, "--csv", str(path)],
                           is_old=self.is_old)  # fmt: skip
        ended = self.call(
            Call("report", [*words, "--study", str(self.study(study))], str(self.folder))
        )
        assert ended.code == 0, ended.err
        observed = compare.claims(path, self.neutral)
        kept = [row for row in observed["rows"] if row[0] not in without]
        self._observe(f"{label}: claims", {**observed, "rows": kept})
        path.unlink()

    def requests(self, label: str, asked: Iterable[Any]) -> None:
        """R: requests that a loopback server saw, in order (`world.requests`)."""
        self._observe(f"{label}: requests", compare.requests(asked, self.neutral))

    def files(self, label: str, root: Path, *patterns: str) -> None:
        """F: files below a folder, as data: CSV as rows, pages and figures as their numbers."""
        for name, path in _matching(root, patterns):
            self._observe(f"{label}: file {name}", compare.file(path, self.neutral))

    def numbers(self, label: str, root: Path, *patterns: str) -> None:
        """F: the numbers of files whose layout may change: tables and figures in out/."""
        for name, path in _matching(root, patterns):
            self._observe(f"{label}: numbers of {name}", compare.numbers(path))

    def nowhere(self, label: str, strings: Iterable[str], root: Path | None = None) -> None:
        """S: these strings stand in no file below a folder, else below the whole stage."""
        self._observe(f"{label}: nowhere", compare.nowhere(strings, root or self.folder))

    def table(self, label: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Rows of which there may be more later, such as claims; the first column names a row."""
        self._observe(f"{label}: table", compare.table(columns, rows, self.neutral, extra=True))

    def value(self, label: str, found: Any) -> None:
        """Anything else that is data."""
        self._observe(f"{label}: value", compare.value(found, self.neutral))

    def _observe(self, label: str, found: compare.Observation) -> None:
        assert label not in self.observed, f"{self.case.name}: two observations {label!r}"
        self.observed[label] = found

    def recorded(self) -> dict[str, compare.Observation]:
        """What was observed, as it is recorded."""
        return {
            label: compare.packed(found, self._longest(label))
            for label, found in self.observed.items()
        }

    def _longest(self, label: str) -> int:
        """Of real data the claims and exit codes are ids and numbers; all else are hashes."""
        if self.case.is_real and not label.endswith((": claims", ": exit")):
            return 0
        return getattr(self.case.module, "LONGEST", _LONGEST)


def _matching(root: Path, patterns: Iterable[str]) -> list[tuple[str, Path]]:
    """Files below a folder, by name."""
    found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    return sorted((path.relative_to(root).as_posix(), path) for path in found)


def played(case: Case, stage: Stage) -> Stage:
    """A stage after its case has run, to its end or as far as it came."""
    with stage:
        try:
            case.module.run(stage)
        except Exception:  # noqa: BLE001 - what was observed before says why
            stage.broken = traceback.format_exc()
    return stage


def differences(recorded: dict[str, compare.Observation], stage: Stage) -> compare.Difference:
    """What is not as it was recorded, with what the commands printed that ended otherwise."""
    found = compare.differences(recorded, stage.observed)
    if stage.broken:
        found.problems = [text for text in found.problems if not text.endswith(": missing")]
        found.problems.append(f"the case broke off:\n{stage.broken}")
    for label, printed in stage.printed.items():
        if any(text.startswith(f"{label}: exit") for text in found.problems):
            found.problems.append(f"{label} printed:\n{printed}")
    return found
