"""The tables of a study's own codes."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.analysis.coverage.catalogue import CODE
from faultatlas.analysis.coverage.labels import CodeGap
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.taxonomy import Taxonomy


def codes_table(codes: Sequence[CodeGap], techniques: Taxonomy) -> Table:
    """Every code of a study's labels: its status among faults, and what finds such defects."""
    return Table(
        "codes",
        "The study's codes",
        (
            Column("taxonomy", "Taxonomy"),
            CODE,
            Column("name", "Name"),
            Column("count", "Labels", "count"),
            Column("status", "Status", "status"),
            Column("faults", "Means"),
            Column("relation", "Relation"),
            Column("techniques", "Found by"),
            Column("reason", "Reason"),
        ),
        tuple(
            (
                each.taxonomy,
                each.code,
                each.name,
                each.count,
                each.status,
                ", ".join(each.faults),
                each.relation,
                _technique_names(each.techniques, techniques),
                each.reason,
            )
            for each in codes
        ),
        note=(
            "Status: of the faults that the code means, by the survey. Mixed: they differ. "
            "Unmapped: no counterpart. Found by: techniques with published findings of that type."
        ),
        folded=True,
    )


def untargeted_codes_table(codes: Sequence[CodeGap]) -> Table:
    """The most frequent codes that nobody targets.

    Where it is known which techniques find defects of a type, that decides; else the status
    of the faults that the code means does.
    """
    rows: list[tuple[Cell, ...]] = []
    for each in codes:
        if each.techniques == ():
            rows.append(
                (each.code, each.name, each.count, "no technique is reported to have found one")
            )
        elif each.techniques is None and each.status == "untargeted":
            rows.append((each.code, each.name, each.count, "nobody targets its faults"))
    return Table(
        "untargeted",
        "The study's most frequent types that nobody targets",
        (
            CODE,
            Column("name", "Name"),
            Column("count", "Labels", "count"),
            Column("ground", "Why"),
        ),
        tuple(rows[:10]),
        note=(
            "Where it is known which techniques find defects of a type, that decides; elsewhere "
            "the survey's status of its faults does."
        ),
    )


def _technique_names(codes: tuple[str, ...] | None, techniques: Taxonomy) -> str:
    if codes is None:
        return "not known"
    return ", ".join(techniques.node(code).name for code in codes) or "no technique"
