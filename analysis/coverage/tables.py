"""The tables of the coverage gap in the literature, from values that others computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from faultatlas.analysis.coverage.alignment import ComponentComparison
from faultatlas.analysis.coverage.catalogue import CODE, FAULT, OCCURRENCES
from faultatlas.analysis.coverage.faults import Fault
from faultatlas.analysis.coverage.published import NEAR, RULE, Comparison
from faultatlas.analysis.statistics.shares import wilson_share
from faultatlas.data.evidence import Reading
from faultatlas.data.old.results import Cell, Column, Table


def published_table(comparisons: Sequence[Comparison]) -> Table:
    """The printed shares beside ours."""
    return Table(
        "published",
        "Published figures beside ours",
        (
            Column("statement", "Figure"),
            Column("ours_counts", "Ours counts", aside=True),
            Column("printed", "Printed", "percent"),
            Column("ours", "Ours", "percent"),
            Column("difference", "Difference", "points"),
            Column("status", "Status", "status"),
            Column("reason", "Reason", aside=True),
        ),
        tuple(
            (
                each.printed.statement,
                each.printed.ours_counts,
                each.printed.printed,
                each.ours,
                each.difference,
                each.status,
                each.reason,
            )
            for each in comparisons
        ),
        note=(
            f"{RULE}{_by_another_reading(comparisons)}"
            if any(each.status for each in comparisons)
            else "For comparison only: other evidence than the survey's gives no status."
        ),
    )


def _by_another_reading(comparisons: Sequence[Comparison]) -> str:
    """Which rows are near although their difference is not."""
    those = [
        f"{each.printed.statement} ({each.nearest_percent:.1f} %)"
        for each in comparisons
        if each.status == "near" and abs(each.difference) > NEAR
    ]
    return f" Near only by another reading: {', '.join(those)}." if those else ""


def untargeted_table(ranked: Sequence[Fault], faults: Sequence[Fault]) -> Table:
    """The most frequent faults that nobody targets."""
    total = sum(fault.mentions for fault in faults)
    rows: list[tuple[Cell, ...]] = []
    for rank, fault in enumerate(ranked, start=1):
        share = wilson_share(fault.mentions, total)
        rows.append(
            (rank, fault.code, fault.name, fault.github, fault.stackoverflow,
             fault.interviews, fault.mentions, share.percent,
             share.low, share.high)
        )  # fmt: skip
    return Table(
        "untargeted",
        "The most frequent faults that nobody targets",
        (
            Column("rank", "Rank", "count"),
            CODE,
            FAULT,
            *OCCURRENCES,
            Column("mentions", "All", "count"),
            Column("percent", "Share of all", "percent", aside=True),
            Column("low", "95 % from", "percent", aside=True),
            Column("high", "to", "percent", aside=True),
        ),
        tuple(rows),
        note=f"Ranked by artifacts and interview mentions together, {total:,} in all.",
    )


def components_table(comparison: ComponentComparison) -> Table:
    """Papers, artifacts, interview mentions and labels of the study for each component."""
    own = (
        Column("labels", "This study", "count"),
        Column("labels_percent", "of labels", "percent"),
    )
    return Table(
        "components",
        "Components: what research addresses and what practice meets",
        (
            Column("component", "Component"),
            Column("papers", "Papers", "count"),
            Column("papers_percent", "of papers", "percent"),
            Column("papers_on_new", "Papers on new faults", "count", aside=True),
            Column("artifacts", "Artifacts", "count"),
            Column("artifacts_percent", "of artifacts", "percent"),
            Column("interviews", "Interviews", "count"),
            Column("interviews_percent", "of mentions", "percent"),
            *(own if comparison.labels else ()),
        ),
        tuple(
            (
                each.name,
                each.papers,
                percent(each.papers, comparison.papers),
                each.papers_on_new,
                each.artifacts,
                percent(each.artifacts, comparison.artifacts),
                each.interviews,
                percent(each.interviews, comparison.interviews),
                *(
                    (each.labels, percent(each.labels, comparison.labels))
                    if comparison.labels
                    else ()
                ),
            )
            for each in comparison.components
        ),
        note=(
            "After the survey's figure 4, whose data is not public: which categories make a "
            "component is our choice (evidence file components.csv). Of the papers, "
            f"{comparison.papers:,} target a fault of the taxonomy; one counts for each component "
            "that it addresses. New faults have no occurrences, so their papers stand apart."
        ),
    )


def readings_table(readings: Iterable[Reading]) -> Table:
    """Every way that was tried to count the printed shares."""
    return Table(
        "readings",
        "Every reading of the published shares that was tried",
        (
            Column("share_of", "Share of"),
            Column("reading", "Reading"),
            Column("targeted", "Targeted", "count"),
            Column("untargeted", "Untargeted", "count"),
            Column("new", "New", "count"),
            Column("denominator", "Of", "count"),
            Column("targeted_percent", "Targeted", "percent"),
            Column("untargeted_percent", "Untargeted", "percent"),
            Column("post_hoc", "Post hoc"),
        ),
        tuple(
            (
                each.share_of,
                each.reading,
                each.targeted,
                each.untargeted,
                each.new,
                each.denominator,
                percent(each.targeted, each.denominator),
                percent(each.untargeted, each.denominator),
                "yes" if each.post_hoc else "no",
            )
            for each in readings
        ),
        folded=True,
    )


def percent(count: int, total: int) -> float:
    """A share in percent; of nothing it is 0."""
    return 100 * count / total if total else 0.0
