"""Words for agreement against a scale: the named one, or any one that gives all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from faultatlas.analysis.statistics.scales import AGREEMENT_SCALES as SCALES
from faultatlas.analysis.statistics.scales import word
from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "kappa-word"
ABOUT = "words for kappa or alpha (substantial) against a scale, or against all if none is named"
FIELDS = {
    "values": 'pairs of value and word: [["0.80", "substantial"], ...]',
    "scale": f"{', '.join(SCALES)}; without: one of them must give all words (optional)",
}
EXAMPLE = """
values = [["0.80", "substantial"], ["0.58", "moderate"]]
scale = "landis-koch"
"""
RULE = "the word of the scale for the printed value; near if only a value before rounding has it"

_SHOWN = 3  # words that do not fit

Pairs = Sequence[tuple[Printed, str]]


def check(entry: Entry) -> Outcome:
    """The words, against one scale or against each."""
    pairs = said_pairs(entry)
    if odd := [value.text for value, _said in pairs if abs(value.value) > 1]:
        entry.has("scale")
        reason = f"{odd[0]} is no agreement: -1 to 1"
        return Outcome(failed(entry), "-", RULE, reason, printed=_printed(pairs))
    if entry.has("scale"):
        name = entry.choice("scale", ("landis-koch", *SCALES))
        return _named(entry, pairs, name)
    tried = {name: _agreeing(pairs, partial(word, name)) for name in SCALES}
    computed = "; ".join(f"{SCALES[name].title}: {_words(pairs, name)}" for name in SCALES)
    fits = [SCALES[name].title for name, count in tried.items() if count == len(pairs)]
    printed = _printed(pairs)
    if fits:
        reason = f"no scale is named; {' and '.join(fits)} has all the words"
        return Outcome("consistent", computed, RULE, reason, printed=printed)
    reason = "no single scale gives all the words"
    return Outcome(failed(entry), computed, RULE, reason, printed=printed)


def _named(entry: Entry, pairs: Pairs, name: str) -> Outcome:
    scale = SCALES[name]
    outcome = scaled(entry, pairs, scale.title, partial(word, name), scale.description)
    others = [
        SCALES[other].title
        for other in SCALES
        if other != name and _agreeing(pairs, partial(word, other)) == len(pairs)
    ]
    if outcome.verdict == "consistent":
        return outcome
    listed = [name, *(each for each in SCALES if SCALES[each].title in others)]
    computed = "; ".join(f"{SCALES[each].title}: {_words(pairs, each)}" for each in listed)
    more = f"; {' and '.join(others)} has all the words" if others else ""
    return Outcome(
        outcome.verdict, computed, outcome.rule, outcome.reason + more, printed=outcome.printed
    )


def said_pairs(entry: Entry) -> list[tuple[Printed, str]]:
    """Values and the words that are printed for them."""
    pairs = entry.pairs("values")
    for value, said in pairs:
        if not isinstance(said, str) or not 0 < len(said) <= 60:
            raise entry.error(f"the word for {value.text}", "a text in quotes")
    return [(value.as_fraction(), " ".join(said.lower().split())) for value, said in pairs]


def scaled(
    entry: Entry, pairs: Pairs, title: str, called: Callable[[float], str], bands: str
) -> Outcome:
    """Words against one scale."""
    right = [pair for pair in pairs if pair[1] == called(pair[0].value)]
    close = [
        pair
        for pair in pairs
        if pair not in right and pair[1] in {called(end) for end in pair[0].ends()}
    ]
    wrong = [pair for pair in pairs if pair not in right and pair not in close]
    computed = f"{len(right)} of {len(pairs)} agree"
    rule = f"{RULE} ({title}: {bands})"
    misfits = _listed(
        [f"{value.text} is {called(value.value)}, not {said}" for value, said in wrong or close]
    )
    if len(pairs) == 1:
        computed = called(pairs[0][0].value)
    verdict = failed(entry) if wrong else "near" if close else "consistent"
    reason = f"{title}: {misfits}" if misfits else f"all words are those of {title}"
    return Outcome(verdict, computed, rule, reason, printed=_printed(pairs))


def _listed(misfits: list[str]) -> str:
    rest = len(misfits) - _SHOWN
    return ", ".join(misfits[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _agreeing(pairs: Pairs, called: Callable[[float], str]) -> int:
    return sum(called(value.value) == said for value, said in pairs)


def _words(pairs: Pairs, name: str) -> str:
    return ", ".join(word(name, value.value) for value, _said in pairs)


def _printed(pairs: Pairs) -> str:
    return ", ".join(f"{value.text} {said}" for value, said in pairs)
