"""Defects4DL: `Fault1/{buggy, fixed, files, info.txt, requirements.txt}`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.places import is_behind_link, walk
from faultatlas.analysis.reexecution.artifacts.reading import requirement_lines
from faultatlas.analysis.reexecution.bugs import (
    SIDES,
    Bug,
    Commands,
    DataFile,
    EnvironmentSpec,
    Fidelity,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.importing import datasets
from faultatlas.analysis.reexecution.importing.building import each_bug, store
from faultatlas.analysis.reexecution.importing.choosing_oracles import by_words
from faultatlas.analysis.reexecution.importing.imported import Imported
from faultatlas.analysis.reexecution.importing.scripts import framework, reached, texts
from faultatlas.analysis.reexecution.importing.texts import line, slug, text_of
from faultatlas.analysis.reexecution.importing.versions_by_date import python_on

NAME = "defects4dl"
_OWN = frozenset({"info.txt", "requirements.txt", *SIDES})
_ADDRESS = re.compile(r"https?://\S+")
_ELSEWHERE = (
    "import os, sys, unittest; os.chdir(sys.argv[1]); "
    "unittest.main(module=None, argv=['python -m unittest', sys.argv[2]])"
)
_VERSION = re.compile(r"^([A-Za-z][\w.-]*)[ =]+v?(\d+(?:\.\d+)*)$")


def recognises(folder: Path) -> bool:
    """Whether it has folders `Fault1`, `Fault2`, ... with two sides."""
    return any(not is_behind_link(each, folder) for each in _folders(folder))


def import_bugs(folder: Path, into: Path, *, dated: Callable[[str], str] | None = None) -> Imported:
    """All faults of the set; `dated` says the day of an address where a study knows it."""
    return each_bug(folder, _folders(folder), partial(_import, into, dated))


def _folders(folder: Path) -> list[Path]:
    return sorted(
        each
        for each in folder.iterdir()
        if re.fullmatch(r"fault[-_ ]?\d+", each.name, re.IGNORECASE)
        and any(_is_there(each / side) for side in SIDES)
    )


def _import(
    into: Path, dated: Callable[[str], str] | None, folder: Path, imported: Imported
) -> None:
    name = slug(folder.name)
    say = partial(imported.say, name)
    info = text_of(folder / "info.txt")
    addresses = [address.rstrip(".,)") for address in _ADDRESS.findall(info)]
    python, requirements = read_requirements(text_of(folder / "requirements.txt"))
    guessed: tuple[str, ...] = ()
    if not python:
        days = [dated(line(each)) for each in addresses] if dated else []
        python, guessed = _python(max(days, default="")), ("python",)
        say(f"python is not declared; {python} was guessed")
    runs: dict[str, Commands] = {}
    wanted: dict[str, str] = {}
    used = ""
    for side in SIDES:
        files = {path for path, _ in walk(folder / side)} if _is_there(folder / side) else set()
        tests = sorted(path for path in files if re.search(r"(?:^|/)test_\w+\.py$", path))
        if not tests:
            say(f"no test is known for the {side} side; write the commands into bug.toml")
            continue
        scripts = [script for test in tests for script in reached(folder / side, test, files)]
        used = used or framework(folder / side, scripts)
        runs[side] = _commands(folder, side, files, tests, wanted)
    # Where nobody says more: a failing test ends its runner with the exception that it reports.
    oracle = Oracle(by_words("", info) or Symptom.CRASH)
    say(f"nobody says its symptom: the oracle looks for {oracle.symptom}, the label is empty")
    beside = [each for each in sorted(folder.iterdir()) if each.name not in _OWN]
    bug = Bug(
        bug_id=f"{NAME}/{name}",
        folder=into / name,
        title=line(addresses[0] if addresses else folder.name),
        url=line(addresses[-1]) if addresses else "",
        source="github" if any("github.com" in each for each in addresses) else "",
        labels=Labels(taxonomy="humbatova", framework=used),
        environment=EnvironmentSpec(python, requirements, (), guessed),
        data=tuple(
            DataFile(path, source=source)
            for path, source in wanted.items()
            if not (folder / path).is_file() or is_behind_link(folder / path, folder)
        ),
        runs=runs,
        clean=(),
        outputs=(),
        oracle=oracle,
        limits=Limits(seconds=1800.0),
        fidelity=(Fidelity.GUESSED,) if guessed else (Fidelity.DECLARED,),
        own_oracle={"tests": [" ".join(each[-1:]) for each in runs["buggy"].commands]}
        if "buggy" in runs
        else {},
        notes=tuple(filter(None, [line(info, 1000)])),
        data_place=".",
    )
    parts = [(folder / side, side) for side in SIDES if _is_there(folder / side)]
    parts += [(each, f"data/{each.name}") for each in beside if not each.name.startswith(".")]
    store(bug, into, parts, imported)


def _is_there(side: Path) -> bool:
    return side.is_dir() and not side.is_symlink()


def _commands(
    folder: Path, side: str, files: set[str], tests: list[str], wanted: dict[str, str]
) -> Commands:
    """Each test where its authors run it, in its folder: they look for files two folders up."""
    there = {*(f"{side}/{path}" for path in files), *_beside(folder)}
    places = {
        test: posixpath.normpath(posixpath.join(side, posixpath.dirname(test))) for test in tests
    }
    links: dict[str, str] = {}
    for test, place in places.items():
        found = texts(folder / side, reached(folder / side, test, files))
        data, more = datasets.placed_all(found.values(), place, there)
        wanted.update(data)
        links.update(more)
    first = places[tests[0]]
    commands = [_command(Path(test).stem, posixpath.relpath(places[test], first)) for test in tests]
    linked = (datasets.linking(links, first, each) if links else each for each in commands)
    return Commands(tuple(linked), first, side)


def _command(module: str, place: str) -> tuple[str, ...]:
    """A test of the working directory, or of another one, which is gone to first."""
    if place == ".":
        return ("python", "-m", "unittest", module)
    return ("python", "-c", _ELSEWHERE, place, module)


def _python(day: str) -> str:
    """The one that was usual then; most of the set are of the years of 3.7."""
    return python_on(day) if day else "3.7"


def read_requirements(text: str) -> tuple[str, tuple[str, ...]]:
    """Python and lines; `numpy 1.15`, as people write it, becomes a pin of that series."""
    python, lines = "", []
    for each in requirement_lines(text):
        found = _VERSION.fullmatch(each)
        if found is None:
            lines.append(each)
        elif found[1].lower() == "python":
            python = found[2]
        else:
            exact = found[2].count(".") > 1
            lines.append(f"{found[1]}=={found[2]}" if exact else f"{found[1]}=={found[2]}.*")
    return python, tuple(lines)


def _beside(folder: Path) -> set[str]:
    """Files that are no side's."""
    others = [each for each in folder.iterdir() if each.name not in _OWN and _is_there(each)]
    return {f"{each.name}/{path}" for each in others for path, _ in walk(each)}
