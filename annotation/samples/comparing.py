"""A sample against what it was drawn from: counts and shares of groups, and a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.statistics.tables import Fit, fit_to_frame
from faultatlas.annotation.samples.definition import columns_of
from faultatlas.annotation.samples.frame import SEPARATOR, Frame, stratum_name, stratum_value
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.old.results import Column, Table
from faultatlas.data.queries import condition_problem, frame
from faultatlas.report.formatting import count, number

if TYPE_CHECKING:
    from faultatlas.annotation.samples.storage import Sample
    from faultatlas.data.study import Reader

_USUAL = ("source", "kind", "project")
_MOST_GROUPS = 12
_MOST_SHOWN = 30  # groups of a printed table
_GONE = "(gone since)"
_ON_PURPOSE = ("equal", "optimal", "each")  # allocations that differ from the frame
FIXED = "fixed by the allocation, not tested"


@dataclass(frozen=True)
class Comparison:
    """Groups of the frame and of the sample in it."""

    by: str
    frame: Mapping[str, int]
    sample: Mapping[str, int]
    fit: Fit
    note: str = ""
    weighted: bool = False  # whether its groups are the strata, or as good as them

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "by": self.by,
            "groups": self.table(most=None).records(),
            "test": asdict(self.fit),
            "note": self.note,
        }

    def table(self, most: int | None = _MOST_SHOWN) -> Table:
        """For a reader: the largest groups, or all of them."""
        whole, drawn = sum(self.frame.values()), sum(self.sample.values())
        rows = []
        for name, size in [*self.frame.items()][:most]:
            part = self.sample.get(name, 0)
            of_frame = 100 * size / whole
            of_sample = 100 * part / drawn if drawn else None
            difference = None if of_sample is None else of_sample - of_frame
            weight = size / part if part and self.weighted else None
            row = (name, size, of_frame, part, of_sample, difference, weight)
            rows.append(row[: 7 if self.weighted else 6])
        columns = (
            Column("group", "Group"),
            Column("frame", "Frame", "count"),
            Column("frame_share", "Share", "percent"),
            Column("sample", "Sample", "count"),
            Column("sample_share", "Share", "percent"),
            Column("difference", "Difference", "points"),
            Column("weight", "Weight", "number", aside=True),
        )[: 7 if self.weighted else 6]
        more = len(self.frame) - len(rows)
        cut = f"{count(more)} smaller groups are not shown (--json has all)." if more else ""
        note = " ".join(filter(None, (cut, self.test_words(), self.note)))
        return Table("representativeness", f"By {self.by}", columns, tuple(rows), note)

    def test_words(self) -> str:
        """The test in a sentence."""
        fit = self.fit
        if fit.p_value is None or fit.statistic is None:
            return f"Representativeness: {fit.method}."
        return (
            f"Representativeness: X2 = {number(fit.statistic)}, {fit.degrees} degrees of freedom, "
            f"p = {number(fit.p_value)} ({fit.method})."
        )


def compared_columns(reader: Reader, text: str | None) -> tuple[str, ...]:
    """Columns to compare by, as a user wrote them, if they are some."""
    columns = columns_of(text) if text else ()
    for column in columns:
        stratum_value(reader, f"--compare {column}", [column])
    return columns


def comparisons(
    reader: Reader, sample: Sample, against: Frame, columns: Sequence[str]
) -> list[Comparison]:
    """Compare by these columns; without any by the strata, and by what has few values.

    What a user wrote was checked. How many each stratum has was not left to chance, so that
    nothing is tested there.
    """
    found = []
    definition = sample.definition
    strata = {each.artifact_id: each.stratum for each in against.members}
    fixed = _partition(strata) if definition.strata else None
    if not columns and definition.strata:
        found.append(_comparison(SEPARATOR.join(definition.strata), strata, sample, fixed=True))
    on_purpose = definition.allocation in _ON_PURPOSE
    seen = {fixed}
    for column in columns or (() if on_purpose else _USUAL):
        groups = _groups(reader, sample, against, column)
        parts = _partition(groups)
        if columns or (1 < len(set(groups.values())) <= _MOST_GROUPS and parts not in seen):
            found.append(_comparison(column, groups, sample, fixed=parts == fixed))
        seen.add(parts)
    return found


def _groups(reader: Reader, sample: Sample, against: Frame, column: str) -> dict[str, str]:
    value = stratum_name([column])
    try:
        rows = reader.arrow(
            f"SELECT artifact_id, {value} AS value FROM {frame(reader, column)} WHERE artifact_id "
            "IN (SELECT artifact_id FROM store.frame_member WHERE frame_hash = ?)",
            [sample.last.frame_hash],
        )
    except STATEMENT_ERRORS as error:
        raise condition_problem(f"--compare {column}", str(error)) from error
    known = dict(
        zip(rows.column("artifact_id").to_pylist(), rows.column("value").to_pylist(), strict=True)
    )
    return {each.artifact_id: known.get(each.artifact_id, _GONE) for each in against.members}


def _partition(groups: Mapping[str, str]) -> tuple[int, ...]:
    """Which artifacts are together, whatever the groups are called."""
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in groups.values())


def _comparison(
    by: str, groups: Mapping[str, str], sample: Sample, *, fixed: bool = False
) -> Comparison:
    whole = Counter(groups.values())
    inside = [each.artifact_id for each in sample.drawn if each.artifact_id in groups]
    part = Counter(groups[artifact] for artifact in inside)
    names = sorted(whole, key=lambda name: (-whole[name], name))
    if fixed:
        fit = Fit(None, max(0, len(names) - 1), None, FIXED)
    else:
        fit = fit_to_frame(
            [part[name] for name in names],
            [whole[name] for name in names],
            seed=abs(sample.definition.seed),
        )
    return Comparison(
        by,
        {name: whole[name] for name in names},
        {name: part[name] for name in names},
        fit,
        _note(sample, len(sample.drawn) - len(inside)),
        weighted=fixed,
    )


def _note(sample: Sample, outside: int) -> str:
    notes = []
    if sample.definition.method == "highest":
        notes.append("Not drawn at random: the test says how far it is from a random sample.")
    elif sample.definition.allocation in _ON_PURPOSE:
        notes.append("The allocation differs from the frame on purpose: weigh strata (-v).")
    if not sample.is_of_one_frame:
        notes.append("Frame, weights and test are those of the last draw, not of all of them.")
    if outside:
        notes.append(f"{count(outside)} of the sample are no longer in the frame.")
    return " ".join(notes)
