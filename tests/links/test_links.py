"""`miner link`: what belongs together, by texts, timelines and stored answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from linking import OTHER_SHA, SHA, Linking

from faultatlas.data.errors import StudyError
from faultatlas.miner.keeping.forget import forget

LIB = "github:example/lib"
COMMIT = f"git:example/lib@{SHA}"
Command = Callable[..., CompletedProcess[str]]


def test_links_lead_from_who_says_so_and_keep_the_words(linking: Linking) -> None:
    linking.issue(1, "see #2 and #1", title="Like #3")
    linking.pull(4, "Fixes: #1")
    linking.comment(7, f"{LIB}#1", "Duplicate of #2")
    linking.commit(SHA, "Resolve GH-1")
    post = linking.post(9, '<a href="https://github.com/example/lib/issues/1">it</a>')
    linking.answer(10, post, "https://github.com/example/lib/pull/4")
    assert linking.link()["texts_read"] == 6
    assert linking.links("from_id, to_id, kind, evidence, found_in, score") == {
        (f"{LIB}#1", f"{LIB}#2", "mentions", "#2", "body", None),
        (f"{LIB}#1", f"{LIB}#3", "mentions", "#3", "title", None),
        (f"{LIB}#4", f"{LIB}#1", "fixes", "Fixes: #1", "body", None),
        (f"{LIB}#1", f"{LIB}#2", "duplicate", "Duplicate of #2", "github:comment/7", 1.0),
        (COMMIT, f"{LIB}#1", "fixes", "Resolve GH-1", "message", None),
        (post, f"{LIB}#1", "mentions", "https://github.com/example/lib/issues/1", "body", None),
        (post, f"{LIB}#4", "mentions", "https://github.com/example/lib/pull/4",
         "stackoverflow:a/10", None),
    }  # fmt: skip


def test_a_commit_closes_what_its_pull_request_closes(linking: Linking) -> None:
    linking.issue(1)
    linking.pull(2, "Closes #1, see #3")
    linking.commit(SHA, "Repair it (#2)")
    linking.commit(OTHER_SHA, "Repair that (#1)")  # an issue: it stays a mention
    linking.link()
    assert linking.pairs("part of") == {(COMMIT, f"{LIB}#2")}
    assert (COMMIT, f"{LIB}#1", "fixes", "(#2); Closes #1", f"via {LIB}#2") in linking.links(
        "from_id, to_id, kind, evidence, found_in"
    )
    assert linking.pairs("fixes") == {(f"{LIB}#2", f"{LIB}#1"), (COMMIT, f"{LIB}#1")}
    assert (f"git:example/lib@{OTHER_SHA}", f"{LIB}#1") in linking.pairs("mentions")


def test_whether_a_number_is_a_pull_request_may_be_learnt_later(linking: Linking) -> None:
    linking.commit(SHA, "Repair it (#2)")
    linking.link()
    assert linking.pairs("mentions") == {(COMMIT, f"{LIB}#2")}
    linking.pull(2, "Closes #1")
    assert linking.link()["texts_read"] == 1
    assert linking.links("kind, found_in") == {
        ("part of", "message"), ("fixes", "body"), ("fixes", f"via {LIB}#2"),
    }  # fmt: skip


def test_numbers_of_gitee_are_those_of_pull_requests(linking: Linking) -> None:
    sha = linking.commit(SHA, "!12 repair it\n\n#I65G7B", project="gitee.com/m/m")
    linking.link()
    assert linking.links("from_id, to_id, kind") == {
        (sha, "gitee:m/m#12", "part of"), (sha, "gitee:m/m#I65G7B", "mentions"),
    }  # fmt: skip


def test_comments_close_nothing(linking: Linking) -> None:
    linking.pull(1)
    linking.comment(5, f"{LIB}#1", "Fixes #2")
    linking.link()
    assert linking.links("to_id, kind, found_in") == {(f"{LIB}#2", "mentions", "github:comment/5")}


def test_a_commit_that_closed_its_pull_request_is_not_said_to_fix_itself(linking: Linking) -> None:
    linking.pull(2, f"Closes {SHA} and #1")
    linking.commit(SHA, "Repair it (#2)")
    linking.link()
    assert linking.links("from_id, to_id, kind, found_in") == {
        (f"{LIB}#2", COMMIT, "fixes", "body"), (f"{LIB}#2", f"{LIB}#1", "fixes", "body"),
        (COMMIT, f"{LIB}#2", "part of", "message"), (COMMIT, f"{LIB}#1", "fixes", f"via {LIB}#2"),
    }  # fmt: skip


def test_the_documented_query_gives_issues_and_no_commits(linking: Linking) -> None:
    page = (Path(__file__).parents[2] / "docs" / "links.md").read_text(encoding="utf-8")
    (query,) = re.findall(r"```sql\n(.*?);\n```", page, re.DOTALL)
    linking.pull(2, f"Closes {OTHER_SHA} and #1")
    linking.commit(SHA, f"Fixes {OTHER_SHA} and #3 (#2)")
    linking.link()
    with linking.study.reading() as reader:
        rows = reader.rows(query)
    assert {(row["from_id"], row["to_id"]) for row in rows} == {
        (COMMIT, f"{LIB}#1"), (COMMIT, f"{LIB}#3"),
    }  # fmt: skip


def test_stored_answers_about_commits_are_read(linking: Linking) -> None:
    page = "https://github.com/example/lib"
    pulls = [
        {
            "url": f"{page}/pull/2",
            "closingIssuesReferences": {"nodes": [{"url": f"{page}/issues/1"}]},
        }
    ]
    said = {
        "data": {"repository": {"c0": {"oid": SHA, "associatedPullRequests": {"nodes": pulls}}}}
    }
    linking.response(1, {"kind": "graphql commits", "commits": [SHA]}, said)
    linking.response(
        2, {"kind": "commit pulls", "commit": OTHER_SHA}, [{"html_url": f"{page}/pull/3"}]
    )
    linking.response(3, {"kind": "issues"}, [{"html_url": f"{page}/pull/4"}])
    linking.response(4, {"kind": "graphql commits"}, {"data": [7]})
    linking.link()
    assert linking.links() == {
        (COMMIT, f"{LIB}#2", "part of", "tracker"),
        (f"{LIB}#2", f"{LIB}#1", "fixes", "tracker"),
        (COMMIT, f"{LIB}#1", "fixes", f"via {LIB}#2"),
        (f"git:example/lib@{OTHER_SHA}", f"{LIB}#3", "part of", "tracker"),
    }


def test_timelines_say_what_closed_and_what_refers(linking: Linking) -> None:
    issue, pull = linking.issue(1), linking.pull(2)
    linking.event(issue, "closed", COMMIT)
    linking.event(issue, "closed", None)
    linking.event(pull, "closed", f"git:example/lib@{OTHER_SHA}")  # by its own merge
    linking.event(issue, "cross-referenced", "github:other/lib#5")
    linking.event(issue, "referenced", COMMIT)
    linking.event(issue, "marked_as_duplicate", f"{LIB}#9")
    linking.link()
    assert linking.links("from_id, to_id, kind") == {
        (COMMIT, issue, "fixes"), ("github:other/lib#5", issue, "mentions"),
        (f"git:example/lib@{OTHER_SHA}", pull, "part of"), (issue, f"{LIB}#9", "duplicate"),
    }  # fmt: skip
    assert {place for (place,) in linking.links("found_in")} == {"timeline"}


def test_targets_go_by_the_names_that_they_have_now(linking: Linking) -> None:
    linking.issue(1, "old/lib#5, other/lib#6, https://stackoverflow.com/a/10, old/lib@0123456, "
                  f"new/lib@fedcba9 and gone/lib@{OTHER_SHA}")  # fmt: skip
    linking.commit(SHA, "x", project="new/lib")
    linking.commit(OTHER_SHA, "y", project="new/lib")
    linking.commit(f"fedcba9{'0' * 33}", "z", project="new/lib")  # so that it is not unique
    linking.link()
    assert ("stackoverflow:a/10",) in linking.links("to_id")
    linking.alias("old/lib", "new/lib", "repository")
    linking.alias("github:other/lib#6", "github:third/lib#7", "transfer")
    linking.answer(10, linking.post(9, ""), "")
    linking.link()
    assert {target for (target,) in linking.links("to_id")} == {
        "github:new/lib#5", "github:third/lib#7", "stackoverflow:9", f"git:new/lib@{SHA}",
        "git:new/lib@fedcba9", f"git:new/lib@{OTHER_SHA}",
    }  # fmt: skip


def test_aliases_that_run_in_a_circle_or_nowhere_are_not_followed(linking: Linking) -> None:
    linking.issue(1, "a/a#5 and c/c#6")
    linking.alias("github:a/a#5", "github:b/b#5", "transfer")
    linking.alias("github:b/b#5", "github:a/a#5", "transfer")
    linking.alias("github:c/c#6", "nonsense", "transfer")
    linking.link()
    assert {target for (target,) in linking.links("to_id")} == {"github:a/a#5", "github:c/c#6"}


def test_a_transferred_issue_is_what_it_became(linking: Linking) -> None:
    linking.issue(1, "see #2 and new/lib#8")
    linking.departure(f"{LIB}#1", "transferred")
    linking.alias(f"{LIB}#1", "github:new/lib#8", "transfer")
    linking.issue(3, "see #1")
    linking.link()
    assert linking.pairs("mentions") == {
        ("github:new/lib#8", f"{LIB}#2"), (f"{LIB}#3", "github:new/lib#8"),
    }  # fmt: skip


def test_a_hash_is_that_of_its_own_project_before_that_of_a_fork(linking: Linking) -> None:
    linking.commit(SHA, "x")
    linking.commit(SHA, "x", project="fork/lib")
    linking.commit(OTHER_SHA, "This reverts commit 0123456.", project="fork/lib")
    linking.link()
    assert linking.pairs("reverts") == {(f"git:fork/lib@{OTHER_SHA}", f"git:fork/lib@{SHA}")}


def test_only_what_changed_is_read_again(linking: Linking) -> None:
    for number in range(1, 6):
        linking.issue(number, f"see #{number + 10}")
    assert linking.link()["texts_read"] == 5
    linking.issue(3, "see #20, #21")
    linking.drop("issue", f"{LIB}#4")
    found = linking.link()
    assert (found["texts_read"], found["new"], found["removed"]) == (1, 2, 2)
    assert linking.pairs("mentions") == {
        (f"{LIB}#1", f"{LIB}#11"), (f"{LIB}#2", f"{LIB}#12"), (f"{LIB}#5", f"{LIB}#15"),
        (f"{LIB}#3", f"{LIB}#20"), (f"{LIB}#3", f"{LIB}#21"),
    }  # fmt: skip


def test_a_second_run_changes_no_row_and_reading_all_again_neither(linking: Linking) -> None:
    linking.issue(1, "Some words that are said here for the first time: see #2", title="One")
    linking.issue(2, "Some words that are said here for the first time: see #2", title="One")
    linking.commit(SHA, "Fix #1 (#3)")
    linking.link(duplicates=True)
    before = linking.tables()
    assert linking.pairs("duplicate") == {(f"{LIB}#2", f"{LIB}#1")}
    found = linking.link(duplicates=True)
    assert (found["texts_read"], found["new"], found["changed"], found["removed"]) == (0, 0, 0, 0)
    assert linking.tables() == before
    assert linking.link(duplicates=True, again=True)["texts_read"] == 3
    assert linking.tables()["store.link"] == before["store.link"]


def test_issues_of_a_private_host_tell_how_its_commits_are_read(linking: Linking) -> None:
    linking.commit(SHA, "Fix #5", project="git.example.org/t/a")
    linking.link()
    assert linking.links() == set()
    linking.issue(5, project="git.example.org/t/a")
    linking.link()
    assert linking.links("to_id, kind") == {("github:git.example.org/t/a#5", "fixes")}


def test_what_is_forgotten_leaves_no_words(linking: Linking) -> None:
    linking.issue(1, "see #2")
    linking.comment(5, f"{LIB}#1", "Duplicate of #2")
    linking.commit(SHA, "Fixes #2")
    linking.link()
    forget(linking.study, f"{LIB}#1")
    said = str(linking.tables())
    assert "example/lib#1" not in said
    assert "comment/5" not in said
    linking.link()
    assert linking.links() == {(COMMIT, f"{LIB}#2", "fixes", "message")}


def test_the_command_shows_links_by_kind(linking: Linking, command: Command) -> None:
    linking.issue(1)
    linking.pull(2, "Fixes #1, see #7")
    said = command("miner", "link", "--study", linking.study.directory, "--json")
    found: dict[str, Any] = json.loads(said.stdout)
    assert (found["texts_read"], found["new"]) == (2, 2)
    assert found["links"] == [
        {"kind": "fixes", "from": "pull", "to": "issue", "links": 1, "artifacts": 1, "targets": 1},
        {"kind": "mentions", "from": "pull", "to": "issue or pull", "links": 1, "artifacts": 1,
         "targets": 1},
    ]  # fmt: skip
    shown = command("miner", "link", "--study", linking.study.directory).stdout
    assert "fixes" in shown
    assert "0 texts read; links: 0 new, 0 changed, 0 removed" in shown


def test_a_threshold_that_makes_no_sense_is_refused(linking: Linking, command: Command) -> None:
    said = command("miner", "link", "--study", linking.study.directory, "--threshold", "70")
    assert said.returncode == 1
    assert "70 is not between 0.3 and 1" in said.stderr


def test_there_must_be_a_study(tmp_path: Any) -> None:
    with pytest.raises(StudyError, match="no study"):
        Linking(tmp_path / "nothing").link()
    assert not (tmp_path / "nothing").exists()
