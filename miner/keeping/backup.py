"""`miner backup`: one file with a whole study, as it is between two writes to it, and checked.

It is an ordinary `.tar.gz`: unpacked into an empty directory it is a study again. The key of
the pseudonyms stays out unless the user asks for it, and so do reports. The database in it is
written anew, so that it holds nothing of what was deleted. Bugs and their finished runs are in it:
without the files nothing could be run or judged again.
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
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import program_version
from faultatlas.data.schema import quoted, schema
from faultatlas.data.settings import SETTINGS
from faultatlas.data.study import DATABASE, Study
from faultatlas.miner import lexicon
from faultatlas.miner.keeping.files_of_bugs import files

_CONTENTS = "backup.json"
_KEY = "study.key"
_OWN_FILES = (SETTINGS, "claims.toml")
_OWN_FOLDERS = {"taxonomies": "*.y*ml", "crosswalks": "*.y*ml", lexicon.OWN: "*.txt"}
_CHUNK = 1 << 20
_MOST_BYTES = 64 << 20  # of one read, and of a member that is no database: more is no study
_BROKEN = (
    tarfile.TarError,
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    ValueError,
    TypeError,
    KeyError,
)


def backup(
    study: Study, target: Path | None = None, *, with_key: bool = False, replace: bool = False
) -> dict[str, Any]:
    """Write the study to one file; it appears whole or not at all."""
    made_at = utc_now()
    name = f"{study.directory.resolve().name or 'study'}-{made_at:%Y%m%dT%H%M%SZ}.tar.gz"
    target = target or Path(name)
    if target.is_dir():
        target /= name
    if target.exists() and not replace:
        raise _there_already(target)
    if not study.exists:
        with study.reading():  # says so
            pass
    with _explained(target), _workplace(target) as folder:
        database = folder / DATABASE
        study.copy_to(database)
        of_bugs, left_out = files(study.directory, _MOST_BYTES)
        members = {DATABASE: database, **_members(study.directory, with_key=with_key), **of_bugs}
        draft = folder / "backup.tar.gz"
        _write(draft, members, _count(database), made_at.isoformat())
        database.unlink()  # the check unpacks it once more
        found = check(draft, folder)
        _name(draft, target, replace=replace)
    return {
        **found,
        "file": str(target),
        "bytes": target.stat().st_size,
        "with_key": with_key,
        "files_of_bugs": len(of_bugs),
        "left_out": left_out,
    }


def check_file(file: Path | None) -> dict[str, Any]:
    """`--check`: whether a backup is whole."""
    if file is None:
        raise StudyError("no file is named", "Write: miner backup FILE --check")
    if not file.is_file():
        raise StudyError(f"there is no file {file}", "Check the path.")
    return check(file)


def check(file: Path, workplace: Path | None = None) -> dict[str, Any]:
    """Read a backup to its end, compare every member, open the study in it and count its rows."""
    with _explained(file), tempfile.TemporaryDirectory(dir=workplace) as folder:
        try:
            said = _unpack(file, Path(folder))
        except _BROKEN as error:
            raise _damaged(file, str(error) or type(error).__name__) from error
        if said["schema"] > schema().version:
            raise StudyError(f"{file} was made by a newer faultatlas", "Upgrade faultatlas.")
        try:
            counted = _count(Path(folder) / DATABASE)
        except StudyError as error:
            raise _damaged(file, error.message.replace(f"{folder}{os.sep}", "")) from error
    if said["rows"] != {table: counted.get(table) for table in said["rows"]}:
        raise _damaged(file, "its study has other rows than when it was made")
    return {"made_at": said["made_at"], "version": said["version"], "rows": said["rows"]}


def _count(database: Path) -> dict[str, int]:
    """Rows by table."""
    with Study(database.parent).reading() as reader:
        tables = reader.rows(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'store' ORDER BY ALL"
        )
        names = [row["table_name"] for row in tables]
        return {name: reader.value(f"SELECT count(*) FROM store.{quoted(name)}") for name in names}


@contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """A folder beside the target, on the same disk; those of killed processes are removed."""
    for old in target.parent.glob(f".{target.name}.*.new"):
        if not _is_running(old.name.split(".")[-2]):
            shutil.rmtree(old, ignore_errors=True)
    folder = target.parent / f".{target.name}.{os.getpid()}.new"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return int(process) != os.getpid()


def _members(directory: Path, *, with_key: bool) -> dict[str, Path]:
    names = [*_OWN_FILES, *([_KEY] if with_key else [])]
    found = {name: directory / name for name in names if (directory / name).is_file()}
    for folder, pattern in _OWN_FOLDERS.items():
        for path in sorted((directory / folder).glob(pattern)):
            if path.is_file() and not path.is_symlink():
                found[f"{folder}/{path.name}"] = path
    return found


def _write(draft: Path, members: dict[str, Path], rows: dict[str, int], made_at: str) -> None:
    said = {
        "made_at": f"{made_at}Z",
        "version": program_version(),
        "schema": schema().version,
        "rows": rows,
        "sha256": {name: _digest(path) for name, path in members.items()},
    }
    text = json.dumps(said, indent=1, sort_keys=True).encode()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            first = tarfile.TarInfo(_CONTENTS)
            first.size = len(text)
            archive.addfile(_anonymous(first), io.BytesIO(text))
            for name, path in members.items():
                archive.add(path, name, recursive=False, filter=_anonymous)
        file.flush()
        os.fsync(file.fileno())


def _name(draft: Path, target: Path, *, replace: bool) -> None:
    if replace:
        draft.replace(target)
        return
    try:
        os.link(draft, target)  # unlike renaming, it replaces nothing
    except FileExistsError:
        raise _there_already(target) from None
    except OSError:  # a file system without links
        draft.replace(target)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without the name of the account that made it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _unpack(file: Path, folder: Path) -> dict[str, Any]:
    """What the backup says of itself; the database is unpacked, everything is compared."""
    with (
        gzip.open(file) as unpressed,
        # mypy takes a class of ours for no file.
        tarfile.open(fileobj=_Bounded(unpressed), mode="r:") as archive,  # type: ignore[call-overload]
    ):
        said = _read_contents(archive)
        known = dict(said["sha256"])
        while (member := archive.next()) is not None:
            if member.name not in known or not member.isfile():
                raise ValueError(f"{member.name!r} does not belong there")
            _compare(archive, member, known.pop(member.name), folder)
    if known or not (folder / DATABASE).exists():
        raise ValueError(f"it lacks {', '.join(sorted(known)) or DATABASE}")
    return said


def _read_contents(archive: tarfile.TarFile) -> dict[str, Any]:
    first = archive.next()
    file = archive.extractfile(first) if first and first.name == _CONTENTS else None
    if file is None:
        raise ValueError(f"it does not begin with {_CONTENTS}")
    said = json.loads(file.read(_MOST_BYTES))
    kinds = {"sha256": dict, "rows": dict, "schema": int, "made_at": str, "version": str}
    if not all(isinstance(said[name], kind) for name, kind in kinds.items()):
        raise ValueError(f"{_CONTENTS} is no list of contents")
    return dict(said)


def _compare(archive: tarfile.TarFile, member: tarfile.TarInfo, known: str, folder: Path) -> None:
    """Only the study itself is unpacked, under its own name; nothing can leave the folder."""
    is_database = member.name == DATABASE
    if not is_database and member.size > _MOST_BYTES:
        raise ValueError(f"{member.name} is too large")
    if is_database and member.size > shutil.disk_usage(folder).free:
        raise StudyError(
            f"there is no room in {folder.parent} to unpack {member.size:,} bytes",
            "Free disk space there, or set TMPDIR to a folder with more of it.",
        )
    digest = hashlib.sha256()
    target = folder / DATABASE if is_database else Path(os.devnull)
    with archive.extractfile(member) or io.BytesIO() as file, target.open("wb") as to:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            to.write(chunk)
    if digest.hexdigest() != known:
        raise ValueError(f"{member.name} was changed or is cut off")


class _Bounded:
    """A file that gives little at a time: a header may claim gigabytes, and tarfile believes it."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _MOST_BYTES:
            raise ValueError("a header in it is too large")
        return self._file.read(size)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    # Not at the top: a cli imports this module, and rich takes its time.
    from faultatlas.report.console import explained

    try:
        yield
    except OSError as error:
        raise explained(error, file) from error


def _there_already(target: Path) -> StudyError:
    return StudyError(f"{target} is there already", "Name another file, or add --replace.")


def _damaged(file: Path, why: str) -> StudyError:
    return StudyError(f"{file} is no whole backup of a study: {why}", "Use another backup.")
