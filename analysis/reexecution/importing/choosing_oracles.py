"""Our own oracle for an imported bug, from what its authors say about it.

Theirs is never used: of a suite that compares a number only the number is taken, as a rule that
both sides are held to.
"""

from __future__ import annotations

import re

from faultatlas.analysis.reexecution.bugs import Oracle, Symptom
from faultatlas.analysis.reexecution.importing.printed_scores import Printed
from faultatlas.analysis.reexecution.importing.suites import Asked, Suite

_NAN = re.compile(r"\bnans?\b|not[- ]a[- ]number|not[- ]finite", re.IGNORECASE)
# Not 'stuck' or 'freeze': an accuracy is stuck, and layers are frozen.
_HANG = re.compile(r"\bhangs?\b|\bnever (?:ends|returns|finishes)\b", re.IGNORECASE)
_MEMORY = re.compile(r"\boom\b|out[- ]of[- ]memory|memory (?:overflow|error|leak)", re.IGNORECASE)
_TIME = re.compile(
    r"\btakes? (?:\w+ )?(?:longer|too long|more (?:time|than))\b"
    r"(?! \S+ (?:epochs?|steps?|iterations?))|"
    r"\bspeed of (?!learning|convergence)|\b(?:training|running|execution|inference) time\b|"
    r"low efficiency",
    re.IGNORECASE,
)
# Not 'slowly': what learns or converges slowly, or is slow in it, has a bad score.
_SLOW = re.compile(r"\bslow(?:er|s|ed)?\b", re.IGNORECASE)
_LEARNS = re.compile(
    r"\bconverg|\blearn(?:s|ing)? (?:\w+ ){0,2}slow|\bslow(?:er)? (?:to )?learn", re.IGNORECASE
)
# What Keras prints behind each epoch.
_KERAS_SCORE = r"\bacc(?:uracy)?: (\d\.\d+(?:e[-+]\d+)?)"
_KERAS_LOSS = r"\bloss: (nan|inf|\d+\.\d+(?:e[-+]\d+)?)"

CODES = {
    "crash": Symptom.CRASH,
    "hang": Symptom.HANG,
    "memory-out-of-bound": Symptom.OUT_OF_MEMORY,
    "bad-performance": Symptom.BAD_PERFORMANCE,
    "incorrect-functionality": Symptom.INCORRECT_OUTPUT,
    "data-corruption": Symptom.INCORRECT_OUTPUT,
}


def by_words(code: str, words: str) -> Symptom | None:
    """The symptom that the words name more exactly than the label does."""
    if code == "memory-out-of-bound" or (code != "bad-performance" and _MEMORY.search(words)):
        return Symptom.OUT_OF_MEMORY
    if _NAN.search(words):
        return Symptom.NAN
    if code == "hang" or _HANG.search(words):
        return Symptom.HANG
    return CODES.get(code)


def is_about_time(words: str) -> bool:
    """Whether the complaint is about time, not about a score."""
    if _TIME.search(words):
        return True
    return bool(_SLOW.search(words)) and not _LEARNS.search(words)


def of_suite(code: str, words: str, suite: Suite, result: str, *, uses_keras: bool) -> Oracle:
    """The oracle of a bug with a test suite; `result` is the file where its number stands."""
    symptom = by_words(code, words)
    asked = suite.asked if result else None
    if symptom is Symptom.NAN and code == "crash" and suite.raises:
        return Oracle(Symptom.CRASH)
    if symptom is Symptom.NAN and asked and asked.operator == "!=":
        return Oracle(Symptom.NAN, pattern=asked.pattern, file=result)
    if symptom is Symptom.BAD_PERFORMANCE:
        if asked and asked.has_direction:
            return Oracle(symptom, pattern=asked.pattern, file=result, better=asked.better)
        return _performance(words, None, uses_keras=uses_keras)
    if symptom is Symptom.INCORRECT_OUTPUT:
        return Oracle(Symptom.CRASH) if suite.raises else _compared(asked, result)
    return Oracle(symptom or Symptom.CRASH)


def _compared(asked: Asked | None, result: str) -> Oracle:
    """The number that a suite asks of the fixed side, as a rule of ours.

    What it asks of the buggy side may be the symptom or what is right; and a suite that asks for a
    higher loss has its number the wrong way round. Of neither a rule is made.
    """
    if asked is None or asked.threshold is None or asked.side != "fixed" or asked.is_reversed:
        return Oracle(Symptom.INCORRECT_OUTPUT)
    return Oracle(
        Symptom.INCORRECT_OUTPUT,
        pattern=asked.pattern,
        file=result,
        expected=asked.threshold if asked.operator == "==" else None,
        at_least=asked.threshold if asked.operator in {">", ">="} else None,
        at_most=asked.threshold if asked.operator in {"<", "<="} else None,
    )


def of_script(code: str, words: str, printed: Printed | None, *, uses_keras: bool) -> Oracle:
    """The oracle of a pair of scripts, by what they print."""
    symptom = by_words(code, words) or Symptom.CRASH
    if symptom is Symptom.BAD_PERFORMANCE:
        return _performance(words, printed, uses_keras=uses_keras)
    return Oracle(symptom)


def _performance(words: str, printed: Printed | None, *, uses_keras: bool) -> Oracle:
    if _MEMORY.search(words):
        return Oracle(Symptom.BAD_PERFORMANCE, measure="peak memory", better="lower")
    if is_about_time(words):
        return Oracle(Symptom.BAD_PERFORMANCE, measure="duration", better="lower")
    if printed:
        return Oracle(Symptom.BAD_PERFORMANCE, pattern=printed.pattern, better=printed.better)
    if uses_keras:
        score = bool(re.search(r"accura|score", words, re.IGNORECASE))
        return Oracle(
            Symptom.BAD_PERFORMANCE,
            pattern=_KERAS_SCORE if score else _KERAS_LOSS,
            better="higher" if score else "lower",
        )
    return Oracle(Symptom.INCORRECT_OUTPUT)
