"""What a bug's requirements ask for, line by line; nothing is taken from outside its folder."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem, clean
from faultatlas.analysis.reexecution.runs import Outcome

_DEEPEST = 4  # files that are included by files
_MOST = 2000  # lines
_PACKAGES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".html")
# name @ file:///somewhere/name-1.0.whl ; python_version < "3.8"
_LOCAL = re.compile(
    r"([\w.-]+(?:\[[^\]]*\])?)\s*@\s*file:(?://(?:localhost)?)?([^\s;]+\.(?:whl|tar\.gz|zip))(\s*;.*)?",
    re.IGNORECASE,
)
_WEB = re.compile(r"https?://", re.IGNORECASE)
_SHORT = {"f": "find-links", "i": "index-url", "r": "requirement", "c": "constraint"}
# They only say how pip works, and change nothing about what is wanted.
_IDLE = (
    "trusted-host", "prefer-binary", "use-feature", "pre", "no-binary", "only-binary",
    "require-hashes", "process-dependency-links", "no-cache-dir", "upgrade",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One requirement as it stands; `name` is '' where it cannot be read."""

    text: str

    @cached_property
    def parsed(self) -> Requirement | None:
        """The requirement, where it is one; also what stands behind `;` can be answered."""
        try:
            found = Requirement(self.text)
            if found.marker is not None:
                found.marker.evaluate({"extra": ""})
        except ValueError:
            return None
        return found

    @property
    def name(self) -> str:
        """The package's normalised name."""
        return canonicalize_name(self.parsed.name) if self.parsed else ""

    @property
    def pin(self) -> Version | None:
        """The one version it asks for."""
        if self.parsed is None or self.parsed.url:
            return None
        for one in self.parsed.specifier:
            if one.operator in {"==", "==="} and not one.version.endswith(".*"):
                try:
                    return Version(one.version)
                except InvalidVersion:
                    return None
        return None

    @property
    def is_bounded(self) -> bool:
        """Whether it says anything about the version."""
        return self.parsed is not None and bool(self.parsed.specifier or self.parsed.url)

    @property
    def normal(self) -> str:
        """The same text for the same wish."""
        return str(self.parsed).lower() if self.parsed else self.text


@dataclass(frozen=True)
class Wish:
    """What is to be installed. Repairs turn one wish into another."""

    lines: tuple[Line, ...]
    constraints: tuple[str, ...] = ()  # bounds for what gets installed anyway
    links: tuple[str, ...] = ()  # folders inside the bug's, or addresses
    index: str = ""
    indexes: tuple[str, ...] = ()
    no_index: bool = False
    build_constraints: tuple[str, ...] = ()  # bounds for what builds need
    build_with: tuple[str, ...] = ()  # installed first: the builds of old packages import them
    torch: str = ""  # which builds of PyTorch: '', cpu, auto, cu118

    def named(self, name: str) -> Line | None:
        """The line about a package."""
        wanted = canonicalize_name(name)
        return next((line for line in self.lines if line.name == wanted), None)

    def bounds(self, name: str) -> bool:
        """Whether a version of this package is asked for."""
        wanted = canonicalize_name(name)
        held = (*self.lines, *(Line(text) for text in self.constraints))
        return any(line.name == wanted and line.is_bounded for line in held)

    def changed(self, old: Line, new: str | None) -> Wish:
        """With another line instead; None leaves it out."""
        lines = [Line(new) if line is old and new is not None else line for line in self.lines]
        kept = tuple(line for line in lines if not (line is old and new is None))
        return replace(self, lines=kept)

    def hashed(self) -> list[str]:
        """All that decides what is installed, in a fixed order and without paths of this host."""
        said = sorted(line.normal for line in self.lines)
        said += [f"constraint {text}" for text in sorted(self.constraints)]
        said += [f"link {_content(link)}" for link in self.links]
        said += [f"index {self.index} {self.no_index}", *(f"more {url}" for url in self.indexes)]
        said += [f"build constraint {text}" for text in sorted(self.build_constraints)]
        said += [f"build with {text}" for text in sorted(self.build_with)]
        # A local file counts by what is in it.
        for line in self.lines:
            file = local_file(line)
            if file is not None:
                said.append(f"file {_content(str(file))}")
        return [*said, f"torch {self.torch}"]


def local_files(texts: tuple[str, ...], base: Path) -> list[Path]:
    """Files of the bug's folder that decide what is installed: lists, bounds, packages."""
    reader = _Reader(base.resolve())
    # What is wrong with them is told when the environment is built.
    with suppress(EnvironmentProblem):
        reader.take("\n".join(texts), base.resolve(), 0)
    return sorted({file for place in reader.named for file in _packages(place)})


def local_file(line: Line) -> Path | None:
    """The file inside the bug's folder that a line names."""
    url = line.parsed.url if line.parsed else None
    if url and url.startswith("file://") and url.endswith(_PACKAGES):
        return Path(url.removeprefix("file://"))  # it was found to be inside when it was read
    return None


def _content(link: str) -> str:
    """What stands for a place in the hash: a folder's packages by name and content."""
    if _WEB.match(link):
        return link
    digest = hashlib.sha256()
    for file in _packages(Path(link)):
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _packages(place: Path) -> list[Path]:
    """A file; or what an installer takes from a folder."""
    if place.is_file():
        return [place]
    return sorted(
        file for file in place.glob("*") if file.name.endswith(_PACKAGES) and file.is_file()
    )


def read(texts: tuple[str, ...], base: Path | None) -> Wish:
    """The wish that the lines of a requirements file express."""
    reader = _Reader(base.resolve() if base else None)
    reader.take("\n".join(texts), base.resolve() if base else None, 0)
    return reader.wish


class _Reader:
    def __init__(self, base: Path | None) -> None:
        self.base = base
        self.wish = Wish(())
        self.count = 0
        self.named: list[Path] = []  # files and folders of the bug's

    def take(self, text: str, folder: Path | None, depth: int, *, bounds: bool = False) -> None:
        text = text.replace("\ufeff", "").replace("\r", "\n").replace("\x00", "")
        text = re.sub(r"\\\n", " ", text)
        for raw in text.split("\n"):
            line = re.sub(r"(^|\s)#.*$", "", clean(raw)).strip()
            line = re.sub(r"\s+--hash[= ]\S+", "", line)
            if not line:
                continue
            self.count += 1
            if self.count > _MOST:
                raise _wrong(f"the requirements have more than {_MOST} lines")
            if line.startswith("-"):
                self.option(line, folder, depth)
            elif bounds:
                self.wish = replace(self.wish, constraints=(*self.wish.constraints, line))
            else:
                self.requirement(line, folder)

    def option(self, line: str, folder: Path | None, depth: int) -> None:
        name, value = _split(line)
        if name in {"requirement", "constraint"}:
            if depth >= _DEEPEST:
                raise _wrong(f"{line!r}: files that include files that include files")
            file = self.inside(value, folder, line)
            self.take(_text(file, line), file.parent, depth + 1, bounds=name == "constraint")
        elif name == "find-links":
            place = value if _WEB.match(value) else str(self.inside(value, folder, line))
            self.wish = replace(self.wish, links=(*self.wish.links, place))
        elif name == "no-index":
            self.wish = replace(self.wish, no_index=True)
        elif name == "index-url":
            self.wish = replace(self.wish, index=_address(value, line))
        elif name == "extra-index-url":
            self.wish = replace(self.wish, indexes=(*self.wish.indexes, _address(value, line)))
        elif name == "editable":
            self.requirement(value, folder)
        elif name not in _IDLE:
            raise _wrong(f"{line!r}: this option is not known")

    def requirement(self, line: str, folder: Path | None) -> None:
        egg = re.search(r"#(?:.*&)?egg=([A-Za-z0-9_.-]+)", line)
        if re.search(r"(?:^|@\s*)\w+\+file:", line):
            raise _wrong(f"{line!r}: a place of this host is none of the bug's")
        if re.match(r"(git|hg|svn|bzr)\+", line) and egg:
            line = f"{egg[1]} @ {line.split('#', maxsplit=1)[0]}"
        elif local := _LOCAL.fullmatch(line):
            file = self.inside(unquote(local[2]), folder, line)
            line = f"{local[1]} @ file://{file}{local[3] or ''}"
        elif re.search(r"\.(whl|tar\.gz|zip)$", line) and "://" not in line:
            file = self.inside(line, folder, line)
            line = f"{file.name.split('-')[0]} @ file://{file}"
        elif re.match(r"[./]", line):
            raise _wrong(f"{line!r}: a folder is no package; put its files beside the bug's")
        self.wish = replace(self.wish, lines=(*self.wish.lines, Line(line)))

    def inside(self, value: str, folder: Path | None, line: str) -> Path:
        """A path of the bug's folder; one that leaves it is refused."""
        value = value.removeprefix("file://")
        if self.base is None or folder is None:
            raise _wrong(f"{line!r}: there is no folder that it could be in")
        place = (folder / value).resolve()
        if not place.is_relative_to(self.base):
            raise _wrong(f"{line!r} leaves the bug's folder")
        self.named.append(place)
        return place


def _text(file: Path, line: str) -> str:
    if not file.is_file() or file.stat().st_size > 1_000_000:
        raise _wrong(f"{line!r}: there is no such file in the bug's folder")
    return file.read_text(encoding="utf-8", errors="replace")


def _address(value: str, line: str) -> str:
    if not _WEB.match(value):
        raise _wrong(f"{line!r}: an index must be a web address")
    return value


def _split(line: str) -> tuple[str, str]:
    """Name and value of an option, however it is written."""
    long = re.match(r"--([a-z-]+)(?:[= ]\s*(.*))?$", line)
    if long:
        return long[1], (long[2] or "").strip().strip("'\"")
    short = re.match(r"-([a-zA-Z])\s*(.*)$", line)
    if short:
        letter, value = short[1], short[2].strip().strip("'\"")
        return {**_SHORT, "e": "editable", "U": "upgrade"}.get(letter, letter), value
    return line, ""


def _wrong(message: str) -> EnvironmentProblem:
    return EnvironmentProblem(Outcome.NO_ENVIRONMENT, f"requirements.txt: {clean(message)}")
