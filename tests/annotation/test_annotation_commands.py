"""`annotation import` and `annotation taxonomy` as a user runs them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from labelling import Labelled

from faultatlas.annotation.bridge.projects import wanted_project
from faultatlas.annotation.rounds import find_round
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

Command = Callable[..., CompletedProcess[str]]
COLUMNS = ("--item", "URL", "--final", "Final_label", "--taxonomy", "hp-defects")
GOOD = "URL,Final_label\nhttps://github.com/o/r/issues/1,A1\nhttps://github.com/o/r/issues/2,\n"


def sheet(content: str | bytes, name: str = "sheet.csv") -> Path:
    """A sheet in the current folder, which is the test's own."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return Path(name)


def labels(directory: Path) -> list[tuple[str, ...]]:
    with Study(directory).reading() as reader:
        rows = reader.rows("SELECT round, item_id, code FROM final_labels ORDER BY ALL")
    return [tuple(row.values()) for row in rows]


def test_the_real_sheets_are_imported_once(
    tmp_path: Path, command: Command, study_fixtures: Path
) -> None:
    sheets = [study_fixtures / "hp_defects" / f"{name}.csv" for name in ("pytorch", "mindspore")]
    line = ("import", "hp", *sheets, *COLUMNS, "--study", tmp_path / "study")
    first = command("annotation", *line)
    assert first.returncode == 0
    assert " ".join(first.stdout.split()) == (
        "2,000 final labels stored in round hp from 2,000 rows "
        "(0 known already, 0 rows without a code)"
    )
    told = first.stderr.splitlines()
    assert told[0] == f"new study in {tmp_path / 'study'}"
    assert told[1].startswith("2 artifacts stand in several rows; each row is an item: gitee:")
    assert len(told) == 2
    before = labels(tmp_path / "study")
    assert len(before) == 2000
    assert len([item for _, item, _ in before if item.endswith("~2")]) == 2

    again = command("annotation", *line, "--json")
    assert again.returncode == 0
    document = json.loads(again.stdout)
    repeated = document.pop("repeated_artifacts")
    assert document == {
        "round": "hp", "taxonomy": "hp-defects", "rows": 2000, "stored": 0, "known": 2000,
        "unlabelled": 0, "items": 2000, "artifacts": 1998, "taxonomy_version": "1.0.0",
    }  # fmt: skip
    assert len(repeated) == 2
    assert labels(tmp_path / "study") == before


def test_a_changed_code_of_a_real_sheet_is_refused(
    tmp_path: Path, command: Command, study_fixtures: Path
) -> None:
    real = (study_fixtures / "hp_defects" / "pytorch.csv").read_text(encoding="utf-8")
    assert command("annotation", "import", "hp", sheet(real), *COLUMNS).returncode == 0
    before = labels(tmp_path)
    lines = real.splitlines()
    assert lines[1].endswith(",A4")
    lines[1] = lines[1].removesuffix("A4") + "A1"
    changed = sheet("\n".join([*lines, f"https://github.com/o/r/issues/1{',A1' * 7}"]))
    ended = command("annotation", "import", "hp", changed, *COLUMNS)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "error: github:pytorch/pytorch#93880 has the final code A4 in round 'hp'; "
        "now it would be A1\n"
        "Final labels are never overwritten by a sheet: choose another round name, or settle it "
        "anew: annotation adjudicate hp --from FILE. Nothing was stored.\n"
    )
    assert labels(tmp_path) == before
    # The way out that the message names.
    assert command("annotation", "import", "hp2", changed, *COLUMNS).returncode == 0


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "unknown code": (GOOD.replace("A1", "Z1"), "sheet.csv:2: 'Z1' is no code of hp-defects"),
    "category": (
        GOOD.replace("A1", "A"),
        "sheet.csv:2: 'A' is a category of hp-defects: a leaf is wanted",
    ),
    # To rich, `:100:` is an emoji.
    "line 100": (
        GOOD + "o/r#3,\n" * 96 + "o/r#4,Z1\n",
        "sheet.csv:100: 'Z1' is no code of hp-defects",
    ),
    "unknown column": (
        GOOD.replace("Final_label", "Label"),
        "sheet.csv:1: there is no column 'Final_label'",
    ),
    "columns parted by something else": (
        GOOD.replace(",", "%"),
        "sheet.csv:1: there is no column 'URL', 'Final_label'",
    ),
    "empty": ("", "sheet.csv:1: there is no column 'URL', 'Final_label'"),
    "unparsable item": (GOOD + "nonsense,A1\n", "sheet.csv:4: 'nonsense' names no artifact"),
    "not CSV": (
        GOOD + '"half a cell,A1\nx\ny\n',
        "sheet.csv:4: is not valid CSV: unexpected end of data",
    ),
    "text behind a quote": (
        GOOD + '"a"b,A1\n',
        "sheet.csv:4: is not valid CSV: ',' expected after '\"'",
    ),
    "not UTF-8": (GOOD.encode() + "é,A1\n".encode("latin-1"), "sheet.csv:4: is not UTF-8"),
    "spreadsheet": (b"PK\x03\x04\x14\xff\n", "sheet.csv:1: is not UTF-8"),
    "spreadsheet in UTF-16": (GOOD.encode("utf-16"), "sheet.csv:1: is not UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_wrong_sheet_is_refused_with_file_and_line_and_makes_no_study(
    content: str | bytes, message: str, tmp_path: Path, command: Command
) -> None:
    study = tmp_path / "study"
    ended = command("annotation", "import", "hp", sheet(content), *COLUMNS, "--study", study)
    assert (ended.returncode, ended.stdout) == (1, "")
    error, hint = ended.stderr.splitlines()
    assert error == f"error: {message}"
    assert hint
    assert not (study / "study.duckdb").exists()
    # At most what the spellings may mean is written down.
    assert [path.name for path in study.rglob("*.csv")] == ["hp.csv"] * ("spellings" in hint)


def test_a_wrong_sheet_beside_a_good_one_leaves_a_study_as_it_was(
    tmp_path: Path, command: Command
) -> None:
    assert command("annotation", "import", "hp", sheet(GOOD), *COLUMNS).returncode == 0
    good = sheet(GOOD.replace("issues/1", "issues/9"), "good.csv")
    bad = sheet(GOOD.replace("A1", "Z1"), "bad.csv")
    ended = command("annotation", "import", "hp", good, bad, *COLUMNS)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: bad.csv:2: 'Z1' is no code of hp-defects\n")
    assert labels(tmp_path) == [("hp", "github:o/r#1", "A1")]


@pytest.mark.parametrize("name", ["nowhere.csv", "folder"])
def test_a_missing_sheet_is_refused(name: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "folder").mkdir()
    ended = command("annotation", "import", "hp", name, *COLUMNS)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"error: {name} cannot be read: ")
    assert not (tmp_path / "study.duckdb").exists()


def test_an_unknown_taxonomy_is_answered_with_the_known_ones(
    tmp_path: Path, command: Command
) -> None:
    arguments = [*COLUMNS[:-1], "hp-defect"]
    ended = command("annotation", "import", "hp", sheet(GOOD), *arguments)
    assert ended.returncode == 1
    assert ended.stderr.startswith(
        "error: there is no taxonomy 'hp-defect'\nDid you mean hp-defects? "
    )
    assert " Known: challenges, " in ended.stderr
    assert not (tmp_path / "study.duckdb").exists()


def test_rows_without_a_code_are_told(command: Command) -> None:
    ended = command("annotation", "import", "hp", sheet(GOOD), *COLUMNS)
    assert ended.returncode == 0
    text = " ".join(ended.stdout.split())
    assert text == (
        "1 final label stored in round hp from 2 rows (0 known already, 1 row without a code)"
    )


def test_labels_of_a_taxonomy_of_the_study(tmp_path: Path, command: Command) -> None:
    (tmp_path / "taxonomies").mkdir()
    sheet(
        "taxonomy: own\nversion: '0.1.0'\ntitle: t\nsource: s\nchoice: single\nselect: leaves\n"
        "question: q\nnodes:\n  - {code: X, name: Ex, definition: d, not: n}\n",
        "taxonomies/own.yaml",
    )
    content = sheet(GOOD.replace("A1", "ex"))
    ended = command("annotation", "import", "r", content, *COLUMNS[:-1], "own")
    assert ended.returncode == 0
    assert labels(tmp_path) == [("r", "github:o/r#1", "X")]


def test_the_run_is_recorded_without_secrets(tmp_path: Path, command: Command) -> None:
    token = "ghp_" + "a" * 36
    content = sheet(GOOD.replace("Final_label", token))
    arguments = ["--item", "URL", "--final", token, "--taxonomy", "hp-defects"]
    assert command("annotation", "import", "hp", content, *arguments).returncode == 0
    with Study(tmp_path).reading() as reader:
        [run] = reader.rows("SELECT command, outcome, arguments FROM runs")
    assert (run["command"], run["outcome"]) == ("annotation import", "ok")
    recorded = json.loads(run["arguments"])
    assert recorded["files"] == ["sheet.csv"]
    assert recorded["final"] == "***"
    assert token not in run["arguments"]


def test_an_option_that_is_missing_is_named(command: Command) -> None:
    ended = command("annotation", "import", "hp", "sheet.csv", "--item", "URL")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "--taxonomy NAME" in ended.stderr
    line = ("annotation", "import", "hp", sheet(GOOD), "--taxonomy", "hp-defects")
    assert "Add --item COL" in command(*line).stderr
    ended = command(*line, "--item", "URL")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "--final COL" in ended.stderr


def test_the_console_script_imports_a_sheet(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(GOOD, encoding="utf-8")
    script = Path(sys.executable).with_name("annotation")
    ended = subprocess.run(
        [script, "import", "hp", "sheet.csv", *COLUMNS, "--study", "study", "--json"],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "new study in study\n")
    assert json.loads(ended.stdout)["stored"] == 1
    assert labels(tmp_path / "study") == [("hp", "github:o/r#1", "A1")]


# Looking at taxonomies.


def test_the_list_shows_every_taxonomy_and_crosswalk(command: Command) -> None:
    library = TaxonomyLibrary()
    document = json.loads(command("annotation", "taxonomy", "list", "--json").stdout)
    sizes = {each["name"]: (each["nodes"], each["leaves"]) for each in document["taxonomies"]}
    assert list(sizes) == list(library.names)
    assert sizes["humbatova"] == (116, 92)
    assert [each["name"] for each in document["crosswalks"]] == list(library.crosswalk_names)
    shown = command("annotation", "taxonomy", "list")
    assert (shown.returncode, shown.stderr) == (0, "")
    for name in (*library.names, *library.crosswalk_names):
        assert name in shown.stdout


def test_titles_are_whole_on_a_terminal_of_80_columns(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = command("annotation", "taxonomy", "list").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
    assert "Not shown" not in shown
    for word in ("machine-learning", "neural-network", "maintenance-themes", "multiple"):
        assert word in shown.split()


def test_a_crosswalk_is_shown_with_the_names_of_both_sides(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    line = ("annotation", "taxonomy", "show", "hp-defects--humbatova")
    shown = command(*line)
    assert (shown.returncode, shown.stderr) == (0, "")
    rows = [" ".join(row.split()) for row in shown.stdout.splitlines()]
    assert "E2 Abnormal loss value change 5.2.L1 Wrong loss function calculation related" in rows
    assert "G3 Model load/export error \N{EN DASH} none" in rows
    assert "Basis" not in shown.stdout
    assert "Basis" in command(*line, "-v").stdout
    part = command(*line, "B").stdout
    assert "B1 " in part
    assert "A1 " not in part

    document = json.loads(command(*line, "--json").stdout)
    assert (document["crosswalk"], document["from"], document["to"]) == (
        "hp-defects--humbatova", "hp-defects", "humbatova",
    )  # fmt: skip
    assert len(document["pairs"]) == 21
    [loss] = json.loads(command(*line, "E2", "--json").stdout)["pairs"]
    assert loss.pop("basis").startswith("In both the loss takes values")
    assert loss == {
        "from": "E2", "name": "Abnormal loss value change", "relation": "related",
        "to": [{"code": "5.2.L1", "name": "Wrong loss function calculation"}],
    }  # fmt: skip


def test_the_inverse_of_a_crosswalk_is_shown(command: Command) -> None:
    shown = command("annotation", "taxonomy", "show", "dl-bugs--humbatova", "gpu", "--json")
    document = json.loads(shown.stdout)
    assert document["source"].startswith("The inverse of humbatova--dl-bugs. ")
    [pair] = document["pairs"]
    assert pair["to"][0] == {"code": "2.L1", "name": "Missing destination GPU device"}


def test_an_unknown_crosswalk_or_code_of_one_is_refused(command: Command) -> None:
    ended = command("annotation", "taxonomy", "show", "humbatova--symptoms")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: there is no crosswalk 'humbatova--symptoms'\nKnown: dl")
    ended = command("annotation", "taxonomy", "show", "hp-defects--humbatova", "Z9")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: taxonomy hp-defects has no code 'Z9'\n")


def test_a_branch_is_shown_with_its_definitions(command: Command) -> None:
    whole = command("annotation", "taxonomy", "show", "humbatova")
    assert whole.returncode == 0
    assert "5.4.1.L1 Missing preprocessing step" in whole.stdout
    assert "Not: " not in whole.stdout
    assert "Not: " in command("annotation", "taxonomy", "show", "humbatova", "-v").stdout
    branch = command("annotation", "taxonomy", "show", "humbatova", "5.4").stdout
    assert "5.4.1.L1 Missing preprocessing step" in branch
    assert "Not: " in branch
    assert "5.5.L1" not in branch.partition("Not: ")[0]
    document = json.loads(
        command("annotation", "taxonomy", "show", "humbatova", "5.4", "--json").stdout
    )
    codes = [node["code"] for node in document["nodes"]]
    assert codes == ["5.4", "5.4.1", "5.4.1.L1", "5.4.2", "5.4.2.L1"]
    assert set(document["nodes"][0]) == {
        "code", "name", "parent", "definition", "not", "example", "aliases",
    }  # fmt: skip


def test_validation_tells_what_it_checked(command: Command) -> None:
    ended = command("annotation", "taxonomy", "validate", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    names = {Path(path).stem for path in json.loads(ended.stdout)["valid"]}
    library = TaxonomyLibrary()
    assert names == {*library.names, *library.crosswalk_names}


def test_commands_that_are_proposed_can_be_pasted(tmp_path: Path, command: Command) -> None:
    """A name of two words is one word of the command."""
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    item = "github:o/r#1"
    labelled.round("Round 1", {item: {"Ann B": "a1", "bob": "a1"}, "github:o/r#2": {"bob": "a1"}})
    with labelled.study.reading() as reader:
        of = find_round(reader, "Round 1")
        sent = wanted_project(reader, of, "Ann B", "independent").command
        decided = wanted_project(reader, of, "Ann B", "adjudicated").command
    assert shlex.split(sent) == ["annotation", "push", "Round 1", "--rater", "Ann B", "--again"]
    assert shlex.split(decided)[2:] == ["Round 1", "--third", "Ann B", "--push"]
    shown = " ".join(command("annotation", "adjudicate", "Round 1").stdout.split())
    assert "annotation adjudicate 'Round 1' --settle" in shown
    assert "annotation adjudicate 'Round 1' --single" in shown
    for words, proposed in (
        (("adjudicate", "Round 1", "--third", "Ann B"), "--third 'Ann B' --push"),
        (("adjudicate", "Round 1", "--accuracy"), "annotation adjudicate 'Round 1' --rule"),
        (("agreement", "Round 1", "--stage", "negotiated"), "annotation agreement 'Round 1'"),
        (("sample", "My sample", "--extend"), "annotation sample 'My sample' --extend"),
    ):
        refused = command("annotation", *words)
        assert refused.returncode == 1
        assert proposed in " ".join(refused.stderr.split())
    done = command("annotation", "export", "Round 1", "for ann.csv", "--rater", "Ann B")
    assert "annotation import 'Round 1' 'for ann.csv'" in " ".join(done.stderr.split())
