"""The shipped facts add up, fit the taxonomies, and are what the sources gave."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import pytest

from faultatlas.data import evidence
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.taxonomy_library import TaxonomyLibrary

LIBRARY = TaxonomyLibrary()
FAULTS = LIBRARY.taxonomy("humbatova")
LEAVES = [leaf.code for leaf in FAULTS.leaves]
FOLDER = Path(str(files("faultatlas.data"))) / "evidence"


def test_every_leaf_is_counted_and_the_counts_add_up() -> None:
    counts = evidence.occurrences()
    assert list(counts) == LEAVES
    assert sum(count.github for count in counts.values()) == 53
    assert sum(count.stackoverflow for count in counts.values()) == 96
    assert sum(count.artifacts for count in counts.values()) == 149
    assert sum(count.interviews for count in counts.values()) == 226
    seen = [count for count in counts.values() if count.artifacts or count.interviews]
    assert len(seen) == len(LEAVES)
    # Leaves that an artifact showed, and leaves that only interviews yielded.
    assert sum(count.artifacts > 0 for count in counts.values()) == 65


def test_spellings_and_boxes_are_of_leaves_that_names_do_not_give() -> None:
    spellings, boxes = evidence.tag_spellings(), evidence.figure_boxes()
    assert {*spellings.values(), *boxes} <= set(LEAVES)
    assert not [text for text in spellings if FAULTS.find(text)]
    # The published figure has 93 boxes, by a transcription that others made.
    assert sum(boxes.get(code, 1) for code in LEAVES) == 93


def test_every_leaf_has_a_status_of_the_survey() -> None:
    statuses = evidence.survey_statuses()
    assert list(statuses) == LEAVES
    counted = Counter(each.status for each in statuses.values())
    assert counted == {"targeted": 44, "untargeted": 46, "not-mentioned": 2}
    assert set(counted) <= set(get_args(evidence.Status))
    for each in statuses.values():
        assert each.basis in ("named", "category", ""), each.code
        mentions = each.status != "not-mentioned"
        assert (bool(each.basis), bool(each.place)) == (mentions, mentions), each.code


def test_the_survey_adds_four_faults() -> None:
    added = evidence.new_faults()
    assert [fault.code for fault in added] == ["N1", "N2", "N3", "N4"]
    for fault in added:
        assert fault.code not in FAULTS
        assert fault.parent in FAULTS
        assert fault.name
        assert fault.place


def test_there_are_fifty_papers_each_with_a_reference_of_its_own() -> None:
    papers = evidence.papers()
    assert len(papers) == 50
    assert len({paper.paper for paper in papers}) == 50
    assert len({paper.reference for paper in papers}) == 50
    for paper in papers:
        assert re.fullmatch(r"[a-z0-9+-]+", paper.paper)
        assert re.fullmatch(r"\[\d+\]", paper.reference), paper.paper
        assert 2010 <= paper.year <= 2025, paper.paper
        assert paper.first_author, paper.paper
        assert paper.venue, paper.paper
        assert paper.label == (paper.name or f"{paper.first_author} {paper.year}")


def test_every_code_of_a_paper_exists_and_every_paper_is_known() -> None:
    codes = evidence.paper_codes()
    known = {name: LIBRARY.taxonomy(name) for name in ("humbatova", "debugging-techniques")}
    new = {fault.code for fault in evidence.new_faults()}
    for each in codes:
        there = each.code in (new if each.taxonomy == "new-faults" else known[each.taxonomy])
        assert there, each
        assert each.support in get_args(evidence.Support), each
        assert each.place, each
    assert len({(each.paper, each.taxonomy, each.code) for each in codes}) == len(codes)
    techniques = {each.paper for each in codes if each.taxonomy == "debugging-techniques"}
    assert techniques == {each.paper for each in codes}
    assert techniques == {paper.paper for paper in evidence.papers()}


def test_a_paper_that_only_evaluates_targets_no_fault() -> None:
    evaluations = {each.paper for each in evidence.paper_codes() if each.support == "evaluation"}
    assert evaluations == {"chen2020", "li2019"}
    taxonomies = {each.taxonomy for each in evidence.paper_codes() if each.paper in evaluations}
    assert taxonomies == {"debugging-techniques"}


def test_every_leaf_and_every_new_fault_belongs_to_one_component() -> None:
    components = evidence.components()
    assert len(set(components.values())) == 6
    for leaf in LEAVES:
        above = [code for code in FAULTS.ancestors(leaf) if code in components]
        assert len(above) == 1, leaf
    new = {fault.code for fault in evidence.new_faults()}
    assert {code for code in components if code not in FAULTS} == new


def test_every_reading_of_a_share_adds_up_and_one_of_each_is_the_main_one() -> None:
    readings = evidence.readings()
    assert len(readings) == 30
    for each in readings:
        assert each.targeted + each.untargeted + each.new <= each.denominator, each.reading
    main = {each.share_of: each for each in readings if each.main}
    assert set(main) == {each.share_of for each in readings}
    assert sum(each.main for each in readings) == len(main)
    # The main readings are what the shipped counts give, and none of them was made to fit.
    assert not any(each.main and each.post_hoc for each in readings)
    assert main["faults"].denominator == len(LEAVES) + len(evidence.new_faults())
    assert (main["occurrences"].denominator, main["interviews"].denominator) == (149, 226)
    counts = evidence.occurrences()
    for status in ("targeted", "untargeted"):
        codes = [c for c, each in evidence.survey_statuses().items() if each.status == status]
        assert getattr(main["faults"], status) == len(codes)
        assert getattr(main["occurrences"], status) == sum(counts[c].artifacts for c in codes)
        assert getattr(main["interviews"], status) == sum(counts[c].interviews for c in codes)


# Published figures.


def test_there_are_114_published_figures_each_with_an_id_of_its_own() -> None:
    figures = evidence.published_figures()
    assert [figure.figure_id for figure in figures] == [f"K{n:03}" for n in range(1, 115)]
    sources = {source.source_id for source in evidence.sources()}
    assert {figure.study for figure in figures} == sources
    for figure in figures:
        for text in (figure.place, figure.statement, figure.printed, figure.computed, figure.data):
            assert text.strip(), figure.figure_id
    statements = [figure.statement for figure in figures]
    assert len(set(statements)) == len(statements)


def test_the_status_of_a_figure_follows_from_its_wording_by_one_rule() -> None:
    rules = evidence.status_rules()
    by_wording = {rule.wording: rule.status for rule in rules}
    assert len(by_wording) == len(rules)
    assert all(rule.reason for rule in rules)
    figures = evidence.published_figures()
    assert {figure.wording for figure in figures} == set(by_wording)
    assert [status_by_hand(figure) for figure in figures] == [
        by_wording[figure.wording] for figure in figures
    ]


def test_misses_are_counted_as_misses() -> None:
    counted = Counter(map(status_by_hand, evidence.published_figures()))
    assert counted == {
        "reproduced": 76, "near": 5, "not reproduced": 9, "inconsistent": 22, "no data": 2,
    }  # fmt: skip


def test_a_reproduced_number_is_the_printed_number() -> None:
    compared = 0
    for figure in evidence.published_figures():
        if figure.wording != "reproduced":
            continue
        try:
            printed, computed = float(figure.printed), float(figure.computed)
        except ValueError:  # several numbers, or words
            continue
        decimals = len(figure.printed.partition(".")[2])
        assert round(computed, decimals) == printed, figure.figure_id
        compared += 1
    assert compared >= 40


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.csv")))
def test_a_file_is_clean_and_tells_nothing_of_our_folders(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    traces = r"\bseeds?\b|\bshared\b|\.\./|/work\b|STUDY_FIXTURES|\blines? \d|checks\.json"
    assert re.findall(traces, text, re.IGNORECASE) == []
    rows = list(csv.reader(text.splitlines(), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(cell == cell.strip() for row in rows for cell in row)
    longest = max(len(cell) for row in rows for cell in row)
    assert longest <= 700


# Against the facts that were worked out from the replication packages.


def facts(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "facts" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_counts_are_those_of_the_replication_package(study_fixtures: Path) -> None:
    expected = {
        row["code"]: (row["n_github"], row["n_so"], row["n_interview_mentions"])
        for row in facts(study_fixtures, "humbatova.csv")
        if row["is_leaf"] == "1"
    }
    shipped = {
        code: (str(each.github), str(each.stackoverflow), str(each.interviews))
        for code, each in evidence.occurrences().items()
    }
    assert shipped == expected


def test_the_counts_are_the_rows_of_the_sheets(study_fixtures: Path) -> None:
    artifacts = Counter(
        (row["leaf_code"], row["kind"] == "so")
        for row in facts(study_fixtures, "humbatova_artifacts.csv")
        if row["inserted"] == "1"
    )
    interviews = Counter(
        row["leaf_code"] for row in facts(study_fixtures, "humbatova_interviews.csv")
    )
    for code, each in evidence.occurrences().items():
        counted = (artifacts[code, False], artifacts[code, True], interviews[code])
        assert (each.github, each.stackoverflow, each.interviews) == counted, code


def test_the_statuses_are_those_of_the_survey(study_fixtures: Path) -> None:
    rows = facts(study_fixtures, "coverage.csv")
    statuses = evidence.survey_statuses()
    expected = {row["code"]: row["status"] for row in rows if row["status"] != "new"}
    shipped = {code: each.status.replace("-", " ") for code, each in statuses.items()}
    assert shipped == expected
    for row in rows:
        if row["status"] in ("targeted", "untargeted"):
            assert statuses[row["code"]].basis == row["basis"].removeprefix("by "), row["code"]
    new = {row["code"]: (row["name"], row["category"]) for row in rows if row["status"] == "new"}
    assert {each.code: (each.name, each.parent) for each in evidence.new_faults()} == new


def test_the_papers_and_their_codes_are_those_of_the_survey(study_fixtures: Path) -> None:
    rows = {row["citation_key"]: row for row in facts(study_fixtures, "papers.csv")}
    papers = evidence.papers()
    assert [paper.reference for paper in papers] == list(rows)
    for paper in papers:
        row = rows[paper.reference]
        assert (paper.first_author, str(paper.year), paper.name, paper.venue) == (
            row["first_author"], row["year"], row["short_name"], row["venue"],
        )  # fmt: skip
        codes = [each for each in evidence.paper_codes() if each.paper == paper.paper]
        given = {each.code for each in codes}
        expected = f"{row['technique_codes']};{row['fault_codes']}".strip(";")
        assert given == set(expected.split(";")), paper.paper
        for each in codes:
            assert each.support in row["evidence"], paper.paper


def test_the_readings_are_those_that_were_tried(study_fixtures: Path) -> None:
    keys = ("share_of", "targeted", "untargeted", "new", "denominator")
    rows = facts(study_fixtures, "coverage_shares.csv")
    expected = [tuple(row[key] for key in keys) for row in rows]
    shipped = [tuple(str(getattr(each, key)) for key in keys) for each in evidence.readings()]
    assert shipped == expected


# Our words for what a check says with a quotation or with line numbers of a text.
REWORDED = {
    "K055": ('API fuzzing is "the most focused theme"', "API fuzzing"),
    "K091": ("87 (line 193), 89 (line 501)", "87 (Section 3.1), 89 (Section 4.1.2)"),
}


def written(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def test_no_published_figure_was_tuned(study_fixtures: Path) -> None:
    text = (study_fixtures / "facts" / "checks.json").read_text(encoding="utf-8")
    figures = evidence.published_figures()
    for check, figure in zip(json.loads(text), figures, strict=True):
        assert int(check["id"][1:]) == int(figure.figure_id[1:])
        printed = written(check["expected"])
        if figure.figure_id in REWORDED:
            assert (printed, figure.printed) == REWORDED[figure.figure_id]
        else:
            assert figure.printed == printed, figure.figure_id
        assert figure.computed == written(check["computed"]), figure.figure_id
        assert figure.wording == check["status"], figure.figure_id
