"""Whether a sample is what its definition gives: derived again from what was stored, and today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.samples.drawing import Drawn, draw, pools_of
from faultatlas.annotation.samples.frame import Frame, read_frame, stored_frame
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.samples.storage import Sample
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Check:
    """What deriving a sample again showed."""

    problems: tuple[str, ...]  # of what is stored; none if it is what the seed gives
    came: int | None  # into the frame since the last draw; None if it cannot be asked today
    went: int | None
    is_same_today: bool  # whether the frame of today would give the very same sample
    forgotten: int  # artifacts that were drawn and then forgotten
    today: str  # in words

    @property
    def is_derived(self) -> bool:
        """Whether the stored frames and the seed give what is stored."""
        return not self.problems


def check_sample(reader: Reader, sample: Sample) -> Check:
    """Derive every draw from its stored frame, and the whole from what the query gives now."""
    problems: list[str] = []
    before: tuple[Drawn, ...] = ()
    buried = reader.value("SELECT count(*) FROM store.forgotten WHERE kind = 'artifact'")
    if sample.missing > buried:
        problems.append(f"{sample.missing - buried:,} artifacts that were drawn are missing")
    for each in sample.draws:
        frame = stored_frame(reader, each.frame_hash)
        gone = each.frame_count - len(frame.members)
        if gone not in range(buried + 1) or (not gone and frame.digest != each.frame_hash):
            problems.append(f"the stored frame of draw {each.number} is not the one it was")
        stored = tuple(one for one in sample.drawn if one.draw == each.number)
        made = draw(frame, sample.definition, each.sizing, before).new
        if made != stored and not (buried and _is_beginning(frame, sample, stored, before)):
            problems.append(
                f"draw {each.number} has {len({*stored} - {*made}):,} artifacts or positions "
                "that the seed does not give"
            )
        before += stored
    return _today(reader, sample, tuple(problems))


def _is_beginning(
    frame: Frame, sample: Sample, stored: Sequence[Drawn], before: Sequence[Drawn]
) -> bool:
    """Whether of each stratum the first that are left were drawn, in their order.

    That is so if others were forgotten since, whichever they were.
    """
    pools = pools_of(frame, sample.definition, before)
    found: dict[str, list[str]] = {}
    for one in stored:
        found.setdefault(one.stratum, []).append(one.artifact_id)
    return all(
        ids == [member.artifact_id for _key, member in pools.get(stratum, ())[: len(ids)]]
        for stratum, ids in found.items()
    )


def _today(reader: Reader, sample: Sample, problems: tuple[str, ...]) -> Check:
    last = stored_frame(reader, sample.last.frame_hash)
    lost = sample.missing
    try:
        now = read_frame(reader, sample.definition)
    except StudyError as error:
        said = f"it cannot be asked any more: {error.message}"
        return Check(problems, None, None, False, lost, said)
    came, went = len(now.ids - last.ids), len(last.ids - now.ids)
    if now.digest == last.digest:
        return Check(problems, came, went, not problems, lost, "the frame is the same today")
    before: tuple[Drawn, ...] = ()
    for each in sample.draws:
        before += draw(now, sample.definition, each.sizing, before).new
    same = before == sample.drawn
    changed = f"{came:,} came and {went:,} went"
    if not came and not went:
        changed = "its artifacts are the same, their strata or values are not"
    draws = "the same sample" if same else "another sample"
    said = f"the frame has changed ({changed}) and gives {draws}"
    return Check(problems, came, went, same, lost, said)
