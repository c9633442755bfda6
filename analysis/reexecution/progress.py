"""How far a run got that a limit cut: past the point where the other side's runs failed, or not."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed

# A run that was cut is past the point where others failed if it ran twice as long as they did and
# wrote more than they had written by then; if they had written nothing, five times as long.
TWICE, FIVE_TIMES = 2.0, 5.0


def got_past(cut: Observed, failed: Sequence[Observed]) -> bool:
    """Whether a run that was cut got further than all of these, which failed."""
    if not failed or cut.run.outcome not in {Outcome.TIMED_OUT, Outcome.OUTPUT_LIMIT}:
        return False
    if cut.failure is not None and cut.failure.key in {
        each.failure.key for each in failed if each.failure
    }:
        return False  # the same error is its last word, whatever kept it alive
    longest = max(each.run.duration_s for each in failed)
    before = max(each.failure.written if each.failure else 0 for each in failed)
    if before <= 1:
        return cut.run.duration_s >= FIVE_TIMES * longest
    wrote = len(cut.stdout) + len(cut.stderr)
    return cut.run.duration_s >= TWICE * longest and wrote > before
