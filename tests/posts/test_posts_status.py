"""What `miner status` says of posts."""

from __future__ import annotations

import json
from collections.abc import Callable

from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated
from posting import Posting

Start = Callable[..., Posting]


def test_each_site_is_listed_with_what_there_is_of_it(posting: Start) -> None:
    site = "datascience.stackexchange.com"
    at = posting(StackExchange.small(others={site: list(generated(4))}, page_limit=3))
    at.fetch("--tag", "tensorflow")
    at.fetch("--tag", "python", "--site", "datascience")
    found = json.loads(at.miner("status", "--json").stdout)
    assert found["projects"] == []
    there, here = found["sites"]
    tensorflow = [each for each in at.world.questions if "tensorflow" in each.tags]
    answers = sum(len(each.answerers) for each in tensorflow)
    kept = {
        "site": "stackoverflow.com",
        "questions": len(tensorflow),
        "accepted": sum(each.accepted is not None for each in tensorflow),
        "answers": answers,
        "comments": len(tensorflow) + answers,
        "gone": 0,
        "quota_limit": 300,
        "unfinished": 0,
    }
    assert kept.items() <= here.items()
    assert (there["site"], there["questions"], there["unfinished"]) == (site, 3, 0)
    shown = at.miner("status").stdout
    assert "Posts" in shown
    assert "datascience." in shown


def test_a_list_that_is_not_finished_is_counted(posting: Start) -> None:
    at = posting(StackExchange.small(20, page_limit=3))
    at.world.left[None] = 2
    assert at.run("--tag", "python").returncode == 1
    (site,) = json.loads(at.miner("status", "--json").stdout)["sites"]
    assert (site["questions"], site["unfinished"], site["quota_left"]) == (3, 1, 0)
