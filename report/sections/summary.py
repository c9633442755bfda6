"""What the study is made of: sources, projects, period, runs and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.old.results import Claim, Column, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import counted, day
from faultatlas.report.sections import Material, Section
from faultatlas.report.sections.numbers import count

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

POSITION = 10
KEY = "summary"

_FOLDED_FROM = 16
_DATES = "Dates are in UTC. Runs of `report` are left out: they add no data."
_ARTIFACTS = "SELECT artifact_id, run_id FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL"
_KINDS = {
    "commit": "commits",
    "issue": "issues",
    "paper": "papers",
    "post": "posts",
    "pull": "pull requests",
}


def section(material: Material) -> Section:
    """The summary; every study has one."""
    reader = material.reader
    claims = tuple(_claims(reader))
    every = (_sources(reader), _projects(reader), _runs(reader))
    tables = tuple(table for table in every if table.rows)
    return Section(
        KEY,
        "The study",
        text=_text(reader, claims),
        claims=claims,
        tables=tables,
        notes=(_DATES,) if tables else (),
    )


def kind_words(kind: str) -> str:
    """A kind of artifact, in the plural."""
    return _KINDS.get(kind, kind)


def _claims(reader: Reader) -> list[Claim]:
    kinds = reader.rows(
        "SELECT DISTINCT source, kind FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL "
        "ORDER BY ALL"
    )
    found = [
        count(
            reader,
            (KEY, "artifacts", row["source"], row["kind"]),
            f"{kind_words(row['kind'])} of {row['source']} in the study",
            f"{_ARTIFACTS} AND source = {literal(row['source'])} "
            f"AND kind = {literal(row['kind'])} ORDER BY artifact_id",
        )
        for row in kinds
    ]
    rounds = "SELECT round, run_id FROM rounds ORDER BY round"
    labels = "SELECT label_id, artifact_id, run_id FROM labels WHERE is_current ORDER BY label_id"
    settled = (
        "SELECT DISTINCT round, item_id, artifact_id, run_id FROM final_labels "
        "ORDER BY round, item_id, artifact_id, run_id"
    )
    for key, statement, rows in (
        ("rounds", "rounds of labelling", rounds),
        ("labels", "labels that hold, of all raters", labels),
        ("settled", "items with a final label", settled),
    ):
        found.append(count(reader, (KEY, key), statement, rows))
    return [claim for claim in found if claim.value]


def _text(reader: Reader, claims: tuple[Claim, ...]) -> tuple[str, ...]:
    (found,) = reader.rows(
        "SELECT count(*) AS artifacts, count(DISTINCT source) AS sources, "
        "count(DISTINCT project) FILTER (kind <> 'paper') AS projects, "
        "min(created_at)::VARCHAR AS first, max(created_at)::VARCHAR AS last "
        "FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL"
    )
    if not found["artifacts"]:
        bugs = reader.value("SELECT count(*) FROM bugs")
        if claims:
            return (_imported(reader),)
        if bugs:
            has = f"it has {counted(bugs, 'bug')} that can be run"
            return (f"Nothing was mined for this study: {has}.",)
        return ("Nothing is in this study yet.",)
    where = f"{counted(found['sources'], 'source')}"
    if found["projects"]:
        where += f" and {counted(found['projects'], 'project')}"
    text = f"The study holds {counted(found['artifacts'], 'artifact')} of {where}."
    if found["first"]:
        first, last = day(found["first"]), day(found["last"])
        text += f" They date from {first}{'' if first == last else f' to {last}'}."
    return (text,)


def _imported(reader: Reader) -> str:
    items = reader.value(
        "SELECT count(*) FROM (SELECT round, item_id FROM labels UNION "
        "SELECT round, item_id FROM final_labels)"
    )
    what = f"the labels of {counted(int(items), 'item')} were" if items else "what it has was"
    return f"Nothing was mined for this study: {what} imported."


def _sources(reader: Reader) -> Table:
    rows = reader.rows(
        "SELECT source, kind, count(*) FILTER (gone_at IS NULL) AS artifacts, "
        "count(DISTINCT project) AS projects, min(created_at)::VARCHAR AS first, "
        "max(created_at)::VARCHAR AS last, count(*) FILTER (gone_at IS NOT NULL) AS gone, "
        "max(fetched_at)::VARCHAR AS fetched FROM artifacts WHERE kind IS NOT NULL "
        "GROUP BY ALL ORDER BY ALL"
    )
    return Table(
        "sources",
        "What was mined, by source",
        (
            Column("source", "Source"),
            Column("kind", "What"),
            Column("artifacts", "Artifacts", "count"),
            Column("projects", "Projects", "count"),
            Column("first", "First of"),
            Column("last", "Last of"),
            Column("fetched", "Last fetched"),
            Column("gone", "Gone since", "count"),
        ),
        tuple(
            (
                row["source"], kind_words(row["kind"]), row["artifacts"],
                None if row["kind"] == "paper" else row["projects"], day(row["first"]) or None,
                day(row["last"]) or None, day(row["fetched"]), row["gone"],
            )
            for row in rows
        ),
    )  # fmt: skip


def _projects(reader: Reader) -> Table:
    rows = reader.rows(
        "SELECT source, project, kind, count(*) AS artifacts, min(created_at)::VARCHAR AS first, "
        "max(created_at)::VARCHAR AS last FROM artifacts WHERE gone_at IS NULL "
        "AND kind <> 'paper' GROUP BY ALL ORDER BY source, project, kind"
    )
    return Table(
        "projects",
        "Projects",
        (
            Column("source", "Source"),
            Column("project", "Project", "code"),
            Column("kind", "What"),
            Column("artifacts", "Artifacts", "count"),
            Column("first", "First of"),
            Column("last", "Last of"),
        ),
        tuple(
            (
                row["source"],
                row["project"],
                kind_words(row["kind"]),
                row["artifacts"],
                day(row["first"]) or None,
                day(row["last"]) or None,
            )
            for row in rows
        ),
        folded=len(rows) >= _FOLDED_FROM,
        grouped_by="source",
    )


def _runs(reader: Reader) -> Table:
    rows = reader.rows(
        "SELECT command, version, count(*) AS runs, min(started_at)::VARCHAR AS first, "
        "max(started_at)::VARCHAR AS last, count(*) FILTER (outcome <> 'ok') AS others FROM runs "
        "WHERE NOT starts_with(command, 'report') GROUP BY ALL ORDER BY first, command, version"
    )
    return Table(
        "runs",
        "Runs that wrote to the study",
        (
            Column("command", "Command", "code"),
            Column("version", "Version"),
            Column("runs", "Runs", "count"),
            Column("others", "Not to their end", "count"),
            Column("first", "First"),
            Column("last", "Last"),
        ),
        tuple(
            (
                row["command"],
                row["version"],
                row["runs"],
                row["others"],
                day(row["first"]),
                day(row["last"]),
            )
            for row in rows
        ),
        folded=True,
    )
