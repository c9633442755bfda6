"""The command `annotation`: parses and calls, no logic."""

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

app = console.application(
    "Taxonomies and labels: look up and check taxonomies, bring settled labels in."
)
taxonomy_app = console.application("Look at taxonomies and the crosswalks between them.")
app.add_typer(taxonomy_app, name="taxonomy")


@app.callback()
def annotation(version: console.VersionOption = False) -> None:
    """Taxonomies and labels: look up and check taxonomies, bring settled labels in."""


@taxonomy_app.command("list")
def list_taxonomies(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the taxonomies and crosswalks: those shipped, and those of the study."""
    from annotation import taxonomy_view
    from data.taxonomy_library import TaxonomyLibrary
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    listed = taxonomy_view.list_document(TaxonomyLibrary(study))
    taxonomies, crosswalks = taxonomy_view.list_tables(listed)
    output.document(listed)
    output.show(console_table(taxonomies), "", console_table(crosswalks))


@taxonomy_app.command("show")
def show_taxonomy(
    name: Annotated[str, typer.Argument(help="Name of the taxonomy or crosswalk.")],
    code: Annotated[
        str, typer.Argument(help="Only this code and what is below it, with definitions.")
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Print a taxonomy as a tree; with a code or with -v, the definitions too.

    A crosswalk is printed as a table; with -v, the reasons too.

    Examples:

        annotation taxonomy show humbatova

        annotation taxonomy show humbatova 5.4

        annotation taxonomy show hp-defects--humbatova
    """
    from annotation import taxonomy_view
    from data.taxonomy_library import TaxonomyLibrary, names_crosswalk
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    library = TaxonomyLibrary(study)
    if names_crosswalk(name):
        crosswalk = taxonomy_view.crosswalk_document(library, name, code)
        output.document(crosswalk)
        output.show(console_table(taxonomy_view.crosswalk_table(crosswalk, basis=verbose)))
    else:
        taxonomy = library.taxonomy(name)
        output.document(taxonomy_view.document(taxonomy, code))
        output.show(taxonomy_view.tree(taxonomy, code, definitions=verbose or bool(code)))


@taxonomy_app.command("validate")
def validate_taxonomies(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Taxonomy or crosswalk files; without any, all that are known."),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Check taxonomy and crosswalk files; what is wrong is named with file, line and code."""
    from annotation.validation import validate

    output = Output(as_json, quiet, verbose)
    checked = validate(study, files or [])
    output.document({"valid": [str(path) for path in checked]})
    output.show(*(f"valid: {path}" for path in checked))


@app.command("import")
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
    from annotation.final_labels import (
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


def main() -> None:
    """Entry point."""
    console.run(app)
