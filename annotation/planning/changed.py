"""What a changed taxonomy leaves to do in a round: labels to give and items to settle again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Left:
    """Of a round, in the version that the study has migrated its taxonomy to."""

    version: str = ""  # none: it was not migrated
    labels: int = 0  # to give again
    finals: int = 0  # to settle again


NOTHING = Left()


def left_by_change(reader: Reader, of: Round) -> Left:
    """What waits in a round since its taxonomy has changed."""
    from faultatlas.annotation.taxonomies.final_labels import final_labels_under
    from faultatlas.annotation.taxonomies.relabelling import migrated_version, relabel_queue
    from faultatlas.annotation.taxonomies.versions import Versions

    version = migrated_version(reader, of.taxonomy)
    if version is None:
        return NOTHING
    versions = Versions.stored(reader, of.taxonomy)
    finals = final_labels_under(reader, versions, of, version).undecided
    return Left(version, len(relabel_queue(reader, of, version)), len(finals))
