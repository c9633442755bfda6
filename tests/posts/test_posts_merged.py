"""`miner merge` with posts in both studies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopback.stackexchange import StackExchange
from posting import Posting

Start = Callable[..., Posting]


def test_posts_of_another_study_come_with_pseudonyms_of_this_one(posting: Start) -> None:
    at = posting(StackExchange.small(), as_usual=True)
    other = replace(at, study=at.study.with_name("other"))
    at.fetch("--tag", "tensorflow")
    other.fetch("--tag", "keras")
    assert at.miner("merge", other.study).returncode == 0
    assert at.numbers() == {each.number for each in at.world.questions}
    assert at.column("SELECT count(DISTINCT author) FROM posts") == [2]
    before = at.mined()
    assert at.miner("merge", other.study).returncode == 0
    assert at.mined() == before
