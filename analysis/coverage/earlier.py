"""The earlier result that a new one is compared with: found in the study, named by its run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.clock import utc_time
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*")


@dataclass(frozen=True)
class Earlier:
    """What an earlier result of the same name held; nothing if it is gone or of an old version."""

    run_id: str
    faults: dict[str, dict[str, Any]]  # by code, as `Entry.to_json` gives them
    papers: dict[str, str]  # id to label
    label_total: int

    @property
    def is_there(self) -> bool:
        """Whether there is anything to compare with."""
        return bool(self.faults)

    @property
    def day(self) -> str:
        """The day of the run: ids begin with the time of start."""
        day = self.run_id[:8]
        return f"{day[:4]}-{day[4:6]}-{day[6:]}" if day.isdigit() else self.run_id


def earlier_run(reader: Reader, name: str, since: str = "") -> str | None:
    """The run of the newest result of that name: at all, before a day, or of a run.

    `since` is a day or a time (the state of then), or the id of a run or how it begins. Without
    it None says that this is the first time.
    """
    rows = reader.rows(
        "SELECT run_id, started_at, outcome FROM results JOIN runs USING (run_id) WHERE result = ? "
        "ORDER BY started_at, run_id",
        [name],
    )
    if not since:
        # One that was killed before its report was written is no last time: nobody has seen it.
        ended = [row["run_id"] for row in rows if row["outcome"] != "running"]
        return ended[-1] if ended else None
    if _DAY.fullmatch(since.strip()):
        limit = utc_time(since)
        found = [row["run_id"] for row in rows if row["started_at"] < limit]
    else:
        found = [row["run_id"] for row in rows if row["run_id"].startswith(since.strip())]
    if found:
        return str(found[-1])
    raise StudyError(
        f"the study has no result {name!r} {_when(since)}",
        f"Its runs: {', '.join(row['run_id'] for row in rows[-5:])}."
        if rows
        else "This would be the first: leave --since out.",
    )


def earlier_result(reader: Reader, name: str, run_id: str) -> Earlier:
    """What the result of that run held."""
    content = reader.value(
        "SELECT content FROM results WHERE result = ? AND run_id = ?", [name, run_id]
    )
    document = json.loads(content)["document"] if content else {}
    return Earlier(
        run_id,
        {each["code"]: each for each in document.get("catalogue", ())},
        dict(document.get("corpus_papers", {})),
        document.get("label_total", 0),
    )


def _when(since: str) -> str:
    return f"before {since}" if _DAY.fullmatch(since.strip()) else f"of a run {since!r}"
