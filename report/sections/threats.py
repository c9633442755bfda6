"""Threats to validity as the study's own data show them; what data cannot show is the authors'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from faultatlas.report.formatting import counted
from faultatlas.report.sections import (
    Material,
    Section,
    signs_of_labelling,
    signs_of_reexecution,
    signs_of_selection,
)
from faultatlas.report.sections.signs import Sign, listed, sign

POSITION = 70
KEY = "threats"

_DATA = ("FROM artifacts", "FROM samples", "FROM items", "FROM final_labels")


def section(material: Material) -> Section | None:
    """The threats; a study without any says so, and one without data has nothing to tell."""
    if not any(map(material.has, _DATA)) and not material.results:
        return None
    found = [
        *signs_of_selection.signs(material),
        *signs_of_labelling.signs(material),
        *signs_of_reexecution.signs(material),
        *_results(material),
    ]
    told = (
        f"{counted(len(found), 'sign')} of a threat in the data of the study."
        if found
        else "The data of the study show none of the threats that are looked for."
    )
    return Section(
        KEY,
        "Threats to validity",
        text=(
            told,
            "What data cannot show, such as a construct that misses its point, is not here.",
        ),
        claims=tuple(claim for each in found for claim in each.claims),
        points=tuple(each.point for each in found),
    )


def _results(material: Material) -> Iterator[Sign]:
    claims = [claim for result in material.results for claim in result.claims]
    statuses = Counter(claim.status for claim in claims if claim.printed is not None)
    apart = {status: statuses[status] for status in ("not reproduced", "inconsistent")}
    if sum(apart.values()):
        what = ", ".join(f"{number} {status}" for status, number in apart.items() if number)
        compared = counted(statuses.total(), "claim")
        text = f"Of {compared} compared with published figures: {what}."
        yield sign(
            "published", "Published figures that do not come out", text, "report claims list"
        )
    if material.failed:
        text = f"Shown as they were stored: {listed(sorted(material.failed))}."
        yield sign("failed", "Results that cannot be computed again", text, "report claims check")
    bare = [
        claim.claim_id
        for claim in claims
        if claim.unit == "percent" and claim.value is not None and claim.low is None
    ]
    if bare:
        text = f"{counted(len(bare), 'share')} without an interval: {listed(bare, 3)}."
        yield sign("bare", "Numbers without an interval", text)
