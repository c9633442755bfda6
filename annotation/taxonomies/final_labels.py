"""Final labels in another version of their taxonomy than the one they were settled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.taxonomies.outcomes import (
    carried_codes,
    counting_ones,
    current_decisions,
)

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.annotation.taxonomies.versions import Versions
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class FinalLabels:
    """The final codes of items in one version, and the items whose codes it does not tell."""

    version: str
    codes: Mapping[str, frozenset[str]]  # by item; none: its code was retired, and the label ended
    undecided: Mapping[str, tuple[str, ...]]  # by item, as they were settled


def final_labels_under(reader: Reader, versions: Versions, of: Round, version: str) -> FinalLabels:
    """The final labels of a round, carried into a version; what is undecided is listed."""
    versions.taxonomy(version)
    codes: dict[str, frozenset[str]] = {}
    undecided: dict[str, tuple[str, ...]] = {}
    settled = current_decisions(reader, of.taxonomy, of.name)
    for said in counting_ones(versions, settled, version):
        if not said.codes:
            continue  # open again
        carried = carried_codes(versions, said, version)
        if carried is None:
            undecided[said.item_id] = said.codes
        else:
            codes[said.item_id] = carried
    return FinalLabels(version, codes, undecided)
