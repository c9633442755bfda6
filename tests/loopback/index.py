"""What the loopback indexes of papers share: made-up papers, a log, faults."""

from __future__ import annotations

import csv
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from loopback.exchange import Reply, Request
from loopback.faults import Faults


@dataclass(frozen=True)
class Paper:
    """A paper of the world, whatever an index says of it."""

    number: int
    title: str
    year: int = 2021
    venue: str = "ICSE"
    doi: str | None = None
    authors: tuple[str, ...] = ("Ada Okoro", "Bo Lindqvist")
    abstract: str | None = None
    is_preprint: bool = False

    @property
    def words(self) -> str:
        return f"{self.title} {self.abstract or ''}".lower()


def generated(count: int, first: int = 1) -> list[Paper]:
    """Papers about bugs of deep learning."""
    return [
        Paper(
            number,
            f"Repairing deep learning bug number {number}",
            2018 + number % 6,
            ("ICSE", "ISSTA", "Journal of Odd Bugs")[number % 3],
            f"10.5555/made.{number}" if number % 4 else None,
            abstract=None if number % 5 == 0 else f"A bug of deep learning, the {number}th one.",
        )
        for number in range(first, first + count)
    ]


def of_the_survey() -> list[Paper]:
    """The fifty papers that the survey names, with abstracts of our own."""
    text = (files("faultatlas.miner.papers") / "known_lists" / "survey.csv").read_text(
        encoding="utf-8"
    )
    return [
        Paper(
            number,
            row["title"],
            int(row["year"]),
            "ICSE" if number % 2 else "ISSTA",
            row["doi"].lower() or None,
            abstract="About a bug in deep learning." if number % 3 else "About machine learning.",
        )
        for number, row in enumerate(csv.DictReader(text.splitlines()), 1)
    ]


def said_by(expression: str, paper: Paper) -> bool:
    """Whether a paper has a word of every group that AND joins."""
    groups = re.split(r"\s+AND\s+", expression)
    return all(
        any(word.strip(' ()"').lower() in paper.words for word in re.split(r"\s+OR\s+", group))
        for group in groups
    )


@dataclass
class Index:
    """A server with papers; `_answer` is what makes it one index or the other."""

    papers: list[Paper]
    page_limit: int = 100
    clock: Callable[[], float] = time.time
    left: int = 1000
    keys: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []  # of the server itself
        self.faults = Faults()
        self.gzip = True
        self.keeps_log = True
        self.before_response: Any = None
        self.mid_body: Any = None
        self.after_response: Any = None
        self.base_url = ""
        self.lock = threading.RLock()

    def answer(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            fault = self.faults.take(request)

            def go() -> Reply:
                return self._answer(request)

            reply = fault.act(request, self, go) if fault else go()  # type: ignore[arg-type]
            request.status = reply.status
            return reply

    def _answer(self, request: Request) -> Reply:
        raise NotImplementedError


def within(papers: Iterable[Paper], since: int | None, until: int | None) -> list[Paper]:
    return [
        paper
        for paper in papers
        if (since is None or paper.year >= since) and (until is None or paper.year <= until)
    ]
