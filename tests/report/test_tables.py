"""Tables: exact for programs, escaped for LaTeX, readable and harmless on a terminal."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needed import needing
from rich.console import Console
from rich.table import Table as ConsoleTable

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Column, Result, Table
from faultatlas.data.sheets import original
from faultatlas.report import formatting, latex
from faultatlas.report.old.console import Output
from faultatlas.report.tables import console_table, result_json, table_csv, write_tables

TOP = Table(
    name="top-ten",
    title="The most frequent faults",
    columns=(
        Column("code", "Code", "code"),
        Column("fault", "Fault"),
        Column("artifacts", "Artifacts", "count"),
        Column("mentions", "Interview mentions", "count"),
        Column("share", "Share of all", "percent"),
        Column("kappa", "Kappa", "number"),
        Column("interval", "95 % interval", "interval"),
    ),
    rows=(
        (
            "4.2.1.L2",
            "Wrong shape of input data for a layer",
            12345,
            2,
            47.916,
            0.8171,
            "1.2 to 7.9",
        ),
        ("5.4.1.L1", "Missing preprocessing step", 11, None, 5, -0.25, "0.1 to 0.4"),
    ),
    note="Counts at 100 % & more.",
)
HOSTILE = (
    "\\input{/etc/passwd}",
    "\\end{document}",
    '[x] & 50% $a_1$ #~^ {b} <c> |d| `e\' "f" --flag',
    "*starred",
    "café Łódź ąę κ 你好 😀 \u202e\x1b[31m\x00",
    "line\nbreak\r\n\ttab",
    "[bold red]markup[/]",
    "",
)
EVIL = Table(
    name="evil",
    title="Evil & <title> 100% $x_1$ \\oops {",
    columns=(Column("a", "A & B"), Column("n", "n_1", "number"), Column("c", "C", "code")),
    rows=tuple((text, float("inf"), text) for text in HOSTILE),
    note="\\note %",
)
LONG = replace(TOP, name="long", rows=TOP.rows * 40, folded=True)
RESULT = Result(
    analysis="coverage-gap",
    name="coverage-gap",
    title="Gap",
    parameters={"evidence": "survey", "years": [2019, 2020]},
    claims=(
        Claim(
            "gap.faults", 'says "so",\nreally', 47.916, "percent", "q", 46, 96, 38.2, 57.8, "Wilson"
        ),
        Claim("gap.none", "nothing", None, "", "q"),
    ),
    tables=(TOP, EVIL, LONG),
    document={"faults": {"untargeted": 46}},
)


def shown(table: Table, width: int = 80, **options: bool) -> list[str]:
    console = Console(width=width, file=io.StringIO(), force_terminal=False, color_system=None)
    console.print(console_table(table, width, **options))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_files(tmp_path: Path) -> None:
    names = {path.name for path in write_tables(RESULT, tmp_path)}
    tables = {f"{name}.{end}" for name in ("top-ten", "evil", "long") for end in ("csv", "tex")}
    assert names == tables | {"claims.csv", "result.json"}
    assert names == {path.name for path in tmp_path.iterdir()}


def test_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    other = replace(RESULT, parameters=dict(reversed(RESULT.parameters.items())))
    for path in write_tables(RESULT, tmp_path / "a"):
        write_tables(other, tmp_path / "b")
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert b"\r\n" not in path.read_bytes().replace(b"line\nbreak\r\n", b"")


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.lists(st.tuples(texts, st.integers(), st.floats(allow_nan=False)), min_size=1, max_size=5)
)
def test_csv_gives_back_exactly_what_was_written(rows: list[tuple[str, int, float]]) -> None:
    columns = (Column("a,b", "A"), Column("n", "N", "count"), Column("x", "X", "percent"))
    text = table_csv(Table("t", "T", columns, tuple(rows)))
    header, *back = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header == ["a,b", "n", "x"]
    assert [(original(a), int(n), float(x)) for a, n, x in back] == rows


def test_csv_holds_nothing_that_a_spreadsheet_executes_and_numbers_as_they_are() -> None:
    columns = (Column("a", "A"), Column("n", "N", "count"))
    table = Table("t", "T", columns, (("=cmd|' /C calc'!A0", -3), ("-x", -0.5)))
    assert table_csv(table) == "a,n\n'=cmd|' /C calc'!A0,-3\n'-x,-0.5\n"


def test_csv_leaves_missing_cells_empty_and_spells_booleans() -> None:
    table = Table("t", "T", (Column("a", "A"), Column("b", "B")), ((None, True), ("x", False)))
    assert table_csv(table) == "a,b\n,true\nx,false\n"


def test_claims_csv_has_every_field(tmp_path: Path) -> None:
    write_tables(RESULT, tmp_path)
    with (tmp_path / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file))
    assert claims[0]["statement"] == 'says "so",\nreally'
    assert (float(claims[0]["value"]), claims[0]["count"], claims[0]["total"]) == (
        47.916,
        "46",
        "96",
    )
    assert claims[1]["value"] == ""


def test_json_gives_back_the_result() -> None:
    plain = replace(RESULT, tables=(TOP, LONG))
    assert Result.from_json(json.loads(result_json(plain))) == plain


def test_json_is_strict_sorted_and_readable() -> None:
    text = result_json(RESULT)
    assert json.loads(text, parse_constant=pytest.fail)["tables"][1]["rows"][0][1] is None
    assert "你好" in text
    keys = list(json.loads(text))
    assert keys == sorted(keys)


def test_half_a_surrogate_pair_does_not_stop_the_report(tmp_path: Path) -> None:
    broken = replace(TOP, rows=(("\ud800", *TOP.rows[0][1:]),))
    write_tables(replace(RESULT, tables=(broken,)), tmp_path)
    stored = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert stored["tables"][0]["rows"][0][0] == "\ud800"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50% & $5 #1 a_b", r"50\% \& \$5 \#1 a\_b"),
        ("{x}", r"\{x\}"),
        ("C:\\dir", r"C:\textbackslash{}dir"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("a < b | c > d", r"a \textless{} b \textbar{} c \textgreater{} d"),
        ("[0, 1]", "{[}0, 1]"),
        ("--flag", "-{}-flag"),
        ("a-b", "a-b"),
        ("1\N{EN DASH}2", "1--2"),
        ("Müller", "Müller"),
        ("κ", r"$\kappa$"),
        ("你", "{[}U+4F60]"),
        ("a\nb", "a b"),
    ],
)
def test_latex_escapes(text: str, expected: str) -> None:
    assert latex.escape(text) == expected


def test_latex_has_rules_caption_label_and_aligned_numbers() -> None:
    text = latex.render(TOP)
    for part in (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\caption{The most frequent faults}",
        r"\label{tab:top-ten}",
        "rrrrr@{}",
        r"12,345 & 2 & 47.9\,\% & 0.817 & 1.2 to 7.9 \\",
        r"11 & -- & 5.0\,\% & $-$0.250",
        r"Counts at 100 \% \& more.",
    ):
        assert part in text
    assert r"\begin{longtable}" in latex.render(LONG)


@needing(shutil.which("pdflatex"), "there is no pdflatex")
def test_latex_compiles(tmp_path: Path) -> None:
    write_tables(RESULT, tmp_path)
    inputs = "\n".join(f"\\input{{{table.name}}}" for table in RESULT.tables)
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{array,booktabs,longtable,tabularx}\n"
        f"\\begin{{document}}\n{inputs}\n\\listoftables\nthe very end\\end{{document}}\n",
        encoding="utf-8",
    )
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        "paper",
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a b", "x" * 200, "a\0", "a\n"])
def test_name_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="name of a file"):
        write_tables(replace(RESULT, tables=(replace(TOP, name=name),)), tmp_path)


def test_terminal_table_fits_and_breaks_no_number() -> None:
    lines = shown(TOP)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for number in ("12,345", "47.9 %", "5.0 %", "0.817", "-0.250", "1.2 to 7.9", "4.2.1.L2"):
        assert number in text
    assert {line.rstrip()[-10:] for line in lines if " to " in line} == {"1.2 to 7.9", "0.1 to 0.4"}


def test_terminal_table_leaves_out_what_is_aside_and_what_does_not_fit() -> None:
    columns = (*TOP.columns[:3], replace(TOP.columns[3], aside=True), *TOP.columns[4:])
    path = Column("path", "Path of categories")
    wide = replace(
        TOP,
        columns=(*columns, path),
        rows=tuple((*row, "Training / Preprocessing / Missing") for row in TOP.rows),
    )
    lines = shown(wide, width=70)
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 70
    assert text.count("mentions") == 1  # in the note that says how to see them
    assert "Training" not in text
    assert text.endswith("Not shown: Path of categories. With -v: Interview mentions.")
    (everything,) = [
        part
        for part in console_table(wide, width=200, with_aside=True).renderables
        if isinstance(part, ConsoleTable)
    ]
    assert "Interview mentions" in [str(column.header) for column in everything.columns]
    assert "Training / Preprocessing" in "\n".join(shown(wide, width=140))


@pytest.mark.parametrize("width", [24, 40, 60, 120])
def test_terminal_table_always_shows_what_a_row_is_and_its_status(width: int) -> None:
    judged = replace(
        TOP,
        columns=(*TOP.columns, Column("status", "Status", "status")),
        rows=tuple((*row, "not reproduced") for row in TOP.rows),
    )
    lines = shown(judged, width)
    assert max(map(len, lines)) <= width
    ends = [line.split()[-1] for line in lines if line.strip()]
    assert ends.count("reproduced") == len(TOP.rows)
    assert any(line.split()[:1] == ["Wrong"] or " Wrong " in line for line in lines)


def test_who_asks_for_more_loses_none_of_the_usual_columns() -> None:
    usual = (Column("bug", "Bug", "code"), Column("verdict", "Verdict"), Column("reason", "Reason"))
    aside = tuple(Column(f"a{at}", f"Aside {at}", aside=True) for at in range(6))
    rows = tuple(
        ("own/a-name-of-a-bug", "not reproduced", "a reason of words", *[f"say {row}"] * 6)
        for row in range(3)
    )
    text = " ".join(
        " ".join(shown(Table("t", "T", (*usual, *aside), rows), 70, with_aside=True)).split()
    )
    assert "Bug Verdict Reason" in text
    assert "Not shown: " in text
    assert "Reason" not in text.partition("Not shown: ")[2]


def test_what_every_row_says_is_said_once_and_what_none_says_is_not_shown() -> None:
    columns = (
        Column("bug", "Bug"),
        Column("usual", "Usual"),
        Column("device", "Device", aside=True),
        Column("stratum", "Stratum", aside=True),
        Column("runs", "Runs", "count", aside=True),
    )
    rows = (("one", "same", "cpu", "", 3), ("two", "same", "cpu", None, 4))
    lines = [line.rstrip() for line in shown(Table("t", "T", columns, rows), with_aside=True)]
    assert lines[1].split() == ["Bug", "Usual", "Runs"]
    assert lines[-1] == "In every row: Device cpu."


def test_a_long_word_is_broken_behind_its_hyphen() -> None:
    columns = (Column("bug", "Bug", "code"), Column("symptom", "Symptom"))
    rows = (("b" * 20, "incorrect-functionality"), ("c" * 20, "crash"))
    lines = [line.split() for line in shown(Table("t", "T", columns, rows), 40)]
    assert ["b" * 20, "incorrect-"] in lines
    assert ["functionality"] in lines


def test_one_line_a_row_as_long_as_a_column_can_be_left_out() -> None:
    columns = (Column("bug", "Bug", "code"), Column("x", "Oracle"), Column("y", "Symptom"))
    rows = (("b" * 20, "incorrect output", "incorrect-functionality"),)
    lines = shown(Table("t", "T", columns, rows), 60, one_line=True)
    assert lines[3].split() == ["b" * 20, "incorrect", "output"]
    assert lines[-1].split() == ["Not", "shown:", "Symptom."]
    assert "Symptom" in " ".join(shown(Table("t", "T", columns, rows), 60)[:2])


def test_terminal_table_gives_its_room_to_the_longest_text() -> None:
    words = Table("t", "T", (Column("a", "A"), Column("b", "B")), (("one two", "word " * 30),))
    assert len(shown(words, 100)) == 3 + 2
    assert shown(words, 400)[-1].startswith("one two  word word")


def test_terminal_table_is_inert() -> None:
    text = "\n".join(shown(EVIL, width=200))
    assert "[bold red]markup[/]" in text
    assert not set("\x1b\x00\u202e\t") & set(text)


def test_terminal_table_without_rows() -> None:
    assert any("Interview" in line for line in shown(replace(TOP, rows=())))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formatting.cell(1234567, "count"), "1,234,567"),
        (formatting.cell(47.96, "percent"), "48.0 %"),
        (formatting.cell(-0.01, "percent"), "0.0 %"),
        (formatting.cell(1.04, "points"), "+1.0 pp"),
        (formatting.cell(-23.4, "points"), "-23.4 pp"),
        (formatting.cell(-0.01, "points"), "+0.0 pp"),
        (formatting.cell(0.00012, "number"), "1.2e-04"),
        (formatting.cell(float("nan"), "number"), formatting.MISSING),
        (formatting.cell(float("nan"), "count"), formatting.MISSING),
        (formatting.cell(float("inf"), "percent"), "∞"),
        (formatting.cell("n/a", "percent"), "n/a"),
        (formatting.measure(47.916, "%"), "47.9 %"),
        (formatting.measure(52.0, "papers"), "52 papers"),
        (formatting.measure(0.8171), "0.817"),
        (formatting.measure(None, "%"), formatting.MISSING),
        (formatting.printed(48, "percent"), "48 %"),
        (formatting.printed(46.9, "%"), "46.9 %"),
        (formatting.interval(38.24, 57.81, "%"), "38.2\N{EN DASH}57.8 %"),
        (formatting.interval(-0.1, 0.25), "-0.100 to 0.250"),
        (formatting.interval(None, 1, "%"), formatting.MISSING),
    ],
)
def test_numbers_are_written_one_way(written: str, expected: str) -> None:
    assert written == expected


def test_one_of_a_unit_is_no_plural() -> None:
    said = [formatting.measure(1, unit) for unit in ("papers", "codes", "ms", "%")]
    assert said == ["1 paper", "1 code", "1 ms", "1.0 %"]
    assert (formatting.measure(2, "papers"), formatting.printed(1, "papers")) == (
        "2 papers", "1 paper",
    )  # fmt: skip


def test_a_long_text_stands_below_its_row_over_the_whole_width() -> None:
    columns = (Column("a", "Name"), Column("x", "Why", below=True), Column("n", "Runs", "count"))
    why = "[bold]because of " + "many words " * 12
    table = Table("t", "Title", columns, (("one", why, 3), ("two", None, 4)), "A note.")
    console = Console(width=80, file=io.StringIO(), force_terminal=False, color_system=None)
    console.print(console_table(table, 80))
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines[0].split() == ["Title"]
    assert lines[1].split() == ["Name", "Runs"]  # what stands below needs no heading
    assert lines[3].split() == ["one", "3"]
    assert lines[4].startswith("  [bold]because of many words")
    assert len(lines[4]) > 70
    assert lines[6].split() == ["two", "4"]
    assert lines[7:] == ["A note."]


def test_no_line_ends_between_a_number_and_its_percent_sign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "the share of bugs is 47.9 % (95 % 38.2 to 57.8 %), which is not 50 % of all"
    columns = (Column("a", "A"), Column("b", "B", below=True))
    table = Table("t", "T", columns, (("x" * 20, words),), words)
    for width in range(24, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        Output().show(words, console_table(table, width))
        lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert max(map(len, lines)) <= width
        assert not [line for line in lines if line.startswith("%")]
        assert " ".join(lines).count("(95 % 38.2 to 57.8 %)") == 3
