"""Which share of bugs can be made to happen: attempts by verdict, weighted by stratum.

Attempts are the denominator. What was invalid or could not be run on this host is a share of its
own and never "not reproduced"; a bug whose runs have not settled it yet is no attempt. One that the
host failed to run is: the sampler gave up on it, though another day it may be settled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.reexecution.drawing import checked_columns, frame_sets, stratum_sql
from faultatlas.analysis.reexecution.verdicts import Verdict
from faultatlas.analysis.statistics.shares import StratumCount, WeightedShare, weighted_share
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal, literals
from faultatlas.report.sections.reexecution import STARTED

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

# By the key of a rate: its name, the verdicts that count, and what they mean.
RATES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "reproduced": (
        "Reproduced",
        (Verdict.VERIFIED, Verdict.REPRODUCED),
        "the symptom happens, whether the fix was shown to remove it or not",
    ),
    "verified": ("Verified", (Verdict.VERIFIED,), "it happens, and the fix removes it"),
    "not-reproduced": (
        "Not reproduced",
        (Verdict.NOT_REPRODUCED,),
        "the program did its work, and the symptom did not happen",
    ),
    "flaky": ("Flaky", (Verdict.FLAKY,), "it happens now and then, and the sides do not differ"),
    "invalid": ("Invalid", (Verdict.INVALID,), "the artifact cannot say"),
    "infrastructure": (
        "Infrastructure",
        (Verdict.INFRASTRUCTURE,),
        "this host could not run it; another might",
    ),
}


@dataclass(frozen=True)
class Case:
    """A bug that was to be attempted, and the verdict on it."""

    bug_id: str
    stratum: str  # of the design
    group: str  # of the table by stratum
    framework: str
    source: str
    verdict: str  # '' where it was not attempted
    reason: str
    detail: str
    rule: str
    buggy_runs: int
    buggy_shown: int
    fixed_runs: int
    fixed_shown: int
    run_count: int  # that were started
    device: str
    about_gpu: bool
    fidelity: tuple[str, ...]
    isolations: tuple[str, ...]
    claimed_verdict: str
    claimed_reason: str
    oracle_is_current: bool
    label_from: tuple[str, ...]  # study, bug.toml
    effect: float | None = None  # A12, where the symptom was measured and not seen

    @property
    def is_attempted(self) -> bool:
        """Whether there is a settled verdict."""
        return bool(self.verdict)


@dataclass(frozen=True)
class Attempts:
    """What was to be attempted, out of which frame, and what came of it."""

    sample: str  # '' without a sample
    draw: int
    sets: tuple[str, ...]
    columns: tuple[str, ...]  # of the design: what weights
    by: tuple[str, ...]  # of the table by stratum
    seed: int
    frame: dict[str, int]  # by stratum of the design how many bugs
    groups: dict[str, int]  # by group how many bugs of the frame
    cases: tuple[Case, ...]
    unsettled: int
    forgotten: int = 0  # bugs of the frame that the study has forgotten since

    @cached_property
    def attempted(self) -> tuple[Case, ...]:
        """Those with a verdict."""
        return tuple(case for case in self.cases if case.is_attempted)

    @cached_property
    def left(self) -> dict[str, int]:
        """By stratum of the design: how many were to be attempted and were not, where some."""
        counts = Counter(case.stratum for case in self.cases if not case.is_attempted)
        return {name: counts[name] for name in self.frame if counts[name]}

    def bounds(self, key: str) -> tuple[float, float]:
        """The rate in percent if none, and if all, of those that are left counted."""
        chosen = Counter(case.stratum for case in self.cases)
        found = Counter(case.stratum for case in self.attempted if case.verdict in RATES[key][1])
        whole = sum(size for name, size in self.frame.items() if chosen[name])
        parts = [
            (100 * size / whole / chosen[name], found[name], self.left.get(name, 0))
            for name, size in self.frame.items()
            if chosen[name]
        ]
        low = math.fsum(weight * count for weight, count, _ in parts)
        return low, math.fsum(weight * (count + left) for weight, count, left in parts)

    @property
    def frame_count(self) -> int:
        """Bugs of the frame."""
        return sum(self.frame.values())

    @property
    def is_census(self) -> bool:
        """Whether every bug of the frame was attempted."""
        return len(self.attempted) == self.frame_count

    @property
    def is_weighted(self) -> bool:
        """Whether attempts of several strata stand for different numbers of bugs."""
        return len({case.stratum for case in self.attempted}) > 1

    def share(self, counts: Callable[[Case], bool]) -> WeightedShare:
        """The share of bugs that count, weighted by the strata of the design."""
        tried = Counter(case.stratum for case in self.attempted)
        found = Counter(case.stratum for case in self.attempted if counts(case))
        return weighted_share(
            [StratumCount(size, tried[name], found[name]) for name, size in self.frame.items()]
        )

    def rate(self, key: str) -> WeightedShare:
        """One of RATES."""
        verdicts = RATES[key][1]
        return self.share(lambda case: case.verdict in verdicts)

    def reason_share(self, verdict: str, reason: str) -> WeightedShare:
        """The share of attempts with this verdict for this reason."""
        return self.share(lambda case: (case.verdict, case.reason) == (verdict, reason))

    def rows_query(self, *conditions: str) -> str:
        """SQL that gives the verdicts behind a number."""
        columns = (
            "bug_id, v.verdict, v.reason, v.device, v.content, v.detail, v.rule, v.artifact_id, "
            "v.run_id"
        )
        if self.sample:
            source = (
                f"SELECT {columns} FROM verdicts v JOIN bug_samples s USING (bug_id) "
                f"WHERE s.sample = {literal(self.sample)} AND s.is_latest "
                "AND s.position IS NOT NULL"
            )
        else:
            source = (
                f"SELECT {columns} FROM verdicts v JOIN bugs b USING (bug_id) "
                f"WHERE b.set_name IN ({literals(self.sets)})"
            )
        settled = f"(v.wanted = 0 OR v.verdict = {literal(Verdict.INFRASTRUCTURE)})"
        wanted = " AND ".join((settled, *conditions))
        return f"{source} AND {wanted} ORDER BY bug_id"


def attempts(
    study: Study, *, sample: str = "", sets: Collection[str] = (), stratify: Sequence[str] = ()
) -> Attempts:
    """The attempts of a sample, of these sets, or of the last sample that was drawn."""
    by = checked_columns(stratify)
    if sample and sets:
        raise StudyError(
            "--sample and --set name two frames", "Give one of them: a sample has its sets."
        )
    with study.reading() as reader:
        if not sets:
            sample = _sample(reader, sample)
        found = _of_sample(reader, sample, by) if sample else _of_sets(reader, sets, by)
    if not found.attempted:
        where = f"sample {found.sample}" if found.sample else f"set {', '.join(found.sets)}"
        raise StudyError(
            f"no bug of {where} was attempted yet",
            "Run them first: analysis reexecute"
            + (f" --sample {len(found.cases)}" if found.sample else ""),
        )
    return found


def _sample(reader: Reader, wanted: str) -> str:
    """The sample of that name, the newest where none is named, '' where there is none."""
    rows = reader.rows("SELECT sample, max(run_id) AS newest FROM store.bug_draw GROUP BY ALL")
    names = [row["sample"] for row in sorted(rows, key=lambda row: row["newest"])]
    if wanted and wanted not in names:
        raise StudyError(
            f"there is no sample of bugs {wanted!r}",
            f"Known: {', '.join(sorted(names))}."
            if names
            else "Draw one: analysis reexecute --sample 10.",
        )
    return wanted or (names[-1] if names else "")


_CASE = (
    "b.framework, b.source, b.about_gpu, b.claimed_verdict, b.claimed_reason, "
    "b.symptom_from, b.fault_from, b.property_from, v.verdict, v.reason, v.detail, v.rule, "
    "v.buggy_runs, v.buggy_shown, v.fixed_runs, v.fixed_shown, v.device, "
    "coalesce(v.fidelity, b.fidelity) AS fidelity, v.oracle_is_current, v.wanted, v.effect, "
    "v.isolations, (SELECT count(*) FROM executions e WHERE e.bug_id = v.bug_id "
    f"AND e.content = v.content AND e.device = v.device AND {STARTED}) AS run_count"
)


def _of_sample(reader: Reader, sample: str, by: tuple[str, ...]) -> Attempts:
    rows = reader.rows(
        "SELECT * FROM store.bug_draw WHERE sample = ? ORDER BY draw DESC LIMIT 1", [sample]
    )
    drawn = rows[0]
    design = tuple(drawn["strata"])
    group = stratum_sql(by) if by else "s.stratum"
    members = reader.rows(
        f"SELECT s.bug_id, s.stratum, s.position, {group} AS part, {_CASE} FROM bug_samples s "
        "JOIN bugs b USING (bug_id) LEFT JOIN verdicts v USING (bug_id) "
        "WHERE s.sample = ? AND s.draw = ? ORDER BY s.position, s.bug_id",
        [sample, drawn["draw"]],
    )
    return _attempts(
        members,
        [row for row in members if row["position"] is not None],
        sample=sample,
        draw=drawn["draw"],
        sets=tuple(drawn["sets"]),
        columns=design,
        by=by or design,
        seed=drawn["seed"],
        forgotten=drawn["frame_count"] - len(members),
    )


def _of_sets(reader: Reader, sets: Collection[str], by: tuple[str, ...]) -> Attempts:
    chosen = frame_sets(reader, sets)
    members = reader.rows(
        f"SELECT b.bug_id, {stratum_sql(by)} AS stratum, {stratum_sql(by)} AS part, {_CASE} "
        "FROM bugs b LEFT JOIN verdicts v USING (bug_id) "
        "WHERE list_contains(?::VARCHAR[], b.set_name) ORDER BY b.bug_id",
        [list(chosen)],
    )
    return _attempts(members, members, sample="", draw=0, sets=chosen, columns=by, by=by, seed=0)


def _attempts(
    members: list[dict[str, Any]], wanted: list[dict[str, Any]], **design: Any
) -> Attempts:
    return Attempts(
        **design,
        frame=dict(sorted(Counter(row["stratum"] for row in members).items())),
        groups=dict(sorted(Counter(row["part"] for row in members).items())),
        cases=tuple(_case(row) for row in sorted(wanted, key=lambda row: row["bug_id"])),
        unsettled=sum(row["verdict"] is not None and not _is_settled(row) for row in wanted),
    )


def _is_settled(row: dict[str, Any]) -> bool:
    """What the host failed to run was attempted, and counts as that."""
    if row["verdict"] is None:
        return False
    return not row["wanted"] or row["verdict"] == Verdict.INFRASTRUCTURE


def _case(row: dict[str, Any]) -> Case:
    settled = _is_settled(row)
    said = {row[name] for name in ("symptom_from", "fault_from", "property_from")}
    return Case(
        bug_id=row["bug_id"],
        stratum=row["stratum"],
        group=row["part"],
        framework=row["framework"],
        source=row["source"],
        verdict=row["verdict"] if settled else "",
        reason=(row["reason"] or "") if settled else "",
        detail=row["detail"] or "",
        rule=row["rule"] or "",
        buggy_runs=row["buggy_runs"] or 0,
        buggy_shown=row["buggy_shown"] or 0,
        fixed_runs=row["fixed_runs"] or 0,
        fixed_shown=row["fixed_shown"] or 0,
        run_count=row["run_count"] or 0,
        device=row["device"] or "",
        about_gpu=row["about_gpu"],
        fidelity=tuple(row["fidelity"] or ()),
        isolations=tuple(row["isolations"] or ()),
        claimed_verdict=row["claimed_verdict"],
        claimed_reason=row["claimed_reason"],
        oracle_is_current=row["oracle_is_current"] is not False,
        label_from=tuple(sorted(each for each in said if each)),
        effect=row["effect"] if settled else None,
    )
