"""Sheets and options that could be misread: labels go where they belong, or nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sheet_desk import Desk

from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import export_sheet, import_sheets
from faultatlas.annotation.sheets.spellings import propose
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_library import TaxonomyLibrary

COLUMNS = {"rater_columns": ("ann", "bob")}
WIDE = "item,url,title,stratum,stage,ann,bob,final,settled_by"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def exported(desk: Desk, name: str, **options: Any) -> str:
    path = desk.folder / name
    export_sheet(
        desk.study, "r", path, stage=options.get("stage", ""), version=options.get("version", ""),
        is_long=options.get("long", False), replace=True,
    )  # fmt: skip
    return str(path)


def test_a_row_without_labels_keeps_its_place(desk: Desk) -> None:
    ann = desk.sheet("item,t", "o/r#1,a1", "o/r#1,a2", "o/r#2,b1", name="a.csv")
    bob = desk.sheet("item,t", "o/r#1,", "o/r#1,a2", "o/r#2,b1", "o/r#2,b2", name="b.csv")
    done = desk.take(f"ann={ann}", f"bob={bob}", code="t")
    assert desk.said() == [
        ("github:o/r#1", "ann", "a1"), ("github:o/r#1~2", "ann", "a2"),
        ("github:o/r#1~2", "bob", "a2"), ("github:o/r#2", "ann", "b1"),
        ("github:o/r#2", "bob", "b1"), ("github:o/r#2~2", "bob", "b2"),
    ]  # fmt: skip
    [note] = done.document["notes"]
    assert note.endswith("wrong item: github:o/r#2 (1 in a.csv, 2 in b.csv)")
    # Also where a confirmed table leaves the cell out, and where rows name no item.
    table = Path(desk.sheet("spelling,code", "skip,-", name="t.csv"))
    cy = desk.sheet("item,t", "o/r#1,skip", ",a1", "o/r#1,b1")
    desk.take(cy, rater="cy", code="t", spellings=table, skip_nameless=True)
    assert ("github:o/r#1~2", "cy", "b1") in desk.said()
    # Of long sheets a row is the rater's, also before she filled it in.
    long = desk.sheet("item,who,t,f", "o/r#3,ann,,a1", "o/r#3,bob,,a1", "o/r#3,bob,a1,a1")
    desk.take(long, rater_column="who", code="t", final="f")
    with desk.study.reading() as reader:
        rows = reader.rows("SELECT item_id FROM items WHERE artifact_id = 'github:o/r#3'")
    assert [row["item_id"] for row in rows] == ["github:o/r#3", "github:o/r#3~2"]


def test_codes_beside_their_column_are_not_passed_over(desk: Desk) -> None:
    from faultatlas.annotation.sheets.layout import LONG

    desk.take(desk.sheet("item,ann,bob", "o/r#1,a1,a2"), **COLUMNS)
    blank = "github:o/r#1,,,,ann,independent,,,,,,1.0.0"
    for column, cell, said in (
        ("code", "a2", "1 row without a code: column 'code' is not read; did you mean 'codes'?"),
        ("mine", "a2", "1 row without a code, and none with one"),
    ):
        sheet = desk.sheet(",".join((*LONG, column)), f"{blank},{cell}")
        assert said in desk.refused(sheet, item="").message
    renamed = desk.sheet(",".join(LONG).replace("codes", "code"), blank)
    assert "is the column 'code' called 'codes'" in str(desk.refused(renamed, item="").hint)


def test_a_stage_is_never_taken_for_another(desk: Desk) -> None:
    desk.take(desk.sheet("item,ann,bob", "o/r#1,a1,a2"), **COLUMNS)
    desk.take(desk.sheet("item,ann,bob", "o/r#1,a2,a2"), **COLUMNS, stage="negotiated")
    before = desk.said("stage, rater, code, is_current", current=False)
    for options in ({"stage": "negotiated"}, {}, {"long": True}):
        file = exported(desk, "out.csv", **options)
        done = import_sheets(desk.study, "r", [file], Asked())
        assert done.document["answers"]["known"] == sum(done.document["stages"].values())
    assert done.document["stages"] == {"independent": 2, "negotiated": 2}
    assert "stages of the answers: 2 independent, 2 negotiated" in done.lines
    with pytest.raises(StudyError, match="'stage' independent; --stage says negotiated"):
        import_sheets(desk.study, "r", [file], Asked(), stage="negotiated")
    assert desk.said("stage, rater, code, is_current", current=False) == before


def test_a_round_has_one_spelling(desk: Desk) -> None:
    for name, number in (("Round 1", 1), ("Round  1", 2)):
        done = desk.take(desk.sheet("item,ann,bob", f"o/r#{number},a1,a1"), name=name, **COLUMNS)
        assert done.document["round"] == "Round 1"
    assert {row[0] for row in desk.said("round")} == {"Round 1"}


def test_versions_of_a_taxonomy_stay_apart(desk: Desk) -> None:
    tree = {"x": "", "y": "", "z": ""}
    desk.labelled.taxonomy({"x": "", "y": ""}, version="1.9.0")
    desk.take(desk.sheet("item,ann,bob", "o/r#1,x,y", "o/r#2,x,y"), **COLUMNS)
    desk.labelled.taxonomy(tree, version="1.10.0")
    newer = {**COLUMNS, "version": "1.10.0"}
    assert (
        "'z' is a code of tree 1.10.0; the sheet is read in 1.9.0"
        in desk.refused(desk.sheet("item,ann,bob", "o/r#1,z,"), **COLUMNS).message
    )  # the round began with 1.9.0
    desk.take(desk.sheet("item,ann,bob", "o/r#1,z,"), **newer)
    with desk.study.reading() as reader:
        kept = reader.rows("SELECT version FROM store.taxonomy_text ORDER BY ALL")
        runs = reader.value("SELECT count(*) FROM runs")
    assert [row["version"] for row in kept] == ["1.10.0", "1.9.0"]
    before = desk.said("item_id, rater, code, taxonomy_version, is_current", current=False)
    for is_long, version in ((True, ""), (False, "1.9.0"), (False, "1.10.0")):
        file = exported(desk, "out.csv", long=is_long, version=version)
        if not is_long:
            row = ",independent,x,y,," if version == "1.9.0" else ",independent,z,,,"
            assert row in Path(file).read_text(encoding="utf-8-sig")
        done = import_sheets(desk.study, "r", [file], Asked(), version=version)
        assert done.document["answers"]["new"] == done.document["answers"]["changed"] == 0
    assert desk.said("item_id, rater, code, taxonomy_version, is_current", current=False) == before
    # Another tree, or another choice, under the name of a known one.
    desk.labelled.taxonomy({"x": "", "w": ""}, version="1.10.0")
    file = desk.sheet("item,ann,bob", "o/r#1,w,")
    assert "are not those that this study has labels of" in desk.refused(file, **newer).message
    desk.labelled.taxonomy({**tree, "w": ""}, version="1.11.0", choice="multiple")
    newest = {**COLUMNS, "version": "1.11.0"}
    assert "has a single choice of codes" in desk.refused(file, **newest).message
    with desk.study.reading() as reader:
        assert reader.value("SELECT count(*) FROM runs") == runs


@pytest.mark.parametrize(
    ("sheet", "options", "message"),
    [
        ("item,ann,n\no/r#1,a1,x", {"rater_columns": ("ann",), "comment": "n"}, "--comment would"),
        ("item,ann\no/r#1,a1", {"rater_columns": ("ann",), "codes_from": ("ann=x:a1",)},
         "--codes-from would do nothing with --rater-columns"),
        ("item,E1,T1\no/r#1,e,a1", {"pairs": "E*/T*", "code": "T1"}, "--code would do nothing"),
        ("item,w,c\no/r#1,e,a1", {"rater_column": "w", "code": "c", "codes_from": ("c=x:a1",)},
         "--codes-from would do nothing with --rater-column"),
        ("item,f,n\no/r#1,a1,x", {"final": "f", "comment": "n"}, "--comment would do nothing"),
        (f"{WIDE}\ngithub:o/r#1,,,,,a1,,,", {"item": "", "final": "f", "conflict": "c"},
         "--final and --conflict would do nothing with"),
        (f"{WIDE.replace('bob', 'ann')}\ngithub:o/r#1,,,,,a1,a2,,", {"item": ""},
         "two columns are called 'ann'"),
        ("item,In\no/r#1,Yess", {"rater": "a", "codes_from": ("In=Yes:a1", "In=No:b1")},
         "s.csv:2: 'In' says 'Yess': --codes-from knows 'yes', 'no'"),
    ],
)  # fmt: skip
def test_options_that_would_do_nothing_are_refused(
    sheet: str, options: dict[str, Any], message: str, desk: Desk
) -> None:
    assert message in desk.refused(desk.sheet(sheet), **options).message


def test_a_file_is_of_one_rater_and_given_once(desk: Desk) -> None:
    file = desk.sheet("item,t", "o/r#1,a1")
    named = desk.refused(f"bob={file}", rater="ann", code="t")
    assert "names the rater, and so does --rater ann" in named.message
    assert "is given twice" in desk.refused(f"ann={file}", f"bob={file}", code="t").message


def test_items_keep_their_stratum(desk: Desk) -> None:
    file = desk.sheet("item,ann,kind", "o/r#1,a1,x")
    desk.take(file, rater_columns=("ann",))
    refused = desk.refused(file, rater_columns=("ann",), stratum="kind")
    assert refused.message.startswith("github:o/r#1 has the stratum '' in round 'r'")


def test_a_rater_who_is_named_twice(desk: Desk) -> None:
    file = desk.sheet("item,E1,T1,E2,T2,E3,T3", "o/r#1,Ann,a1,Ann,a1,ann,a2")
    done = desk.take(file, pairs="E*/T*")
    assert "s.csv: the same rater says the same twice, counted once, in row 2" in done.notes
    assert any("raters 'Ann' and 'ann' differ in case only" in note for note in done.notes)


@pytest.mark.parametrize(
    ("taxonomy", "text"),
    [
        ("screening", "not a false positive"), ("screening", "non-generic"),
        ("screening", "generic/unclear"), ("screening", "isn't generic"), ("screening", "TRUE"),
        ("screening", "#N/A"), ("screening", "2024-01-02"), ("screening", "no fault here"),
        ("dl-or-not", "DL bug? no"), ("dl-or-not", "DL;NDL"), ("dl-or-not", "no"),
    ],
)  # fmt: skip
def test_what_may_mean_the_opposite_is_left_to_a_person(taxonomy: str, text: str) -> None:
    known = TaxonomyLibrary().taxonomy(taxonomy)
    for otherwise in ("", known.leaves[0].code):
        guess = propose(text, known, otherwise)
        assert guess is not None
        assert guess[0] == ""


def test_accepting_spellings_keeps_what_a_person_decided(desk: Desk) -> None:
    file = desk.sheet("item,ann", "o/r#1,Nam of a1", "o/r#2,Name of b1 (sure)")
    desk.refused(file, rater_columns=("ann",))
    table = desk.study.directory / "spellings" / "r.csv"
    table.write_text(table.read_text().replace("Nam of a1,1,a1,", "Nam of a1,1,a2,"))
    desk.take(file, rater_columns=("ann",), accept=True)
    assert [row[2] for row in desk.said()] == ["a2", "b1"]
    odd = desk.sheet("item,ann", "o/r#3,#REF!", "o/r#4,not Name of a1")
    refused = desk.refused(odd, rater_columns=("ann",), accept=True, otherwise="a1")
    assert len(refused.message.splitlines()) == 2


def test_a_doi_may_end_like_a_repeated_row(desk: Desk) -> None:
    file = desk.sheet("item,ann", "10.1145/x~2,a1", "10.1145/x,a2")
    desk.take(file, rater_columns=("ann",))
    wanted = [
        ("doi:10.1145/x", "doi:10.1145/x", "a2"),
        ("doi:10.1145/x~2", "doi:10.1145/x~2", "a1"),
    ]
    assert desk.said("item_id, artifact_id, code") == wanted
    desk.take(exported(desk, "out.csv"), name="again", item="")
    assert desk.said("item_id, artifact_id, code") == sorted([*wanted, *wanted])
    both = desk.sheet("item,ann", "10.1145/x~2,a1", "10.1145/x,a1", "10.1145/x,a1")
    assert "a row of doi:10.1145/x~2" in desk.refused(both, rater_columns=("ann",)).message
