"""`annotation import` and `export`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from report import console
from report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

commands = console.application("Labels from and to spreadsheets.")


@commands.command("import")
def import_labels(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="CSV files in UTF-8.")],
    item: Annotated[str, typer.Option(metavar="COL", help="Column with the item's URL or id.")],
    final: Annotated[str, typer.Option(metavar="COL", help="Column with the final code.")],
    taxonomy: Annotated[str, typer.Option(help="Taxonomy of the codes.")],
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring the settled labels of a sheet into the study.

    Items are URLs or ids of GitHub and Gitee issues, commits, Stack Overflow questions and
    papers (DOI). Codes are recognised by code, name or alias; several in a cell are separated
    by semicolons. An artifact that stands in several rows of a sheet becomes several items.
    The same sheet can be imported again: nothing is doubled.

    Example:

        annotation import hp pytorch.csv --item URL --final Final_label --taxonomy hp-defects
    """
    from annotation.sheets.final_labels import (
        checked_round,
        read_sheets,
        store_final_labels,
    )
    from data import provenance
    from data.taxonomy_library import TaxonomyLibrary

    output = Output(as_json, quiet, verbose)
    checked_round(round_name)
    chosen = TaxonomyLibrary(study).taxonomy(taxonomy)
    run = provenance.begin(
        "annotation import",
        {"round": round_name, "files": [str(file) for file in files], "item": item,
         "final": final, "taxonomy": taxonomy},
    )  # fmt: skip
    sheet = read_sheets(files, item_column=item, final_column=final, taxonomy=chosen)
    imported = store_final_labels(open_study(study, output), round_name, chosen, sheet.labels, run)
    output.document(
        {
            "round": round_name,
            "taxonomy": chosen.name,
            "rows": sheet.rows,
            "stored": imported.stored,
            "known": imported.known,
            "unlabelled": sheet.unlabelled,
            "repeated_artifacts": list(sheet.repeated),
        }
    )
    output.show(
        f"{imported.stored:,} final labels stored in round {round_name} from {sheet.rows:,} rows"
        f" ({imported.known:,} known already, {sheet.unlabelled:,} rows without a code)"
    )
    if sheet.repeated:
        output.tell(
            f"{len(sheet.repeated):,} artifacts stand in several rows; each row is an item: "
            + ", ".join(sheet.repeated[:5])
        )
