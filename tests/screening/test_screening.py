"""Screening in steps: who comes to a step, who waits, what the view of papers says of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from reading_papers import BOTH, Command, Reading, doi

from faultatlas.analysis.studies import prisma
from faultatlas.annotation.screening.paper_rounds import Wanted
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study


def test_papers_go_from_step_to_step_and_undecided_ones_wait(reading: Reading) -> None:
    reading.papers(1, 2, 3, 4)
    assert reading.screen("title").planned is not None
    assert reading.items("screening-title") == {doi(1), doi(2), doi(3), doi(4)}
    reading.decide("screening-title", {1: "include", 2: "off-topic", 3: "include"})
    second = reading.screen("full-text")
    assert second.waiting == (doi(4),)
    assert reading.items("screening-full-text") == {doi(1), doi(3)}
    reading.decide("screening-full-text", {1: "include", 3: "no-technique"})
    assert reading.screened() == {
        doi(1): ("included", "full text", None),
        doi(2): ("excluded", "title", "off-topic"),
        doi(3): ("excluded", "full text", "no-technique"),
        doi(4): (None, None, None),
    }
    reading.decide("screening-title", {4: "include"})
    third = reading.screen("full-text")
    assert reading.items("screening-full-text-2") == {doi(4)}
    assert third.waiting == ()
    assert reading.screened()[doi(4)] == (None, "title", None)


def test_new_papers_get_a_further_round_of_the_same_step(reading: Reading) -> None:
    reading.papers(1, 2)
    reading.screen("title")
    assert reading.screen("title").planned is None  # nothing came
    reading.papers(3)
    reading.screen("title")
    assert reading.items("screening-title-2") == {doi(3)}
    assert reading.rows("SELECT round, step, position FROM screenings ORDER BY round") == [
        ("screening-title", "title", 1),
        ("screening-title-2", "title", 1),
    ]
    reading.decide("screening-title", {1: "include", 2: "off-topic"})
    reading.decide("screening-title-2", {3: "include"})
    reading.screen("abstract")
    assert reading.items("screening-abstract") == {doi(1), doi(3)}


def test_a_pilot_is_drawn_by_the_seed_and_the_rest_follows(reading: Reading) -> None:
    reading.papers(*range(1, 11))
    first = reading.screen("title", Wanted(("ann", "ben"), size=4, seed=7))
    assert (len(reading.items("screening-title")), first.left) == (4, 6)
    rest = reading.screen("title", Wanted(("ann", "ben"), where="year > 2005"))
    assert reading.items("screening-title") | reading.items("screening-title-2") <= {
        doi(number) for number in range(1, 11)
    }
    assert not reading.items("screening-title") & reading.items("screening-title-2")
    assert rest.left == 6 - len(reading.items("screening-title-2"))


def test_the_funnel_says_which_papers_there_are(reading: Reading, command: Command) -> None:
    reading.papers(1, 2, 3)
    assert command("miner", "filter", "late", "--where", "year > 2001").returncode == 0
    reading.screen("title")
    assert reading.items("screening-title") == {doi(2), doi(3)}
    reading.papers(4)
    again = reading.screen("title")
    assert again.planned is None
    assert any("miner filter --again" in each for each in again.remarks)
    assert command("miner", "filter", "--again").returncode == 0
    reading.screen("title")
    assert reading.items("screening-title-2") == {doi(4)}


def test_disagreement_is_open_until_it_is_adjudicated(reading: Reading, command: Command) -> None:
    reading.papers(1, 2)
    reading.screen("title")
    reading.say("screening-title", {
        1: {"ann": "include", "ben": "include"}, 2: {"ann": "include", "ben": "off-topic"},
    })  # fmt: skip
    with pytest.raises(StudyError, match="no paper is ready for screening by abstract") as refused:
        reading.screen("abstract")
    assert "annotation adjudicate screening-title --settle" in refused.value.hint
    assert "annotation adjudicate screening-title --to FILE" in refused.value.hint
    assert command("annotation", "adjudicate", "screening-title", "--settle").returncode == 0
    assert reading.screen("abstract").waiting == (doi(2),)
    said = command("annotation", "status")
    assert "screening by title: 2 papers, 1 included, 0 excluded, 1 open" in said.stdout


def test_the_status_says_when_new_papers_wait(reading: Reading, command: Command) -> None:
    reading.papers(1)
    reading.screen("title")
    reading.decide("screening-title", {1: "off-topic"})
    reading.papers(2)
    assert "next: annotation screen title --rater R" in command("annotation", "status").stdout
    reading.screen("title")
    reading.decide("screening-title-2", {2: "off-topic"})
    assert command("miner", "filter", "late", "--where", "year > 2001").returncode == 0
    assert "annotation screen title" not in command("annotation", "status").stdout
    reading.papers(3)
    assert "next: miner filter --again" in command("annotation", "status").stdout


def test_a_round_of_papers_that_got_other_ids_has_no_strangers(reading: Reading) -> None:
    reading.papers(1)
    reading.screen("title")
    with reading.study.writing() as writer:
        writer.execute("DELETE FROM store.screening")
        writer.execute("UPDATE store.item SET artifact_id = 'paper:old'")
        writer.execute(
            "INSERT INTO store.alias VALUES ('paper:old', ?, 'paper', 'r', '')", [doi(1)]
        )
    found = reading.screen("title", Wanted(), round_name="screening-title")
    assert (found.registered, found.remarks) == ("screening-title", ())


@pytest.mark.parametrize(
    ("first", "second", "decision"),
    [
        ("include", "duplicate", "included"), ("off-topic", "duplicate", "excluded"),
        ("duplicate", "duplicate", "excluded"), ("include", "off-topic", None),
        ("~unclear", "duplicate", None),
    ],
)  # fmt: skip
def test_duplicates_that_are_merged_after_screening(
    reading: Reading, first: str, second: str, decision: str | None
) -> None:
    reading.papers(1, 2)
    reading.screen("title")
    reading.decide("screening-title", {1: first, 2: second})
    with reading.study.writing() as writer:  # as mining does when it learns that both are one
        writer.execute("DELETE FROM store.paper WHERE artifact_id = ?", [doi(2)])
        writer.execute(
            "UPDATE store.paper_record SET artifact_id = $1, matched_by = 'doi' "
            "WHERE artifact_id = $2", [doi(1), doi(2)],
        )  # fmt: skip
        writer.execute("INSERT INTO store.alias VALUES (?, ?, 'paper', 'r', '')", [doi(2), doi(1)])
    assert reading.rows("SELECT decision FROM screening_decisions") == [(decision,)]
    assert [row[0] for row in reading.screened().values()] == [decision]
    boxes = prisma.run(reading.study).figures[0].boxes
    assert [box.count for box in boxes] == [2, 1, 1, int(decision == "included")]


def test_rounds_that_contradict_each_other_leave_a_paper_open(reading: Reading) -> None:
    reading.papers(1, 2)
    reading.screen("title")
    reading.decide("screening-title", {1: "include", 2: "off-topic"})
    with reading.study.writing() as writer:  # as a merged study may have it
        for table in ("round", "item"):
            writer.execute(
                f"INSERT INTO store.{table} SELECT * REPLACE ('other' AS round) FROM store.{table}"
            )
        writer.execute("INSERT INTO store.screening VALUES ('other', 'title', 1, 'r')")
    reading.decide("other", {1: "off-topic", 2: "short-paper"})
    assert reading.screened() == {
        doi(1): (None, None, None), doi(2): ("excluded", "title", "short-paper"),
    }  # fmt: skip


def test_an_inclusion_later_on_outweighs_no_exclusion(reading: Reading) -> None:
    reading.papers(1)
    reading.screen("title")
    reading.decide("screening-title", {1: "include"})
    reading.screen("abstract")
    reading.decide("screening-abstract", {1: "include"})
    reading.decide("screening-title", {1: "duplicate"})  # seen afterwards
    assert reading.screened()[doi(1)] == ("excluded", "title", "duplicate")
    reading.decide("screening-abstract", {1: "short-paper"})
    assert reading.screened()[doi(1)] == ("excluded", "title", "duplicate")
    fate = "SELECT fate, position, reason FROM paper_fates"
    assert reading.rows(fate) == [("excluded", 1, "duplicate")]


def test_what_is_unclear_is_open(reading: Reading) -> None:
    reading.papers(1)
    reading.screen("title")
    reading.decide("screening-title", {1: "~unclear"})
    assert reading.rows("SELECT decision, reason FROM screening_decisions") == [(None, None)]


def test_a_sheet_of_decisions_becomes_a_step(
    reading: Reading, command: Command, tmp_path: Path
) -> None:
    reading.papers(1, 2)
    lines = ["doi,decision", "10.1000/1,Include", "https://doi.org/10.1000/2,survey"]
    (tmp_path / "sheet.csv").write_text("\n".join(lines), encoding="utf-8")
    brought = command("annotation", "import", "sifted", "sheet.csv", "--item", "doi", "--final",
                      "decision", "--taxonomy", "paper-screening")  # fmt: skip
    assert brought.returncode == 0, brought.stderr
    reading.screen("title", Wanted(), round_name="sifted")
    assert reading.screened() == {
        doi(1): ("included", "title", None), doi(2): ("excluded", "title", "secondary-study"),
    }  # fmt: skip
    with pytest.raises(StudyError, match="is part of screening by title"):
        reading.screen("abstract", Wanted(), round_name="sifted")


def test_the_command_plans_and_says_what_is_next(
    reading: Reading, command: Command, tmp_path: Path
) -> None:
    reading.papers(1, 2)
    planned = command("annotation", "screen", "title", "--rater", "ann", "--json")
    document = json.loads(planned.stdout)
    assert document["rounds"][0]["round"] == "screening-title"
    assert document["next"].startswith("annotation push screening-title, or annotation export")
    assert (
        command("annotation", "export", "screening-title", "ann.csv", "--rater", "ann").returncode
        == 0
    )
    with (tmp_path / "ann.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["codes"] = "include" if row["item"] == doi(1) else "poster"
    with (tmp_path / "ann.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert command("annotation", "import", "screening-title", "ann.csv").returncode == 0
    settled = command("annotation", "adjudicate", "screening-title", "--settle", "--single")
    assert settled.returncode == 0, settled.stderr
    assert reading.screened()[doi(2)] == ("excluded", "title", "short-paper")
    assert "next: annotation screen abstract --rater R" in command("annotation", "status").stdout


def test_a_sheet_has_the_abstract_where_it_is_judged(
    reading: Reading, command: Command, tmp_path: Path
) -> None:
    reading.papers(1)
    for step in ("title", "abstract"):
        reading.screen(step, Wanted(("ann",)))
        file = f"{step}.csv"
        assert (
            command("annotation", "export", f"screening-{step}", file, "--rater", "ann").returncode
            == 0
        )
        sheet = (tmp_path / file).read_text(encoding="utf-8-sig")
        assert ("An abstract." in sheet) == (step == "abstract")
        filled = sheet.replace(",ann,independent,,", ",ann,independent,include,")
        (tmp_path / file).write_text(filled, encoding="utf-8")
        brought = command("annotation", "import", f"screening-{step}", file)
        assert brought.returncode == 0, brought.stderr
        reading.decide(f"screening-{step}", {1: "include"})
    assert len(reading.rows("SELECT 1 FROM labels WHERE code = 'include'")) == 2


def test_mistakes_are_told(reading: Reading) -> None:
    with pytest.raises(StudyError, match="there are no papers to screen"):
        reading.screen("title")
    reading.papers(1)
    for step, wanted, said in (
        ("body", BOTH, "there is no step 'body'"),
        ("title", Wanted(), "nobody is named who screens"),
        ("title", Wanted(("ann",), where="yeer > 1"), "does not work"),
        ("title", Wanted(("ann",), where="random() > 0"), "cannot be repeated"),
    ):
        with pytest.raises(StudyError, match=said.replace("(", r"\(")):
            reading.screen(step, wanted)
    assert reading.rows("SELECT * FROM screenings") == []
    assert reading.rows("SELECT * FROM samples") == []


def test_nothing_is_made_without_a_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="there is no study"):
        Reading(Study(tmp_path / "none")).screen("title")
    assert not (tmp_path / "none").exists()
