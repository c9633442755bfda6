"""`miner forget` in a study with rounds: items go with all that belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from labelling import Labelled

from faultatlas.data.study import Study
from faultatlas.miner.study_key import who_in

Command = Callable[..., CompletedProcess[str]]
HERS, OTHER = "github:o/r#1", "github:o/r#2"
_FINAL = (
    "?, 'pilot', ?, ?, 'tree', '1.0.0', ['a1'], 'majority', 'rule', NULL, NULL, NULL, NULL, 'r', "
    "false"
)
COMMIT = f"git:o/r@{'a' * 40}"


@pytest.fixture
def labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labelled:
    """A round with items that stand in every table of samples and rounds."""
    monkeypatch.setattr(Study, "compact", lambda _study: None)  # no matter here, and slow
    labelled = Labelled.at(tmp_path / "study")
    labelled.taxonomy()
    items = (HERS, f"{HERS}~2", COMMIT, OTHER)
    labelled.round("pilot", {item: {"ann": "a1", "octo": "b1"} for item in items})
    with labelled.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.project "
            "VALUES ('s', 1, 'pilot', 'ann', 'independent', '1', '', 'r', NULL)"
        )
        writer.execute(
            "INSERT INTO store.sample VALUES ('s', ?, 'simple', '', [], '', 1, 'r', NULL, NULL)",
            [f"artifact_id <> '{HERS}'"],
        )
        for at, item in enumerate(items):
            artifact = item.partition("~")[0]
            for table, values, given in (
                ("assignment", "'pilot', ?, 'ann', ?, 'r'", [item, at]),
                ("suggestion", "'pilot', ?, 'a1', 0.5, 1, 'm', 'r'", [item]),
                ("task", "'s', 1, ?, ?, 'h', 'r', false", [at, item]),
                ("frame_member", "?, ?, '', NULL, 'r'", [f"f{at}", artifact]),
                ("sampled", "?, 1, ?, '', 1, 'r'", [f"s{at}", artifact]),
                ("settlement", _FINAL, [f"x{at}", item, artifact]),
            ):
                writer.execute(f"INSERT INTO store.{table} VALUES ({values})", given)
        writer.execute(
            "INSERT INTO store.relabel SELECT answer_id, '2', 'a1', [], 'r' FROM store.answer"
        )
    return labelled


def _naming(study: Study, *texts: str) -> list[str]:
    with study.reading() as reader:
        names = [
            row["name"] for row in reader.rows("SELECT table_name AS name FROM duckdb_tables()")
        ]
        rows = {name: str(reader.rows(f"FROM store.{name}")) for name in names}
    return sorted(name for name, said in rows.items() if any(text in said for text in texts))


@pytest.mark.parametrize(("forgotten", "items"), [(HERS, 2), (COMMIT, 1)])
def test_an_item_goes_with_all_that_belongs_to_it(
    labelled: Labelled, command: Command, forgotten: str, items: int
) -> None:
    tables = ("item", "assignment", "suggestion", "task", "frame_member", "sampled", "settlement")
    before = _counts(labelled.study, *tables, "answer", "relabel")
    done = command("miner", "forget", forgotten, "--study", labelled.study.directory)
    assert done.returncode == 0, done.stderr
    assert _naming(labelled.study, f"'{forgotten}'", f"{forgotten}~") == ["forgotten"]
    after = _counts(labelled.study, *before)
    assert {table: before[table] - after[table] for table in before} == {
        **dict.fromkeys(tables, items),
        "answer": 2 * items,
        "relabel": 2 * items,
    }


def test_what_raters_noted_loses_the_name_and_their_own_names_stay(
    labelled: Labelled, command: Command
) -> None:
    person = who_in(labelled.study.directory)("github.com")("octo")
    with labelled.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.commit (artifact_id, project, sha, parents, message, author, "
            "run_id, fetched_at) VALUES ('git:o/r@b', 'o/r', 'b', [], '', ?, 'r', now())",
            [person],
        )
        writer.execute("UPDATE store.answer SET comment = 'as @octo says', proposed = '@octo'")
        writer.execute("UPDATE store.item SET stratum = ?", [person])
        writer.execute(f"UPDATE store.sample SET frame = 'author = ''{person}'''")
        writer.execute("UPDATE store.settlement SET comment = 'ask https://github.com/octo'")
        writer.execute("UPDATE store.taxonomy_text SET text = text || '# by @octo'")
        writer.execute("INSERT INTO store.account VALUES ('s', 'octo', 1, 'octo', 'r')")
        writer.execute(
            "INSERT INTO store.gate VALUES ('pilot', 'independent', 'gwet', 0.7, 1, 1, 1, 4, true, "
            "'@octo wished it', now(), 'r', 'measured', NULL, NULL)"
        )
    done = command("miner", "forget", "github:octo", "--study", labelled.study.directory)
    assert done.returncode == 0, done.stderr
    assert _naming(labelled.study, "@octo", "/octo", f"'{person}'") == ["forgotten"]
    with labelled.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM labels WHERE rater = 'octo'") == 4
        assert reader.rows("SELECT rater, username FROM store.account") == [
            {"rater": "octo", "username": "ghost"}
        ]


def _counts(study: Study, *tables: str) -> dict[str, int]:
    with study.reading() as reader:
        return {table: reader.value(f"SELECT count(*) FROM store.{table}") for table in tables}
