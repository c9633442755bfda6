"""The colours of figures and of the marks beside tables.

They are safe for colour-blind readers and differ in grey print. Knows no drawing
library, so that a page may use the same colours without loading one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

TEXT = "#1f2328"
MUTED = "#5c6570"
RULE = "#d5d9de"

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILLION, YELLOW, DARK = "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D"


@dataclass(frozen=True)
class Ink:
    """A fill and the hatching that tells it from its neighbours in grey print."""

    fill: str
    hatch: str = ""


# Okabe and Ito (2008), "Color Universal Design". Blue, orange, yellow and dark also
# differ in lightness; the other four lie between them and carry a hatching.
PALETTE = (
    Ink(BLUE),
    Ink(ORANGE),
    Ink(GREEN, "////"),
    Ink(PURPLE, "++"),
    Ink(SKY, r"\\\\"),
    Ink(VERMILLION, "xxxx"),
    Ink(YELLOW),
    Ink(DARK),
)

# A status has the same colour in every figure and beside every table.
PART_INKS = {
    "Targeted": Ink(BLUE),
    "Untargeted": Ink(ORANGE),
    "New": Ink(GREEN, "////"),
    "Not mentioned": Ink("#DADDE1"),
    "Mixed": Ink(PURPLE, "++"),
    "Unmapped": Ink("#FFFFFF", "////"),
}


def inks_for(labels: Iterable[str]) -> dict[str, Ink]:
    """An ink for each label: the fixed one, or the next that the figure has not used."""
    names = list(dict.fromkeys(labels))
    fixed = {name: PART_INKS[name] for name in names if name in PART_INKS}
    taken = {ink.fill for ink in fixed.values()}
    free = itertools.cycle(ink for ink in PALETTE if ink.fill not in taken)
    return {name: fixed[name] if name in fixed else next(free) for name in names}
