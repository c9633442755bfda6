"""The figures of the coverage gap, from values that others computed."""

from __future__ import annotations

from faultatlas.analysis.coverage.alignment import ComponentComparison, Matrix
from faultatlas.analysis.coverage.corpus_tables import fault_label
from faultatlas.analysis.coverage.tables import percent
from faultatlas.data.old.results import Figure, Series
from faultatlas.data.taxonomy import Taxonomy


def components_figure(comparison: ComponentComparison) -> Figure:
    """The component comparison as grouped bars, in percent of each source, as in figure 4."""
    parts = comparison.components
    own = (
        Series(
            "This study",
            tuple(percent(each.labels, comparison.labels) for each in parts),
        ),
    )
    return Figure(
        "components",
        "What research addresses and what practice meets, by component (a paper counts for each "
        "component that it addresses)",
        "bars",
        "Grouped bars: for each component the percentage of papers on faults of the taxonomy, of "
        "GitHub and Stack Overflow artifacts"
        + (
            ", of interview mentions and of this study's labels."
            if comparison.labels
            else " and of interview mentions."
        ),
        categories=tuple(each.name for each in parts),
        series=(
            Series("Papers", tuple(percent(each.papers, comparison.papers) for each in parts)),
            Series(
                "GitHub and Stack Overflow",
                tuple(percent(each.artifacts, comparison.artifacts) for each in parts),
            ),
            Series(
                "Interviews",
                tuple(percent(each.interviews, comparison.interviews) for each in parts),
            ),
            *(own if comparison.labels else ()),
        ),
        unit="percent",
    )


def matrix_figure(matrix: Matrix, faults: Taxonomy, techniques: Taxonomy) -> Figure:
    """Papers by fault and technique as a heat map."""
    return Figure(
        "matrix",
        "Papers by fault and technique",
        "matrix",
        "Heat map: the number of papers that address a fault (rows) with a technique (columns). "
        "The same numbers are in the table of this name.",
        categories=tuple(techniques.node(code).name for code in matrix.techniques),
        series=tuple(
            Series(
                fault_label(faults, row),
                tuple(float(matrix.count(row, column)) for column in matrix.techniques),
            )
            for row in matrix.faults
        ),
        unit="papers",
    )
