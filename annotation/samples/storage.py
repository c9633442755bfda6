"""Samples in the study: read and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.samples.definition import Definition, Sizing
from faultatlas.annotation.samples.drawing import Drawing, Drawn
from faultatlas.annotation.samples.frame import Frame, put_frame, stored_frame
from faultatlas.annotation.typed import typed
from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.sampling import Precision

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer


@dataclass(frozen=True)
class Draw:
    """A draw, as `store.sample_draw` holds it."""

    number: int
    frame_query: str
    frame_count: int
    frame_hash: str
    size: int
    rule: str
    sizing: Sizing
    drawn_at: datetime
    taken: int  # also what was forgotten since


@dataclass(frozen=True)
class Sample:
    """A sample with all its draws; there is at least one."""

    definition: Definition
    draws: tuple[Draw, ...]
    drawn: tuple[Drawn, ...]  # by position
    is_of_one_frame: bool = True  # whether all draws were from the same, but for what is forgotten

    @property
    def last(self) -> Draw:
        """The last draw."""
        return self.draws[-1]

    @property
    def missing(self) -> int:
        """Artifacts that were drawn and are not there any more, as they were forgotten."""
        return sum(each.taken for each in self.draws) - len(self.drawn)

    def words(self) -> str:
        """What it is, for a reader."""
        said = self.definition.words(len(self.drawn))
        if not self.is_of_one_frame:
            said = self.definition.words_of_several(
                len(self.drawn), [each.frame_count for each in self.draws]
            )
        if self.missing:
            said += f" ({len(self.drawn) + self.missing:,} drawn, {self.missing:,} forgotten)"
        return said


def sample_names(reader: Reader) -> list[str]:
    """All samples, in the order they were made."""
    rows = reader.rows(
        "SELECT sample FROM store.sample_draw WHERE draw = 1 ORDER BY drawn_at, run_id, sample"
    )
    return [row["sample"] for row in rows]


def stored_sample(reader: Reader, name: str) -> Sample | None:
    """The sample of that name, if there is one."""
    rows = reader.rows("SELECT * FROM store.sample WHERE sample = ?", [name])
    if not rows:
        return None
    row = rows[0]
    definition = Definition(
        sample=name,
        frame=row["frame"],
        method=row["method"],
        allocation=row["allocation"],
        strata=tuple(row["strata"]),
        ordered_by=row["ordered_by"],
        seed=row["seed"],
    )
    draws = reader.rows("SELECT * FROM store.sample_draw WHERE sample = ? ORDER BY draw", [name])
    rows = reader.rows(
        "SELECT artifact_id, stratum, position, draw FROM store.sampled WHERE sample = ? "
        "ORDER BY position",
        [name],
    )
    drawn = tuple(Drawn(**each) for each in rows)
    counts = Counter(each.draw for each in drawn)
    hashes = {each["frame_hash"] for each in draws}
    one = len(hashes) == 1 or len({stored_frame(reader, each).digest for each in hashes}) == 1
    made = tuple(_draw(each, counts[each["draw"]]) for each in draws)
    return Sample(definition, made, drawn, one)


def find_sample(reader: Reader, name: str) -> Sample:
    """The sample of that name; one that is not there is refused, with those that are."""
    found = stored_sample(reader, name)
    if found is None:
        known = ", ".join(sample_names(reader))
        raise StudyError(
            f"there is no sample {name!r}",
            f"Known: {known}." if known else f"Draw it: annotation sample {typed(name)} --size 50.",
        )
    return found


def put_sample(writer: Writer, definition: Definition, run: Run) -> None:
    """Store what a sample is; the run must have been recorded."""
    writer.execute(
        "INSERT INTO store.sample (sample, frame, method, allocation, strata, ordered_by, seed, "
        "run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            definition.sample, definition.frame, definition.method, definition.allocation,
            list(definition.strata), definition.ordered_by, definition.seed, run.run_id,
        ],
    )  # fmt: skip


def put_draw(
    writer: Writer, name: str, frame: Frame, *, sizing: Sizing, made: Drawing, run: Run
) -> None:
    """Store a draw that took something, with its frame."""
    put_frame(writer, frame, run)
    precision = sizing.precision
    writer.execute(
        "INSERT INTO store.sample_draw VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            name, made.new[0].draw, frame.query, len(frame.members), frame.digest, made.size,
            made.rule,
            precision.confidence if precision else None, precision.margin if precision else None,
            precision.rounding if precision else None, utc_now(), run.run_id, sizing.asked,
            len(made.new),
        ],
    )  # fmt: skip
    _put_drawn(writer, name, made.new, run)


def _put_drawn(writer: Writer, name: str, new: Sequence[Drawn], run: Run) -> None:
    import pyarrow as pa

    if new:
        arrow_rows.insert(
            writer,
            "store.sampled",
            pa.table(
                {
                    "sample": [name] * len(new),
                    "position": [each.position for each in new],
                    "artifact_id": [each.artifact_id for each in new],
                    "stratum": [each.stratum for each in new],
                    "draw": [each.draw for each in new],
                    "run_id": [run.run_id] * len(new),
                }
            ),
        )


def _draw(row: dict[str, Any], there: int) -> Draw:
    precision = None
    if row["asked"] is None:
        precision = Precision(row["confidence"], row["margin"], row["rounding"])
    return Draw(
        number=row["draw"],
        frame_query=row["frame_query"],
        frame_count=row["frame_count"],
        frame_hash=row["frame_hash"],
        size=row["size"],
        rule=row["size_rule"],
        sizing=Sizing(row["asked"], precision),
        drawn_at=row["drawn_at"],
        taken=there if row["taken"] is None else row["taken"],
    )
