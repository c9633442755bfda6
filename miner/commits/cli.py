"""`miner commits`: parses and calls, no logic."""

from __future__ import annotations

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
)


@old_command("commits")
def read_commits(
    repository: Annotated[
        str | None,
        typer.Argument(
            metavar="REPO|PATH", help="An alias (`miner projects`), owner/name, a URL, or a folder."
        ),
    ] = None,
    keywords: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEXICON",
            help="Changes of commits with a word of it; repeated: of each. Otherwise bugfix.",
        ),
    ] = None,
    any_keyword: Annotated[
        bool, typer.Option("--any-keyword", help="A word of one of the lexicons is enough.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="Only what was committed since: 2023-01-31.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="The changes of every commit, not of matching ones only.")
    ] = False,
    all_branches: Annotated[
        bool, typer.Option("--all-branches", help="Of every branch, not of HEAD's only.")
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="What a folder is a clone of, if its remote does not say so: `#12` is an issue "
            "of that project.",
        ),
    ] = None,
    functions: Annotated[
        bool | None,
        typer.Option(
            "--functions/--no-functions",
            help="With changed Python functions and classes (of matching commits: yes).",
            show_default=False,
        ),
    ] = None,
    show_before: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="SHA PATH", help="Print a file as it was before a commit."),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Read commits from a git repository: all messages, and the changes of those that match.

    By name or URL a clone is made in your cache, and later only fetched. It can be interrupted
    at any point: the same command goes on. Merges have no changes of their own.

    Examples:

        miner commits keras --keywords bugfix --keywords ml

        miner commits ./my-clone --all --since 2020-01-01

        miner commits --show-before 1f3a9c2 keras/layers/core.py
    """
    from faultatlas.miner.commits.command import Options, run_before, run_commits
    from faultatlas.miner.commits.view import commits_notes, commits_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        repository=repository,
        keywords=tuple(keywords or ()),
        any_keyword=any_keyword,
        since=since,
        everything=everything,
        all_branches=all_branches,
        functions=functions,
        project=project,
    )
    if show_before is not None:
        run_before(study, options, show_before, output)
        return
    found = run_commits(study, options, output)
    output.document(found)
    output.show(console_table(commits_table(found)))
    output.end(commits_notes(found), is_whole=found["complete"])
