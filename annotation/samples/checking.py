"""Whether a sample is what its definition gives: derived again from what was stored, and today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.samples.drawing import Drawn, draw
from annotation.samples.frame import read_frame, stored_frame
from data.errors import StudyError

if TYPE_CHECKING:
    from annotation.samples.storage import Sample
    from data.store import Reader


@dataclass(frozen=True)
class Check:
    """What deriving a sample again showed."""

    problems: tuple[str, ...]  # of what is stored; none if it is what the seed gives
    came: int | None  # into the frame since the last draw; None if it cannot be asked today
    went: int | None
    is_same_today: bool  # whether the frame of today would give the very same sample
    today: str  # in words

    @property
    def is_derived(self) -> bool:
        """Whether the stored frames and the seed give what is stored."""
        return not self.problems


def check_sample(reader: Reader, sample: Sample) -> Check:
    """Derive every draw from its stored frame, and the whole from what the query gives now."""
    problems: list[str] = []
    before: tuple[Drawn, ...] = ()
    for each in sample.draws:
        frame = stored_frame(reader, each.frame_hash)
        if (frame.digest, len(frame.members)) != (each.frame_hash, each.frame_count):
            problems.append(f"the stored frame of draw {each.number} is not the one it was")
        made = draw(frame, sample.definition, each.sizing, before)
        stored = tuple(one for one in sample.drawn if one.draw == each.number)
        if made.new != stored:
            problems.append(
                f"draw {each.number} has {len({*stored} - {*made.new}):,} artifacts or positions "
                "that the seed does not give"
            )
        before += stored
    return _today(reader, sample, tuple(problems))


def _today(reader: Reader, sample: Sample, problems: tuple[str, ...]) -> Check:
    last = stored_frame(reader, sample.last.frame_hash)
    try:
        now = read_frame(reader, sample.definition)
    except StudyError as error:
        return Check(problems, None, None, False, f"it cannot be asked any more: {error.message}")
    came, went = len(now.ids - last.ids), len(last.ids - now.ids)
    if now.digest == last.digest:
        return Check(problems, came, went, not problems, "the frame is the same today")
    before: tuple[Drawn, ...] = ()
    for each in sample.draws:
        before += draw(now, sample.definition, each.sizing, before).new
    same = before == sample.drawn
    changed = f"{came:,} came and {went:,} went"
    if not came and not went:
        changed = "its artifacts are the same, their strata or values are not"
    draws = "the same sample" if same else "another sample"
    return Check(problems, came, went, same, f"the frame has changed ({changed}) and gives {draws}")
