"""Tasks: what the study has of an artifact, as a page; and what a page never tells."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from labelling import SMALL, tree_text
from population import Population

from faultatlas.annotation.bridge.page.tasks import (
    REPLIES_LIMIT,
    Said,
    Suggested,
    content_hash,
    task_data,
)
from faultatlas.annotation.bridge.page.texts import (
    FIRST_REPLIES,
    LAST_REPLIES,
    ArtifactText,
    Reply,
    texts_of,
)
from faultatlas.data.taxonomy_library import taxonomy_of_text

TREE = taxonomy_of_text(tree_text(SMALL), "tree")
AT = datetime(2024, 1, 2)  # noqa: DTZ001


def put(people: Population, sql: str, *rows: tuple[object, ...]) -> None:
    with people.study.writing() as writer:
        for row in rows:
            writer.execute(sql, row)


def texts(people: Population, *names: str) -> dict[str, ArtifactText]:
    with people.study.reading() as reader:
        return texts_of(reader, names)


COMMENT = (
    "INSERT INTO store.comment (comment_id, artifact_id, author, author_association, body, "
    "created_at, row_hash, run_id, fetched_at, response_id, gone_at) "
    "VALUES (?, ?, ?, ?, ?, ?, 1, 'r', now(), '', ?)"
)


def test_an_issue_with_its_comments_and_without_a_name(tmp_path: Path) -> None:
    people = Population.at(tmp_path)
    (name,) = people.issues("It **fails**", project="o/r")
    put(people, "UPDATE store.issue SET author = ?, tracker_labels = ['bug']", ("p:ann",))
    put(
        people, COMMENT,
        ("c1", name, "p:ben", "MEMBER", "Which version?", AT, None),
        ("c2", name, "p:ann", "NONE", "2.3", AT, None),
        ("c3", name, "p:cid", "NONE", "Me too", AT, None),
        ("c4", name, "p:ben", "MEMBER", "Fixed", AT, None),
        ("c5", name, "p:eve", "NONE", "taken back", AT, AT),
    )  # fmt: skip

    data = task_data(name, texts(people, name)[name], TREE)

    assert data["title"] == "Number 1"
    assert data["url"] == "https://github.com/o/r/issues/1"
    assert "It <strong>fails</strong>" in data["html"]
    assert "4 comments" in data["html"]
    for words in ("maintainer 1", "author", "other 2"):
        assert f"2024-01-02 · {words} " in data["html"]
    assert data["html"].count("maintainer 1") == 2
    assert "p:" not in data["html"]
    assert "taken back" not in data["html"]
    assert '<span class="fa-tag">bug</span>' in data["html"]


def test_a_commit_with_its_files_and_changes(tmp_path: Path) -> None:
    people = Population.at(tmp_path)
    (name,) = people.commits("Fix <the> loss\n\nLong story")
    put(people, "INSERT INTO store.commit_diff VALUES (?, 'read', false, NULL, 'r')", (name,))
    put(
        people,
        "INSERT INTO store.commit_file (artifact_id, position, path, change, added, deleted, hunks)"
        " VALUES (?, ?, ?, 'modified', ?, ?, 1)",
        (name, 1, "keras/losses.py", 1, 1),
        (name, 2, "logo.png", None, None),
    )
    put(
        people,
        "INSERT INTO store.commit_hunk VALUES (?, 1, 1, 10, 1, 10, 1, 'def f()', ?)",
        (name, "-    return <a>\n+    return b"),
    )

    html = task_data(name, texts(people, name)[name], TREE)["html"]

    assert "Fix &lt;the&gt; loss\n\nLong story" in html
    assert "2 changed files" in html
    assert "keras/losses.py · modified · +1 -1" in html
    assert "logo.png · modified · binary" in html
    assert '<span class="hl-gd">-    return &lt;a&gt;</span>' in html


def test_a_question_with_its_accepted_answer(tmp_path: Path) -> None:
    people = Population.at(tmp_path)
    people.posts(1, tags=["keras"], accepted=1, body="<p>Why <em>nan</em>?</p>")
    put(
        people,
        "INSERT INTO store.reply (comment_id, artifact_id, is_answer, post_id, body, created_at, "
        "row_hash, run_id, fetched_at, response_id) "
        "VALUES (?, 'stackoverflow:1', true, ?, ?, ?, 1, 'r', now(), '')",
        ("stackoverflow:a/1000001", 1000001, "<p>Divide by zero</p>", AT),
    )

    found = texts(people, "stackoverflow:1", "stackoverflow:a/1000001")
    html = task_data("i", found["stackoverflow:1"], TREE)["html"]

    assert "<p>Why <em>nan</em>?</p>" in html
    assert "answer (accepted) by somebody" in html
    assert "1 answer or comment" in html
    # An answer is another name of its question.
    assert found["stackoverflow:a/1000001"].body == found["stackoverflow:1"].body


def test_what_the_study_has_no_text_of_still_has_a_page_with_the_link(tmp_path: Path) -> None:
    people = Population.at(tmp_path)
    people.issues("x")
    put(
        people,
        "INSERT INTO store.forgotten VALUES (?, 'artifact', now(), 'r')",
        ("github:o/r#9",),
    )
    found = texts(people, "github:mindspore/m#7", "github:o/r#9", "sheet row 3")

    pages = {name: task_data(name, text, TREE) for name, text in found.items()}

    assert pages["github:mindspore/m#7"]["url"] == "https://github.com/mindspore/m/issues/7"
    assert 'href="https://github.com/mindspore/m/issues/7"' in pages["github:mindspore/m#7"]["html"]
    assert "no text of it" in pages["github:mindspore/m#7"]["html"]
    assert "forgotten" in pages["github:o/r#9"]["html"]
    assert pages["sheet row 3"]["title"] == "sheet row 3"
    assert pages["sheet row 3"]["url"] == ""


def test_a_long_discussion_is_shown_from_both_ends(tmp_path: Path) -> None:
    people = Population.at(tmp_path)
    (name,) = people.issues("x")
    put(
        people,
        COMMENT.replace("VALUES (?,", "SELECT n::VARCHAR,").replace("(?, ?, ?", "?, ?, ?")
        .replace("?, ?, ?, ?, ?, 1", "?, 'p:x', 'NONE', 'word ' || n, make_timestamp(n), 1")
        .replace("'', ?)", "'', NULL FROM range(100, 300) numbers(n)"),
        (name,),
    )  # fmt: skip

    html = task_data(name, texts(people, name)[name], TREE)["html"]

    assert "200 comments" in html
    assert f"{200 - FIRST_REPLIES - LAST_REPLIES} are left out here" in html
    assert html.count("<details>") == FIRST_REPLIES + LAST_REPLIES
    gap = html.index("are left out here")
    assert html.index("word 129") < gap < html.index("word 280")


def test_comments_of_any_length_leave_a_page_that_a_browser_can_show() -> None:
    long = Reply("other 1", AT, "word " * 12_000, 60_000)
    text = ArtifactText("github:o/r#1", None, "issue", body="x", replies=(long,) * 50)

    html = task_data("i", text, TREE)["html"]

    assert len(html) < 2 * REPLIES_LIMIT
    assert html.count("· other 1 ") == 50


def test_what_raters_said_tells_not_who() -> None:
    text = ArtifactText("github:o/r#1")
    ann, ben = Said(("b1",), 5, "<b>sure</b>"), Said(("~new", "gone"), proposed="race")

    first = task_data("i", text, TREE, said=[ann, ben])
    second = task_data("i", text, TREE, said=[ben, ann])

    assert first == second
    assert "<b>b1</b> Name of b1" in first["said"]
    assert "&lt;b&gt;sure&lt;/b&gt;" in first["said"]
    assert "a new code is needed" in first["said"]
    assert "proposes: race" in first["said"]


def test_suggestions_stand_with_their_probability() -> None:
    suggested = [Suggested("a1", 0.2), Suggested("b1", 0.7)]

    data = task_data("i", ArtifactText("github:o/r#1"), TREE, suggested=suggested)

    assert data["suggested"].index("b1</b> Name of b1 (70 %)") < data["suggested"].index("a1</b>")


def test_the_hash_of_a_task_changes_with_what_a_rater_sees() -> None:
    one = task_data("i", ArtifactText("github:o/r#1", kind="issue", body="a"), TREE)
    same = task_data("i", ArtifactText("github:o/r#1", kind="issue", body="a"), TREE)
    other = task_data("i", ArtifactText("github:o/r#1", kind="issue", body="b"), TREE)

    assert content_hash(one) == content_hash(same) != content_hash(other)
