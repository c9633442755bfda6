"""`miner posts` from the options to the result: opens what is needed, and ends the run whatever
happens.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.clock import seconds, utc_now, utc_time
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.ending import ending
from faultatlas.miner.posts import pauses, stored
from faultatlas.miner.posts.client import API, Client
from faultatlas.miner.posts.dump import read_dump
from faultatlas.miner.posts.fields import filter_for
from faultatlas.miner.posts.ingest import PostIngest
from faultatlas.miner.posts.naming import STACK_OVERFLOW, site_of
from faultatlas.miner.posts.plan import PostPlan, plan_posts
from faultatlas.miner.posts.sede import read_sede
from faultatlas.miner.posts.selection import PostSelection, checked_tags
from faultatlas.miner.posts.walk import walk_all
from faultatlas.miner.tokens import find_token
from faultatlas.report.formatting import counted
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.report.console import Console
    from faultatlas.report.old.console import Output


@dataclass(frozen=True)
class Options:
    """What was typed."""

    tags: tuple[str, ...] = ()
    all_tags: bool = False
    accepted: bool = False
    since: str | None = None
    site: str = STACK_OVERFLOW
    answers: bool = True
    comments: bool = True
    from_dump: Path | None = None
    from_sede: Path | None = None
    api_url: str | None = None
    token_file: Path | None = None
    max_wait: str = "70m"

    def selection(self) -> PostSelection:
        """Which questions are meant."""
        return PostSelection(
            site=site_of(self.site),
            tags=checked_tags(self.tags),
            all_tags=self.all_tags,
            accepted=self.accepted,
            since=utc_time(self.since) if self.since else None,
            answers=self.answers,
            comments=self.comments,
        )


def run_plan(options: Options, output: Output) -> PostPlan:
    """`--plan`: one request for each list, and nothing is stored."""
    if options.from_dump or options.from_sede:
        raise StudyError("--plan is about requests, and a file needs none", "Leave out --plan.")
    selection = _tagged(options)
    with connected(options, selection.site, output) as client:
        return plan_posts(client, selection)


def run_posts(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    """Bring questions into the study, from wherever was said."""
    given = [options.from_dump, options.from_sede, options.api_url]
    if sum(each is not None for each in given) > 1:
        raise StudyError(
            "--from-dump, --from-sede and --api-url are three places to take posts from",
            "Give one of them.",
        )
    if options.from_sede is not None:
        return _run_sede(directory, options, options.from_sede, output)
    if options.from_dump is not None:
        return _run_dump(directory, options, options.from_dump, output)
    return _run_api(directory, options, output)


def _run_api(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    selection = _tagged(options)
    with (
        connected(options, selection.site, output) as client,
        recorded(directory, asdict(options), selection.site, output, client=client) as ingest,
    ):
        pauses.remember(ingest)
        fields = filter_for(ingest, selection)
        walks = walk_all(ingest, selection, fields)
        unknown = [" and ".join(each.tags) for each in walks if not each.is_known]
        document = document_of(ingest, selection, unknown)
        if len(unknown) < len(walks):
            ingest.note("partial" if unknown else "ok")
            return document
        raise _no_question(selection, unknown)


def _run_sede(directory: Path, options: Options, path: Path, output: Output) -> dict[str, Any]:
    _refuse_beside_sede(options)
    selection = options.selection()
    with recorded(directory, asdict(options), selection.site, output) as ingest:
        read = read_sede(ingest, path, utc_now(), output.tell)
        ingest.note("ok")
        return {**document_of(ingest, selection), "file": {**asdict(read), "name": path.name}}


def _run_dump(directory: Path, options: Options, path: Path, output: Output) -> dict[str, Any]:
    selection = options.selection()
    with recorded(directory, asdict(options), selection.site, output) as ingest:

        def show(name: str, done: int, total: int | None) -> None:
            ingest.stage = f"{name} {100 * done / total:.0f} %" if total else name
            ingest.on_page(ingest)

        read = read_dump(ingest, path, selection, tell=output.tell, progress=show)
        unknown = read.unknown_tags
        if read.is_complete and unknown and not read.questions.tally.tags:
            raise _no_question(selection, unknown)
        is_complete = read.is_complete and not unknown
        ingest.note("ok" if is_complete else "partial")
        return {
            **document_of(ingest, selection, unknown),
            "dump": {**read.as_json(), "words": read.words()},
            "complete": is_complete,
        }


def _tagged(options: Options) -> PostSelection:
    selection = options.selection()
    if not selection.tags:
        raise StudyError(
            "no tag is named", "Name one or more: miner posts --tag tensorflow --tag keras."
        )
    return selection


def _refuse_beside_sede(options: Options) -> None:
    """The query in the Data Explorer has said which posts are meant."""
    given = {
        "--tag": options.tags,
        "--all-tags": options.all_tags,
        "--accepted": options.accepted,
        "--since": options.since,
    }
    for option, value in given.items():
        if value:
            raise StudyError(
                f"{option} does not go with --from-sede: the query has said which posts are meant",
                f"Leave out {option}; `miner filter` selects among what is in the study.",
            )


@contextmanager
def connected(options: Options, site: str, output: Console) -> Iterator[Client]:
    """A client with the key that the user gave, if any, and as patient as asked."""
    key = find_token("stackoverflow", options.token_file, os.environ, output.tell)
    client = Client(
        site,
        key.value if key else None,
        api_url=options.api_url or API,
        max_wait_s=seconds(options.max_wait),
        tell=output.tell,
        key_name=key.name if key else "STACKEXCHANGE_KEY",
    )
    try:
        yield client
    finally:
        client.close()


@contextmanager
def recorded(
    directory: Path,
    arguments: Mapping[str, Any],
    site: str,
    output: Console,
    *,
    client: Client | None = None,
    name: str = "miner posts",
) -> Iterator[PostIngest]:
    """A run that is recorded with how it ended; what was stored stays in any case."""
    # A run of hours waits for whoever has the study open, and says for whom.
    study = Study(directory, wait_s=math.inf, tell=output.tell)
    run = provenance.begin(name, {**arguments, "site": site})
    if client is not None and not client.has_key:
        output.tell("without STACKEXCHANGE_KEY: 300 requests a day; with one it is 10,000")
    with progress(output, site) as bar:

        def show(ingest: PostIngest) -> None:
            quota = client.quota if client else None
            bar.update(
                done=ingest.counts.posts_new + ingest.counts.replies_new,
                requests=client.sent if client else None,
                requests_planned=ingest.planned,
                quota_left=quota.left if quota else None,
                note=ingest.stage,
            )

        ingest = PostIngest(study, site, run, client, on_page=show)
        with ending(ingest, lambda: _stored(ingest), output.tell):
            yield ingest


def _stored(ingest: PostIngest) -> str:
    counts = ingest.counts
    posts = counts.posts_new + counts.posts_changed
    replies = counts.replies_new + counts.replies_changed
    return (
        f"{counted(posts, 'question')} and "
        f"{counted(replies, 'answer or comment', 'answers and comments')}, new or changed"
    )


def _no_question(selection: PostSelection, unknown: list[str]) -> StudyError:
    since = f" asked since {selection.since:%Y-%m-%d}" if selection.since else ""
    return StudyError(
        f"no question on {selection.site}{since} has the tag {' or '.join(unknown)}",
        f"Check the spelling: https://{selection.site}/tags lists them.",
    )


def document_of(
    ingest: PostIngest, selection: PostSelection, unknown: Sequence[str] = ()
) -> dict[str, Any]:
    """What a run did, as plain values."""
    client, counts = ingest.client, asdict(ingest.counts)
    quota = client.quota if client else None
    return {
        "site": selection.site,
        "run_id": ingest.run.run_id,
        "tags": list(selection.tags),
        "rows": {
            name: number
            for name, number in counts.items()
            if name.startswith(("posts", "replies", "gone"))
        },
        "stored": stored.count(ingest.study, selection),
        "unknown_tags": list(unknown),
        "requests": client.sent if client else 0,
        "waited_s": client.waited_s if client else 0.0,
        "quota": {"limit": quota.limit, "left": quota.left} if quota else None,
        "complete": not unknown,
    }
