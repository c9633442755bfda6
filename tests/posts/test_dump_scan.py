"""Rows of a dump that are picked without parsing the others, against lxml, which parses all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from data_dumps import SITE, answer, attribute, comment, document, question, row, small_dump
from dumping import by_lxml, scanned, tags_by_lxml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.miner.posts import dump_numbers, dump_scan
from faultatlas.miner.posts.dump_pick import Answers, Comments, Picker, Questions
from faultatlas.miner.posts.dump_rows import attributes, rows_of_dump, tags_of
from faultatlas.miner.posts.selection import PostSelection

TAGS = ("keras", "c++", ".net", "c#", "java", "javascript", "keras-layer", "Keras", "a&b", "é")
# XML allows no control characters, and no surrogates.
texts = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t\r|<>&\"'"), max_size=60
)
tag_lists = st.lists(st.sampled_from(TAGS), max_size=4)


def nobody(_login: str | None) -> None:
    return None


def questions_with(*tags: str, **options: Any) -> Questions:
    return Questions(PostSelection(site=SITE, tags=tags, **options), nobody)


def ids(path: Path, picker: Picker) -> list[int]:
    return [found.post_id for part in scanned(path, picker) for found in part.found]


@st.composite
def rows(draw: st.DrawFn) -> str:
    number = draw(st.integers(1, 10**12))
    body = draw(st.one_of(texts, st.just('<p Tags="|keras|">'), st.just('" Tags="|keras|"')))
    match draw(st.integers(0, 5)):
        case 0 | 1 | 2:
            names = draw(tag_lists)
            style = draw(st.sampled_from(("|{}|", "<{}>")))
            tags = style.format(("><" if style[0] == "<" else "|").join(names)) if names else None
            said = question(
                number, tags or "", body, AcceptedAnswerId=draw(st.sampled_from((None, 7)))
            )
            said = said if tags else said.replace(' Tags=""', "")
        case 3:
            said = answer(number, draw(st.integers(1, 30)), body)
        case 4:
            said = row(Id=number, PostTypeId=draw(st.integers(3, 8)), Body=body, Tags="|keras|")
        case _:  # as another program may write it
            kind = draw(st.sampled_from(("1", "2")))
            said = (
                f'<row\tTags="{attribute("|keras|")}"\n PostTypeId="{kind}" ParentId="3" '
                f'Body="{attribute(body)}" Id="{number}"></row>'
            )
    return draw(st.sampled_from((said, said.replace(" Score", "\r\n    Score"))))


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(rows(), max_size=12),
    st.sampled_from(("\n", "\r\n", " ", "")),
    st.sampled_from(("\ufeff", "")),
    st.integers(60, 900),
    st.sets(st.sampled_from(TAGS), max_size=3),
    st.booleans(),
)
def test_what_is_picked_is_what_lxml_finds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: Iterable[str],
    newline: str,
    mark: str,
    block: int,
    tags: set[str],
    accepted: bool,  # noqa: FBT001
) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(document(made, newline=newline, mark=mark))
    monkeypatch.setattr(dump_scan, "BLOCK", block)
    wanted = {tag.lower() for tag in tags}

    def is_meant(element: Any) -> bool:
        return (
            element.get("PostTypeId") == "1"
            and (not wanted or not wanted.isdisjoint(tags_by_lxml(element)))
            and (not accepted or "AcceptedAnswerId" in element.attrib)
        )

    parts = scanned(path, questions_with(*tags, accepted=accepted))
    found = [attributes(raw) for part in parts for raw in part.raw]
    assert found == list(by_lxml(path, is_meant))
    assert [each.post_id for part in parts for each in part.found] == [
        int(each["Id"]) for each in found
    ]
    assert parts[-1].is_complete
    assert parts[-1].digest == blake3(path.read_bytes()).hexdigest()

    answers = Answers(SITE, nobody, {3, 4, 5})
    said = [attributes(raw) for part in scanned(path, answers) for raw in part.raw]
    assert said == list(
        by_lxml(path, lambda e: e.get("PostTypeId") == "2" and int(e.get("ParentId")) in {3, 4, 5})
    )
    everything = questions_with()
    seen = sum(map(bool, (by_lxml(path, lambda _element: True))))
    scanned(path, everything)
    assert (everything.tally.rows, answers.tally.rows) == (seen, seen)


@pytest.mark.parametrize("name", ["Posts_new_tags.xml", "Posts_old_tags.xml"])
@pytest.mark.parametrize("block", [700, 1 << 19])
def test_real_dumps_against_lxml(
    study_fixtures: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_fixtures / "stackexchange" / name
    monkeypatch.setattr(dump_scan, "BLOCK", block)
    tags = ("scope", "discussion", "simulation")
    expected = list(
        by_lxml(
            path,
            lambda e: e.get("PostTypeId") == "1" and not tags_by_lxml(e).isdisjoint(tags),
        )
    )
    parts = scanned(path, questions_with(*tags))
    assert len(expected) > 5
    assert [attributes(raw) for part in parts for raw in part.raw] == expected
    numbers = {int(each["Id"]) for each in expected}
    answers = scanned(path, Answers(SITE, nobody, numbers))
    assert [attributes(raw) for part in answers for raw in part.raw] == list(
        by_lxml(path, lambda e: e.get("ParentId") and int(e.get("ParentId")) in numbers)
    )


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("keras", [1, 2]),
        ("KERAS", [1, 2]),
        ("c++", [2, 3]),
        (".net", [4]),
        ("c#", [4]),
        ("c", []),
        ("java", [5]),
        ("net", []),
    ],
)
def test_tags_are_whole_words_in_both_spellings(
    tmp_path: Path, asked: str, found: list[int]
) -> None:
    path = tmp_path / "Posts.xml"
    spelled = [
        "|keras|keras-layer|",
        "<keras><c++>",
        "|c++|",
        "<.net><c#>",
        "|java|",
        "|javascript|",
    ]
    path.write_bytes(document(question(number, tags) for number, tags in enumerate(spelled, 1)))
    assert ids(path, questions_with(asked)) == found


def test_all_tags_and_the_day_of_asking(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(
        document(
            [
                question(1, "|keras|python|", CreationDate="2019-12-31T23:59:59.999"),
                question(2, "|keras|python|", CreationDate="2020-01-01T00:00:00.000"),
                question(3, "|python|", CreationDate="2021-01-01T00:00:00.000"),
            ]
        )
    )
    from datetime import datetime

    since = datetime(2020, 1, 1)  # noqa: DTZ001
    assert ids(path, questions_with("keras", "python", all_tags=True)) == [1, 2]
    assert ids(path, questions_with("keras", "python", since=since)) == [2, 3]


def test_rows_of_a_part_are_what_the_api_would_tell() -> None:
    body = question(
        47, AcceptedAnswerId=48, ClosedDate="2021-01-01T00:00:00.123", Title="a < b & c"
    )
    (post,) = rows_of_dump(body.encode(), "dump questions", SITE, str).posts
    assert (post.artifact_id, post.url) == (
        "stackoverflow:47",
        "https://stackoverflow.com/questions/47",
    )
    assert (post.title, post.body, post.tags) == ("a < b & c", "<p>Why?</p>\n", ("keras",))
    assert [str(each) for each in (post.created_at, post.updated_at, post.closed_at)] == [
        "2020-01-02 03:04:05",
        "2020-02-03 04:05:06",
        "2021-01-01 00:00:00",
    ]
    assert (post.author, post.accepted_answer_id, post.edited_at) == ("7", 48, None)
    (said,) = rows_of_dump(
        answer(48, 47).encode(), "dump answers", "ai.stackexchange.com", str
    ).replies
    assert (said.comment_id, said.artifact_id, said.url) == (
        "stackoverflow:ai.stackexchange.com/a/48",
        "stackoverflow:ai.stackexchange.com/47",
        "https://ai.stackexchange.com/a/48",
    )
    assert (said.author, said.is_answer, said.post_id) == ("Jane", True, 48)
    (note,) = rows_of_dump(comment(5, 48).encode(), "dump comments", SITE, str, {48: 47}).replies
    assert (note.comment_id, note.artifact_id, note.post_id, note.is_answer) == (
        "stackoverflow:comment/5",
        "stackoverflow:47",
        48,
        False,
    )


def test_rows_as_other_programs_write_them(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    long = 12_345_678_901_234
    rows = [
        question(long).replace(" />", "></row>"),
        question(100_001, "|pandas|"),  # 14 digits less 8 characters of the `</row>  ` before it
        question(long + 2, "|pandas|"),
        question(long + 1).replace("|keras|", "&#124;keras&#x7c;"),
        "<row\n\tTags='|keras|'\n\tPostTypeId='1'\n\tId='3'\n/>",
        question(4, "|keras|").replace("Tags=", "OtherTags='x' Tags="),
    ]
    path.write_bytes(document(rows, newline=""))
    picker = questions_with("keras")
    assert ids(path, picker) == [long, long + 1, 3, 4]
    assert (picker.tally.rows, picker.tally.damaged) == (6, 0)


def test_tags_keep_their_order() -> None:
    assert tags_of("<b><a>") == tags_of("|b|a|") == ("b", "a")
    assert tags_of(" <b> <a>\n") == tags_of(" | b |a| ") == ("b", "a")
    assert tags_of("") == tags_of("||") == tags_of("<>") == ()


DAMAGED = {
    "no Id": question(1).replace('Id="1"', 'Nr="1"', 1),
    "Id is no number": question(1).replace('Id="1"', 'Id="x"', 1),
    "a number beyond all numbers": question(1).replace('Id="1"', f'Id="{"9" * 5000}"', 1),
    "an open quote": question(1).replace(' Score="3"', ' Score="3'),
    "an unknown entity": question(1).replace("Loss", "&bomb;"),
    "not UTF-8": question(1).replace("Loss", "\udce4"),
    "a character that XML forbids": question(1).replace("Loss", "&#x1;"),
    "an attribute twice": question(1).replace("Score", "Id"),
    "a day that is none": question(1).replace("2020-01-02T", "2020-02-30T"),
    "a year that is none": question(1).replace("2020-02-03T", "31708-02-03T"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_row_is_named_and_the_others_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "Posts.xml"
    before, after = question(3), question(4)
    text = document([before, DAMAGED[name].replace("\udce4", "%%"), after]).replace(b"%%", b"\xe4")
    path.write_bytes(text)
    picker = questions_with("keras")
    assert ids(path, picker) == [3, 4]
    assert picker.tally.damaged == 1
    assert picker.tally.named[0][0] == text.index(b"<row", text.index(before.encode()) + 5)


def test_numbers_beyond_the_columns_are_missing_values() -> None:
    (post,) = rows_of_dump(
        question(1, Score="-3", ViewCount=2**40).encode(), "dump questions", SITE, str
    ).posts
    assert (post.score, post.view_count) == (-3, None)


def test_any_number_of_damaged_rows_is_counted_and_some_are_named(tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(document(f'<row Nr="{number}" />' for number in range(500)))
    picker = questions_with("keras")
    assert ids(path, picker) == []
    assert (picker.tally.damaged, len(picker.tally.named)) == (500, 20)


def test_a_row_beyond_all_sizes_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dump_scan, "BLOCK", 1000)
    monkeypatch.setattr(dump_scan, "LONGEST_ROW", 8000)
    path = tmp_path / "Posts.xml"
    rows = [question(1), question(2, body="x" * 6000), question(3, body="y" * 20_000), question(4)]
    path.write_bytes(document(rows))
    picker = questions_with("keras")
    assert ids(path, picker) == [1, 2, 4]
    assert picker.tally.damaged == 1


REFUSED = {
    "a document type": b'<?xml version="1.0"?><!DOCTYPE posts [<!ENTITY a "b">]><posts></posts>',
    "a bomb": b"<!DOCTYPE posts [" + b'<!ENTITY a "aaaaaaaa">' * 9000 + b"]><posts><row/></posts>",
    "UTF-16": document(small_dump()).decode("utf-8-sig").encode("utf-16"),
    "UTF-16 without a mark": document(small_dump(), mark="").decode().encode("utf-16-le"),
    "another encoding": document(small_dump(), mark="").replace(b"utf-8", b"iso-8859-1"),
    "users": document([row(Id=1, DisplayName="Jane")], root="users"),
    "a page": b"<!doctype html><html><body>Not found</body></html>",
    "words": b"Not found",
    "nothing": b"",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_dump_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(REFUSED[name])
    with pytest.raises(StudyError, match=r"Posts\.xml (is not|has|cannot)"):
        scanned(path, questions_with("keras"))


def test_comments_on_posts(tmp_path: Path) -> None:
    path = tmp_path / "Comments.xml"
    path.write_bytes(document([comment(1, 47), comment(2, 48), comment(3, 49)], root="comments"))
    found = [
        (each.comment_id, each.artifact_id)
        for part in scanned(path, Comments(SITE, nobody, {47, 48}, {48: 47}))
        for each in part.found
    ]
    assert found == [
        ("stackoverflow:comment/1", "stackoverflow:47"),
        ("stackoverflow:comment/2", "stackoverflow:47"),
    ]


@pytest.mark.parametrize("long", [0, 9000])
def test_a_part_has_no_more_rows_than_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int
) -> None:
    monkeypatch.setattr(dump_scan, "BLOCK", 2000)
    monkeypatch.setattr(dump_scan, "PART_ROWS", 8)
    path = tmp_path / "Posts.xml"
    rows = [question(1, body="x" * long)]
    rows += [row(Id=number, PostTypeId=1, Tags="|keras|") for number in range(2, 200)]
    text = document(rows)
    path.write_bytes(text)
    picker = questions_with("keras")
    parts = scanned(path, picker)
    assert [found.post_id for part in parts for found in part.found] == [*range(1, 200)]
    assert max(len(part.raw) for part in parts) < 2 * 8
    assert picker.tally.rows == 199
    for part in parts:  # each goes on where the one before ended
        assert part.digest == blake3(text[: part.end]).hexdigest()
    path.write_bytes(text[: text.rindex(b"\n")])  # cut, right behind a row
    assert [found.post_id for part in scanned(path, questions_with()) for found in part.found] == [
        *range(1, 200)
    ]


@pytest.mark.parametrize("few", [3, 1000])
def test_numbers_are_found_whether_they_are_few_or_many(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(dump_numbers, "FEW", few)
    for said in ([1, 5, 9, 2**62], [9, 2**62, 5, 1, 5, 9]):
        found = dump_numbers.numbers(iter(said))
        assert [number for number in range(-1, 12) if number in found] == [1, 5, 9]
        assert 2**62 in found
        assert 10**30 not in found
        told = dump_numbers.pairs((number, place) for place, number in enumerate(said))
        assert {**told} == {number: place for place, number in enumerate(said)}
        assert (told.get(7), told.get(9), 7 in told) == (
            None,
            len(said) - 1 - said[::-1].index(9),
            False,
        )


def test_many_numbers_take_little_memory() -> None:
    import tracemalloc

    count = 300_000
    tracemalloc.start()
    try:
        found = dump_numbers.numbers(iter(range(count)))
        told = dump_numbers.pairs((number, 1) for number in range(count))
        used, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count - 1 in found
    assert len(told) == count
    assert used < 40 * count  # a set and a dict take 170
