"""`miner rebuild`, `forget`, `backup`, `merge` and `status`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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


@old_command("rebuild")
def rebuild_tables(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make every mined table again, without the network.

    Issues and posts are derived from the stored responses, commits from the repositories that
    were read; of one that is no longer there, the rows stay, and it is named.

    Example:

        miner rebuild
    """
    from faultatlas.data import provenance
    from faultatlas.miner.rebuild import rebuild
    from faultatlas.report.progress import progress

    output = Output(as_json, quiet, verbose)
    with progress(output, "rebuild") as bar:
        run = provenance.begin("miner rebuild", {})
        rows, problems = rebuild(open_study(study, output), run, bar.update)
    output.document({"rows": rows, "problems": problems})
    output.show("rebuilt: " + ", ".join(f"{number:,} {table}" for table, number in rows.items()))
    output.end(problems, is_whole=not problems)


@old_command("forget")
def forget_subject(
    subject: Annotated[
        str, typer.Argument(metavar="ID|AUTHOR", help="An issue's URL or id, a login, a pseudonym.")
    ],
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would go; remove nothing.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Remove a person or an artifact from every table and every stored response, for good.

    A person goes with everything that they wrote. A tombstone keeps later fetches from bringing
    it back. Copies that were made before, such as backups, are not changed.

    Examples:

        miner forget https://github.com/owner/name/issues/12 --plan

        miner forget some-login
    """
    from faultatlas.miner.keeping.forget import forget, plan_forget
    from faultatlas.report.progress import progress

    output = Output(as_json, quiet, verbose)
    act = plan_forget if plan else forget
    with progress(output, "forget") as bar:
        removed = act(open_study(study, output), subject, bar.update)
    output.document({**removed.as_json(), "plan": plan})
    output.show(f"{'would forget' if plan else 'forgot'} {removed.words()}")


@old_command("backup")
def back_up(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to write; else named by study and time."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read FILE to its end and say whether it is whole.")
    ] = False,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="With study.key, which undoes the pseudonyms.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace FILE.")] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Write the study to one file, or check such a file.

    Unpack it into an empty directory (tar -xzf FILE) to have the study again.

    Examples:

        miner backup before-round-2.tar.gz

        miner backup before-round-2.tar.gz --check
    """
    from faultatlas.miner.keeping.backup import backup, check_file
    from faultatlas.report.formatting import minute, plain

    output = Output(as_json, quiet, verbose)
    if check:
        found = check_file(file)
        output.document(found)
        when = minute(found["made_at"])
        output.show(f"whole: {sum(found['rows'].values()):,} rows, made {when}")
        return
    found = backup(open_study(study, output), file, with_key=with_key, replace=replace)
    output.document(found)
    output.show(f"{found['file']}: {found['bytes']:,} bytes, {sum(found['rows'].values()):,} rows")
    if found["left_out"]:
        first = ", ".join(map(plain, found["left_out"][:3]))
        output.tell(
            f"not in it, since they are links or too large: {len(found['left_out']):,} files of "
            f"bugs, such as {first}"
        )


@old_command("merge")
def merge_studies(
    other: Annotated[
        Path, typer.Argument(metavar="OTHER_STUDY", help="Another study's directory.")
    ],
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring what another study has fetched and labelled into this one; the other is only read.

    The newest word about each issue wins, and pseudonyms become those of this study. Merging
    again changes nothing. Analyses are not taken: run them here.

    Example:

        miner merge ../the-other-half
    """
    from faultatlas.data import provenance
    from faultatlas.miner.keeping.merging import merge
    from faultatlas.report.progress import progress

    output = Output(as_json, quiet, verbose)
    run = provenance.begin("miner merge", {"other": str(other)})
    with progress(output, "merge") as bar:
        found = merge(open_study(study, output), open_study(other, output), run, bar.update)
    output.document(found)
    rows = "".join(f", {count:,} rows of {table}" for table, count in found["rows"].items())
    output.show(f"{found['responses']:,} responses{rows} from {other}")
    if {"bug", "execution"} & found["rows"].keys():
        output.tell(
            "only the rows of bugs and runs: to run or judge them here, copy the folders bugs and "
            f"reexecution of {other} as well"
        )
    if found["forgotten_people_unknown_here"]:
        output.tell(
            f"{other} has forgotten {found['forgotten_people_unknown_here']:,} people; "
            "if they are in this study, forget them here as well"
        )


@old_command("status")
def show_status(
    funnel: Annotated[
        bool, typer.Option("--funnel", help="The steps of selection with their counts.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="The funnel, counted by this, such as project."),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show what is in the study: each project with what is missing, views, and newest runs.

    Examples:

        miner status

        miner status --funnel

        miner status --funnel --by "CASE WHEN list_contains(tags, 'keras') THEN 'Keras' END"
    """
    if funnel or by:
        _show_funnel(study, by, Output(as_json, quiet, verbose))
        return
    from faultatlas.miner.commits.overview import repositories_table
    from faultatlas.miner.papers.stored import sources_table
    from faultatlas.miner.posts.overview import sites_table
    from faultatlas.miner.status import projects_table, status, status_tables
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = status(open_study(study, output))
    output.document(found)
    tables = (projects_table, repositories_table, sites_table, sources_table)
    for fetched in (table(found) for table in tables):
        if fetched:
            output.show(console_table(fetched, with_aside=verbose), "")
    views, runs = status_tables(found, with_empty=verbose)
    output.show(console_table(views), "", console_table(runs))


def _show_funnel(study: Path, by: str | None, output: Output) -> None:
    from faultatlas.miner.funnel.view import funnel, funnel_table
    from faultatlas.report.tables import console_table

    found = funnel(open_study(study, output), by)
    output.document(found)
    table = funnel_table(found)
    if table is None:
        output.tell("the funnel has no steps yet: `miner filter NAME` adds one")
    else:
        output.show(console_table(table, with_aside=True))
