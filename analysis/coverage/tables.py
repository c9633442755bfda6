"""The tables and figures of the coverage gap, from values that others computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.coverage.alignment import ComponentComparison, Matrix
from analysis.coverage.corpus import Corpus
from analysis.coverage.faults import Fault
from analysis.coverage.gap import StatusShares
from analysis.coverage.labels import CodeGap
from analysis.coverage.published import RULE, Comparison
from analysis.statistics.intervals import wilson_share
from data import evidence
from data.evidence import Reading
from data.results import Bar, Cell, Column, Figure, Part, Series, Table
from data.taxonomy import Taxonomy

_CODE = Column("code", "Code", "code")
_FAULT = Column("fault", "Fault")
_OCCURRENCES = (
    Column("github", "GitHub", "count"),
    Column("stackoverflow", "Stack Overflow", "count"),
    Column("interviews", "Interviews", "count"),
)


def shares_table(gap: Iterable[StatusShares], name: str = "shares") -> Table:
    """Every share with its interval, one row each."""
    rows = [
        (whole.label, status, share.count, share.total, share.percent, share.low, share.high)
        for whole in gap
        for status, share in whole.shares.items()
        if share.count
    ]
    return Table(
        name,
        "Shares by status",
        (
            Column("share_of", "Share of"),
            Column("status", "Status", "status"),
            Column("count", "Count", "count"),
            Column("total", "Of", "count"),
            Column("percent", "Share", "percent"),
            Column("low", "95 % from", "percent"),
            Column("high", "to", "percent"),
        ),
        tuple(rows),
        note="Wilson score intervals. Statuses without a case are left out.",
    )


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
            RULE
            if any(each.status for each in comparisons)
            else "For comparison only: other evidence than the survey's gives no status."
        ),
    )


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
            _CODE,
            _FAULT,
            *_OCCURRENCES,
            Column("mentions", "All", "count"),
            Column("percent", "Share of all", "percent", aside=True),
            Column("low", "95 % from", "percent", aside=True),
            Column("high", "to", "percent", aside=True),
        ),
        tuple(rows),
        note=f"Ranked by artifacts and interview mentions together, {total:,} in all.",
    )


def components_table(comparison: ComponentComparison) -> Table:
    """Papers, artifacts and interview mentions for each component."""
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
        ),
        tuple(
            (
                each.name,
                each.papers,
                _percent(each.papers, comparison.papers),
                each.papers_on_new,
                each.artifacts,
                _percent(each.artifacts, comparison.artifacts),
                each.interviews,
                _percent(each.interviews, comparison.interviews),
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


def components_figure(comparison: ComponentComparison) -> Figure:
    """The component comparison as grouped bars, in percent of each source."""
    parts = comparison.components
    return Figure(
        "components",
        "What research addresses and what practice meets, by component (a paper counts for each "
        "component that it addresses)",
        "bars",
        "Grouped bars: for each component the percentage of papers on faults of the taxonomy, of "
        "GitHub and Stack Overflow artifacts and of interview mentions.",
        categories=tuple(each.name for each in parts),
        series=(
            Series("Papers", tuple(_percent(each.papers, comparison.papers) for each in parts)),
            Series(
                "GitHub and Stack Overflow",
                tuple(_percent(each.artifacts, comparison.artifacts) for each in parts),
            ),
            Series(
                "Interviews",
                tuple(_percent(each.interviews, comparison.interviews) for each in parts),
            ),
        ),
        unit="percent",
    )


def shares_figure(gap: Iterable[StatusShares], title: str) -> Figure:
    """The split by status as stacked bars, as in the survey's figure 3."""
    bars = tuple(
        Bar(
            whole.label,
            tuple(
                Part(status.capitalize(), share.count)
                for status, share in whole.shares.items()
                if share.count
            ),
        )
        for whole in gap
        if whole.total
    )
    told = "; ".join(
        f"{bar.label}: " + ", ".join(f"{part.label.lower()} {part.count}" for part in bar.parts)
        for bar in bars
    )
    return Figure("shares", title, "shares", f"Stacked bars. {told}.", bars=bars)


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


def matrix_table(matrix: Matrix, faults: Taxonomy, techniques: Taxonomy, corpus: Corpus) -> Table:
    """Fault, technique and the papers that join them, one row a pair."""
    return Table(
        "matrix",
        "Faults and the techniques that address them",
        (
            Column("fault_code", "Fault code", "code"),
            _FAULT,
            Column("technique_code", "Technique code", "code"),
            Column("technique", "Technique"),
            Column("papers", "Papers", "count"),
            Column("which", "Which"),
        ),
        tuple(
            (
                row,
                fault_label(faults, row),
                column,
                techniques.node(column).name,
                len(papers),
                ", ".join(corpus.label(paper) for paper in papers),
            )
            for (row, column), papers in matrix.papers.items()
        ),
        note="A row may be a whole category where the papers name no single fault.",
        folded=True,
    )


def faults_table(faults: Sequence[Fault], corpus: Corpus) -> Table:
    """Every fault with status, ground, papers and occurrences."""
    return Table(
        "faults",
        "All faults",
        (
            _CODE,
            _FAULT,
            Column("category", "Category", aside=True),
            Column("status", "Status", "status"),
            Column("basis", "Ground"),
            Column("papers", "Papers", aside=True),
            *_OCCURRENCES,
            Column("note", "Note", aside=True),
        ),
        tuple(
            (
                fault.code,
                fault.name,
                fault.category,
                fault.status,
                fault.basis,
                ", ".join(corpus.label(paper) for paper in fault.papers),
                fault.github,
                fault.stackoverflow,
                fault.interviews,
                fault.note,
            )
            for fault in faults
        ),
        note=(
            "Ground: named, or only through its category. Papers: those of the corpus whose codes "
            "are the fault or a category above it, whatever status the survey gives it."
        ),
        folded=True,
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
                _percent(each.targeted, each.denominator),
                _percent(each.untargeted, each.denominator),
                "yes" if each.post_hoc else "no",
            )
            for each in readings
        ),
        folded=True,
    )


def disagreements_table(
    by_corpus: Sequence[Fault], by_survey: Sequence[Fault], corpus: Corpus
) -> Table:
    """The leaves where the codes of the papers and the survey's own status differ."""
    survey = {fault.code: fault for fault in by_survey}
    rows = [
        (fault.code, fault.name, fault.status, fault.basis, survey[fault.code].status,
         ", ".join(corpus.label(paper) for paper in fault.papers), survey[fault.code].note)
        for fault in by_corpus
        if fault.status != survey[fault.code].status
    ]  # fmt: skip
    return Table(
        "disagreements",
        "Where the papers and the survey's own status disagree",
        (
            _CODE,
            _FAULT,
            Column("corpus", "By the papers"),
            Column("basis", "Ground", aside=True),
            Column("survey", "By the survey"),
            Column("papers", "Papers"),
            Column("note", "Note", aside=True),
        ),
        tuple(rows),
        note="Ground: named, or only through its category.",
    )


def dependence_table(faults: Sequence[Fault], corpus: Corpus) -> Table:
    """What would be untargeted without each paper, the weightiest first."""
    alone: dict[str, list[Fault]] = {}
    for fault in faults:
        if len(fault.papers) == 1:
            alone.setdefault(fault.papers[0], []).append(fault)
    weights = {
        paper: (len(only), sum(each.artifacts for each in only), sum(f.interviews for f in only))
        for paper, only in alone.items()
    }
    return Table(
        "dependence",
        "How much hangs on one paper",
        (
            Column("paper", "Without"),
            Column("faults", "Faults less", "count"),
            Column("artifacts", "Artifacts less", "count"),
            Column("interviews", "Mentions less", "count"),
            Column("which", "Which faults", aside=True),
        ),
        tuple(
            (corpus.label(paper), *weights[paper], ", ".join(each.code for each in alone[paper]))
            for paper in sorted(weights, key=lambda paper: (*(-w for w in weights[paper]), paper))
        ),
        note="What only this paper targets. Papers without a line change nothing when left out.",
    )


def codes_table(codes: Sequence[CodeGap], techniques: Taxonomy) -> Table:
    """Every code of a study's labels: its status among faults, and what finds such defects."""
    return Table(
        "codes",
        "The study's codes",
        (
            Column("taxonomy", "Taxonomy"),
            _CODE,
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
            _CODE,
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


def fault_label(taxonomy: Taxonomy, code: str) -> str:
    """The name of a fault, a category (marked as such) or a new fault."""
    if code not in taxonomy:
        return next(fault.name for fault in evidence.new_faults() if fault.code == code)
    name = taxonomy.node(code).name
    return name if taxonomy.is_leaf(code) else f"{name} (category)"


def _technique_names(codes: tuple[str, ...] | None, techniques: Taxonomy) -> str:
    if codes is None:
        return "not known"
    return ", ".join(techniques.node(code).name for code in codes) or "no technique"


def _percent(count: int, total: int) -> float:
    return 100 * count / total if total else 0.0
