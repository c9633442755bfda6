"""How good a model is on what it has not seen, and which labels it doubts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.analysis.statistics.shares import Share, wilson_share

if TYPE_CHECKING:
    from faultatlas.annotation.suggesting.examples import Example
    from faultatlas.annotation.suggesting.model import Judged, Probabilities

_BINS = 10


@dataclass(frozen=True)
class CodeQuality:
    """A code: how many examples, how many were found, how many of those proposed were right."""

    code: str
    examples: int
    found: Share  # recall
    right: Share  # precision


@dataclass(frozen=True)
class Quality:
    """A model beside the most frequent code, over all labelled texts: rare codes are misses."""

    hits: Share
    baseline: Share
    baseline_code: str
    top_three: Share
    calibration_error: float  # mean difference of probability and share of hits, over ten bins
    codes: tuple[CodeQuality, ...]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A label that the model, not having seen it, would not give."""

    example: Example
    code: str  # the label
    proposed: str  # empty: only the label is doubted, no other code is likelier
    probability: float  # of what it proposes
    given_probability: float  # of the label


def quality(model: Judged) -> Quality:
    """Of a model, on held-out folds. With several codes for an item, a hit is one of them.

    Examples whose codes are too rare to learn count as well, as misses: in use they come up, too.
    """
    first = model.held_out.argmax(axis=1)
    best = [model.codes[at] for at in first]
    order = (-model.held_out).argsort(axis=1)[:, :3]
    total = len(model.examples) + model.beyond
    hits = [code in example.codes for code, example in zip(best, model.examples, strict=True)]
    among = [
        bool(example.codes & {model.codes[at] for at in row})
        for row, example in zip(order, model.examples, strict=True)
    ]
    counts = Counter(code for example in model.examples for code in example.codes)
    frequent = max(model.codes, key=lambda code: (counts[code], code))
    baseline = sum(frequent in example.codes for example in model.examples)
    return Quality(
        hits=wilson_share(sum(hits), total),
        baseline=wilson_share(baseline, total),
        baseline_code=frequent,
        top_three=wilson_share(sum(among), total),
        calibration_error=_calibration_error(model.held_out.max(axis=1), hits),
        codes=tuple(_code_quality(model, best, code) for code in model.codes),
    )


def _code_quality(model: Judged, best: list[str], code: str) -> CodeQuality:
    having = [code in example.codes for example in model.examples]
    proposed = [each == code for each in best]
    both = sum(a and b for a, b in zip(having, proposed, strict=True))
    return CodeQuality(
        code, sum(having), wilson_share(both, sum(having)), wilson_share(both, sum(proposed))
    )


def _calibration_error(certainty: Probabilities, hits: list[bool]) -> float:
    """Expected calibration error (Naeini et al. 2015), bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, hit in zip(certainty.tolist(), hits, strict=True):
        bins.setdefault(min(_BINS - 1, int(probability * _BINS)), []).append((probability, hit))
    return sum(
        abs(sum(p for p, _ in rows) - sum(h for _, h in rows)) for rows in bins.values()
    ) / max(1, len(hits))


def doubts(model: Judged) -> list[Doubt]:
    """Labels that are likely wrong, the likeliest first.

    Confident learning (Northcutt et al. 2021): a label is doubted if another code is likelier
    than it for a model that has not seen it, and as likely as that code is on average where it
    was given. Where items may have several codes, each is doubted for itself: it is unlikely,
    less than it is on average where it was not given.
    """
    own = {code: at for at, code in enumerate(model.codes)}
    having = {code: _average(model, at, code, having=True) for code, at in own.items()}
    lacking = {code: _average(model, at, code, having=False) for code, at in own.items()}
    found = []
    for row, example in enumerate(model.examples):
        chances = {code: float(model.held_out[row, at]) for code, at in own.items()}
        likelier = max(
            (
                (chance, code)
                for code, chance in chances.items()
                if code not in example.codes and chance >= having[code]
            ),
            default=None,
        )
        for code in sorted(example.codes & own.keys()):
            if likelier and likelier[0] > chances[code]:
                found.append(Doubt(example, code, likelier[1], likelier[0], chances[code]))
            elif model.is_multiple and chances[code] <= lacking[code]:
                found.append(Doubt(example, code, "", 1 - chances[code], chances[code]))
    found.sort(
        key=lambda doubt: (
            doubt.given_probability - doubt.probability, doubt.example.round,
            doubt.example.item_id, doubt.code,
        )
    )  # fmt: skip
    return found


def _average(model: Judged, at: int, code: str, *, having: bool) -> float:
    chances = [
        float(model.held_out[row, at])
        for row, example in enumerate(model.examples)
        if (code in example.codes) == having
    ]
    return sum(chances) / len(chances) if chances else 0.0
