"""The zip file of a package: the same bytes for the same content, and read with suspicion.

A package may come from anybody: names that lead out of the folder, links, bombs and damaged files
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
_SMALL, _RATIO = 256 * 2**20, 100  # a larger package unpacks to so many times its size at most
_RATIO_OF_FILE = 1_000  # deflate cannot do more; a column of one value comes near it
_CHUNK = 2**20
_LARGEST_SUMS = 8 * 2**20
_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can hold
_REGULAR = 0o644
_NAME = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_AGAIN = "Get the package again from where it is published."


# --- writing -----------------------------------------------------------------------------


def write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the package; it appears complete or not at all. It is meant for others to read."""
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


# --- reading -----------------------------------------------------------------------------


def open_package(source: Path, folder: Path) -> Path:
    """The folder with the files of a package, complete and as its checksums say."""
    if source.is_dir():
        files = source / ROOT if (source / ROOT / SUMS).is_file() else source
    else:
        files = _unpacked(source, folder)
    _check_sums(files, source)
    return files


def _unpacked(source: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _refuse_large(source, members)
            _refuse_hostile(source, members)
            for member in members:
                _extract(archive, member, folder / member.filename)
    except OSError as error:  # a full disk, a file that may not be read
        raise explained(error, plain(source.name)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise StudyError(
            f"{plain(source.name)} is not a package, or a damaged one: {plain(error)}", _AGAIN
        ) from error
    return folder / ROOT


def _refuse_large(source: Path, members: list[zipfile.ZipInfo]) -> None:
    size = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    most = min(MOST_BYTES, max(_SMALL, _RATIO * packed))
    if len(members) > MOST_FILES or size > most:
        raise StudyError(
            f"{plain(source.name)} would unpack to {counted(len(members), 'file')} with "
            f"{size:,} bytes",
            f"At most {MOST_FILES:,} files and {most:,} bytes are unpacked.",
        )


def _refuse_hostile(source: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse what a package made here never has."""
    folders = {
        str(folder).casefold()
        for member in members
        for folder in PurePosixPath(member.filename).parents
    }
    names: set[str] = set()
    for member in members:
        name = member.filename.casefold()  # on some disks case is nothing
        kind = stat.S_IFMT(member.external_attr >> 16)
        problem = (
            "leads out of the package"
            if not is_inside(member.filename) or not member.filename.startswith(f"{ROOT}/")
            else "is not an ordinary file"
            if kind not in (0, stat.S_IFREG)
            else "occurs twice"
            if name in names | folders
            else "uses an unsupported compression method"
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            else "has an implausible compression ratio"
            if member.file_size
            > _RATIO_OF_FILE * max(member.compress_size, _CHUNK // _RATIO_OF_FILE)
            else ""
        )
        if problem:
            raise StudyError(
                f"{plain(source.name)} is not a package of this program: "
                f"{plain(member.filename)!r} {problem}",
                "Nothing was unpacked. Do not trust this file.",
            )
        names.add(name)


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    left = member.file_size
    with archive.open(member) as packed, target.open("xb") as file:
        while chunk := packed.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise zipfile.BadZipFile(f"{plain(member.filename)} is longer than it states")
            file.write(chunk)


def _check_sums(folder: Path, source: Path) -> None:
    """Every file is there, is what the checksums say, and nothing else is there."""
    expected = _expected_sums(folder, source)
    paths = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    paths.pop(SUMS, None)
    problems = [f"{name} is missing" for name in sorted(expected.keys() - paths.keys())]
    problems += [f"{name} is not in {SUMS}" for name in sorted(paths.keys() - expected.keys())]
    problems += [
        f"{name} has changed"
        for name in sorted(paths.keys() & expected.keys())
        if _digest(paths[name]) != expected[name]
    ]
    if problems:
        more = f" and {len(problems) - 5:,} more" if len(problems) > 5 else ""
        raise StudyError(
            f"{plain(source.name)} is not what was packed: {plain('; '.join(problems[:5]))}{more}",
            _AGAIN,
        )


def _expected_sums(folder: Path, source: Path) -> dict[str, str]:
    try:
        with (folder / SUMS).open("rb") as file:
            lines = file.read(_LARGEST_SUMS).decode("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        raise StudyError(
            f"{plain(source.name)} is not a package: it has no {SUMS}",
            "Name the .zip file that report package made, or the folder that it was unpacked to.",
        ) from None
    matches = [_SUM.fullmatch(line) for line in lines]
    if not all(matches):
        raise StudyError(f"{plain(source.name)} is damaged: {SUMS} cannot be read", _AGAIN)
    return {match[2]: match[1] for match in matches if match}


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
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
