"""`miner posts --from-sede`: a CSV file of the Data Explorer, with whatever columns it has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from posting import Posting

from faultatlas.data.people import pseudonym, study_key
from faultatlas.data.study import Study
from faultatlas.miner import archive
from faultatlas.miner.posts import sede
from faultatlas.miner.posts.ingest import PostIngest

Start = Callable[..., Posting]

FULL = (
    "\ufeff"
    '"Id","PostTypeId","ParentId","AcceptedAnswerId","CreationDate","Score","ViewCount","Body",'
    '"OwnerUserId","OwnerDisplayName","LastEditDate","LastActivityDate","Title","Tags",'
    '"AnswerCount","ClosedDate","ContentLicense","Post Link","Bounty"\r\n'
    '"47267612","1","","47267700","2017-11-13 15:09:44","-3","81","<p>Say ""hi""</p>\n'
    '<pre>a, b</pre>\n","42","","","2017-11-14 01:02:03","Why <b> & how?",'
    '"<tensorflow><keras>","1","","CC BY-SA 3.0","47267612","50"\r\n'
    '"47267700","2","47267612","","2017-11-13T16:00:00.123","5","","<p>So.</p>","","user9",'
    '"","2017-11-13 16:00:00","","","","","CC BY-SA 3.0","47267700",""\r\n'
    '"7","4","","","2017-11-13 15:09:44","0","","wiki","1","","","","","","","","","",""\r\n'
)


def put(at: Posting, text: str, name: str = "query.csv") -> Path:
    file = at.study.parent / name
    file.write_bytes(text.encode())
    return file


def test_questions_and_answers_come_as_the_site_means_them(posting: Start) -> None:
    at = posting()
    found = at.fetch("--from-sede", put(at, FULL))
    (row,) = at.rows("FROM posts")
    key = study_key(at.study)
    assert row[:15] == (
        "stackoverflow:47267612",
        "stackoverflow.com",
        47267612,
        "Why <b> & how?",
        ["tensorflow", "keras"],
        -3,
        81,
        1,
        47267700,
        pseudonym(key, "stackoverflow.com", "42"),
        "CC BY-SA 3.0",
        datetime(2017, 11, 13, 15, 9, 44),  # noqa: DTZ001  (UTC)
        None,
        None,
        datetime(2017, 11, 14, 1, 2, 3),  # noqa: DTZ001  (UTC)
    )
    assert at.column("SELECT body FROM artifacts") == ['<p>Say "hi"</p>\n<pre>a, b</pre>\n']
    (answer,) = at.rows(
        "SELECT comment_id, artifact_id, is_answer, is_accepted, author, created_at FROM comments"
    )
    assert answer == (
        "stackoverflow:a/47267700",
        "stackoverflow:47267612",
        True,
        True,
        pseudonym(key, "stackoverflow.com", "user9"),
        datetime(2017, 11, 13, 16, 0),  # noqa: DTZ001  (UTC)
    )
    assert (found["file"]["questions"], found["file"]["answers"], found["file"]["others"]) == (
        1,
        1,
        1,
    )


def test_both_ways_to_write_tags_are_understood(posting: Start) -> None:
    at = posting()
    at.fetch("--from-sede", put(at, "Id,Tags\n1,|c++|c#|\n2,<.net><python-3.x>\n3,\n"))
    assert at.rows("SELECT post_id, tags FROM posts ORDER BY 1") == [
        (1, ["c++", "c#"]),
        (2, [".net", "python-3.x"]),
        (3, []),
    ]


def test_ids_alone_are_enough_also_as_links(posting: Start) -> None:
    at = posting()
    at.fetch("--from-sede", put(at, "Post Link\n5\n6\n"), "--site", "datascience")
    assert at.column("SELECT artifact_id FROM posts ORDER BY 1") == [
        "stackoverflow:datascience.stackexchange.com/5",
        "stackoverflow:datascience.stackexchange.com/6",
    ]


def test_what_a_file_does_not_say_stays_as_the_api_said_it(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    before = at.mined()
    at.fetch("--from-sede", put(at, "Id,Score\n30,\n10,\n"))
    assert at.mined() == before
    at.fetch("--from-sede", put(at, "Id,Score,Title\n30,555,Old title\n", "old.csv"))
    assert at.mined() == before  # it does not say of when it is


def test_a_newer_file_changes_what_it_says_and_nothing_else(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    (before,) = at.rows("SELECT title, view_count, body FROM store.post WHERE post_id = 30")
    text = "Id,Score,LastActivityDate\n30,555,2030-01-01 00:00:00\n"
    found = at.fetch("--from-sede", put(at, text))
    assert found["rows"]["posts_changed"] == 1
    assert at.rows("SELECT score, title, view_count, body FROM store.post WHERE post_id = 30") == [
        (555, *before)
    ]


def test_the_api_fills_what_a_file_left_open(posting: Start) -> None:
    at = posting()
    at.fetch("--from-sede", put(at, "Id,Title\n30,Only a title\n40,\n"))
    at.fetch("--tag", "tensorflow")
    assert at.column("SELECT count(*) FROM store.post WHERE body IS NULL") == [0]
    assert len(at.numbers()) == len(at.column("SELECT post_id FROM posts"))


def test_a_file_comes_in_parts_and_is_read_once(
    posting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sede, "PART_ROWS", 4)
    at = posting()
    file = put(at, "Id,Title\n" + "".join(f"{n},Title {n}\n" for n in range(1, 11)))
    at.fetch("--from-sede", file)
    assert at.column("SELECT count(*) FROM store.response") == [3]
    again = at.fetch("--from-sede", file)
    assert again["file"]["was_known"]
    assert at.column("SELECT count(*) FROM store.response") == [3]
    before = at.rows("FROM store.post ORDER BY ALL")
    assert at.miner("rebuild").returncode == 0
    assert at.rows("FROM store.post ORDER BY ALL") == before


def test_a_file_that_was_left_in_the_middle_is_read_on(
    posting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sede, "PART_ROWS", 3)
    at = posting()
    file = put(at, "Id\n" + "".join(f"{n}\n" for n in range(1, 11)))
    keep = PostIngest.keep

    def keep_and_stop(self: PostIngest, *arguments: object) -> None:
        keep(self, *arguments)  # type: ignore[arg-type]
        if self.pages == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PostIngest, "keep", keep_and_stop)
        assert at.run("--from-sede", file).returncode != 0
    assert len(at.numbers()) == 6
    at.fetch("--from-sede", file)
    assert at.numbers() == {*range(1, 11)}
    assert at.column("SELECT count(*) FROM store.response") == [4]


def test_a_file_as_long_as_the_data_explorer_gives_is_told_to_be_cut(
    posting: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sede, "MOST_ROWS", 5)
    at = posting()
    for rows, is_told in ((4, False), (5, True), (6, False)):
        file = put(at, "Id\n" + "".join(f"{n}\n" for n in range(1, rows + 1)), f"{rows}.csv")
        ended = at.run("--from-sede", file)
        assert ended.returncode == 0
        assert ("there may be more" in ended.stderr) == is_told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no column Id"),
        ("Title,Score\na,1\n", "has no column Id; its first line is: Title, Score"),
        ("Id,PostId,Text,UserId\n1,2,a,3\n", "of the table Comments"),
        ("Id\n", "holds no question and no answer"),
        ("Id,PostTypeId\n1,5\n", "holds no question and no answer"),
        ('Id,Body\n1,"' + "x" * 11_000_000 + '"\n', "is no CSV"),
    ],
    ids=["empty", "no id", "comments", "no rows", "wikis", "a huge cell"],
)
def test_a_file_that_is_none_of_it_is_told(posting: Start, text: str, said: str) -> None:
    at = posting()
    ended = at.run("--from-sede", put(at, text))
    assert ended.returncode == 1
    assert said in " ".join(ended.stderr.split())
    assert not at.study.exists() or at.numbers() == set()


def test_a_file_in_another_encoding_is_told(posting: Start) -> None:
    at = posting()
    file = at.study.parent / "latin.csv"
    file.write_bytes("Id,Title\n1,Zoë\n".encode("latin-1"))
    ended = at.run("--from-sede", file)
    assert ended.returncode == 1
    assert "is not UTF-8" in ended.stderr


def test_cells_that_are_no_numbers_and_no_times_say_nothing(posting: Start) -> None:
    at = posting()
    text = "Id,Score,CreationDate,OwnerUserId\n1,many,yesterday,nobody\n-4,1,,\nx,1,,\n2,9e9,,7\n"
    found = at.fetch("--from-sede", put(at, text))
    assert found["file"]["others"] == 2
    assert at.rows("SELECT post_id, score, created_at FROM posts ORDER BY 1") == [
        (1, None, None),
        (2, None, None),
    ]


def test_an_empty_cell_of_a_newer_row_says_that_there_is_nothing(posting: Start) -> None:
    at = posting()
    head = "Id,Title,AcceptedAnswerId,Tags,ClosedDate,LastActivityDate\n"
    put(at, head + "1,Title,5,|keras|,2020-01-01 00:00:00,2021-01-01 00:00:00\n", "first.csv")
    at.fetch("--from-sede", at.study.parent / "first.csv")
    newer = "Id,AcceptedAnswerId,Tags,ClosedDate,LastActivityDate\n1,,,,2022-01-01 00:00:00\n"
    at.fetch("--from-sede", put(at, newer))
    what = "SELECT title, accepted_answer_id, tags, closed_at FROM store.post"
    assert at.rows(what) == [("Title", None, [], None)]
    older = head + "1,Older,6,,,2020-06-01 00:00:00\n"
    at.fetch("--from-sede", put(at, older, "older.csv"))
    assert at.column("SELECT title FROM store.post") == ["Title"]
    undated = "Id,Title\n1,\n"
    at.fetch("--from-sede", put(at, undated, "undated.csv"))
    assert at.column("SELECT title FROM store.post") == ["Title"]


def test_a_user_link_is_the_owner_and_other_columns_are_not_stored(posting: Start) -> None:
    at = posting()
    text = "Id,User Link,DisplayName\n1,42,Secret Name\n2,Other Secret,x\n"
    at.fetch("--from-sede", put(at, text))
    key = study_key(at.study)
    assert at.column("SELECT author FROM posts ORDER BY post_id") == [
        pseudonym(key, "stackoverflow.com", "42"),
        None,
    ]
    with Study(at.study).reading() as reader:
        (stored,) = [exchange.body for _number, exchange in archive.replay(reader)]
    assert stored == b"Id,User Link\r\n1,42\r\n2,\r\n"
