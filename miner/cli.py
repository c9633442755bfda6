"""The command `miner`: parses and calls, no logic."""

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

app = console.application("Bring evidence into a study: issues, their comments, repositories.")

ApiOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Another server, such as https://git.example.org/api/v3."),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with a token, instead of GITHUB_TOKEN or GITEE_TOKEN."),
]
MaxWaitOption = Annotated[
    str,
    typer.Option(metavar="TIME", help="Longest wait for the server's quota: 0, 90, 15m, 2h."),
]


@app.callback()
def miner(version: console.VersionOption = False) -> None:
    """Bring evidence into a study: issues, their comments, repositories."""


@app.command("fetch")
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
    from miner.issues.command import Options, run_fetch, run_plan
    from miner.issues.view import fetch_notes, fetch_tables
    from report.tables import console_table

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
    for note in fetch_notes(found):
        output.tell(note)
    if not found["complete"]:
        raise typer.Exit(1)


@app.command("repos")
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
    from miner.search.command import run_search, run_search_plan
    from miner.search.query import repository_query
    from report.tables import console_table

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
    for problem in found.problems():
        output.tell(problem)
    if not found.is_complete:
        raise typer.Exit(1)


@app.command("projects")
def show_projects(
    study: StudyOption = HERE,  # noqa: ARG001  (every command takes it)
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the aliases of projects, and how studies found their defects of high priority."""
    from miner.projects import aliases_table
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    table = aliases_table()
    output.document({"projects": table.records()})
    output.show(console_table(table, with_aside=verbose))


@app.command("rebuild")
def rebuild_tables(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make every mined table again from the stored responses, without the network."""
    from data import provenance
    from miner.rebuild import rebuild
    from report.progress import progress

    output = Output(as_json, quiet, verbose)
    with progress(output, "rebuild") as bar:
        rows = rebuild(open_study(study, output), provenance.begin("miner rebuild", {}), bar.update)
    output.document({"rows": rows})
    output.show("rebuilt: " + ", ".join(f"{number:,} {table}" for table, number in rows.items()))


@app.command("forget")
def forget_subject(
    subject: Annotated[
        str, typer.Argument(metavar="ID|AUTHOR", help="An issue's URL or id, a login, a pseudonym.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")
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

        miner forget https://github.com/owner/name/issues/12 --dry-run

        miner forget some-login
    """
    from miner.keeping.forget import forget, plan_forget
    from report.progress import progress

    output = Output(as_json, quiet, verbose)
    act = plan_forget if dry_run else forget
    with progress(output, "forget") as bar:
        removed = act(open_study(study, output), subject, bar.update)
    output.document({**removed.as_json(), "dry_run": dry_run})
    output.show(f"{'would forget' if dry_run else 'forgot'} {removed.words()}")


@app.command("backup")
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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE.")] = False,
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
    from miner.keeping.backup import backup, check_file

    output = Output(as_json, quiet, verbose)
    if check:
        found = check_file(file)
        output.document(found)
        output.show(f"whole: {sum(found['rows'].values()):,} rows, made {found['made_at']}")
        return
    found = backup(open_study(study, output), file, with_key=with_key, overwrite=overwrite)
    output.document(found)
    output.show(f"{found['file']}: {found['bytes']:,} bytes, {sum(found['rows'].values()):,} rows")


@app.command("merge")
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
    """
    from data import provenance
    from miner.keeping.merging import merge
    from report.progress import progress

    output = Output(as_json, quiet, verbose)
    run = provenance.begin("miner merge", {"other": str(other)})
    with progress(output, "merge") as bar:
        found = merge(open_study(study, output), open_study(other, output), run, bar.update)
    output.document(found)
    rows = "".join(f", {count:,} rows of {table}" for table, count in found["rows"].items())
    output.show(f"{found['responses']:,} responses{rows} from {other}")
    if found["forgotten_people_unknown_here"]:
        output.tell(
            f"{other} has forgotten {found['forgotten_people_unknown_here']:,} people; "
            "if they are in this study, forget them here as well"
        )


@app.command("status")
def show_status(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show what is in the study: each project with what is missing, views, and newest runs."""
    from miner.status import projects_table, status, status_tables
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = status(open_study(study, output))
    output.document(found)
    if fetched := projects_table(found):
        output.show(console_table(fetched, with_aside=verbose), "")
    views, runs = status_tables(found)
    output.show(console_table(views), "", console_table(runs))


def main() -> None:
    """Entry point."""
    console.run(app)
