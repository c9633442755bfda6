"""Samples for a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.annotation.samples.definition import frame_words
from faultatlas.annotation.samples.storage import sample_names, stored_sample
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.report.formatting import count, counted, minute

if TYPE_CHECKING:
    from faultatlas.annotation.samples.command import Outcome
    from faultatlas.data.study import Study

_COLUMNS = (
    Column("sample", "Sample"),
    Column("size", "Size", "count"),
    Column("frame", "Frame", "count"),
    Column("draws", "Draws", "count"),
    Column("labelled", "In rounds", "count"),
    Column("what", "What it is"),
    Column("drawn_at", "Last drawn", aside=True),
)


def samples(study: Study) -> dict[str, Any]:
    """All samples."""
    found = []
    with study.reading() as reader:
        for name in sample_names(reader):
            sample = stored_sample(reader, name)
            if sample is None:
                continue
            planned = reader.value(
                "SELECT count(DISTINCT i.artifact_id) FROM store.item i JOIN store.round r "
                "USING (round) WHERE r.sample = ?",
                [name],
            )
            found.append(
                {
                    "sample": name,
                    "size": len(sample.drawn),
                    "frame": sample.last.frame_count,
                    "draws": len(sample.draws),
                    "labelled": planned,
                    "what": sample.words(),
                    "drawn_at": f"{sample.last.drawn_at:%Y-%m-%dT%H:%M:%SZ}",
                }
            )
    return {"study": str(study.directory), "samples": found}


def samples_table(found: dict[str, Any]) -> Table | None:
    """The same as a table; None without any."""
    rows = [{**each, "drawn_at": minute(each["drawn_at"])} for each in found["samples"]]
    return Table("samples", "Samples", _COLUMNS, rows_of(_COLUMNS, rows)) if rows else None


def words(outcome: Outcome) -> str:
    """What a sample is and what was done."""
    sample = outcome.sample
    name, last = sample.definition.sample, sample.last
    artifacts = counted(last.frame_count, "artifact")
    lines = [
        f"{name}: {sample.words()}",
        f"from {frame_words(sample.definition.frame)}: {artifacts}, hash {last.frame_hash[:16]}",
        f"size: {last.rule}",
    ]
    if not sample.is_of_one_frame:
        lines += [each.words for each in outcome.shares]
    if outcome.check:
        lines += _check_words(outcome)
    elif outcome.drew and len(sample.draws) > 1:
        lines.append(
            f"drew {count(outcome.drew)} more, behind the {count(last.size - outcome.drew)} that "
            "were there"
        )
    elif not outcome.drew:
        lines.append("nothing was drawn: it is as it was")
    if outcome.came or outcome.went:
        lines.append(
            f"the frame has changed since: {count(outcome.came)} came, {count(outcome.went)} went"
        )
    if not outcome.compared:
        lines.append(
            "sample and frame are not compared: source, kind and project do not divide them into "
            "a few groups (--compare names other columns)"
        )
    return "\n".join(lines)


def _check_words(outcome: Outcome) -> list[str]:
    check = outcome.check
    if check is None:
        return []
    stored = "seed and stored frame give the same sample"
    if check.problems:
        stored = "; ".join(check.problems)
    elif check.forgotten:
        were = "artifact was" if check.forgotten == 1 else "artifacts were"
        stored = (
            f"{count(check.forgotten)} {were} forgotten since; the others are what the seed gives"
        )
    return [f"derived again: {stored}", f"asked again: {check.today}"]
