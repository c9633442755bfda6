"""Settled labels: read from sheets, kept in a study, never overwritten."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.annotation.rounds import checked_name
from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.annotation.sheets.command import import_sheets
from faultatlas.annotation.sheets.importing import Sheets, read_sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

LIBRARY = TaxonomyLibrary()
DEFECTS = LIBRARY.taxonomy("hp-defects")
law = settings(max_examples=60)


def sheet(folder: Path, *rows: str, name: str = "sheet.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(["item,final", *rows, ""]), encoding="utf-8")
    return path


COLUMNS = Asked(item="item", final="final")


def collected(*paths: Path, taxonomy: str = "hp-defects", asked: Asked = COLUMNS) -> Sheets:
    """What sheets say, with what is wrong with them."""
    book = Codebook(LIBRARY.taxonomy(taxonomy))
    return read_sheets(dict.fromkeys(paths, ""), asked, book)


def read(*paths: Path, taxonomy: str = "hp-defects") -> Sheets:
    found = collected(*paths, taxonomy=taxonomy)
    assert found.problems == []
    return found


def finals(sheets: Sheets) -> list[tuple[str, str, str]]:
    """Item, artifact and codes."""
    return [
        (item, sheets.items[item].artifact_id, ";".join(said.codes))
        for item, said in sheets.finals.items()
    ]


def store(study: Study, *paths: Path, taxonomy: str = "hp-defects") -> tuple[int, int]:
    """How many labels were new and how many known."""
    files = [str(path) for path in paths]
    done = import_sheets(study, "r1", files, COLUMNS, taxonomy_name=taxonomy)
    return done.document["stored"], done.document["known"]


def stored(study: Study) -> dict[str, str]:
    with study.reading() as reader:
        rows = reader.rows("SELECT item_id, code FROM final_labels ORDER BY item_id, code")
    return {
        row["item_id"]: ";".join(each["code"] for each in rows if each["item_id"] == row["item_id"])
        for row in rows
    }


def test_items_and_codes_are_recognised_however_they_are_written(tmp_path: Path) -> None:
    path = sheet(
        tmp_path,
        "https://github.com/PyTorch/pytorch/issues/1,A1",
        "github:pytorch/pytorch#2, a1 ",
        "pytorch/pytorch#3,PIP/Conda installation failure",
        '"https://gitee.com/mindspore/mindspore/issues/I65G7B","Slow execution,delay,timeout"',
    )
    assert finals(read(path)) == [
        ("github:pytorch/pytorch#1", "github:pytorch/pytorch#1", "A1"),
        ("github:pytorch/pytorch#2", "github:pytorch/pytorch#2", "A1"),
        ("github:pytorch/pytorch#3", "github:pytorch/pytorch#3", "A1"),
        ("gitee:mindspore/mindspore#I65G7B", "gitee:mindspore/mindspore#I65G7B", "E1"),
    ]


def test_an_artifact_in_several_rows_becomes_several_items(tmp_path: Path) -> None:
    first = sheet(tmp_path, "o/r#1,A1", "o/r#2,A1", "https://github.com/o/r/issues/1,B1")
    found = read(first)
    assert finals(found) == [
        ("github:o/r#1", "github:o/r#1", "A1"),
        ("github:o/r#2", "github:o/r#2", "A1"),
        ("github:o/r#1~2", "github:o/r#1", "B1"),
    ]
    assert (found.rows, found.repeated) == (3, {"github:o/r#1"})


def test_an_artifact_in_several_sheets_is_one_item_however_they_are_grouped(tmp_path: Path) -> None:
    first = sheet(tmp_path, "o/r#1,A1", "o/r#2,A1")
    second = sheet(tmp_path, "o/r#1,A1", "o/r#3,B1", name="second.csv")
    together = {label for path in (first, second) for label in finals(read(path))}
    assert set(finals(read(first, second))) == together
    assert finals(read(first, first)) == finals(read(first))
    other = sheet(tmp_path, "o/r#1,B1", name="other.csv")
    [problem] = collected(first, other).problems
    assert problem == f"{other}:2: github:o/r#1 has another code in another sheet"


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("item,final,final\no/r#1,A1,B1\n", encoding="utf-8")
    with pytest.raises(StudyError, match="two columns are called 'final'"):
        read(path)


def test_a_sheet_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no rows below its header"):
        read(sheet(tmp_path))


@pytest.mark.parametrize("name", ["", " ", " r", "a\x1b[31m", "a\nb"])
def test_what_is_no_name_for_a_round_is_refused(name: str) -> None:
    with pytest.raises(StudyError, match="no name for a round"):
        checked_name(name)


def test_rows_without_a_code_are_counted_and_make_no_item(tmp_path: Path) -> None:
    found = read(sheet(tmp_path, "o/r#1,", 'o/r#1," "', "o/r#1", "o/r#1,A1", "nonsense,"))
    assert (found.rows, found.unlabelled, found.repeated) == (5, 4, {"github:o/r#1"})
    # The row keeps its item when the ones above it are filled in.
    assert list(found.items) == ["github:o/r#1~4"]


def test_a_cell_holds_several_codes_where_the_taxonomy_allows_it(tmp_path: Path) -> None:
    path = sheet(tmp_path, "o/r#1,T1.1; t7.1;", "o/r#2,T1", "o/r#3,;", "o/r#4,T5;T5")
    found = read(path, taxonomy="debugging-techniques")
    assert {item: said.codes for item, said in found.finals.items()} == {
        "github:o/r#1": ("T1.1", "T7.1"),
        "github:o/r#2": ("T1",),
        "github:o/r#4": ("T5",),
    }
    assert found.unlabelled == 1


@pytest.mark.parametrize(
    ("taxonomy", "cell", "complaint"),
    [
        ("hp-defects", "A", "'A' is a category of hp-defects: a leaf is wanted"),
        (
            "hp-defects",
            "Installation and deployment defects",
            "'Installation and deployment defects' is a category of hp-defects: a leaf is wanted",
        ),
        ("hp-defects", "H1", "'H1' is no code of hp-defects"),
        ("hp-defects", "A1 A2", "'A1 A2' is no code of hp-defects"),
        ("hp-defects", "A1;B1", "'A1;B1' is no code of hp-defects"),  # one code an item
        ("challenges", "D1;D", "'D' is a category of challenges: a leaf is wanted"),
        ("challenges", "D1;X", "'X' is no code of challenges"),
    ],
)
def test_what_may_not_be_chosen_is_refused(
    tmp_path: Path, taxonomy: str, cell: str, complaint: str
) -> None:
    path = sheet(tmp_path, "o/r#1,", f"o/r#1,{cell}")
    assert collected(path, taxonomy=taxonomy).problems == [f"{path}:3: {complaint}"]


def test_every_wrong_cell_is_named_and_many_are_counted(tmp_path: Path) -> None:
    path = sheet(tmp_path, "o/r#1,Z1", "nonsense,A1", "o/r#2,A1", ",A1", *["o/r#3,Z9"] * 4)
    with pytest.raises(StudyError) as refused:
        store(Study(tmp_path / "study"), path)
    lines = refused.value.message.splitlines()
    assert [line.partition(": ")[0] for line in lines[:-1]] == [
        f"{path}:{number}" for number in (2, 3, 5, 6, 7)
    ]
    assert lines[-1] == "... and 2 more"
    assert "nonsense" in lines[1]


def test_a_line_number_counts_lines_of_the_file_not_rows(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(b'\xef\xbb\xbfnote,item,final\r\n"a\r\nb",o/r#1,A1\r\nc,o/r#2,Z1\r\n')
    assert collected(path).problems == [f"{path}:4: 'Z1' is no code of hp-defects"]


def test_the_same_sheet_stores_nothing_new(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    path = sheet(tmp_path, "o/r#1,A1", "o/r#1,B1", "o/r#2,A1")
    assert store(study, path) == (3, 0)
    before = stored(study)
    assert store(study, path) == (0, 3)
    longer = sheet(tmp_path, "o/r#1,A1", "o/r#1,B1", "o/r#2,A1", "o/r#3,C1")
    assert store(study, longer) == (1, 3)
    assert stored(study) == {**before, "github:o/r#3": "C1"}
    with study.reading() as reader:
        # A run that stored nothing is not recorded; every row names one that is.
        assert reader.value("SELECT count(*) FROM runs") == 2
        assert reader.value("SELECT count(*) FROM final_labels ANTI JOIN runs USING (run_id)") == 0


@pytest.mark.parametrize(
    ("taxonomy", "before", "after"),
    [
        ("hp-defects", "A1", "A2"),
        ("debugging-techniques", "T1", "T5"),
        ("debugging-techniques", "T1;T5", "T1"),
        ("debugging-techniques", "T1", "T1;T5"),
    ],
)
def test_another_final_code_is_refused_and_nothing_is_stored(
    tmp_path: Path, taxonomy: str, before: str, after: str
) -> None:
    study = Study(tmp_path / "study")
    store(study, sheet(tmp_path, f"o/r#1,{before}"), taxonomy=taxonomy)
    with pytest.raises(StudyError) as refused:
        store(study, sheet(tmp_path, f"o/r#7,{before}", f"o/r#1,{after}"), taxonomy=taxonomy)
    assert refused.value.message == (
        f"github:o/r#1 has the final code {before.replace(';', ', ')} in round 'r1'; "
        f"now it would be {after.replace(';', ', ')}"
    )
    assert refused.value.hint.endswith("Nothing was stored.")
    assert stored(study) == {"github:o/r#1": before}


def test_labels_of_another_taxonomy_need_a_round_of_their_own(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    assert store(study, sheet(tmp_path, "o/r#1,A1")) == (1, 0)
    other = sheet(tmp_path, "o/r#1,crash", name="other.csv")
    with pytest.raises(StudyError, match="is labelled with hp-defects, not with symptoms"):
        store(study, other, taxonomy="symptoms")
    import_sheets(study, "r2", [str(other)], COLUMNS, taxonomy_name="symptoms")
    with study.reading() as reader:
        rows = reader.rows("SELECT taxonomy, taxonomy_version, settled_by FROM final_labels")
    assert sorted(tuple(row.values()) for row in rows) == [
        ("hp-defects", DEFECTS.version, "imported"),
        ("symptoms", LIBRARY.taxonomy("symptoms").version, "imported"),
    ]


@law
@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from([leaf.code for leaf in DEFECTS.leaves])),
        min_size=1,
        max_size=12,
    )
)
def test_every_row_is_one_item(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str]]
) -> None:
    lines = [f"o/r#{number},{code}" for number, code in rows]
    path = sheet(tmp_path_factory.mktemp("sheets"), *lines)
    found = read(path)
    assert [code for _item, _artifact, code in finals(found)] == [code for _, code in rows]
    assert len(found.items) == len(rows) == found.rows
    counts = Counter(item.artifact_id for item in found.items.values())
    assert found.repeated == {artifact for artifact, count in counts.items() if count > 1}


def test_the_real_sheets_of_the_defects(tmp_path: Path, study_fixtures: Path) -> None:
    paths = [study_fixtures / "hp_defects" / f"{name}.csv" for name in ("pytorch", "mindspore")]
    asked = Asked(item="URL", final="Final_label")
    found = collected(*paths, asked=asked)
    assert (len(found.finals), found.rows, found.unlabelled) == (2000, 2000, 0)
    assert len(found.items) == 2000
    # Two MindSpore issues stand in two rows each, with different codes.
    assert len(found.repeated) == 2
    assert all(artifact.startswith("gitee:mindspore/mindspore#") for artifact in found.repeated)
    twice = {item for item, its in found.items.items() if item != its.artifact_id}
    assert twice == {f"{artifact}~2" for artifact in found.repeated}

    study = Study(tmp_path / "study")
    import_sheets(study, "hp", list(map(str, paths)), asked, taxonomy_name="hp-defects")
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT split_part(artifact_id, ':', 1) AS host, code, count(*) AS items "
            "FROM final_labels WHERE round = 'hp' GROUP BY ALL"
        )
    counted = {(row["host"], row["code"]): row["items"] for row in rows}
    with (study_fixtures / "facts" / "hp_defects.csv").open(encoding="utf-8") as file:
        expected = {
            (host, row["code"]): int(row[f"n_{name}"])
            for row in csv.DictReader(file)
            if row["is_leaf"] == "1"
            for host, name in (("github", "pytorch"), ("gitee", "mindspore"))
        }
    assert counted == expected
