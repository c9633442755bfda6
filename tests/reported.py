"""A small study of everything that a report tells of: for tests of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agreeing import TWENTY
from hostile_texts import HTML, MARKDOWN
from labelling import Labelled
from population import Population

from faultatlas.data import provenance
from faultatlas.data.old.results import Bar, Claim, Column, Figure, Part, Result, Series, Table
from faultatlas.data.study import Study

SHARES = Figure(
    "shares",
    "Research and practice",
    "shares",
    "Of 96 faults, 44 are targeted.",
    (Bar("Faults", (Part("Targeted", 44), Part("Untargeted", 46), Part("New", 6))),),
)
BARS = Figure(
    "frameworks",
    "Faults by framework",
    "bars",
    "PyTorch has more.",
    categories=("Training", "Tensors and inputs"),
    series=(Series("PyTorch", (12.5, 30.0)), Series("TensorFlow", (8.0, 2.25))),
    unit="percent",
)
FAULTS = Table(
    "faults",
    "Faults by branch",
    (
        Column("branch", "Branch"),
        Column("fault", "Fault"),
        Column("count", "Artifacts", "count"),
        Column("share", "Share", "percent"),
    ),
    (
        ("Training", "Wrong loss", 9, 22.5),
        ("Training", "Missing data", 10, 25.0),
        ("Model", "Wrong layer", None, None),
        ("Model", "Wrong shape", 1234, 52.5),
    ),
    "A note.",
    grouped_by="branch",
)
CLAIM = Claim(
    "made-up.untargeted", "of the faults are untargeted", 47.9, "percent", "made-up(): untargeted",
    46, 96, 38.2, 57.8, "Wilson", printed=46.9, status="near",
)  # fmt: skip
RESULT = Result(
    "made-up", "made-up", "What was made up", {}, ("Almost half.",), (CLAIM,), (FAULTS,),
    (SHARES, BARS), ("A note on it.",), ("Humbatova et al., https://doi.org/10.1145/3377811",),
)  # fmt: skip


def store(study: Study, *results: Result) -> None:
    """Results of an analysis that nobody has: they stay as they are."""
    for result in results or (RESULT,):
        provenance.save(study, result, provenance.begin("analysis made-up", {}))


def labelled(folder: Path, said: dict[str, dict[str, str]] | None = None) -> Study:
    """A study with a round of two raters and some artifacts."""
    desk = Labelled.at(folder)
    desk.taxonomy()
    answers = {item: dict(row) for item, row in (said or TWENTY).items()}
    Population(desk.study).issues(*_bodies(len(answers)), project="o/r")
    desk.round("main", answers, strata=dict.fromkeys(answers, "o/r"))
    return desk.study


def _bodies(number: int) -> Sequence[str]:
    return [f"It fails, {at}" for at in range(1, number + 1)]


def hostile() -> Result:
    """A result in which every text is hostile, and one is huge."""
    every = [*HTML, *MARKDOWN, "x" * 50_000, "\u202egnp \x1b[31m"]
    texts = [text for text in every if "\ud800" not in text]  # a study cannot store it
    rows = tuple((text, text, 1, 2.0) for text in texts)
    claim = replace(CLAIM, claim_id="made-up.<script>alert(1)</script> 'x'", statement=texts[0])
    figure = replace(SHARES, title=texts[1], description=texts[0])
    table = replace(FAULTS, title=texts[2], rows=rows, note=texts[3])
    return replace(RESULT, title=texts[0], summary=tuple(texts), claims=(claim,), tables=(table,),
                   figures=(figure,), notes=tuple(texts), sources=tuple(texts))  # fmt: skip
