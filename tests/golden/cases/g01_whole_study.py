"""A whole study, command after command, until no view is empty that needs no real data."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from faults.whole_study import BY_NAME, PROJECT, RATERS, github, inputs, stack_exchange
from golden.stage import Stage

NEEDS = ("bubblewrap",)
# The steps of the fault suite up to here are those before the papers leave the population.
_MINED = ("fetch", "commits", "dump", "posts", "papers", "link", "words")
_ANALYSED = ("distribution", "gap", "reexecute", "build", "check", "package", "verify")
_KNOWN = "Title,Year,DOI\nFaults in Layers,2021,10.1000/one\nNobody Finds This,2020,\n"
_HEAD = "paper,taxonomy,code,support,place,quote,rater\n"
_TECHNIQUES = "10.1000/one,debugging-techniques,T2.2.1,explicit,IV-B,we locate the layer,ann\n"
_FAULTS = """10.1000/one,humbatova,1.1.L2,theme,III,"shapes, mostly",ann
10.1000/two,humbatova,5.1.L2,evaluation,Table 2,,ben
"""


def run(stage: Stage) -> None:
    inputs(stage.folder / "inputs")
    hub, exchange = github(), stack_exchange()
    hub.add_repositories(30)
    places = {
        "study": stage.study(), "inputs": stage.folder / "inputs",
        "github": stage.serve(hub).url, "stackexchange": stage.serve(exchange).url,
    }  # fmt: skip

    def step(name: str) -> None:
        chosen = BY_NAME[name]
        chosen.before(stage.study())
        words = (word.format(**places) for word in chosen.words)
        stage.run(name, chosen.program, *words, *(("--functions",) if name == "commits" else ()))

    for name in _MINED:
        step(name)
    hurried = ("--max-wait", "0", "--api-url", places["github"])
    stage.run("timeline", "miner", "fetch", PROJECT, "--timeline", *hurried)
    stage.run("repos", "miner", "repos", "stars:>=0", *hurried)
    stage.requests("github", hub.requests)
    stage.requests("stackexchange", exchange.requests)
    _read_papers(stage)
    for name in ("papers-out", "sample", "round", "export", "import", "agreement", "adjudicate"):
        step(name)
    _suggest(stage)
    for name in _ANALYSED:
        step(name)
    stage.run("replicate", "analysis", "replicate", "maintenance")
    words = ("--sample", "2", "--stratify", "symptom", "--workers", "1", "--budget", "0m")
    stage.run("bug sample", "analysis", "reexecute", *words)  # drawn, and not run
    stage.run("status", "miner", "status")
    stage.views("whole")
    stage.query("runs", "SELECT command, outcome, count(*) AS runs FROM runs GROUP BY ALL")
    stage.query("results", "SELECT result, analysis FROM results WHERE is_latest")
    stage.claims("whole")
    for path in stage.study().glob("out/**/*-runs.*"):  # how long programs ran
        path.unlink()
    stage.files("whole", stage.study(), "pilot.csv", "title.csv")
    tables = {path.name for path in stage.study().glob("out/*/*.csv")} - {"claims.csv"}
    stage.numbers("whole", stage.study(), *(f"out/*/{name}" for name in sorted(tables)))


def _read_papers(stage: Stage) -> None:
    """Screening, coding, places, and the list of papers that a search must find."""
    known, techniques, faults = (
        _written(stage.folder / name, text)
        for name, text in (
            ("known.csv", _KNOWN), ("techniques.csv", _HEAD + _TECHNIQUES),
            ("faults.csv", _HEAD + _FAULTS),
        )
    )  # fmt: skip
    raters = [word for rater in RATERS for word in ("--rater", rater)]
    stage.run("known", "miner", "papers", "--known", "must-find", "--from", known)
    stage.run("known papers", "analysis", "known-papers", "must-find")
    stage.run("screen", "annotation", "screen", "title", *raters)
    _label(stage, "screening-title", "title.csv", ("include", "include", "secondary-study"))
    stage.run("screened", "annotation", "adjudicate", "screening-title", "--rule", "unanimous")
    stage.run("code", "annotation", "code", "--taxonomy", "debugging-techniques", *raters)
    _label(stage, "paper-techniques", "coded.csv", ("T2.2.1",))
    stage.run("coded", "annotation", "adjudicate", "paper-techniques", "--rule", "unanimous")
    stage.run("places", "annotation", "places", techniques)
    stage.run("coding", "annotation", "places", faults, "--codes")
    stage.run("prisma", "analysis", "prisma")


def _suggest(stage: Stage) -> None:
    """Two more rounds: a model proposes codes for one that it learnt from the other."""
    raters = [word for rater in RATERS for word in ("--rater", rater)]
    for name, size in (("taught", 36), ("next", 50)):
        stage.run(f"sample {name}", "annotation", "sample", name, "--size", size, "--seed", "3")
        words = ("--sample", name, "--taxonomy", "humbatova", *raters)
        stage.run(f"round {name}", "annotation", "round", name, *words)
    _label(stage, "taught", "taught.csv", ("4.2.1.L2", "5.4.1.L1"))
    stage.run("suggest", "annotation", "suggest", "next", "--trained-on", "taught")


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _label(stage: Stage, name: str, file: str, codes: Sequence[str]) -> None:
    """The raters fill a sheet in, both the same: the codes in turn."""
    path = stage.study() / file
    stage.run(f"{name} out", "annotation", "export", name, path)
    with path.open(encoding="utf-8", newline="") as sheet:
        head, *rows = csv.reader(sheet)
    for row, code in zip(rows, cycle(codes), strict=False):
        for rater in RATERS:
            row[head.index(rater)] = code
    with path.open("w", encoding="utf-8", newline="") as sheet:
        csv.writer(sheet).writerows([head, *rows])
    stage.run(f"{name} in", "annotation", "import", name, path)
