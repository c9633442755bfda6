"""NaN: a number that the program prints, or stores, is NaN or infinite.

With the oracle's `pattern` every number that it finds is looked at. Without one, `nan` counts
where a number is expected: after a loss, a score, a gradient, or another name and a colon; in
brackets; in a line of numbers; and in the message of the error that ends the program. The words
of a data set's table, of a parameter's default (missing=nan) or of a progress line (improved from
inf to 0.3) do not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import cut, failed, idle
from faultatlas.analysis.reexecution.numbers import number_in
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sightings import Observed, Sighting, no_work, text_of
from faultatlas.analysis.reexecution.traces.normalising import plain

SYMPTOM = Symptom.NAN
ABOUT = "a number that should be one is NaN or infinite"
_QUANTITY = (
    r"(?<![A-Za-z_])(?!best|min|max|init|lowest|error_score)[A-Za-z_]{0,30}"
    r"(?:loss|acc|accuracy|cost|err|error|mse|mae|rmse|perplexity|ppl|norm|grad|gradient|auc|f1|"
    r"reward|score|entropy|likelihood|elbo|kl|pred|prediction|output|mean|std|result|weights?|bias|"
    r"logits?|objective)"
    # what is set, such as weight_decay, is no result
    r"(?:_(?!(?:decay|clip|limit|threshold|tol)(?![A-Za-z]))[A-Za-z0-9_]{0,20}|e?s|[0-9]{1,3})?"
    r"(?: value| is| at \S{1,20})?"
)
_NAMED = re.compile(
    rf"{_QUANTITY}['\"]?\s{{0,4}}[:=]?\s{{0,4}}(?:tensor|array|np\.float\d\d)?[(\[]{{0,4}}"
    r"[-+]?(?:nan|inf(?:inity)?(?!\s{0,4}(?:[-=]{1,3}>|\u2192)))"  # inf -> 0.3: it has improved
    r"(?![\w.%/-]|:\s|\s(?:check|count|filter|mask|test)s?\b)",
    re.IGNORECASE,
)
# Words before a quantity that make it the mark to beat, or a setting: `best loss: inf`.
_NO_RESULT = re.compile(
    r"\b(?:best|min|minimum|minimal|max|maximum|lowest|highest|prev|previous|last|old|init|initial|"
    r"initialised|initialized|start|starting|clip|clipping|from)(?:\W{1,3}\w{1,20})?\W{1,3}$",
    re.IGNORECASE,
)
# Numbers go on behind it, or the bracket closes, or the line ends, or settings of a tensor follow.
_IN_BRACKETS = re.compile(
    r"[\[(]\s{0,4}(?:[-+]?[\d.e+-]{1,25},?\s{1,4}){0,8}-?nan\b"
    r"(?=[\s,]{0,8}(?:$|[\])\[(]|[-+]?(?:\d|\.|nan\b|inf)|\w{1,20}=|None\b))"
)
_NUMBERS = re.compile(
    r"^[\s\[(]{0,8}(?:[-+]?[\d.][\d.e+-]{0,25}[ \t,;]{1,8}){0,20}-?nan"
    r"(?=[\s,;\])]{0,8}(?:$|[-+\d.\[(]|-?nan|-?inf))"
)
# Any other name, where it is written as results are; not the parameters of something.
_LABELLED = re.compile(
    r"(?<![\w.-])(?!(?:missing|fill|default|na_|null|best|min|max|init|lowest|prev|old|last_best))"
    r"[A-Za-z_][\w/.-]{0,40}(?: \d{1,9})?\s{0,4}[:=]\s{0,4}[-+]?nan(?=$|[\s,;|])"
)
_TOKEN = re.compile(r"\b(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_LONGEST_LINE = 2_000  # before and after a token
_IN_ERROR = re.compile(
    r"\b(?:is|are|was|had|has|contains?|returned|produced|became|in|with loss =|to|:) "
    r"(?:a |an )?nan\b|\bnan (?:values?|loss|in summary|detected|or inf)|NanLossDuringTraining|"
    r"inf or nan|nan or inf|diverged",
    re.IGNORECASE,
)


def seen(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """Whether the run met a NaN."""
    file = bug.oracle.file
    is_stale = file and observed.run.files.get(file, "fresh") != "fresh"
    at = None if is_stale else first_nan(bug, observed)
    if at is not None:
        return Sighting(True, math.nan, "nan", f"NaN or infinity: {at[1]}")
    if observed.failure is not None and observed.failure.ended:
        return failed(observed.failure)
    count = numbers_seen(bug, observed)
    if observed.run.outcome is Outcome.EXITED:
        finite = Sighting(False, detail="all numbers are finite")
        nothing = no_work("no work done: it printed no number")
        return idle(observed, across) or (finite if count else nothing)
    others = [found[0] for each in across if (found := first_nan(bug, each)) is not None]
    if others and count > max(others):
        return Sighting(False, detail="cut, but it printed more numbers than came before a NaN")
    return cut(bug, observed)


def first_nan(bug: Bug, observed: Observed) -> tuple[int, str] | None:
    """How many numbers were printed before the first NaN, and what it looked like."""
    failure = observed.failure
    if bug.oracle.pattern:
        for count, text in enumerate(observed.found or ()):
            number = number_in(text)
            if number is not None and not math.isfinite(number):
                return count, plain(text, 80)
    else:
        text = text_of(bug, observed) or ""
        low = text.lower()
        for token in _TOKEN.finditer(text) if "nan" in low or "inf" in low else ():
            if said := _said(text, token):
                return _digits(text[: token.start()]), said
    if failure is not None and failure.ended and _IN_ERROR.search(failure.message[:2_000]):
        return numbers_seen(bug, observed), str(failure)
    return None


def numbers_seen(bug: Bug, observed: Observed) -> int:
    """How many numbers, or digits where there is no pattern, the run printed."""
    if bug.oracle.pattern:
        return sum(number_in(text) is not None for text in observed.found or ())
    return _digits(text_of(bug, observed) or "")


def _said(text: str, token: re.Match[str]) -> str:
    """What stands around a token that is a number; '' where it is only a word."""
    start = max(text.rfind("\n", 0, token.start()) + 1, token.start() - _LONGEST_LINE)
    line = text[start : token.end() + _LONGEST_LINE].partition("\n")[0]
    for named in _NAMED.finditer(line):
        if not _NO_RESULT.search(line[max(0, named.start() - 60) : named.start()]):
            return plain(named[0][-80:])
    for pattern in (_IN_BRACKETS, _NUMBERS):
        if found := pattern.search(line):
            return plain(found[0][-80:])
    for named in _LABELLED.finditer(line):
        if not set("([{'\"") & set(line[: named.start()]):
            return plain(named[0])
    return ""


def _digits(text: str) -> int:
    return sum(map(text.count, "0123456789"))
