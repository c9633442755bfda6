"""`miner link` from the options to the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.old.results import Column, Table
from faultatlas.miner.ending import noting
from faultatlas.miner.links import THRESHOLD
from faultatlas.miner.links.duplicates import check_threshold, drop_vanished, find_duplicates
from faultatlas.miner.links.make import make_links
from faultatlas.miner.links.texts import Progress, forget_texts, read_texts

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

# Of an id: whether an issue is a pull request is known only of those in the study.
_KIND = (
    "CASE WHEN {id} IN (SELECT artifact_id FROM store.issue WHERE is_pull) THEN 'pull' "
    "WHEN {id} IN (SELECT artifact_id FROM store.issue) THEN 'issue' "
    "WHEN starts_with({id}, 'git:') THEN 'commit' "
    "WHEN starts_with({id}, 'stackoverflow:') THEN 'post' ELSE 'issue or pull' END"
)


def run_link(
    study: Study,
    *,
    again: bool = False,
    duplicates: bool = True,
    threshold: float = THRESHOLD,
    progress: Progress = lambda _done, _total: None,
) -> dict[str, Any]:
    """Find links; only in texts that are new or changed, unless all are to be read again."""
    check_threshold(threshold)
    run = provenance.begin(
        "miner link", {"again": again, "duplicates": duplicates, "threshold": threshold}
    )
    with noting(study, run):
        if again:
            with study.reading():
                pass  # a study that is not there is not made
            with study.writing() as writer:
                provenance.record(writer, run, "running")
                writer.execute("DELETE FROM store.link_read")
        texts = read_texts(study, run, progress)
        with study.writing(keep_log=True) as writer:
            provenance.record(writer, run, "running")
            forget_texts(writer)
            counts = make_links(writer, run.run_id)
            counts["removed"] += drop_vanished(writer)
        if duplicates:
            for name, count in find_duplicates(study, run, threshold).items():
                counts[name] += count
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
            return {"texts_read": texts, **counts, "links": _summary(writer)}


def _summary(reader: Reader) -> list[dict[str, Any]]:
    """Links by kind and by what they lead from and to."""
    return reader.rows(
        f'SELECT kind, {_KIND.format(id="from_id")} AS "from", {_KIND.format(id="to_id")} '
        'AS "to", count(*) AS links, count(DISTINCT from_id) AS artifacts, '
        "count(DISTINCT to_id) AS targets FROM store.link GROUP BY ALL ORDER BY ALL"
    )


def link_table(found: dict[str, Any]) -> Table:
    """The links of a study for a reader."""
    return Table(
        "links",
        "Links",
        (
            Column("kind", "Kind", "code"),
            Column("from", "From", "code"),
            Column("to", "To", "code"),
            Column("links", "Links", "count"),
            Column("artifacts", "Sources", "count"),
            Column("targets", "Targets", "count"),
        ),
        tuple(tuple(row.values()) for row in found["links"]),
    )


def link_words(found: dict[str, Any]) -> str:
    """What this run did."""
    return (
        f"{found['texts_read']:,} texts read; links: {found['new']:,} new, "
        f"{found['changed']:,} changed, {found['removed']:,} removed"
    )
