"""What lists sort and filter by, without the payloads themselves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

LABELS = ("bug", "enhancement", "Good First Issue", "module: autograd", "question")
START = 1_577_836_800  # 2020-01-01
COMMENT_SLOTS = 1_000  # ids that one issue may use up


@dataclass(slots=True)
class Entry:
    """An issue or pull request; times in seconds since 1970."""

    number: int
    id: int
    created: int
    updated: int
    closed: int | None
    comments: int
    labels: tuple[str, ...]
    is_pull: bool

    @property
    def state(self) -> str:
        return "open" if self.closed is None else "closed"

    def has(self, labels: frozenset[str]) -> bool:
        """Whether it has all of them; GitHub compares labels without case."""
        return labels <= {label.lower() for label in self.labels}


def generated(count: int, comments_each: int, seed: int, first_id: int) -> Iterator[Entry]:
    """Issues with numbers 1..count in order of creation; one in five is a pull request.

    Updates come in bursts: about one in seven shares its second with the one before.
    """
    chance = random.Random(seed)  # noqa: S311 - made-up data, the same each time
    now = START
    burst = START
    for number in range(1, count + 1):
        now += chance.randrange(1, 7200)
        if chance.random() > 1 / 7 or burst < now:
            burst = now + chance.randrange(0, 90 * 86_400)
        closed = chance.randrange(now, burst + 1) if chance.random() < 0.6 else None
        share = chance.random()
        labels = tuple(LABELS[i] for i in range(len(LABELS)) if share < 0.5 / (i + 1))
        yield Entry(
            number=number,
            id=first_id + number,
            created=now,
            updated=burst,
            closed=closed,
            comments=comments_each if number % 4 else comments_each // 2,
            labels=labels,
            is_pull=number % 5 == 0,
        )
