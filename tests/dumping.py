"""Reads data dumps into a study, and what another parser finds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
from data_dumps import SITE
from loopback import studies
from lxml import etree

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner.posts.dump import read_dump
from faultatlas.miner.posts.dump_files import posts_file
from faultatlas.miner.posts.dump_pick import Picker
from faultatlas.miner.posts.dump_result import DumpRead
from faultatlas.miner.posts.dump_scan import Part, Scan
from faultatlas.miner.posts.ingest import PostIngest
from faultatlas.miner.posts.selection import PostSelection


def empty_study(directory: Path) -> Path:
    """A study that has its tables and a key."""
    studies.keyed(directory)
    with Study(directory).writing() as writer:
        provenance.record(writer, provenance.begin("test", {}), "ok")
    return directory


class Importing:
    """Reads dumps into one study."""

    def __init__(self, directory: Path) -> None:
        self.study = directory
        self.told: list[str] = []
        self.close: Callable[[], None] = lambda: None  # a study that a test left open

    def read(self, path: Path, *tags: str, **options: Any) -> DumpRead:
        selection = PostSelection(**{"site": SITE, "tags": tags, **options})
        run = provenance.begin("miner posts", {})
        ingest = PostIngest(Study(self.study), selection.site, run)
        return read_dump(ingest, path, selection, tell=self.told.append)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with studies.opened(self.study) as study:
            return study.execute(sql).fetchall()

    def column(self, sql: str) -> list[Any]:
        return [value for (value,) in self.rows(sql)]


def tables(directory: Path, *, parts: bool = True) -> dict[str, list[tuple[Any, ...]]]:
    """What a dump left in a study, but for runs and times; `parts` also by which part."""
    never = ["run_id", "fetched_at", "updated_at"]
    found = {}
    with duckdb.connect(str(directory / "study.duckdb"), read_only=True) as study:
        for table in ("post", "reply", "dump_read"):
            times = never if table == "dump_read" else never[:2]
            out = [*times, *(["response_id"] if not parts and table != "dump_read" else [])]
            columns = [name for (name, *_) in study.execute(f"DESCRIBE store.{table}").fetchall()]
            names = ", ".join(name for name in columns if name not in out)
            found[table] = study.execute(
                f"SELECT {names} FROM store.{table} ORDER BY ALL"
            ).fetchall()
    return found


def scanned(path: Path, picker: Picker, stop: int | None = None) -> list[Part]:
    with posts_file(path).opened() as read:
        return list(Scan(read, path.name, picker).parts(stop))


def by_lxml(path: Path, wanted: Callable[[Any], bool]) -> Iterator[dict[str, str]]:
    """The attributes of the rows that are wanted, with nothing of ours."""
    for _event, element in etree.iterparse(str(path), events=("end",), tag="row", huge_tree=True):
        if wanted(element):
            yield dict(element.attrib)
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def tags_by_lxml(element: Any) -> set[str]:
    said = element.get("Tags", "")
    return {tag.lower() for tag in said.replace("<", "|").replace(">", "|").split("|") if tag}
