"""`miner fetch` and `projects`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faultatlas.miner.options import ApiOption, MaxWaitOption, TokenFileOption
from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
)


@old_command("fetch")
def fetch_issues(
    project: Annotated[
        str | None,
        typer.Argument(metavar="PROJECT", help="An alias (`miner projects`), owner/name or a URL."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="Only issues with this label; repeated: with all of them."),
    ] = None,
    any_label: Annotated[
        bool, typer.Option("--any-label", help="One of the labels is enough.")
    ] = False,
    high_priority: Annotated[
        bool,
        typer.Option("--high-priority", help="The labels that a published study took for that."),
    ] = False,
    state: Annotated[
        str, typer.Option(help="all, open or closed; on Gitee also progressing and rejected.")
    ] = "all",
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="Only what was updated since: 2023-01-31.")
    ] = None,
    pulls: Annotated[
        bool | None,
        typer.Option(
            "--pulls/--no-pulls", help="With pull requests (GitHub: yes).", show_default=False
        ),
    ] = None,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="With comments.")
    ] = True,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="With labelling, closing and reference events.")
    ] = False,
    from_file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Exactly the issues that a CSV file names."),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="List all again; mark what is gone, moved or lost its label."
        ),
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would cost; fetch and store nothing.")
    ] = False,
    api_url: ApiOption = None,
    token_file: TokenFileOption = None,
    max_wait: MaxWaitOption = "70m",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Fetch issues with their comments from GitHub or Gitee, or what changed since the last time.

    It can be interrupted at any point: the same command goes on where it stopped. Without a
    token GitHub grants 60 requests an hour; set GITHUB_TOKEN (GITEE_TOKEN) for more.

    Examples:

        miner fetch pytorch --label "high priority"

        miner fetch mindspore --high-priority --plan

        miner fetch --from labelled.csv
    """
    from faultatlas.miner.issues.command import Options, run_fetch, run_plan
    from faultatlas.miner.issues.view import fetch_notes, fetch_tables
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        project=project,
        labels=tuple(label or ()),
        any_label=any_label,
        high_priority=high_priority,
        state=state,
        since=since,
        pulls=pulls,
        comments=comments,
        timeline=timeline,
        from_file=from_file,
        verify=verify,
        api_url=api_url,
        token_file=token_file,
        max_wait=max_wait,
    )
    if plan:
        planned = run_plan(options, output)
        output.document(planned)
        output.show(f"{planned['project']}: {planned['words']}")
        return
    found = run_fetch(study, options, output)
    output.document(found)
    for table in fetch_tables(found):
        output.show(console_table(table))
    output.end(fetch_notes(found), is_whole=found["complete"])


@old_command("projects")
def show_projects(
    study: StudyOption = HERE,  # noqa: ARG001  (every command takes it)
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the aliases of projects, and how studies found their defects of high priority.

    Example:

        miner projects
    """
    from faultatlas.miner.projects import aliases_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    table = aliases_table()
    output.document({"projects": table.records()})
    output.show(console_table(table, with_aside=verbose))
