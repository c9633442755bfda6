"""Doubtful labels and items that wait, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.data.old.results import Column, Table, rows_of

if TYPE_CHECKING:
    from faultatlas.annotation.suggesting.quality import Doubt
    from faultatlas.annotation.suggesting.waiting import Suggested

_DOUBTFUL = (
    Column("round", "Round", aside=True),
    Column("item", "Item", "code"),
    Column("label", "Label", "code"),
    Column("settled", "Settled", aside=True),
    Column("probability", "Its probability", "number"),
    Column("proposed", "Proposed", "code"),
    Column("proposed_probability", "Probability", "number"),
)
_WAITING = (
    Column("place", "Order", "count"),
    Column("item", "Item", "code"),
    Column("proposed", "Proposed", "code"),
    Column("probability", "Probability", "number"),
    Column("others", "Then"),
    Column("worth", "Worth", "number", aside=True),
)


def doubtful(found: Sequence[Doubt]) -> Table:
    """Labels that a model, not having seen them, would not give."""
    records = [
        {
            "round": doubt.example.round,
            "item": doubt.example.item_id,
            "label": doubt.code,
            "settled": "yes" if doubt.example.is_final else "no",
            "probability": round(doubt.given_probability, 3),
            "proposed": doubt.proposed or "not this",
            "proposed_probability": round(doubt.probability, 3),
        }
        for doubt in found
    ]
    return Table(
        "doubtful",
        "Labels to look at again, the most doubtful first",
        _DOUBTFUL,
        rows_of(_DOUBTFUL, records),
        note="Another code is likelier here, and as likely as it is on average where it was given "
        "(confident learning, Northcutt et al. 2021).",
        folded=True,
    )


def waiting(found: Sequence[Suggested]) -> Table:
    """Items without a label, those that teach most first."""
    records = [
        {
            "place": place,
            "item": each.example.item_id,
            "proposed": each.codes[0][0],
            "probability": round(each.codes[0][1], 3),
            "others": ", ".join(f"{code} {share:.2f}" for code, share in each.codes[1:]),
            "worth": round(each.worth, 4),
        }
        for place, each in enumerate(found, 1)
    ]
    return Table(
        "waiting",
        "What to label next, what helps most first",
        _WAITING,
        rows_of(_WAITING, records),
        folded=True,
    )
