"""Final labels as analyses read them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dated_labels import dated_study
from labelling import SMALL, Labelled, tree_text
from settled import put_final

from faultatlas.analysis.observations import observe
from faultatlas.data.errors import StudyError
from faultatlas.data.queries import checked
from faultatlas.data.study import Study


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return dated_study(tmp_path_factory.mktemp("dated") / "study")


def small(directory: Path, *finals: tuple[str, str, str]) -> Study:
    """A study with final labels: round, artifact, code."""
    labelled = Labelled.at(directory)
    labelled.taxonomy()
    with labelled.study.writing() as writer:
        for round_name, artifact, code in finals:
            put_final(
                writer, artifact, code, round_name=round_name, taxonomy="tree", version="1.0.0"
            )
    return labelled.study


def test_labels_come_at_a_level_with_their_covariates(dated: Study) -> None:
    seen = observe(dated, "tree", level=1, by=["framework", "year", "comment_count"])
    assert (seen.items, seen.codes) == (80, ("a", "b"))
    assert seen.values_of(0) == ("keras", "pytorch")
    assert seen.values_of(1) == ("2016", "2017", "2018", "2019")
    assert seen.without(2) == 0


def test_the_rows_behind_a_count_can_be_asked_for(dated: Study) -> None:
    seen = observe(dated, "tree", level=1, by=["framework", "year"])
    counts = Counter((row.code, *row.values) for row in seen.rows)
    with dated.reading() as reader:
        for (code, *values), count in list(counts.items())[::6]:
            query = seen.rows_query([str(code)], values)
            rows = reader.rows(checked(reader, "the test", query))
            assert len(rows) == count
            assert {row["artifact_id"][:6] for row in rows} == {"github"}


def test_what_was_never_mined_has_the_project_of_its_id(tmp_path: Path) -> None:
    study = small(
        tmp_path,
        ("r", "gitee:mindspore/mindspore#I1", "a1"),
        ("r", "github:o/r#2", "a1"),
        ("r", "doi:10.1/x", "b1"),
    )
    seen = observe(study, "tree", by=["project", "framework", "source", "year"])
    assert {row.artifact_id: row.values for row in seen.rows} == {
        "gitee:mindspore/mindspore#I1": (
            "gitee.com/mindspore/mindspore",
            "mindspore",
            "gitee",
            None,
        ),
        "github:o/r#2": ("o/r", "o/r", "github", None),
        "doi:10.1/x": (None, None, "paper", None),
    }
    assert seen.codes == ("a1", "a2", "b1", "b2")  # those without a label too


def test_an_artifact_in_several_rounds_is_refused_until_one_is_chosen(tmp_path: Path) -> None:
    study = small(tmp_path, ("r1", "github:o/r#1", "a1"), ("r2", "github:o/r#1", "b1"))
    with pytest.raises(StudyError, match=r"1 artifacts .* several rounds") as refused:
        observe(study, "tree")
    assert "--round: r1, r2" in refused.value.hint
    assert observe(study, "tree", round_name="r2").rows[0].code == "b1"


def test_answers_that_are_no_code_are_counted_apart(tmp_path: Path) -> None:
    study = small(tmp_path, ("r", "github:o/r#1", "a1"), ("r", "github:o/r#2", "~unclear"))
    seen = observe(study, "tree")
    assert (seen.items, seen.no_code) == (1, {"~unclear": 1})


def test_codes_are_carried_into_the_version_that_the_study_keeps(tmp_path: Path) -> None:
    study = small(tmp_path, ("r", "github:o/r#1", "a1"), ("r", "github:o/r#2", "b1"))
    codes = {("c1" if code == "a1" else code): parent for code, parent in SMALL.items()}
    text = tree_text(codes, version="1.1.0") + (
        'changes:\n  - from: "1.0.0"\n    steps:\n      - {rename: a1, to: c1}\n'
    )
    with study.writing() as writer:
        old = tree_text(SMALL)
        for version, each in (("1.0.0", old), ("1.1.0", text)):
            writer.execute(
                "INSERT INTO store.taxonomy_text BY NAME "
                "SELECT 'tree' AS taxonomy, ? AS version, ? AS text, 'r' AS run_id",
                [version, each],
            )
    seen = observe(study, "tree")
    assert {row.code for row in seen.rows} == {"c1", "b1"}
    with study.reading() as reader:
        assert [row["code"] for row in reader.rows(seen.rows_query(["c1"]))] == ["a1"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"taxonomy": "nonsense"}, "there is no taxonomy 'nonsense'"),
        ({"taxonomy": "humbatova"}, "no final labels of humbatova"),
        ({"taxonomy": "tree", "round_name": "x"}, "no final labels of tree in round 'x'"),
        ({"taxonomy": "tree", "level": 0}, "there is no level 0"),
        ({"taxonomy": "tree", "level": 3}, "tree has no level 3"),
        ({"taxonomy": "tree", "by": ["framwork"]}, "framwork"),
        ({"taxonomy": "tree", "by": ["random()"]}, "cannot be repeated"),
        ({"taxonomy": "tree", "by": ["1); DROP TABLE x; --"]}, "does not work"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_message(
    dated: Study, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(StudyError, match=message.replace("(", r"\(")) as refused:
        observe(dated, **asked)  # type: ignore[arg-type]  # a call that is wrong on purpose
    assert refused.value.hint
