"""`miner backup`: one file with a whole study, made while nothing is written to it, and checked.

It is an ordinary `.tar.gz`: unpacked into an empty directory it is a study again. The key of
the pseudonyms stays out unless the user asks for it, and so do reports.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from data.errors import StudyError
from data.provenance import program_version, utc_now
from data.store import DATABASE, SETTINGS, Study

_CONTENTS = "backup.json"
_KEY = "study.key"
_FOLDERS = ("taxonomies", "crosswalks")
_MOST_BYTES = 1 << 40  # of one member: more is no study
_CHUNK = 1 << 20


def backup(
    study: Study, target: Path | None = None, *, with_key: bool = False, overwrite: bool = False
) -> dict[str, Any]:
    """Write the study to one file; it appears whole or not at all."""
    made_at = utc_now()
    name = study.directory.resolve().name or "study"
    target = target or Path(f"{name}-{made_at:%Y%m%dT%H%M%SZ}.tar.gz")
    if target.exists() and not overwrite:
        raise StudyError(f"{target} is there already", "Name another file, or add --overwrite.")
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with _at_rest(study) as counts:
            _write(draft, _members(study.directory, with_key=with_key), counts, made_at.isoformat())
        found = check(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return {**found, "file": str(target), "bytes": target.stat().st_size, "with_key": with_key}


def check_file(file: Path | None) -> dict[str, Any]:
    """`--check`: whether a backup is whole."""
    if file is None:
        raise StudyError("no file is named", "Write: miner backup FILE --check")
    if not file.is_file():
        raise StudyError(f"there is no file {file}", "Check the path.")
    return check(file)


def check(file: Path) -> dict[str, Any]:
    """Read a backup to its end, compare every member, open the study in it and count its rows."""
    try:
        with tarfile.open(file, "r:gz") as archive, tempfile.TemporaryDirectory() as folder:
            said = _read_contents(archive)
            for member in archive:
                _compare(archive, member, said["sha256"], Path(folder))
            missing = set(said["sha256"]) - {DATABASE, *_unpacked(archive)}
            if missing or not (Path(folder) / DATABASE).exists():
                raise _damaged(file, f"it lacks {', '.join(sorted(missing)) or DATABASE}")
            counted = _count(Study(Path(folder)))
    except (tarfile.TarError, EOFError, OSError, gzip.BadGzipFile, ValueError, KeyError) as error:
        raise _damaged(file, str(error) or type(error).__name__) from error
    if counted != said["rows"]:
        raise _damaged(file, "its study has other rows than when it was made")
    return {"made_at": said["made_at"], "version": said["version"], "rows": counted}


@contextmanager
def _at_rest(study: Study) -> Iterator[dict[str, int]]:
    """The rows of a study while nobody can write to it, and its log is in its file."""
    log = study.database.with_name(f"{DATABASE}.wal")
    while True:
        with study.reading():
            pass  # refuses what is no study
        with study.writing():
            pass  # brings the log into the file
        with study.reading() as reader:  # keeps writers out
            if not log.exists():
                yield _rows(reader)
                return


def _count(study: Study) -> dict[str, int]:
    with study.reading() as reader:
        return _rows(reader)


def _rows(reader: Any) -> dict[str, int]:
    tables = reader.rows(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'store' ORDER BY ALL"
    )
    names = [row["table_name"] for row in tables]
    return {name: reader.value(f"SELECT count(*) FROM store.{name}") for name in names}


def _members(directory: Path, *, with_key: bool) -> dict[str, Path]:
    names = [DATABASE, SETTINGS, *([_KEY] if with_key else [])]
    found = {name: directory / name for name in names if (directory / name).is_file()}
    for folder in _FOLDERS:
        for path in sorted((directory / folder).glob("*.y*ml")):
            if path.is_file() and not path.is_symlink():
                found[f"{folder}/{path.name}"] = path
    return found


def _write(draft: Path, members: dict[str, Path], rows: dict[str, int], made_at: str) -> None:
    said = {
        "made_at": f"{made_at}Z",
        "version": program_version(),
        "rows": rows,
        "sha256": {name: _digest(path) for name, path in members.items()},
    }
    text = json.dumps(said, indent=1, sort_keys=True).encode()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        first = tarfile.TarInfo(_CONTENTS)
        first.size = len(text)
        archive.addfile(first, io.BytesIO(text))
        for name, path in members.items():
            archive.add(path, name, recursive=False, filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without the name of the account that made it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _read_contents(archive: tarfile.TarFile) -> dict[str, Any]:
    first = archive.next()
    file = archive.extractfile(first) if first and first.name == _CONTENTS else None
    if file is None:
        raise ValueError(f"it does not begin with {_CONTENTS}")
    said = json.loads(file.read(_CHUNK))
    if not isinstance(said, dict) or not isinstance(said.get("sha256"), dict):
        raise TypeError(f"{_CONTENTS} is no list of contents")
    return said


def _compare(
    archive: tarfile.TarFile, member: tarfile.TarInfo, known: dict[str, str], folder: Path
) -> None:
    """Only the study itself is unpacked, under its own name; nothing can leave the folder."""
    if member.name == _CONTENTS:
        return
    file = archive.extractfile(member) if member.isfile() and member.size < _MOST_BYTES else None
    if file is None or member.name not in known:
        raise ValueError(f"{member.name!r} does not belong there")
    digest = hashlib.sha256()
    with (
        file,
        (folder / DATABASE if member.name == DATABASE else Path(os.devnull)).open("wb") as to,
    ):
        shutil.copyfileobj(_Read(file, digest), to, _CHUNK)
    if digest.hexdigest() != known[member.name]:
        raise ValueError(f"{member.name} was changed or is cut off")


def _unpacked(archive: tarfile.TarFile) -> set[str]:
    return {member.name for member in archive.getmembers()}


class _Read:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file = file
        self._digest = digest

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._file.read(size)
        self._digest.update(chunk)
        return chunk


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(file: Path, why: str) -> StudyError:
    return StudyError(f"{file} is no whole backup of a study: {why}", "Use another backup.")
