"""`miner repos`: parses and calls, no logic."""

from __future__ import annotations

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


@old_command("repos")
def search_repositories(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="As on GitHub: tensorflow, topic:keras.")
    ],
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="In this language; repeated: in one of them."),
    ] = None,
    pushed: Annotated[
        str | None, typer.Option(metavar="A..B", help="Last pushed to between two days.")
    ] = None,
    created: Annotated[
        str | None, typer.Option(metavar="A..B", help="Created between two days.")
    ] = None,
    stars: Annotated[
        str | None, typer.Option(metavar="N..M", help="So many stars: 10.., 10..100.")
    ] = None,
    forks: Annotated[str, typer.Option(help="no, also or only.")] = "no",
    archived: Annotated[
        bool, typer.Option("--archived/--no-archived", help="With archived repositories.")
    ] = True,
    disabled: Annotated[
        bool, typer.Option("--disabled", help="With repositories that GitHub has disabled.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would cost; store nothing.")
    ] = False,
    api_url: ApiOption = None,
    token_file: TokenFileOption = None,
    max_wait: MaxWaitOption = "70m",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Search GitHub's repositories, also for more than the 1,000 results that it gives at once.

    A larger search is cut into slices by date of creation, and every slice is recorded. It can
    be interrupted: the same command goes on. When it was finished, it is made anew.

    Examples:

        miner repos tensorflow --language python --pushed 2019-01-01..2021-08-30

        miner repos "topic:keras" --stars 10.. --plan
    """
    from faultatlas.miner.search.command import run_search, run_search_plan
    from faultatlas.miner.search.query import repository_query
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    asked = repository_query(
        query,
        languages=language or (),
        pushed=pushed,
        created=created,
        stars=stars,
        forks=forks,
        with_disabled=disabled,
        with_archived=archived,
    )
    if plan:
        planned = run_search_plan(
            asked, output, api_url=api_url, token_file=token_file, max_wait=max_wait
        )
        output.document(planned.as_json())
        output.show(planned.words())
        return
    found = run_search(
        study, asked, output, api_url=api_url, token_file=token_file, max_wait=max_wait
    )
    output.document(found.as_json())
    if verbose:
        output.show(console_table(found.table(), with_aside=verbose), "")
    output.show(found.words())
    output.end(found.problems(), is_whole=found.is_complete)
