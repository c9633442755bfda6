"""Which records are one paper, what is kept of each, and that labels stay with their paper."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback.index import Paper
from loopback.openalex import KEY, OpenAlex
from papering import Papering

from faultatlas.data.identity import title_key
from faultatlas.data.old.records import PaperRecordRow
from faultatlas.miner.papers.entries import Entry, doi_of, record_rows, title_of
from faultatlas.miner.papers.grouping import Record, grouped, is_preprint
from faultatlas.miner.papers.merging import best_first, id_of, paper_of

Start = Callable[..., Papering]
TITLE = "Repairing Networks that Nobody Understands"


def record(row: PaperRecordRow) -> Record:
    return {name: getattr(row, name) for name in PaperRecordRow.__slots__}


def records(*entries: Entry, source: str = "a.bib") -> list[Record]:
    return [record(row) for row in record_rows(entries, source)]


def sizes(*entries: Entry) -> list[int]:
    numbered = [Entry(**{**each.__dict__, "key": str(at)}) for at, each in enumerate(entries)]
    return sorted(len(group) for group in grouped(records(*numbered)))


def test_one_doi_is_one_paper_whatever_its_title() -> None:
    assert sizes(
        Entry("", TITLE, 2020, doi="10.1000/a"), Entry("", "Short", 2014, doi="10.1000/a")
    ) == [2]


def test_a_file_that_has_a_paper_twice_has_two_records_of_it() -> None:
    twice = records(Entry("", TITLE, 2020), Entry("", TITLE, 2020))
    assert len({each["record_id"] for each in twice}) == 2
    assert len(grouped(twice)) == 1


def test_one_title_is_one_paper_where_the_years_are_near() -> None:
    spelled = "REPAIRING networks, that nobody under-stands"
    assert sizes(Entry("", TITLE, 2020), Entry("", spelled, 2021)) == [2]
    assert sizes(Entry("", TITLE, 2020), Entry("", TITLE, 2022)) == [1, 1]
    assert sizes(Entry("", TITLE, 2020), Entry("", TITLE)) == [2]
    assert sizes(Entry("", TITLE, 2020), Entry("", TITLE, 2021, doi="10.1000/a")) == [2]


def test_two_dois_are_two_papers_and_a_record_without_one_joins_the_nearer() -> None:
    one, other = Entry("", TITLE, 2019, doi="10.1000/a"), Entry("", TITLE, 2021, doi="10.1000/b")
    assert sizes(one, other) == [1, 1]
    (_single, pair) = sorted(grouped(records(one, other, Entry("x", TITLE, 2021))), key=len)
    assert {each["doi"] for each in pair} == {"10.1000/b", None}


def test_a_preprint_is_a_record_of_the_one_paper_that_was_published() -> None:
    preprint = Entry("p", TITLE, 2019, doi="10.48550/arxiv.1901.00001", abstract="Words.")
    published = Entry("q", TITLE, 2021, doi="10.1000/b", venue="ICSE")
    (group,) = grouped(records(preprint, published))
    ordered = best_first(group)
    assert id_of(ordered, (), ()) == "doi:10.1000/b"
    paper = paper_of("doi:10.1000/b", ordered)
    assert (paper.year, paper.venue, paper.abstract) == (2021, "ICSE", "Words.")
    # Which of two it became, nobody knows; and a much later one is another paper.
    assert sizes(preprint, published, Entry("", TITLE, 2020, doi="10.1000/c")) == [1, 1, 1]
    assert sizes(preprint, Entry("", TITLE, 2024, doi="10.1000/d")) == [1, 1]


def test_short_titles_say_little() -> None:
    assert sizes(Entry("", "Editorial", 2020), Entry("", "Editorial", 2021)) == [1, 1]
    assert sizes(Entry("", "Editorial", 2020), Entry("", "Editorial", 2020, doi="10.1000/a")) == [
        1,
        1,
    ]


def test_short_titles_of_one_year_are_one_paper_where_the_author_is() -> None:
    def by(*names: str) -> Entry:
        return Entry("", "Editorial", 2020, authors=names)

    assert sizes(by("Doe, Jane"), by("Doe J.A."), by("Jane Doe", "Bo Li"), by("Roe, Al")) == [1, 3]
    assert sizes(by("Doe, Jane"), by()) == [1, 1]
    # A sign of these scripts is a word: such a title is not short.
    other = Entry("", "深層学習のバグ修正", 2020, doi="10.1000/a")
    assert sizes(Entry("", "深層学習のバグ修正", 2021), other) == [2]


@pytest.mark.parametrize(
    ("doi", "is_it"),
    [
        ("10.48550/arxiv.2101.00001", True),
        ("10.1101/123456", True),  # bioRxiv before 2019
        ("10.1101/gr.123456.120", False),  # Genome Research
        ("10.212034/x", False),  # begins as Research Square's does
    ],
)
def test_which_dois_are_those_of_preprints(doi: str, is_it: bool) -> None:  # noqa: FBT001  (a parameter)
    assert is_preprint(doi) is is_it


@pytest.mark.parametrize(
    "said",
    [
        "10.1145/ABC.1", "https://doi.org/10.1145/abc.1.", "doi.org/10.1145/abc.1",
        "DOI: 10.1145/abc.1",
        "https://dl.acm.org/doi/abs/10.1145/abc.1?x=1", "10.1145%2Fabc.1", "{10.1145/abc.1}",
    ],
)  # fmt: skip
def test_however_a_doi_is_written(said: str) -> None:
    assert doi_of(said) == "10.1145/abc.1"


def test_titles_are_one_whatever_marks_they_have() -> None:
    forms = ("C &amp;amp; <italic>D</italic> Nets", "C &amp; <i>D</i> nets", "C & D Nets.")
    assert len({title_key(title_of(form)) for form in forms}) == 1


@given(
    st.lists(
        st.builds(
            Entry,
            key=st.sampled_from("abcdef"),
            title=st.sampled_from([TITLE, "Another Title that Is Long Enough", "Editorial"]),
            year=st.sampled_from([None, 2019, 2020, 2021, 2023]),
            doi=st.sampled_from([None, None, "10.1000/a", "10.1000/b", "10.48550/arxiv.1"]),
        ),
        max_size=9,
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=100)
def test_the_order_of_records_changes_nothing(entries: list[Entry], chance: random.Random) -> None:
    unique = {each["record_id"]: each for each in records(*entries)}
    shuffled = list(unique.values())
    chance.shuffle(shuffled)

    def papers(given: list[Record]) -> list[object]:
        groups = [best_first(group) for group in grouped(given)]
        return [paper_of(id_of(group, (), ()), group) for group in groups]

    found = papers(shuffled)
    assert found == papers(list(unique.values()))
    for group in grouped(shuffled):
        published = {each["doi"] for each in group} - {None, "10.48550/arxiv.1"}
        assert len(published) <= 1  # two papers with DOIs are never one


BARE = "@misc{k, title = {Repairing networks that nobody understands}, year = 2020}"
FULL = BARE.replace("}\n", "}").replace("year = 2020", "year = 2021, doi = {10.5555/full}")


def put(at: Papering, folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    at.fetch("--from", folder / name)


def test_records_of_files_and_indexes_meet_and_fill_each_other(
    papering: Start, tmp_path: Path
) -> None:
    world = OpenAlex([Paper(1, TITLE, 2021, "ICSE", "10.5555/full", abstract="From the index.")])
    at = papering(world)
    put(at, tmp_path, "bare.bib", BARE)
    found = at.fetch("networks", key=KEY)
    assert found["rows"] == {"records_new": 1, "papers_new": 0, "papers_changed": 1}
    assert at.rows("SELECT artifact_id, title, venue, abstract, record_count FROM papers") == [
        ("doi:10.5555/full", TITLE, "ICSE", "From the index.", 2)
    ]
    assert at.rows("SELECT source, matched_by FROM paper_records ORDER BY source") == [
        ("bare.bib", None), ("openalex", "title"),
    ]  # fmt: skip
    ((alias, target, kind),) = at.rows("SELECT alias, artifact_id, kind FROM artifact_aliases")
    assert (alias[:6], target, kind) == ("paper:", "doi:10.5555/full", "paper")


def test_the_order_of_files_changes_nothing_but_who_was_first(
    papering: Start, tmp_path: Path
) -> None:
    one, other = papering(study="one"), papering(study="other")
    files = [("bare.bib", BARE), ("full.bib", FULL)]
    for at, order in ((one, files), (other, files[::-1])):
        for name, text in order:
            put(at, tmp_path, name, text)
    without = "run_id, fetched_at, response_id, row_hash"
    assert one.mined(without)["paper"] == other.mined(without)["paper"]


def test_a_paper_that_was_drawn_keeps_its_id_when_its_doi_becomes_known(
    papering: Start, tmp_path: Path
) -> None:
    at = papering()
    put(at, tmp_path, "bare.bib", BARE)
    (name,) = at.column("SELECT artifact_id FROM papers")
    drawn = at.command("annotation", "sample", "all", "--size", 1, "--where", "kind = 'paper'",
                       "--study", at.study)  # fmt: skip
    assert drawn.returncode == 0, drawn.stderr
    put(at, tmp_path, "full.bib", FULL)
    assert at.rows("SELECT artifact_id, doi FROM papers") == [(name, "10.5555/full")]
    assert at.rows("SELECT alias, artifact_id FROM artifact_aliases") == [
        ("doi:10.5555/full", name)
    ]
    assert at.column("SELECT count(*) FROM samples JOIN papers USING (artifact_id)") == [1]
    before = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before
