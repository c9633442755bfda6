"""`analysis reexecute --validate`: what is missing or wrong in bugs, of a study or of folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.analysis.reexecution import collecting, storing
from faultatlas.analysis.reexecution.artifacts.problems import Problem, printable
from faultatlas.analysis.reexecution.artifacts.reading import FILE, bugs_in, parse
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted
from faultatlas.report.old.console import Output

if TYPE_CHECKING:
    from faultatlas.data.study import Study


def validate(study: Study, output: Output, named: Sequence[str], sets: Sequence[str]) -> bool:
    """Show all problems; whether there are no errors."""
    found = {
        folder: [*_place(study, folder), *problems(folder)]
        for folder in _folders(study, named, sets)
    }
    errors = sum(each.severity == "error" for listed in found.values() for each in listed)
    warnings = sum(map(len, found.values())) - errors
    output.document(
        {
            "bugs": [
                {"folder": str(folder), "problems": [asdict(each) for each in listed]}
                for folder, listed in found.items()
            ],
            "errors": errors,
            "warnings": warnings,
        }
    )
    for folder, listed in found.items():
        if listed or output.verbose:
            output.show(f"{_name(folder)}: {'' if listed else 'nothing is wrong'}".rstrip())
        shown = [each for each in listed if each.severity == "error" or output.verbose]
        output.show(*map(_line, shown))
        if more := len(listed) - len(shown):
            output.show(f"  {counted(more, 'warning')}")
    count = counted(len(found), "bug")
    hint = " -v shows the warnings." if warnings and not output.verbose else ""
    output.show(f"{count}: {counted(errors, 'error')}, {counted(warnings, 'warning')}.{hint}")
    return errors == 0


def _place(study: Study, folder: Path) -> Iterator[Problem]:
    """A bug of a study lies where its id says."""
    home, found = (study.directory / storing.FOLDER).resolve(), folder.resolve()
    bug, _ = parse(folder)
    if bug is None or not found.is_relative_to(home):
        return
    place = str(found.relative_to(home))
    if bug.bug_id != place:
        yield Problem(
            f"{FILE}: [bug] id",
            f"is {bug.bug_id}, and the folder lies in {printable(place)}",
            "Change the id, or move the folder: it is not taken as it is.",
        )


def _line(problem: Problem) -> str:
    next_step = f" {problem.next_step}" if problem.next_step else ""
    return f"  {problem.severity}: {problem}.{next_step}"


def _name(folder: Path) -> str:
    return printable(f"{folder.parent.name}/{folder.name}" if folder.parent.name else str(folder))


def _folders(study: Study, named: Sequence[str], sets: Sequence[str]) -> Iterator[Path]:
    """Folders that are named, or bugs of the study; with neither all there are."""
    seen: set[Path] = set()
    for folder in _meant(study, named, sets):
        if folder not in seen:
            seen.add(folder)
            yield folder


def _meant(study: Study, named: Sequence[str], sets: Sequence[str]) -> Iterator[Path]:
    if not named:
        meant = collecting.chosen(collecting.known(study), (), sets)
        others = [
            each for each in collecting.strangers(study) if not sets or each.parent.name in sets
        ]
        yield from [*(each.folder for each in meant), *others] or collecting.shipped()
        return
    for name in named:
        folder = Path(name)
        if folder.is_dir():
            yield from bugs_in(folder) or [_single(folder)]
        elif folder.is_file():
            raise StudyError(
                f"{printable(name)} is a file", "Give the folder of a bug, or of several."
            )
        elif strangers := _strangers(study, name):
            yield from strangers
        elif there := collecting.known(study):
            yield from (each.folder for each in collecting.chosen(there, [name], sets))
        else:
            raise StudyError(
                f"there is no folder {printable(name)}", "Give the folder of a bug, or of several."
            )


def _strangers(study: Study, name: str) -> list[Path]:
    """Folders of that name which are no bugs of the study, as something is wrong with them."""
    home = study.directory / storing.FOLDER
    return [
        folder
        for folder in collecting.strangers(study)
        if name.strip("/") in {folder.name, str(folder.relative_to(home))}
    ]


def _single(folder: Path) -> Path:
    """A bug without its bug.toml, or something else altogether."""
    if any((folder / side).is_dir() for side in ("buggy", "fixed")) or (folder / FILE).exists():
        return folder
    raise StudyError(
        f"{folder} holds no bug: there is no {FILE} in it or below it",
        "A set in another format is imported: analysis reexecute --import FOLDER.",
    )
