"""Data dumps that tests make, and what another parser finds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
from loopback import studies
from lxml import etree

from faultatlas.data import provenance
from faultatlas.data.store import Study
from faultatlas.miner.posts.dump import read_dump
from faultatlas.miner.posts.dump_files import posts_file
from faultatlas.miner.posts.dump_pick import Picker
from faultatlas.miner.posts.dump_result import DumpRead
from faultatlas.miner.posts.dump_scan import Part, Scan
from faultatlas.miner.posts.ingest import PostIngest
from faultatlas.miner.posts.selection import PostSelection

SITE = "stackoverflow.com"


def row(**values: Any) -> str:
    """A row as Stack Exchange writes it."""
    said = (f'{name}="{attribute(str(text))}"' for name, text in values.items() if text is not None)
    return f"<row {' '.join(said)} />"


def attribute(text: str) -> str:
    return escape(text, {'"': "&quot;", "\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"})


def question(number: int, tags: str = "|keras|", body: str = "<p>Why?</p>\n", **more: Any) -> str:
    usual = {
        "AcceptedAnswerId": None,
        "CreationDate": "2020-01-02T03:04:05.678",
        "Score": 3,
        "ViewCount": 40,
        "Body": body,
        "OwnerUserId": 7,
        "LastActivityDate": "2020-02-03T04:05:06.789",
        "Title": "Loss is NaN",
        "Tags": tags,
        "AnswerCount": 1,
        "ContentLicense": "CC BY-SA 4.0",
    }
    return row(Id=number, PostTypeId=1, **{**usual, **more})


def answer(number: int, parent: int, body: str = "<p>So.</p>", **more: Any) -> str:
    usual = {
        "CreationDate": "2020-01-03T03:04:05.678",
        "Score": 1,
        "Body": body,
        "OwnerDisplayName": "Jane",
        "LastActivityDate": "2020-01-03T03:04:05.678",
    }
    return row(Id=number, PostTypeId=2, ParentId=parent, **{**usual, **more})


def comment(number: int, post: int, text: str = "Which version?", **more: Any) -> str:
    usual = {"Score": 0, "Text": text, "CreationDate": "2020-01-04T00:00:00.000", "UserId": 8}
    return row(Id=number, PostId=post, **{**usual, **more})


def document(
    rows: Iterable[str], root: str = "posts", newline: str = "\n", mark: str = "\ufeff"
) -> bytes:
    lines = [f'{mark}<?xml version="1.0" encoding="utf-8"?>', f"<{root}>"]
    lines += [f"  {each}" for each in rows]
    return newline.join([*lines, f"</{root}>"]).encode()


def small_dump() -> list[str]:
    """Sixty questions in both spellings of tags, answers of which some come early, tag wikis."""
    rows = []
    for number in range(1, 61):
        tags = ("|keras|python|", "<tensorflow><c++>", "|pandas|", "<keras-layer>")[number % 4]
        accepted = 1000 + number if number % 3 == 0 else None
        rows += [question(number, tags, f"<p>{'why ' * number}</p>", AcceptedAnswerId=accepted)]
        rows += [answer(1000 + number, number % 50 + 1), answer(2000 + number, 61 - number)]
    return [*rows, row(Id=5000, PostTypeId=4, Body="excerpt"), row(Id=5001, PostTypeId=5)]


def small_comments() -> list[str]:
    posts = [*range(1, 61), *range(1001, 1061), *range(2001, 2061), 9999]
    return [comment(number, post) for number, post in enumerate(posts, 1)]


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
