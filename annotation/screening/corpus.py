"""The papers of a study as a sample: all that the funnel let through, extended as more come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.annotation.samples.definition import (
    DEFAULT_SEED,
    Definition,
    Sizing,
    frame_condition,
)
from faultatlas.annotation.samples.drawing import draw
from faultatlas.annotation.samples.frame import last_step, read_frame
from faultatlas.annotation.samples.storage import put_draw, put_sample, sample_names, stored_sample
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import checked_seed

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer

SAMPLE = "papers"
_PAPERS = "kind = 'paper'"


def paper_sample(writer: Writer, seed: int | None, run: Run) -> str:
    """The sample of all papers that may be screened; new ones are drawn behind the others.

    Its order is random by the seed, so that the first of them are a pilot. Where another step of
    the funnel lets papers through than the last time, it is another sample.
    """
    condition = frame_condition(funnel_step(writer), _PAPERS)
    name, is_new = _name(writer, condition)
    asked = checked_seed(DEFAULT_SEED if seed is None else seed)
    definition = Definition(name, condition, seed=asked)
    there = stored_sample(writer, name)
    if there is not None:
        definition = there.definition
    frame = read_frame(writer, definition)
    drawn = there.drawn if there else ()
    fresh = frame.ids - {each.artifact_id for each in drawn}
    if not frame.members and is_new:
        raise StudyError(
            "there are no papers to screen",
            "Search for them: miner papers. What the funnel let through: miner status --funnel",
        )
    if fresh:
        sizing = Sizing(asked=len(drawn) + len(fresh))
        made = draw(frame, definition, sizing, drawn)
        provenance.record(writer, run, "ok")
        if is_new:
            put_sample(writer, definition, run)
        put_draw(writer, name, frame, sizing=sizing, made=made, run=run)
    return name


def funnel_step(reader: Reader) -> str | None:
    """The last step of the funnel, if it ran when there were papers; else all are taken."""
    step = last_step(reader)
    came = reader.value(
        "SELECT 1 FROM store.funnel_count WHERE step = ? AND kind = 'paper' LIMIT 1", [step]
    )
    return step if came else None


def past_the_funnel(reader: Reader) -> int:
    """Papers that were mined after the funnel ran, so that it has not judged them."""
    if funnel_step(reader) is None:
        return 0
    found: int = reader.value(
        f"SELECT count(*) FROM candidates WHERE {_PAPERS} AND artifact_id NOT IN "
        "(SELECT artifact_id FROM selected WHERE position = 0)"
    )
    return found


def _name(reader: Reader, frame: str) -> tuple[str, bool]:
    """The sample of that frame, or a name that is free."""
    known = sample_names(reader)
    number = 1
    while True:
        name = SAMPLE if number == 1 else f"{SAMPLE}-{number}"
        if name not in known:
            return name, True
        there = stored_sample(reader, name)
        if there and there.definition.frame == frame and there.definition.method == "simple":
            return name, False
        number += 1
