"""`miner papers` from the options to the result: opens what is needed, and ends the run whatever
happens.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.clock import seconds, utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.ending import ending
from faultatlas.miner.papers import stored
from faultatlas.miner.papers.client import Client
from faultatlas.miner.papers.from_files import FileKept, keep_file, keep_shipped
from faultatlas.miner.papers.ingest import PaperIngest
from faultatlas.miner.papers.service import Query, Service
from faultatlas.miner.papers.services import NAMES, service
from faultatlas.miner.papers.templates import Template, template
from faultatlas.miner.papers.walk import Walked, walk_all
from faultatlas.miner.tokens import find_token, variable_of
from faultatlas.report.formatting import counted
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.report.old.console import Output


@dataclass(frozen=True)
class Options:
    """What was typed."""

    query: str | None = None
    files: tuple[Path, ...] = ()
    source: str = "openalex"
    template: str | None = None
    since: int | None = None
    until: int | None = None
    known: str | None = None
    api_url: str | None = None
    token_file: Path | None = None
    max_wait: str = "70m"


def run_plan(options: Options) -> dict[str, Any]:
    """`--plan`: the questions to each index; nobody is asked."""
    _refuse_strays(options)
    if not _is_search(options):
        raise StudyError("--plan is about searches, and a file needs none", "Leave out --plan.")
    found: dict[str, Any] = {"plan": {}}
    for name in NAMES:
        index = service(name)
        # The manner of those who have a key: what is asked for is the same.
        manner = index.manners(has_key=True)[0]
        found["plan"][name] = [
            {
                "name": query.name,
                "query": query.text,
                "url": f"{index.api}{index.first_url(query, manner)}",
                "notes": list(query.notes),
            }
            for query in _queries(options, index)
        ]
    if options.template:
        it = template(options.template)
        found |= {"template": it.name, "source": it.source, "notes": list(it.notes)}
    return found


def run_papers(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    """Bring papers or a list of known ones into the study."""
    _refuse_strays(options)
    if _is_search(options):
        return _run_search(directory, options, output)
    return _run_files(directory, options, output)


def _run_search(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    index = service(options.source)
    queries = _queries(options, index)
    with (
        connected(options, index, output) as client,
        recorded(directory, options, output, f"paper:{index.name}", client) as ingest,
    ):
        walks = walk_all(ingest, queries, output.tell)
        is_complete = all(each.is_complete for each in walks)
        document = document_of(ingest, walks=walks)
        ingest.note("ok" if is_complete else "partial")
        return {**document, "complete": is_complete}


def _run_files(directory: Path, options: Options, output: Output) -> dict[str, Any]:
    with recorded(directory, options, output, "paper:files") as ingest:
        known = options.known or ""
        kept = [keep_file(ingest, path, utc_now(), known) for path in options.files]
        if not options.files:
            kept = [keep_shipped(ingest, known, utc_now())]
        is_complete = not any(each.broken for each in kept)
        document = document_of(ingest, kept=kept)
        ingest.note("ok" if is_complete else "partial")
        return {**document, "known": known or None, "complete": is_complete}


def _is_search(options: Options) -> bool:
    return options.query is not None or options.template is not None


def _queries(options: Options, index: Service) -> list[Query]:
    if options.template:
        it: Template = template(options.template)
        return it.queries(index, options.since, options.until)
    return [index.query(options.query or "", options.since, options.until)]


def _refuse_strays(options: Options) -> None:
    if options.source not in NAMES:
        raise StudyError(f"there is no source {options.source!r}", f"Known: {', '.join(NAMES)}.")
    ways = {
        "a query": options.query is not None,
        "--template": options.template is not None,
        "--from": bool(options.files),
    }
    given = [way for way, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise StudyError(f"{' and '.join(given)} are several ways to papers", "Give one of them.")
    if options.known and _is_search(options):
        raise StudyError(
            "--known loads a list, and a search loads papers",
            "Load the list first, then search; `analysis known-papers` compares them.",
        )
    if options.known and len(options.files) > 1:
        raise StudyError(
            "a list of known papers is one file: the second would take the place of the first",
            "Join the files, or give each a name of its own.",
        )
    if not given and not options.known:
        raise StudyError(
            "nothing says which papers",
            "Give a query, --template NAME, --from FILE.bib, or --known survey.",
        )
    if options.query is not None and not options.query.strip():
        raise StudyError("the query is empty", 'Give words: miner papers "deep learning bugs".')
    if options.query is not None and len(options.query) > 4000:
        raise StudyError("the query is longer than 4,000 characters", "Cut it into several.")
    _refuse_years(options)


def _refuse_years(options: Options) -> None:
    if options.since and options.until and options.since > options.until:
        raise StudyError(
            f"no year is both since {options.since} and until {options.until}", "Turn them round."
        )
    if (options.since or options.until) and not _is_search(options):
        raise StudyError(
            "--since and --until are for searches",
            "A file is taken whole: `miner filter` selects among what is in the study.",
        )


@contextmanager
def connected(options: Options, index: Service, output: Output) -> Iterator[Client]:
    """A client with the key that the user gave, and as patient as asked."""
    key = find_token(index.name, options.token_file, os.environ, output.tell)
    name = variable_of(index.name)
    if key is None and index.key_header:
        raise StudyError(
            f"{index.title} answers nobody without a key",
            f"Get one at dev.elsevier.com and set {name}, or give --token-file; or take the file "
            "that scopus.com exports: miner papers --from scopus.csv.",
        )
    if key is None:
        output.tell(f"without {name}: a small budget a day, and at most 10,000 papers of a search")
    client = Client(
        index,
        key.value if key else None,
        api_url=options.api_url,
        max_wait_s=seconds(options.max_wait),
        tell=output.tell,
        key_name=key.name if key else name,
    )
    try:
        yield client
    finally:
        client.close()


@contextmanager
def recorded(
    directory: Path, options: Options, output: Output, project: str, client: Client | None = None
) -> Iterator[PaperIngest]:
    """A run that is recorded with how it ended; what was stored stays in any case."""
    # A run of hours waits for whoever has the study open, and says for whom.
    study = Study(directory, wait_s=math.inf, tell=output.tell)
    run = provenance.begin("miner papers", asdict(options))
    with progress(output, client.service.title if client else "papers") as bar:

        def show(ingest: PaperIngest) -> None:
            quota = client.quota if client else None
            bar.update(
                done=ingest.counts.records_new,
                requests=client.sent if client else None,
                requests_planned=ingest.planned,
                quota_left=quota.left if quota else None,
                note=ingest.stage,
            )

        ingest = PaperIngest(study, project, run, client, on_page=show)
        with ending(ingest, lambda: _stored(ingest), output.tell):
            yield ingest


def _stored(ingest: PaperIngest) -> str:
    counts = ingest.counts
    return f"{counted(counts.records_new, 'record')} of {counted(counts.papers_new, 'new paper')}"


def document_of(
    ingest: PaperIngest, walks: list[Walked] | None = None, kept: list[FileKept] | None = None
) -> dict[str, Any]:
    """What a run did, as plain values."""
    client, counts = ingest.client, ingest.counts
    quota = client.quota if client else None
    return {
        "run_id": ingest.run.run_id,
        "searches": [each.as_json() for each in walks or ()],
        "files": [each.as_json() for each in kept or ()],
        "rows": {
            "records_new": counts.records_new,
            "papers_new": counts.papers_new,
            "papers_changed": counts.papers_changed,
        },
        "stored": stored.count(ingest.study),
        "requests": client.sent if client else 0,
        "waited_s": client.waited_s if client else 0.0,
        "quota": {"limit": quota.limit, "left": quota.left} if quota else None,
    }
