"""Which published figures each public package can give."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.replication.figures import Plan, PrintedOnly, PublishedStudy, Recomputed
from faultatlas.analysis.replication.published import published_studies, published_study
from faultatlas.data import evidence
from faultatlas.data.old.results import Cell, Column, Table

if TYPE_CHECKING:
    from faultatlas.report.old.console import Output

_BASES = ("package", "shipped facts", "printed numbers", "no data")


def show_list(output: Output, name: str = "") -> None:
    """All studies with how many of their figures come from where; of one study each figure."""
    from faultatlas.report.tables import console_table

    studies = [published_study(name)] if name else list(published_studies().values())
    output.document({"studies": [_document(each) for each in studies]})
    output.show(console_table(_figures_table(studies[0]) if name else _studies_table(studies)))
    for each in studies if name else ():
        output.show("", "Files that it looks for:")
        output.show(*(f"- {file.name}: {file.about}" for file in each.files))
    if not name:
        output.show("", "Each figure of one: analysis replicate --list STUDY")


def basis_of(plan: Plan) -> str:
    """What a figure comes from."""
    if isinstance(plan, Recomputed):
        return plan.basis
    return "printed numbers" if isinstance(plan, PrintedOnly) else "no data"


def _studies_table(studies: list[PublishedStudy]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for study in studies:
        counts = Counter(map(basis_of, study.figures))
        rows.append((study.name, len(study.figures), *(counts[basis] for basis in _BASES)))
    columns = (
        Column("study", "Study", "code"),
        Column("figures", "Figures", "count"),
        *(Column(basis, basis.capitalize(), "count") for basis in _BASES),
    )
    return Table("studies", "Published studies", columns, tuple(rows))


def _figures_table(study: PublishedStudy) -> Table:
    columns = (
        Column("figure_id", "Figure", "code"),
        Column("statement", "What was printed"),
        Column("printed", "Printed"),
        Column("basis", "From"),
        Column("needs", "Files"),
    )
    rows = tuple(
        (each["figure_id"], each["statement"], each["printed"], each["basis"],
         ", ".join(each["needs"]) or each["reason"] or None)
        for each in _document(study)["figures"]
    )  # fmt: skip
    return Table("figures", f"Published figures of {study.name}", columns, rows)


def _document(study: PublishedStudy) -> dict[str, Any]:
    figures = {each.figure_id: each for each in evidence.published_figures()}
    return {
        "study": study.name,
        "title": study.title,
        "files": [{"name": each.name, "about": each.about} for each in study.files],
        "rounds": [each.name for each in study.rounds],
        "figures": [
            {
                "figure_id": plan.figure_id,
                "statement": figures[plan.figure_id].statement,
                "printed": figures[plan.figure_id].printed,
                "basis": basis_of(plan),
                "needs": list(getattr(plan, "needs", ())),
                "reason": getattr(plan, "reason", ""),
            }
            for plan in study.figures
        ],
    }
