"""`--from-dump Posts.xml`: questions of a data dump by their tags, with answers and comments.

The file goes by once for the questions, and once more for the answers to those that were kept.
One transaction a part, with its rows as they stand in the file and the place that was
reached: killed at any instant, the same command goes on behind the last part. A file that
differs before that place is another one, and is read from its start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.clock import utc_now
from faultatlas.miner.archive import Exchange
from faultatlas.miner.posts import dump_state, dump_stored
from faultatlas.miner.posts.dump_files import DumpFile, comments_file, posts_file
from faultatlas.miner.posts.dump_pick import (
    Answers,
    Comments,
    Picker,
    Questions,
    list_name,
    lists_of,
)
from faultatlas.miner.posts.dump_result import DumpRead, FileRead
from faultatlas.miner.posts.dump_rows import Kind
from faultatlas.miner.posts.dump_scan import Part, Scan
from faultatlas.miner.posts.dump_site import check_site
from faultatlas.miner.posts.dump_state import Reached
from faultatlas.miner.posts.dump_tally import Tally
from faultatlas.miner.posts.ingest import NAME
from faultatlas.miner.posts.naming import STACK_OVERFLOW

if TYPE_CHECKING:
    from faultatlas.data.study import Writer
    from faultatlas.miner.posts.ingest import PostIngest
    from faultatlas.miner.posts.selection import PostSelection

Progress = Callable[[str, int, int | None], None]  # file, bytes read, bytes in all if known


def read_dump(
    ingest: PostIngest,
    path: Path,
    selection: PostSelection,
    *,
    tell: Callable[[str], None] = lambda _message: None,
    progress: Progress = lambda _name, _done, _total: None,
) -> DumpRead:
    """Bring the questions of a dump into the study, or go on where that was left."""
    posts = posts_file(path)
    if not check_site(path, selection.site) and selection.site == STACK_OVERFLOW:
        tell(
            f"{posts.name} is taken as {STACK_OVERFLOW}, the default: the file does not say; "
            "--site NAME for another"
        )
    dump = _Dump(ingest, selection, tell, progress)
    questions = dump.questions(posts)
    answers = comments = None
    if questions.has_changed:  # somebody is still writing it
        return DumpRead(questions, None, None, takes_all=False)
    tags = tuple(map(list_name, lists_of(selection)))
    if not ingest.study.exists:  # nothing was found
        return DumpRead(questions, None, None, takes_all=False, tags=tags)
    if selection.answers:
        answers = dump.answers(posts, questions)
    is_sound = answers is None or not answers.has_changed
    if is_sound and selection.comments and (beside := comments_file(posts)):
        comments = dump.comments(beside, questions)
    takes_all = not (selection.tags or selection.accepted or selection.since)
    found = DumpRead(questions, answers, comments, takes_all, tags)
    if found.was_known:
        tell(f"{posts.name} was read before; nothing is new")
    return found


@dataclass(frozen=True)
class _Job:
    """What is read out of which file."""

    kind: Kind
    file: DumpFile
    turn: int
    known_to: int


class _Dump:
    """One reading of a dump, with one selection."""

    def __init__(
        self,
        ingest: PostIngest,
        selection: PostSelection,
        tell: Callable[[str], None],
        progress: Progress,
    ) -> None:
        self._ingest = ingest
        self._selection = selection
        self._tell = tell
        self._progress = progress
        self._marks: dict[Path, tuple[int, int]] = {}

    def questions(self, file: DumpFile) -> FileRead:
        """The questions that are meant."""
        before = self._reached("dump questions")
        picker = Questions(self._selection, self._who)
        with self._opened(file, picker, before) as (scan, there):
            if there and there.is_complete:
                return _known(there)
            turn = there.turn if there else before.turn + 1 if before else 1
            return self._read(_Job("dump questions", file, turn, 0), scan, there)

    def answers(self, file: DumpFile, questions: FileRead) -> FileRead:
        """The answers to them."""
        job = _Job("dump answers", file, questions.turn, questions.position)
        before = self._reached(job.kind, questions)
        if before and before.is_complete and before.digest == questions.digest:
            return _known(before)
        picker = Answers(self._selection.site, self._who, self._questions(questions))
        with self._opened(file, picker, before) as (scan, there):
            if there and there.known_to < job.known_to:
                new = self._questions(questions, there.known_to)
                self._catch_up(job, Answers(self._selection.site, self._who, new), there)
            return self._read(job, scan, there)

    def comments(self, file: DumpFile, questions: FileRead) -> FileRead:
        """The comments on both."""
        job = _Job("dump comments", file, questions.turn, questions.position)
        before = self._reached(job.kind, questions)
        picker = self._comments_on(questions)
        with self._opened(file, picker, before) as (scan, there):
            if there and there.known_to < job.known_to:
                self._catch_up(job, self._comments_on(questions, there.known_to), there)
            if there and there.is_complete:
                return _known(there)
            return self._read(job, scan, there)

    def _read(self, job: _Job, scan: Scan, there: Reached | None) -> FileRead:
        """The rest of a file, one transaction a part."""
        tally = scan.picker.tally
        has_changed, is_complete = False, False
        at, digest = there.position if there else 0, there.digest if there else ""
        for part in scan.parts():
            has_changed = part.is_last and self._has_changed(job.file)
            if has_changed:  # the next run looks at this part again
                break
            at, digest, is_complete = part.end, part.digest, part.is_complete
            if part.end > part.start or there is None:
                reached = self._at(job, at, digest, tally, is_complete=is_complete)
                self._keep(job, part, scan.picker, reached)
        return FileRead(
            job.file.name,
            at,
            digest,
            tally,
            is_complete,
            job.turn,
            was_resumed=there is not None,
            broken=scan.broken,
            has_changed=has_changed,
        )

    def _catch_up(self, job: _Job, late: Picker, there: Reached) -> None:
        """What belongs to posts that were read later than this part of the file.

        It happens when a file that was cut is read again complete, and brings next to nothing:
        posts are in the order of their time. So all of it is one transaction.
        """
        with job.file.opened() as read:
            parts = list(self._scan(job.file, read, late).parts(stop=there.position))
        found = Part(
            [raw for part in parts for raw in part.raw],
            [row for part in parts for row in part.found],
            0,
            there.position,
            there.digest,
        )
        there.tally.kept += late.tally.kept
        at = self._at(job, there.position, there.digest, there.tally, is_complete=there.is_complete)
        self._keep(job, found, late, at)

    def _at(
        self, job: _Job, position: int, digest: str, tally: Tally, *, is_complete: bool
    ) -> Reached:
        return Reached(
            self._stream(job.kind),
            job.file.name,
            position,
            digest,
            is_complete,
            job.turn,
            job.known_to,
            tally,
        )

    def _keep(self, job: _Job, part: Part, picker: Picker, at: Reached) -> None:
        """Store a part, its rows and the place that is reached, all or nothing."""
        ingest, now = self._ingest, utc_now()

        def save(writer: Writer) -> None:
            dump_state.save(writer, at, ingest.run.run_id, now)

        if part.raw:
            ingest.keep(self._exchange(job, part, picker), also=save)
            return
        if ingest.study.exists or not self._selection.tags:  # none is made for unknown tags
            with ingest.study.writing(keep_log=True) as writer:
                provenance.record(writer, ingest.run, "running")
                save(writer)

    def _exchange(self, job: _Job, part: Part, picker: Picker) -> Exchange:
        request: dict[str, Any] = {
            "kind": job.kind,
            "site": self._selection.site,
            "file": job.file.name,
            "stream": self._stream(job.kind),
            "turn": job.turn,
            "known_to": job.known_to,
            "from": part.start,
            "to": part.end,
        }
        if isinstance(picker, Comments):
            request["answers"] = picker.answers_in(part.found)
        return Exchange(
            run_id=self._ingest.run.run_id,
            source=NAME,
            project=self._ingest.project,
            request=request,
            url=job.file.name,
            final_url=job.file.name,
            status=200,
            headers={},
            fetched_at=utc_now(),
            body=b"\n".join(part.raw),
        )

    @contextmanager
    def _opened(
        self, file: DumpFile, picker: Picker, reached: Reached | None
    ) -> Iterator[tuple[Scan, Reached | None]]:
        """The file behind the place that was reached, if it is the same one; or from its start."""
        self._marks.setdefault(file.path, file.mark())
        if reached is not None:
            with file.opened() as read:
                scan = self._scan(file, read, picker)
                if _is_same(scan, reached):
                    picker.tally = reached.tally
                    if not reached.is_complete:
                        what = reached.stream.split()[2]
                        self._tell(f"{file.name}: {what} go on at byte {reached.position:,}")
                    yield scan, reached
                    return
            self._tell(f"{file.name} is not the file that was read before: it is read as a new one")
        with file.opened() as read:
            yield self._scan(file, read, picker), None

    def _scan(self, file: DumpFile, read: Any, picker: Picker) -> Scan:
        total = file.size

        def filled(view: memoryview) -> int:
            got = int(read(view))
            self._progress(file.name, scan.position, total)
            return got

        scan = Scan(filled, file.name, picker)
        return scan

    def _reached(self, kind: Kind, questions: FileRead | None = None) -> Reached | None:
        """Where this was left; what belongs to the questions of another file does not count."""
        study = self._ingest.study
        if not study.exists:  # it is made with the first part, not for a file that is refused
            return None
        # Not reading: the run before may have been killed before there were tables.
        with study.writing(keep_log=True) as writer:
            found = dump_state.load(writer, self._stream(kind))
        return found if questions is None or (found and found.turn == questions.turn) else None

    def _questions(self, of: FileRead, since: int = 0) -> Container[int]:
        with self._ingest.study.reading() as reader:
            return dump_stored.questions(reader, self._stream("dump questions"), of.turn, since)

    def _comments_on(self, questions: FileRead, since: int = 0) -> Comments:
        answers: Mapping[int, int] = {}
        if self._selection.answers:
            stream = self._stream("dump answers")
            with self._ingest.study.reading() as reader:
                answers = dump_stored.answers(reader, stream, questions.turn, since or -1)
        asked = self._questions(questions, since)
        return Comments(self._selection.site, self._who, asked, answers)

    def _stream(self, kind: Kind) -> str:
        wanted = self._selection
        said: dict[str, Any] = {
            "tags": sorted(wanted.tags),
            "all_tags": wanted.all_tags,
            "accepted": wanted.accepted,
            "since": wanted.since.isoformat() if wanted.since else None,
        }
        if kind == "dump comments" and not wanted.answers:
            said["on"] = "questions"  # those on answers may be wanted later
        return f"{self._ingest.project} {kind} {json.dumps(said, sort_keys=True)}"

    def _who(self, login: str | None) -> str | None:
        # Not before a row is meant: the study's key is not made for a file that is refused.
        return self._ingest.who(login)

    def _has_changed(self, file: DumpFile) -> bool:
        return file.mark() != self._marks[file.path]


def _is_same(scan: Scan, reached: Reached) -> bool:
    """Whether a file begins as the one that was read; a complete one must also end there."""
    if not scan.skip(reached.position) or scan.hashed.hexdigest() != reached.digest:
        return False
    return not reached.is_complete or not scan.skip(1)


def _known(reached: Reached) -> FileRead:
    return FileRead(
        reached.name,
        reached.position,
        reached.digest,
        reached.tally,
        reached.is_complete,
        reached.turn,
        was_known=True,
    )
