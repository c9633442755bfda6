"""Claims as lists: the numbers of a study's results, and the figures that studies printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, get_args

from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.evidence import PublishedFigure
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import Cell, ClaimStatus, Column, Table
from faultatlas.data.study import Study
from faultatlas.report import formatting

STATUSES = tuple(filter(None, get_args(ClaimStatus)))


def published(*, status: str = "", study: str = "") -> tuple[PublishedFigure, ...]:
    """The shipped published figures, of one status or one study if asked for."""
    figures = evidence.published_figures()
    _known("status", status, STATUSES)
    _known("published study", study, sorted({figure.study for figure in figures}))
    return tuple(
        figure
        for figure in figures
        if status in ("", status_of(figure)) and study in ("", figure.study)
    )


def status_of(figure: PublishedFigure) -> str:
    """The status of a published figure; where it is one of a text, its printed numbers give it."""
    return _of_texts().get(figure.figure_id) or status_by_hand(figure)


@cache
def _of_texts() -> dict[str, str]:
    from faultatlas.report.manuscript.check import by_figure, check, shipped_studies

    of_texts = {
        figure.figure_id
        for figure in evidence.published_figures()
        if figure.data.startswith("paper text")
    }
    return {
        name: finding.status
        for study in shipped_studies()
        for name, finding in by_figure(check(study)).items()
        if name in of_texts
    }


def rule() -> list[dict[str, str]]:
    """How the wordings of the checks become statuses."""
    return [vars(each) for each in evidence.status_rules()]


def stored(study: Study, *, status: str = "") -> list[dict[str, Any]]:
    """The claims of the newest results of a study."""
    _known("status", status, STATUSES)
    with study.reading() as reader:
        return reader.rows(
            "SELECT claim_id, result, statement, value, unit, low, high, count, total, method, "
            "printed, status, reason, query, rows_query, run_id FROM claims "
            "WHERE ? IN ('', status) ORDER BY claim_id",
            [status],
        )


def published_table(figures: Sequence[PublishedFigure]) -> Table:
    """Published figures beside what the public data give."""
    return Table(
        "published",
        f"{len(figures):,} published figures",
        (
            Column("figure_id", "Id", "code"),
            Column("study", "Study", aside=True),
            Column("statement", "Figure"),
            Column("printed", "Printed"),
            Column("computed", "Public data"),
            Column("status", "Status", "status"),
        ),
        tuple(
            (
                each.figure_id,
                each.study,
                each.statement,
                each.printed,
                each.computed,
                status_of(each),
            )
            for each in figures
        ),
    )


def published_counts(figures: Sequence[PublishedFigure]) -> Table:
    """How many published figures come out, by study."""
    studies = list(dict.fromkeys(figure.study for figure in figures))
    counts = Counter((figure.study, status_of(figure)) for figure in figures)
    statuses = [status for status in STATUSES if any(counts[study, status] for study in studies)]
    return Table(
        "counts",
        "Published figures by study",
        (
            Column("study", "Study", "code"),
            *(Column(status, status.capitalize(), "count") for status in statuses),
        ),
        tuple((study, *(counts[study, status] for status in statuses)) for study in studies),
    )


def notes_table(figures: Sequence[PublishedFigure]) -> Table:
    """What there is to say of published figures: a table of its own, because notes are long."""
    return Table(
        "notes",
        "Notes",
        (Column("figure_id", "Id", "code"), Column("note", "Note")),
        tuple((each.figure_id, each.note) for each in figures if each.note),
    )


def stored_table(claims: Iterable[dict[str, Any]]) -> Table:
    """A study's claims, each number in its own unit."""
    return Table(
        "claims",
        "Claims of this study",
        (
            Column("claim_id", "Id"),
            Column("statement", "Statement"),
            Column("value", "Value", "number"),
            Column("interval", "Interval", "interval"),
            Column("printed", "Printed", "number"),
            Column("status", "Status", "status"),
        ),
        tuple(_claim_row(claim) for claim in claims),
    )


def _claim_row(claim: dict[str, Any]) -> tuple[Cell, ...]:
    unit, printed = claim["unit"], claim["printed"]
    return (
        claim["claim_id"],
        claim["statement"],
        formatting.measure(claim["value"], unit),
        formatting.interval(claim["low"], claim["high"], unit),
        None if printed is None else formatting.printed(printed, unit),
        claim["status"],
    )


def _known(kind: str, name: str, names: Sequence[str]) -> None:
    if name and name not in names:
        raise StudyError(f"there is no {kind} {name!r}", f"Known: {', '.join(names)}.")
