"""The known repairs (repairs.toml): which of them apply to a wish, and what they make of it."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from faultatlas.analysis.reexecution.bugs import Fidelity
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
from faultatlas.analysis.reexecution.environments.requirements import Line, Wish
from faultatlas.analysis.reexecution.runs import Outcome

_FILE = Path(__file__).with_name("repairs.toml")
_TORCH = ("torch", "torchvision", "torchaudio")


@dataclass(frozen=True)
class Repair:
    """One entry of repairs.toml; the file's head says what the keys mean."""

    name: str
    kind: str
    when: str
    why: str
    package: tuple[str, ...] = ()
    versions: str = ""
    unpinned: str = ""
    python: str = ""
    device: str = ""
    line: str = ""
    error: str = ""
    drop: bool = False
    rename: str = ""
    unpin: bool = False
    rewrite: str = ""
    constrain: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    build_constrain: tuple[str, ...] = ()
    build_with: tuple[str, ...] = ()
    nearest: bool = False
    release: bool = False
    unlocal: bool = False
    torch: str = ""


@dataclass(frozen=True)
class Place:
    """Where the wish is to be fulfilled."""

    python: str  # version of the interpreter
    device: str  # cpu, cuda


Nearest = Callable[[str, str], str | None]  # name and version -> the nearest one that is there


@cache
def known() -> tuple[Repair, ...]:
    """All repairs, in the order of the file."""
    entries: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["repair"]
    return tuple(
        Repair(**{key: _fixed(value) for key, value in entry.items()}) for entry in entries
    )


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def edition() -> str:
    """A hash of the table: with another table an environment is looked for anew."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]


def asked_for(names: Iterable[str]) -> tuple[Repair, ...]:
    """The repairs that an artifact asks for by name."""
    by_name = {repair.name: repair for repair in known()}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_name, n=1)
        raise EnvironmentProblem(
            Outcome.NO_ENVIRONMENT,
            f"the bug asks for the repair {unknown[0]!r}, which is not known"
            + (f" (is {near[0]!r} meant?)" if near else "")
            + f"; all stand in analysis/reexecution/environments/{_FILE.name}",
        )
    return tuple(by_name[name] for name in names)


def before(wish: Wish, place: Place, asked: tuple[Repair, ...] = ()) -> tuple[Wish, list[Repair]]:
    """The wish with all that is repaired at once, and by which repairs."""
    applied: list[Repair] = []
    for repair in known():
        if repair.when == "before" or repair in asked:
            # A list that fits is changed line by line; the repair is recorded once.
            for _ in range(len(wish.lines) + 1):
                after = attempt(repair, wish, place, log=None)
                if after is None or after == wish:
                    break
                wish = after
                if repair not in applied:
                    applied.append(repair)
    return with_torch(wish, place), applied


def with_torch(wish: Wish, place: Place) -> Wish:
    """PyTorch's builds for this device, where the wish names PyTorch and no place of its own."""
    lines = [line for line in wish.lines if line.name in _TORCH]
    if wish.torch or not lines or wish.no_index or wish.links or wish.index or wish.indexes:
        return wish
    if place.device == "cpu":
        return replace(wish, torch="cpu")
    locals_ = {line.pin.local for line in lines if line.pin is not None and line.pin.local}
    named = [local for local in locals_ if re.fullmatch(r"cu\d+", local)]
    return replace(wish, torch=named[0] if named else "auto")


def after_failure(
    wish: Wish, place: Place, log: str, used: Iterable[Repair], nearest: Nearest
) -> tuple[Wish, Repair] | None:
    """The first repair that changes something about this failure; None when none is known."""
    used = tuple(used)
    for repair in known():
        if repair.when != "failure" or (repair in used and not repair.nearest):
            continue
        after = attempt(repair, wish, place, log=log, nearest=nearest)
        if after is not None and after != wish:
            return after, repair
    return None


def fidelity(applied: Iterable[Repair]) -> tuple[Fidelity, ...]:
    """What repairs make of 'declared'."""
    kinds = {repair.kind for repair in applied}
    marks = [mark for mark in (Fidelity.REPAIRED, Fidelity.SUBSTITUTED) if mark.value in kinds]
    return tuple(marks) or (Fidelity.DECLARED,)


def attempt(
    repair: Repair, wish: Wish, place: Place, *, log: str | None, nearest: Nearest | None = None
) -> Wish | None:
    """The repaired wish, or None where the repair does not apply."""
    if repair.device and repair.device != place.device:
        return None
    if repair.python and not SpecifierSet(repair.python).contains(place.python, prereleases=True):
        return None
    if repair.unpinned and wish.bounds(repair.unpinned):
        return None
    found = re.search(repair.error, log) if repair.error and log is not None else None
    if repair.error and log is not None and found is None:
        return None
    line = _meant(repair, wish, found.groupdict() if found else {})
    if line is None and (repair.package or repair.line or repair.nearest):
        return None
    return _changed(repair, wish, line, nearest)


def _meant(repair: Repair, wish: Wish, groups: dict[str, str | None]) -> Line | None:
    """The line that the repair is about."""
    names = {canonicalize_name(name) for name in repair.package}
    said = groups.get("name")
    for line in wish.lines:
        if names and line.name not in names:
            continue
        if repair.line and not re.search(repair.line, line.text):
            continue
        if repair.versions and not _lies_in(line, repair.versions):
            continue
        if repair.nearest and (said is None or line.name != canonicalize_name(said)):
            continue
        if names or repair.line or repair.nearest:
            return line
    return None


def _lies_in(line: Line, versions: str) -> bool:
    """Whether the version that is asked for lies in a range; `x<2` and `x~=1.4` count too."""
    allowed = SpecifierSet(versions)
    if line.pin is not None:
        return allowed.contains(line.pin.public, prereleases=True)
    if line.parsed is None or line.parsed.url:
        return False
    ends = [one for one in line.parsed.specifier if one.operator in {"<", "<=", "~=", "=="}]
    for one in ends:
        try:
            version = Version(one.version.removesuffix(".*"))
        except InvalidVersion:
            continue
        if one.operator == "<":  # its highest release is a little below
            version = _below(version)
        if allowed.contains(version, prereleases=True):
            return True
    return False


def _below(version: Version) -> Version:
    release = list(version.release)
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    release[-1] -= 1
    return Version(".".join(str(max(part, 0)) for part in [*release, 999]))


def _changed(repair: Repair, wish: Wish, line: Line | None, nearest: Nearest | None) -> Wish | None:
    if line is not None:
        new = _line(repair, line, nearest)
        if new != line.text:
            return wish.changed(line, new)
    if repair.constrain:
        missing = [text for text in repair.constrain if not wish.bounds(Requirement(text).name)]
        return replace(wish, constraints=(*wish.constraints, *missing))
    if repair.require:
        missing = [text for text in repair.require if wish.named(Requirement(text).name) is None]
        return replace(wish, lines=(*wish.lines, *(Line(text) for text in missing)))
    if repair.torch == "none" and wish.torch not in {"", "none"}:
        lines = (Line(_without_local(one)) if one.name in _TORCH else one for one in wish.lines)
        return replace(wish, torch="none", lines=tuple(lines))
    return _built_otherwise(repair, wish)


def _built_otherwise(repair: Repair, wish: Wish) -> Wish | None:
    """The same packages, with other tools to build them."""
    if repair.build_constrain and not set(repair.build_constrain) <= set(wish.build_constraints):
        merged = (*wish.build_constraints, *repair.build_constrain)
        return replace(wish, build_constraints=merged)
    if repair.build_with:
        pinned = wish.named("numpy")
        tools = [
            pinned.text if pinned is not None and text == "numpy" else text
            for text in repair.build_with
        ]
        return replace(wish, build_with=tuple(tools))
    return None


def _line(repair: Repair, line: Line, nearest: Nearest | None) -> str | None:
    """What becomes of the line; None when it is left out."""
    text: str | None = line.text
    if repair.drop:
        text = None
    elif repair.rewrite:
        text = re.sub(repair.line, repair.rewrite, line.text).strip()
    elif repair.rename and line.parsed is not None:
        parsed = Requirement(line.text)
        parsed.name = repair.rename
        if repair.unpin:
            parsed.specifier = SpecifierSet()
        text = str(parsed)
    elif repair.unlocal:
        text = _without_local(line)
    elif repair.release and line.parsed is not None and line.parsed.url:
        revision = re.search(r"\.git@v?(\d+(?:\.\d+)+)$", line.parsed.url)
        text = f"{line.parsed.name}=={revision[1]}" if revision else line.parsed.name
    elif repair.nearest and nearest is not None and line.pin is not None:
        other = nearest(line.name, str(line.pin))
        text = f"{line.parsed.name}=={other}" if other and line.parsed is not None else line.text
    return text


def _without_local(line: Line) -> str:
    return re.sub(r"\+[A-Za-z0-9.]+", "", line.text) if line.pin is not None else line.text
