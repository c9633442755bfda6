"""Known papers: a list is loaded, compared with what was found, and computed again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopback.index import of_the_survey
from loopback.scopus import KEY, Scopus
from papering import Papering
from statsmodels.stats.proportion import proportion_confint

from faultatlas.analysis.studies.known_papers import again, run
from faultatlas.data.evidence import papers
from faultatlas.data.study import Study

Start = Callable[..., Papering]


def test_the_shipped_list_has_the_papers_of_the_shipped_corpus(papering: Start) -> None:
    at = papering()
    found = at.fetch("--known", "survey")
    assert found["stored"]["known"] == len(papers()) == 50
    years = at.column("SELECT year FROM known_papers ORDER BY position")
    assert years == [paper.year for paper in papers()]


def searched(papering: Start) -> Papering:
    """Scopus knows the list but for ten; of two the title is written otherwise, one is early."""
    world = of_the_survey()[10:]
    assert world[0].doi is None
    world[0] = replace(world[0], title=f"{world[0].title.upper()}.", year=world[0].year + 1)
    world[1] = replace(world[1], year=world[1].year - 2)  # without a DOI: too far away
    assert world[1].doi is None
    at = papering(Scopus(world))
    at.fetch("--known", "survey")
    at.fetch("TITLE-ABS-KEY(learning OR testing OR networks)", key=KEY)
    at.fetch('TITLE-ABS-KEY("bug")', key=KEY)
    return at


def test_how_many_a_search_found_with_an_interval_and_which_are_missing(papering: Start) -> None:
    at = searched(papering)
    ended = at.command("analysis", "known-papers", "--study", at.study, "--json")
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    in_all = said["found"]
    low, high = proportion_confint(in_all["count"], 50, method="wilson")
    assert in_all["interval"] == [100 * low, 100 * high]
    missing = {row["title"] for row in said["missing"]}
    assert len(missing) == 50 - in_all["count"] == 11
    assert {paper.title for paper in of_the_survey()[:10]} < missing
    by_search = {each["search"]: each["count"] for each in said["by_search"].values()}
    assert by_search['TITLE-ABS-KEY("bug")'] < in_all["count"]
    assert said["by_source"]["scopus"]["count"] == in_all["count"] == 39


def test_every_claim_leads_to_its_rows_and_comes_out_again(papering: Start) -> None:
    at = searched(papering)
    study = Study(at.study)
    result = run(study)
    assert again(study, result.parameters) == result
    with study.reading() as reader:
        for claim in result.claims:
            rows = reader.rows(str(claim.rows_query))
            found = {row["position"] for row in rows if row["artifact_id"]}
            assert len(found) == claim.count, claim.claim_id
    places = [claim.query.partition(": ")[2].split(".") for claim in result.claims]
    for claim, path in zip(result.claims, places, strict=True):
        value: Any = result.document
        for name in path:
            value = value[name]
        assert value == claim.value


def test_a_list_of_ones_own_and_what_is_missing_is_said(papering: Start, tmp_path: Path) -> None:
    at = papering()
    (tmp_path / "own.bib").write_text("@misc{a, title={Only This One Paper}}", encoding="utf-8")
    ended = at.run("--known", "nobody's")
    assert "there is no shipped list" in ended.stderr
    at.fetch("--known", "mine", "--from", tmp_path / "own.bib")
    assert at.rows("SELECT list, title, artifact_id FROM known_papers") == [
        ("mine", "Only This One Paper", None)
    ]
    compared = at.command("analysis", "known-papers", "mine", "--study", at.study)
    assert "the study has no papers that the list could be compared with" in compared.stderr
    assert at.fetch("--known", "survey")["stored"]["known"] == 51
    compared = at.command("analysis", "known-papers", "--study", at.study)
    assert "there are several lists" in compared.stderr


def test_a_list_is_what_was_read_last_under_its_name(papering: Start, tmp_path: Path) -> None:
    at = papering()
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("Title,Year\nThe First,2020\nThe Second,2021\n", encoding="utf-8")
    two.write_text("Title,Year\nThe Third,2022\n", encoding="utf-8")
    for path in (one, two, one):
        at.fetch("--known", "mine", "--from", path)
    titles = "SELECT title FROM known_papers ORDER BY position"
    assert at.column(titles) == ["The First", "The Second"]
    assert at.miner("rebuild").returncode == 0
    assert at.column(titles) == ["The First", "The Second"]
    ended = at.run("--known", "mine", "--from", one, "--from", two)
    assert "a list of known papers is one file" in " ".join(ended.stderr.split())
