"""Which items to label next, and what the model proposes for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.annotation.suggesting.examples import Example
    from faultatlas.annotation.suggesting.model import Judged

RULE = (
    "entropy of the probabilities times the mean likeness to the other waiting texts "
    "(information density, Settles and Craven 2008)"
)


@dataclass(frozen=True, slots=True)
class Suggested:
    """An item that waits: what the model proposes, likeliest first, and what a label is worth."""

    example: Example
    codes: tuple[tuple[str, float], ...]
    worth: float


def suggested(model: Judged, waiting: Sequence[Example], most: int) -> list[Suggested]:
    """Proposals for items, those whose labels help the model most first.

    That is where it is unsure and the text is like many others: an odd text that no other
    resembles teaches little, however unsure the model is of it.
    """
    import numpy as np

    if not waiting:
        return []
    texts = [example.text for example in waiting]
    probabilities = model.probabilities(texts)
    safe = np.clip(probabilities, 1e-12, 1)
    entropy = -(safe * np.log(safe)).sum(axis=1)
    if model.is_multiple:  # each code is a question of its own
        rest = np.clip(1 - probabilities, 1e-12, 1)
        entropy -= (rest * np.log(rest)).sum(axis=1)
    vectors = model.fitted[0].transform(texts)
    likeness = np.asarray(vectors @ np.asarray(vectors.mean(axis=0)).T).ravel()
    worth = entropy * likeness
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :most]
    found = [
        Suggested(
            example,
            tuple((model.codes[at], float(probabilities[row, at])) for at in order[row]),
            float(worth[row]),
        )
        for row, example in enumerate(waiting)
    ]
    found.sort(key=lambda each: (-each.worth, each.example.item_id))
    return found
