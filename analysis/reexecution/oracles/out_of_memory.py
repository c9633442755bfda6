"""Out of memory: the kernel's counter says so, or the framework does, in its last words.

A bare SIGKILL or exit code 137 says nothing: somebody may have killed the run for other reasons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import cut, failed, idle
from faultatlas.analysis.reexecution.progress import got_past
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting

SYMPTOM = Symptom.OUT_OF_MEMORY
ABOUT = "the memory of the machine or of the GPU does not suffice"
_TYPES = frozenset(
    {"MemoryError", "_ArrayMemoryError", "ResourceExhaustedError", "OutOfMemoryError"}
)
_WORDS = re.compile(
    r"out of memory|OOM when allocating|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|"
    r"CUBLAS_STATUS_ALLOC_FAILED|std::bad_alloc|can't allocate memory|[Cc]annot allocate memory|"
    r"not enough memory|Unable to allocate \S{1,20} \w{1,3}iB|bad_malloc|"
    r"[Mm]emory allocation failed"
)


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """Whether the run ran out of memory."""
    if (how := ran_out(observed)) is not None:
        signature = "out of memory"
        failure = observed.failure
        if failure is not None and failure.ended:
            signature = failure.signature
        return Sighting(True, observed.run.peak_memory_mb, signature, how)
    if observed.failure is not None and observed.failure.ended:
        return failed(observed.failure)
    if observed.run.outcome is Outcome.EXITED:
        peak = observed.run.peak_memory_mb
        ends = Sighting(False, peak, detail=f"ends, with {peak:.4g} MB at most")
        return idle(observed, across) or ends
    if got_past(observed, [each for each in across if ran_out(each) is not None]):
        return Sighting(False, detail="cut, but past the point where memory ran out")
    return cut(bug, observed)


def ran_out(observed: Observed) -> str | None:
    """How it is known that a run ran out of memory; None if it did not."""
    run, failure = observed.run, observed.failure
    if run.outcome is Outcome.OUT_OF_MEMORY or run.memory_kills:
        return f"the kernel stopped it at its limit of memory ({run.peak_memory_mb:.4g} MB)"
    if failure is None or not failure.ended:
        return None
    if failure.name in _TYPES or _WORDS.search(failure.message[:2_000]):
        return f"ends with {failure}"
    return None
