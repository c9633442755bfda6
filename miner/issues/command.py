"""`miner fetch` from the options to the result: opens what is needed, and ends the run whatever
happens.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.store import Study
from faultatlas.data.times import utc_time
from faultatlas.miner import projects
from faultatlas.miner.client import Client
from faultatlas.miner.connecting import connected
from faultatlas.miner.ending import ending
from faultatlas.miner.ingest import Ingest
from faultatlas.miner.issues import fetch, named, scope
from faultatlas.miner.issues.plan import Plan
from faultatlas.miner.issues.preview import preview
from faultatlas.miner.posts import from_file
from faultatlas.miner.selection import Selection, since_text
from faultatlas.miner.sources import tracker
from faultatlas.report.formatting import counted
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.miner.projects import Project
    from faultatlas.report.old.console import Output


@dataclass(frozen=True)
class Options:
    """What was typed."""

    project: str | None
    labels: tuple[str, ...] = ()
    any_label: bool = False
    high_priority: bool = False
    state: str = "all"
    since: str | None = None
    pulls: bool | None = None
    comments: bool = True
    timeline: bool = False
    from_file: Path | None = None
    verify: bool = False
    api_url: str | None = None
    token_file: Path | None = None
    max_wait: str = "70m"

    def selection(self, project: Project) -> Selection:
        """Which issues of the project are meant."""
        labels, any_label = self.labels, self.any_label
        priorities: tuple[int, ...] = ()
        if self.high_priority:
            if not project.priority_labels:
                raise StudyError(
                    f"no study says how {project.name} marks defects of high priority",
                    "Name the labels with --label; `miner projects` lists what is known.",
                )
            labels = (*labels, *project.priority_labels)
            any_label = any_label or project.priority_any
            priorities = project.priority_levels
        if any_label and not labels:
            raise StudyError(
                "--any-label is given and no label",
                "Name the labels with --label, or leave out --any-label.",
            )
        self.check(project)
        has_pulls = tracker(project.source).has_pulls
        return Selection(
            labels=labels,
            any_label=any_label,
            state=self.state,
            pulls=has_pulls if self.pulls is None else self.pulls,
            since=since_text(utc_time(self.since)) if self.since else None,
            priorities=priorities,
        )

    def check(self, project: Project) -> None:
        """Refuse what the project's tracker does not have, before it is asked."""
        source = tracker(project.source)
        if self.pulls and not source.has_pulls:
            raise StudyError(
                "Gitee does not list pull requests among its issues", "Fetch without --pulls."
            )
        if self.timeline and not source.has_timeline:
            raise StudyError("Gitee gives no timeline of events", "Fetch without --timeline.")
        if self.state not in source.states:
            raise StudyError(
                f"--state {self.state} is no state of an issue there",
                f"Known: {', '.join(source.states)}.",
            )


def run_plan(options: Options, output: Output) -> dict[str, Any]:
    """`--plan`: what a fetch would cost; at most three requests, and nothing is stored."""
    if options.from_file is not None:
        raise StudyError(
            "--plan does not go with --from",
            "Without --plan it says what it costs before it begins; Ctrl-C ends it.",
        )
    if options.verify:
        raise StudyError(
            "--plan does not go with --verify: what is missing shows only when all is listed",
            "Leave out one of them.",
        )
    project = _project(options)
    with _client(options, project, output.tell) as client:
        if words := fetch.client_words(client):
            output.tell(words)
        selection = options.selection(project)
        found = preview(client, project, selection, options)
        least = "at least " if found.plan.is_least else ""
        among = tracker(project.source).has_pulls and not selection.pulls
        listed = " (with pull requests, which are left out then)" if among else ""
        return {
            "project": project.key,
            "plan": found.plan.as_json(),
            "words": f"{least}{counted(found.issues, 'issue')}{listed}; {found.plan.words()}",
            "issues": found.issues,
            "requests": client.sent,
            "quota": _quota(client),
        }


def run_fetch(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    """Fetch a project, or what a file names."""
    if options.from_file is not None:
        return _run_named(directory, options, output)
    project = _project(options)
    selection = options.selection(project)
    with _ingest(directory, options, project, output) as ingest:
        wishes = fetch.Wishes(selection, options.comments, options.timeline, options.verify)
        return _ended(ingest, fetch.fetch(ingest, wishes, output.tell))


def _run_named(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    assert options.from_file is not None  # noqa: S101  (the caller looked)
    _refuse_beside_file(options)
    api_url = options.api_url or projects.usual_api(os.environ)
    found = named.read_file(options.from_file, projects.hosts(api_url))
    if options.project is not None:
        found.only(_project(options).key)
    from_file.choose(found, options.api_url)
    documents = []
    for key, project in _places(options, found):
        issues, commits = found.issues.get(key, []), found.commits.get(key, [])
        with _ingest(directory, options, project, output) as ingest:
            made = named.fetch_named(
                ingest,
                issues,
                commits,
                comments=options.comments,
                only_new=not options.verify,
                tell=output.tell,
            )
            area = scope.of_wanted(ingest.project.key)
            wishes = fetch.Wishes(Selection(), options.comments, options.timeline)
            if options.timeline:
                events = fetch.read_events(ingest, area)
                made = replace(made, event_requests=events, is_exact=False)
            done = fetch.finish(ingest, area, wishes, made, is_changed=False)
            is_read = not found.others and not found.unreadable
            document = _ended(ingest, done, is_read=is_read)
            documents.append({"named": len(issues) + len(commits), **document})
    posts = from_file.fetch_posts(directory, found, options, output)
    return {
        "from": str(options.from_file),
        "projects": documents,
        "posts": posts,
        "not_issues": found.others,
        "unreadable": [{"line": line, "text": text} for line, text in found.unreadable],
        "complete": not found.others
        and not found.unreadable
        and all(each["complete"] for each in documents),
        "requests": sum(each["requests"] for each in (*documents, *posts)),
    }


def _refuse_beside_file(options: Options) -> None:
    """A file says exactly which issues are meant."""
    given = {
        "--label": options.labels,
        "--any-label": options.any_label,
        "--high-priority": options.high_priority,
        "--state": options.state != "all",
        "--since": options.since,
        "--pulls": options.pulls is not None,
    }
    for option, value in given.items():
        if value:
            raise StudyError(
                f"{option} does not go with --from: the file says which issues are meant",
                f"Leave out {option} or --from.",
            )


def _places(options: Options, found: named.Named) -> list[tuple[str, Project]]:
    """Where the issues of a file are. A token goes to no server that the user did not name."""
    keys = dict.fromkeys([*found.issues, *found.commits])
    usual = projects.usual_api(os.environ)
    places = [(key, projects.find_usual(key, options.api_url, os.environ)) for key in keys]
    for _key, project in places:
        options.check(project)
        is_named = options.api_url is not None or project.host in projects.hosts(usual)
        if not (project.is_public or is_named):
            raise StudyError(
                f"{options.from_file} names issues on {project.host}",
                f"If you trust that server, add --api-url https://{project.host}/api/v3.",
            )
    if options.token_file and len({project.source for _key, project in places}) > 1:
        raise StudyError(
            f"{options.from_file} names issues on GitHub and on Gitee, and --token-file has one "
            "token",
            "Set GITHUB_TOKEN and GITEE_TOKEN instead, or name one PROJECT beside --from.",
        )
    return places


def _project(options: Options) -> Project:
    if options.project is None:
        raise StudyError(
            "no project is named", "Give an alias, owner/name or a URL; or a file with --from."
        )
    return projects.find_usual(options.project, options.api_url, os.environ)


def _client(
    options: Options, project: Project, tell: Callable[[str], None]
) -> AbstractContextManager[Client]:
    return connected(
        project.source,
        project.api_url,
        token_file=options.token_file,
        max_wait=options.max_wait,
        tell=tell,
    )


@contextmanager
def _ingest(
    directory: Path, options: Options, project: Project, output: Output
) -> Iterator[Ingest]:
    """A run that is recorded with how it ended; what was stored stays in any case."""
    # A fetch that runs for hours waits for whoever has the study open, and says for whom.
    study = Study(directory, wait_s=math.inf, tell=output.tell)
    asked = {**asdict(options), "project": project.key}
    if project.api_url == projects.usual_api(os.environ):
        asked["api_url"] = project.api_url  # which no option tells
    run = provenance.begin("miner fetch", asked)
    with _client(options, project, output.tell) as client, progress(output, project.name) as bar:
        if words := fetch.client_words(client):
            output.tell(words)

        def show(ingest: Ingest) -> None:
            quota = client.quota
            bar.update(
                done=ingest.counts.issues_new + ingest.counts.comments_new,
                requests=client.sent,
                requests_planned=ingest.planned,
                quota_left=quota.left if quota else None,
            )

        ingest = Ingest(study, client, project, run, on_page=show)
        with ending(ingest, lambda: _stored(ingest), output.tell):
            yield ingest


def _ended(ingest: Ingest, done: fetch.Fetched, *, is_read: bool = True) -> dict[str, Any]:
    """Note that a run came to its end; `is_read` is False for a file with lines that name none."""
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
        "plan": _plan(done.plan),
        "requests": ingest.client.sent,
        "not_modified": ingest.client.not_modified,
        "waited_s": ingest.client.waited_s,
        "quota": _quota(ingest.client),
        "counted": asdict(done.counted) if done.counted else None,
        "missing_comments": done.gaps,
        "verified": asdict(done.verified) if done.verified else None,
        "complete": not unconfirmed,
    }


def _plan(plan: Plan) -> dict[str, Any]:
    return plan.as_json()
