"""`miner posts`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faultatlas.miner.options import MaxWaitOption
from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
)


@old_command("posts")
def fetch_posts(
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="T", help="Questions with this tag; repeated: with one of them."),
    ] = None,
    all_tags: Annotated[bool, typer.Option("--all-tags", help="With all of the tags.")] = False,
    accepted: Annotated[
        bool, typer.Option("--accepted", help="Only questions with an accepted answer.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="Only what was asked since: 2019-01-31.")
    ] = None,
    site: Annotated[
        str, typer.Option(metavar="SITE", help="Host or short name: datascience, askubuntu.")
    ] = "stackoverflow.com",
    answers: Annotated[bool, typer.Option("--answers/--no-answers", help="With answers.")] = True,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="With comments.")
    ] = True,
    from_dump: Annotated[
        Path | None,
        typer.Option("--from-dump", metavar="FILE", help="From Posts.xml, .xml.gz or .7z."),
    ] = None,
    from_sede: Annotated[
        Path | None,
        typer.Option("--from-sede", metavar="FILE", help="From a CSV of the Data Explorer."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would cost; fetch and store nothing.")
    ] = False,
    api_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Another server than https://api.stackexchange.com/2.3."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with a key, instead of STACKEXCHANGE_KEY."),
    ] = None,
    max_wait: MaxWaitOption = "70m",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring questions of Stack Overflow with answers and comments, or what changed since.

    It can be interrupted at any point: the same command goes on where it stopped. Without a
    key Stack Exchange grants 300 requests a day; set STACKEXCHANGE_KEY for 10,000.

    Examples:

        miner posts --tag tensorflow --tag keras --plan

        miner posts --tag pytorch --accepted --since 2020-01-01

        miner posts --tag keras --from-dump Posts.xml
    """
    from faultatlas.miner.posts.command import Options, run_plan, run_posts
    from faultatlas.miner.posts.view import posts_notes, posts_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        tags=tuple(tag or ()),
        all_tags=all_tags,
        accepted=accepted,
        since=since,
        site=site,
        answers=answers,
        comments=comments,
        from_dump=from_dump,
        from_sede=from_sede,
        api_url=api_url,
        token_file=token_file,
        max_wait=max_wait,
    )
    if plan:
        planned = run_plan(options, output)
        output.document(planned.as_json())
        output.show(planned.words())
        return
    found = run_posts(study, options, output)
    output.document(found)
    output.show(console_table(posts_table(found)))
    output.end(posts_notes(found), is_whole=found["complete"])
