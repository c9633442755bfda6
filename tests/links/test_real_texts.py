"""The 3,655 real issues and pull requests of huggingface/datasets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from linking import Linking
from loopback import World

from faultatlas.data.clock import utc_now
from faultatlas.data.old.records import Rows
from faultatlas.miner import tables
from faultatlas.miner.archive import Exchange
from faultatlas.miner.sources.github import issue_row

PROJECT = "github:huggingface/datasets"
# Written apart from the finder, and cruder: it knows neither code nor quotations.
KEYWORD = re.compile(
    r"(?<![\w-])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?\s+"
    r"(?:#(\d+)|https://github\.com/huggingface/datasets/(?:issues|pull)/(\d+))",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, study_fixtures: Path) -> Linking:
    linking = Linking(tmp_path_factory.mktemp("real"))
    tracker = World.of_datasets(study_fixtures).tracker
    said = [tracker.payload(number) for number in tracker.entries]
    rows = Rows(issues=[row for row in (issue_row(each, lambda who: who) for each in said) if row])
    asked = Exchange(
        "run", "github", PROJECT, {"kind": "issues"}, "/", "/", 200, {}, utc_now(), b""
    )
    with linking.study.writing() as writer:
        tables.put(writer, rows, asked)
    assert linking.link(duplicates=True)["texts_read"] == len(rows.issues) == 3655
    return linking


def test_every_closing_keyword_of_a_pull_request_is_found(real: Linking) -> None:
    with real.study.reading() as reader:
        pulls = reader.rows("SELECT artifact_id, title, body FROM artifacts WHERE kind = 'pull'")
    expected = {
        (pull["artifact_id"], f"{PROJECT}#{found[1] or found[2]}")
        for pull in pulls
        for found in KEYWORD.finditer(f"{pull['title']}\n{pull['body']}")
    }
    inside = {pair for pair in real.pairs("fixes") if pair[1].startswith(f"{PROJECT}#")}
    assert len(expected) > 400
    assert expected - inside == set()
    assert len(inside - expected) <= 2  # lists: Close #5474 and #5468


def test_the_texts_that_are_suggested_are_alike(real: Linking) -> None:
    found = real.links("from_id, to_id, score")
    pairs = {(f.partition("#")[2], t.partition("#")[2]) for f, t, score in found if score}
    # The three pairs of issues that are the same report, and no untouched templates.
    assert pairs >= {("5219", "5218"), ("1670", "1669"), ("854", "852"), ("1062", "1047")}
    assert not {"2899", "2296", "2889", "2890"} & {end for pair in pairs for end in pair}
    assert len(pairs) < 40
