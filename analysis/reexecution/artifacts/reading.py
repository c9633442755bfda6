"""Reads `bug.toml` and `requirements.txt` of a folder; strict, since people write them by hand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from faultatlas.analysis.reexecution.artifacts.fields import Report, Table
from faultatlas.analysis.reexecution.artifacts.places import PlaceError, small_bytes, wrong_path
from faultatlas.analysis.reexecution.artifacts.problems import Problem, printable, quoted
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
from faultatlas.data.errors import StudyError

FILE = "bug.toml"
REQUIREMENTS = "requirements.txt"
MEASURES = ("duration", "peak memory")
_MOST_BYTES = 256 * 1024
_MOST_REQUIREMENTS = 5_000
_HINT = "`analysis reexecute --validate` names all problems; docs/artifacts.md has the format."
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}/[a-z0-9][a-z0-9._-]{0,99}")
_VERSION = r"[23]\.\d{1,2}(?:\.\d{1,2})?"
_BOUND = rf"(?:[<>]=?|[=~!]=)\s?{_VERSION}"
_PYTHON = re.compile(rf"any|host|{_VERSION}|{_BOUND}(?:\s?,\s?{_BOUND}){{0,9}}")
_MINORS = ("2.7", *(f"3.{minor}" for minor in range(100)))
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_COMMANDS, _MOST_ARGUMENTS, _LONGEST_ARGUMENT = 20, 200, 4_000
_MOST_FOUND = 20_000  # folders that are looked through for bugs

_TABLES = (
    "notes", "bug", "labels", "environment", "data", "run", "oracle", "limits", "fidelity",
    "claims",
)  # fmt: skip
_LIMITS = {  # key: default, least, most
    "seconds": (Limits.seconds, 1, 172_800),
    "memory_mb": (Limits.memory_mb, 16, 1_048_576),
    "processes": (Limits.processes, 1, 32_768),
    "disk_mb": (Limits.disk_mb, 1, 1_048_576),
    "output_mb": (Limits.output_mb, 1, 1_024),
}


def read(folder: Path) -> Bug:
    """The bug of a folder; an error names file, key and next step."""
    bug, problems = parse(folder)
    if bug is None:
        lines = [
            f"{printable(str(folder))}/{each}{f' ({each.next_step})' if each.next_step else ''}"
            for each in problems[:8]
        ]
        more = f"\n... and {len(problems) - 8} more" if len(problems) > 8 else ""
        raise StudyError("\n".join(lines) + more, _HINT)
    return bug


def bugs_in(root: Path) -> list[Path]:
    """The folders with a `bug.toml`, the given one or below it (set and name at most), sorted.

    Another command may bring bugs in at the same time: what it has not finished has a name with a
    dot, and what has vanished in between is not there.
    """
    if (root / FILE).is_file():
        return [root]
    found, seen = [], 0
    try:
        for first in sorted(root.iterdir()):
            if first.name.startswith(".") or first.is_symlink() or not first.is_dir():
                continue
            if (first / FILE).is_file():
                found.append(first)
                continue
            for second in _inside(first):
                seen += 1
                if seen > _MOST_FOUND:
                    break
                if not second.is_symlink() and (second / FILE).is_file():
                    found.append(second)
    except FileNotFoundError:
        raise StudyError(
            f"{printable(str(root))} is not there", "Name the folder of a bug, or one of bugs."
        ) from None
    except OSError as error:
        raise StudyError(
            f"{printable(str(root))} cannot be read: {error.strerror}",
            "Name the folder of a bug, or one of bugs.",
        ) from None
    return found


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except FileNotFoundError:
        return []


def parse(folder: Path) -> tuple[Bug | None, list[Problem]]:
    """The bug, or None and all that is wrong with its files' form."""
    bug, problems = draft(folder)
    return (None if problems else bug), problems


def draft(folder: Path) -> tuple[Bug | None, list[Problem]]:
    """The same, with a bug as far as it can be read: defaults stand where something is wrong."""
    report = Report(FILE)
    plain = _toml(folder, report)
    requirements = _requirements(folder, report)
    if plain is None:
        return None, report.problems
    return _bug(folder, plain, requirements, report), report.problems


def _toml(folder: Path, report: Report) -> dict[str, Any] | None:
    try:
        text = small_bytes(folder / FILE, _MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        report.problems.append(
            Problem(FILE, "is not there", f"Name a folder with a {FILE}, or import the set.")
        )
        return None
    except UnicodeDecodeError:
        report.problems.append(Problem(FILE, "is not UTF-8", "Save it as UTF-8."))
        return None
    except PlaceError as error:
        report.problems.append(Problem(FILE, str(error), f"{FILE} is a small text file."))
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers too long and tables too deep
        report.problems.append(
            Problem(FILE, f"is no TOML: {printable(str(error))}", "Mend the line.")
        )
        return None


def _requirements(folder: Path, report: Report) -> tuple[str, ...]:
    try:
        text = small_bytes(folder / REQUIREMENTS, _MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError:
        report.problems.append(Problem(REQUIREMENTS, "is not UTF-8", "Save it as UTF-8."))
        return ()
    except PlaceError as error:
        report.problems.append(Problem(REQUIREMENTS, str(error), "It is a small text file."))
        return ()
    lines = requirement_lines(text)
    if len(lines) > _MOST_REQUIREMENTS:
        report.problems.append(
            Problem(REQUIREMENTS, f"has more than {_MOST_REQUIREMENTS:,} lines", "Shorten it.")
        )
        return ()
    for line in lines:
        if not line.isprintable():
            report.problems.append(
                Problem(REQUIREMENTS, f"{quoted(line)} holds control characters", "Mend the line.")
            )
            return ()
    return lines


def requirement_lines(text: str) -> tuple[str, ...]:
    """The lines that say something: no comments, continued lines joined."""
    joined = re.sub(r"\\\r?\n", " ", text)
    lines = (re.sub(r"(?:^|\s+)#.*", "", line).strip() for line in re.split(r"\r\n|\r|\n", joined))
    return tuple(" ".join(line.split("\t")) for line in lines if line)


def _bug(folder: Path, plain: dict[str, Any], requirements: tuple[str, ...], report: Report) -> Bug:
    whole = Table(report, "", plain, _TABLES)
    about = Table(report, "[bug]", plain.get("bug", {}), ("id", "title", "url", "source"))
    bug_id = about.text("id")
    if not _ID.fullmatch(bug_id) or ".." in bug_id:
        about.say(
            "id",
            f"is {quoted(bug_id)}" if bug_id else "is missing",
            "Write <set>/<name> in lower case, such as own/axis-1.",
        )
    run = Table(report, "[run]", plain.get("run", {}), ("clean", "outputs", "data", *SIDES))
    claims = Table(report, "[claims]", plain.get("claims", {}), ("verdict", "reason", "oracle"))
    oracle = _oracle(plain, report)
    return Bug(
        bug_id=bug_id,
        folder=folder,
        title=about.text("title"),
        url=about.text("url"),
        source=about.text("source"),
        labels=_labels(plain, report),
        environment=_environment(plain, requirements, report),
        data=_data(plain, report),
        runs=_runs(run, report),
        clean=run.paths("clean"),
        outputs=run.paths("outputs", globs=False),
        oracle=oracle,
        limits=_limits(plain, report),
        fidelity=_fidelity(plain, report),
        own_oracle=claims.free("oracle"),
        claimed_verdict=claims.text("verdict"),
        claimed_reason=claims.text("reason", lines=True),
        notes=whole.texts("notes"),
        data_place=run.path("data", "data"),
    )


def _labels(plain: dict[str, Any], report: Report) -> Labels:
    texts = ("symptom", "fault", "taxonomy", "property", "framework")
    table = Table(report, "[labels]", plain.get("labels", {}), (*texts, "about_gpu"))
    said = {key: table.text(key) for key in texts}
    return Labels(**said, about_gpu=table.truth("about_gpu"))


def _environment(
    plain: dict[str, Any], requirements: tuple[str, ...], report: Report
) -> EnvironmentSpec:
    keys = ("python", "repairs", "guessed")
    table = Table(report, "[environment]", plain.get("environment", {}), keys)
    python = table.text("python", "any")
    if not _PYTHON.fullmatch(python):
        table.say("python", f"is {quoted(python)}", "Write any, 3.6, 3.7.16, >=3.8,<3.12 or host.")
    elif python[0] in "<>=~!" and not _is_possible(SpecifierSet(python)):
        table.say("python", f"is {quoted(python)}: no Python is", "Are the bounds exchanged?")
    return EnvironmentSpec(python, requirements, table.texts("repairs"), table.texts("guessed"))


def _is_possible(bounds: SpecifierSet) -> bool:
    return any(bounds.contains(f"{minor}.{patch}") for minor in _MINORS for patch in range(100))


def _data(plain: dict[str, Any], report: Report) -> tuple[DataFile, ...]:
    entries = plain.get("data", [])
    if not isinstance(entries, list):
        report.add("[[data]]", "is no list of tables", "Write [[data]] above each file's lines.")
        return ()
    found: dict[str, DataFile] = {}
    for number, entry in enumerate(entries, 1):
        table = Table(report, f"[[data]] {number}", entry, ("path", "sha256", "stand_in", "source"))
        path, sha256 = table.text("path"), table.text("sha256")
        if why := wrong_path(path):
            table.say("path", f"{quoted(path)} {why}", "Write the file's path inside data/.")
        if path in found:
            table.say("path", f"{quoted(path)} is declared twice", "Take one of them out.")
        if sha256 and not _DIGEST.fullmatch(sha256):
            table.say("sha256", f"is {quoted(sha256)}", "Write 64 hexadecimal digits, small.")
        found[path] = DataFile(path, sha256, table.truth("stand_in"), table.text("source"))
    return tuple(found.values())


def _runs(run: Table, report: Report) -> dict[str, Commands]:
    found = {}
    for side in SIDES:
        if side not in run.values:
            continue
        name = f"[run.{side}]"
        table = Table(report, name, run.values[side], ("commands", "directory", "place"))
        found[side] = Commands(
            _commands(table, "commands"), table.path("directory", "."), table.path("place", ".")
        )
    return found


def _commands(table: Table, key: str) -> tuple[tuple[str, ...], ...]:
    values = table.values.get(key, [])
    example = f'Write {key} = [["python", "train.py"]].'
    if not isinstance(values, list) or not all(isinstance(each, list) for each in values):
        table.say(key, "is no list of lists of words", example)
        return ()
    if not values or len(values) > _MOST_COMMANDS:
        table.say(key, f"has {len(values)} commands", example)
        return ()
    return tuple(_command(table, key, each) for each in values)


def _command(table: Table, key: str, words: list[Any]) -> tuple[str, ...]:
    """One argument list. Line breaks may stand in it (python -c), NUL and the like may not."""
    example = 'A command is a list of words: ["python", "train.py"].'
    if not words or len(words) > _MOST_ARGUMENTS:
        table.say(key, f"has a command of {len(words)} words", example)
        return ()
    for word in words:
        if not isinstance(word, str):
            table.say(key, f"{quoted(word)} is no text", example)
            return ()
        if len(word) > _LONGEST_ARGUMENT or not re.sub(r"[\n\t]", "", word).isprintable():
            table.say(key, f"{quoted(word)} is too long, or holds control characters", example)
            return ()
    if not words[0].strip():
        table.say(key, "has a command that begins with an empty word", example)
        return ()
    return tuple(words)


def _oracle(plain: dict[str, Any], report: Report) -> Oracle:
    keys = (
        "symptom", "exception", "message", "pattern", "file", "expected", "tolerance",
        "at_least", "at_most", "check", "measure", "better", "hang_seconds",
    )  # fmt: skip
    table = Table(report, "[oracle]", plain.get("oracle", {}), keys)
    if "symptom" not in table.values:
        table.say("symptom", "is missing", f"Write one of: {', '.join(Symptom)}.")
    symptom = Symptom(table.choice("symptom", tuple(Symptom), Symptom.CRASH))
    expected = table.values.get("expected")
    if isinstance(expected, str) or expected is None:
        expected = table.text("expected") if expected else expected
    else:
        expected = table.number("expected")
    check = table.values.get("check", [])
    words: tuple[str, ...] = ()
    if check and isinstance(check, list):
        words = _command(table, "check", check)
    elif check:
        table.say("check", "is no list of words", 'Write check = ["python", "check.py"].')
    tolerance = table.number("tolerance", 0.0) or 0.0
    if tolerance < 0:
        table.say("tolerance", f"is {tolerance:g}", "It is 0 or more.")
    oracle = Oracle(
        symptom=symptom,
        exception=table.text("exception"),
        message=table.pattern("message", groups=0),
        pattern=table.pattern("pattern", groups=1),
        file=table.path("file", ""),
        expected=expected,
        tolerance=tolerance,
        at_least=table.number("at_least"),
        at_most=table.number("at_most"),
        check=words,
        measure=table.choice("measure", ("", *MEASURES), ""),
        better=table.choice("better", ("", "higher", "lower"), ""),
        hang_seconds=table.limit("hang_seconds", Oracle.hang_seconds, 1, 86_400),
    )
    if symptom is Symptom.INCORRECT_OUTPUT:
        _contradictions(table, oracle)
    return oracle


def _contradictions(table: Table, oracle: Oracle) -> None:
    """What is right is said once: of two rules one would be passed over in silence."""
    low, high = oracle.at_least, oracle.at_most
    if oracle.check and (
        oracle.pattern or oracle.expected is not None or (low, high) != (None,) * 2
    ):
        table.say("check", "stands beside a pattern or a number", "Leave one of them out.")
    elif oracle.expected is not None and (low, high) != (None, None):
        table.say("expected", "stands beside at_least or at_most", "Leave one of them out.")
    if oracle.tolerance and not isinstance(oracle.expected, (int, float)):
        table.say("tolerance", "says nothing without a number as expected", "Leave it out.")
    if low is not None and high is not None and low > high:
        table.say("at_least", f"{low:g} is more than at_most, {high:g}", "Mend one of them.")


def _limits(plain: dict[str, Any], report: Report) -> Limits:
    table = Table(report, "[limits]", plain.get("limits", {}), _LIMITS)
    said = {key: table.limit(key, *bounds) for key, bounds in _LIMITS.items()}
    for key in ("memory_mb", "processes", "disk_mb", "output_mb"):
        if said[key] != int(said[key]):
            table.say(key, f"is {said[key]:g}", "Write a whole number.")
    return Limits(
        seconds=float(said["seconds"]),
        memory_mb=int(said["memory_mb"]),
        processes=int(said["processes"]),
        disk_mb=int(said["disk_mb"]),
        output_mb=int(said["output_mb"]),
    )


def _fidelity(plain: dict[str, Any], report: Report) -> tuple[Fidelity, ...]:
    table = Table(report, "[fidelity]", plain.get("fidelity", {}), ("marks",))
    marks = table.texts("marks")
    for mark in marks:
        if mark not in tuple(Fidelity):
            known = ", ".join(Fidelity)
            table.say("marks", f"has {quoted(mark)}", f"Known: {known}.")
            return ()
    return tuple(Fidelity(mark) for mark in marks)
