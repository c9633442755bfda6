"""The mined tables once more, from the stored responses and the repositories that were read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from faultatlas.data import provenance
from faultatlas.miner import archive, tables
from faultatlas.miner.sources import source
from faultatlas.miner.study_key import check_key, who_in

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Study, Writer

Progress = Callable[[int, int], None]  # responses read, and in all


def rebuild(
    study: Study, run: Run, progress: Progress = lambda _done, _total: None
) -> tuple[dict[str, int], list[str]]:
    """Empty every mined table and fill it again, in one transaction.

    Gives the rows by table, and what could not be made again and stayed as it was.
    """
    from faultatlas.miner.commits.again import read_again
    from faultatlas.miner.commits.rows import DERIVED as COMMITS

    with study.writing() as writer:
        writer.execute("DELETE FROM store.key_check")  # it gives everybody the key's pseudonym
        check_key(writer, study.directory, run.run_id)
        rebuild_in(writer, study, progress)
        problems = read_again(writer, study)
        provenance.record(writer, run, "partial" if problems else "ok")
        rows = {
            table.removeprefix("store."): writer.value(f"SELECT count(*) FROM {table}")
            for table in (*tables.DERIVED, *COMMITS)
        }
        return rows, problems


def rebuild_in(
    writer: Writer, study: Study, progress: Progress = lambda _done, _total: None
) -> None:
    """The same inside a transaction of the caller."""
    for table in tables.DERIVED:
        writer.execute(f"DELETE FROM {table}")
    total = writer.value("SELECT count(*) FROM store.response")
    people = who_in(study.directory)
    for done, (_number, exchange) in enumerate(archive.replay(writer), 1):
        rows = source(exchange.source).read(exchange, people(host_of(exchange.project)))
        tables.put(writer, rows, exchange, is_replayed=True)
        progress(done, total)


def host_of(project: str) -> str:
    """The host of a project's key, such as github.com for github:pytorch/pytorch."""
    source, _, name = project.partition(":")
    if source == "stackoverflow":
        return name
    hosts = {"github": "github.com", "gitee": "gitee.com"}
    return name.rpartition("/")[0].rpartition("/")[0] or hosts.get(source, source)
