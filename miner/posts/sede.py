"""`--from-sede FILE.csv`: what a query of the Stack Exchange Data Explorer gave, brought in parts.

Each part is kept as a response of its own, with those columns that are understood, cells as the
file has them. A file that was read before is known by its hash, and one that was left in the
middle is read on.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.miner import checkpoints
from faultatlas.miner.archive import Exchange
from faultatlas.miner.checkpoints import Checkpoint
from faultatlas.miner.posts import sede_rows
from faultatlas.miner.posts.ingest import NAME, PostIngest
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from datetime import datetime

MOST_ROWS = 50_000  # that the Data Explorer gives
PART_ROWS = 2_000
_PART_BYTES = 8_000_000
_HINT = "Take the file that the Data Explorer gives with Download CSV, of a query on Posts."


@dataclass
class SedeRead:
    """What a file held."""

    rows: int = 0
    questions: int = 0
    answers: int = 0
    others: int = 0  # wikis, and lines that are no post
    was_known: bool = False

    @property
    def may_be_cut(self) -> bool:
        """Whether the query may have found more than the file has."""
        return self.rows == MOST_ROWS


def read_sede(
    ingest: PostIngest, path: Path, now: datetime, tell: Callable[[str], None]
) -> SedeRead:
    """Bring a file into the study, in one transaction a part."""
    digest = _digest(path)
    stream = f"{ingest.project} sede {digest}"
    point = _begun(ingest, stream)
    done = int(point.since or 0) if point else 0
    read = SedeRead(was_known=bool(point and point.is_complete))
    about = {"file": path.name, "sha256": digest}
    for part, (body, rows, is_last) in enumerate(_parts(path, read), 1):
        if read.was_known or part <= done:
            continue
        exchange = Exchange(
            run_id=ingest.run.run_id,
            source=NAME,
            project=ingest.project,
            request={"kind": "sede", **about, "part": part, "rows": rows},
            url=path.name,
            final_url=path.name,
            status=200,
            headers={},
            fetched_at=now,
            body=body,
        )
        after = Checkpoint(stream, ingest.project, about, path.name, str(part), is_complete=is_last)
        ingest.keep(exchange, [after])
    if read.was_known:
        tell(f"{path.name} was read before; nothing is new")
    if not read.questions + read.answers:
        raise StudyError(f"{path} holds no question and no answer", _HINT)
    if read.may_be_cut:
        tell(
            f"{path.name} has exactly {MOST_ROWS:,} rows, the most that the Data Explorer gives: "
            "there may be more; cut the query into ranges of Id, and read each file"
        )
    if read.others:
        tell(f"{counted(read.others, 'line')} of {path.name} are neither question nor answer")
    return read


def _parts(path: Path, read: SedeRead) -> Iterator[tuple[bytes, int, bool]]:
    """The file in parts, each with the header; its rows, and whether it is the last."""
    csv.field_size_limit(sede_rows.LONGEST_CELL)
    waiting: tuple[bytes, int] | None = None
    for body, rows in _bodies(path, read):
        if waiting:
            yield *waiting, False
        waiting = body, rows
    if waiting:
        yield *waiting, True


def _bodies(path: Path, read: SedeRead) -> Iterator[tuple[bytes, int]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        try:
            header = next(lines, [])
            names = _checked(path, header)
            part, size = _Part(header, names), 0
            for line in lines:
                if not any(cell.strip() for cell in line):
                    continue
                if not _is_counted(read, dict(zip(names, line, strict=False))):
                    continue
                size += part.add(line)
                if part.rows >= PART_ROWS or size >= _PART_BYTES:
                    yield part.body(), part.rows
                    part, size = _Part(header, names), 0
            if part.rows:
                yield part.body(), part.rows
        except UnicodeDecodeError:
            raise StudyError(f"{path} is not UTF-8", _HINT) from None
        except csv.Error as error:
            raise StudyError(f"{path}, line {lines.line_num} is no CSV: {error}", _HINT) from None


class _Part:
    def __init__(self, header: list[str], names: list[str]) -> None:
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, lineterminator="\r\n")
        self._places = [at for at, name in enumerate(names) if name in sede_rows.KNOWN]
        self._links = [at for at, name in enumerate(names) if name == "userlink"]
        self._writer.writerow([header[at] for at in self._places])
        self.rows = 0

    def add(self, line: list[str]) -> int:
        """Write one more line; its size."""
        self.rows += 1
        for at in self._links:  # a link is a number here; what else stands there may be a name
            if at < len(line) and not line[at].strip().lstrip("-").isdecimal():
                line[at] = ""
        kept = [line[at] for at in self._places if at < len(line)]
        return int(self._writer.writerow(kept))

    def body(self) -> bytes:
        return self._text.getvalue().encode("utf-8", "replace")


def _checked(path: Path, header: list[str]) -> list[str]:
    names = sede_rows.columns(header)
    if "postid" in names and "text" in names:
        raise StudyError(f"{path} is of the table Comments, not of Posts", _HINT)
    if not {"id", "postlink"} & {*names}:
        found = ", ".join(header)[:100] or "nothing"
        raise StudyError(
            f"{path} has no column Id; its first line is: {found}",
            "Select Id in the query, and as many other columns of Posts as you can.",
        )
    return names


def _is_counted(read: SedeRead, cells: dict[str, str]) -> bool:
    """Count a line; whether it is a question or an answer."""
    read.rows += 1
    kind = sede_rows.kind_of(cells) if sede_rows.post_number(cells) else None
    if kind == sede_rows.QUESTION:
        read.questions += 1
    elif kind == sede_rows.ANSWER and sede_rows.integer(cells, "parentid"):
        read.answers += 1
    else:
        read.others += 1
        return False
    return True


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read: {error.strerror or 'no such file'}", "Check the path."
        ) from None


def _begun(ingest: PostIngest, stream: str) -> Checkpoint | None:
    if not ingest.study.exists:
        return None
    with ingest.study.writing(keep_log=True) as writer:
        return checkpoints.load(writer, stream)
