"""One reading of a repository: messages of what is new, changes of what matches, what is gone.

Every transaction leaves whole commits, or changes that the next reading takes away first: killed
at any instant and started again, it ends in the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.old import arrow_rows
from faultatlas.data.people import UNKNOWN
from faultatlas.miner import tombstones
from faultatlas.miner.commits import diffs, gone, lacking, walks
from faultatlas.miner.commits.blobs import Candidate, Definitions, is_python
from faultatlas.miner.commits.forgetting import message_without
from faultatlas.miner.commits.git import View
from faultatlas.miner.commits.messages import Message, objects, parsed, reachable
from faultatlas.miner.commits.patches import File, Hunk
from faultatlas.miner.commits.people import People
from faultatlas.miner.commits.rows import (
    Batch,
    Finished,
    Hit,
    Told,
    clear_changes,
    commit_table,
    hit_table,
)
from faultatlas.miner.commits.walks import Walk, Wishes
from faultatlas.miner.prose import prose
from faultatlas.miner.study_key import who_in

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.keeping.erasing import Forgotten

Opened = Callable[[], AbstractContextManager["Writer"]]
Progress = Callable[[int, int, str], None]  # done, in all, of what

_MESSAGES_AT_ONCE = 20_000
_MESSAGE_BYTES = 32 << 20
_CHANGE_BYTES = 48 << 20


@dataclass
class Mined:
    """What a reading did."""

    commits_new: int = 0
    commits_matching: int = 0  # of those that were looked at
    diffs_read: int = 0
    files: int = 0
    hunks: int = 0
    functions: int = 0
    gone: int = 0
    came_back: int = 0
    missing: list[str] = field(default_factory=list)  # commits that are not in the repository


@dataclass
class Reading:
    """A repository, and what is asked of it."""

    directory: Path  # of the study
    opened: Opened  # a transaction
    view: View
    project: str
    place: str
    tips: Mapping[str, str]
    wishes: Wishes
    run_id: str
    started_at: datetime
    options: Mapping[str, object]
    earlier: Sequence[Walk]
    number: int | None = None  # of the walk, when it is read again
    on_begin: Callable[[Writer], None] = lambda _writer: None
    on_end: Callable[[Writer, Mined], None] = lambda _writer, _mined: None
    progress: Progress = lambda _done, _total, _what: None
    mined: Mined = field(default_factory=Mined)

    def __post_init__(self) -> None:
        self.prefix = f"git:{self.project}@"
        self._told = Told(self.prefix, self.project, self.run_id, self.started_at)
        self._is_begun = False
        self._matching: set[str] = set()
        self._readings = {each.name: each.reading() for each in self.wishes.lexicons}
        self._forgotten: Forgotten | None = None

    def run(self) -> Mined:
        """Read, and store what is read."""
        starts = walks.starts(self.tips, all_branches=self.wishes.all_branches)
        lost = self.view.missing(sorted({*starts, *self._covered()}))
        seen = [tip for tip in self._covered() if tip not in lost]
        scope, missing = reachable(self.view, [tip for tip in starts if tip not in lost], seen)
        self.mined.missing = sorted(missing | {tip for tip in starts if tip in lost})
        self._walk = Walk(
            self.number or 0, self.project, self.place, self.tips, tuple(seen), self.options,
            self.run_id, self.started_at,
        )  # fmt: skip
        with self.transaction() as writer:
            self._forgotten = tombstones.forgotten(writer)
            known = _known(writer, self.project, scope, self.wishes.since)
            self._match_known(writer, known)
        stored = {each.sha for each in known}
        fresh = self._messages([sha for sha in scope if sha not in stored])
        self.mined.commits_matching = len(self._matching)
        self._changes(known, fresh)
        with self.transaction() as writer:
            marked = gone.mark(writer, self.view, self._walk, self.earlier)
            self.mined.gone, self.mined.came_back = marked
            walks.end(writer, self._walk, self.mined.missing)
            self.on_end(writer, self.mined)
        return self.mined

    def _covered(self) -> list[str]:
        """Tips of earlier readings that asked for as much."""
        return sorted(
            {
                tip
                for walk in self.earlier
                if walks.covers(walk, self.place, self.options)
                for tip in walk.walked
            }
        )

    @contextmanager
    def transaction(self) -> Iterator[Writer]:
        """A transaction of this reading: the first one begins it, the others see that it lasts."""
        with self.opened() as writer:
            if self._is_begun:
                walks.check(writer, self._walk)
            else:
                self.on_begin(writer)
                walks.begin(writer, self._walk)
                self._is_begun = True
            yield writer

    # Messages.

    def _messages(self, shas: Sequence[str]) -> list[str]:
        """Store new commits; returns those whose changes can be asked for."""
        candidates: list[str] = []
        batch: list[Message] = []
        size = done = 0
        tip = self.tips.get("HEAD")
        people = People(self.directory, self.view, tip)
        for sha, content in objects(self.view, shas):
            done += 1
            if content is None:
                self.mined.missing.append(sha)
                continue
            batch.append(parsed(sha, content))
            size += len(content)
            if len(batch) >= _MESSAGES_AT_ONCE or size >= _MESSAGE_BYTES:
                candidates += self._store(batch, people)
                batch, size = [], 0
                self.progress(done, len(shas), "messages")
        if batch:
            candidates += self._store(batch, people)
        self.progress(done, len(shas), "messages")
        return candidates

    def _store(self, batch: Sequence[Message], people: People) -> list[str]:
        since = self.wishes.since
        people.learn(sig for each in batch for sig in (each.author, each.committer))
        kept: list[Message] = []
        named: list[tuple[str | None, str | None]] = []
        forgotten = self._forgotten
        for each in batch if not forgotten else self._without_people(batch, forgotten):
            if since is not None and _is_before(each, since):
                continue
            author, committer = people.of(each.author), people.of(each.committer)
            if forgotten:
                if author in forgotten.people or self.prefix + each.sha in forgotten.artifacts:
                    continue
                committer = UNKNOWN if committer in forgotten.people else committer
            kept.append(each)
            named.append((author, committer))
        if not kept:
            return []
        hits = [hit for each in kept for hit in self._hits(each.sha, each.text, self.run_id)]
        with self.transaction() as writer:
            arrow_rows.insert(writer, "store.commit", commit_table(kept, named, self._told))
            if hits:
                arrow_rows.insert(writer, "store.keyword_hit", hit_table(hits, self.run_id))
        self.mined.commits_new += len(kept)
        return [
            each.sha
            for each in kept
            if len(each.parents) <= 1 and (self.wishes.everything or each.sha in self._matching)
        ]

    def _without_people(self, batch: Sequence[Message], forgotten: Forgotten) -> list[Message]:
        whos = who_in(self.directory)
        return [
            replace(each, text=message_without(each.text, forgotten.people, whos)) for each in batch
        ]

    # Keywords.

    def _hits(self, sha: str, message: str, text_run: str) -> list[Hit]:
        """Words of the lexicons in a message; and note whether it matches."""
        lexicons = self.wishes.lexicons
        if not lexicons:
            return []
        # Without a fence or a quotation, which are rare here, all of it is prose.
        is_prose = ">" not in message and "```" not in message and "~~~" not in message
        text = message if is_prose else prose("commit", None, message)
        found: list[Hit] = [
            (self.prefix + sha, each.name, words, self._readings[each.name], text_run)
            for each in lexicons
            if (words := each.hits(text))
        ]
        needed = 1 if self.wishes.any_keyword else len(lexicons)
        if len(found) >= needed:
            self._matching.add(sha)
        return found

    def _match_known(self, writer: Writer, known: Sequence[Known]) -> None:
        """Look for words in the messages that the study has already."""
        if not known or not self.wishes.lexicons:
            return
        names = [each.name for each in self.wishes.lexicons]
        ids = [self.prefix + each.sha for each in known]
        # In pieces: messages may be large.
        hits: dict[tuple[str, str, str], Hit] = {}
        for at in range(0, len(ids), _MESSAGES_AT_ONCE):
            rows = writer.rows(
                "SELECT sha, message, run_id FROM store.commit WHERE artifact_id IN "
                "(SELECT unnest(?::VARCHAR[]))",
                [ids[at : at + _MESSAGES_AT_ONCE]],
            )
            for row in rows:
                for hit in self._hits(row["sha"], row["message"], row["run_id"]):
                    hits[hit[0], hit[1], hit[3]] = hit
        # A filter's rows are among them, also of texts without words; those with code are its own.
        had = {
            (row["artifact_id"], row["lexicon"], row["reading"]): row["words"]
            for row in writer.rows(
                "SELECT artifact_id, lexicon, words, reading FROM store.keyword_hit "
                "WHERE list_contains(?, lexicon) AND NOT contains(reading, '+') "
                "AND artifact_id IN (SELECT unnest(?::VARCHAR[]))",
                [names, ids],
            )
        }
        old = [
            key
            for key, words in had.items()
            if key[2] != self._readings[key[1]] or words != [*(hits[key][2] if key in hits else ())]
        ]
        new = [hit for key, hit in hits.items() if had.get(key) != [*hit[2]]]
        if old:
            writer.execute(
                "DELETE FROM store.keyword_hit WHERE (artifact_id, lexicon, reading) IN "
                "(SELECT (unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[])))",
                [list(column) for column in zip(*old, strict=True)],
            )
        if new:
            arrow_rows.insert(writer, "store.keyword_hit", hit_table(new, self.run_id))

    # Changes.

    def _changes(self, known: Sequence[Known], fresh: Sequence[str]) -> None:
        wished = [
            each
            for each in known
            if each.parents <= 1 and (self.wishes.everything or each.sha in self._matching)
        ]
        again = [each.sha for each in wished if each.diff and self._is_wanted_again(each)]
        again = self._readable_now(again, wished)
        never = [each.sha for each in wished if each.diff is None]
        todo = [*again, *never, *fresh]
        writing = _Writing(self, len(todo), {self.prefix + sha for sha in (*again, *never)})
        diffs.read(self.view, todo, writing)
        writing.flush()

    def _is_wanted_again(self, known: Known) -> bool:
        return known.diff != "read" or (self.wants_functions(known.sha) and not known.functions)

    def _readable_now(self, again: Sequence[str], wished: Sequence[Known]) -> list[str]:
        """Without those that lack what they lacked before."""
        bad = {each.sha: each.lacks for each in wished if each.diff not in (None, "read")}
        if not bad:
            return list(again)
        absent = self.view.missing(sorted(bad))  # only another place of the project has them
        back = lacking.back(self.view, bad)
        return [
            sha
            for sha in again
            if sha not in bad
            or sha in back
            or not (bad[sha] or sha in absent or sha in self.view.shallow)
        ]

    def wants_functions(self, sha: str) -> bool:
        """Whether the changed functions of a commit are asked for."""
        return self.wishes.functions and (not self.wishes.lexicons or sha in self._matching)


def _is_before(message: Message, since: int) -> bool:
    """As git takes it: by the time of committing; without a time it is not left out."""
    epoch = message.committer.epoch if message.committer else None
    return epoch is not None and epoch < since


@dataclass(frozen=True, slots=True)
class Known:
    """A commit that the study has."""

    sha: str
    parents: int
    diff: str | None
    functions: bool
    lacks: set[str]  # objects that were missing


def _known(reader: Reader, project: str, scope: Iterable[str], since: int | None) -> list[Known]:
    """Commits of the scope that are stored, and those that could not be read."""
    wanted = set(scope)
    rows = reader.rows(
        "SELECT sha, len(parents) AS parents, diff, coalesce(functions_read, false) AS functions "
        "FROM store.commit LEFT JOIN store.commit_diff USING (artifact_id) "
        "WHERE project = ? AND (?::BIGINT IS NULL OR coalesce(committer_epoch, ?) >= ?) "
        "ORDER BY sha",
        [project, since, since, since],
    )
    lacks = lacking.lacking(reader, project)
    return [
        Known(
            row["sha"], row["parents"], row["diff"], row["functions"], lacks.get(row["sha"], set())
        )
        for row in rows
        if row["sha"] in wanted or row["sha"] in lacks
    ]


class _Writing:
    """Takes changes as they are read, and stores them by and by."""

    def __init__(self, reading: Reading, total: int, stale: set[str]) -> None:
        self._reading = reading
        self._total = total
        self._stale = stale  # ids of commits whose rows go when the new ones come
        self._done = 0
        self._batch = Batch()
        self._definitions = Definitions(reading.view)
        self._waiting: list[tuple[str, Candidate]] = []  # files whose functions are to be read
        self._candidates: dict[int, Candidate] = {}  # of the commit at hand, by position
        self._id = ""
        self._wants_functions = False
        self._is_split = False  # some rows of the commit at hand are stored

    def begin(self, sha: str) -> None:
        self._id, self._is_split, self._candidates = self._reading.prefix + sha, False, {}
        if self._batch.size > _CHANGE_BYTES:
            self.flush()
        self._wants_functions = self._reading.wants_functions(sha)

    def hunks(self, hunks: Sequence[Hunk]) -> None:
        self._batch.add_hunks(self._id, hunks)
        if self._wants_functions:
            for hunk in hunks:
                if is_python(hunk.file):
                    position = hunk.file.position
                    self._candidates.setdefault(position, Candidate(hunk.file)).add(hunk)
        if self._batch.size > 2 * _CHANGE_BYTES:
            self.flush()  # with the functions of the commits before this one
            self._is_split = True

    def finish(self, files: Sequence[File], diff: str = "read", problem: str | None = None) -> None:
        self._batch.add_files(self._id, files)
        if self._candidates:
            self._waiting += [(self._id, each) for each in self._candidates.values()]
            self._candidates = {}
        self._batch.finished.append(Finished(self._id, diff, problem, self._wants_functions))
        self._done += 1
        if self._done % 200 == 0:
            self._reading.progress(self._done, self._total, "changes")

    def undo(self) -> None:
        if self._batch.finished and self._batch.finished[-1].artifact_id == self._id:
            self._batch.finished.pop()
            self._done -= 1
        self._batch.forget(self._id)
        self._waiting = [each for each in self._waiting if each[0] != self._id]
        if self._is_split:
            with self._reading.transaction() as writer:
                clear_changes(writer, [self._id])

    def flush(self) -> None:
        """Store what is whole, with its functions."""
        found = self._definitions.changes([each for _id, each in self._waiting])
        owners = {id(each): artifact for artifact, each in self._waiting}
        for candidate, changed in found:
            for change in changed:
                self._batch.add_function(owners[id(candidate)], candidate.file.position, change)
        self._waiting = []
        self._write()
        self._reading.progress(self._done, self._total, "changes")

    def _write(self) -> None:
        batch, mined = self._batch, self._reading.mined
        if not batch.finished and not batch.size:
            return
        # In one transaction, so that what was stored is not lost when we are killed.
        written = {each.artifact_id for each in batch.finished}
        written.update(batch.hunks["artifact_id"][-1:])  # of the commit at hand
        stale = self._stale & written
        with self._reading.transaction() as writer:
            if stale:
                clear_changes(writer, sorted(stale))
            batch.write(writer, self._reading.run_id)
        self._stale -= stale
        mined.diffs_read += len(batch.finished)
        mined.files += len(batch.files["artifact_id"])
        mined.hunks += len(batch.hunks["artifact_id"])
        mined.functions += len(batch.functions["artifact_id"])
        self._batch = Batch()
