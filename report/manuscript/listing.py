"""Findings as tables and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from faultatlas.data.old.results import Column, Table
from faultatlas.report.formatting import counted
from faultatlas.report.manuscript.checking import known_kinds
from faultatlas.report.manuscript.outcomes import STATUS_OF, Finding

_COLUMNS = (
    Column("entry_id", "Claim", "code"),
    Column("figure_id", "Figure", "code", aside=True),
    Column("place", "Place"),
    Column("what", "What", aside=True),
    Column("printed", "Printed"),
    Column("computed", "Computed"),
    Column("verdict", "Verdict", "status"),
    Column("reason", "Why"),
)


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """How many numbers have each verdict."""
    found = Counter(each.verdict for each in findings)
    return {verdict: found[verdict] for verdict in STATUS_OF}


def summary(name: str, findings: Sequence[Finding]) -> str:
    """The counts in a line."""
    parts = [f"{verdict} {count}" for verdict, count in counts(findings).items() if count]
    if not findings:
        return f"{name}: no claims"
    return f"{name}: {counted(len(findings), 'claim')}: {', '.join(parts)}"


def open_findings(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Those that are not consistent: what is printed and what comes out, and below it why."""
    return [
        (
            f"{each.entry_id}{f' ({each.place})' if each.place else ''}: {each.verdict}",
            f"{each.printed or 'nothing printed'} -> {each.computed or 'not computed'}",
            each.reason,
        )
        for each in findings
        if each.verdict != "consistent"
    ]


def findings_table(name: str, shown: Sequence[Finding]) -> Table:
    """Every one."""
    columns = tuple(
        column for column in _COLUMNS if any(getattr(each, column.key) for each in shown)
    )
    return Table(
        "findings",
        name,
        columns,
        tuple(tuple(getattr(each, column.key) for column in columns) for each in shown),
    )


def rules_table(findings: Sequence[Finding]) -> Table:
    """By which rules these findings were compared."""
    rules = dict.fromkeys((each.kind, each.rule) for each in findings)
    return Table("rules", "Rules", (Column("kind", "Kind", "code"), Column("rule", "Rule")),
                 tuple(sorted(rules)))  # fmt: skip


def kinds_table() -> Table:
    """The kinds of checks and their fields."""
    return Table(
        "kinds",
        "Kinds of checks",
        (Column("kind", "Kind", "code"), Column("about", "Checks"), Column("fields", "Fields")),
        tuple(
            (name, kind.ABOUT, "; ".join(f"{key}: {text}" for key, text in kind.FIELDS.items()))
            for name, kind in known_kinds().items()
        ),
    )


def kinds_document() -> list[dict[str, Any]]:
    """The same, with examples."""
    return [
        {
            "kind": name,
            "about": kind.ABOUT,
            "fields": kind.FIELDS,
            "example": f'[[claim]]\nid = "example"\nkind = "{name}"{kind.EXAMPLE}',
        }
        for name, kind in known_kinds().items()
    ]


def document(checked: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """All findings, by the file that they are of."""
    return {
        "manuscripts": [
            {"name": name, "counts": counts(found), "findings": [vars(each) for each in found]}
            for name, found in checked.items()
        ]
    }
