"""Codes of papers with the quoted places: from raters and from finished sheets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from labelling import Labelled
from openpyxl import Workbook
from reading_papers import BOTH, Command, Reading, doi, put_paper

from faultatlas.annotation.screening.coding import code_papers
from faultatlas.annotation.screening.place_sheets import LONGEST_QUOTE
from faultatlas.annotation.screening.places import Taken, take_places
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study

HEAD = "paper,taxonomy,code,support,place,quote,rater"
CODED = (
    HEAD,
    "10.1000/1,debugging-techniques,T2.2.1,explicit,IV-B,we locate the layer,ann",
    'https://doi.org/10.1000/1,humbatova,1.1.L2,theme,III,"shapes, mostly",ann',
    "paper 2!,humbatova,1.1.L2,explicit,p. 4,,ann",
    "Paper 2,humbatova,5.1.L2,evaluation,Table 2,,ben",
)


@pytest.fixture
def coded(reading: Reading) -> Reading:
    reading.papers(1, 2, 3)
    return reading


def take(reading: Reading, *lines: str, codes: bool = True) -> Taken:
    path = reading.study.directory / "coding.csv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return take_places(reading.study, path, "sheet", with_codes=codes)


def codes(reading: Reading) -> list[tuple[Any, ...]]:
    return reading.rows(
        "SELECT artifact_id, code, support, place, quote, rater, round FROM paper_codes "
        "ORDER BY ALL"
    )


def test_a_finished_coding_is_one_command(coded: Reading) -> None:
    taken = take(coded, *CODED)
    assert (taken.new, taken.wrong) == (4, [])
    assert codes(coded) == [
        (doi(1), "1.1.L2", "theme", "III", "shapes, mostly", "ann", "paper-faults"),
        (doi(1), "T2.2.1", "explicit", "IV-B", "we locate the layer", "ann", "paper-techniques"),
        (doi(2), "1.1.L2", "explicit", "p. 4", None, "ann", "paper-faults"),
        (doi(2), "5.1.L2", "evaluation", "Table 2", None, "ben", "paper-faults"),
    ]
    again = take(coded, *CODED)
    assert (again.new, again.changed, again.known) == (0, 0, 4)
    assert len(coded.rows("SELECT 1 FROM runs WHERE command = 'annotation places'")) == 1


def test_what_a_sheet_says_otherwise_supersedes_and_nothing_is_lost(coded: Reading) -> None:
    take(coded, *CODED)
    changed = take(
        coded, HEAD,
        "10.1000/2,humbatova,1.1.L2,group,p. 4,in words,ann",
        "10.1000/2,humbatova,5.1.L2,withdrawn,Table 2,,ben",
    )  # fmt: skip
    assert changed.changed == 2
    assert changed.dropped == (f"{doi(2)} humbatova 5.1.L2",)
    assert "1 code no more final" in " ".join(changed.words())
    assert [row for row in codes(coded) if row[0] == doi(2)] == [
        (doi(2), "1.1.L2", "group", "p. 4", "in words", "ann", "paper-faults")
    ]
    with coded.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM store.code_place") == 6


def test_rows_that_are_wrong_are_listed_and_the_others_stored(
    coded: Reading, command: Command, tmp_path: Path
) -> None:
    with coded.study.writing() as writer:
        put_paper(writer, 4, title="Paper 3")
    lines = [
        CODED[0], CODED[1],
        "10.1000/99,humbatova,1.1.L2,explicit,IV,,ann",
        "Paper 3,humbatova,1.1.L2,explicit,IV,,ann",
        "No such title,humbatova,1.1.L2,explicit,IV,,ann",
        "10.1000/1,humbatov,1.1.L2,explicit,IV,,ann",
        "10.1000/1,humbatova,Z9,explicit,IV,,ann",
        "10.1000/1,humbatova,1.1.L2,certain,IV,,ann",
        "10.1000/1,humbatova,1.1.L2,explicit,,,ann",
        f"10.1000/1,humbatova,1.1.L2,explicit,IV,{'x' * (LONGEST_QUOTE + 1)},ann",
    ]  # fmt: skip
    (tmp_path / "bad.csv").write_text("\n".join(lines), encoding="utf-8")
    ended = command("annotation", "places", "bad.csv", "--codes", "--json")
    assert ended.returncode == 1
    problems = {row["row"]: row["problem"] for row in json.loads(ended.stdout)["problems"]}
    assert list(problems) == [*range(3, 11)]
    for row, said in {
        3: "is no paper of the study", 4: "may be doi:10.1000/3 or doi:10.1000/4",
        5: "neither DOI, id nor title", 6: "there is no taxonomy", 7: "'Z9' is no code of",
        8: "'certain' is no support", 9: "no place is named", 10: "the quote has 1,001 characters",
    }.items():  # fmt: skip
        assert said in problems[row]
    assert "bad.csv:3: " in ended.stderr
    assert "8 rows of 9 left out, the others are stored" in ended.stderr
    assert [row[1] for row in codes(coded)] == ["T2.2.1"]


def test_a_number_that_may_be_two_codes_is_refused(coded: Reading) -> None:
    """What is typed as 1.10 is 1.1 in a workbook."""
    Labelled(coded.study).taxonomy({"1.1": "", "1.10": ""})
    book = Workbook()
    for row in (HEAD.split(","), ("10.1000/1", "tree", 1.1, "explicit", "IV-B", "", "ann")):
        book.worksheets[0].append(row)
    path = coded.study.directory / "coding.xlsx"
    book.save(path)
    taken = take_places(coded.study, path, "sheet", with_codes=True)
    assert taken.new == 0
    assert "which may be 1.1 or 1.10" in taken.wrong[0][1]


def test_places_of_codes_that_a_paper_does_not_have_are_refused(coded: Reading) -> None:
    taken = take(coded, CODED[0], CODED[1], codes=False)
    assert "has no final code T2.2.1 of debugging-techniques" in taken.wrong[0][1]
    with pytest.raises(StudyError, match=r"coding\.csv:2: doi:10\.1000/1 has no final code"):
        taken.refuse_if_partial()
    assert codes(coded) == []


def test_a_quote_is_text(coded: Reading) -> None:
    hostile = "\"=cmd|' /C calc'!A0 \x1b[31m<script>alert(1)</script>\u202e\n next\""
    take(coded, HEAD, f"10.1000/1,humbatova,1.1.L2,explicit,IV,{hostile},ann")
    assert codes(coded)[0][4] == (
        "=cmd|' /C calc'!A0 \ufffd[31m<script>alert(1)</script>\ufffd next"
    )


def test_raters_code_included_papers_with_several_codes(
    coded: Reading, command: Command, tmp_path: Path
) -> None:
    coded.screen("title")
    coded.decide("screening-title", {1: "include", 2: "include", 3: "off-topic"})
    done = code_papers(coded.study, (), BOTH)
    assert [each.rounds[0].round.name for each in done.planned] == [
        "paper-techniques", "paper-faults",
    ]  # fmt: skip
    assert coded.items("paper-faults") == {doi(1), doi(2)}
    assert "annotation export paper-techniques" in done.next
    assert any("raters choose leaves of humbatova" in each for each in done.remarks)
    said = ["item,ann,ben", f"{doi(1)},1.1.L2;5.1.L2,5.1.L2;1.1.L2", f"{doi(2)},1.1.L2,5.1.L2"]
    (tmp_path / "said.csv").write_text("\n".join(said), encoding="utf-8")
    brought = command("annotation", "import", "paper-faults", "said.csv", "--item", "item",
                      "--rater-columns", "ann", "--rater-columns", "ben")  # fmt: skip
    assert brought.returncode == 0, brought.stderr
    assert command("annotation", "adjudicate", "paper-faults", "--settle").returncode == 0
    assert [row[:2] for row in codes(coded)] == [(doi(1), "1.1.L2"), (doi(1), "5.1.L2")]
    (tmp_path / "out.csv").write_text(f"item,final\n{doi(2)},1.1.L2; 5.1.L2\n", encoding="utf-8")
    settled = command("annotation", "adjudicate", "paper-faults", "--from", "out.csv")
    assert settled.returncode == 0, settled.stderr
    assert len(codes(coded)) == 4
    taken = take(coded, *CODED[:1], *CODED[2:], codes=False)
    assert (taken.new, taken.wrong) == (3, [])
    with pytest.raises(StudyError, match="raters label it: its codes come from them"):
        take(coded, *CODED)
    assert code_papers(coded.study, ("humbatova",), BOTH).done == ("humbatova",)


def test_a_paper_that_got_another_id_keeps_decisions_codes_and_places(coded: Reading) -> None:
    coded.screen("title")
    coded.decide("screening-title", {1: "include", 2: "include", 3: "off-topic"})
    take(coded, *CODED)
    with coded.study.writing() as writer:  # as mining does when it learns a DOI
        writer.execute(
            "UPDATE store.paper SET artifact_id = ? WHERE artifact_id = ?", [doi(7), doi(2)]
        )
        writer.execute(
            "UPDATE store.paper_record SET artifact_id = ? WHERE artifact_id = ?", [doi(7), doi(2)]
        )
        writer.execute("INSERT INTO store.alias VALUES (?, ?, 'paper', 'r', '')", [doi(2), doi(7)])
    assert coded.screened()[doi(7)] == ("included", "title", None)
    assert [row[:3] for row in codes(coded) if row[0] == doi(7)] == [
        (doi(7), "1.1.L2", "explicit"), (doi(7), "5.1.L2", "evaluation"),
    ]  # fmt: skip
    again = take(coded, *CODED)
    assert (again.new, again.changed, again.known, again.wrong) == (0, 0, 4, [])
    assert coded.screen("title").planned is None


def test_a_forgotten_paper_takes_its_places_along(
    coded: Reading, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "compact", lambda _study: None)
    coded.screen("title")
    coded.decide("screening-title", {1: "include", 2: "include", 3: "include"})
    take(coded, *CODED)
    gone = command("miner", "forget", doi(2))
    assert gone.returncode == 0, gone.stderr
    with coded.study.reading() as reader:
        kept = reader.rows("SELECT DISTINCT artifact_id FROM store.code_place")
        assert kept == [{"artifact_id": doi(1)}]
        for table in ("code_place", "item", "settlement"):
            left = reader.value(
                f"SELECT count(*) FROM store.{table} WHERE artifact_id = ?", [doi(2)]
            )
            assert left == 0, table


def test_two_copies_of_a_study_are_merged(tmp_path: Path, command: Command) -> None:
    ours = Reading(Study(tmp_path / "ours"))
    ours.papers(1, 2)
    ours.screen("title")
    ours.decide("screening-title", {1: "include", 2: "include"})
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    theirs = Reading(Study(tmp_path / "theirs"))
    take(theirs, *CODED)
    theirs.screen("abstract")
    done = command("miner", "merge", "theirs", "--study", "ours", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert (rows["code_place"], rows["screening"]) == (4, 1)
    places = "SELECT * EXCLUDE run_id FROM store.code_place ORDER BY ALL"
    assert ours.rows(places) == theirs.rows(places)
    ours.papers(1, 2)  # merging makes papers anew, of responses that this study has none of
    take(ours, HEAD, CODED[1].replace("explicit", "theme"))
    take(theirs, HEAD, CODED[1].replace("explicit", "group"))
    refused = command("miner", "merge", "theirs", "--study", "ours")
    assert "different words for debugging-techniques T2.2.1 of doi:10.1000/1" in refused.stderr
