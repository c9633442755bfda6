"""Papers: where they came from, how they were screened, what they were coded with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.data.old.results import Claim, Column, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import count as written
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section
from faultatlas.report.sections.numbers import count

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

POSITION = 25
KEY = "papers"

_PAPERS = "SELECT artifact_id, run_id FROM papers"


def section(material: Material) -> Section | None:
    """The papers; None without any."""
    reader = material.reader
    papers = reader.value("SELECT count(*) FROM papers")
    if not papers:
        return None
    records = reader.rows(
        "SELECT source, search, count(*) AS records, count(DISTINCT artifact_id) AS papers, "
        "count(*) FILTER (matched_by IS NOT NULL) AS known, "
        "strftime(min(fetched_at), '%Y-%m-%d') AS fetched FROM paper_records GROUP BY ALL "
        "ORDER BY ALL"
    )
    steps = reader.rows(
        "SELECT position, step, coalesce(decision, 'open') AS decision, reason, "
        "count(*) AS papers FROM screening_decisions GROUP BY ALL ORDER BY ALL"
    )
    total = sum(row["records"] for row in records)
    tables = (_searches(records), _screening(steps), _codes(reader))
    return Section(
        KEY,
        "Papers",
        text=(f"{counted(total, 'record')} of searches and files are {written(papers)} papers.",),
        claims=_claims(reader, steps),
        tables=tuple(table for table in tables if table.rows),
    )


def _claims(reader: Reader, steps: list[dict[str, Any]]) -> tuple[Claim, ...]:
    claims = [
        count(
            reader,
            (KEY, "records"),
            "records that searches and files gave",
            "SELECT record_id, artifact_id, run_id FROM paper_records ORDER BY record_id",
        ),
        count(reader, (KEY, "all"), "different papers", f"{_PAPERS} ORDER BY artifact_id"),
    ]
    decided = (
        count(
            reader,
            (KEY, decision),
            f"papers {decision} by the screening",
            f"{_PAPERS} WHERE screening_decision = {literal(decision)} ORDER BY artifact_id",
        )
        for decision in (("included", "excluded") if steps else ())
    )
    return (*claims, *decided)


def _searches(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "searches",
        "Where the papers came from",
        (
            Column("source", "Source"),
            Column("search", "Query"),
            Column("records", "Records", "count"),
            Column("papers", "Papers", "count"),
            Column("known", "Duplicates", "count"),
            Column("fetched", "First fetched"),
        ),
        tuple(
            (
                row["source"], row["search"] or None, row["records"], row["papers"], row["known"],
                row["fetched"],
            )
            for row in rows
        ),
    )  # fmt: skip


def _screening(rows: list[dict[str, Any]]) -> Table:
    return Table(
        "screening",
        "Screening, step by step",
        (
            Column("step", "Step"),
            Column("decision", "Decision"),
            Column("reason", "Reason"),
            Column("papers", "Papers", "count"),
        ),
        tuple((row["step"], row["decision"], row["reason"], row["papers"]) for row in rows),
        grouped_by="step",
    )


def _codes(reader: Reader) -> Table:
    rows = reader.rows(
        "SELECT taxonomy, code, count(DISTINCT artifact_id) AS papers, count(place) AS places "
        "FROM paper_codes GROUP BY ALL ORDER BY taxonomy, papers DESC, code"
    )
    return Table(
        "codes",
        "What the papers were coded with",
        (
            Column("taxonomy", "Taxonomy"),
            Column("code", "Code", "code"),
            Column("papers", "Papers", "count"),
            Column("places", "Places quoted", "count"),
        ),
        tuple((row["taxonomy"], row["code"], row["papers"], row["places"]) for row in rows),
        folded=len(rows) > 20,
        grouped_by="taxonomy",
    )
