"""Everything that is missing or wrong in an artifact, at once."""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.content import DATA
from faultatlas.analysis.reexecution.artifacts.places import PlaceError, bounded, digest, leaves
from faultatlas.analysis.reexecution.artifacts.problems import Problem, printable, quoted
from faultatlas.analysis.reexecution.artifacts.reading import FILE, REQUIREMENTS, draft
from faultatlas.analysis.reexecution.artifacts.requirement_lines import requirement_problems
from faultatlas.analysis.reexecution.artifacts.workspaces import (
    Workspace,
    clash_problems,
    command_problems,
    is_cleaned,
    planned,
)
from faultatlas.analysis.reexecution.bugs import SIDES, Bug, DataFile, Fidelity, Symptom
from faultatlas.data.taxonomy import Taxonomy

_ADDRESS = re.compile(r"https?://\S+")
# Keys of [oracle] beside `symptom` that say something about each.
_KEYS = {
    Symptom.CRASH: {"exception", "message"},
    Symptom.NAN: {"pattern", "file"},
    Symptom.HANG: {"hang_seconds"},
    Symptom.OUT_OF_MEMORY: set(),
    Symptom.INCORRECT_OUTPUT: {
        "pattern", "file", "expected", "tolerance", "at_least", "at_most", "check",
    },
    Symptom.BAD_PERFORMANCE: {"pattern", "file", "measure", "better"},
}  # fmt: skip


def problems(folder: Path) -> list[Problem]:
    """What is missing or wrong, errors first; an empty list: it can be run and judged."""
    bug, found = draft(folder)
    wrong = " ".join(each.where for each in found)  # what is wrong already is not looked at again
    shipped = {place: list(_walked(folder, place, found)) for place in (*SIDES, DATA)}
    for side in SIDES:
        if not shipped[side]:
            found.append(_no_files(side))
    if bug is not None:
        for tables, looked in (
            (("[run",), _fix(bug, shipped)),
            (("[[data]]",), _data(bug, shipped[DATA])),
            ((REQUIREMENTS,), requirement_problems(bug.environment.requirements, folder)),
            (("[run", "[[data]]"), _runs(bug, shipped)),
            (("[oracle]", "[run]"), _oracle(bug)),
            (("[labels]",), _labels(bug)),
            (("[bug]", "[environment]", "[fidelity]"), _said(bug)),
        ):
            if not any(table in wrong for table in tables):
                found += looked
    return sorted(found, key=lambda each: each.severity)


def _walked(folder: Path, place: str, found: list[Problem]) -> Iterator[str]:
    """The files of a place; what must not be read is reported."""
    root = folder / place
    if root.is_symlink():
        found.append(Problem(place, "is a link", "Put the files themselves there."))
        return
    if not root.is_dir():
        return
    try:
        for path, status in bounded(root):
            where = f"{place}/{printable(path)}"
            if stat.S_ISLNK(status.st_mode):
                if leaves(root / path, root):
                    found.append(
                        Problem(where, "is a link that leaves the folder", "Put the file there.")
                    )
                    continue
            elif not stat.S_ISREG(status.st_mode):
                found.append(Problem(where, "is no plain file", "Take it out."))
                continue
            yield path
    except PlaceError as error:
        found.append(Problem(place, str(error), "Take out what a run does not need."))


def _no_files(side: str) -> Problem:
    if side == "buggy":
        return Problem(side, "has no files", "Put the buggy version there.")
    return Problem(
        side, "has no files: the fix cannot be shown", "Put the fixed version there.", "warning"
    )


def _fix(bug: Bug, shipped: dict[str, list[str]]) -> Iterator[Problem]:
    """A fix that is none: nothing changed, or all of it is empty."""
    if not all(shipped[side] for side in SIDES):
        return
    written = (*bug.clean, *bug.outputs)
    kept = {
        side: {
            path
            for path in shipped[side]
            if not is_cleaned(posixpath.normpath(f"{bug.runs[side].place}/{path}"), written)
        }
        if side in bug.runs
        else set(shipped[side])
        for side in SIDES
    }
    fixed = {path: _content(bug.folder / "fixed" / path) for path in kept["fixed"]}
    scripts = [text for path, text in fixed.items() if path.endswith((".py", ".ipynb"))]
    if scripts and not any(text.strip() for text in scripts):
        yield Problem(
            "fixed", "all its scripts are empty", "Put the fixed version there; this is no fix."
        )
    elif kept["buggy"] == kept["fixed"] and all(
        _content(bug.folder / "buggy" / path) == text for path, text in fixed.items()
    ):
        same = bug.runs.get("buggy") == bug.runs.get("fixed")
        yield Problem(
            "fixed",
            "is the same as buggy: the fix is empty"
            if same
            else "is the same as buggy; only the commands differ",
            "Put the fixed version there.",
            "error" if same else "warning",
        )


def _content(path: Path) -> bytes:
    """The bytes of a script; of anything else only its digest."""
    try:
        if path.is_symlink():
            return str(path.readlink()).encode()
        if path.stat().st_size < 1 << 20:
            return path.read_bytes()
        return digest(path).encode()
    except (OSError, PlaceError):
        return b"?"


def _data(bug: Bug, shipped: list[str]) -> Iterator[Problem]:
    there, declared = set(shipped), {file.path for file in bug.data}
    for file in bug.data:
        where = f"data/{printable(file.path)}"
        if file.path not in there:
            source = f" from {printable(file.source)}" if file.source else ""
            yield Problem(where, "is missing", f"Fetch it{source}, put it there, or a stand-in.")
        elif not file.digest:
            yield Problem(where, "has no checksum", "Declare sha256 in bug.toml.", "warning")
        else:
            yield from _checksum(bug, file, where)
        if file.stand_in and Fidelity.STAND_IN_DATA not in bug.fidelity:
            yield Problem(
                FILE,
                "[fidelity] marks: a stand-in is declared, and the mark is missing",
                'Add "stand-in data".',
                "warning",
            )
    if extra := sorted(there - declared):
        more = f" and {len(extra) - 1} more" if len(extra) > 1 else ""
        yield Problem(
            f"data/{printable(extra[0])}",
            f"is not declared{more}",
            "Declare path and sha256 under [[data]].",
            "warning",
        )


def _checksum(bug: Bug, file: DataFile, where: str) -> Iterator[Problem]:
    try:
        found = digest(bug.folder / DATA / file.path)
    except PlaceError as error:  # a link, even one that stays inside
        yield Problem(where, str(error), "Put the file itself there.")
        return
    except OSError as error:
        yield Problem(where, f"cannot be read: {error.strerror}", "Make it readable.")
        return
    if found != file.digest:
        yield Problem(
            where,
            f"has another checksum: {found[:12]}..., declared is {file.digest[:12]}...",
            "Fetch it again, or declare the file that is there as a stand-in.",
        )


def _runs(bug: Bug, shipped: dict[str, list[str]]) -> Iterator[Problem]:
    data = [*shipped[DATA], *(file.path for file in bug.data)]
    for side in SIDES:
        if side not in bug.runs:
            yield Problem(
                f"{FILE}: [run.{side}]",
                "is missing",
                'Write commands = [["python", "train.py"]] under it.',
                "error" if side == "buggy" else "warning",
            )
            continue
        if not shipped[side]:
            continue
        workspace = planned(bug, side, shipped[side], data)
        yield from clash_problems(bug, side, shipped[side], data)
        yield from command_problems(bug, side, workspace)
        yield from _stale(bug, side, workspace)


def _stale(bug: Bug, side: str, workspace: Workspace) -> Iterator[Problem]:
    for output in bug.outputs:
        stays = sorted(
            path for path in workspace.files if path == output and not is_cleaned(path, bug.clean)
        )
        if stays:
            yield Problem(
                f"{side}/{printable(stays[0])}",
                "is an output that is shipped already: a run that writes nothing would leave it",
                "Name it in [run] clean.",
                "warning",
            )


def _oracle(bug: Bug) -> Iterator[Problem]:
    oracle, where = bug.oracle, f"{FILE}: [oracle]"
    said = {
        each.name
        for each in fields(oracle)
        if each.name != "symptom" and getattr(oracle, each.name) != each.default
    }
    if useless := sorted(said - _KEYS[oracle.symptom]):
        yield Problem(
            where, f"{', '.join(useless)} says nothing about {oracle.symptom}", "", "warning"
        )
    if oracle.symptom is Symptom.INCORRECT_OUTPUT:
        compared = (oracle.expected, oracle.at_least, oracle.at_most) != (None, None, None)
        if not oracle.check and not (oracle.pattern and compared):
            yield Problem(
                where,
                "nothing says what is wrong",
                "Write pattern with expected, at_least or at_most; or check.",
            )
    if oracle.symptom is Symptom.BAD_PERFORMANCE and not (oracle.pattern or oracle.measure):
        yield Problem(
            where, "nothing says what is measured", "Write pattern, or measure, and better."
        )
    if oracle.symptom is Symptom.BAD_PERFORMANCE and oracle.pattern and not oracle.better:
        yield Problem(
            f"{where} better",
            "is missing: a higher number is taken for the better one",
            "Write higher, or lower for a loss.",
            "warning",
        )
    if oracle.file and oracle.file not in bug.outputs:
        yield Problem(
            where,
            f"file {quoted(oracle.file)} is not among [run] outputs: it would not be kept",
            "Name it there.",
        )


def _labels(bug: Bug) -> Iterator[Problem]:
    labels = bug.labels
    for key, name, code in (
        ("symptom", "symptoms", labels.symptom),
        ("property", "testing-properties", labels.property),
        ("fault", labels.taxonomy or "humbatova", labels.fault),
    ):
        where = f"{FILE}: [labels] {key}"
        if not code:
            yield Problem(where, "is missing", f"Its codes are those of {name}.", "warning")
            continue
        taxonomy = _taxonomy(name)
        if taxonomy is None:
            yield Problem(
                f"{FILE}: [labels] taxonomy",
                f"{quoted(name)} is none that is shipped",
                "Known ones: annotation taxonomy list.",
                "warning",
            )
        elif code not in taxonomy:
            yield Problem(
                where,
                f"{quoted(code)} is no code of {name}",
                f"Its codes: annotation taxonomy show {name}.",
                "warning",
            )
    if not labels.framework:
        yield Problem(
            f"{FILE}: [labels] framework", "is missing", "Write numpy, keras, ...", "warning"
        )


def _said(bug: Bug) -> Iterator[Problem]:
    if not bug.title:
        yield Problem(f"{FILE}: [bug] title", "is missing", "Say the bug in a line.", "warning")
    if bug.url and not _ADDRESS.fullmatch(bug.url):
        yield Problem(
            f"{FILE}: [bug] url", f"{quoted(bug.url)} is no address", "It is https://...", "warning"
        )
    if bug.environment.guessed and Fidelity.GUESSED not in bug.fidelity:
        yield Problem(
            f"{FILE}: [fidelity] marks",
            "something was guessed, and the mark is missing",
            'Add "guessed".',
            "warning",
        )
    if not bug.environment.requirements and bug.environment.python != "any":
        yield Problem(
            REQUIREMENTS, "is missing", "Write what the scripts import, with versions.", "warning"
        )


@lru_cache(maxsize=8)
def _taxonomy(name: str) -> Taxonomy | None:
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    library = TaxonomyLibrary()
    return library.taxonomy(name) if name in library.names else None
