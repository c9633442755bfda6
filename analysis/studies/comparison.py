"""Whether numbers differ between groups: comments, days to close, scores, results of a tool."""

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

    from faultatlas.analysis.tallies.comparing import Comparison
    from faultatlas.analysis.tallies.measuring import Measured
    from faultatlas.analysis.tallies.printed import Beside
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "compare"
MOST_VALUES = 20


def run(
    study: Study,
    values: Sequence[str] = (),
    *,
    by: str = "",
    table: dict[str, Any] | None = None,
    round_name: str = "",
    where: str = "",
    printed: Sequence[str] = (),
) -> Result:
    """Compare numbers of groups; nothing is stored."""
    from faultatlas.analysis.tallies import comparing, comparison_result, comparison_tables, naming
    from faultatlas.data.old.results import Result

    measured: list[Measured]
    if table is not None:
        from faultatlas.analysis.tallies.measuring import of_table

        measured = [of_table(table, each) for each in table["values"]]
        chosen = {"table": table}
        title = f"{', '.join(table['values'])} of {table['name']}"
    else:
        measured = _of_study(study, list(values), by, round_name, where)
        chosen = naming.given(value=list(values), by=by, round=round_name, where=where)
        title = f"{', '.join(values)} by {by}"
    found = comparing.compared(measured)
    beside = _beside(found, printed)
    name = naming.result_name(NAME, chosen, bare=("value", "table"))
    parameters = {**chosen, **naming.given(printed=list(printed))}
    return Result(
        NAME,
        name,
        title,
        parameters,
        summary=comparison_result.summary(found, beside),
        claims=comparison_result.claims(found, name, parameters, beside),
        tables=comparison_tables.tables(found, beside),
        figures=comparison_tables.figures(found),
        notes=comparison_result.notes(found),
        sources=comparison_result.SOURCES,
        document=comparison_result.document(found),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        parameters.get("value", ()),
        by=parameters.get("by", ""),
        table=parameters.get("table"),
        round_name=parameters.get("round", ""),
        where=parameters.get("where", ""),
        printed=parameters.get("printed", ()),
    )


@old_command("compare")
def command(
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VALUE...",
            help="Numbers to compare: comment_count, days_to_close, score, files, added, "
            "body_length, or an SQL value of candidates. Several are adjusted after Holm.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="The groups: TAXONOMY, TAXONOMY:LEVEL, TAXONOMY=CODE, a covariate or an SQL value."
        ),
    ] = "",
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Values of a CSV or XLSX file instead."),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Column with the numbers (--table). Repeatable."),
    ] = None,
    group: Annotated[
        str, typer.Option(metavar="COL", help="Column with the groups (--table).")
    ] = "",
    paired: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="Column that says which rows are a pair (--table). Repeatable."
        ),
    ] = None,
    printed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="A printed number of two groups to set beside ours: p, d, g, delta. Repeatable.",
        ),
    ] = None,
    round_name: Annotated[str, typer.Option("--round", help="Only the labels of this round.")] = "",
    where: Annotated[
        str, typer.Option(metavar="SQL", help="Only candidates for which this holds.")
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compare numbers between groups: the test that their assumptions allow, and effect sizes.

    Shapiro-Wilk for each group, then Student's or Welch's t-test, or Mann-Whitney's (for pairs
    the paired t-test or Wilcoxon's); Cohen's d and Cliff's delta with intervals; Holm for many.

    Examples:

        analysis compare comment_count days_to_close --by hp-defects:1

        analysis compare score --by "len(tags) > 3" --where "kind = 'post'"

        analysis compare --table results.csv --value AP --group tool --paired bug
    """
    from faultatlas.analysis.tallies.measuring import file_values
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    given = None
    if table:
        if values or by or round_name or where or not value or not group:
            raise StudyError(
                "a table needs --value and --group, and nothing of the study",
                "Such as: analysis compare --table results.csv --value AP --group system",
            )
        given = file_values(table, value, group, paired or ())
    elif value or group or paired:
        raise StudyError("--value, --group and --paired are columns of a table", "Add --table.")
    opened = open_study(study, output)
    result = run(
        opened,
        values or (),
        by=by,
        table=given,
        round_name=round_name,
        where=where,
        printed=printed or (),
    )
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))


def _of_study(
    study: Study, values: list[str], by: str, round_name: str, where: str
) -> list[Measured]:
    from faultatlas.analysis.tallies import sides
    from faultatlas.analysis.tallies.measuring import of_study

    if not values or not by:
        raise StudyError(
            "a comparison needs a value and groups",
            "Such as: analysis compare comment_count --by hp-defects:1",
        )
    if len(values) > MOST_VALUES:
        raise StudyError(f"more than {MOST_VALUES} values at once", "Compare fewer.")
    (group,) = sides.read(study, [by], round_name, where)
    return [of_study(study, each, group, round_name, where) for each in dict.fromkeys(values)]


def _beside(found: Sequence[Comparison], texts: Sequence[str]) -> tuple[Beside, ...]:
    from faultatlas.analysis.tallies import comparison_result, printed

    numbers = printed.read(texts, comparison_result.PRINTABLE)
    pairs = [pair for each in found for pair in each.pairs]
    if not numbers:
        return ()
    if len(pairs) != 1:
        raise StudyError(
            f"--printed is set beside one pair of groups, and there are {len(pairs)}",
            "Compare one value of two groups.",
        )
    (pair,) = pairs
    ours = {
        "p": pair.test.p_value,
        "d": pair.d.value,
        "g": pair.g.value,
        "delta": pair.delta.value,
    }
    return printed.compare(numbers, ours)
