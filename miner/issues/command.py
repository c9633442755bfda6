"""`miner fetch`: from what was asked for to the issues in the study."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from faultatlas.data import provenance
from faultatlas.data.clock import utc_time
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import Run
from faultatlas.data.results import Result
from faultatlas.data.study import Study
from faultatlas.miner import projects
from faultatlas.miner.client import Client
from faultatlas.miner.connecting import connected
from faultatlas.miner.ending import ending
from faultatlas.miner.ingest import Ingest
from faultatlas.miner.issues import fetch, named, scope
from faultatlas.miner.issues.preview import preview
from faultatlas.miner.issues.view import fetch_notes, fetch_result
from faultatlas.miner.options import ApiOption, MaxWaitOption, TokenFileOption
from faultatlas.miner.posts import from_file
from faultatlas.miner.selection import Selection, since_text
from faultatlas.miner.sources import tracker
from faultatlas.report.command import Excludes, NotRecorded, Requires, command
from faultatlas.report.console import Console
from faultatlas.report.formatting import counted
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.miner.projects import Project


@command("fetch", writes=True)
def fetch_issues(
    study: Study,
    console: Console,
    run: Run,
    project: Annotated[
        str | None,
        Argument(metavar="PROJECT", help="An alias (`miner projects`), owner/name or a URL."),
    ] = None,
    *,
    label: Annotated[
        tuple[str, ...],
        Option(metavar="L", help="Only issues with this label; repeated: with all of them."),
    ] = (),
    any_label: Annotated[
        bool,
        Option("--any-label", help="One of the labels is enough."),
        Requires("label", "high_priority"),
    ] = False,
    high_priority: Annotated[
        bool,
        Option(
            "--high-priority",
            help="Only issues with the labels that a published study took for high priority.",
        ),
    ] = False,
    state: Annotated[
        str, Option(help="all, open or closed; on Gitee also progressing and rejected.")
    ] = "all",
    since: Annotated[
        str | None, Option(metavar="DAY", help="Only what was updated since: 2023-01-31.")
    ] = None,
    pulls: Annotated[
        bool | None,
        Option("--pulls/--no-pulls", help="With pull requests (GitHub: yes).", show_default=False),
    ] = None,
    comments: Annotated[bool, Option("--comments/--no-comments", help="With comments.")] = True,
    timeline: Annotated[
        bool, Option("--timeline", help="With labelling, closing and reference events.")
    ] = False,
    from_: Annotated[
        Path | None,
        Option("--from", metavar="FILE", help="Exactly the issues that a CSV file names."),
        Excludes(
            "label",
            "any_label",
            "high_priority",
            "state",
            "since",
            "pulls",
            reason="the file says which issues are meant",
        ),
        NotRecorded(),
    ] = None,
    verify: Annotated[
        bool,
        Option(
            "--verify",
            help="List all issues again, and mark those that were deleted or moved or that lost "
            "their label.",
        ),
    ] = False,
    api_url: ApiOption = None,
    token_file: Annotated[TokenFileOption, NotRecorded()] = None,
    max_wait: MaxWaitOption = "70m",
) -> Result:
    """Fetch issues with their comments from GitHub or Gitee, or what changed since the last time.

    You can interrupt it at any point: the same command resumes where it stopped. Without a token
    GitHub grants 60 requests an hour; set GITHUB_TOKEN (GITEE_TOKEN) for more. --dry-run shows what
    the fetch would cost.

    Examples:

        miner fetch pytorch --label "high priority"

        miner fetch mindspore --high-priority --dry-run

        miner fetch --from labelled.csv
    """  # fmt: skip
    fetching = _Fetch(study, console, run, api_url, token_file, max_wait)
    wishes = fetch.Wishes(Selection(), comments, timeline, verify)
    if from_ is not None:
        if study.dry_run:
            raise StudyError(
                "--dry-run cannot be combined with --from",
                "Without it the command prints the cost before it begins; Ctrl-C ends it.",
            )
        document = _fetch_named(fetching, from_, project, wishes)
    else:
        place = _project(project, api_url)
        _check(place, state, pulls=pulls, timeline=timeline)
        selection = _selection(
            place,
            label,
            any_label=any_label,
            high_priority=high_priority,
            state=state,
            since=since,
            pulls=pulls,
        )
        wishes = replace(wishes, selection=selection)
        if study.dry_run:
            return _preview(fetching, place, wishes)
        with fetching.ingest(place) as ingest:
            document = _ended(ingest, fetch.fetch(ingest, wishes, console.tell))
    notes = fetch_notes(document)
    if document["complete"]:
        for note in notes:
            console.tell(note)
    missing = () if document["complete"] else tuple(notes) or ("the fetch is not complete",)
    return replace(fetch_result(document), missing=missing)


@dataclass(frozen=True)
class _Fetch:
    """What all parts of one call have in common: the study, the servers, and how patient it is."""

    study: Study
    console: Console
    run: Run
    api_url: str | None
    token_file: Path | None
    max_wait: str

    def client(self, project: Project) -> AbstractContextManager[Client]:
        return connected(
            project.source,
            project.api_url,
            token_file=self.token_file,
            max_wait=self.max_wait,
            tell=self.console.tell,
        )

    @contextmanager
    def ingest(self, project: Project) -> Iterator[Ingest]:
        """A run that is recorded with how it ended; what was stored stays in any case."""
        # A fetch that runs for hours waits for whoever has the study open, and says for whom.
        study = Study(self.study.directory, wait_s=math.inf, tell=self.console.tell)
        arguments = {**self.run.arguments, "project": project.key}
        if project.api_url == projects.usual_api(os.environ):
            arguments["api_url"] = project.api_url  # which no option names
        run = provenance.begin("miner fetch", arguments)
        with self.client(project) as client, progress(self.console, project.name) as bar:
            if words := fetch.client_words(client):
                self.console.tell(words)

            def show(ingest: Ingest) -> None:
                quota = client.quota
                bar.update(
                    done=ingest.counts.issues_new + ingest.counts.comments_new,
                    requests=client.sent,
                    requests_planned=ingest.planned,
                    quota_left=quota.left if quota else None,
                )

            ingest = Ingest(study, client, project, run, on_page=show)
            with ending(ingest, lambda: _stored(ingest), self.console.tell):
                yield ingest


def _selection(
    project: Project,
    labels: tuple[str, ...],
    *,
    any_label: bool,
    high_priority: bool,
    state: str,
    since: str | None,
    pulls: bool | None,
) -> Selection:
    """Which issues of the project are meant."""
    priorities: tuple[int, ...] = ()
    if high_priority:
        if not project.priority_labels:
            raise StudyError(
                f"no study says how {project.name} marks defects of high priority",
                "Name the labels with --label; `miner projects` lists what is known.",
            )
        labels = (*labels, *project.priority_labels)
        any_label = any_label or project.priority_any
        priorities = project.priority_levels
    return Selection(
        labels=labels,
        any_label=any_label,
        state=state,
        pulls=tracker(project.source).has_pulls if pulls is None else pulls,
        since=since_text(utc_time(since)) if since else None,
        priorities=priorities,
    )


def _check(project: Project, state: str, *, pulls: bool | None, timeline: bool) -> None:
    """Refuse what the project's tracker does not have, before it is asked."""
    source = tracker(project.source)
    if pulls and not source.has_pulls:
        raise StudyError(
            "Gitee does not list pull requests among its issues", "Fetch without --pulls."
        )
    if timeline and not source.has_timeline:
        raise StudyError("Gitee has no timeline of events", "Fetch without --timeline.")
    if state not in source.states:
        raise StudyError(
            f"--state {state} is not a state of an issue there",
            f"Known: {', '.join(source.states)}.",
        )


def _preview(fetching: _Fetch, project: Project, wishes: fetch.Wishes) -> Result:
    """What a fetch would cost, learnt with at most three requests; nothing is stored."""
    if wishes.verification:
        raise StudyError(
            "--dry-run cannot be combined with --verify: only the whole list shows what is missing",
            "Omit one of them.",
        )
    with fetching.client(project) as client:
        if words := fetch.client_words(client):
            fetching.console.tell(words)
        estimate = preview(client, project, wishes)
        least = "at least " if estimate.plan.is_least else ""
        among = tracker(project.source).has_pulls and not wishes.selection.pulls
        listed = " (with pull requests, which are skipped then)" if among else ""
        words = f"{least}{counted(estimate.issues, 'issue')}{listed}; {estimate.plan.words()}"
        return Result(
            title=f"{project.key}: {words}",
            data={
                "project": project.key,
                "plan": estimate.plan.as_json(),
                "words": words,
                "issues": estimate.issues,
                "requests": client.sent,
                "quota": _quota(client),
            },
        )


def _fetch_named(
    fetching: _Fetch, path: Path, project: str | None, wishes: fetch.Wishes
) -> dict[str, Any]:
    """Fetch what a file names."""
    api_url = fetching.api_url or projects.usual_api(os.environ)
    listed = named.read_file(path, projects.hosts(api_url))
    if project is not None:
        listed.only(_project(project, fetching.api_url).key)
    from_file.choose(listed, fetching.api_url)
    documents = []
    for key, place in places(
        listed, path, api_url=fetching.api_url, token_file=fetching.token_file,
        timeline=wishes.events,
    ):  # fmt: skip
        issues, commits = listed.issues.get(key, []), listed.commits.get(key, [])
        with fetching.ingest(place) as ingest:
            made = named.fetch_named(
                ingest,
                issues,
                commits,
                comments=wishes.comments,
                only_new=not wishes.verification,
                tell=fetching.console.tell,
            )
            area = scope.of_wanted(ingest.project.key)
            if wishes.events:
                events = fetch.read_events(ingest, area)
                made = replace(made, event_requests=events, is_exact=False)
            done = fetch.finish(ingest, area, wishes, made, is_changed=False)
            is_read = not listed.others and not listed.unreadable
            document = _ended(ingest, done, is_read=is_read)
            documents.append({"named": len(issues) + len(commits), **document})
    posts = from_file.fetch_posts(
        fetching.study.directory,
        listed,
        fetching.run.arguments,
        fetching.console,
        comments=wishes.comments,
        verify=wishes.verification,
        api_url=fetching.api_url,
        token_file=fetching.token_file,
        max_wait=fetching.max_wait,
    )
    return {
        "from": str(path),
        "projects": documents,
        "posts": posts,
        "not_issues": listed.others,
        "unreadable": [{"line": line, "text": text} for line, text in listed.unreadable],
        "complete": not listed.others
        and not listed.unreadable
        and all(document["complete"] for document in documents),
        "requests": sum(document["requests"] for document in (*documents, *posts)),
    }


def places(
    listed: named.Named,
    path: Path,
    *,
    api_url: str | None,
    token_file: Path | None = None,
    timeline: bool = False,
) -> list[tuple[str, Project]]:
    """Where the issues of a file are. A token goes to no server that the user did not name."""
    keys = dict.fromkeys([*listed.issues, *listed.commits])
    usual = projects.usual_api(os.environ)
    pairs = [(key, projects.find_usual(key, api_url, os.environ)) for key in keys]
    for _key, project in pairs:
        _check(project, "all", pulls=None, timeline=timeline)
        is_named = api_url is not None or project.host in projects.hosts(usual)
        if not (project.is_public or is_named):
            raise StudyError(
                f"{path} names issues on {project.host}",
                f"If you trust that server, add --api-url https://{project.host}/api/v3.",
            )
    if token_file and len({project.source for _key, project in pairs}) > 1:
        raise StudyError(
            f"{path} names issues on GitHub and on Gitee, and --token-file has one token",
            "Set GITHUB_TOKEN and GITEE_TOKEN instead, or name one PROJECT with --from.",
        )
    return pairs


def _project(text: str | None, api_url: str | None) -> Project:
    if text is None:
        raise StudyError(
            "no project is named", "Give an alias, owner/name or a URL; or a file with --from."
        )
    return projects.find_usual(text, api_url, os.environ)


def _ended(ingest: Ingest, done: fetch.Fetched, *, is_read: bool = True) -> dict[str, Any]:
    """Record that a run came to its end; `is_read` is False for a file with unusable lines."""
    document = _document(ingest, done)
    ingest.note("ok" if document["complete"] and is_read else "partial")
    return document


def _stored(ingest: Ingest) -> str:
    counts = ingest.counts
    return f"{counted(counts.issues_new, 'issue')} and {counted(counts.comments_new, 'comment')}"


def _quota(client: Client) -> dict[str, Any] | None:
    quota = client.quota
    if quota is None:
        return None
    resets = f"{quota.resets_at:%Y-%m-%dT%H:%M:%SZ}" if quota.resets_at else None
    return {"limit": quota.limit, "left": quota.left, "resets_at": resets}


def _document(ingest: Ingest, done: fetch.Fetched) -> dict[str, Any]:
    unconfirmed = [gap for gap in done.gaps if not gap["is_confirmed"]]
    return {
        "project": ingest.project.key,
        "run_id": ingest.run.run_id,
        "rows": asdict(ingest.counts),
        "stored": done.stored,
        "changed": done.is_changed,
        "plan": done.plan.as_json(),
        "requests": ingest.client.sent,
        "not_modified": ingest.client.not_modified,
        "waited_s": ingest.client.waited_s,
        "quota": _quota(ingest.client),
        "counted": asdict(done.counted) if done.counted else None,
        "missing_comments": done.gaps,
        "verified": asdict(done.verified) if done.verified else None,
        "complete": not unconfirmed,
    }
