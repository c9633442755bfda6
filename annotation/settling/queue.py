"""The queue of disagreements, hardest first, without the names of raters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import NEW_CODE, SPECIAL, UNCLEAR
from faultatlas.annotation.settling.rules import AGAIN, DISAGREEMENT, NEW, open_items

if TYPE_CHECKING:
    from faultatlas.annotation.settling.situation import About, Situation, Voice
    from faultatlas.data.taxonomy import Taxonomy

RULE = (
    "Difficulty is the sum of four parts, each from 0 to 1: how evenly raters are divided "
    "(entropy of their answers by the most that so many raters can have), how far their codes are "
    "apart in the tree (mean over pairs of raters), the share of raters who found it unclear or "
    "miss a code, and how unsure raters were (5 is sure, 1 a guess)."
)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How hard an item is to settle."""

    answers: int  # different ones
    entropy: float
    distance: float
    unclear: float
    unsure: float

    @property
    def score(self) -> float:
        """All of it: what the queue is ordered by."""
        return self.entropy + self.distance + self.unclear + self.unsure


@dataclass(frozen=True)
class Case:
    """An item that waits for people."""

    about: About
    reason: str
    voices: tuple[tuple[str, Voice], ...]  # as Rater A, B, ...
    difficulty: Difficulty
    before: str = ""  # what was final in an earlier version and is open now


def queue_of(situation: Situation) -> list[Case]:
    """The items that people have to decide, hardest first.

    Raters disagree about them, a code is missing, or their final code is another one now.
    """
    cases = [
        Case(
            situation.items[item],
            reason,
            tuple(situation.anonymous(item)),
            difficulty([voice for _, voice in situation.anonymous(item)], situation.taxonomy),
            _before(situation, item),
        )
        for item, reason in open_items(situation).items()
        if reason in (DISAGREEMENT, NEW, AGAIN)
    ]
    return sorted(cases, key=lambda case: -case.difficulty.score)  # ties stay in their order


def _before(situation: Situation, item: str) -> str:
    there = situation.told_before(item)
    return f"final in {there.taxonomy_version}: {', '.join(there.codes)}" if there else ""


def difficulty(voices: list[Voice], taxonomy: Taxonomy) -> Difficulty:
    """How hard it is to bring these raters together."""
    count = len(voices)
    answers = Counter(voice.codes for voice in voices)
    most = math.log2(count) if count > 1 else 1.0
    entropy = sum(each / count * math.log2(count / each) for each in answers.values()) / most
    pairs = list(combinations(voices, 2))
    apart = sum(_distance(one.codes, other.codes, taxonomy) for one, other in pairs)
    doubting = sum(bool(voice.codes & {UNCLEAR, NEW_CODE}) for voice in voices)
    given = [voice.confidence for voice in voices if voice.confidence is not None]
    return Difficulty(
        answers=len(answers),
        entropy=entropy,
        distance=apart / len(pairs) if pairs else 0.0,
        unclear=doubting / count if count else 0.0,
        unsure=(5 - sum(given) / len(given)) / 4 if given else 0.0,
    )


def _distance(one: frozenset[str], other: frozenset[str], taxonomy: Taxonomy) -> float:
    """Between two sets of codes: of each code to the nearest of the other set, on average."""
    from faultatlas.analysis.statistics.agreement.distances import tree_distances

    if one == other:
        return 0.0
    codes = [*sorted(one), *sorted(other)]
    between = tree_distances([taxonomy.lineage(code) for code in codes])[: len(one), len(one) :]
    nearest = [*between.min(axis=1), *between.min(axis=0)]
    return float(sum(nearest) / len(nearest))


def named(codes: frozenset[str], taxonomy: Taxonomy) -> str:
    """Codes with their names, as people read them."""
    return "; ".join(_named(code, taxonomy) for code in sorted(codes))


def _named(code: str, taxonomy: Taxonomy) -> str:
    if code in SPECIAL:
        return SPECIAL[code]
    return f"{code} {taxonomy.node(code).name}" if code in taxonomy else code


def said(voice: Voice, taxonomy: Taxonomy) -> str:
    """What a rater said, with the code that she proposes."""
    text = named(voice.codes, taxonomy)
    return f"{text}: {voice.proposed}" if voice.proposed else text


def queue_lines(cases: list[Case], taxonomy: Taxonomy, limit: int) -> Iterator[str]:
    """The queue for people."""
    for at, case in enumerate(cases[:limit], 1):
        yield ""
        yield f"{at}. {case.about.item_id}  difficulty {case.difficulty.score:.2f}"
        for line in (case.about.title, case.about.url):
            if line:
                yield f"   {line}"
        if case.before:
            yield f"   {case.before}"
        for name, voice in case.voices:
            notes = ["after discussion"] if voice.stage == "negotiated" else []
            notes += [] if voice.confidence is None else [f"confidence {voice.confidence:g}"]
            notes += [f'"{" ".join(voice.comment.split())}"'] if voice.comment else []
            more = f"  ({', '.join(notes)})" if notes else ""
            yield f"   Rater {name}  {said(voice, taxonomy)}{more}"
    if len(cases) > limit:
        yield ""
        yield f"... and {len(cases) - limit:,} more: --limit {len(cases)}"


def queue_document(cases: list[Case], taxonomy: Taxonomy, limit: int) -> list[dict[str, Any]]:
    """The queue for programs."""
    return [
        {
            "item": case.about.item_id,
            "artifact": case.about.artifact_id,
            "url": case.about.url,
            "title": case.about.title,
            "reason": case.reason,
            "before": case.before or None,
            "labels": [
                {
                    "rater": name,
                    "codes": sorted(voice.codes),
                    "names": named(voice.codes, taxonomy),
                    "after_discussion": voice.stage == "negotiated",
                    "confidence": voice.confidence,
                    "comment": voice.comment,
                    "proposed": voice.proposed,
                }
                for name, voice in case.voices
            ],
            "difficulty": {
                "score": case.difficulty.score,
                "answers": case.difficulty.answers,
                "entropy": case.difficulty.entropy,
                "distance": case.difficulty.distance,
                "unclear": case.difficulty.unclear,
                "unsure": case.difficulty.unsure,
            },
        }
        for case in cases[:limit]
    ]
