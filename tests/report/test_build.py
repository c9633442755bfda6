"""`report build`: one report of the whole study, the same bytes wherever it is built."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from labelling import Labelled
from markdown_it import MarkdownIt
from markupsafe import escape
from needed import need
from program import Call, run
from reported import RESULT, hostile, labelled, store
from undrawn import undrawn

import faultatlas
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.report.claims.check import recompute_all
from faultatlas.report.study import own
from faultatlas.report.study.building import Built, build_report

# Another day, another zone, another order of hashes: none of it may show.
ELSEWHERE = """
import sys
from datetime import datetime
from pathlib import Path
from faultatlas.data import clock
clock.set_testing(clock.Clock(now=lambda: datetime(2031, 5, 6, 7, 8, 9)))
from faultatlas.data.study import Study
from faultatlas.report.study.building import build_report
build_report(Study(Path(sys.argv[1])), [])
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return labelled(tmp_path / "study")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a funnel, a sample, labels, agreement and a finding."""
    study = labelled(tmp_path_factory.mktemp("template") / "study")
    for program, *words in (
        ("miner", "filter", "issues", "--where", "kind = 'issue'"),
        ("miner", "filter", "odd", "--where", "number::INTEGER % 2 = 1"),
        ("annotation", "sample", "odd", "--size", "5", "--stratify", "project", "--seed", "3"),
        ("annotation", "agreement", "main"),
        ("annotation", "adjudicate", "main", "--rule", "unanimous"),
    ):
        done = run(Call(program, [*words, "--study", str(study.directory)]))
        assert done.code == 0, done.err
    store(study)
    shutil.rmtree(study.directory / "out")
    return study.directory


@pytest.fixture
def whole(template: Path, tmp_path: Path) -> Study:
    return Study(shutil.copytree(template, tmp_path / "whole"))


@pytest.fixture(scope="module")
def built(template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Built]:
    """That study with its report: for tests that only read."""
    study = Study(shutil.copytree(template, tmp_path_factory.mktemp("built") / "whole"))
    return study, build_report(study, [])


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of labels and one result."""
    study = labelled(tmp_path_factory.mktemp("stored") / "study")
    store(study)
    return build_report(study, [], as_stored=True).page.parent


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = labelled(tmp_path_factory.mktemp("hostile") / "study")
    store(study, hostile())
    return build_report(study, [], as_stored=True).page.parent


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_built_elsewhere_on_another_day_it_is_the_same_bytes(
    built: tuple[Study, Built], tmp_path: Path
) -> None:
    whole, _ = built
    again = tmp_path / "another folder" / "copy"
    shutil.copytree(whole.directory, again, ignore=shutil.ignore_patterns("out"))
    there = {
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "tr_TR.UTF-8",
        "COLUMNS": "40",
    }
    subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(again)], check=True, env={**os.environ, **there}
    )
    first, second = tree(whole.directory / "out"), tree(again / "out")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert {"report/index.html", "report/report.md", "report/report.tex"} <= first.keys()


def test_the_report_has_every_format_of_everything(built: tuple[Study, Built]) -> None:
    page = built[1].page
    files = set(tree(page.parent))
    for suffix in ("svg", "1col.pdf", "2col.pdf", "1col.svg", "2col.svg"):
        stem = "shares." if "col" not in suffix else "shares-"
        assert f"results/made-up/{stem}{suffix}" in files
    assert {"results/made-up/faults.csv", "results/made-up/faults.tex"} <= files
    assert {"study/funnel-steps.csv", "study/checklist-standards.tex", "claims.csv"} <= files
    plain = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    assert [each["key"] for each in plain["sections"]] == [
        "summary", "funnel", "sample", "rounds", "agreement", "findings", "threats", "checklist",
    ]  # fmt: skip
    linked = set(re.findall(r'href="\./([^"]+)"', page.read_text(encoding="utf-8")))
    assert linked <= files


def test_every_number_has_its_anchor_and_the_way_back(built: tuple[Study, Built]) -> None:
    page = built[1].page.read_text(encoding="utf-8")
    with built[0].reading() as reader:
        ids = [row["claim_id"] for row in reader.rows("SELECT claim_id FROM claims")]
    assert len(ids) > 10
    for claim_id in ids:
        assert f'id="{claim_id}"' in page
        assert escape(f"report trace {shlex.quote(claim_id)}") in page


def test_a_changed_label_changes_the_numbers_at_the_next_build(whole: Study) -> None:
    undrawn(whole.directory)
    build_report(whole, [])
    with whole.reading() as reader:
        before = provenance.latest(reader, own.NAME)
    assert own.again(whole, {}) == before
    Labelled(whole).say("main", {"github:o/r#20": {"ann": "b2"}})
    built = build_report(whole, [])
    assert "agreement-main" in built.changed
    assert build_report(whole, []).changed == []


def test_a_result_that_cannot_be_computed_stays_and_is_named(built: tuple[Study, Built]) -> None:
    assert list(built[1].failed) == ["made-up"]
    assert "cannot be computed again" in built[1].page.read_text(encoding="utf-8")


def test_the_top_tells_the_first_sentence_of_every_result(built: tuple[Study, Built]) -> None:
    folder = built[1].page.parent
    header = (folder / "index.html").read_text(encoding="utf-8").partition("</header>")[0]
    assert '<a href="#result-made-up">What was made up</a> Almost half.' in header
    assert "of a threat in the data" in header
    assert "- **What was made up**: Almost half." in (folder / "report.md").read_text()
    assert r"\textbf{What was made up.} Almost half." in (folder / "report.tex").read_text()


def test_columns_that_nobody_filled_are_in_the_files_only(built: tuple[Study, Built]) -> None:
    folder = built[1].page.parent
    assert "threshold" in (folder / "study/rounds-rounds.csv").read_text()
    assert "Threshold" not in (folder / "study/rounds-rounds.tex").read_text()
    page = (folder / "index.html").read_text(encoding="utf-8")
    rounds = re.search(r"Rounds</caption>.*?</thead>", page, re.DOTALL)
    assert rounds
    assert "Threshold" not in rounds[0]
    assert ">Raters<" in rounds[0]
    assert "standard,attribute,state,evidence,section,todo,id" in (
        folder / "study/checklist-standards.csv"
    ).read_text(encoding="utf-8")


def test_a_report_without_figures_has_every_number(
    whole: Study, built: tuple[Study, Built]
) -> None:
    undrawn(whole.directory)
    page = build_report(whole, []).page
    assert "<figure" not in page.read_text(encoding="utf-8")
    assert not re.search(r"\.(svg|pdf)\b", (page.parent / "report.md").read_text(encoding="utf-8"))
    assert "includegraphics" not in (page.parent / "report.tex").read_text(encoding="utf-8")
    assert not [path for path in page.parent.rglob("*") if path.suffix in {".svg", ".pdf"}]
    claims = (page.parent / "claims.csv").read_bytes()
    assert claims == (built[1].page.parent / "claims.csv").read_bytes()


def test_results_that_compare_with_an_earlier_one_settle_at_once(study: Study) -> None:
    undrawn(study.directory)
    opened = faultatlas.open(study.directory)
    opened.coverage_gap()
    with study.reading() as reader:
        first = reader.value("SELECT run_id FROM results WHERE result = 'coverage-gap'")
    again = opened.coverage_gap(since=first)
    assert first in " ".join(again.result.notes)
    built = build_report(study, [])
    assert (built.changed, built.new) == ([], ["study"])
    assert all(one.is_same for one in recompute_all(study))
    assert build_report(study, []).changed == []


def test_as_stored_computes_and_stores_nothing(whole: Study) -> None:
    with whole.reading() as reader:
        before = reader.rows("SELECT * FROM runs ORDER BY run_id")
    Labelled(whole).say("main", {"github:o/r#20": {"ann": "b2"}})
    built = build_report(whole, [], as_stored=True)
    assert (built.changed, built.failed) == ([], {})
    with whole.reading() as reader:
        assert len(reader.rows("SELECT * FROM runs")) == len(before) + 1


def test_only_the_named_results_are_shown(whole: Study) -> None:
    store(whole, replace(RESULT, name="second", title="The second one", claims=()))
    page = build_report(whole, ["second"], as_stored=True).page.read_text(encoding="utf-8")
    assert "The second one" in page
    assert "What was made up" not in page
    with pytest.raises(StudyError, match="no result 'third'"):
        build_report(whole, ["third"])


def test_the_folder_is_replaced_but_for_what_others_put_there(study: Study) -> None:
    store(study)
    folder = build_report(study, [], as_stored=True).page.parent
    (folder / "mine.txt").write_text("mine")
    store(study, replace(RESULT, tables=()))
    build_report(study, [], as_stored=True)
    assert (folder / "mine.txt").read_text() == "mine"
    assert not (folder / "results/made-up/faults.csv").exists()


def test_a_folder_of_somebody_else_is_not_touched(study: Study, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "report.tex").write_text("mine")
    with pytest.raises(StudyError, match="holds files, but no report"):
        build_report(study, [], as_stored=True, out=thesis)
    assert (thesis / "report.tex").read_text() == "mine"


def test_a_study_without_anything_says_what_comes_next(tmp_path: Path) -> None:
    study = Study(tmp_path / "new")
    with study.writing():
        pass
    folder = build_report(study, []).page.parent
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "What comes next" in page
    assert "miner fetch" in page
    assert "Nothing is in this study yet." in page


def test_the_title_is_that_of_the_study(study: Study) -> None:
    (study.directory / "study.toml").write_text('[study]\ntitle = "Faults & <b>fixes</b>"\n')
    folder = build_report(study, [], as_stored=True).page.parent
    assert "<h1>Faults &amp; &lt;b&gt;fixes&lt;/b&gt;</h1>" in (folder / "index.html").read_text()
    assert (
        r"\title{Faults \& \textless{}b\textgreater{}fixes" in (folder / "report.tex").read_text()
    )
    assert r"# Faults \& \<b\>fixes" in (folder / "report.md").read_text()


@pytest.mark.parametrize("name", ["shares-1col.pdf", "shares-2col.pdf"])
def test_fonts_are_embedded_as_outlines_that_publishers_take(stored: Path, name: str) -> None:
    pdf = (stored / "results/made-up" / name).read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    box = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+)", pdf)
    assert box
    assert float(box[1]) == pytest.approx(240 if "1col" in name else 504, abs=0.5)


def test_hostile_texts_are_only_text(hostile_report: Path) -> None:
    folder = hostile_report
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    assert not re.search(r"<(img|iframe|object|form|link|base)\b", page)
    links = re.findall(r'<a [^>]*href="([^"]*)"', page)
    assert [link for link in links if not re.match(r"https?://|\./|#", link)] == []
    marked = (folder / "report.md").read_text(encoding="utf-8")
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(marked)
    assert not re.search(r"<(script|iframe|object|form|link|svg|style)\b", shown)
    assert set(re.findall(r'<img src="([^"]*)"', shown)) == {"results/made-up/shares.svg"}
    marked_links = set(re.findall(r'<a href="([^"]*)"', shown))
    assert all(re.fullmatch(r"(results|study)/[\w./-]+", link) for link in marked_links)


def compiled(document: Path, folder: Path) -> str:
    need(shutil.which("pdflatex"), "there is no pdflatex: .ci/run gets it")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    done = subprocess.run(
        [*words, f"-output-directory={folder}", document.name], cwd=document.parent, check=False,
        capture_output=True, encoding="utf-8", errors="replace", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


@pytest.mark.parametrize("kind", ["whole", "hostile"])
def test_the_document_compiles_with_all_tables_and_figures(
    kind: str, built: tuple[Study, Built], hostile_report: Path, tmp_path: Path
) -> None:
    folder = built[1].page.parent if kind == "whole" else hostile_report
    said = compiled(folder / "report.tex", tmp_path)
    assert "Output written on" in said
    assert "multiply defined" not in said
    if kind == "whole":
        # Letters are outlines, not bitmaps; without Latin Modern a lone symbol may be one.
        assert not re.search(r"\bec[a-z]+[0-9]+\.600pk", said)
        assert max(map(float, re.findall(r"Overfull \\hbox \(([0-9.]+)pt", said)), default=0) < 20


def test_row_groups_stand_above_their_rows(stored: Path) -> None:
    folder = stored
    text = (folder / "results/made-up/faults.tex").read_text(encoding="utf-8")
    lines = text.splitlines()
    first = lines.index(r"\multicolumn{3}{@{}l@{}}{\textit{Training}} \\*")
    assert lines[first + 1].startswith("Wrong loss & 9")
    assert lines[first + 3] == r"\addlinespace"
    assert r"\label{tab:made-up-faults}" in text
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert '<th scope="rowgroup" colspan="3">Training</th>' in page
    assert "branch,fault,count,share" in (folder / "results/made-up/faults.csv").read_text()
