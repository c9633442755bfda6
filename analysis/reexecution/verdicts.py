"""The words of verdicts. How they are reached: judging.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What the runs of a bug show together."""

    VERIFIED = "verified"  # the symptom happens, and the fix removes it
    REPRODUCED = "reproduced"  # it happens; whether the fix removes it was not shown
    NOT_REPRODUCED = "not reproduced"  # the program did its work, and the symptom did not happen
    FLAKY = "flaky"  # it happens now and then, and the sides do not differ for certain
    INVALID = "invalid"  # the artifact cannot say: the same failure on both sides, no data, ...
    INFRASTRUCTURE = "infrastructure"  # this host could not run it; another might


class Reason(StrEnum):
    """Why it is not verified."""

    NONE = ""
    FIX_NOT_SHOWN = "fix not shown"
    NOT_TRIGGERED = "not triggered"
    REVERSED = "reversed"  # the symptom happens on the fixed side only
    DISAGREEMENT = "disagreement"
    MISSING_DEPENDENCY = "missing dependency"
    INTERPRETER = "interpreter"
    MISSING_DATA = "missing data"
    TIMEOUT = "timeout"
    ARTIFACT_DEFECT = "artifact defect"
    DEVICE = "device"
    HOST = "host"


@dataclass(frozen=True)
class Judgement:
    """The verdict so far; `wanted` is the number of runs a side that would settle it."""

    verdict: Verdict
    reason: Reason
    detail: str  # one line for people: the evidence
    wanted: int = 0  # 0: settled
    rule: str = ""  # which rule decided: 'all and none', 'fisher', 'mann-whitney', ...
    buggy_runs: int = 0
    buggy_shown: int = 0
    fixed_runs: int = 0
    fixed_shown: int = 0
    p_value: float | None = None
    effect: float | None = None  # Vargha-Delaney A12 of a measured symptom
    signature: str = ""  # of the symptom, where it is a crash
    evidence: dict[str, Any] = field(default_factory=dict)
