"""Two values of each item or artifact, counted against each other.

Where a side is a taxonomy, what has final labels of it is counted, else all candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultatlas.analysis.covariates import Covariate, covariate, joined
from faultatlas.analysis.observations import observe
from faultatlas.analysis.tallies.groups import counting_notes, no_values
from faultatlas.analysis.tallies.sides import (
    Side,
    in_order,
    label_query,
    left_out_notes,
    one_each,
    order_of,
    titles_of,
)
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal, literals

if TYPE_CHECKING:
    from faultatlas.data.study import Study

MOST_VALUES = 60


@dataclass(frozen=True)
class Pairs:
    """Counts by the values of both sides, and how to ask for the rows behind them."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: dict[tuple[str, str], int]
    unit: str
    notes: tuple[str, ...]
    query: str  # SQL with a column for each side
    row_column: str
    column_column: str
    row_titles: Mapping[str, str] = field(default_factory=dict)  # what is more than the value
    column_titles: Mapping[str, str] = field(default_factory=dict)

    def table(self) -> list[list[int]]:
        """The counts as rows."""
        return [[self.counts.get((row, column), 0) for column in self.columns] for row in self.rows]

    def turned(self) -> Pairs:
        """With rows for columns."""
        counts = {(column, row): count for (row, column), count in self.counts.items()}
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            counts=counts,
            row_column=self.column_column,
            column_column=self.row_column,
            row_titles=self.column_titles,
            column_titles=self.row_titles,
        )

    def rows_query(self, row: str | None = None, column: str | None = None) -> str:
        """SQL on the views: the rows of a cell, of a row, or of all."""
        asked = [
            f"{name} = {literal(value)}"
            for name, value in ((self.row_column, row), (self.column_column, column))
            if value is not None
        ]
        where = f"\nWHERE {' AND '.join(asked)}" if asked else ""
        return f"SELECT * FROM (\n{self.query}\n) AS paired{where}\nORDER BY ALL"


def pairs(study: Study, first: Side, second: Side, round_name: str, where: str = "") -> Pairs:
    """Count two sides against each other."""
    if first.taxonomy and second.taxonomy:
        found = _of_two_taxonomies(study, first, second, round_name)
    elif first.taxonomy or second.taxonomy:
        labelled, other = (first, second) if first.taxonomy else (second, first)
        found = _of_labels(study, labelled, other, round_name)
        found = found if first.taxonomy else found.turned()
    else:
        found = _of_candidates(study, first, second, where)
    for name, values in ((first.given, found.rows), (second.given, found.columns)):
        if len(values) > MOST_VALUES:
            raise StudyError(
                f"{name} has {len(values):,} different values, too many for a table",
                "Group them with a CASE, or a level: TAXONOMY:1.",
            )
    return found


def _of_labels(study: Study, labelled: Side, other: Side, round_name: str) -> Pairs:
    seen = observe(
        study, labelled.taxonomy, round_name=round_name, level=labelled.level, by=[other.given]
    )
    values, left_out = one_each(seen, labelled)
    by_item = {(row.round, row.item_id): row.values[0] for row in seen.rows}
    counts = Counter(
        (value, group) for item, value in values.items() if (group := by_item[item]) is not None
    )
    notes = [*counting_notes(seen), *left_out_notes(left_out, labelled)]
    if not counts:
        raise no_values(other.given, len(seen.rows))
    if missing := len(values) - sum(counts.values()):
        notes.append(f"{missing:,} items have no value of {other.given} and are left out.")
    return Pairs(
        _used(order_of(seen, labelled), (value for value, _group in counts)),
        in_order(group for _value, group in counts),
        dict(counts),
        "items",
        tuple(notes),
        label_query(seen, labelled, left_out),
        "label_value",
        "value_1",
        titles_of(seen, labelled),
    )


def _of_two_taxonomies(study: Study, first: Side, second: Side, round_name: str) -> Pairs:
    seen = [
        observe(study, each.taxonomy, round_name=round_name, level=each.level)
        for each in (first, second)
    ]
    sides: list[dict[str, str]] = []
    notes: list[str] = []
    queries: list[str] = []
    for each, of in zip(seen, (first, second), strict=True):
        values, left_out = one_each(each, of)
        by_artifact: dict[str, set[str]] = {}
        artifact = {(row.round, row.item_id): row.artifact_id for row in each.rows}
        for item, value in values.items():
            by_artifact.setdefault(artifact[item], set()).add(value)
        several = {key for key, found in by_artifact.items() if len(found) > 1}
        notes += left_out_notes(left_out, of)
        if several:
            notes.append(f"{len(several):,} artifacts have several values of {of.title}: left out.")
        sides.append({key: min(found) for key, found in by_artifact.items() if key not in several})
        gone = sorted(several)
        query = label_query(each, of, left_out)
        if gone:
            query = f"SELECT * FROM ({query}) WHERE artifact_id NOT IN ({literals(gone)})"
        queries.append(query)
    both = sorted(sides[0].keys() & sides[1].keys())
    if not both:
        raise StudyError(
            f"no artifact has final labels of both {first.taxonomy} and {second.taxonomy}",
            "Label the same artifacts with both, or give a covariate.",
        )
    counts = Counter((sides[0][key], sides[1][key]) for key in both)
    notes.append(
        f"{len(both):,} artifacts have labels of both; {len(sides[0]) - len(both):,} only of "
        f"{first.taxonomy}, {len(sides[1]) - len(both):,} only of {second.taxonomy}."
    )
    query = (
        "SELECT DISTINCT a.artifact_id, a.label_value AS first_value, "
        "b.label_value AS second_value, a.run_id\n"
        f"FROM (\n{queries[0]}\n) AS a JOIN (\n{queries[1]}\n) AS b USING (artifact_id)"
    )
    orders = [order_of(each, of) for each, of in zip(seen, (first, second), strict=True)]
    return Pairs(
        _used(orders[0], (key[0] for key in counts)), _used(orders[1], (key[1] for key in counts)),
        dict(counts), "artifacts", tuple(notes), query, "first_value", "second_value",
        titles_of(seen[0], first), titles_of(seen[1], second),
    )  # fmt: skip


def _of_candidates(study: Study, first: Side, second: Side, where: str) -> Pairs:
    from faultatlas.data import queries

    with study.reading() as reader:
        sides = tuple(covariate(reader, each.given) for each in (first, second))
        if where:
            queries.refuse_odd_condition(reader, "--where", where)
        query = candidates_query(sides, where)
        found = reader.rows(f"SELECT value_1, value_2, count(*) AS n FROM ({query}) GROUP BY ALL")
    refuse_labels_only(sides)
    counts = {
        (row["value_1"], row["value_2"]): int(row["n"])
        for row in found
        if row["value_1"] is not None and row["value_2"] is not None
    }
    missing = sum(int(row["n"]) for row in found) - sum(counts.values())
    notes = ["Counted: all artifacts that are there (the view candidates)."]
    if where:
        notes = [f"Counted: the artifacts with {where}."]
    if missing:
        notes.append(f"{missing:,} artifacts have no value of one of the two and are left out.")
    rows, columns = (in_order(key[at] for key in counts) for at in (0, 1))
    return Pairs(rows, columns, counts, "artifacts", tuple(notes), query, "value_1", "value_2")


def candidates_query(sides: tuple[Covariate, ...], where: str = "") -> str:
    """The candidates with covariates as text, value_1 and so on."""
    own = ", ".join(f"{each.text} AS value_{at}" for at, each in enumerate(sides, 1))
    kept = f"WHERE (\n{where}\n)" if where else ""
    frame = f"(SELECT artifact_id, run_id FROM candidates {kept}) AS l"
    return f"SELECT l.artifact_id, {own}, l.run_id\nFROM {frame}\n{joined(sides)}"


def refuse_labels_only(sides: Iterable[Covariate]) -> None:
    """Candidates have neither round nor stratum."""
    for each in sides:
        if each.of_labels:
            raise StudyError(
                f"only labels have a {each.given}", "Give a taxonomy as the other side."
            )


def _used(order: Iterable[str], found: Iterable[str]) -> tuple[str, ...]:
    there = set(found)
    return tuple(each for each in order if each in there)
