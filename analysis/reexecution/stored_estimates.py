"""Which estimates a call of `analysis reexecute` stores: those that its bugs can carry.

Bugs that somebody picked by hand are no estimate of their set. To judge again makes no estimate
of its own: it renews those that there are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.reexecution.estimate_claims import ANALYSIS

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.storing import KnownBug
    from faultatlas.data.study import Reader, Study

Parameters = dict[str, Any]


def of_bugs(
    study: Study, there: Collection[KnownBug], meant: Collection[KnownBug]
) -> Parameters | None:
    """The estimate of bugs that were named: that of the whole sets or of the sample they are."""
    wanted = {each.bug_id for each in meant}
    sets = sorted({each.set_name for each in meant})
    if wanted == {each.bug_id for each in there if each.set_name in sets}:
        return {"set": sets}
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT sample, list(bug_id) AS bugs FROM bug_samples WHERE is_latest "
            "AND position IS NOT NULL GROUP BY sample ORDER BY max(run_id) DESC"
        )
    same = (row["sample"] for row in rows if set(row["bugs"]) == wanted)
    found = next(same, None)
    return None if found is None else {"sample": found}


def stored(study: Study, sets: Collection[str], *, or_new: bool) -> list[Parameters]:
    """Parameters of the stored estimates that speak of these sets; that of the newest sample last.

    Without any, if a new one will do: those of the newest sample of these sets, or of the sets.
    """
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT parameters, content FROM results WHERE analysis = ? AND is_latest "
            "ORDER BY run_id, result",
            [ANALYSIS],
        )
        newest = _newest_sample(reader, sets)
    found: list[Parameters] = [
        json.loads(row["parameters"])
        for row in rows
        if set(json.loads(row["content"])["document"].get("sets", ())) & set(sets)
    ]
    if not found and or_new:
        return [{"sample": newest} if newest else {"set": sorted(sets)}]
    return sorted(found, key=lambda each: bool(newest) and each == {"sample": newest})


def _newest_sample(reader: Reader, sets: Collection[str]) -> str:
    rows: Sequence[dict[str, Any]] = reader.rows(
        "SELECT sample FROM store.bug_draw WHERE list_has_any(sets, ?::VARCHAR[]) "
        "ORDER BY run_id DESC, draw DESC LIMIT 1",
        [sorted(sets)],
    )
    return str(rows[0]["sample"]) if rows else ""
