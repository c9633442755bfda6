"""Whether two things go together: categories, covariates or counts that somebody printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultatlas.analysis.tallies.associating import Question
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "associate"


def run(
    study: Study,
    sides: Sequence[str] = (),
    *,
    table: dict[str, Any] | None = None,
    round_name: str = "",
    where: str = "",
    printed: Sequence[str] = (),
    name: str = "",
) -> Result:
    """Associate two sides, or the rows and columns of a table; nothing is stored."""
    from faultatlas.analysis.tallies import associating, association_tables

    if table is not None:
        of, told = _of_table(table, list(printed), name)
    else:
        of, told = _of_study(study, list(sides), round_name, where, list(printed), name)
    from faultatlas.data.old.results import Result

    return Result(
        NAME,
        of.name,
        of.title,
        of.parameters,
        summary=associating.summary(of),
        claims=associating.claims(of),
        tables=association_tables.tables(of),
        figures=(association_tables.figure(of),),
        notes=associating.notes(of, told),
        sources=associating.SOURCES,
        document=associating.document(of),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        [parameters[name] for name in ("first", "second") if name in parameters],
        table=parameters.get("table"),
        round_name=parameters.get("round", ""),
        where=parameters.get("where", ""),
        printed=parameters.get("printed", ()),
        name=parameters.get("name", ""),
    )


@old_command("associate")
def command(
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B",
            help="Two of: TAXONOMY, TAXONOMY:LEVEL, TAXONOMY=CODE, a covariate (project, "
            "framework, year, ...), an SQL value of candidates.",
            show_default=False,
        ),
    ] = None,
    counts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PART/WHOLE",
            help="Counts of groups instead, one after the other: --counts 154/385 41/385.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A table of counts instead: CSV or XLSX with names."),
    ] = None,
    printed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="A printed number to set beside ours: p, chi2, v, odds-ratio, risk-ratio, "
            "difference. Repeatable.",
        ),
    ] = None,
    round_name: Annotated[str, typer.Option("--round", help="Only the labels of this round.")] = "",
    where: Annotated[
        str, typer.Option(metavar="SQL", help="Only candidates for which this holds.")
    ] = "",
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Call the result associate-NAME, and its claims so. [default: after A and B]",
        ),
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Test whether two things go together, with effect sizes and the cells that stand out.

    Chi-square, or Fisher's exact test where expected counts are small; Cramer's V with its
    interval; for two by two also the odds ratio and the difference of shares. Printed numbers
    are set beside ours.

    Examples:

        analysis associate hp-defects:1 framework

        analysis associate extrinsic=extrinsic project

        analysis associate --counts deep=154/385 others=41/385 --name deep --printed p=1.79e-14
    """
    from faultatlas.analysis.tallies.given_tables import counts_table, file_table
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    if counts and table:
        raise StudyError("--counts and --table are two tables", "Give one of them.")
    given = None
    if counts:
        given = counts_table([*counts, *(sides or ())])
    elif table:
        given = file_table(table)
    if given and (round_name or where or (table and sides)):
        raise StudyError("a table that is given needs nothing of the study", "Leave the rest out.")
    opened = open_study(study, output)
    result = run(
        opened,
        sides or (),
        table=given,
        round_name=round_name,
        where=where,
        printed=printed or (),
        name=name,
    )
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))


def _of_table(table: dict[str, Any], texts: list[str], name: str) -> tuple[Question, list[str]]:
    from faultatlas.analysis.statistics.tables import without_empty
    from faultatlas.analysis.tallies import associating, naming, printed

    parameters = naming.given(table=table, printed=texts, name=name)
    told = [f"The counts were given ({table['name']}); no rows of the study stand behind them."]
    rows = [each for each, row in zip(table["rows"], table["counts"], strict=True) if sum(row)]
    columns = [
        each
        for each, column in zip(table["columns"], zip(*table["counts"], strict=True), strict=True)
        if sum(column)
    ]
    empty = [each for each in (*table["rows"], *table["columns"]) if each not in {*rows, *columns}]
    if empty:
        told.append(f"Left out, as nothing is counted there: {', '.join(empty)}.")
    of = associating.Question(
        tuple(rows),
        tuple(columns),
        tuple(map(tuple, without_empty(table["counts"]))),
        "Group" if table["name"] == "counts" else "Row",
        "outcome" if table["name"] == "counts" else "column",
        naming.own_name(NAME, name)
        if name
        else naming.result_name(NAME, {"table": table}, bare=("table",)),
        parameters,
        printed.read(texts, associating.PRINTABLE),
        of_groups=table["name"] == "counts",
    )
    return of, told


def _of_study(
    study: Study, sides: list[str], round_name: str, where: str, texts: list[str], name: str
) -> tuple[Question, list[str]]:
    from faultatlas.analysis.tallies import associating, naming, pairing, printed
    from faultatlas.analysis.tallies import sides as sides_of

    if len(sides) != 2:
        raise StudyError(
            f"two sides are associated, not {len(sides)}",
            "Such as: analysis associate hp-defects:1 framework, or --counts 154/385 41/385",
        )
    first, second = sides_of.read(study, sides, round_name, where)
    found = pairing.pairs(study, first, second, round_name, where)
    chosen = naming.given(first=first.given, second=second.given, round=round_name, where=where)
    of = associating.Question(
        found.rows,
        found.columns,
        tuple(map(tuple, found.table())),
        first.title,
        second.title,
        naming.own_name(NAME, name)
        if name
        else naming.result_name(NAME, chosen, bare=("first", "second")),
        {**chosen, **naming.given(printed=texts, name=name)},
        printed.read(texts, associating.PRINTABLE),
        found.rows_query,
        found.row_titles,
        found.column_titles,
    )
    return of, list(found.notes)
