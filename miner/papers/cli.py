"""`miner papers`: parses and calls, no logic."""

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


@old_command("papers")
def fetch_papers(
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="Words, in the index's own language.")
    ] = None,
    from_file: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="FILE", help="A .bib, .ris or .csv file. Repeatable."),
    ] = None,
    source: Annotated[
        str, typer.Option(metavar="NAME", help="The index that is asked: openalex or scopus.")
    ] = "openalex",
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help="The searches of a published study.")
    ] = None,
    since: Annotated[
        int | None, typer.Option(metavar="YEAR", min=1500, max=2100, help="First year.")
    ] = None,
    until: Annotated[
        int | None, typer.Option(metavar="YEAR", min=1500, max=2100, help="Last year.")
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Load a list of papers that a search should find: of --from FILE, or survey.",
        ),
    ] = None,
    api_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Another server than the index's own.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file whose first line is the key.")
    ] = None,
    max_wait: MaxWaitOption = "70m",
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the query for each index; ask nobody.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring papers into the study, from OpenAlex, Scopus or files, each paper once.

    Records with one DOI, or with one title and about one year, are one paper. Broken entries of
    a file are named with their lines, and the whole ones are in. Keys are read from
    OPENALEX_API_KEY and SCOPUS_API_KEY, or from --token-file.

    Examples:

        miner papers '"deep learning" AND bug' --since 2018

        miner papers --template ml-debugging-survey --source scopus --plan

        miner papers --from scopus.csv --from zotero.bib

        miner papers --known survey
    """
    from faultatlas.miner.papers.command import Options, run_papers, run_plan
    from faultatlas.miner.papers.view import papers_notes, papers_table, plan_words
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        query=query,
        files=tuple(from_file or ()),
        source=source,
        template=template,
        since=since,
        until=until,
        known=known,
        api_url=api_url,
        token_file=token_file,
        max_wait=max_wait,
    )
    if plan:
        planned = run_plan(options)
        output.document(planned)
        output.show(plan_words(planned))
        return
    found = run_papers(study, options, output)
    output.document(found)
    output.show(console_table(papers_table(found)))
    output.end(papers_notes(found), is_whole=found["complete"])
