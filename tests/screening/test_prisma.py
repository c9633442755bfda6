"""The flow of papers: it adds up, whatever was screened, and every number leads to its rows."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_papers import Command, Reading, put_record

from faultatlas.analysis.screening.fates import Fates, Records
from faultatlas.analysis.screening.flow import boxes_of
from faultatlas.analysis.studies import prisma
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Box, Exit, Figure, Result
from faultatlas.data.study import Study, Writer
from faultatlas.report import figures, flows


def add_up(boxes: tuple[Box, ...]) -> bool:
    return all(
        box.count - sum(each.count for each in box.exits) == following.count
        for box, following in pairwise(boxes)
    )


def parts_add_up(boxes: tuple[Box, ...]) -> bool:
    made = [(box.count, box.parts) for box in boxes]
    made += [(each.count, each.parts) for box in boxes for each in box.exits]
    return all(not parts or sum(part.count for part in parts) == n for n, parts in made)


def behind(study: Study, result: Result) -> dict[str, tuple[float | None, int]]:
    """Each claim's number, and how many rows its query gives."""
    with study.reading() as reader:
        return {
            claim.claim_id: (claim.value, len(reader.rows(claim.rows_query or "")))
            for claim in result.claims
        }


def test_the_diagram_of_a_small_study(reading: Reading, command: Command) -> None:
    reading.papers(*range(1, 9))
    with reading.study.writing() as writer:
        put_record(writer, "scopus", "2-s2.0-1", 1, "doi")
        put_record(writer, "o'brien.bib", "Smith", 2, "title")
    assert command("miner", "filter", "late", "--where", "year > 2002").returncode == 0
    reading.screen("title")
    reading.decide("screening-title", {3: "include", 4: "include", 5: "off-topic", 6: "include"})
    reading.screen("full text")
    reading.decide("screening-full-text", {3: "include", 4: "no-technique"})
    reading.papers(9)
    result = prisma.run(reading.study)
    (figure,) = result.figures
    shown = [
        (box.label, box.count, [(each.label, each.count) for each in box.exits])
        for box in figure.boxes
    ]
    assert shown == [
        ("Records identified", 11, [("Duplicates removed", 2)]),
        ("Papers", 9, [("Removed by the funnel", 2), ("Mined after the funnel ran", 1)]),
        ("Papers screened by title", 6, [("Excluded", 1), ("Not decided yet", 2)]),
        ("Papers screened by full text", 3, [("Excluded", 1), ("Not decided yet", 1)]),
        ("Papers included", 1, []),
    ]
    assert add_up(figure.boxes)
    assert parts_add_up(figure.boxes)
    assert "not about debugging machine learning 1" in figure.description.lower()
    assert result.summary[-1] == "4 papers open: the numbers are not final."
    found = behind(reading.study, result)
    assert all(value == rows for value, rows in found.values()), found
    assert {"prisma.records.openalex", "prisma.screening.title.excluded.off-topic",
            "prisma.duplicates", "prisma.included"} <= found.keys()  # fmt: skip
    again = prisma.again(reading.study, result.parameters)
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == again


COUNTS = st.dictionaries(
    st.one_of(
        st.tuples(
            st.just("excluded"), st.integers(1, 3), st.sampled_from(["off-topic", "duplicate"])
        ),
        st.tuples(st.sampled_from(["undecided", "waiting"]), st.integers(1, 3), st.none()),
        st.tuples(st.just("removed"), st.none(), st.sampled_from(["late", "venues"])),
        st.tuples(st.sampled_from(["gone", "late", "included"]), st.none(), st.none()),
    ),
    st.integers(1, 50),
    min_size=1,
)


@given(counts=COUNTS, twice=st.integers(0, 30), bare=st.integers(0, 1))
def test_in_is_out_and_left_at_every_box(
    counts: dict[tuple[str, int | None, str | None], int], twice: int, bare: int
) -> None:
    papers = sum(counts.values())
    records = Records({"a": papers - bare + twice}, {"doi": twice}, papers - bare, bare)
    steps = ((1, "title"), (2, "abstract"), (3, "full text"))
    boxes = boxes_of(Fates(records, Counter(counts), steps, (), 0, {}))
    assert add_up(boxes)
    assert parts_add_up(boxes)
    assert boxes[-1].count == counts.get(("included", None, None), 0)


CODES = ("include", "off-topic", "~unclear", "")  # the last: not decided


def test_every_paper_has_one_fate_and_the_view_agrees(reading: Reading) -> None:
    """All that three steps can say of a paper, also of one that is not in each of them."""
    cases = [(said, there) for said in product(CODES, CODES, CODES) for there in range(8)]
    with reading.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.paper SELECT 'doi:10.1000/' || n, 'P', 2020, 'V', '10.1000/' || n, "
            "[], NULL, NULL, NULL, 1, n, 'r', now(), '' FROM range(?) numbers(n)",
            [len(cases)],
        )
        for at, step in enumerate(("title", "abstract", "full text")):
            codes = [said[at] if there >> at & 1 else None for said, there in cases]
            put_step(writer, step, at + 1, codes)
    result = prisma.run(reading.study)
    boxes = result.figures[0].boxes
    assert add_up(boxes)
    assert parts_add_up(boxes)
    found = behind(reading.study, result)
    assert all(value == rows for value, rows in found.values()), found
    decided = dict(reading.rows("SELECT screening_decision, count(*) FROM papers GROUP BY ALL"))
    assert boxes[-1].count == decided["included"]
    assert decided["excluded"] == sum(
        each.count for box in boxes for each in box.exits if each.label == "Excluded"
    )


def put_step(writer: Writer, step: str, position: int, codes: list[str | None]) -> None:
    """A round with what became final of each paper: '' is open, None is not in the round."""
    writer.execute(
        "INSERT INTO store.round (round, origin, taxonomy, taxonomy_version, choice, suggestions, "
        "created_at, run_id) VALUES (?, 'designed', 'paper-screening', '1', 'single', false, "
        "now(), 'r')",
        [step],
    )
    writer.execute("INSERT INTO store.screening VALUES ($1, $1, $2, 'r')", [step, position])
    writer.execute(
        "INSERT INTO store.item SELECT $1, 'doi:10.1000/' || n, 'doi:10.1000/' || n, n, '', NULL, "
        "'r' FROM range(len($2::VARCHAR[])) numbers(n) WHERE $2[n + 1] IS NOT NULL",
        [step, codes],
    )
    writer.execute(
        "INSERT INTO store.settlement SELECT $1 || n, $1, 'doi:10.1000/' || n, "
        "'doi:10.1000/' || n, 'paper-screening', '1', [$2[n + 1]], 'single', '', NULL, NULL, "
        "NULL, NULL, 'r', false FROM range(len($2::VARCHAR[])) numbers(n) WHERE $2[n + 1] <> ''",
        [step, codes],
    )


def test_a_study_without_papers_is_told_so(reading: Reading) -> None:
    with pytest.raises(StudyError, match="the study has no papers"):
        prisma.run(reading.study)


def test_papers_that_nobody_screened_are_to_be_screened(reading: Reading) -> None:
    reading.papers(1, 2)
    result = prisma.run(reading.study)
    assert result.figures[0].boxes[-1] == Box("Screening", "Papers to be screened", 2)
    assert "annotation screen title" in result.notes[0]


def test_the_command_writes_the_diagram(reading: Reading, command: Command, tmp_path: Path) -> None:
    reading.papers(1, 2)
    reading.screen("title")
    reading.decide("screening-title", {1: "include", 2: "poster"})
    ended = command("analysis", "prisma")
    assert ended.returncode == 0, ended.stderr
    assert "Papers screened by title" in ended.stdout
    said = " ".join(ended.stdout.split())
    assert "Screened by title. No full text was screened: included is what screening by" in said
    assert "Papers included by title" in said
    assert (tmp_path / "out" / "prisma" / "report.html").exists()


def test_a_long_name_is_cut_visibly_and_keeps_its_count() -> None:
    box = Box("", "Papers", 5, (), (Exit("WORDS IN CAPITALS " * 4, 5),))
    drawing = figures.draw(Figure("flow", "Flow", "flow", "", boxes=(box,)), 240.0)
    lines = [text.get_text() for text in drawing.axes[0].texts][1:]
    assert len(lines) == flows.MOST_LINES
    assert lines[-2].endswith("…")
    assert lines[-1].endswith("(n = 5)")


def test_a_flow_fits_a_column_and_hostile_names_are_drawn_as_text(reading: Reading) -> None:
    hostile = "$\\frac{1}{2}$ <script> " + "unbreakable" * 12
    reading.papers(1)
    with reading.study.writing() as writer:
        put_record(writer, hostile, "x", 1, "doi")
    (figure,) = prisma.run(reading.study).figures
    for wide in (240.0, 504.0):
        drawing = figures.draw(figure, wide)
        assert round(drawing.get_figwidth() * 72) == wide
        drawing.canvas.draw()
        (axes,) = drawing.axes
        ends = [text.get_window_extent().x1 for text in axes.texts]
        assert max(ends) <= drawing.bbox.x1
