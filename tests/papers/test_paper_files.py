"""BibTeX, RIS and CSV: what is whole comes in, and the rest is named with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from papering import Papering

from faultatlas.data.errors import StudyError
from faultatlas.miner.papers.entries import FileRead
from faultatlas.miner.papers.files.bibtex import read_bibtex
from faultatlas.miner.papers.files.reading import read_body
from faultatlas.miner.papers.files.ris import read_ris
from faultatlas.miner.papers.files.sheets import read_sheet
from faultatlas.miner.papers.latex import plain

Start = Callable[..., Papering]

BIBTEX = r"""
Words before the first entry are a comment.
@string{icse = "Conf. on Software " # {Engineering}}
@comment{old, @article{gone, title={Not here}}}
@preamble{"\newcommand{\x}{y}"}
@inproceedings{wardat, title = {{D}eep{L}ocalize: {F}aults in $\alpha$-Nets, 50\% \& More},
  author = {M{\"u}ller, J{\'o}zef and {The {ACM} and Friends} and Doe, Jane},
  booktitle = icse # " 2021", year = 2021, doi = {https://doi.org/10.1109/ICSE.2021.1},
  abstract = "A {"}quoted{"} word,
and a second line", }
@article{unclosed, title = {Never closed, year = 2020,
@misc(paren, title = {In parentheses (with some inside)}, year = "2019")
@article{nocomma title = {There is no comma}}
@inproceedings{child, title = {A Paper in a Collection}, crossref = {Proc}}
@article{wardat, title = {Another Paper with the Same Key}, year = 2020}
@proceedings{proc, title = {Proc. of Something}, year = 2018, doi = {10.1000/whole}}
@article{untitled, year = 2020}
@article{unquoted, title = "Never ends, year = 2020}
@article{two, title={First on a Line}} @article{three, title = {Second on the Line}, title={x}}
@article{last, title = {The End Is Missing}, year = 2020
"""


def told(read: FileRead) -> list[tuple[int, str]]:
    return [(each.line, each.key) for each in read.broken]


def test_bibtex_with_broken_entries() -> None:
    read = read_bibtex(BIBTEX)
    assert [(each.key, each.title) for each in read.entries] == [
        ("wardat", "DeepLocalize: Faults in \N{GREEK SMALL LETTER ALPHA}-Nets, 50% & More"),
        ("paren", "In parentheses (with some inside)"),
        ("child", "A Paper in a Collection"),
        ("wardat#2", "Another Paper with the Same Key"),
        ("two", "First on a Line"),
        ("three", "Second on the Line"),
    ]
    first, _paren, child = read.entries[:3]
    assert first.authors == ("Müller, Józef", "The ACM and Friends", "Doe, Jane")
    assert (first.venue, first.year) == ("Conf. on Software Engineering 2021", 2021)
    assert (first.doi, first.line) == ("10.1109/icse.2021.1", 6)
    assert first.abstract == 'A "quoted" word, and a second line'
    # The proceedings give venue and year, not their DOI.
    assert (child.venue, child.year, child.doi) == ("Proc. of Something", 2018, None)
    assert told(read) == [
        (11, "unclosed"), (13, "nocomma"), (17, "untitled"), (18, "unquoted"), (20, "last"),
    ]  # fmt: skip
    assert all(each.reason for each in read.broken)
    assert len(read.notes) == 1
    assert "wardat was used before" in read.notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_every_encoding_and_every_end_of_line(encoding: str, ends: str) -> None:
    text = "@misc{a,\n title = {Über Fehler}\n}\n@misc{b, title = {No end\n@misc{c, title={Drei}}\n"
    read = read_body(text.replace("\n", ends).encode(encoding), "bibtex")
    assert [each.title for each in read.entries] == ["Über Fehler", "Drei"]
    assert told(read) == [(4, "b")]


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\L}ukasz \v{C}apek \o re \ss", "Łukasz Čapek øre ß"),
        (r"``quoted'' -- \emph{so} it~is", "“quoted” \N{EN DASH} so it\xa0is"),
        ("5 % of C# & D", "5 % of C# & D"),
        ("costs $5", "costs $5"),
        ('\\href{http://x}{broken} \\"', "http://xbroken "),
        ("{" * 500 + "deep" + "}" * 500, "deep"),
    ],
)
def test_latex_becomes_text_and_broken_latex_loses_nothing_but_commands(
    latex: str, text: str
) -> None:
    assert plain(latex) == text


@given(
    st.lists(st.sampled_from(["{", "}", '"', "@a{k,", "\n", "=", ",", "t", "#", "\\", "(", ")"]))
)
def test_no_text_breaks_the_reader(parts: list[str]) -> None:
    whole = "@misc{sure, title = {Certainly Here}}\n"
    read = read_bibtex(f"{''.join(parts)}\n{whole}")
    assert "Certainly Here" in [each.title for each in read.entries]


def test_a_hostile_file_takes_no_longer_than_its_length() -> None:
    assert len(read_bibtex("@a{k, t = {\n" * 20_000).broken) == 20_000
    assert read_bibtex('@a{k, t = "{' * 20_000).broken
    assert read_bibtex("@misc{a, abstract={" + "x\n" * 50_000 + "}, title={Long}}").entries


RIS = """TY  - JOUR
ID  - one
TI  - A Title that
goes on
AU  - Okoro, Ada
AU  - Lindqvist, Bo
PY  - 2021/05/01/
JO  - Journal of Odd Bugs
DO  - 10.5555/RIS.1
AB  - An abstract
  in two lines.
UR  - https://example.org/1
ER  -

TY  - CONF
T1  - This one has no end
Y1  - 2020

TY  - CONF
T1  - After it comes another
T2  - Proc. of Bugs
ER  -
TY  - CONF
AU  - Nobody
ER  -
lost words
and more of them
ER  -
TY  - JOUR
AU  - Cut off
"""


def test_ris_with_broken_records() -> None:
    read = read_ris(RIS)
    assert [each.title for each in read.entries] == [
        "A Title that goes on", "This one has no end", "After it comes another",
    ]  # fmt: skip
    first = read.entries[0]
    assert (first.key, first.year, first.venue) == ("one", 2021, "Journal of Odd Bugs")
    assert (first.doi, first.authors) == ("10.5555/ris.1", ("Okoro, Ada", "Lindqvist, Bo"))
    assert (first.abstract, first.publication_type) == ("An abstract in two lines.", "article")
    assert [each.line for each in read.broken] == [23, 26, 28, 29]
    assert read.notes == ["line 15: the record has no end (ER); it is in"]


SCOPUS = (
    '\ufeff"Authors","Author full names","Title","Year","Source title","Cited by","DOI","Link",'
    '"Abstract","Document Type","EID"\r\n'
    '"Okoro A.; Lindqvist B.","x","A Title, with ""quotes""",2021,"ISSTA","7","10.5555/S.1",'
    '"https://www.scopus.com/r?a=1&b=2","First line\r\nsecond line","Conference paper",'
    '"2-s2.0-1"\r\n'
    '"Doe J.","x","Too few cells",2020\r\n'
    '"Doe J.","x","Unclosed,2020,"V","1","","","","Article","2-s2.0-2"\r\n'
    '"[No author name available]","","After the broken ones",2019,"","","","",'
    '"[No abstract available]","Article","2-s2.0-3"\r\n'
)


def test_a_scopus_export_with_broken_rows() -> None:
    read = read_body(SCOPUS.encode("utf-8"), "csv")
    first, last = read.entries
    assert (first.title, first.year, first.doi) == ('A Title, with "quotes"', 2021, "10.5555/s.1")
    assert (first.authors, first.venue) == (("Okoro A.", "Lindqvist B."), "ISSTA")
    assert (first.abstract, first.cited_by) == ("First line second line", 7)
    assert (first.key, first.url) == ("2-s2.0-1", "https://www.scopus.com/r?a=1&b=2")
    assert (last.title, last.authors, last.abstract) == ("After the broken ones", (), None)
    assert [each.line for each in read.broken] == [4, 5]
    assert read.broken[0].reason == "it has 4 cells where the header has 11"


@pytest.mark.parametrize(
    ("rows", "keys", "broken"),
    [
        # It closes in a later row, with too few cells, with all of them, or never.
        ('"A,2020,open,e1\nB,2021,x,e2\nC,2022,"y",e3\nD,2023,z,e4\n', ["e2", "e3", "e4"], [2]),
        ('A,2020,"open,e1\nB,2021,x,e2\nC,2022,y","e3"\nD,2023,z,e4\n', ["e2", "e3", "e4"], [2]),
        ('"A,2020,open,e1\nB,2021,x,e2\n",2022,y,e3\nD,2023,z,e4\n', ["e2", "e4"], [2, 4]),
        # A text of several lines swallows nothing, and is one entry where it is broken.
        ('A,2020,"one\ntwo, three",e1\nB,2021,x,e2\n', ["e1", "e2"], []),
        ('A,2020,"one\na, b, c, d\ntwo",e1\nB,2021,x,e2\n', ["e1", "e2"], []),
        ('A,2020,"one\ntwo, three\nfour"\nB,2021,x,e2\n', ["e2"], [2]),
    ],
)
def test_an_open_quotation_costs_its_own_row_only(
    rows: str, keys: list[str], broken: list[int]
) -> None:
    read = read_sheet(f"Title,Year,Abstract,EID\n{rows}")
    assert [each.key for each in read.entries] == keys
    assert [each.line for each in read.broken] == broken


@pytest.mark.parametrize("before", ["\n\n", "sep=,\n", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_what_stands_before_a_header_and_utf_16_without_a_mark(before: str, encoding: str) -> None:
    body = f"{before}EID,Title\ne1,One\n".encode(encoding)
    assert [(each.key, each.title) for each in read_body(body, "csv").entries] == [("e1", "One")]


def test_what_is_no_year_is_told_and_others_are_no_author() -> None:
    read = read_bibtex("@misc{a, title={It}, year={in press}, author={Doe, J. and others}}")
    assert read.notes == ["line 1: 'in press' is no year; it is in without one"]
    assert read.entries[0].authors == ("Doe, J.",)
    nameless = read_bibtex("@misc{, title={One}}\n@misc{, title={Two}}")
    assert (len(nameless.entries), nameless.notes) == (2, [])


def test_ris_as_programs_differ() -> None:
    read = read_ris("TY  -JOUR\nTI  - \nT1  -Told by the Second Tag\nPY  - soon\nER  -\n")
    assert [each.title for each in read.entries] == ["Told by the Second Tag"]
    assert read.notes == ["line 1: 'soon' is no year; it is in without one"]


def test_any_table_with_a_title_is_read() -> None:
    read = read_sheet("title;Year;DOI\nOne of Them;2020;doi:10.1000/x\n\nAnother;;\n")
    assert [(each.title, each.year, each.doi) for each in read.entries] == [
        ("One of Them", 2020, "10.1000/x"), ("Another", None, None),
    ]  # fmt: skip
    with pytest.raises(StudyError, match="no column Title"):
        read_sheet("name,year\na,2020\n")


def test_a_file_comes_in_as_far_as_it_is_whole_and_the_rest_is_listed(
    papering: Start, tmp_path: Path
) -> None:
    at = papering()
    files: list[Any] = []
    for name, text in (("a.bib", BIBTEX), ("b.ris", RIS), ("c.csv", SCOPUS)):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        files += ["--from", tmp_path / name]
    ended = at.run(*files)
    assert ended.returncode == 1
    assert "a.bib, line 11 (unclosed): a brace is never closed" in ended.stderr
    assert "b.ris, line 23: it has no title" in ended.stderr
    assert "c.csv, line 4 (Doe J.): it has 4 cells where the header has 11" in ended.stderr
    assert "a.bib: 6 whole papers in, 5 broken entries left out" in ended.stderr
    assert at.column("SELECT count(*) FROM papers") == [11]
    assert at.column("SELECT outcome FROM runs") == ["partial"]
    again = at.partly(*files)
    assert again["rows"]["records_new"] == 0
    assert [each["was_known"] for each in again["files"]] == [True, True, True]
    assert sum(len(each["broken"]) for each in again["files"]) == 11
    before = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "x", "ends with none of .bib, .ris and .csv"),
        ("a.bib", "no entry", "holds no whole paper"),
        ("a.bib", "@a{k, title={", "the first on line 1: a brace is never closed"),
        ("a.csv", "", "the file is empty"),
        ("none.bib", None, "cannot be read"),
    ],
)
def test_a_file_that_gives_nothing_is_refused(
    papering: Start, tmp_path: Path, name: str, text: str | None, words: str
) -> None:
    at = papering()
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended = at.run("--from", tmp_path / name)
    assert ended.returncode == 1
    assert words in " ".join(ended.stderr.split())
    assert not (at.study / "study.duckdb").exists()
