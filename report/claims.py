"""Claims as lists: the numbers of a study's results, and the figures that studies printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from data import evidence
from data.errors import StudyError
from data.evidence import PublishedFigure
from data.store import Study
from report import formatting

STATUSES = ("reproduced", "near", "not reproduced", "inconsistent", "no data")


def published(*, status: str = "", study: str = "") -> tuple[PublishedFigure, ...]:
    """The shipped published figures, of one status or one study if asked for."""
    figures = evidence.published_figures()
    _known("status", status, STATUSES)
    _known("published study", study, sorted({figure.study for figure in figures}))
    return tuple(
        figure
        for figure in figures
        if status in ("", figure.status) and study in ("", figure.study)
    )


def rule() -> list[dict[str, str]]:
    """How the wordings of the checks become statuses."""
    return [vars(each) for each in evidence.status_rules()]


def stored(study: Study, *, status: str = "") -> list[dict[str, Any]]:
    """The claims of the newest results of a study."""
    _known("status", status, STATUSES)
    with study.reading() as reader:
        return reader.rows(
            "SELECT claim_id, statement, value, unit, low, high, count, total, printed, status, "
            "reason, query, run_id FROM claims WHERE ? IN ('', status) ORDER BY claim_id",
            [status],
        )


def published_table(figures: Sequence[PublishedFigure], *, verbose: bool) -> Table:
    """Published figures for a terminal; with notes if asked for."""
    table = Table(title=f"{len(figures):,} published figures", title_justify="left")
    table.add_column("Id", no_wrap=True)
    table.add_column("Study", no_wrap=True)
    table.add_column("Figure", ratio=3)
    table.add_column("Printed", ratio=1)
    table.add_column("Public data", ratio=1)
    table.add_column("Status")
    if verbose:
        table.add_column("Note", ratio=3)
    for each in figures:
        cells = [each.figure_id, each.study, each.statement, each.printed, each.computed,
                 each.status]  # fmt: skip
        table.add_row(*cells, *([each.note] if verbose else []))
    return table


def stored_table(claims: Iterable[dict[str, Any]]) -> Table:
    """A study's claims for a terminal."""
    table = Table(title="Claims of this study", title_justify="left")
    table.add_column("Id", ratio=2, overflow="fold")
    table.add_column("Statement", ratio=3)
    for heading in ("Value", "95 % interval", "Printed"):
        table.add_column(heading, justify="right")
    table.add_column("Status")
    for claim in claims:
        low, high = claim["low"], claim["high"]
        table.add_row(
            claim["claim_id"],
            claim["statement"],
            _value(claim["value"]),
            "" if low is None else f"{low:.1f} to {high:.1f}",
            _value(claim["printed"]),
            claim["status"],
        )
    return table


def _value(value: float | None) -> str:
    return "" if value is None else formatting.percent(value)


def _known(kind: str, name: str, names: Sequence[str]) -> None:
    if name and name not in names:
        raise StudyError(f"there is no {kind} {name!r}", f"Known: {', '.join(names)}.")
