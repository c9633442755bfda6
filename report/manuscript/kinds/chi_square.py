"""A chi-square test of a printed table of counts."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import NOTHING, compared
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "chi-square"
ABOUT = "the p-value of a chi-square test of a table of counts, with Yates for two by two"
FIELDS = {
    "table": "rows of counts: [[154, 231], [41, 344]]",
    "of": "p unless told, or statistic: what is printed (optional)",
}
EXAMPLE = """
printed = "7.66e-21"
table = [["154", "231"], ["41", "344"]]
"""


def check(entry: Entry) -> Outcome:
    """Pearson's statistic and, of two by two, Yates'; either may be printed."""
    from scipy import stats

    counts = [[each.value for each in row] for row in entry.table("table")]
    if len(counts[0]) < 2 or min(map(min, counts)) < 0:
        raise entry.error("the table has two columns or more, of counts")
    rows, columns = map(sum, counts), map(sum, zip(*counts, strict=True))
    if not all(rows) or not all(columns):
        raise entry.error("a row or a column of the table is empty")
    plain = stats.chi2_contingency(counts, correction=False)
    yates = stats.chi2_contingency(counts) if len(counts) == len(counts[0]) == 2 else None
    index = {"p": 1, "statistic": 0}[entry.choice("of", ("p", "statistic"))]
    said = f"chi2={plain[0]:.2f}, df={plain[2]}, p={plain[1]:.2e}"
    if not entry.printed():
        return Outcome("cannot be checked", said, NOTHING, NOTHING, float(plain[1]))
    with_yates = f"Yates {yates[0]:.2f}, p={yates[1]:.2e}" if yates else ""
    text = f"{plain[index]:.2e}" if index else f"{plain[index]:.2f}"
    if yates is not None:
        text += f" (Yates {yates[index]:.2e})" if index else f" (Yates {yates[index]:.2f})"
    outcome = compared(entry, float(plain[index]), text=text)
    if yates is not None and outcome.verdict != "consistent":
        corrected = compared(entry, float(yates[index]), text=text)
        if corrected.verdict in ("consistent", "near"):
            outcome = corrected
    reason = "; ".join(filter(None, (outcome.reason, said, with_yates)))
    return Outcome(outcome.verdict, text, outcome.rule, reason, float(plain[index]))
