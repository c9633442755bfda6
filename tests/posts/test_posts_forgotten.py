"""`miner forget` for questions, answers and people of a site, however they came."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from forgetful import held, strings
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import START, Question
from posting import Posting
from settled import put_final

from faultatlas.data.study import Study

Start = Callable[..., Posting]

ADA, GRACE, ZOE = 11, 12, 14
WORDS = "AdaWroteThisAndNobodyElse"
LINK = "https://stackoverflow.com/users/11/ada-l"


def site() -> StackExchange:
    """Ada (11) asked 10, answered and commented on Grace's 20; others link to her page."""
    asked = Question(10, START, START, ("keras",), ADA, (GRACE,), 0)
    asked.changes = {"body": f"<p>{WORDS}</p>", "title": f"{WORDS}?"}
    other = Question(20, START + 60, START + 60, ("keras",), GRACE, (ADA, ZOE), 1)
    other.changes = {
        "body": f'<p>See <a href="{LINK}">her</a>, stackoverflow:10 and '
        f"https://stackoverflow.com/questions/10/{WORDS}</p>",
        "last_editor": {"user_id": ADA, "display_name": "Ada L.", "user_type": "registered"},
    }
    other.answer_changes[0] = {"body": f"<p>{WORDS}</p>"}
    return StackExchange([asked, other])


DUMP = f"""\ufeff<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="10" PostTypeId="1" AcceptedAnswerId="1000" CreationDate="2017-07-14T02:40:00.000" \
Score="1" Body="&lt;p&gt;{WORDS}&lt;/p&gt;" OwnerUserId="11" Title="{WORDS}?" Tags="|keras|" \
LastActivityDate="2017-07-14T02:40:00.000" />
  <row Id="20" PostTypeId="1" CreationDate="2017-07-14T02:41:00.000" Score="1" \
Body="&lt;a href=&quot;{LINK}&quot;&gt;her&lt;/a&gt;" OwnerUserId="12" LastEditorUserId="11" \
LastEditorDisplayName="Ada L." Title="Other" Tags="|keras|" \
LastActivityDate="2017-07-14T02:41:00.000" />
  <row Id="1000" PostTypeId="2" ParentId="10" CreationDate="2017-07-14T02:50:00.000" Score="1" \
Body="about {WORDS}" OwnerUserId="12" LastActivityDate="2017-07-14T02:50:00.000" />
  <row Id="2000" PostTypeId="2" ParentId="20" CreationDate="2017-07-14T02:50:00.000" Score="1" \
Body="{WORDS}" OwnerUserId="11" LastActivityDate="2017-07-14T02:50:00.000" />
  <row Id="2001" PostTypeId="2" ParentId="20" CreationDate="2017-07-14T02:50:00.000" Score="1" \
Body="stays" OwnerUserId="14" LastActivityDate="2017-07-14T02:50:00.000" />
</posts>
"""
COMMENTS = f"""\ufeff<?xml version="1.0" encoding="utf-8"?>
<comments>
  <row Id="1" PostId="1000" Score="0" Text="{WORDS}, on her question" \
CreationDate="2017-07-14T02:55:00.000" UserId="14" />
  <row Id="2" PostId="20" Score="0" Text="{WORDS}" CreationDate="2017-07-14T02:55:00.000" \
UserId="11" />
  <row Id="3" PostId="2001" Score="0" Text="a comment that stays" \
CreationDate="2017-07-14T02:55:00.000" UserId="12" />
</comments>
"""
SEDE = f"""Id,PostTypeId,ParentId,Title,Body,OwnerUserId,LastEditorUserId,LastEditorDisplayName
10,1,,{WORDS},"a
{WORDS}",11,,
20,1,,Other,see {LINK},12,11,Ada L.
1000,2,10,,{WORDS},12,,
2000,2,20,,{WORDS},11,,
2001,2,20,,stays,14,,
"""


def bring(at: Posting, way: str) -> CompletedProcess[str]:
    folder = at.study.parent
    if way == "api":
        return at.run("--tag", "keras")
    if way == "sede":
        (folder / "query.csv").write_text(SEDE)
        return at.run("--from-sede", folder / "query.csv")
    (folder / "dump").mkdir(exist_ok=True)
    (folder / "dump" / "Posts.xml").write_text(DUMP)
    (folder / "dump" / "Comments.xml").write_text(COMMENTS)
    return at.run("--tag", "keras", "--from-dump", folder / "dump" / "Posts.xml")


def everything(at: Posting) -> str:
    return strings(Study(at.study))


each_way = pytest.mark.parametrize("way", ["api", "dump", "sede"])


@each_way
def test_a_question_goes_with_all_that_belongs_to_it(posting: Start, way: str) -> None:
    at = posting(site())
    assert bring(at, way).returncode == 0
    assert at.numbers() == {10, 20}
    ended = at.miner("forget", "https://stackoverflow.com/questions/10/some-title", "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["artifacts"] == ["stackoverflow:10"]
    assert at.numbers() == {20}
    assert at.column("SELECT count(*) FROM comments WHERE artifact_id = 'stackoverflow:10'") == [0]
    assert at.column("SELECT kind FROM artifacts WHERE gone_reason = 'forgotten'") == [None]
    said = everything(at)
    assert "about" not in said
    assert f"questions/10/{WORDS}" not in said
    # What she wrote elsewhere stays: the question was to be forgotten, not she.
    assert at.column("SELECT count(*) FROM comments WHERE comment_id = 'stackoverflow:a/2000'") == [
        1
    ]


@each_way
def test_a_person_goes_with_everything_that_they_wrote_for_good(posting: Start, way: str) -> None:
    at = posting(site(), as_usual=way == "api")
    assert bring(at, way).returncode == 0
    assert WORDS in everything(at)
    gone = json.loads(at.miner("forget", LINK, "--json").stdout)
    assert gone["artifacts"] == ["stackoverflow:10"]
    assert at.numbers() == {20}
    assert {*at.column("SELECT comment_id FROM comments WHERE is_answer")} == {
        "stackoverflow:a/2001"
    }
    said = everything(at)
    for word in (WORDS, "users/11", "ada-l", "Ada L."):
        assert word not in said, word
        assert way != "api" or word.encode() not in held(at.study), word
    if way == "dump":
        assert at.column("SELECT body FROM comments WHERE NOT is_answer") == [
            "a comment that stays"
        ]
    # It does not come back, neither from the source nor from the stored responses.
    before = at.mined()
    with Study(at.study).writing() as writer:  # as if it had never been read
        writer.execute("DELETE FROM store.checkpoint")
        writer.execute("DELETE FROM store.dump_read")
    assert bring(at, way).returncode == 0
    assert at.mined() == before
    assert WORDS not in everything(at)
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before


def test_a_plan_removes_nothing(posting: Start) -> None:
    at = posting(site())
    bring(at, "api")
    before = everything(at)
    planned = json.loads(at.miner("forget", "stackoverflow:users/11", "--plan", "--json").stdout)
    assert everything(at) == before
    gone = json.loads(at.miner("forget", "stackoverflow:users/11", "--json").stdout)
    assert gone["removed"] == planned["removed"]
    assert gone["removed"]["post"] == 1


def test_an_answer_can_be_forgotten_alone(posting: Start) -> None:
    at = posting(site())
    bring(at, "api")
    assert at.miner("forget", "https://stackoverflow.com/a/2000").returncode == 0
    assert at.numbers() == {10, 20}
    assert at.column("SELECT comment_id FROM comments WHERE comment_id LIKE '%a/20__'") == [
        "stackoverflow:a/2001"
    ]
    assert at.column("SELECT count(*) FROM comments WHERE comment_id LIKE '%comment/1002000_'") == [
        0
    ]


def test_a_named_question_is_not_asked_for_again(posting: Start, tmp_path: Path) -> None:
    at = posting(site())
    file = tmp_path / "named.csv"
    file.write_text("stackoverflow:10\nstackoverflow:20\nstackoverflow:999\n")
    words = ("fetch", "--from", file, "--api-url", at.api_url, "--verify")
    at.miner(*words)
    at.miner("forget", "stackoverflow:10")
    said = everything(at)
    assert "10;20" not in said
    assert at.numbers() == {20}
    at.miner(*words)
    assert [request.path for request in at.asked] == ["/2.3/questions/20;999"]
    assert at.rows("SELECT artifact_id, gone_reason FROM artifacts ORDER BY 1") == [
        ("stackoverflow:10", "forgotten"),
        ("stackoverflow:20", None),
        ("stackoverflow:999", "not found"),
    ]


def test_the_number_of_an_account_is_no_word_elsewhere(posting: Start) -> None:
    at = posting(site())
    bring(at, "api")
    with Study(at.study).writing() as writer:
        put_final(writer, "stackoverflow:20", "11")
    assert at.miner("forget", LINK).returncode == 0
    assert at.column("SELECT code FROM final_labels") == ["11"]


def test_nobody_of_that_number_is_told(posting: Start) -> None:
    at = posting(site())
    bring(at, "api")
    ended = at.miner("forget", "https://stackoverflow.com/users/4242/nobody")
    assert ended.returncode == 1
    assert "is in this study" in ended.stderr


ODD_EDITOR = """<posts>
  <row Id="20" PostTypeId="1" Title="keeps LastEditorUserId='12' in words" OwnerUserId="12" \
Tags="|keras|" Body="stackoverflow.com/users/11/adabare //stackoverflow.com/users/11/adaslashes \
www.stackoverflow.com/users/11/adawww stackoverflow.com/users/12/grace \
nostackoverflow.com/users/11/elsewhere"
\tLastEditorUserId='11' LastEditorDisplayName = 'AdaEditor' />
</posts>
"""


def test_a_person_goes_however_the_file_names_them(posting: Start) -> None:
    at = posting(site())
    file = at.study.parent / "Posts.xml"
    file.write_text(ODD_EDITOR)
    assert at.run("--from-dump", file).returncode == 0
    query = at.study.parent / "query.csv"
    query.write_text("Id,Title,User Link,Display Name\n30,AdaAsks,11,AdaShown\n31,stays,12,Grace\n")
    assert at.run("--from-sede", query).returncode == 0
    assert at.miner("forget", LINK).returncode == 0
    said = everything(at)
    for word in ("adabare", "adaslashes", "adawww", "AdaEditor", "AdaAsks", "AdaShown"):
        assert word not in said, word
    for word in ("users/12/grace", "nostackoverflow.com/users/", "keeps LastEditorUserId='12' in"):
        assert word in said, word
    assert at.numbers() == {20, 31}


@each_way
def test_comments_go_with_the_answer_of_a_forgotten_person(posting: Start, way: str) -> None:
    at = posting(site())
    if way == "sede":
        pytest.skip("it brings no comments")
    assert bring(at, way).returncode == 0
    assert at.miner("forget", "https://stackoverflow.com/users/14/zoe").returncode == 0
    assert at.column("SELECT count(*) FROM store.reply WHERE post_id = 2001") == [0]
    said = everything(at)
    assert "a comment that stays" not in said
    assert '"2001"' not in said
    before = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before


def test_comments_go_with_a_forgotten_answer_of_a_dump(posting: Start) -> None:
    at = posting(site())
    assert bring(at, "dump").returncode == 0
    assert at.miner("forget", "https://stackoverflow.com/a/2001").returncode == 0
    assert at.column("SELECT count(*) FROM store.reply WHERE post_id = 2001") == [0]
    assert at.column("SELECT count(*) FROM store.reply WHERE post_id IN (20, 2000)") == [2]
    assert "a comment that stays" not in everything(at)


def test_comments_on_a_forgotten_persons_answer_do_not_come_from_another_study(
    posting: Start,
) -> None:
    at = posting(site(), as_usual=True)
    other = replace(at, study=at.study.with_name("other"))
    assert bring(at, "dump").returncode == 0
    assert bring(other, "dump").returncode == 0
    assert at.miner("forget", "https://stackoverflow.com/users/14/zoe").returncode == 0
    assert at.miner("merge", other.study).returncode == 0
    assert at.column("SELECT count(*) FROM store.reply WHERE post_id = 2001") == [0]
    assert "a comment that stays" not in everything(at)
