"""What the analyses found: every stored result with its claims, figures and tables."""

from __future__ import annotations

from faultatlas.data.old.results import Result
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section, part_of
from faultatlas.report.sections.numbers import ANALYSIS as OWN

POSITION = 60
KEY = "findings"

_ELSEWHERE = {"agreement", "reproducibility"}  # have sections of their own


def section(material: Material) -> Section | None:
    """The findings; None where no analysis was stored, or none of them is shown."""
    results = [
        each
        for each in material.results
        if each.analysis not in _ELSEWHERE and is_shown(material, each)
    ]
    if not results:
        return None
    claims = sum(len(each.claims) for each in results)
    told = f"{counted(len(results), 'stored result')} with {counted(claims, 'claim')}."
    return Section(KEY, "Findings", text=(told,), parts=tuple(map(part_of, results)))


def is_shown(material: Material, result: Result) -> bool:
    """Whether a result stands in the report: all but the study's own numbers, or those named."""
    return result.name in material.shown if material.shown else result.analysis != OWN
