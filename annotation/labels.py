"""Labels: append-only. What a rater said stays; a change is another answer that supersedes it.

Everything that brings labels in (sheets, Label Studio, adjudication) hands `Answer`s to
`append`, which can be called again with the same ones: nothing is doubled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Writer

Stage = Literal["independent", "negotiated", "adjudicated"]
STAGES: tuple[Stage, ...] = ("independent", "negotiated", "adjudicated")

# Answers that are no code. No taxonomy can have a code that begins with ~.
UNCLEAR = "~unclear"
NOT_A_FAULT = "~not-a-fault"
NEW_CODE = "~new"
SPECIAL = {UNCLEAR: "unclear", NOT_A_FAULT: "not a fault", NEW_CODE: "a new code is needed"}


# Of `store.answer`, in SQL: those that no later one supersedes.
HOLDS = "answer.answer_id NOT IN (SELECT supersedes FROM store.answer WHERE supersedes IS NOT NULL)"


def checked_stage(text: str) -> Stage:
    """The stage of that name."""
    for stage in STAGES:
        if stage == text:
            return stage
    # The message names them as well: of a row in a sheet only that is told.
    raise StudyError(
        f"{text!r} is no stage: it is {', '.join(STAGES)}", "Write it as one of these."
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater said of an item at a stage. Without codes, it takes the answer before back."""

    item_id: str
    rater: str
    codes: tuple[str, ...]
    taxonomy_version: str
    origin: str  # the sheet's row, or server, project, task and annotation
    stage: Stage = "independent"
    confidence: float | None = None
    comment: str | None = None
    proposed: str | None = None
    lead_time_s: float | None = None
    labelled_at: datetime | None = None


@dataclass(frozen=True)
class Appended:
    """What became of answers."""

    new: int = 0
    changed: int = 0
    known: int = 0


def append(
    writer: Writer,
    round_name: str,
    answers: Iterable[Answer],
    run: Run,
    *,
    may_end: bool = False,
) -> Appended:
    """Store answers of a round, each unless it is what the rater said last.

    Of one rater, item, stage and version of the taxonomy one answer is current. The run must
    have been recorded. Items must be in the round. An answer without codes takes back what was
    said in its version; if it `may_end` labels, also what was said in versions before.
    """
    import pyarrow as pa

    taxonomy = writer.value("SELECT taxonomy FROM store.round WHERE round = ?", [round_name])
    if taxonomy is None:
        raise StudyError(f"there is no round {round_name!r}", "See them: annotation status")
    artifacts = {
        row["item_id"]: row["artifact_id"]
        for row in writer.rows(
            "SELECT item_id, artifact_id FROM store.item WHERE round = ?", [round_name]
        )
    }
    current = _current(writer, round_name)
    columns: dict[str, list[object]] = {name: [] for name in _COLUMNS}
    new = changed = known = 0
    for answer in answers:
        if answer.item_id not in artifacts:
            raise StudyError(
                f"{answer.item_id} is no item of round {round_name!r}",
                f"See them: annotation export {typed(round_name)} FILE",
            )
        key = (answer.item_id, answer.rater, answer.stage, answer.taxonomy_version)
        said = _said(answer)
        before = current.get(key)
        if before is not None and before[1] == said:
            known += 1
            continue
        if before is None and not answer.codes and not may_end:
            continue  # nothing to take back
        new += before is None
        changed += before is not None
        supersedes = before[0] if before else None
        answer_id = _digest(round_name, key, said, supersedes)
        current[key] = (answer_id, said)
        row = (
            answer_id, round_name, answer.item_id, artifacts[answer.item_id], answer.rater,
            answer.stage, taxonomy, answer.taxonomy_version, sorted(answer.codes),
            answer.confidence, answer.comment, answer.proposed, answer.lead_time_s,
            answer.labelled_at, answer.origin, supersedes, run.run_id,
        )  # fmt: skip
        for name, value in zip(_COLUMNS, row, strict=True):
            columns[name].append(value)
    if columns["answer_id"]:
        table = pa.table({name: pa.array(columns[name], type=_types()[name]) for name in _COLUMNS})
        arrow_rows.insert(writer, "store.answer", table)
    return Appended(new, changed, known)


_COLUMNS = (
    "answer_id", "round", "item_id", "artifact_id", "rater", "stage", "taxonomy",
    "taxonomy_version", "codes", "confidence", "comment", "proposed", "lead_time_s",
    "labelled_at", "origin", "supersedes", "run_id",
)  # fmt: skip

_Said = tuple[tuple[str, ...], float | None, str, str]


def _types() -> dict[str, object]:
    import pyarrow as pa

    special = {
        "codes": pa.list_(pa.string()),
        "confidence": pa.float64(),
        "lead_time_s": pa.float64(),
        "labelled_at": pa.timestamp("us"),
    }
    return {name: special.get(name, pa.string()) for name in _COLUMNS}


def _said(answer: Answer) -> _Said:
    """What makes two answers the same: not when or how fast it was given."""
    return (
        tuple(sorted(answer.codes)),
        answer.confidence,
        answer.comment or "",
        answer.proposed or "",
    )


def _current(writer: Writer, round_name: str) -> dict[tuple[str, str, str, str], tuple[str, _Said]]:
    rows = writer.rows(
        "SELECT answer_id, item_id, rater, stage, taxonomy_version, codes, confidence, comment, "
        f"proposed FROM store.answer WHERE round = ? AND {HOLDS}",
        [round_name],
    )
    return {
        (row["item_id"], row["rater"], row["stage"], row["taxonomy_version"]): (
            row["answer_id"],
            (tuple(row["codes"]), row["confidence"], row["comment"] or "", row["proposed"] or ""),
        )
        for row in rows
    }


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
