"""SQL on the views for the rows of the study that stand behind a number."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from faultatlas.analysis.coverage.corpus import UNPLACED
from faultatlas.analysis.coverage.study_labels import OF_PRACTICE
from faultatlas.analysis.coverage.study_papers import CODED, USED
from faultatlas.data.schema import literal, literals

if TYPE_CHECKING:
    from faultatlas.analysis.coverage.study_labels import Given

_LABELS = "artifact_id, round, item_id, taxonomy, taxonomy_version, code, settled_by, run_id"
_CODES = "artifact_id, taxonomy, taxonomy_version, code, support, place, round, settled_by, run_id"


def paper_rows(without: Collection[str] = (), supports: Collection[str] = ()) -> str:
    """The codes of the study's papers that count."""
    conditions = [f"taxonomy IN ({literals(CODED)})", USED]
    if without:
        conditions.append(f"artifact_id NOT IN ({literals(sorted(without))})")
    if supports:
        conditions.append(
            f"coalesce(support, {literal(UNPLACED)}) IN ({literals(sorted(supports))})"
        )
    return f"SELECT {_CODES} FROM paper_codes WHERE {' AND '.join(conditions)} ORDER BY ALL"


def label_rows(counted: Iterable[Given], every: Iterable[Given], round_name: str = "") -> str:
    """The final labels that a share is of; `counted` says which of them it counts."""
    conditions = [
        OF_PRACTICE,
        f"(taxonomy, taxonomy_version, code) IN ({_triples(every)})",
    ]
    if round_name:
        conditions.append(f"round = {literal(round_name)}")
    mark = f"(taxonomy, taxonomy_version, code) IN ({_triples(counted)}) AS counted"
    return (
        f"SELECT {_LABELS}, {mark} FROM final_labels WHERE {' AND '.join(conditions)} ORDER BY ALL"
    )


def _triples(given: Iterable[Given]) -> str:
    rows = sorted(set(given)) or [("", "", "")]  # an empty list is no SQL
    return ", ".join(f"({literals(row)})" for row in rows)
