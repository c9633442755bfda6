"""How items are settled: what people decided, what all said, what most said.

What follows from labels is derived anew each time. What no label says, the final column of a sheet
or the outcome of a discussion, stays until people decide anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultatlas.annotation.labels import NEW_CODE
from faultatlas.annotation.settling.settlements import Decision, SettledBy

if TYPE_CHECKING:
    from faultatlas.annotation.settling.situation import Situation, Voice

DISCUSSED = "agreed in discussion"
THIRD = "decided by a third rater"
REOPENED = "open again: the labels have changed since"

# Why an item is open.
UNLABELLED = "unlabelled"
SINGLE = "one rating"
DISAGREEMENT = "disagreement"
NEW = "new code needed"
RELABEL = "to be labelled again"
AGAIN = "to be settled again"  # its final code was split or retired, and no label says what it is
GONE = "label ended"
REASONS = (DISAGREEMENT, NEW, AGAIN, RELABEL, SINGLE, UNLABELLED, GONE)


@dataclass(frozen=True)
class Rules:
    """What may settle an item, besides what people decided and what all raters said."""

    majority: bool = False
    single: bool = False
    third: str | None = None  # this one's decisions replace every other


@dataclass
class Proposals:
    """What rules make of a round."""

    decisions: list[Decision] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)  # by hand, other than the labels say
    reopened: int = 0


@dataclass(frozen=True)
class _Verdict:
    codes: frozenset[str]
    settled_by: SettledBy
    rule: str
    adjudicator: str | None = None


def propose(situation: Situation, rules: Rules) -> Proposals:
    """The decisions that hold by these rules, and what they reopen or leave as it is."""
    found = Proposals()
    for item in situation.items:
        verdict = _verdict(situation, item, rules)
        there = situation.holding(item)
        if isinstance(verdict, str):
            if there is not None and _falls(there, verdict, rules):
                found.reopened += 1
                found.decisions.append(_reopened(there, situation.version))
        elif there is not None and _is_by_hand(there) and not _decides(verdict, rules):
            if frozenset(there.codes) != verdict.codes:
                found.kept[there.settled_by] += 1
        else:
            found.decisions.append(
                Decision(
                    item,
                    tuple(sorted(verdict.codes)),
                    verdict.settled_by,
                    verdict.rule,
                    situation.version,
                    verdict.adjudicator,
                )
            )
    return found


def open_items(situation: Situation) -> dict[str, str]:
    """The items without a final code, and why."""
    found = {}
    for item in situation.items:
        if situation.holding(item) is None:
            verdict = _verdict(situation, item, Rules())
            if isinstance(verdict, str):
                found[item] = verdict
    return found


def _reopened(there: Decision, version: str) -> Decision:
    return replace(there, codes=(), rule=REOPENED, adjudicator=None, taxonomy_version=version)


def _is_by_hand(there: Decision) -> bool:
    """Whether no label says it: then it cannot be derived anew."""
    return there.settled_by == "imported" or there.rule == DISCUSSED


def _decides(verdict: _Verdict, rules: Rules) -> bool:
    """Whether it is the third rater who was asked for."""
    return rules.third is not None and verdict.adjudicator == rules.third


def _falls(there: Decision, reason: str, rules: Rules) -> bool:
    """Whether what the labels have settled does not follow from them any more.

    What a rule has settled once that is not asked for now stays.
    """
    if _is_by_hand(there) or reason == RELABEL:
        return False
    if there.settled_by == "majority" and reason == DISAGREEMENT:
        return rules.majority
    return not (there.settled_by == "single" and reason == SINGLE)


def _verdict(situation: Situation, item: str, rules: Rules) -> _Verdict | str:
    """What settles an item, or why it is open."""
    by_people = _by_people(situation, item, rules)
    if by_people is not None:
        return by_people
    voices = situation.voices(item)
    if situation.is_undecided(item):
        return RELABEL
    if len(voices) < 2 and not (voices and rules.single):
        return _why_too_few(situation, item, voices)
    if len(voices) == 1:
        return _checked(_Verdict(voices[0].codes, "single", "said by the only rater of the item"))
    return _by_rule(voices, rules)


def _why_too_few(situation: Situation, item: str, voices: Sequence[Voice]) -> str:
    if situation.told_before(item) is not None:
        return AGAIN
    if voices:
        return SINGLE
    is_gone = situation.is_ended(item) or item in situation.ended_finals
    return GONE if is_gone else UNLABELLED


def _by_people(situation: Situation, item: str, rules: Rules) -> _Verdict | str | None:
    thirds = situation.thirds(item, rules.third) or situation.thirds(item)
    if thirds:
        who = ", ".join(dict.fromkeys(voice.rater for voice in thirds))
        codes = {voice.codes for voice in thirds}
        if len(codes) > 1:
            return DISAGREEMENT
        return _checked(_Verdict(codes.pop(), "adjudicated", THIRD, who))
    outcomes = situation.outcomes(item)
    if outcomes:
        codes = {voice.codes for voice in outcomes}
        if len(codes) > 1:
            return DISAGREEMENT
        return _checked(_Verdict(codes.pop(), "negotiated", f"{DISCUSSED}, noted for all raters"))
    return None


def _by_rule(voices: Sequence[Voice], rules: Rules) -> _Verdict | str:
    count = len(voices)
    is_discussed = any(voice.stage == "negotiated" for voice in voices)
    after = "after discussion " if is_discussed else ""
    said = {voice.codes for voice in voices}
    if len(said) == 1:
        by: SettledBy = "negotiated" if is_discussed else "unanimous"
        return _checked(_Verdict(said.pop(), by, f"{after}all {count} raters said the same"))
    if not rules.majority:
        return DISAGREEMENT
    given = Counter(code for voice in voices for code in voice.codes)
    won = frozenset(code for code, times in given.items() if 2 * times > count)
    if not won:
        return DISAGREEMENT
    times = _times(given, won)
    return _checked(
        _Verdict(
            won, "majority", f"{after}more than half of the raters said so ({times} of {count})"
        )
    )


def _times(given: Mapping[str, int], won: frozenset[str]) -> str:
    return ", ".join(str(given[code]) for code in sorted(won))


def _checked(verdict: _Verdict) -> _Verdict | str:
    """A code that does not exist yet settles nothing."""
    return NEW if NEW_CODE in verdict.codes else verdict
