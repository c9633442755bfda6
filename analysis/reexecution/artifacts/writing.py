"""Writes `bug.toml` and `requirements.txt`: what `reading.read` gives back equal."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.artifacts.reading import FILE, REQUIREMENTS
from faultatlas.analysis.reexecution.bugs import SIDES, Bug, Commands, DataFile, Limits, Oracle
from faultatlas.data.errors import StudyError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')


def write(bug: Bug, folder: Path) -> None:
    """Write the two files; the sides and the data are the caller's."""
    text = "\n".join(_lines(bug))
    requirements = "".join(f"{line}\n" for line in bug.environment.requirements)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (FILE, REQUIREMENTS):
            (folder / name).unlink(missing_ok=True)  # a link there is not written through
        (folder / FILE).write_text(text, encoding="utf-8", newline="\n")
        if requirements:
            (folder / REQUIREMENTS).write_text(requirements, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StudyError(
            f"{folder / FILE} cannot be written: {error.strerror}",
            "Check space and rights, then repeat the command.",
        ) from None


def _lines(bug: Bug) -> list[str]:
    lines = [f"notes = {_value(list(bug.notes))}"] if bug.notes else []
    lines += _table(
        "bug", {"id": bug.bug_id, "title": bug.title, "url": bug.url, "source": bug.source}
    )
    lines += _table("labels", {each.name: getattr(bug.labels, each.name) for each in _of(bug)})
    environment = bug.environment
    lines += _table(
        "environment",
        {
            "python": environment.python,
            "repairs": list(environment.repairs),
            "guessed": list(environment.guessed),
        },
    )
    for file in bug.data:
        lines += _data(file)
    run = {"clean": list(bug.clean), "outputs": list(bug.outputs), "data": bug.data_place}
    lines += _table("run", run)
    for side in SIDES:
        if side in bug.runs:
            lines += _side(side, bug.runs[side])
    lines += _oracle(bug.oracle)
    lines += _table(
        "limits", {each.name: getattr(bug.limits, each.name) for each in fields(Limits)}
    )
    lines += _table("fidelity", {"marks": [str(mark) for mark in bug.fidelity]})
    lines += _table(
        "claims",
        {
            "verdict": bug.claimed_verdict,
            "reason": bug.claimed_reason,
            "oracle": bug.own_oracle,
        },
    )
    return [*lines, ""]


def _of(bug: Bug) -> Any:
    return fields(bug.labels)


def _data(file: DataFile) -> list[str]:
    said: dict[str, Any] = {"path": file.path, "sha256": file.digest, "stand_in": file.stand_in}
    if file.source:
        said["source"] = file.source
    return ["", "[[data]]", *(f"{key} = {_value(value)}" for key, value in said.items())]


def _side(side: str, how: Commands) -> list[str]:
    commands = [list(command) for command in how.commands]
    said = {"commands": commands, "directory": how.directory, "place": how.place}
    return _table(f"run.{side}", said)


def _oracle(oracle: Oracle) -> list[str]:
    """Only what says something: a default that is written looks like a choice."""
    said: dict[str, Any] = {"symptom": str(oracle.symptom)}
    for each in fields(Oracle):
        value = getattr(oracle, each.name)
        if each.name != "symptom" and value != each.default:
            said[each.name] = list(value) if isinstance(value, tuple) else value
    return _table("oracle", said)


def _table(name: str, values: dict[str, Any]) -> list[str]:
    return ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items())]


def _value(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(each) for each in value)}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    return repr(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(str(key))


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return short.get(sign, f"\\u{ord(sign):04x}")
