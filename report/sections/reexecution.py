"""Bugs that were run again: how many, how they were kept apart, and what came of them."""

from __future__ import annotations

from faultatlas.data.old.results import Cell, Claim, Column, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section, part_of
from faultatlas.report.sections.findings import is_shown
from faultatlas.report.sections.numbers import count

POSITION = 65
KEY = "re-execution"
ANALYSIS = "reproducibility"

# What was never started was kept from nothing, and saw nothing.
STARTED = (
    "outcome NOT IN ('no environment', 'no interpreter', 'no data', 'bad artifact', "
    "'not started', 'lost')"
)
# A verdict that wants further runs is none yet; what the host failed to run was attempted.
SETTLED = "(wanted = 0 OR verdict = 'infrastructure')"
_BUGS = "SELECT bug_id, artifact_id, run_id FROM bugs ORDER BY bug_id"
_RUNS = (
    "SELECT bug_id, side, seed, attempt, device, content, outcome, run_id FROM executions "
    f"WHERE {STARTED} ORDER BY bug_id, side, seed, attempt, execution_id"
)
_JUDGED = (
    "SELECT bug_id, verdict, reason, device, content, artifact_id, run_id FROM verdicts "
    f"WHERE {SETTLED} ORDER BY bug_id"
)
_NOT_ESTIMATED = "No rate was estimated: run `analysis reproducibility`."


def section(material: Material) -> Section | None:
    """Re-execution; None where the study has no bugs that can be run."""
    results = material.of(ANALYSIS)
    if not material.has(_BUGS) and not results:
        return None
    claims = [
        count(material.reader, (KEY, "bugs"), "bugs that can be run", _BUGS),
        count(material.reader, (KEY, "judged"), "bugs with a verdict", _JUDGED),
        count(material.reader, (KEY, "runs"), "runs of a side of a bug that were started", _RUNS),
        *_by_verdict(material),
    ]
    bugs, judged, runs = (int(claim.value or 0) for claim in claims[:3])
    told = f"{counted(bugs, 'bug')}, {judged:,} with a verdict from {counted(runs, 'run')}."
    if more := int(material.reader.value(f"SELECT count(*) FROM verdicts WHERE NOT {SETTLED}")):
        told += f" {counted(more, 'more bug')} wanted further runs before a verdict is settled."
    return Section(
        KEY,
        "Re-execution",
        text=(told, *(() if results or not judged else (_NOT_ESTIMATED,))),
        claims=tuple(claims),
        tables=tuple(table for table in (_sets(material), _isolations(material)) if table.rows),
        parts=tuple(part_of(each) for each in results if is_shown(material, each)),
    )


def _by_verdict(material: Material) -> list[Claim]:
    rows = material.reader.rows(
        f"SELECT DISTINCT verdict FROM verdicts WHERE {SETTLED} ORDER BY verdict"
    )
    return [
        count(
            material.reader,
            (KEY, "verdict", row["verdict"]),
            f"bugs with the verdict {row['verdict']}",
            _JUDGED.replace("ORDER BY", f"AND verdict = {literal(row['verdict'])} ORDER BY"),
        )
        for row in rows
    ]


def _sets(material: Material) -> Table:
    rows = material.reader.rows(
        "SELECT set_name, count(*) AS bugs, count(v.verdict) AS judged, "
        "count(*) FILTER (v.verdict IN ('verified', 'reproduced')) AS reproduced, "
        "count(*) FILTER (v.verdict = 'verified') AS verified "
        f"FROM bugs LEFT JOIN (SELECT bug_id, verdict FROM verdicts WHERE {SETTLED}) v "
        "USING (bug_id) GROUP BY set_name ORDER BY set_name"
    )
    return Table(
        "bug-sets",
        "Sets of bugs",
        (
            Column("set", "Set"),
            Column("bugs", "Bugs", "count"),
            Column("judged", "Judged", "count"),
            Column("reproduced", "Reproduced", "count"),
            Column("verified", "Verified", "count"),
        ),
        tuple(tuple(row.values()) for row in rows),
        "Verified bugs are among the reproduced ones.",
    )


def _isolations(material: Material) -> Table:
    rows = material.reader.rows(
        "SELECT isolation, has_network, device, count(*) AS runs, "
        "count(DISTINCT bug_id) AS bugs, sum(duration_s) / 3600 AS hours "
        f"FROM executions WHERE {STARTED} GROUP BY ALL ORDER BY ALL"
    )
    cells: list[tuple[Cell, ...]] = [tuple(row.values()) for row in rows]
    return Table(
        "runs",
        "How the runs were kept apart",
        (
            Column("isolation", "Isolation"),
            Column("network", "Network"),
            Column("device", "Device"),
            Column("runs", "Runs", "count"),
            Column("bugs", "Bugs", "count"),
            Column("hours", "Hours", "number"),
        ),
        tuple(cells),
        "Those that were started.",
    )
