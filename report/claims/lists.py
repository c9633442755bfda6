"""Claims as lists: the numbers of a study's results, and the figures that studies printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Any, get_args

from typer import Argument, Option

from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.evidence import PublishedFigure
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.results import Cell, Column, Listing, Result, Status
from faultatlas.data.study import Study
from faultatlas.report import formatting
from faultatlas.report.claims.export import stored_claims
from faultatlas.report.command import Excludes, command

STATUSES = tuple(filter(None, get_args(Status)))


@command("claims list")
def claims_list(
    study: Study,
    results: Annotated[
        tuple[str, ...], Argument(metavar="RESULT", help="Only claims of these results.")
    ] = (),
    *,
    published: Annotated[
        bool,
        Option("--published", help="List the figures that the shipped studies printed."),
        Excludes("results"),
    ] = False,
    status: Annotated[
        str, Option(help="Only this status: reproduced, near, not reproduced, ...")
    ] = "",
    of: Annotated[
        str, Option(metavar="NAME", help="Only the figures of this published study.")
    ] = "",
    top: Annotated[int, Option(min=1, help="Claims to show on a terminal.")] = 40,
) -> Result:
    """List the study's claims, or the published figures with their statuses.

    Examples:

        report claims list coverage-gap

        report claims list --published --status "not reproduced"
    """
    _known("status", status, STATUSES)
    if published or of:
        return _published_result(published_figures(status=status, study=of))
    claims = [claim for claim in stored_claims(study, results) if status in ("", claim["status"])]
    rest = len(claims) - top
    more = f"{formatting.counted(rest, 'more claim')}: add --top {len(claims)}, or name a result."
    return Result(
        "Claims of this study",
        summary=(more,) if rest > 0 else (),
        tables=(stored_table(claims[:top]),),
        data={"claims": claims},
    )


def _published_result(figures: Sequence[PublishedFigure]) -> Result:
    return Result(
        "Figures that studies printed",
        tables=(published_counts(figures), published_table(figures)),
        notes=tuple(f"{figure.figure_id}: {figure.note}" for figure in figures if figure.note),
        data={
            "rule": [vars(rule) for rule in evidence.status_rules()],
            "figures": [{**vars(figure), "status": status_of(figure)} for figure in figures],
        },
    )


def published_figures(*, status: str = "", study: str = "") -> tuple[PublishedFigure, ...]:
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


def published_table(figures: Sequence[PublishedFigure]) -> Listing:
    """Published figures and what the public data give."""
    return Listing(
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
                figure.figure_id,
                figure.study,
                figure.statement,
                figure.printed,
                figure.computed,
                status_of(figure),
            )
            for figure in figures
        ),
    )


def published_counts(figures: Sequence[PublishedFigure]) -> Listing:
    """How many published figures have which status, by study."""
    studies = list(dict.fromkeys(figure.study for figure in figures))
    counts = Counter((figure.study, status_of(figure)) for figure in figures)
    statuses = [status for status in STATUSES if any(counts[study, status] for study in studies)]
    return Listing(
        "counts",
        "Published figures by study",
        (
            Column("study", "Study", "code"),
            *(Column(status, status.capitalize(), "count") for status in statuses),
        ),
        tuple((study, *(counts[study, status] for status in statuses)) for study in studies),
    )


def stored_table(claims: Iterable[dict[str, Any]]) -> Listing:
    """A study's claims, each number in its own unit."""
    return Listing(
        "claims",
        "Numbers",
        (
            Column("claim_id", "Id", "code"),
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
