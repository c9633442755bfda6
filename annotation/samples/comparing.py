"""A sample against what it was drawn from: counts and shares of groups, and a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from analysis.statistics.representativeness import Fit, fit_to_frame
from annotation.samples.definition import columns_of
from annotation.samples.frame import SEPARATOR, Frame, stratum_value
from data.conditions import condition_problem, frame
from data.results import Column, Table
from data.store import STATEMENT_ERRORS
from report.formatting import count, number

if TYPE_CHECKING:
    from annotation.samples.storage import Sample
    from data.store import Reader

_USUAL = ("source", "kind", "project")
_MOST_GROUPS = 12
_GONE = "(gone since)"


@dataclass(frozen=True)
class Comparison:
    """Groups of the frame and of the sample in it."""

    by: str
    frame: Mapping[str, int]
    sample: Mapping[str, int]
    fit: Fit
    note: str = ""
    weighted: bool = False  # whether its groups are the strata

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "by": self.by,
            "groups": self.table().records(),
            "test": asdict(self.fit),
            "note": self.note,
        }

    def table(self) -> Table:
        """For a reader."""
        whole, drawn = sum(self.frame.values()), sum(self.sample.values())
        rows = []
        for name, size in self.frame.items():
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
        note = " ".join(filter(None, (self.test_words(), self.note)))
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
    """Compare by these columns; without any by the strata, or by what has few values."""
    found = []
    strata = sample.definition.strata
    if not columns and strata:
        groups = {each.artifact_id: each.stratum for each in against.members}
        whole = _comparison(SEPARATOR.join(strata), groups, sample)
        found.append(replace(whole, weighted=True))
    seen = set()
    for column in columns or (() if strata else _USUAL):
        groups = _groups(reader, sample, against, column)
        parts = _partition(groups)
        if columns or (1 < len(set(groups.values())) <= _MOST_GROUPS and parts not in seen):
            found.append(_comparison(column, groups, sample))
        seen.add(parts)
    return found


def _groups(reader: Reader, sample: Sample, against: Frame, column: str) -> dict[str, str]:
    value = stratum_value(reader, f"--compare {column}", [column])
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


def _comparison(by: str, groups: Mapping[str, str], sample: Sample) -> Comparison:
    whole = Counter(groups.values())
    inside = [each.artifact_id for each in sample.drawn if each.artifact_id in groups]
    part = Counter(groups[artifact] for artifact in inside)
    names = sorted(whole, key=lambda name: (-whole[name], name))
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
    )


def _note(sample: Sample, outside: int) -> str:
    notes = []
    if sample.definition.method == "highest":
        notes.append("Not drawn at random: the test says how far it is from a random sample.")
    elif sample.definition.allocation in ("equal", "optimal", "each"):
        notes.append("The allocation differs from the frame on purpose: weigh strata (-v).")
    if outside:
        notes.append(f"{count(outside)} of the sample are no longer in the frame.")
    return " ".join(notes)
