"""Labels counted by category and group, with what a reader must know of the counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.annotation.labels import SPECIAL
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.analysis.observations import Observations
    from faultatlas.data.study import Reader, Study

MOST_GROUPS = 40
Group = str | None
ALL = None  # the total: no value of a covariate, so that a group may be called "All", too


@dataclass(frozen=True)
class Grouped:
    """Counts of items by group and code. A group without items has no data."""

    observations: Observations
    groups: tuple[str, ...]
    counts: dict[tuple[Group, str], int]  # by group and code
    totals: dict[Group, int]  # items by group; those of `ALL` also have no group

    def count(self, group: Group, code: str) -> int:
        """How many items of the group have the code."""
        return self.counts.get((group, code), 0)

    def total(self, group: Group) -> int:
        """How many items the group has."""
        return self.totals.get(group, 0)

    @property
    def filled(self) -> tuple[str, ...]:
        """The groups that have items."""
        return tuple(group for group in self.groups if self.total(group))

    @property
    def codes(self) -> tuple[str, ...]:
        """The categories in the order of the taxonomy."""
        return self.observations.codes

    def table(self, codes: Sequence[str]) -> list[list[int]]:
        """The counts, a row for each group that has items."""
        return [[self.count(group, code) for code in codes] for group in self.filled]


def group_title(group: Group) -> str:
    """A group, or the total, as a reader sees it."""
    return "All" if group is ALL else group


def grouped(observations: Observations, by: str, expected: Sequence[str] = ()) -> Grouped:
    """Labels by code and by the first covariate, if there is one; `expected` groups come first."""
    counts: Counter[tuple[Group, str]] = Counter()
    items: dict[Group, set[tuple[str, str]]] = {ALL: set()}
    for row in observations.rows:
        counts[ALL, row.code] += 1
        items[ALL].add((row.round, row.item_id))
        group = row.values[0] if by else None
        if group is not None:
            counts[group, row.code] += 1
            items.setdefault(group, set()).add((row.round, row.item_id))
    names = observations.values_of(0) if by else ()
    if by and not names:
        raise no_values(by, len(observations.rows))
    if len(names) > MOST_GROUPS:
        raise StudyError(
            f"{by} has {len(names):,} different values, too many to set side by side",
            "Group them, such as --by \"CASE WHEN project = 'o/r' THEN 'ours' ELSE 'others' END\".",
        )
    order = tuple(dict.fromkeys((*expected, *names)))
    return Grouped(observations, order, dict(counts), {key: len(it) for key, it in items.items()})


def no_values(by: str, rows: int) -> StudyError:
    """No labelled artifact has a value of a covariate."""
    return StudyError(
        f"none of the {rows:,} final labels has a value of {by}",
        "Times, kinds and numbers come with the artifacts: fetch them (miner fetch --from FILE), "
        "or group by project, framework, source, stratum or round, which labels have themselves.",
    )


def counting_notes(observations: Observations, by: str = "") -> list[str]:
    """What was counted, and what was left out."""
    seen = observations
    notes = [
        (
            f"Counted: {counted(seen.items, 'item')} ({counted(seen.artifacts, 'artifact')}) with "
            f"final labels of {seen.name} {seen.version} in {counted(len(seen.rounds), 'round')} "
            f"({', '.join(seen.rounds)})."
        )
    ]
    if seen.artifacts < seen.items:
        notes.append("An artifact that stands in several rows of a sheet is several items.")
    for code, count in sorted(seen.no_code.items()):
        notes.append(f"Left out: {counted(count, 'item')} settled as {SPECIAL.get(code, code)}.")
    if seen.undecided:
        notes.append(
            f"Left out: {counted(seen.undecided, 'label')} whose code version {seen.version} of "
            "the taxonomy does not decide."
        )
    if by and (missing := seen.without(0)):
        notes.append(f"{counted(missing, 'label')} without a value of {by}: only in the total.")
    return notes


def sampling_notes(study: Study, observations: Observations) -> list[str]:
    """What the labelled items are a sample of, where the study knows."""
    with study.reading() as reader:
        found = [note for name in observations.rounds if (note := _sampled(reader, name))]
    if found:
        return found
    return [
        (
            "No sample of the study stands behind these labels: the intervals hold for a "
            "population of which they would be a simple random sample."
        )
    ]


def _sampled(reader: Reader, round_name: str) -> str:
    rows = reader.rows(
        "SELECT r.sample, max(d.frame_count) AS frame, any_value(d.allocation) AS allocation, "
        "(SELECT count(*) FROM samples s WHERE s.sample = r.sample) AS drawn "
        "FROM rounds r JOIN sample_draws d ON d.sample = r.sample WHERE r.round = ? "
        "GROUP BY r.sample",
        [round_name],
    )
    if not rows or not rows[0]["frame"]:
        return ""
    frame, drawn = int(rows[0]["frame"]), int(rows[0]["drawn"])
    factor = ((frame - drawn) / (frame - 1)) ** 0.5 if frame > max(1, drawn) else 0.0
    told = (
        f"Round {round_name} was drawn as sample {rows[0]['sample']}: {drawn:,} of {frame:,}. The "
        f"intervals are those of an endless population; the finite one makes them {factor:.3f} "
        "times as wide (finite-population correction)."
    )
    if rows[0]["allocation"] not in (None, "", "proportional"):
        told += (
            f" Its strata were drawn by {rows[0]['allocation']} allocation, and shares here are "
            "those of the sample: look at them by stratum."
        )
    return told
