"""Importing a package: rows as they are, once; what changes is imported anew."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from replication_folder import LABELS, labels, made_up_package
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from faultatlas.analysis.replication import brief
from faultatlas.analysis.replication.importing import import_package
from faultatlas.analysis.replication.published import published_study
from faultatlas.analysis.studies import replicate
from faultatlas.data.errors import StudyError
from faultatlas.data.queries import checked
from faultatlas.data.study import Study
from faultatlas.report.old.console import Output

Command = Callable[..., CompletedProcess[str]]
HP = published_study("hp-defects")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package and a study that has it: not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    import_package(Study(folder / "study"), HP, made_up_package(folder / "icse2024"))
    return folder


@pytest.fixture
def package(tmp_path: Path, made: Path) -> Path:
    return Path(shutil.copytree(made / "icse2024", tmp_path / "icse2024"))


@pytest.fixture
def study(tmp_path: Path, made: Path) -> Study:
    return Study(Path(shutil.copytree(made / "study", tmp_path / "study")))


def figures(study: Study) -> dict[str, Any]:
    found: dict[str, Any] = replicate.run(study, "hp-defects").document["figures"]
    return found


def test_the_figures_that_two_of_three_frameworks_give(study: Study) -> None:
    found = figures(study)
    table, _codes = aggregate_raters([ratings.split() for ratings, _final in LABELS])
    expected = pytest.approx(fleiss_kappa(table), abs=1e-12)
    assert found["K002"]["values"]["kappa"]["value"] == expected
    assert found["K027"]["ours"] == "3 / 2 / 1"
    assert found["K030"]["status"] == "reproduced"  # made from the printed averages
    assert found["K031"]["values"]["la"]["count"] == 5  # three failed, one nan, one empty
    assert found["K031"]["values"]["la"]["total"] == 12
    share = found["K032"]["values"]["share"]
    assert (share["count"], share["total"]) == (2, 2)
    for figure in ("K003", "K004", "K006", "K024", "K025"):
        assert found[figure]["status"] == "no data"
        assert "labels/tensorflow.csv" in found[figure]["reason"]


def test_the_terminal_tells_reasons_and_sums_up_what_is_not_there(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = replicate.run(study, "hp-defects")
    brief.show(Output(), result, Path("page"))
    said = capsys.readouterr().out
    assert "no data: K003, K004, K006-K025: needs labels/tensorflow.csv\n" in said
    assert "K032  not reproduced: printed 61.54 %, ours 100 %" in said
    assert "K007  " not in said
    brief.show(Output(verbose=True), result, Path("page"))
    assert "K007  " in capsys.readouterr().out


def test_the_third_framework_gives_the_rest(study: Study, package: Path) -> None:
    labels(package / "RQ1_result" / "TensorFlow_labels.csv", "tensorflow/tensorflow")
    done = import_package(study, HP, package)

    assert done.new == ("labels/tensorflow.csv",)
    found = figures(study)
    assert found["K010"]["values"]["share"]["count"] == 3
    assert found["K010"]["values"]["share"]["total"] == 10
    assert found["K025"]["ours"] == "G"
    assert found["K025"]["status"] == "reproduced"


def test_importing_twice_changes_nothing(study: Study, package: Path) -> None:
    with study.reading() as reader:
        runs = reader.value("SELECT count(*) FROM runs")
    done = import_package(study, HP, package)
    assert not done.is_anything_new
    with study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs") == runs


def test_the_layout_of_the_folder_does_not_matter(
    study: Study, package: Path, tmp_path: Path
) -> None:
    other = tmp_path / "flat"
    shutil.copytree(package / "RQ3_result" / "mutation_type:mutation_order", other / "mutation")
    shutil.copytree(package / "RQ3_result" / "mutation_position", other / "mutation_position")
    for file in ("RQ1_result/pytorch.csv", "RQ1_result/mindspore.csv", "defects.xlsx"):
        shutil.copy(package / file, other)
    second = Study(tmp_path / "second")
    import_package(second, HP, other)
    assert replicate.run(second, "hp-defects") == replicate.run(study, "hp-defects")


def test_a_changed_cell_changes_the_claim_and_a_file_that_is_gone_has_no_data(
    study: Study, package: Path
) -> None:
    before = figures(study)
    said = [*LABELS[:3], ("G4 G4 G4 G4 G4 G4", "G4")]
    labels(package / "RQ1_result" / "pytorch.csv", "pytorch/pytorch", said)
    (package / "RQ1_result" / "mindspore.csv").unlink()
    done = import_package(study, HP, package)

    after = figures(study)
    assert (done.changed, done.gone) == (("labels/pytorch.csv",), ("labels/mindspore.csv",))
    assert after["K002"]["values"] != before["K002"]["values"]
    assert after["K001"]["status"] == "no data"
    assert after["K027"] == before["K027"]


def test_a_round_keeps_its_final_labels_and_the_command_says_so(
    command: Command, package: Path
) -> None:
    arguments = ("replicate", "hp-defects", "--from", package)
    assert command("analysis", *arguments).returncode == 0
    labels(
        package / "RQ1_result" / "pytorch.csv", "pytorch/pytorch", [*LABELS[:3], ("C1 " * 6, "C1")]
    )

    done = command("analysis", *arguments)

    assert done.returncode == 1
    assert "hp-defects-pytorch" in done.stderr
    assert "K002" in done.stdout  # the figures are there all the same


def test_the_rounds_are_ordinary_rounds(study: Study) -> None:
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT round, count(*) AS items FROM final_labels GROUP BY round ORDER BY round"
        )
    assert {row["round"]: row["items"] for row in rows} == {
        "hp-defects-mindspore": 2,
        "hp-defects-pytorch": 4,
    }


def test_everything_comes_from_the_study_when_the_folder_is_gone(
    study: Study, package: Path
) -> None:
    before = replicate.run(study, "hp-defects")
    shutil.rmtree(package)
    assert replicate.again(study, before.parameters) == before


def test_every_claim_lists_the_rows_behind_it(study: Study) -> None:
    found = [each for each in replicate.run(study, "hp-defects").claims if each.value is not None]
    claims = [claim for claim in found if claim.rows_query]
    printed = {each.claim_id.split(".")[1] for each in found if not each.rows_query}
    assert printed == {"k028", "k029"}  # from printed numbers
    assert len(claims) > 60
    with study.reading() as reader:
        for query in {
            claim.rows_query or "" for claim in claims if ".pytorch." not in claim.claim_id
        }:
            rows = reader.rows(checked(reader, "a claim", query))
            assert all(row["run_id"] for row in rows)
        [fixed] = [claim for claim in claims if claim.claim_id.endswith("k027.fixed")]
        rows = reader.rows(fixed.rows_query or "")
        assert [row["cells"][0] for row in rows] == ["one"]


def test_a_missing_column_is_no_data_with_its_reason(study: Study, package: Path) -> None:
    path = package / "RQ1_result" / "pytorch.csv"
    path.write_text(path.read_text().replace("Final_label", "Label"))
    import_package(study, HP, package)
    said = figures(study)["K002"]
    assert said["status"] == "no data"
    assert "no column 'Final_label'" in said["reason"]


def test_hostile_files_are_refused(tmp_path: Path, package: Path) -> None:
    with zipfile.ZipFile(package / "defects.xlsx", "a") as book:
        book.writestr("xl/worksheets/sheet9.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a/>')
    study = Study(tmp_path / "hostile")
    with pytest.raises(StudyError, match="document type"):
        import_package(study, HP, package)
    assert not study.exists


def test_a_folder_without_its_files_says_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError) as caught:
        import_package(Study(tmp_path / "study"), HP, tmp_path / "empty")
    assert "defects.xlsx" in caught.value.hint
    with pytest.raises(StudyError, match="is no folder"):
        import_package(Study(tmp_path / "study"), HP, tmp_path / "nowhere")


def test_forgetting_an_artifact_takes_its_name_out_of_the_rows(study: Study) -> None:
    from faultatlas.miner.keeping.forget import forget

    forget(study, "github:pytorch/pytorch#2")
    with study.reading() as reader:
        left = reader.value("SELECT count(*) FROM package_rows WHERE cells[1] LIKE '%issues/2'")
    assert left == 1  # that of the other project
