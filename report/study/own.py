"""The numbers of the report that no analysis stored, as a result: they are claims like others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study
from faultatlas.report.sections import Material, Section, sections
from faultatlas.report.sections.numbers import ANALYSIS

NAME = ANALYSIS


def own_numbers(found: Iterable[Section]) -> Result:
    """The numbers of sections as a result; those of stored results are their own."""
    claims = [claim for section in found for claim in section.claims]
    return Result(
        analysis=ANALYSIS,
        name=NAME,
        title="Numbers of the study itself",
        parameters={},
        summary=("Counts of the study, as its report shows them.",),
        claims=tuple(claims),
        document=_document(claims),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The same, counted again."""
    from faultatlas.report.study.building import stored_results

    del parameters  # there are none
    with study.reading() as reader:
        return own_numbers(sections(Material(reader, stored_results(reader))))


def analyses() -> dict[str, Any]:
    """By the name of the analysis what computes it again: an entry point."""
    return {ANALYSIS: again}


def _document(claims: Iterable[Claim]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for claim in claims:
        *path, last = claim.claim_id.split(".")[1:]
        place = document
        for word in path:
            place = place.setdefault(word, {})
        place[last] = claim.value
    return document
