"""A sample of the study's bugs: stratified, seeded, and nested: a larger one holds the smaller.

Each draw stands for itself and is stored with its whole frame. The order in a stratum is that of
`data.sampling`, shared out as `annotation sample` does it; what was run before is not run again,
since results are found by the bug.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultatlas.analysis.reexecution.storing import COMMAND, SHIPPED
from faultatlas.annotation.samples.definition import Definition, Sizing
from faultatlas.annotation.samples.drawing import draw as next_draw
from faultatlas.annotation.samples.frame import Frame, Member, frame_of, stratum_name
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.sampling import checked_seed

if TYPE_CHECKING:
    from faultatlas.data.provenance import Outcome
    from faultatlas.data.study import Reader, Study, Writer

DEFAULT_SEED = 1
# By the word on the command line: the column of `bugs`.
STRATA = {
    "framework": "framework",
    "symptom": "symptom",
    "source": "source",
    "set": "set_name",
    "property": "property",
    "fault": "fault",
    "python": "python",
}


@dataclass(frozen=True)
class Stratum:
    """A part of the frame: how many bugs it has, and how many were drawn."""

    name: str
    size: int
    drawn: int


@dataclass(frozen=True)
class Drawn:
    """A sample of bugs as it was drawn."""

    sample: str
    draw: int
    bug_ids: tuple[str, ...]  # in the order of drawing
    strata: tuple[Stratum, ...]
    frame_count: int
    frame_hash: str
    seed: int
    sets: tuple[str, ...]
    columns: tuple[str, ...]  # as on the command line: framework, symptom, ...
    asked: int
    rule: str
    is_new: bool  # whether this call stored it

    @property
    def is_everything(self) -> bool:
        """Whether every bug of the frame is in it: then there is no error of sampling."""
        return len(self.bug_ids) == self.frame_count

    def words(self) -> str:
        """What was drawn, for a reader."""
        of = f"{self.frame_count:,} bugs of {', '.join(self.sets)}"
        if self.is_everything:
            more = f" ({self.asked:,} were asked for)" if self.asked > self.frame_count else ""
            return f"sample {self.sample}: all {of}{more}"
        strata = f" in strata of {', '.join(self.columns)}" if self.columns else ""
        return f"sample {self.sample}: {len(self.bug_ids):,} of {of}{strata}, seed {self.seed}"


def draw(
    study: Study,
    size: int,
    stratify: Sequence[str] = (),
    seed: int = DEFAULT_SEED,
    *,
    sets: Collection[str] = (),
    name: str = "",
    run: provenance.Run | None = None,
    outcome: Outcome = "ok",
) -> Drawn:
    """The first so many bugs in the order of the seed, and how many bugs each stratum has.

    Without `sets` the frame is every bug of the study but the shipped ones; those are the frame
    only where the study has no others, or if they are named. Asked again for the same, nothing is
    stored; another size or a frame that has changed is another draw of the same name.
    """
    columns = checked_columns(stratify)
    seed = checked_seed(seed)
    if size < 1:
        raise StudyError(f"a sample of {size}", "It has at least one bug: --sample 10.")
    with study.writing() as writer:
        chosen = frame_sets(writer, sets)
        frame = _frame(writer, chosen, columns)
        definition = Definition(
            name or _name(chosen, columns, seed, named=bool(sets)),
            "",
            method="stratified" if columns else "simple",
            allocation="proportional" if columns else "",
            strata=columns,
            seed=seed,
        )
        drawing = next_draw(frame, definition, Sizing(asked=size))
        taken = Counter(each.stratum for each in drawing.new)
        found = Drawn(
            sample=definition.sample,
            draw=0,
            bug_ids=tuple(each.artifact_id for each in drawing.new),
            strata=tuple(Stratum(each, of, taken[each]) for each, of in frame.strata.items()),
            frame_count=len(frame.members),
            frame_hash=frame.digest,
            seed=seed,
            sets=chosen,
            columns=columns,
            asked=size,
            rule=drawing.rule,
            is_new=True,
        )
        last = _last(writer, found, named=bool(sets))
        if last is not None:
            return last
        own = run or provenance.begin(COMMAND, {"sample": size, "seed": seed})
        stored = _put(writer, found, frame, own)
        provenance.record(writer, own, outcome)
    return stored


def frame_sets(reader: Reader, wanted: Collection[str] = ()) -> tuple[str, ...]:
    """The sets that a frame is made of; those that are named must be there."""
    rows = reader.rows("SELECT DISTINCT set_name FROM store.bug ORDER BY set_name")
    there = [row["set_name"] for row in rows]
    if not there:
        raise StudyError(
            "the study has no bugs", "Bring some in: analysis reexecute --import FOLDER."
        )
    if unknown := sorted(set(wanted) - set(there)):
        raise StudyError(f"there is no set {unknown[0]!r}", f"Known: {', '.join(there)}.")
    if wanted:
        return tuple(sorted(set(wanted)))
    return tuple(each for each in there if each != SHIPPED) or (SHIPPED,)


def stratum_sql(columns: Sequence[str]) -> str:
    """The expression on `bugs` that names a stratum."""
    return stratum_name([f"nullif({STRATA[each]}, '')" for each in columns])


def checked_columns(stratify: Sequence[str]) -> tuple[str, ...]:
    """The words that bugs can be divided by; others are refused."""
    columns = tuple(dict.fromkeys(each.strip().lower() for each in stratify))
    if unknown := [each for each in columns if each not in STRATA]:
        raise StudyError(
            f"bugs cannot be divided by {unknown[0]!r}", f"Take some of {', '.join(STRATA)}."
        )
    return columns


def _frame(reader: Reader, sets: Sequence[str], columns: Sequence[str]) -> Frame:
    rows = reader.rows(
        f"SELECT bug_id, {stratum_sql(columns)} AS stratum FROM bugs "
        "WHERE list_contains(?::VARCHAR[], set_name)",
        [list(sets)],
    )
    return frame_of(Member(row["bug_id"], row["stratum"]) for row in rows)


def _name(sets: Sequence[str], columns: Sequence[str], seed: int, *, named: bool) -> str:
    # A set's name has no +, but may have a - of its own.
    whose = "+".join(sets) if named or sets == (SHIPPED,) else "all"
    by = f"-by-{'-'.join(columns)}" if columns else ""
    return f"{whose}{by}-seed-{seed}"


def _last(reader: Reader, found: Drawn, *, named: bool) -> Drawn | None:
    """The last draw of the name, if it is this one; a name that means another sample is refused.

    Where no set was named all are meant, and there may be others now.
    """
    rows = reader.rows(
        "SELECT draw, sets, strata, seed, asked, frame_hash FROM store.bug_draw WHERE sample = ? "
        "ORDER BY draw DESC LIMIT 1",
        [found.sample],
    )
    if not rows:
        return None
    last = rows[0]
    same_sets = not named or last["sets"] == list(found.sets)
    if not same_sets or (last["strata"], last["seed"]) != (list(found.columns), found.seed):
        by = ", ".join(last["strata"]) or "nothing"
        raise StudyError(
            f"sample {found.sample!r} is another one: of {', '.join(last['sets'])}, stratified by "
            f"{by}, seed {last['seed']}",
            "Give this one another name.",
        )
    same = (last["frame_hash"], last["asked"]) == (found.frame_hash, found.asked)
    return replace(found, draw=last["draw"], is_new=False) if same else None


def _put(writer: Writer, found: Drawn, frame: Frame, run: provenance.Run) -> Drawn:
    import pyarrow as pa

    number = 1 + int(
        writer.value(
            "SELECT coalesce(max(draw), 0) FROM store.bug_draw WHERE sample = ?", [found.sample]
        )
    )
    writer.execute(
        "INSERT INTO store.bug_draw VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            found.sample,
            number,
            list(found.sets),
            list(found.columns),
            found.seed,
            found.asked,
            len(found.bug_ids),
            found.frame_count,
            found.frame_hash,
            found.rule,
            run.started_at,
            run.run_id,
        ],
    )
    positions = {bug_id: at for at, bug_id in enumerate(found.bug_ids, 1)}
    count = len(frame.members)
    arrow_rows.insert(
        writer,
        "store.bug_sample",
        pa.table(
            {
                "sample": [found.sample] * count,
                "draw": pa.array([number] * count, pa.int32()),
                "bug_id": [each.artifact_id for each in frame.members],
                "stratum": [each.stratum for each in frame.members],
                "position": pa.array(
                    [positions.get(each.artifact_id) for each in frame.members], pa.int32()
                ),
                "run_id": [run.run_id] * count,
            }
        ),
    )
    return replace(found, draw=number)
