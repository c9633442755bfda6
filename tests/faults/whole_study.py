"""A whole study as data: its steps in order, what each is called with, and what holds after it.

What the steps read is made once, in a folder of its own: a git repository, a data dump, a file of
papers. Raters are two functions of the item.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from data_dumps import answer, document, question
from loopback import World
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated
from repositories_on_disk import Repository

PROJECT = "example/tensors"
COMMITS = 16
SHEET, PACKAGE = "pilot.csv", "package.zip"
RATERS = ("ann", "ben")
CODES = ("4.2.1.L2", "5.4.1.L1", "5.4.2.L1", "5.6.L1")
BUGS = ("shipped/empty-fix", "shipped/half-made-fix")
PAPERS = """
@article{one, title = {Faults in Layers}, author = {Doe, Jane}, year = 2021, doi = {10.1000/one}}
@article{two, title = {Repair of Models}, author = {Roe, Max}, year = 2022, doi = {10.1000/two}}
@article{three, title = {Tests of Training}, author = {Poe, Ida}, year = 2023}
"""


@dataclass(frozen=True)
class Step:
    """One command of a study."""

    name: str
    program: str
    words: tuple[str, ...]  # {names} are places: study, inputs, github, stackexchange
    holds: tuple[str, ...]  # queries that are true afterwards
    asks: str = ""  # whom it asks over HTTP: github or stackexchange
    reads: str = ""  # a file that it reads and that may be cut: a place
    only_reads: bool = False
    # Whether a run that has ended well is the last thing that it stores or writes.
    ends_with_run: bool = True
    before: Callable[[Path], object] = lambda _study: None  # what people do before it


def said_of(item: str) -> tuple[str, str]:
    """What the two raters say of an item; of about every fourth they say different things."""
    drawn = sha256(item.encode()).digest()
    return CODES[drawn[0] % 4], CODES[(drawn[0] + (drawn[1] % 4 == 0)) % 4]


def labelled(study: Path) -> None:
    """The raters fill the sheet in."""
    with (study / SHEET).open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    places = [head.index(rater) for rater in RATERS]
    for row in rows:
        for place, code in zip(places, said_of(row[0]), strict=True):
            row[place] = code
    with (study / SHEET).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


STEPS = (
    Step(
        "fetch", "miner",
        ("fetch", PROJECT, "--max-wait", "0", "--api-url", "{github}"),
        ("SELECT count(*) > 20 FROM issues", "SELECT count(*) > 20 FROM comments"),
        asks="github",
    ),
    Step(
        "commits", "miner", ("commits", "{inputs}/repository", "--project", PROJECT),
        (f"SELECT count(*) = {COMMITS} FROM commits",),
    ),
    Step(
        "dump", "miner", ("posts", "--tag", "keras", "--from-dump", "{inputs}/Posts.xml"),
        ("SELECT count(*) = 12 FROM posts",), reads="{inputs}/Posts.xml",
    ),
    Step(
        "posts", "miner",
        ("posts", "--tag", "tensorflow", "--max-wait", "0", "--api-url", "{stackexchange}/2.3"),
        ("SELECT count(*) > 12 FROM posts",), asks="stackexchange",
    ),
    Step(
        "papers", "miner", ("papers", "--from", "{inputs}/papers.bib"),
        ("SELECT count(*) = 3 FROM papers",), reads="{inputs}/papers.bib",
    ),
    Step("link", "miner", ("link",), ("SELECT count(*) > 0 FROM links",)),
    Step(
        "words", "miner", ("filter", "bug-words", "--on", "commit", "--lexicon", "bugfix"),
        ("SELECT count(*) > 0 FROM funnel WHERE step = 'bug-words'",),
    ),
    Step(
        "papers-out", "miner", ("filter", "no-papers", "--where", "kind <> 'paper'"),
        ("SELECT count(*) > 0 FROM funnel WHERE step = 'no-papers'",),
    ),
    Step(
        "sample", "annotation",
        ("sample", "main", "--size", "16", "--stratify", "kind", "--seed", "7"),
        ("SELECT count(*) = 16 FROM samples",),
    ),
    Step(
        "round", "annotation",
        ("round", "pilot", "--sample", "main", "--taxonomy", "humbatova", "--gate", "0.2",
         "--statistic", "krippendorff",
         *(word for rater in RATERS for word in ("--rater", rater))),
        ("SELECT count(*) = 32 FROM assignments",),
    ),
    Step("export", "annotation", ("export", "pilot", f"{{study}}/{SHEET}", "--replace"), ()),
    Step(
        "import", "annotation", ("import", "pilot", f"{{study}}/{SHEET}"),
        ("SELECT count(*) = 32 FROM labels",), reads=f"{{study}}/{SHEET}", before=labelled,
    ),
    Step(
        "agreement", "annotation", ("agreement", "pilot", "--resamples", "50", "--gate"),
        ("SELECT count(*) > 0 FROM results",),
    ),
    Step(
        "adjudicate", "annotation", ("adjudicate", "pilot", "--rule", "majority"),
        ("SELECT count(*) > 5 FROM final_labels",),
    ),
    Step(
        "distribution", "analysis", ("distribution", "humbatova", "--level", "1"),
        ("SELECT count(*) > 0 FROM claims WHERE claim_id LIKE 'distribution%'",),
    ),
    Step(
        "gap", "analysis", ("coverage-gap", "--evidence", "study"),
        ("SELECT count(*) > 0 FROM claims WHERE claim_id LIKE 'coverage-gap%'",),
    ),
    Step(
        "reexecute", "analysis", ("reexecute", *BUGS, "--seeds", "3", "--workers", "1"),
        (f"SELECT count(*) = {len(BUGS)} FROM verdicts",),
    ),
    Step("build", "report", ("build",), (), ends_with_run=False),
    Step("check", "report", ("claims", "check"), (), only_reads=True),
    Step("package", "report", ("package", f"{{study}}/{PACKAGE}"), ()),
    Step(
        "verify", "report", ("package", "--verify", f"{{study}}/{PACKAGE}"), (),
        reads=f"{{study}}/{PACKAGE}",
    ),
)  # fmt: skip
NAMES = tuple(step.name for step in STEPS)
BY_NAME = {step.name: step for step in STEPS}


def inputs(folder: Path) -> Path:
    """What the steps read."""
    folder.mkdir()
    _history(folder / "repository")
    rows = []
    for number in range(1, 13):
        body = f"<p>{'why ' * number}</p>"
        rows += [question(number, "|keras|python|", body, AcceptedAnswerId=1000 + number)]
        rows += [answer(1000 + number, number)]
    (folder / "Posts.xml").write_bytes(document(rows))
    (folder / "papers.bib").write_text(PAPERS, encoding="utf-8")
    return folder


def _history(folder: Path) -> None:
    """Small Python files; every second message is about a bug, and most name an issue."""
    made, parents = Repository(folder), list[str]()
    for number in range(COMMITS):
        body = f"def call(x):\n    return x + {number}\n".encode()
        words = ("fix the loss, closes", "add a page for", "crash in training, see", "rename as in")
        message = f"{words[number % 4]} #{1 + number % 9}\n".encode()
        parents = [made.commit({f"layer_{number % 3}.py": body}, message, parents)]


def github() -> World:
    return World.small(PROJECT)


class Endless(dict[Any, int]):
    """A quota that nobody uses up: what is left of it stands in every answer, and so in its id."""

    def __setitem__(self, _key: Any, _left: int) -> None:
        pass


def stack_exchange() -> StackExchange:
    questions = list(generated(12, first=100_000))
    return StackExchange(questions, page_limit=5, left=Endless({None: 10**6}))


def words(step: Step, places: dict[str, Any]) -> list[str]:
    return [word.format(**places) for word in step.words]
