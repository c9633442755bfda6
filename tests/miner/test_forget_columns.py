"""`miner forget` looks for a name where somebody's words stand, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from linking import OTHER_SHA, SHA, Linking
from settled import put_final

from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget, plan_forget
from faultatlas.miner.study_key import who_in

Command = Callable[..., CompletedProcess[str]]
LIB = "github:example/lib"
COMMIT = f"git:example/lib@{SHA}"
# A login may be any word, so also a name that the study itself uses.
NAMES = ["ml", "commit", "fixes", "pilot", "kind"]


@pytest.fixture
def linking(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Linking:
    """A commit and labels of somebody, a funnel, and a commit of everybody in NAMES."""
    monkeypatch.setattr(Study, "compact", lambda _study: None)  # no matter here, and slow
    linking = Linking(tmp_path / "study")
    linking.commit(SHA, "Fixes #1 in the loss of the layer", author="person_1")
    who = who_in(linking.folder)("github.com")
    for number, name in enumerate(NAMES):
        linking.commit(f"{number:040x}", "Add a layer", author=who(name))
    linking.link()
    with linking.study.writing() as writer:
        put_final(writer, COMMIT, "kind", taxonomy="ml")
        writer.execute(
            "INSERT INTO store.checkpoint (stream, project, selection, url, is_complete, run_id, "
            "updated_at) VALUES ('issues', 'github:example/lib', ?, '/', true, 'r', now())",
            ['{"kind": "ml", "labels": ["commit", "project"]}'],
        )
    for words in (
        ("ml", "--on", "commit", "--lexicon", "ml", "--where", "body IS NOT NULL"),
        ("pilot", "--on", "commit", "--size", "9", "--by", "kind"),
    ):
        done = command("miner", "filter", *words, "--study", linking.folder)
        assert done.returncode == 0, done.stderr
    return linking


def _names(linking: Linking) -> dict[str, list[Any]]:
    """What is left of the study's own names, without what was counted."""
    with linking.study.reading() as reader:
        queries = {
            "steps": "SELECT step, predicate, definition FROM store.funnel_step ORDER BY position",
            "counts": "SELECT step, source, kind FROM store.funnel_count ORDER BY ALL",
            "selected": "SELECT step FROM store.funnel_member WHERE artifact_id = ? ORDER BY 1",
            "hits": "SELECT lexicon FROM store.keyword_hit WHERE artifact_id = ?",
            "labels": "SELECT * FROM store.settlement WHERE artifact_id = ?",
            "links": "SELECT * FROM store.link WHERE from_id = ?",
            "checkpoints": "SELECT stream FROM store.checkpoint",
        }
        return {
            name: reader.rows(query, [COMMIT] if "?" in query else [])
            for name, query in queries.items()
        }


def test_a_login_may_be_a_name_that_the_study_uses(linking: Linking, command: Command) -> None:
    before = _names(linking)
    assert all(before.values())
    for name in NAMES:
        assert forget(linking.study, name).removed["commit"] == 1
        assert _names(linking) == before, name

    done = command("miner", "filter", "--again", "--study", linking.folder)

    assert done.returncode == 0, done.stderr
    assert _names(linking) == before


def test_a_condition_that_somebody_typed_loses_the_name(linking: Linking, command: Command) -> None:
    person = who_in(linking.folder)("github.com")("octo")
    linking.commit(OTHER_SHA, "Add more", author=person)
    linking.issue(1)
    where = f"author = '{person}' OR body LIKE '%@octo %' OR artifact_id = '{LIB}#1'"
    step = ("octo", "--where", where, "--size", "3", "--highest", f"title = '{LIB}#1'")
    done = command("miner", "filter", *step, "--study", linking.study.directory)
    assert done.returncode == 0, done.stderr

    forget(linking.study, f"{LIB}#1")
    forget(linking.study, "octo")

    with linking.study.reading() as reader:
        (row,) = reader.rows(
            "SELECT predicate, definition FROM store.funnel_step WHERE step = 'octo'"
        )
    kept = json.loads(row["definition"])
    assert kept["where"] == (
        f"author = 'person_unknown' OR body LIKE '%@ghost %' OR artifact_id = '{LIB}#0'"
    )
    assert kept["draw"]["highest"] == f"title = '{LIB}#0'"
    assert kept["name"] == "octo"
    assert row["predicate"].startswith(kept["where"])
    assert person not in row["predicate"]


def test_links_that_were_found_in_a_forgotten_comment_go(linking: Linking) -> None:
    linking.issue(2, "see #1")
    linking.comment(5, f"{LIB}#2", "Duplicate of #1")
    linking.link()
    assert (f"{LIB}#2", f"{LIB}#1") in linking.pairs("duplicate")
    linking.drop("comment", "github:comment/5")  # as when its author is forgotten
    forget(linking.study, NAMES[0])
    assert linking.pairs("duplicate") == set()


def test_it_says_how_many_texts_were_changed(linking: Linking) -> None:
    linking.commit(OTHER_SHA, "Thanks @octo\n\nCo-authored-by: Octo <octo@example.org>")
    linking.commit("f" * 40, "by git@example.org", committer=_git_person(linking, "octo"))
    removal = forget(linking.study, "octo@example.org")
    assert removal.texts_changed == 2
    assert removal.removed == {}
    assert "rows: none; texts: 2 changed;" in removal.words()
    assert plan_forget(linking.study, "octo@example.org").texts_changed == 0


def _git_person(linking: Linking, name: str) -> str | None:
    return who_in(linking.folder)("git")(f"{name}@example.org")
