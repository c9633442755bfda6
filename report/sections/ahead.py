"""What comes next: the steps of a study that are not done, each with its command."""

from __future__ import annotations

import shlex

from faultatlas.report.sections import Material, Point, Section
from faultatlas.report.sections.agreement import ANALYSIS, LABELLED_TWICE
from faultatlas.report.sections.signs import listed

POSITION = 5
KEY = "next"

# A study whose only data are bugs that can be run: nothing of it is selected or labelled.
_ONLY_BUGS = (
    "SELECT 1 FROM bugs WHERE NOT EXISTS (SELECT 1 FROM artifacts) "
    "AND NOT EXISTS (SELECT 1 FROM final_labels) AND NOT EXISTS (SELECT 1 FROM items)"
)
_ESTIMATED = "SELECT 1 FROM results WHERE analysis = 'reproducibility'"
_OF_BUGS = (
    (
        "run", "Run the bugs", ("There are bugs, and none has a verdict: run them and their "
        "fixes."), "analysis reexecute --sample 10", "SELECT 1 FROM verdicts",
    ),
    (
        "estimate", "Estimate the rate", ("Bugs have verdicts, but what share of them can be "
        "reproduced was not estimated."), "analysis reproducibility", _ESTIMATED,
    ),
)  # fmt: skip

_STEPS = (
    (
        "mine", "Mine or import", ("Nothing is in the study yet: fetch issues, commits or posts, "
        "import sheets with labels, or bugs that can be run (`analysis reexecute --import DIR`)."),
        "miner fetch pytorch --label 'high priority'",
        ("SELECT 1 FROM artifacts UNION ALL SELECT 1 FROM final_labels "
        "UNION ALL SELECT 1 FROM items"),
    ),
    (
        "select", "Select", ("Say which artifacts are studied, step by step: the counts become the "
        "funnel of the report."), "miner filter closed --where \"state = 'closed'\"",
        "SELECT 1 FROM funnel WHERE position > 0 UNION ALL SELECT 1 FROM final_labels",
    ),
    (
        "sample", "Draw a sample", ("The size follows from confidence and margin, the draw from a "
        "seed."), "annotation sample main --confidence 95 --margin 5",
        "SELECT 1 FROM samples UNION ALL SELECT 1 FROM items UNION ALL SELECT 1 FROM final_labels",
    ),
    (
        "label", "Label", ("A round gives the sample to raters; fix the statistic of agreement "
        "before the first label."),
        "annotation round pilot --sample main --taxonomy hp-defects --rater ann --rater bob",
        "SELECT 1 FROM labels UNION ALL SELECT 1 FROM final_labels",
    ),
    (
        "settle", "Settle", "Labels become final where raters agree, or after discussion.",
        "annotation adjudicate pilot", "SELECT 1 FROM final_labels",
    ),
    (
        "analyse", "Analyse", "No analysis is stored: these answer the questions of the study.",
        "analysis distribution TAXONOMY",
        "SELECT 1 FROM results WHERE analysis NOT IN ('agreement', 'study')",
    ),
)  # fmt: skip


def section(material: Material) -> Section | None:
    """The open steps; None when all are done."""
    points = [
        Point(key, title, text, command)
        for key, title, text, command, done in _steps_of(material)
        if not material.has(done)
    ]
    points += _agreement(material)
    if not points:
        return None
    return Section(KEY, "What comes next", points=tuple(points))


def _steps_of(material: Material) -> tuple[tuple[str, str, str, str, str], ...]:
    """The steps that such a study has; a rate is estimated once there are verdicts."""
    has_verdicts = material.has("SELECT 1 FROM verdicts")
    of_bugs = _OF_BUGS if has_verdicts else _OF_BUGS[:1]
    if material.has(_ONLY_BUGS):
        return of_bugs
    return (*_STEPS, *of_bugs) if material.has("SELECT 1 FROM bugs") else _STEPS


def _agreement(material: Material) -> list[Point]:
    """Rounds in which raters labelled the same items, and nobody asked how far they agree."""
    measured = {name for each in material.of(ANALYSIS) for name in each.document.get("rounds", ())}
    rounds = material.reader.rows(
        f"SELECT DISTINCT round FROM ({LABELLED_TWICE}) "
        "WHERE round NOT IN (SELECT round FROM gates) ORDER BY round"
    )
    open_rounds = [row["round"] for row in rounds if row["round"] not in measured]
    if not open_rounds:
        return []
    text = (
        "Two raters or more labelled the same items, but how far they agree was not measured: "
        f"{listed(open_rounds)}."
    )
    command = f"annotation agreement {' '.join(map(shlex.quote, open_rounds))}"
    return [Point("agree", "Measure agreement", text, command)]
