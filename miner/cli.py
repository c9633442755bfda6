"""The command `miner`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from miner.links import THRESHOLD
from miner.options import ApiOption, MaxWaitOption, TokenFileOption
from miner.papers.cli import commands as papers
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
    "Bring evidence into a study: issues, commits, posts, papers; select and link it."
)
app.add_typer(papers)  # its command becomes ours


@app.callback()
def miner(version: console.VersionOption = False) -> None:
    """Bring evidence into a study: issues, commits, posts, papers; select and link it."""


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


@app.command("commits")
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
    from miner.commits.command import Options, run_before, run_commits
    from miner.commits.view import commits_notes, commits_table
    from report.tables import console_table

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
    for note in commits_notes(found):
        output.tell(note)
    if not found["complete"]:
        raise typer.Exit(1)


@app.command("posts")
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
    from miner.posts.command import Options, run_plan, run_posts
    from miner.posts.view import posts_notes, posts_table
    from report.tables import console_table

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
    for note in posts_notes(found):
        output.tell(note)
    if not found["complete"]:
        raise typer.Exit(1)


@app.command("filter")
def filter_artifacts(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the step, such as bug-words.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="A condition on the columns of the view candidates."),
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="The text has a word of it; repeated: of all of them."),
    ] = None,
    any_lexicon: Annotated[
        bool, typer.Option("--any-lexicon", help="A word of one of the lexicons is enough.")
    ] = False,
    code: Annotated[bool, typer.Option("--code", help="Look into code blocks as well.")] = False,
    quotes: Annotated[bool, typer.Option("--quotes", help="Look into quotations as well.")] = False,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help="Only issue, pull, commit, post or paper; all others pass through."
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Draw a sample of that size.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Draw a sample as large as this confidence needs."),
    ] = None,
    margin: Annotated[
        float, typer.Option(metavar="PERCENT", help="Margin of error of such a sample.")
    ] = 5,
    round_up: Annotated[
        bool, typer.Option("--round-up", help="Round its size up; else to the nearest number.")
    ] = False,
    by: Annotated[
        str | None, typer.Option(metavar="SQL", help="A sample of each group: project.")
    ] = None,
    highest: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Not at random: those with the highest value: score."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed is another sample.")] = 1,
    before: Annotated[
        str | None, typer.Option(metavar="STEP", help="Put the step before this one.")
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="STEP", help="Take a step out of the funnel.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run all steps on what is in the study now.")
    ] = False,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Add a step to the funnel that turns what was mined into the population of the study.

    Each step works on what the one before let through. A step of a name that is there takes its
    place, and all that follow are computed again. Words are compared as stems: "fixes" is "fix",
    "prefix" is not; code blocks and quotations are left out unless asked for.

    Examples:

        miner filter bug-words --on commit --lexicon bugfix

        miner filter accepted --on post --where "accepted_answer_id IS NOT NULL"

        miner filter sampled --confidence 95 --margin 5 --by project --seed 7

        miner filter --drop bug-words
    """
    from miner.funnel.command import Options, run_filter
    from miner.funnel.view import funnel_table
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    options = Options(
        name=name,
        where=where,
        lexicons=tuple(lexicon or ()),
        any_lexicon=any_lexicon,
        code=code,
        quotes=quotes,
        on=tuple(on or ()),
        size=size,
        confidence=confidence,
        margin=margin,
        round_up=round_up,
        by=by,
        highest=highest,
        seed=seed,
        before=before,
        drop=drop,
        again=again,
    )
    found = run_filter(open_study(study, output), options, output)
    output.document(found)
    if table := funnel_table(found):
        output.show(console_table(table, with_aside=verbose))


@app.command("lexicons")
def show_lexicons(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the words of this one.")
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the lexicons that `miner filter` and `miner commits` know, or the words of one.

    Your own is a file `lexicons/NAME.txt` in the study, with one word on each line.
    """
    from miner.lexicon import lexicon, lexicons, lexicons_table
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    if name is None:
        table = lexicons_table(lexicons(study))
        output.document({"lexicons": table.records()})
        output.show(console_table(table, with_aside=verbose))
        return
    found = lexicon(name, study)
    output.document(found.as_json())
    output.show("\n".join(found.entries))


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
    """Make every mined table again, without the network.

    Issues and posts are derived from the stored responses, commits from the repositories that
    were read; of one that is no longer there, the rows stay, and it is named.
    """
    from data import provenance
    from miner.rebuild import rebuild
    from report.progress import progress

    output = Output(as_json, quiet, verbose)
    with progress(output, "rebuild") as bar:
        run = provenance.begin("miner rebuild", {})
        rows, problems = rebuild(open_study(study, output), run, bar.update)
    output.document({"rows": rows, "problems": problems})
    output.show("rebuilt: " + ", ".join(f"{number:,} {table}" for table, number in rows.items()))
    for problem in problems:
        output.tell(problem)
    if problems:
        raise typer.Exit(1)


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


@app.command("link")
def link_artifacts(
    again: Annotated[
        bool, typer.Option("--again", help="Read every text again, not only what changed.")
    ] = False,
    duplicates: Annotated[
        bool,
        typer.Option("--duplicates/--no-duplicates", help="Suggest texts that are nearly alike."),
    ] = True,
    threshold: Annotated[
        float, typer.Option(metavar="X", help="How alike such texts are at least, from 0.3 to 1.")
    ] = THRESHOLD,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Find what belongs together: issues, pull requests, commits and posts that name each other.

    Each link has its kind and the words that say so. Texts that are nearly the same are
    suggested as duplicates, with a score, and are never merged. Only texts that are new or
    changed are read.

    Examples:

        miner link

        miner link --threshold 0.9
    """
    from miner.links.command import link_table, link_words, run_link
    from report.progress import progress
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    with progress(output, "link") as bar:
        found = run_link(
            open_study(study, output),
            again=again,
            duplicates=duplicates,
            threshold=threshold,
            progress=bar.update,
        )
    output.document(found)
    if found["links"]:
        output.show(console_table(link_table(found)), "")
    output.show(link_words(found))


@app.command("status")
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
    from miner.commits.overview import repositories_table
    from miner.papers.stored import sources_table
    from miner.posts.overview import sites_table
    from miner.status import projects_table, status, status_tables
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = status(open_study(study, output))
    output.document(found)
    tables = (projects_table, repositories_table, sites_table, sources_table)
    for fetched in (table(found) for table in tables):
        if fetched:
            output.show(console_table(fetched, with_aside=verbose), "")
    views, runs = status_tables(found)
    output.show(console_table(views), "", console_table(runs))


def _show_funnel(study: Path, by: str | None, output: Output) -> None:
    from miner.funnel.view import funnel, funnel_table
    from report.tables import console_table

    found = funnel(open_study(study, output), by)
    output.document(found)
    table = funnel_table(found)
    if table is None:
        output.tell("the funnel has no steps yet: `miner filter NAME` adds one")
    else:
        output.show(console_table(table, with_aside=True))


def main() -> None:
    """Entry point."""
    console.run(app)
