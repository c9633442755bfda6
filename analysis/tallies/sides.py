"""One side of a question: a taxonomy, a code of it, or a covariate; and its value of each item.

A side is `TAXONOMY`, `TAXONOMY:LEVEL`, `TAXONOMY=CODE` (has it, or one below it), or a covariate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.analysis.observations import Observations
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal

if TYPE_CHECKING:
    from faultatlas.data.study import Study

HAS, HAS_NOT = "yes", "no"


@dataclass(frozen=True)
class Side:
    """One side of the question."""

    given: str
    taxonomy: str = ""
    level: int | None = None
    code: str = ""

    @property
    def title(self) -> str:
        """In a sentence."""
        if self.code:
            return f"{self.taxonomy} is {self.code}"
        return f"{self.taxonomy}, level {self.level}" if self.level else self.given


def _side(given: str, taxonomies: Iterable[str]) -> Side:
    """What a side means: a taxonomy that is known, else a covariate."""
    found = re.fullmatch(r"([a-z0-9][a-z0-9-]*)(?::(\d+)|=(.+))?", given.strip())
    if found and found[1] in set(taxonomies):
        return Side(given.strip(), found[1], int(found[2]) if found[2] else None, found[3] or "")
    return Side(given.strip())


def read(study: Study, given: Sequence[str], round_name: str, where: str) -> tuple[Side, ...]:
    """What sides mean; labels are chosen by round, candidates by a condition."""
    known = _known_taxonomies(study)
    found = tuple(_side(each, known) for each in given)
    labelled = any(each.taxonomy for each in found)
    if where and labelled:
        raise StudyError("--where chooses among candidates", "Choose labels with --round.")
    if round_name and not labelled:
        raise StudyError("--round chooses among labels", "Choose candidates with --where.")
    return found


def _known_taxonomies(study: Study) -> list[str]:
    """The taxonomies that a side may name."""
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    with study.reading() as reader:
        used = [
            row["taxonomy"] for row in reader.rows("SELECT DISTINCT taxonomy FROM final_labels")
        ]
    return sorted({*TaxonomyLibrary(study.directory).names, *used})


def one_each(
    seen: Observations, of: Side
) -> tuple[dict[tuple[str, str], str], set[tuple[str, str]]]:
    """One value for each item, and the items that have several codes."""
    codes: dict[tuple[str, str], set[str]] = {}
    for row in seen.rows:
        codes.setdefault((row.round, row.item_id), set()).add(row.code)
    if of.code:
        wanted = _below(seen, of.code)
        return {item: HAS if found & wanted else HAS_NOT for item, found in codes.items()}, set()
    several = {item for item, found in codes.items() if len(found) > 1}
    return {item: min(found) for item, found in codes.items() if item not in several}, several


def _below(seen: Observations, code: str) -> set[str]:
    if seen.taxonomy is None:
        return {code}
    found = seen.taxonomy.find(code)
    if found is None:
        seen.taxonomy.node(code)  # complains
    return {
        node.code
        for node in seen.taxonomy.nodes
        if node.code == found or found in seen.taxonomy.ancestors(node.code)
    }


def order_of(seen: Observations, of: Side) -> tuple[str, ...]:
    """The values of a side in their order."""
    return (HAS, HAS_NOT) if of.code else seen.codes


def in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Sorted, but what holds before what does not: it is what is asked about."""
    there = set(values)
    for holds in ((HAS, HAS_NOT), ("true", "false")):
        if there == set(holds):
            return holds
    return tuple(sorted(there))


def titles_of(seen: Observations, of: Side) -> dict[str, str]:
    """The codes of a side with their names."""
    return {} if of.code else {code: seen.title(code) for code in seen.codes}


def left_out_notes(items: set[tuple[str, str]], of: Side) -> list[str]:
    """What is said of items that have several codes."""
    if not items:
        return []
    return [
        (
            f"{len(items):,} items have several codes of {of.taxonomy} and are left out; ask for "
            f"one code with {of.taxonomy}=CODE."
        )
    ]


def label_query(seen: Observations, of: Side, left_out: set[tuple[str, str]]) -> str:
    """The final labels with `label_value`, the value of this side."""
    inner = seen.rows_query().partition("\nORDER BY")[0]
    if of.code:
        wanted = {pair for code in _below(seen, of.code) for pair in seen.settled_as.get(code, ())}
        pairs_of = [f"({literal(version)}, {literal(code)})" for version, code in sorted(wanted)]
        has = f"(taxonomy_version, code) IN ({', '.join(pairs_of)})" if wanted else "false"
        value = (
            f"CASE WHEN bool_or({has}) OVER (PARTITION BY round, item_id) THEN 'yes' ELSE 'no' END"
        )
    else:
        cases = " ".join(
            f"WHEN (taxonomy_version, code) = ({literal(version)}, {literal(code)}) "
            f"THEN {literal(at)}"
            for at, settled in seen.settled_as.items()
            for version, code in settled
        )
        value = f"CASE {cases} END"
    query = f"SELECT *, {value} AS label_value FROM (\n{inner}\n)"
    if left_out:
        listed = ", ".join(f"({literal(one)}, {literal(item)})" for one, item in sorted(left_out))
        query += f" WHERE (round, item_id) NOT IN ({listed})"
    return query
