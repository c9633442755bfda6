"""`miner posts` from the API: questions, answers and comments, once and then what changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from fake_time import FakeTime
from loopback.stackexchange import KEY, StackExchange
from loopback.stackexchange_payloads import START, generated
from posting import Posting

from faultatlas.data.people import pseudonym, study_key

Start = Callable[..., Posting]


def tagged(at: Posting, *tags: str) -> set[int]:
    return {each.number for each in at.world.questions if {*tags} & {*each.tags}}


def test_a_question_is_stored_as_the_site_means_it(posting: Start) -> None:
    at = posting()
    at.world.find(30).changes |= {"closed_date": START, "last_edit_date": START + 5}
    at.fetch("--tag", "tensorflow")
    (row,) = at.rows(
        "SELECT artifact_id, site, title, tags, score, view_count, answer_count, "
        "accepted_answer_id, license, created_at, edited_at, closed_at, updated_at, url, gone_at "
        "FROM posts WHERE post_id = 30"
    )
    start = datetime(2017, 7, 14, 2, 40)  # noqa: DTZ001  (UTC)
    assert row == (
        "stackoverflow:30",
        "stackoverflow.com",
        'Why is loss "nan" in <model> 30 & how?',
        ["tensorflow", "keras"],
        0,
        90,
        2,
        3000,
        "CC BY-SA 4.0",
        start.replace(hour=4),
        start.replace(second=5),
        start,
        start.replace(hour=5, minute=10),
        "https://stackoverflow.com/questions/30",
        None,
    )
    bodies = at.column("SELECT body FROM artifacts WHERE artifact_id = 'stackoverflow:30'")
    assert bodies == ["<p>Question 30: <code>model.fit(x)</code></p>\n"]


def test_answers_and_comments_are_there_and_the_accepted_one_is_known(posting: Start) -> None:
    at = posting()
    found = at.fetch("--tag", "tensorflow")
    replies = at.rows(
        "SELECT comment_id, is_answer, is_accepted, score FROM comments "
        "WHERE artifact_id = 'stackoverflow:30' ORDER BY ALL"
    )
    assert replies == [
        ("stackoverflow:a/3000", True, True, 0),
        ("stackoverflow:a/3001", True, False, 1),
        ("stackoverflow:comment/10030000", False, False, 0),
        ("stackoverflow:comment/10030010", False, False, 0),
        ("stackoverflow:comment/300", False, False, 0),
    ]
    assert found["stored"]["answers"] == sum(
        len(each.answerers) for each in at.world.questions if "tensorflow" in each.tags
    )
    aliases = at.column("SELECT artifact_id FROM artifact_aliases WHERE alias LIKE '%/3001'")
    assert aliases == ["stackoverflow:30"]


def test_people_are_pseudonyms_of_their_accounts(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow", "--tag", "keras")
    key = study_key(at.study)

    def who(login: str) -> str:
        return pseudonym(key, "stackoverflow.com", login)

    authors = dict(at.rows("SELECT post_id, author FROM posts"))
    assert authors[10] == who("11")
    assert authors[50] == who("user4711")  # the account is gone, the name is all there is
    assert {*authors.values()} == {who("11"), who("user4711")}
    answerers = {*at.column("SELECT author FROM comments WHERE is_answer")}
    assert answerers == {who("12"), who("14"), who("user4711")}


def test_several_tags_mean_any_of_them_and_a_post_in_two_lists_is_one_row(posting: Start) -> None:
    at = posting()
    found = at.fetch("--tag", "tensorflow", "--tag", "keras")
    assert at.numbers() == tagged(at, "tensorflow", "keras")
    assert found["rows"]["posts_new"] == found["stored"]["posts"] == len(at.numbers())
    lists = [request.query["tagged"] for request in at.asked if "tagged" in request.query]
    assert lists == ["tensorflow", "keras"]


def test_all_tags_asks_for_questions_that_have_them_all(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow", "--tag", "keras", "--all-tags")
    assert at.numbers() == tagged(at, "tensorflow") & tagged(at, "keras")
    assert [r.query["tagged"] for r in at.asked if "tagged" in r.query] == ["tensorflow;keras"]


def test_accepted_leaves_out_questions_without_an_accepted_answer(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow", "--accepted")
    assert at.numbers() == {
        each.number
        for each in at.world.questions
        if each.accepted is not None and "tensorflow" in each.tags
    }
    assert at.column("SELECT count(*) FROM posts WHERE accepted_answer_id IS NULL") == [0]


def test_a_question_that_loses_its_accepted_answer_is_not_kept_as_it_was(posting: Start) -> None:
    at = posting()
    words = ("--tag", "tensorflow", "--accepted")
    at.fetch(*words)
    before = at.numbers()
    assert 30 in before
    at.world.now = int(at.world.clock())
    at.world.find(30).accepted = None
    at.world.edit(30, title="Nothing helped")
    at.world.edit(10)  # it never had one
    found = at.fetch(*words)
    assert at.rows("SELECT title, accepted_answer_id FROM posts WHERE post_id = 30") == [
        ("Nothing helped", None)
    ]
    assert at.numbers() == before
    assert at.column("SELECT count(*) FROM comments WHERE artifact_id = 'stackoverflow:10'") == [0]
    assert found["rows"]["posts_changed"] == 1
    assert found["stored"]["posts"] == len(before) - 1
    mined = at.mined()
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == mined


def test_since_is_about_the_day_of_asking(posting: Start) -> None:
    at = posting(StackExchange(list(generated(60))))
    at.world.edit(10)  # asked before, active after
    at.fetch("--tag", "python", "--since", "2017-07-15")
    day = 1_500_076_800
    expected = {
        each.number for each in at.world.questions if "python" in each.tags and each.created >= day
    }
    assert at.numbers() == expected
    at.world.edit(10)
    at.fetch("--tag", "python", "--since", "2017-07-15")
    assert at.numbers() == expected


def test_without_answers_and_comments_they_are_not_even_asked_for(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow", "--no-answers", "--no-comments")
    assert at.column("SELECT count(*) FROM comments") == [0]
    (fields,) = at.world.filters.values()
    assert not any(name.startswith(("answer.", "comment.")) for name in fields)
    at.fetch("--tag", "tensorflow", "--no-comments")
    assert {*at.column("SELECT is_answer FROM comments")} == {True}


def test_of_people_nothing_is_asked_for_but_who_they_are(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    (fields,) = at.world.filters.values()
    users = {name for name in fields if name.startswith("shallow_user.")}
    assert users == {f"shallow_user.{name}" for name in ("display_name", "user_id", "user_type")}


def test_pages_follow_each_other_by_the_time_of_asking(posting: Start) -> None:
    at = posting(StackExchange(list(generated(25)), page_limit=4))
    found = at.fetch("--tag", "python")
    assert at.numbers() == tagged(at, "python")
    pages = [request.query for request in at.asked if "tagged" in request.query]
    assert {(page["sort"], page["order"], page["pagesize"]) for page in pages} == {
        ("creation", "asc", "100")
    }
    assert {page["page"] for page in pages} == {"1"}
    assert not any("total" in request.target for request in at.asked)
    assert found["requests"] == len(at.asked)


def test_more_questions_of_one_second_than_a_page_holds_are_all_found(posting: Start) -> None:
    world = StackExchange(list(generated(25)), page_limit=4)
    for each in world.questions[5:16]:
        each.created = each.active = world.questions[5].created
    at = posting(world)
    at.fetch("--tag", "python")
    assert at.numbers() == tagged(at, "python")


def test_an_unchanged_tag_costs_one_request(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    before = at.mined()
    found = at.fetch("--tag", "tensorflow")
    assert len(at.asked) == 1
    assert at.asked[0].query["sort"] == "activity"
    assert set(found["rows"].values()) == {0}
    assert at.mined() == before


def test_a_second_run_asks_for_what_changed_only(posting: Start) -> None:
    world = StackExchange(list(generated(30)), page_limit=5)
    at = posting(world)
    at.fetch("--tag", "python")
    world.now = int(world.clock())  # what happens now is after the first walk
    new = world.ask("python")
    world.edit(20, title="Another title")
    world.find(10).answerers = ()
    world.edit(40, score=77)
    world.find(40).answerers = ()
    found = at.fetch("--tag", "python")
    assert len(at.asked) == 1
    assert found["rows"]["posts_new"] == 1
    assert found["rows"]["posts_changed"] == 2
    assert at.column("SELECT title FROM posts WHERE post_id = 20") == ["Another title"]
    assert new in at.numbers()
    # The answers of 40 were deleted: they stay, marked as gone.
    assert {*at.column("SELECT gone_at IS NULL FROM comments WHERE comment_id LIKE '%a/40__'")} == {
        False
    }
    at.fetch("--tag", "python")
    assert len(at.asked) == 1


def test_what_a_server_is_late_with_is_found(posting: Start) -> None:
    at = posting()
    world = at.world
    at.fetch("--tag", "tensorflow")
    world.find(10).active = int(world.clock()) - 300  # before the first walk began
    world.find(10).changes["title"] = "late"
    at.fetch("--tag", "tensorflow")
    world.now = int(world.clock()) - 120
    world.edit(30, title="in time")
    at.fetch("--tag", "tensorflow")
    world.find(40).active = world.now - 3  # a replica was behind
    world.find(40).changes["title"] = "late"
    at.fetch("--tag", "tensorflow")
    titles = dict(at.rows("SELECT post_id, title FROM posts"))
    assert [titles[number] for number in (10, 30, 40)] == ["late", "in time", "late"]


def test_lists_on_which_nothing_happens_are_always_asked_for_from_the_same_time(
    posting: Start,
) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    at.world.now = int(at.world.clock())
    at.world.edit(30)
    at.fetch("--tag", "tensorflow")
    asked = set()
    for number in (None, 30, None, None):
        if number:
            at.world.delete(number)
        at.fetch("--tag", "tensorflow")
        asked |= {request.target for request in at.asked}
        assert len(at.asked) == 1
    assert len(asked) == 1


def test_a_time_to_come_does_not_hide_what_happens_until_then(posting: Start) -> None:
    at = posting()
    at.fetch("--tag", "tensorflow")
    at.world.find(30).active = int(at.world.clock()) + 10**8
    at.fetch("--tag", "tensorflow")
    at.world.now = int(at.world.clock())
    at.world.edit(10, title="Changed now")
    at.fetch("--tag", "tensorflow")
    assert at.column("SELECT title FROM posts WHERE post_id = 10") == ["Changed now"]


def test_what_changes_while_the_first_walk_goes_on_is_found_by_the_next_run(
    posting: Start, fake_time: FakeTime
) -> None:
    world = StackExchange(list(generated(20)), page_limit=5)
    world.now = START + 10**6
    at = posting(world)
    world.left[None] = 3
    assert at.run("--tag", "python").returncode == 1
    world.now = int(world.clock())
    world.edit(10, title="Changed in between")
    world.ask("python")  # what is asked last is later than the change
    fake_time.now += timedelta(hours=1)
    world.left[None] = 300
    at.fetch("--tag", "python")
    at.fetch("--tag", "python")
    assert at.numbers() == tagged(at, "python")
    assert at.column("SELECT title FROM posts WHERE post_id = 10") == ["Changed in between"]


def test_an_answer_that_comes_back_is_no_longer_gone(posting: Start) -> None:
    at = posting()
    at.world.now = int(at.world.clock())
    at.fetch("--tag", "tensorflow")
    for answerers, gone in (((), True), ((12, 14), False)):
        at.world.find(30).answerers = answerers
        at.world.edit(30)
        at.fetch("--tag", "tensorflow")
        assert at.column(
            "SELECT gone_at IS NOT NULL FROM comments WHERE comment_id = 'stackoverflow:a/3001'"
        ) == [gone]


def test_another_site_has_its_own_names(posting: Start) -> None:
    world = StackExchange.small(others={"datascience.stackexchange.com": list(generated(3))})
    at = posting(world)
    at.fetch("--tag", "tensorflow", "--site", "datascience")
    assert at.asked[-1].query["site"] == "datascience.stackexchange.com"
    assert at.column("SELECT artifact_id FROM posts ORDER BY post_id LIMIT 1") == [
        "stackoverflow:datascience.stackexchange.com/10"
    ]
    at.fetch("--tag", "tensorflow")
    assert at.column("SELECT count(DISTINCT author) FROM posts WHERE post_id = 10") == [2]
    assert {*at.column("SELECT project FROM artifacts")} == {
        "stackoverflow.com",
        "datascience.stackexchange.com",
    }


def test_a_rebuild_makes_the_same_tables(posting: Start) -> None:
    at = posting(StackExchange(list(generated(20)), page_limit=5))
    at.fetch("--tag", "tensorflow", "--tag", "keras")
    at.world.now = int(at.world.clock())
    at.world.find(30).answerers = (12,)
    at.world.edit(30, title="new")
    at.fetch("--tag", "tensorflow", "--tag", "keras")
    tables = ("post", "reply")
    before = [at.rows(f"FROM store.{table} ORDER BY ALL") for table in tables]
    assert at.miner("rebuild").returncode == 0
    assert [at.rows(f"FROM store.{table} ORDER BY ALL") for table in tables] == before


def test_a_plan_counts_once_for_each_tag_and_stores_nothing(posting: Start) -> None:
    at = posting(StackExchange(list(generated(30))))
    ended = at.run("--tag", "tensorflow", "--tag", "keras", "--plan", "--json")
    planned = json.loads(ended.stdout)
    assert planned["questions"] == {"tensorflow": 20, "keras": 20}
    assert planned["requests"] == 3
    assert [request.query["filter"] for request in at.asked] == ["total", "total"]
    assert not at.study.exists()
    for key, quota in ((None, "300 a day without a key"), (KEY, "10,000 a day with a key")):
        ended = at.run("--tag", "keras", "--plan", key=key)
        assert quota in " ".join(ended.stdout.split())


def test_a_key_from_a_file_is_used(posting: Start, tmp_path: Path) -> None:
    at = posting()
    (tmp_path / "key").write_text(f"{KEY}\n")
    (tmp_path / "key").chmod(0o600)
    found = at.fetch("--tag", "keras", "--token-file", tmp_path / "key")
    assert found["quota"] == {"limit": 10_000, "left": 9_998}
    assert {request.query["key"] for request in at.asked} == {KEY}


def test_the_result_is_shown(posting: Start) -> None:
    at = posting()
    ended = at.run("--tag", "tensorflow")
    assert ended.returncode == 0
    assert "stackoverflow.com: tensorflow" in ended.stdout
    assert "298 of 300 left today" in " ".join(ended.stdout.split())
    assert "STACKEXCHANGE_KEY" in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no tag is named"),
        (("--tag", "a;b"), "is no tag"),
        (("--tag", "keras", "--site", "no such"), "is no site"),
        (("--tag", "keras", "--since", "soon"), "is not a time"),
        (("--tag", "keras", "--api-url", "ftp://x"), "no web address"),
        (("--from-sede", "a.csv", "--from-dump", "b.xml"), "three places"),
        (("--from-sede", "a.csv", "--tag", "keras"), "does not go with --from-sede"),
        (("--from-sede", "a.csv", "--plan"), "a file needs none"),
        (("--from-sede", "none.csv"), "cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    posting: Start, words: tuple[str, ...], said: str
) -> None:
    at = posting()
    ended = at.run(*words)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert at.asked == []
    assert not at.study.exists()
