"""Compares a computed number with what was printed, and says how."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, about, match, shown, span, within
from faultatlas.report.manuscript.outcomes import BAD, Outcome, Verdict, together

DIGITS = "to the printed digits: rounded or cut agrees, rounded up is near"
INPUTS_ROUNDED = "; near if unrounded inputs could give it"
APPROXIMATE = "printed as approximate: near if it agrees in its leading digits"
BOUND = "printed as a bound: the computed number must keep it"
NOTHING = "nothing is printed to compare with"

_WORDS = {
    "rounded": "comes out by rounding",
    "cut": "comes out by cutting digits, not by rounding",
    "raised": "one more in the last digit: comes out only by rounding up",
}


def failed(entry: Entry) -> Verdict:
    """What a difference means: a contradiction only where the paper states the inputs."""
    return "does not follow" if entry.inferred else "inconsistent"


def compared(
    entry: Entry,
    value: float,
    *,
    ends: tuple[float, float] | None = None,
    fraction: bool = False,
    text: str = "",
) -> Outcome:
    """All printed numbers of an entry against the one that was computed.

    `ends` are the least and the largest value of unrounded inputs. A `fraction` is shown in
    percent where the printed number is one.
    """
    printed = entry.printed()
    if not math.isfinite(value):
        raise entry.error(f"cannot be computed: {value}", "see its numbers")
    if fraction and 0 <= value <= 1:
        refuse_bare_percentages(entry, printed)
    if not printed:
        value = 100 * value if fraction else value
        words = shown(value, Printed("", 0, 0.1, percent=True) if fraction else None)
        return Outcome("cannot be checked", text or words, NOTHING, NOTHING, value)
    outcomes = []
    for each in printed:
        scale = each.scaled if fraction else _as_it_is
        limits = (scale(ends[0]), scale(ends[1])) if ends else None
        outcome = _one(each, scale(value), limits, text)
        if outcome.verdict in BAD:
            outcome = Outcome(
                failed(entry), outcome.computed, outcome.rule, outcome.reason, outcome.value
            )
        outcomes.append(outcome)
    return together(outcomes)


def refuse_bare_percentages(entry: Entry, printed: Sequence[Printed]) -> None:
    """A share above 1 is in percent, and says so: it would look like a contradiction."""
    if bare := [each.text for each in printed if each.value > 1 and not each.percent]:
        raise entry.error(f"printed = {bare[0]!r} is no share", f'in percent: "{bare[0]} %"')


def computed_from(
    entry: Entry,
    inputs: Sequence[Printed],
    compute: Callable[[Sequence[float]], float],
    *,
    fraction: bool = False,
) -> Outcome:
    """A number that follows from others, which are printed rounded."""
    value = entry.guarded(compute, [each.value for each in inputs])
    ends = entry.guarded(span, compute, inputs)
    return compared(entry, value, ends=ends, fraction=fraction)


def _as_it_is(value: float) -> float:
    return value


def _one(printed: Printed, value: float, ends: tuple[float, float] | None, text: str) -> Outcome:
    words = text or shown(value, printed)
    if printed.sign in ("<", "<=", ">", ">="):
        return _bounded(printed, value, ends, text)
    how = match(printed, value)
    if printed.sign == "~" and how == "differs":
        near = about(printed, value)
        reason = f"{shown(value)} {'rounds to' if near else 'is not about'} {printed.text}"
        bare = Printed("", 0, printed.unit / 100, percent=printed.percent)
        words = text or shown(value, bare if printed.unit >= 1 else printed)
        return Outcome("near" if near else "inconsistent", words, APPROXIMATE, reason, value)
    rule = DIGITS + (INPUTS_ROUNDED if _wide(ends) else "")
    if how in ("rounded", "cut"):
        return Outcome("consistent", words, rule, f"{printed.text} {_WORDS[how]}", value)
    if how == "raised":
        return Outcome("near", words, rule, f"{printed.text}: {_WORDS[how]}", value)
    low, high = ends or (value, value)
    if low - printed.half <= printed.value <= high + printed.half and _wide(ends):
        reason = (
            f"{printed.text} is not {words}, but unrounded inputs give {shown(low, printed)} to "
            f"{shown(high, printed)}"
        )
        return Outcome("near", words, rule, reason, value)
    return Outcome("inconsistent", words, rule, f"printed {printed.text}, computed {words}", value)


def _bounded(
    printed: Printed, value: float, ends: tuple[float, float] | None, text: str
) -> Outcome:
    bare = Printed("", 0, printed.unit / 100 if printed.unit < 1 else 0.1, percent=printed.percent)
    words = text or shown(value, bare)
    kept = within(printed, value)
    reason = f"{words} {'keeps' if kept else 'breaks'} {printed.text}"
    if not kept and any(within(printed, end) for end in ends or ()):
        reason += ", but unrounded inputs can keep it"
        return Outcome("near", words, BOUND + INPUTS_ROUNDED, reason, value)
    return Outcome("consistent" if kept else "inconsistent", words, BOUND, reason, value)


def _wide(ends: tuple[float, float] | None) -> bool:
    return ends is not None and ends[1] > ends[0]
