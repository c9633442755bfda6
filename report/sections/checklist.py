"""The checklist of the ACM SIGSOFT Empirical Standards: what is filled and what is missing."""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section, checks
from faultatlas.report.sections.facts import FILLED, MISSING, NOT_APPLICABLE, PARTLY, Facts

POSITION = 80
KEY = "checklist"

_FILE = Path(__file__).parents[1] / "checklist.toml"


def section(material: Material) -> Section:
    """The checklist; a standard that does not apply says why."""
    facts = Facts(material)
    rows = [row for standard in checklist()["standard"] for row in _rows(standard, facts)]
    states = Counter(row[2] for row in rows)
    asked = sum(number for state, number in states.items() if state != NOT_APPLICABLE)
    return Section(
        KEY,
        "Checklist",
        text=(
            (
                f"Of {counted(asked, 'attribute')} that apply, the data of the study fill "
                f"{states[FILLED]} and {states[PARTLY]} in part; "
                f"{states[MISSING]} are missing."
            ),
        ),
        tables=(
            Table(
                "standards",
                "ACM SIGSOFT Empirical Standards",
                (
                    Column("standard", "Standard"),
                    Column("attribute", "Attribute"),
                    Column("state", "State", "status"),
                    Column("evidence", "Evidence"),
                    Column("section", "Section"),
                    Column("todo", "What to do"),
                    Column("id", "Id", "code", aside=True),
                ),
                tuple(rows),
                "The attributes in our words. A standard is no form to fill: where a deviation is "
                "reasonable, the manuscript says why.",
                grouped_by="standard",
            ),
        ),
        sources=(checklist()["source"],),
    )


@cache
def checklist() -> dict[str, Any]:
    """The shipped file."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _rows(standard: dict[str, Any], facts: Facts) -> list[tuple[Cell, ...]]:
    applies, why_not = checks.APPLIES[standard["applies"]]
    if not applies(facts):
        everything = f"All {counted(len(standard['item']), 'attribute')}"
        odd = NOT_APPLICABLE
        return [(standard["name"], everything, odd, why_not, None, None, None)]
    rows: list[tuple[Cell, ...]] = []
    for item in standard["item"]:
        found = checks.CHECKS[item["check"]](facts)
        todo = None if found.state == FILLED else item["do"]
        rows.append(
            (
                standard["name"], item["attribute"], found.state, found.evidence or None,
                found.section or None, todo, item["id"],
            )
        )  # fmt: skip
    return rows
