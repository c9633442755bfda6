"""Look up, check and change taxonomies and crosswalks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faultatlas.annotation.typed import typed
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


@old_command("taxonomy list")
def list_taxonomies(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the taxonomies and crosswalks: those shipped, and those of the study.

    Example:

        annotation taxonomy list
    """
    from faultatlas.annotation.taxonomies import view as taxonomy_view
    from faultatlas.data.taxonomy_library import TaxonomyLibrary
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    listed = taxonomy_view.list_document(TaxonomyLibrary(study))
    taxonomies, crosswalks = taxonomy_view.list_tables(listed)
    output.document(listed)
    output.show(console_table(taxonomies), "", console_table(crosswalks))
    taxonomy_view.refuse_listed(listed)


@old_command("taxonomy show")
def show_taxonomy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the taxonomy or crosswalk.")],
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="Only this code and what is below it, with definitions."
        ),
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
    from faultatlas.annotation.taxonomies import view as taxonomy_view
    from faultatlas.data.taxonomy_library import TaxonomyLibrary, names_crosswalk
    from faultatlas.report.tables import console_table

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


@old_command("taxonomy validate")
def validate_taxonomies(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="Taxonomy or crosswalk files; without any, all that are known."
        ),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Check taxonomy and crosswalk files; what is wrong is named with file, line and code.

    Examples:

        annotation taxonomy validate

        annotation taxonomy validate taxonomies/build-failures.yaml
    """
    from faultatlas.annotation.taxonomies.validation import validate

    output = Output(as_json, quiet, verbose)
    checked = validate(study, files or [])
    output.document({"valid": [str(path) for path in checked.paths], "notes": [*checked.notes]})
    output.show(*(f"valid: {path}" for path in checked.paths))
    for note in checked.notes:
        output.tell(f"note: {note}")


@old_command("taxonomy copy")
def copy_taxonomy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the taxonomy.")],
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Copy a shipped taxonomy into the study, to change it there.

    Nothing is overwritten. The copy counts as the shipped one until it is changed.

    Example:

        annotation taxonomy copy dl-bugs
    """
    from faultatlas.annotation.taxonomies.copying import copy_shipped, next_steps

    output = Output(as_json, quiet, verbose)
    path = copy_shipped(study, name)
    output.document({"taxonomy": name, "file": str(path)})
    output.show(f"copied to {path}", *next_steps(name, path))


@old_command("taxonomy diff")
def diff_taxonomy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the taxonomy.")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="A version; else the one before.")] = "",
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another; else the highest.")] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compare two versions of a taxonomy: what differs, and how many labels it touches.

    Change the file in `taxonomies/` of the study (`annotation taxonomy copy` puts a shipped one
    there), raise its version, and ask what that means.
    Where the file does not say what became of its codes, the lines to add are printed.

    Examples:

        annotation taxonomy diff build-failures

        annotation taxonomy diff build-failures 1.0.0 3.0.0
    """
    from faultatlas.annotation.taxonomies.comparison import compare
    from faultatlas.data.taxonomy_library import refusal
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    if opened.exists:
        with opened.reading() as reader:
            found = compare(reader, study, name, old, new)
    else:
        found = compare(None, study, name, old, new)
    output.document(found.document())
    for table in found.tables():
        output.show(console_table(table), "")
    for note in found.notes:
        output.tell(f"note: {note}")
    if found.problems:
        raise refusal(found.new.path, list(found.problems))
    if not found.is_declared:
        output.show(f"Check these lines and add them to {found.new.path}:", "", found.block)
        output.tell(f"then: annotation taxonomy migrate {name}")


@old_command("taxonomy migrate")
def migrate_taxonomy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the taxonomy.")],
    to_version: Annotated[
        str, typer.Option("--to", metavar="VERSION", help="A version; else the highest.")
    ] = "",
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would happen; change nothing.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Take the study to another version of a taxonomy.

    Labels are never rewritten: they are carried where they are read. Labels of codes that were
    split, or retired without a successor, are put down to be given again.

    Examples:

        annotation taxonomy migrate build-failures --plan

        annotation taxonomy migrate build-failures
    """
    from faultatlas.annotation.taxonomies.migrating import migrate
    from faultatlas.annotation.taxonomies.migrating import plan as planned
    from faultatlas.data import provenance
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    begun = provenance.begin("annotation taxonomy migrate", {"taxonomy": name, "to": to_version})
    if plan:
        with opened.reading() as reader:
            done = planned(reader, study, name, to_version or None)
    else:
        done = migrate(opened, name, to_version or None, begun)
    output.document(done.document())
    output.show(console_table(done.table()))
    for line in done.next_steps():
        output.tell(line)


@old_command("taxonomy relabel")
def relabel(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    to_file: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write a sheet: .csv or .xlsx.")
    ] = None,
    from_file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Read it when it is filled in.")
    ] = None,
    rater: Annotated[str, typer.Option(help="Only the labels of this rater.")] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Give labels again that a changed taxonomy leaves undecided.

    Without a file it shows what is left. With `--rater` each rater gets an own sheet.

    Examples:

        annotation taxonomy relabel pilot

        annotation taxonomy relabel pilot --to pilot-ann.csv --rater ann

        annotation taxonomy relabel pilot --from pilot-ann.csv
    """
    from faultatlas.annotation.rounds import find_round
    from faultatlas.annotation.sheets.exporting import write_sheet
    from faultatlas.annotation.taxonomies import relabel_sheets
    from faultatlas.annotation.taxonomies.relabelling import (
        queue_document,
        queue_table,
        relabel_queue,
    )
    from faultatlas.data import provenance
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    if from_file is not None:
        begun = provenance.begin(
            "annotation taxonomy relabel", {"round": round_name, "file": str(from_file)}
        )
        taken = relabel_sheets.take_sheet(opened, round_name, from_file, begun)
        output.tell(taken.sentence)
    with opened.reading() as reader:
        of = find_round(reader, round_name)
        queue = relabel_queue(reader, of)
    relabel_sheets.refuse_unknown_rater(of, queue, rater)
    queue = [each for each in queue if rater in {"", each.said.rater}]
    if to_file is not None:
        write_sheet(relabel_sheets.sheet_of(queue), to_file)
        output.tell(
            f"{len(queue):,} labels in {to_file}; fill in `new`, then --from {typed(to_file)}"
        )
    output.document(queue_document(of, queue))
    output.show(
        console_table(queue_table(of, queue)) if queue else "nothing is left to label again"
    )


@old_command("taxonomy crosswalk")
def crosswalk_labels(
    round_name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    target: Annotated[str, typer.Option("--to", metavar="TAXONOMY", help="The other taxonomy.")],
    final: Annotated[bool, typer.Option("--final", help="The final labels.")] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the labels of a round in another taxonomy, through the crosswalk between them.

    Without `--final` it is what raters said independently. What has no counterpart is counted
    and listed.

    Example:

        annotation taxonomy crosswalk hp --to humbatova --final
    """
    from faultatlas.annotation.rounds import find_round
    from faultatlas.annotation.taxonomies.crosswalked import cross
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    with open_study(study, output).reading() as reader:
        crossed = cross(reader, study, find_round(reader, round_name), target, final=final)
    output.document(crossed.document())
    mapped, unmapped = crossed.tables()
    output.show(console_table(mapped), "", console_table(unmapped))


@old_command("taxonomy saturation")
def saturation_curve(
    rounds: Annotated[
        list[str] | None,
        typer.Argument(metavar="ROUND", help="Rounds in their order; without any, all."),
    ] = None,
    sample: Annotated[str, typer.Option(help="Only rounds of this sample.")] = "",
    batch: Annotated[
        int | None, typer.Option(min=1, help="Items in a batch; else a batch is a round.")
    ] = None,
    enough: Annotated[
        int, typer.Option(min=1, help="So many batches without a new code are enough.")
    ] = 2,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show how many new codes each batch of labels brings, and whether that has ended.

    Codes that raters propose count. Items are taken in the order in which they were labelled.

    Examples:

        annotation taxonomy saturation

        annotation taxonomy saturation pilot main --batch 50 --enough 3
    """
    from faultatlas.annotation.taxonomies.saturation import curve, rounds_of
    from faultatlas.annotation.taxonomies.saturation_result import saturation_result
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    given = {"rounds": rounds or [], "sample": sample, "batch": batch, "enough": enough}
    begun = provenance.begin("annotation taxonomy saturation", given)
    with opened.reading() as reader:
        wanted = rounds_of(reader, rounds or [], sample)
        found = curve(reader, study, wanted, batch)
    result = saturation_result(found, wanted, size=batch, quiet=enough)
    show(output, result, publish(opened, result, begun))
