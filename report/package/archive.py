"""The files of a package: one zip file, the same bytes for the same content; read with suspicion.

What is read may come from anybody: names that leave the folder, links, bombs and damaged files
are refused before anything is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from faultatlas.data.errors import StudyError
from faultatlas.report.console import explained
from faultatlas.report.formatting import counted, plain

SUMS = "SHA256SUMS"
ROOT = "replication-package"  # the folder in the zip file

MOST_FILES = 20_000
MOST_BYTES = 8 * 2**30
_RATIO = 1_000  # deflate cannot do more; and a column of one value comes near it
_CHUNK = 2**20
_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can hold
_REGULAR = 0o644
_NAME = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_AGAIN = "Get the package again from where it is published."


def write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the package; it appears whole or not at all."""
    if odd := [name for name in sorted(files) if not is_inside(name)]:
        raise StudyError(
            f"{plain(odd[0])!r} cannot be the name of a file in a package",
            "Rename it: letters, digits, dots, dashes and underscores.",
        )
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    content = {**files, SUMS: sums(files)}
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(content):
                info = zipfile.ZipInfo(f"{ROOT}/{name}", _TIME)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.create_system = 3  # Unix, wherever it is made
                info.external_attr = (stat.S_IFREG | _REGULAR) << 16
                archive.writestr(info, content[name])
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def sums(files: Mapping[str, bytes]) -> bytes:
    """The checksums of all files, as `sha256sum --check` reads them."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    return "".join(lines).encode()


def opened(source: Path, folder: Path) -> Path:
    """The folder with the files of a package, whole and as its checksums say."""
    if source.is_dir():
        place = source / ROOT if (source / ROOT / SUMS).is_file() else source
    else:
        place = _unpacked(source, folder)
    _check_sums(place, source)
    return place


def _unpacked(source: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(source) as archive:
            members = [each for each in archive.infolist() if not each.is_dir()]
            _refuse_hostile(source, members)
            for member in members:
                _extract(archive, member, folder / member.filename)
    except OSError as error:  # a full disk, a file that may not be read
        raise explained(error, plain(source.name)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise StudyError(
            f"{plain(source.name)} is no package, or a damaged one: {plain(error)}", _AGAIN
        ) from error
    return folder / ROOT


def _refuse_hostile(source: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse what a package made here never has."""
    name = plain(source.name)
    size = sum(each.file_size for each in members)
    if len(members) > MOST_FILES or size > MOST_BYTES:
        raise StudyError(
            f"{name} would unpack to {counted(len(members), 'file')} with {size:,} bytes",
            f"More than {MOST_FILES:,} files or {MOST_BYTES:,} bytes are not unpacked.",
        )
    folders = {
        str(each).casefold() for one in members for each in PurePosixPath(one.filename).parents
    }
    seen: set[str] = set()
    for each in members:
        kind = stat.S_IFMT(each.external_attr >> 16)
        problem = (
            "leads out of the package"
            if not is_inside(each.filename) or not each.filename.startswith(f"{ROOT}/")
            else "is no ordinary file"
            if kind not in (0, stat.S_IFREG)
            else "stands there twice"
            if each.filename.casefold() in seen | folders
            else "is packed in another way"
            if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            else "would grow without end"
            if each.file_size > _RATIO * max(each.compress_size, _CHUNK // _RATIO)
            else ""
        )
        if problem:
            raise StudyError(
                f"{name} is no package of this program: {plain(each.filename)!r} {problem}",
                "Nothing was unpacked. Do not trust this file.",
            )
        seen.add(each.filename.casefold())  # on some disks case is nothing


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    left = member.file_size
    with archive.open(member) as packed, target.open("xb") as file:
        while chunk := packed.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise zipfile.BadZipFile(f"{plain(member.filename)} is longer than it says")
            file.write(chunk)


def _check_sums(place: Path, source: Path) -> None:
    """Every file is there, is what the checksums say, and nothing else is there."""
    expected = _sums_of(place, source)
    there = {path.relative_to(place).as_posix(): path for path in _files(place)}
    there.pop(SUMS, None)
    problems = [f"{name} is missing" for name in sorted(expected.keys() - there.keys())]
    problems += [f"{name} is not in {SUMS}" for name in sorted(there.keys() - expected.keys())]
    problems += [
        f"{name} has changed"
        for name in sorted(there.keys() & expected.keys())
        if _digest(there[name]) != expected[name]
    ]
    if problems:
        raise StudyError(
            f"{plain(source.name)} is not what was packed: {plain('; '.join(problems[:5]))}"
            + (f" and {len(problems) - 5:,} more" if len(problems) > 5 else ""),
            _AGAIN,
        )


def _sums_of(place: Path, source: Path) -> dict[str, str]:
    try:
        lines = (place / SUMS).read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        raise StudyError(
            f"{plain(source.name)} is no package: it has no {SUMS}",
            "Name the .zip file that report package made, or the folder that it was unpacked to.",
        ) from None
    found = [_SUM.fullmatch(line) for line in lines]
    if not all(found):
        raise StudyError(f"{plain(source.name)} is damaged: {SUMS} cannot be read", _AGAIN)
    return {match[2]: match[1] for match in found if match}


def _files(place: Path) -> Iterator[Path]:
    for path in sorted(place.rglob("*")):
        if path.is_symlink():
            raise StudyError(
                f"{plain(path.name)} in the package is a link",
                "A package has ordinary files only. Do not trust this one.",
            )
        if path.is_file():
            yield path


def is_inside(name: str) -> bool:
    """Whether a name in a package stays in it."""
    return bool(_NAME.fullmatch(name)) and not {".", ".."} & set(name.split("/"))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
