"""`--from FILE`: papers of a file, and `--known LIST`: those that a search should find.

The file is kept as it is, and its records are read from what was kept. One that was read before is
known by its hash.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.data.redaction import redact_bytes
from faultatlas.miner.archive import Exchange
from faultatlas.miner.checkpoints import Checkpoint
from faultatlas.miner.papers.files.reading import bytes_of, format_of, read_body
from faultatlas.miner.papers.ingest import NAME, PaperIngest
from faultatlas.miner.papers.reading import FILE, KNOWN

if TYPE_CHECKING:
    from datetime import datetime

    from faultatlas.miner.papers.entries import FileRead


@dataclass
class FileKept:
    """What a file held."""

    name: str
    format: str
    entries: int
    broken: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    was_known: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def keep_file(ingest: PaperIngest, path: Path, now: datetime, known: str = "") -> FileKept:
    """Bring a file into the study, as papers or as a list of known ones."""
    kind = format_of(path)
    return _keep(ingest, path.name, kind, bytes_of(path), now=now, known=known)


def keep_shipped(ingest: PaperIngest, name: str, now: datetime) -> FileKept:
    """Bring a shipped list of known papers into the study."""
    if name not in shipped_lists():
        raise StudyError(
            f"there is no shipped list {shown(name)}",
            f"Known: {', '.join(shipped_lists())}. Your own comes with --from FILE.",
        )
    body = (files(__package__) / "known_lists" / f"{name}.csv").read_bytes()
    return _keep(ingest, f"{name}.csv", "csv", body, now=now, known=name)


def shipped_lists() -> list[str]:
    """The names of the lists that are shipped."""
    found = (each.name for each in (files(__package__) / "known_lists").iterdir())
    return sorted(name.removesuffix(".csv") for name in found if name.endswith(".csv"))


def _keep(
    ingest: PaperIngest, name: str, kind: str, body: bytes, *, now: datetime, known: str
) -> FileKept:
    body = redact_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    read = _read(name, body, kind)
    request = {"kind": KNOWN if known else FILE, "file": name, "format": kind, "sha256": digest}
    if known:
        request["list"] = known
    # A list is what was read last under its name; a file is a file.
    stream = f"{ingest.project} {request['kind']} {known or f'{digest} {name}'}"
    before = ingest.begun(stream)
    is_known = before is not None and before.selection.get("sha256") == digest
    if not is_known:
        exchange = Exchange(
            run_id=ingest.run.run_id,
            source=NAME,
            project=ingest.project,
            request=request,
            url=name,
            final_url=name,
            status=200,
            headers={},
            fetched_at=now,
            body=body,
        )
        about = {"sha256": digest}
        ingest.keep(exchange, Checkpoint(stream, ingest.project, about, name, is_complete=True))
    broken = [{"file": name, **asdict(each)} for each in read.broken]
    return FileKept(name, kind, len(read.entries), broken, read.notes, is_known)


def _read(name: str, body: bytes, kind: str) -> FileRead:
    try:
        read = read_body(body, kind)
    except StudyError as error:
        raise StudyError(f"{name}: {error.message}", error.hint) from None
    except csv.Error as error:
        raise StudyError(f"{name} is no CSV: {error}", "Export it again.") from None
    if not read.entries:
        broken = "".join(
            f"; of {len(read.broken):,} broken entries the first on line {each.line}: {each.reason}"
            for each in read.broken[:1]
        )
        raise StudyError(
            f"{name} holds no whole paper{broken}",
            "Check that it is the file that the index exported.",
        )
    return read
