"""Claims on a terminal: each in its unit, its status whole at every width."""

from __future__ import annotations

import io
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import pytest
from rich.console import Console

from faultatlas.data.old.results import Table
from faultatlas.report.claims import lists as claims
from faultatlas.report.tables import console_table

STATED: dict[str, Any] = {
    "claim_id": "coverage-gap.interviews.untargeted",
    "statement": "Interview mentions of faults that nobody targets",
    "value": 46.903,
    "unit": "percent",
    "low": 40.5,
    "high": 53.4,
    "printed": 70.3,
    "status": "not reproduced",
}
KAPPA = STATED | {"claim_id": "kappa", "value": 0.8171, "unit": "", "low": -0.1, "high": 0.9,
                  "printed": None, "status": ""}  # fmt: skip
PAPERS = STATED | {"claim_id": "papers", "value": 52.0, "unit": "papers", "low": None,
                   "high": None, "printed": 53.0}  # fmt: skip


def shown(table: Table, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), force_terminal=False, color_system=None)
    console.print(console_table(table, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_every_claim_is_written_in_its_own_unit() -> None:
    rows = [row[2:5] for row in claims.stored_table([STATED, KAPPA, PAPERS]).rows]
    assert rows == [
        ("46.9 %", "40.5\N{EN DASH}53.4 %", "70.3 %"),
        ("0.817", "-0.100 to 0.900", None),
        ("52 papers", "\N{EN DASH}", "53 papers"),
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("kind", ["stored", "published"])
def test_lists_fit_and_keep_their_statuses_whole(kind: str, width: int) -> None:
    figures = claims.published_figures(status="not reproduced")
    table = {
        "stored": claims.stored_table([STATED, KAPPA, PAPERS]),
        "published": claims.published_table(figures),
    }[kind]
    lines = shown(table, width)
    assert max(map(len, lines)) <= width
    ends = [line.split()[-1] for line in lines if line.strip()]
    assert "Status" in ends
    statuses = sum(row[-1] == "not reproduced" for row in table.rows)
    assert ends.count("reproduced") == statuses
    if width >= 60:
        assert all(any(str(row[0]) in line for line in lines) for row in table.rows)


def test_notes_are_for_those_who_ask(command: Callable[..., CompletedProcess[str]]) -> None:
    words = ("report", "claims", "list", "--published", "--of", "survey")
    noted = [figure for figure in claims.published_figures(study="survey") if figure.note]
    start = noted[0].note.split()[0]
    assert "\nNotes" not in command(*words).stdout
    _figures, notes = command(*words, "-v").stdout.split("\nNotes")
    assert all(figure.figure_id in notes for figure in noted)
    assert start in notes
