"""Words for effect sizes against a named scale."""

from __future__ import annotations

from faultatlas.analysis.statistics.scales import EFFECT_SCALES as SCALES
from faultatlas.analysis.statistics.scales import word
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.kinds.kappa_word import said_pairs, scaled
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "effect-word"
ABOUT = "words for effect sizes (small, medium, large) against a named scale"
FIELDS = {
    "values": 'pairs of value and word: [["0.27", "small"], ...]',
    "scale": f"{', '.join(SCALES)}",
    "degrees": "smaller side of the table less one, for cramer-v; 1 unless told (optional)",
}
EXAMPLE = """
values = [["0.27", "small"], ["0.54", "Medium"]]
scale = "cohen-d"
"""


def check(entry: Entry) -> Outcome:
    """How many words are those of the scale."""
    scale = entry.choice("scale", tuple(SCALES))
    degrees = int(entry.number("degrees", "1").value)
    known = SCALES[scale]
    return scaled(
        entry,
        said_pairs(entry),
        known.title,
        lambda value: word(scale, value, degrees=degrees),
        known.description,
    )
