"""Ways to get rows out of a dump: programs that `dump_mining` measures. They print a hash of them.

They import what they need and no more, since that is measured, too.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TAGS = ("keras", "tensorflow")
SITE = "stackoverflow.com"


def _nobody(_login: str | None) -> None:
    return None


def _scanned(path: Path, picker: Any) -> list[Any]:
    from faultatlas.miner.posts.dump_files import posts_file
    from faultatlas.miner.posts.dump_scan import Scan

    file = posts_file(path)
    with file.opened() as read:
        scan = Scan(read, file.name, picker)
        return [row for part in scan.parts() for row in part.found]


def _questions(path: Path) -> list[Any]:
    from faultatlas.miner.posts.dump_pick import Questions
    from faultatlas.miner.posts.selection import PostSelection

    return _scanned(path, Questions(PostSelection(tags=TAGS), _nobody))


def _answers(path: Path) -> list[Any]:
    from faultatlas.miner.posts.dump_pick import Answers

    found = _questions(path)
    return found + _scanned(path, Answers(SITE, _nobody, {each.post_id for each in found}))


def _lxml_rows(path: Path, read: Callable[[Any], Any]) -> list[Any]:
    from lxml import etree

    found = []
    for _event, element in etree.iterparse(str(path), events=("end",), tag="row"):
        if (row := read(element)) is not None:
            found.append(row)
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return found


def _lxml_questions(path: Path) -> list[Any]:
    from faultatlas.miner.posts.dump_rows import question_row

    def read(element: Any) -> Any:
        if element.get("PostTypeId") != "1":
            return None
        tags = element.get("Tags", "").replace("<", "|").replace(">", "|").split("|")
        if not any(tag in tags for tag in TAGS):
            return None
        return question_row(dict(element.attrib), SITE, _nobody)

    return _lxml_rows(path, read)


def _lxml_answers(path: Path) -> list[Any]:
    from faultatlas.miner.posts.dump_rows import answer_row

    found = _lxml_questions(path)
    numbers = {str(each.post_id) for each in found}

    def read(element: Any) -> Any:
        if element.get("PostTypeId") != "2" or element.get("ParentId") not in numbers:
            return None
        return answer_row(dict(element.attrib), SITE, _nobody)

    return found + _lxml_rows(path, read)


def into_study(path: Path, folder: Path) -> list[Any]:
    """Bring a dump into a new study."""
    from faultatlas.data import provenance
    from faultatlas.data.study import Study
    from faultatlas.miner.posts.dump import read_dump
    from faultatlas.miner.posts.ingest import PostIngest
    from faultatlas.miner.posts.selection import PostSelection

    selection = PostSelection(tags=TAGS)
    ingest = PostIngest(Study(folder), selection.site, provenance.begin("bench", {}))
    if not read_dump(ingest, path, selection).is_complete:
        raise RuntimeError("the dump was not read to its end")
    return []


_WAYS: dict[str, Callable[[Path], list[Any]]] = {
    "filter": _questions,
    "answers": _answers,
    "lxml": _lxml_questions,
    "lxml_answers": _lxml_answers,
    "study": lambda path: into_study(path, Path(sys.argv[3])),
}


if __name__ == "__main__":
    rows = _WAYS[sys.argv[1]](Path(sys.argv[2]))
    print(len(rows), hashlib.sha256(repr(rows).encode()).hexdigest())
