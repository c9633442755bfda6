"""Numbers for a manuscript: LaTeX commands that compile, names that do not change, CSV, checks."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needed import need

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study
from faultatlas.report.claims.export import (
    ambiguous_names,
    command_names,
    find_claim,
    missing_numbers,
    to_csv,
    to_latex,
)
from faultatlas.report.package.contents import claims_csv

Command = Callable[..., CompletedProcess[str]]

HOSTILE = "\\input{/etc/passwd} % } #1 $x_2^& ~ \\end{document} \u202e \u4f60"


def claim(claim_id: str, value: float | None = 47.9, unit: str = "percent", **more: Any) -> Any:
    fields: dict[str, Any] = {"count": 46, "total": 96, "low": 38.2, "high": 57.8} | more
    made = Claim(claim_id, more.pop("statement", "A number"), value, unit, "q", **{
        key: each for key, each in fields.items() if key != "statement"
    })  # fmt: skip
    return {**vars(made), "result": claim_id.partition(".")[0]}


CLAIMS = [
    claim("coverage-gap.faults.untargeted", printed=46.9, status="near"),
    claim("agreement-hp.cohen", -0.81712, "", low=-0.9, high=None, count=None, total=None),
    claim("associate.p", 7.7e-21, "", low=None, high=None, statement=HOSTILE),
    claim("claims.k051", 12345.0, "faults & more", low=1000.5, high=20000.25),
    claim("agreement.category.4.2%2E1~x", 0.5, "", statement=HOSTILE),
    claim("claims.none", None, "", low=None, high=None, status="no data"),
    claim(HOSTILE, 1.0, HOSTILE, statement=HOSTILE),
    claim("same.a-b", 1.0, ""),
    claim("same.a.b", 2.0, ""),
]


def test_a_name_is_the_words_of_the_id() -> None:
    names = command_names(each["claim_id"] for each in CLAIMS)
    assert names["coverage-gap.faults.untargeted"] == "FAcoverageGapFaultsUntargeted"
    assert names["claims.k051"] == "FAclaimsKZeroFiveOne"
    assert command_names(["a.b"], "My")["a.b"] == "MyaB"
    assert len(set(names.values())) == len(names)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.text(min_size=1))
def test_names_are_letters_different_and_do_not_move(ids: list[str], another: str) -> None:
    names = command_names(ids)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names.values())
    assert len(set(names.values())) == len(ids)
    more = command_names([*ids, another])
    for claim_id in ids:  # what is added gives no other name to another number
        if claim_id not in chain(*ambiguous_names([*ids, another]).values()):
            assert more[claim_id] == names[claim_id]
        assert names[claim_id] not in {name for each, name in more.items() if each != claim_id}


def test_the_same_claims_are_the_same_bytes_and_say_all_there_is() -> None:
    text = to_latex(CLAIMS)
    assert text == to_latex([dict(each) for each in CLAIMS])
    for line in (
        r"\faNum@is{coverage-gap.faults.untargeted}{value}{47.9\,\%}",
        r"\faNum@is{coverage-gap.faults.untargeted}{interval}{38.2--57.8\,\%}",
        r"\faNum@is{coverage-gap.faults.untargeted}{total}{96}",
        r"\faNum@is{coverage-gap.faults.untargeted}{printed}{46.9\,\%}",
        r"\faNum@is{agreement-hp.cohen}{value}{$-$0.817}",
        r"\faNum@is{associate.p}{value}{7.7$\times 10^{-21}$}",
        r"\faNum@is{claims.k051}{value}{12,345 faults \& more}",
        r"\faNum@is{claims.none}{value}{--}",
    ):
        assert line in text.splitlines()
    assert r"{number}{\num{12345}}" in to_latex(CLAIMS, siunitx=True)


def syntax_faults(text: str) -> list[str]:
    """Lines whose braces do not match, and comments that are not whole lines."""
    code = [line for line in text.splitlines() if not line.startswith("%")]
    bare = [re.sub(r"\\[{}%\\]", "", line) for line in code]
    faults = [line for line in bare if "%" in line.rstrip("%")]
    whole = "\n".join(bare)
    return faults + (["braces"] if whole.count("{") != whole.count("}") else [])


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    text = to_latex(CLAIMS)
    assert not syntax_faults(text)
    assert r"\input{/etc" not in "\n".join(x for x in text.splitlines() if not x.startswith("%"))
    need(shutil.which("pdflatex"), "there is no pdflatex; the syntax was checked")
    names = command_names(each["claim_id"] for each in CLAIMS)
    used = "\n\n".join(f"\\{name}{{}}" for name in names.values())
    (tmp_path / "numbers.tex").write_text(text, encoding="utf-8")
    paper = (
        "\\documentclass{article}\\input{numbers}\\begin{document}\\section{\\FAclaimsNone}\n"
        f"{used} \\faNum[low]{{coverage-gap.faults.untargeted}} %s \\end{{document}}\n"
    )
    line = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper"]
    for more, ends in (("", 0), ("\\faNum{moon}", 1), ("\\FAsameAB", 1)):
        (tmp_path / "paper.tex").write_text(paper % more, encoding="utf-8")
        run = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False)
        assert run.returncode == ends, run.stdout.decode(errors="replace")[-2000:]
    assert b"means \\FAsameAB" in run.stdout.replace(b"\n", b"")


def test_no_line_end_in_a_text_ends_a_row_of_csv() -> None:
    text = "one\rtwo\r\nthree\nfour"
    rows = [{**CLAIMS[0], "statement": text}]
    (row,) = csv.DictReader(io.StringIO(to_csv(rows), newline=""))
    assert row["statement"] == text
    packed = io.StringIO(claims_csv([{"statement": text, "n": 1}]).decode(), newline="")
    assert list(csv.reader(packed)) == [["statement", "n"], [text, "1"]]


def test_a_statement_in_csv_is_not_executed() -> None:
    rows = [{**CLAIMS[0], "statement": '=HYPERLINK("http://x")', "value": -1.5}]
    (row,) = csv.DictReader(io.StringIO(to_csv(rows), newline=""))
    assert (row["statement"], row["value"]) == ('\'=HYPERLINK("http://x")', "-1.5")


def test_csv_has_the_exact_numbers() -> None:
    rows = {row["claim_id"]: row for row in csv.DictReader(io.StringIO(to_csv(CLAIMS)))}
    assert float(rows["agreement-hp.cohen"]["value"]) == -0.81712
    assert rows["agreement-hp.cohen"]["high"] == ""
    assert rows["coverage-gap.faults.untargeted"]["command"] == r"\FAcoverageGapFaultsUntargeted"


PAPER = r"""
We found \FAcoverageGapFaultsUntargeted{} and \faNum[count]{coverage-gap.faults.untargeted}.
50\% of \FAgone{}; \\% \FAcommented
\faNum{coverage-gap.faults}, \faNum[low]{associate.p} \faNumber \FAQ
\newcommand{\FAmine}{1}\FAmine
"""


def test_what_a_stranger_stored_is_printed_and_not_run_and_letters_are_as_before() -> None:
    odd = {**CLAIMS[0], "status": r"\input{x}", "unit": r"50% \write18{x} ^^M}"}
    text = to_latex([odd])
    assert r"\input{x}" not in text
    assert r"\write18" not in text
    assert text.endswith("\\makeatother\n")


def test_a_manuscript_is_told_what_the_study_lacks() -> None:
    assert list(missing_numbers(PAPER, CLAIMS)) == [
        (3, r"\FAgone"),
        (4, "coverage-gap.faults"),
        (4, "associate.p [low]"),
    ]
    over_lines = "One\n\\faNum[low]% of it\n  {moon}\n"
    assert list(missing_numbers(over_lines, CLAIMS)) == [(2, "moon")]


def test_a_claim_is_found_by_what_is_typed() -> None:
    ids = [each["claim_id"] for each in CLAIMS]
    wanted = "coverage-gap.faults.untargeted"
    for typed in (
        wanted,
        "coverage",
        r"\FAcoverageGapFaultsUntargeted",
        "FAcoverageGapFaultsUntargeted{}",
    ):
        assert find_claim(ids, typed) == wanted
    with pytest.raises(StudyError, match="2 claims begin with 'same'"):
        find_claim(ids, "same")
    with pytest.raises(StudyError, match="no claim 'coverage-gaps") as error:
        find_claim(ids, "coverage-gaps.fault.untargeted")
    assert wanted in error.value.hint


def test_the_command_writes_files_and_fails_for_a_manuscript_that_lacks_numbers(
    tmp_path: Path, command: Command
) -> None:
    made = [
        Claim(**{key: each[key] for key in vars(Claim("", "", 0, "", ""))}) for each in CLAIMS[:3]
    ]
    provenance.save(
        Study(tmp_path), Result("x", "x", "X", {}, claims=tuple(made)), provenance.begin("t", {})
    )
    done = command("report", "claims", "export", "--latex", "n.tex", "--csv", "n.csv")
    assert done.returncode == 0, done.stderr
    assert "Wrote 3 numbers to n.tex" in done.stdout
    assert (tmp_path / "n.tex").read_text(encoding="utf-8") == to_latex(
        sorted(CLAIMS[:3], key=lambda each: each["claim_id"])
    )
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    done = command("report", "claims", "export", "--check", "paper.tex")
    assert done.returncode == 1
    assert r"paper.tex:3: \FAgone is not in the study" in done.stderr
    assert done.stderr.count("is not in the study") == 3
    for words, said in (
        ((), "no file to write"),
        (("--latex", "n.tex", "--prefix", "a1"), "'a1' cannot begin"),
        (("--check", "moon.tex"), "moon.tex cannot be read"),
        (("y", "--json"), "has no result 'y'"),
    ):
        done = command("report", "claims", "export", *words)
        assert done.returncode == 1
        assert said in done.stderr
