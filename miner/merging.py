"""`miner merge OTHER`: what another study of the team has fetched and labelled, in this one.

Stored responses are what is merged; the mined tables are derived from all of them again, with
this study's key, in the order in which they were fetched. So the newest word about an issue wins,
whoever heard it, and pseudonyms agree. What either study has forgotten is forgotten afterwards.
The other study is only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data import provenance
from data.errors import StudyError
from data.people import pseudonym, study_key
from miner import archive, forgetting
from miner.erasing import Forgotten, without
from miner.forget import erase_in, search
from miner.forgetting import bury, names
from miner.ingest import check_key, who_in
from miner.rebuild import host_of, rebuild_in
from miner.tables import DERIVED

if TYPE_CHECKING:
    from data.provenance import Run
    from data.store import Reader, Study, Writer
    from miner.payload import Who

Progress = Callable[[int, int], None]  # responses read, and in all

# Rows that stand beside the responses; taken where this study has none of that key.
_BESIDE = {
    "store.run": ("run_id",),
    "store.traffic": ("run_id", "project"),
    "store.checkpoint": ("stream",),
    "store.part_read": ("artifact_id", "part"),
    "store.wanted": ("artifact_id",),
    "store.search_slice": ("search",),
    "store.forgotten": ("subject",),
    "store.final_label": ("round",),
}
# A verification that was broken off is begun anew: half of its marks would say that the rest is gone.
_NOT_TAKEN = {
    "store.checkpoint": "stream LIKE '% verification %'",
    "store.part_read": "part LIKE 'listed %'",
}
_ELSEWHERE = {"store.response", "store.schema_migration", "store.key_check", *DERIVED}
_KEY = re.compile(r"[0-9a-f]{64}\n?")


def merge(
    study: Study, other: Study, run: Run, progress: Progress = lambda _done, _total: None
) -> dict[str, Any]:
    """Bring the other study's evidence and labels into this one, in one transaction."""
    _refuse(study, other)
    with other.reading() as source, study.writing() as writer:
        check_key(writer, study.directory, run.run_id)
        before = forgetting.forgotten(writer)
        _refuse_other_labels(source, writer)
        taken = {
            table.removeprefix("store."): _take(source, writer, table, key)
            for table, key in _BESIDE.items()
        }
        responses = _take_responses(study, source, writer, progress)
        new = _new_people(study, other.directory, source, writer, before)
        is_changed = bool(responses or any(taken.values()) or new.people)
        if is_changed:
            provenance.record(writer, run, "ok")
            _derive(writer, study, run, new)
        is_erased = bool(new.people or forgetting.forgotten(writer).artifacts - before.artifacts)
    if is_erased:
        study.compact()  # what the other study forgot has been in this file
    with other.reading() as source:
        left_out = _left_out(source)
    return {
        "from": str(other.directory),
        "responses": responses,
        "rows": {table: count for table, count in taken.items() if count},
        "left_out": left_out,
        # Their pseudonyms are made with another key, and nobody in this study is one of them.
        "forgotten_people_unknown_here": len(new.comments),
    }
