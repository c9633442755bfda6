"""Views that say which of several rows counts, and what an artifact is called today."""

from __future__ import annotations

import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from faultatlas.data.identity import parse, resolve
from faultatlas.data.study import Study

pytestmark = pytest.mark.usual_opening

AT = datetime(2026, 1, 1)  # noqa: DTZ001  (as the study stores it)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


def _put(study: Study, table: str, *rows: dict[str, Any]) -> None:
    with study.writing() as writer:
        for row in rows:
            writer.insert(table, {name: [value] for name, value in row.items()})


def _alias(alias: str, artifact_id: str, kind: str) -> dict[str, Any]:
    return {"alias": alias, "artifact_id": artifact_id, "kind": kind, "run_id": "r",
            "response_id": "x"}  # fmt: skip


def _issue(artifact_id: str) -> dict[str, Any]:
    it = parse(artifact_id)
    return {"artifact_id": artifact_id, "source": it.source, "project": it.repository,
            "number": it.key, "is_pull": False, "tracker_labels": [], "row_hash": 1, "run_id": "r",
            "fetched_at": AT, "response_id": "x"}  # fmt: skip


def _commit(artifact_id: str) -> dict[str, Any]:
    it = parse(artifact_id)
    return {"artifact_id": artifact_id, "project": it.repository, "sha": it.key, "parents": [],
            "run_id": "r", "fetched_at": AT}  # fmt: skip


def test_every_name_of_an_artifact_leads_to_its_id_of_today(study: Study) -> None:
    sha = "a" * 40
    aliases = [
        _alias("first/name", "second/name", "repository"),
        _alias("second/name", "now/here", "repository"),
        _alias("gitee.com/old/place", "gitee.com/new/place", "repository"),
        _alias("github:else/where#9", "github:second/name#3", "transfer"),
        _alias("I_node", "github:now/here#3", "node"),
        _alias(f"git:now/here@{sha[:8]}", f"git:now/here@{sha}", "short_hash"),
    ]
    _put(study, "alias", *aliases)
    _put(study, "issue", *map(_issue, ("github:now/here#3", "gitee:new/place#I1")))
    _put(study, "commit", _commit(f"git:now/here@{sha}"))
    with study.reading() as reader:
        rows = reader.rows("SELECT name, artifact_id FROM artifact_names")
    names = {row["name"]: row["artifact_id"] for row in rows}
    assert len(names) == len(rows)
    index = {row["alias"]: row["artifact_id"] for row in aliases}
    asked = ["github:first/name#3", "github:second/name#3", "github:now/here#3", "I_node"]
    asked += ["gitee:old/place#I1", f"git:first/name@{sha}", f"git:now/here@{sha[:8]}"]
    for name in asked:
        assert names[name] == resolve(name, index), name


def _answer(answer_id: str, code: str, **more: Any) -> dict[str, Any]:
    return {
        "answer_id": answer_id, "round": "pilot", "item_id": "github:old/name#1",
        "artifact_id": "github:old/name#1", "rater": "ann", "stage": "independent",
        "taxonomy": "tree", "taxonomy_version": "1.0.0", "codes": [code], "origin": "sheet",
        "run_id": "1", **more,
    }  # fmt: skip


def _codes(study: Study, view: str, where: str = "true") -> list[tuple[str, str, str]]:
    with study.reading() as reader:
        rows = reader.rows(
            f"SELECT artifact_id, taxonomy_version, code FROM {view} WHERE {where} ORDER BY ALL"
        )
    return [(row["artifact_id"], row["taxonomy_version"], row["code"]) for row in rows]


def test_one_answer_of_a_rater_counts_in_each_version(study: Study) -> None:
    _put(study, "alias", _alias("old/name", "new/name", "repository"))
    _put(study, "issue", _issue("github:new/name#1"))
    _put(
        study,
        "answer",
        _answer("a", "x"),
        _answer("b", "y", supersedes="a", run_id="2"),
        _answer("c", "z", taxonomy_version="2.0.0", run_id="3"),
        _answer("d", "x", rater="ben"),
        _answer("e", "y", rater="ben", run_id="2"),  # of another copy of the study: none supersedes
    )
    _put(
        study,
        "answer_version",
        {"answer_id": "b", "taxonomy_version": "2.0.0", "codes": ["w"], "how": "carried",
         "run_id": "3"},
        {"answer_id": "e", "taxonomy_version": "2.0.0", "codes": ["v"], "how": "carried",
         "run_id": "3"},
    )  # fmt: skip
    old, new = "github:old/name#1", "github:new/name#1"
    current = "is_current AND rater = 'ann'"
    assert _codes(study, "labels", current) == [(old, "1.0.0", "y"), (old, "2.0.0", "z")]
    assert _codes(study, "labels", "is_current AND rater = 'ben'") == [(old, "1.0.0", "y")]
    assert _codes(study, "current_labels", "rater = 'ann'") == [
        (new, "1.0.0", "y"), (new, "2.0.0", "z"),
    ]  # fmt: skip
    in_version = "taxonomy_version = '2.0.0' AND rater = "
    assert _codes(study, "labels_in_version", f"{in_version} 'ann'") == [(new, "2.0.0", "z")]
    assert _codes(study, "labels_in_version", f"{in_version} 'ben'") == [(new, "2.0.0", "v")]


def test_the_files_of_a_study_are_for_its_user_only(study: Study) -> None:
    with study.writing(keep_log=True) as writer:
        writer.execute("INSERT INTO store.rater VALUES ('ann', now(), 'r')")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in study.directory.iterdir()}
    assert modes.keys() >= {"study.duckdb", "study.toml"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(study.directory.stat().st_mode) == 0o700
