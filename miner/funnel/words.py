"""Words of lexicons in texts: each text is read once for each lexicon and way of reading.

Reading takes long, so that it happens before the funnel is computed and between short
transactions, each of which leaves whole texts: killed, the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.miner.lexicon import Lexicon, lexicon
from faultatlas.miner.prose import prose

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.miner.funnel.steps import Step

Progress = Callable[[int, int], None]  # texts read, and in all
Text = tuple[str, str, str | None, str | None, str]  # artifact, kind, title, body, run
Hit = tuple[str, str, str, tuple[str, ...], str]  # artifact, lexicon, reading, words, run of text

_TEXTS_AT_ONCE = 20_000
_BYTES_AT_ONCE = 64 << 20
_LACKING = """
SELECT artifact_id FROM artifacts a
WHERE gone_at IS NULL AND kind IS NOT NULL
    AND (len($3::VARCHAR[]) = 0 OR list_contains($3::VARCHAR[], kind))
    AND NOT EXISTS (
        FROM store.keyword_hit h WHERE h.artifact_id = a.artifact_id AND lexicon = $1
        AND reading = $2 AND text_run = a.run_id
    )
"""
_TEXTS = """
SELECT artifact_id, kind, title, body, run_id FROM artifacts
WHERE gone_at IS NULL AND kind IS NOT NULL AND artifact_id IN (SELECT unnest(?::VARCHAR[]))
"""


@dataclass(frozen=True)
class Wanted:
    """A lexicon, what of texts is read, and of which kinds."""

    lexicon: Lexicon
    code: bool
    quotes: bool
    kinds: tuple[str, ...]  # all of them

    @cached_property
    def reading(self) -> str:
        """As it is stored."""
        return self.lexicon.reading(code=self.code, quotes=self.quotes)

    @cached_property
    def manner(self) -> str:
        """Its part behind the hash of the lexicon."""
        return self.reading.removeprefix(self.lexicon.digest)


Todo = dict[str, list[Wanted]]  # by artifact, what is to be looked for in its text


def wanted(steps: Sequence[Step], directory: Path) -> list[Wanted]:
    """What the steps look for."""
    return [each for step in steps for each in wanted_by(step, directory)]


def wanted_by(step: Step, directory: Path) -> list[Wanted]:
    """What a step looks for."""
    try:
        found = [lexicon(name, directory) for name in step.lexicons]
    except StudyError as error:
        raise StudyError(
            f"step {step.name!r}: {error.message}",
            f"{error.hint} Or take the step out: miner filter --drop {step.name!r}.",
        ) from error
    return [Wanted(each, step.code, step.quotes, step.on) for each in found]


def lacking(reader: Reader, sought: Iterable[Wanted]) -> Todo:
    """By artifact, what its text was not read for, or not as it is now."""
    found: Todo = {}
    for each in dict.fromkeys(sought):
        asked = [each.lexicon.name, each.reading, list(each.kinds)]
        for artifact in reader.arrow(_LACKING, asked).column(0).to_pylist():
            found.setdefault(artifact, []).append(each)
    return found


def read_words(study: Study, run: Run, todo: Todo, progress: Progress) -> None:
    """Look for words in texts, and store what is found."""
    left = list(todo)
    while left:
        asked, left = left[:_TEXTS_AT_ONCE], left[_TEXTS_AT_ONCE:]
        with study.reading() as reader:
            texts, rest = _texts(reader, asked)
        left = rest + left
        hits = [hit for text in texts for hit in _hits(text, todo[text[0]])]
        with study.writing(keep_log=True) as writer:
            provenance.record(writer, run, "running")
            _keep(writer, hits, run)
        progress(len(todo) - len(left), len(todo))


def read_words_here(writer: Writer, run: Run, todo: Todo) -> None:
    """The same in the writer's transaction, for a few texts."""
    left = list(todo)
    while left:
        texts, left = _texts(writer, left)
        _keep(writer, [hit for text in texts for hit in _hits(text, todo[text[0]])], run)


def drop_superseded(writer: Writer, before: Iterable[Step], sought: Sequence[Wanted]) -> None:
    """Remove rows of lexicons as they were, where texts were read anew, and of ways of reading
    that a step had and none has any more. Plain ones stay: `miner commits` has them as well.
    """
    for name, digest in sorted({(each.lexicon.name, each.lexicon.digest) for each in sought}):
        writer.execute(
            "DELETE FROM store.keyword_hit WHERE lexicon = $1 AND NOT starts_with(reading, $2) "
            "AND artifact_id IN (SELECT artifact_id FROM store.keyword_hit "
            "WHERE lexicon = $1 AND starts_with(reading, $2))",
            [name, digest],
        )
    used = {(each.lexicon.name, each.manner) for each in sought}
    for name, manner in sorted({each for step in before for each in step.readings} - used):
        if manner:
            writer.execute(
                "DELETE FROM store.keyword_hit "
                "WHERE lexicon = ? AND regexp_extract(reading, '[+].*') = ?",
                [name, manner],
            )


def _texts(reader: Reader, artifacts: Sequence[str]) -> tuple[list[Text], list[str]]:
    """As many of these texts as fit into memory, and what is left of the artifacts."""
    found: list[Text] = []
    size = 0
    for batch in reader.batches(_TEXTS, [list(artifacts)], rows=1000):
        found += zip(*(column.to_pylist() for column in batch), strict=True)
        size += batch.nbytes
        if size > _BYTES_AT_ONCE:
            read = {text[0] for text in found}
            return found, [each for each in artifacts if each not in read]
    return found, []


def _hits(text: Text, sought: Iterable[Wanted]) -> Iterator[Hit]:
    artifact, kind, title, body, run_id = text
    read: dict[str, str] = {}
    for each in sought:
        if each.manner not in read:
            read[each.manner] = prose(kind, title, body, code=each.code, quotes=each.quotes)
        words = each.lexicon.hits(read[each.manner])
        yield artifact, each.lexicon.name, each.reading, words, run_id


def _keep(writer: Writer, hits: Sequence[Hit], run: Run) -> None:
    import pyarrow as pa

    artifacts, lexicons, readings, words, runs = zip(*hits, strict=True) if hits else [()] * 5
    columns = {
        "artifact_id": pa.array(artifacts, pa.string()),
        "lexicon": pa.array(lexicons, pa.string()),
        "reading": pa.array(readings, pa.string()),
        "words": pa.array(words, pa.list_(pa.string())),
        "text_run": pa.array(runs, pa.string()),
        "run_id": pa.array([run.run_id] * len(hits), pa.string()),
    }
    writer.execute("CREATE OR REPLACE TEMP TABLE hit AS FROM store.keyword_hit LIMIT 0")
    arrow_rows.insert(writer, "hit", pa.table(columns))
    # A step may be on some kinds and another on all; and another process may read as well.
    writer.execute(
        "INSERT INTO store.keyword_hit SELECT DISTINCT ON (artifact_id, lexicon, reading) * "
        "FROM hit ON CONFLICT DO UPDATE SET "
        "words = excluded.words, text_run = excluded.text_run, run_id = excluded.run_id"
    )
