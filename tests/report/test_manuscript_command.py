"""`report manuscript`: files, exit codes, errors, and drafts from manuscripts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from needed import need

from faultatlas.report.manuscript.check import check_text
from faultatlas.report.manuscript.draft import LARGEST, draft_text

Command = Callable[..., CompletedProcess[str]]

RIGHT = '[[claim]]\nid = "a"\nkind = "sum"\nprinted = "3"\nparts = ["1", "2"]\n'
WRONG = RIGHT.replace('"3"', '"4"')


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_without_slips_passes_and_one_with_a_slip_fails(
    command: Command, tmp_path: Path
) -> None:
    right, wrong = written(tmp_path / "r.toml", RIGHT), written(tmp_path / "w.toml", WRONG)
    passed = command("report", "manuscript", right)
    assert (passed.returncode, passed.stderr) == (0, "")
    assert "r.toml: 1 claim, 1 consistent" in " ".join(passed.stdout.split())
    failed = command("report", "manuscript", right, wrong, "--json")
    assert failed.returncode == 1
    document = json.loads(failed.stdout)
    assert document["quantities"][f"{right}.consistent"]["value"] == 1
    assert document["quantities"][f"{wrong}.inconsistent"]["value"] == 1
    first, second = document["tables"]["findings"]
    assert (first["manuscript"], first["status"]) == (str(right), "consistent")
    assert (second["printed"], second["computed"], second["value"]) == ("4", "3", 3.0)
    assert second["status"] == "inconsistent"
    assert "w.toml: 1 claim contradicts" in failed.stderr
    shown = command("report", "manuscript", wrong, "-v")
    assert "add up exactly" in shown.stdout  # the rule
    lines = command("report", "manuscript", wrong).stdout.splitlines()
    [row] = [line for line in lines if line.startswith("a ")]
    assert row.split() == ["a", "4", "3", "inconsistent"]
    assert lines[lines.index(row) + 1].strip().startswith("Why: printed 4")
    assert command("report", "manuscript", wrong, "-q").stdout == ""


def test_shipped_studies_and_kinds(command: Command) -> None:
    found = command("report", "manuscript", "--shipped", "all", "--json")
    assert found.returncode == 1
    rows = json.loads(found.stdout)["tables"]["findings"]
    assert len({row["manuscript"] for row in rows}) == 6
    assert command("report", "manuscript", "--shipped", "maintenance").returncode == 0
    kinds = json.loads(command("report", "manuscript", "--kinds", "--json").stdout)["tables"][
        "kinds"
    ]
    for kind in kinds:
        [finding] = check_text(kind["example"], "example", "example")
        assert finding.status == "consistent"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a claims file needs claim"),
        ("[[claim]", "Fix the line"),
        ("claims = 3", "unknown field 'claims' of a claims file; did you mean 'claim'?"),
        (
            RIGHT.replace("sum", "summ"),
            "c.toml:3: a: kind = 'summ' is unknown; known: arithmetic, ",
        ),
        (RIGHT.replace('id = "a"', ""), "c.toml:1: claim 1: sum needs id"),
        (RIGHT + RIGHT, "c.toml:7: a: the id is used twice"),
        (
            RIGHT.replace('"1"', "1.5"),
            'c.toml:5: a: parts: 1.5 is not text, and its digits count: "1.5"',
        ),
        (RIGHT.replace('"1"', '"38,19"'), "parts: '38,19' is not a number"),
        (
            RIGHT.replace('["1", "2"]', "[]"),
            "c.toml:5: a: parts: []: value should have at least 1 item",
        ),
        (RIGHT.replace("parts", "ports"), "unknown field 'ports' of sum; did you mean 'parts'?"),
        (RIGHT.replace("parts", "x"), "sum needs parts"),
        (RIGHT + 'plce = "p. 3"\n', "unknown field 'plce' of sum; did you mean 'place'?"),
        ('[claims.open]\nsql = "SELECT 1"\n', "this is a file for `analysis claims`"),
        (
            RIGHT + 'inputs = "guessed"\n',
            "inputs: 'guessed': input should be 'stated' or 'inferred'",
        ),
        (RIGHT.replace('"3"', '"' + "9" * 50 + '"'), "a number of 50 characters"),
        ("a = " + "[" * 5000, "Fix the line"),
    ],
)
def test_a_slip_in_the_file_is_named(
    command: Command, tmp_path: Path, text: str, said: str
) -> None:
    ended = command("report", "manuscript", written(tmp_path / "c.toml", text))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert said in " ".join(ended.stderr.split())


def test_what_cannot_be_read(command: Command, tmp_path: Path) -> None:
    assert "nothing to check" in command("report", "manuscript").stderr
    missing = command("report", "manuscript", "x.toml")
    assert "x.toml does not exist" in missing.stderr
    assert "bug-localization" in missing.stderr
    assert "cannot be read" in command("report", "manuscript", tmp_path).stderr
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    assert "not text in UTF-8" in command("report", "manuscript", tmp_path / "b.toml").stderr
    (tmp_path / "l.toml").write_text("#" * 1_000_001, encoding="utf-8")
    assert "Split the file" in command("report", "manuscript", tmp_path / "l.toml").stderr
    unknown = command("report", "manuscript", "--shipped", "x")
    assert "no shipped study is called 'x'" in unknown.stderr


@pytest.mark.parametrize(
    "formula",
    ["__import__('os').getcwd()", "9**9**9", "n.real", "[n][0]", "n if n else n", "(lambda: 1)()",
     "'a' * 9", "n // 0", "n / 0", "1j", "(" * 120 + "n" + ")" * 120],
)  # fmt: skip
def test_a_formula_is_never_run(formula: str) -> None:
    from faultatlas.data.errors import StudyError

    text = (
        f'[[claim]]\nid = "a"\nkind = "arithmetic"\nprinted = "1"\nformula = "{formula}"\n'
        'values = { n = "1" }'
    )
    if formula.startswith("(("):
        [finding] = check_text(text, "a", "a")
        assert finding.status == "consistent"
        return
    with pytest.raises(StudyError):
        check_text(text, "a", "a")


# Drafts.


@pytest.mark.parametrize(
    ("sentence", "kind", "fields", "status"),
    [
        ("154 of 385 (40.0 %)", "percentage", {"count": "154", "total": "385"}, "consistent"),
        ("154 out of the 385 bugs (41%)", "percentage", {"printed": "41 %"}, "inconsistent"),
        ("1,012 / 1,423 (71.1 %)", "percentage", {"total": "1,423"}, "consistent"),
        ("in 3.34% (25 of 750) of", "percentage", {"count": "25"}, "near"),
        ("n = 385 (95 %, 5 %)", "sample-size", {"margin": "5"}, "consistent"),
        ("a sample of 350 files (95% confidence level and a 5% margin of error)", "sample-size",
         {"printed": "350"}, "cannot be checked"),
        ("kappa = 0.80 (substantial)", "kappa-word", {"values": [["0.80", "substantial"]]},
         "consistent"),
        ("Cohen's kappa of 0.87, indicating substantial agreement", "kappa-word",
         {"values": [["0.87", "substantial"]]}, "inconsistent"),
        ("t(698) = 1.45, p = .15", "p-value", {"df": ["698"], "printed": ".15"}, "consistent"),
        ("t(698) = 1.45,\np = 0.015", "p-value", {"printed": "0.015"}, "inconsistent"),
        ("d = 0.27 (medium)", "effect-word", {"scale": "cohen-d"}, "inconsistent"),
        ("Cliff's delta = 0.35 (medium)", "effect-word", {"scale": "cliff-delta"}, "consistent"),
        ("\N{GREEK SMALL LETTER CHI}2(1) = 87.7, p < .001", "p-value", {"statistic": "chi2"},
         "consistent"),
        ("t(30) = 2.75, p \N{LESS-THAN OR EQUAL TO} .01", "p-value",
         {"printed": "\N{LESS-THAN OR EQUAL TO}.01"}, "consistent"),
        ("F(2, 57) = 3.2, p = 0.048", "p-value", {"df": ["2", "57"]}, "consistent"),
        ("z = \N{MINUS SIGN}1.96, p = 0.05", "p-value", {"value": "-1.96"}, "consistent"),
        ("r(28) = 0.36, p = 0.0509", "p-value", {"statistic": "r"}, "near"),
    ],
)  # fmt: skip
def test_sentences_that_are_draft_text(
    sentence: str, kind: str, fields: dict[str, Any], status: str
) -> None:
    text = draft_text(f"A line.\nWe found {sentence} there.\n", "paper")
    [claim] = tomllib.loads(text)["claim"]
    assert (claim["kind"], claim["place"]) == (kind, "line 2")
    assert fields.items() <= claim.items()
    [finding] = check_text(text, "a", "a")
    assert finding.status == status, finding


@pytest.mark.parametrize(
    "sentence",
    ["version 1.2 of 3.4 (50 %)", "5 of 4 (125 %)", "in 2019 (40 %)", "t = 1.45", "kappa metric",
     "n = 385", "p = 0.05", "12 of 30", "d = 0.3"],
)  # fmt: skip
def test_sentences_that_are_left_alone(sentence: str) -> None:
    assert draft_text(sentence, "paper") == ""


def test_latex_is_read_and_its_tables_are_added_up(command: Command, tmp_path: Path) -> None:
    tex = written(
        tmp_path / "paper.tex",
        r"""We saw 154~of 385 ($40.0\,\%$). % 1 of 4 (50\%)
Then $\chi^2(1, N = 770) = 87.7$, $p \leq .001$. \\% 1 of 4 (50\%)
\begin{tabular}{lrr}
\toprule
Kind & Projects & Bugs \\
\midrule
Framework & 25 & 836 \\
Tool & 31 & 1{,}510 \\
\midrule
Total & 57 & 2{,}346 \\
\end{tabular}
""",
    )
    out = tmp_path / "numbers.toml"
    ended = command("report", "manuscript", "--draft", tex, "--write", out, "--json")
    assert ended.returncode == 1
    drafted = json.loads(ended.stdout)
    rows = drafted["tables"]["findings"]
    bad = [each for each in rows if each["status"] == "inconsistent"]
    assert [(each["printed"], each["computed"], each["place"]) for each in bad] == [
        ("57", "56", "line 10")
    ]
    assert len(rows) == 4
    again = json.loads(command("report", "manuscript", out, "--json").stdout)
    counts = [
        [quantity["value"] for quantity in document["quantities"].values()]
        for document in (drafted, again)
    ]
    assert counts == [[3, 1], [3, 1]]
    assert (
        "exists already" in command("report", "manuscript", "--draft", tex, "--write", out).stderr
    )


@pytest.mark.parametrize("table", [
    "Kind\tBugs\nA\t3\nB\t4\nTotal\t8\n",
    "| Kind | Bugs |\n|---|---:|\n| A | 3 |\n| B | 4 |\n| **Total** | 8 |\n",
])  # fmt: skip
def test_tables_of_text_and_markdown(table: str) -> None:
    [claim] = tomllib.loads(draft_text(table, "paper"))["claim"]
    assert (claim["printed"], claim["parts"]) == ("8", ["3", "4"])


def test_running_numbers_are_not_added_up() -> None:
    table = "Name\tNo.\tBugs\nA\t1\t5\nB\t2\t6\nTotal\t2\t11\n"
    [claim] = tomllib.loads(draft_text(table, "paper"))["claim"]
    assert claim["printed"] == "11"


def test_a_manuscript_without_numbers_and_one_too_large(command: Command, tmp_path: Path) -> None:
    empty = command("report", "manuscript", "--draft", written(tmp_path / "a.md", "No numbers."))
    assert empty.returncode == 0
    assert "no numbers were found" in " ".join(empty.stderr.split())
    large = written(tmp_path / "b.txt", "x" * (LARGEST + 1))
    assert "is larger than" in command("report", "manuscript", "--draft", large).stderr


def test_the_slips_of_a_published_text_are_found_in_its_tables(study_fixtures: Path) -> None:
    seeds = study_fixtures.parent / "seeds"
    need(seeds.is_dir(), "the texts of the studies are not here")
    [text] = [path.read_text(encoding="utf-8") for path in seeds.glob("003_*.txt")]
    found = check_text(draft_text(text, "paper"), "paper", "paper")
    slips = {(each.printed, each.computed) for each in found if each.is_contradiction}
    assert slips == {("136", "126"), ("2365", "2,366")}
    assert sum(each.kind == "p-value" for each in found) == 3
