"""`annotation taxonomy`: parses and calls, no logic."""

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
)

commands = console.application("Look at taxonomies and the crosswalks between them.")


@commands.command("list")
def list_taxonomies(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the taxonomies and crosswalks: those shipped, and those of the study."""
    from annotation.taxonomies import view as taxonomy_view
    from data.taxonomy_library import TaxonomyLibrary
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    listed = taxonomy_view.list_document(TaxonomyLibrary(study))
    taxonomies, crosswalks = taxonomy_view.list_tables(listed)
    output.document(listed)
    output.show(console_table(taxonomies), "", console_table(crosswalks))


@commands.command("show")
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
    from annotation.taxonomies import view as taxonomy_view
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


@commands.command("validate")
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
    from annotation.taxonomies.validation import validate

    output = Output(as_json, quiet, verbose)
    checked = validate(study, files or [])
    output.document({"valid": [str(path) for path in checked]})
    output.show(*(f"valid: {path}" for path in checked))
