"""`annotation import` and `export`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faultatlas.annotation.typed import typed
from faultatlas.report.formatting import counted
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


@old_command("import")
def import_labels(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="CSV or XLSX; NAME=FILE for the sheet of one rater."),
    ],
    item: Annotated[
        str,
        typer.Option(
            metavar="COL",
            help="Column with the item's URL or id, or a template with columns in braces.",
        ),
    ] = "",
    taxonomy: Annotated[
        str, typer.Option(help="Taxonomy of the codes. [default: that of the round]")
    ] = "",
    rater_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="A column for each rater, such as 'volunteer_*'."),
    ] = None,
    pairs: Annotated[
        str, typer.Option(help="Columns of raters and codes, such as 'Evaluator*/Tag*'.")
    ] = "",
    rater: Annotated[str, typer.Option(help="The one rater of the sheet.")] = "",
    rater_column: Annotated[
        str, typer.Option(metavar="COL", help="Column with the rater: a row for each answer.")
    ] = "",
    code: Annotated[str, typer.Option(metavar="COL", help="Column with the codes.")] = "",
    codes_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=WORD:CODE", help="Where a column says a word, such as Yes, that code."
        ),
    ] = None,
    comment: Annotated[str, typer.Option(metavar="COL", help="Column with comments.")] = "",
    final: Annotated[str, typer.Option(metavar="COL", help="Column with the final code.")] = "",
    stratum: Annotated[str, typer.Option(metavar="COL", help="Column with the stratum.")] = "",
    conflict: Annotated[
        str, typer.Option(metavar="COL", help="Column where the sheet marks conflicts: counted.")
    ] = "",
    stage: Annotated[
        str, typer.Option(help="independent (default), negotiated (after discussion), adjudicated.")
    ] = "",
    otherwise: Annotated[
        str,
        typer.Option(
            metavar="CODE", help="Code of any other text, which is kept as a proposed code."
        ),
    ] = "",
    spellings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Confirmed table of spellings.")
    ] = None,
    accept_spellings: Annotated[
        bool, typer.Option("--accept-spellings", help="Take proposed spellings as they are.")
    ] = False,
    fill_down: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Fill empty cells from above: merged cells, groups."),
    ] = None,
    skip_nameless: Annotated[
        bool, typer.Option("--skip-nameless", help="Leave out rows that name no item; told.")
    ] = False,
    sheet: Annotated[
        str, typer.Option(help="Sheet of a workbook. [default: the first that is not hidden]")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of CSV files. [default: utf-8]")] = "",
    delimiter: Annotated[
        str,
        typer.Option(help="What separates columns: comma, semicolon, tab. [default: found out]"),
    ] = "",
    corrections: Annotated[
        bool,
        typer.Option(
            "--corrections", help="Independent labels may change although a gate was decided."
        ),
    ] = False,
    version: Annotated[
        str,
        typer.Option(
            metavar="V",
            help="Version of the taxonomy that the codes are of. [default: that of the round]",
        ),
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring the labels of sheets into the study.

    Items are URLs or ids of GitHub and Gitee issues, commits, Stack Overflow questions and
    papers (DOI). Codes are recognised by code, name or alias; several in a cell are separated
    by semicolons. Other spellings are proposed in a table for you to confirm. An artifact
    that stands in several rows of a sheet becomes several items. The same sheet can be
    imported again: nothing is doubled. A sheet of `annotation export` needs no options.

    Examples:

        annotation import hp pytorch.csv --item URL --rater-columns 'volunteer_*'
          --final Final_label --taxonomy hp-defects

        annotation import r1 round_1.xlsx --item Link --pairs 'Evaluator*/Tag*'
          --taxonomy screening --otherwise fault --conflict 'Conflict*'

        annotation import pilot ann=a.xlsx bob=b.xlsx --item URL --code Type
          --taxonomy dl-bugs

        annotation import pilot discussed.csv
    """
    from faultatlas.annotation.sheets.asking import Asked
    from faultatlas.annotation.sheets.command import import_sheets

    output = Output(as_json, quiet, verbose)
    asked = Asked(
        item=item, rater_columns=tuple(rater_columns or ()), pairs=pairs, rater=rater,
        rater_column=rater_column, code=code, codes_from=tuple(codes_from or ()),
        comment=comment, final=final, stratum=stratum, conflict=conflict,
        fill_down=tuple(fill_down or ()), sheet=sheet, encoding=encoding, delimiter=delimiter,
        skip_nameless=skip_nameless,
    )  # fmt: skip
    done = import_sheets(
        open_study(study, output), round_name, files, asked, taxonomy_name=taxonomy,
        version=version, stage=stage, otherwise=otherwise, spellings=spellings,
        accept=accept_spellings, corrections=corrections,
    )  # fmt: skip
    output.document(done.document)
    output.show(*done.lines)
    for note in done.notes:
        output.tell(note)


@old_command("export")
def export_labels(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends with .csv or .xlsx.")],
    stage: Annotated[
        str,
        typer.Option(help="Stage of the labels. [default: independent; with --long, all]"),
    ] = "",
    long: Annotated[
        bool, typer.Option("--long", help="A row for each answer, with comments and times.")
    ] = False,
    rater: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A sheet for one rater to fill in: own items and order, nothing of others.",
        ),
    ] = "",
    version: Annotated[
        str,
        typer.Option(
            metavar="V",
            help="Answers given in this version of the taxonomy. [default: that of the round]",
        ),
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a file.")] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Write a round as a sheet: a column for each rater, or a row for each answer.

    The sheet can be filled in, discussed over and imported again. Cells that a spreadsheet
    program would run as a formula get an apostrophe, which the import takes away again.

    Examples:

        annotation export pilot pilot.xlsx

        annotation export pilot ann.xlsx --rater ann

        annotation export pilot discussed.csv --stage negotiated

        annotation export pilot pilot.csv --long
    """
    from faultatlas.annotation.sheets.command import export_sheet

    output = Output(as_json, quiet, verbose)
    document = export_sheet(
        open_study(study, output), round_name, file, stage=stage, version=version, rater=rater,
        is_long=long, replace=replace,
    )  # fmt: skip
    output.document(document)
    rows = counted(document["rows"], "row")
    output.show(f"{rows} of round {round_name} written to {file}")
    if rater:
        output.tell(
            f"{rater} fills in the column codes; then: annotation import {typed(round_name)} "
            f"{typed(file)}"
        )
    left = document["answers_in_other_versions"]
    if left:
        output.tell(
            f"{counted(left, 'answer')} given in other versions of the taxonomy not in the sheet: "
            "--version V, or --long for all"
        )
