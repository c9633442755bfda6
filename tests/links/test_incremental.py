"""However texts come, change and go, and wherever a run is killed, the links are the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from linking import OTHER_SHA, SHA, Linking

from faultatlas.data.study import Study, Writer
from faultatlas.miner.links import command, texts

LIB = "github:example/lib"
BODIES = (
    "Fixes #1, see #2 and old/lib#3",
    f"see #3, {SHA} and https://stackoverflow.com/a/8",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z Duplicate of #1",
    "a b c d e f g h i j k l m n o p q r s t u v w x y zz Closes #2, #3",
    "",
)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["issue", "pull"]), st.integers(1, 3), st.sampled_from(BODIES)),
    st.tuples(st.just("comment"), st.integers(1, 3), st.sampled_from(BODIES)),
    st.tuples(st.just("commit"), st.sampled_from([SHA, OTHER_SHA]),
              st.sampled_from(["Fix #1 (#2)", f"x\n\nThis reverts commit {SHA[:9]}", *BODIES])),
    st.tuples(st.just("drop"), st.integers(1, 3), st.sampled_from(["issue", "comment"])),
    st.tuples(st.just("alias"), st.sampled_from(["old/lib", "mid/lib"]),
              st.sampled_from(["new/lib", "mid/lib"])),
    st.tuples(st.just("answer"), st.integers(8, 9), st.sampled_from(BODIES)),
    st.tuples(st.just("event"), st.integers(1, 3), st.sampled_from(["closed", "referenced"])),
    st.tuples(st.just("gone"), st.integers(1, 3), st.just("")),
)  # fmt: skip


def do(linking: Linking, step: tuple[Any, ...]) -> None:
    what, which, how = step
    match what:
        case "issue" | "pull":
            linking.issue(which, how, is_pull=what == "pull")
        case "comment":
            linking.comment(which, f"{LIB}#{which}", how)
        case "commit":
            linking.commit(which, how)
        case "drop":
            linking.drop(how, f"github:comment/{which}" if how == "comment" else f"{LIB}#{which}")
        case "alias" if which != how:
            linking.alias(which, how, "repository")
        case "answer":
            linking.answer(which, linking.post(which + 10, how), how)
        case "event":
            linking.event(f"{LIB}#{which}", how, f"git:example/lib@{OTHER_SHA}")
        case "gone":
            linking.departure(f"{LIB}#{which}", "not found")


def links(linking: Linking) -> set[tuple[Any, ...]]:
    return linking.links("from_id, to_id, kind, evidence, found_in, score")


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=6), min_size=2, max_size=2))
def test_links_found_step_by_step_are_those_found_at_once(
    empty: Path, tmp_path: Path, turns: list[list[tuple[Any, ...]]]
) -> None:
    shutil.rmtree(tmp_path)
    linking = Linking(Path(shutil.copytree(empty, tmp_path)))
    for steps in turns:
        for step in steps:
            do(linking, step)
        linking.link(duplicates=True)
    found = linking.tables()
    with linking.study.writing() as writer:
        for table in found:
            writer.execute(f"DELETE FROM {table}")
    linking.link(duplicates=True)
    at_once = linking.tables()
    for table, rows in found.items():
        assert _without_runs(table, rows) == _without_runs(table, at_once[table])


def _without_runs(table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return rows if table == "store.reference" else [row[:-1] for row in rows]


class _KilledError(BaseException):
    pass


def test_killed_at_any_moment_the_next_run_ends_in_the_same_links(
    linking: Linking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "BATCH", 3)
    for number in (1, 2, 3, 4):
        linking.issue(number, BODIES[number % 4], is_pull=number == 2)
    linking.commit(SHA, "Fix #1 (#2)")
    writing = Study.writing
    left = 0

    @contextmanager
    def killed(study: Study, *, keep_log: bool = False) -> Iterator[Writer]:
        """In the middle of a transaction, after all its statements."""
        nonlocal left
        with writing(study, keep_log=keep_log) as writer:
            yield writer
            left -= 1
            if left < 0:
                raise _KilledError

    source = linking.study.directory
    whole = Linking(Path(shutil.copytree(source, tmp_path / "whole")))
    whole.link(duplicates=True)
    expected = links(whole)
    assert {kind for _from, _to, kind, *_rest in expected} == {
        "fixes", "mentions", "duplicate", "part of",
    }  # fmt: skip
    for moment in range(12):
        copy = Linking(Path(shutil.copytree(source, tmp_path / str(moment))))
        left = moment
        monkeypatch.setattr(Study, "writing", killed)
        try:
            copy.link(duplicates=True)
        except _KilledError:
            is_over = False
        else:
            is_over = True
        monkeypatch.setattr(Study, "writing", writing)
        copy.link(duplicates=True)
        assert links(copy) == expected
        if is_over:
            break
    assert 4 < moment < 11  # it was killed in every transaction, and then came to its end


def test_an_interrupted_run_says_so(linking: Linking, monkeypatch: pytest.MonkeyPatch) -> None:
    linking.issue(1, "Fixes #2")

    def stop(*_anything: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "find_duplicates", stop)
    with pytest.raises(KeyboardInterrupt):
        linking.link(duplicates=True)
    with linking.study.reading() as reader:
        (run,) = reader.rows("SELECT outcome, ended_at FROM runs WHERE command = 'miner link'")
    assert run["outcome"] == "interrupted"
    assert run["ended_at"] is not None
