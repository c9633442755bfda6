"""Numbers by group: from the study's artifacts, or from a table that a user gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.covariates import covariate
from faultatlas.analysis.observations import observe
from faultatlas.analysis.tallies.given_tables import without_thousands
from faultatlas.analysis.tallies.groups import counting_notes
from faultatlas.analysis.tallies.pairing import candidates_query, refuse_labels_only
from faultatlas.analysis.tallies.sides import Side, in_order, label_query, one_each
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal
from faultatlas.report.formatting import counted, plain

if TYPE_CHECKING:
    from faultatlas.data.study import Study

MOST_GROUPS = 12
MOST_ROWS = 20_000
LARGEST = 1e150  # the square of a larger one is no number of a computer

Query = Callable[[Sequence[str]], str]  # the rows of these groups


@dataclass(frozen=True)
class Measured:
    """The values of groups; of pairs, the values of a pair stand at the same place."""

    value: str
    groups: dict[str, tuple[float, ...]]
    notes: tuple[str, ...] = ()
    paired: bool = False
    rows_query: Query | None = None


def of_study(study: Study, value: str, group: Side, round_name: str, where: str) -> Measured:
    """A covariate of labelled items by their code, or of candidates by another covariate."""
    if group.taxonomy:
        found, notes, query = _of_labels(study, value, group, round_name)
    else:
        found, notes, query = _of_candidates(study, value, group, where)
    return _checked(Measured(value, found, tuple(notes), rows_query=query), group.title)


Found = tuple[dict[str, tuple[float, ...]], list[str], Query]


def _of_labels(study: Study, value: str, group: Side, round_name: str) -> Found:
    seen = observe(study, group.taxonomy, round_name=round_name, level=group.level, by=[value])
    names, left_out = one_each(seen, group)
    of_item = {(row.round, row.item_id): row.values[0] for row in seen.rows}
    found, missing = _numbers(value, ((name, of_item[item]) for item, name in names.items()))
    notes = [*counting_notes(seen), *_missing(missing, value)]
    if left_out:
        notes.append(f"{len(left_out):,} items have several codes and are left out.")

    base = label_query(seen, group, left_out)

    def query(groups: Sequence[str]) -> str:
        listed = ", ".join(map(literal, groups))
        return (
            f"SELECT * FROM (\n{base}\n) AS found\n"
            f"WHERE label_value IN ({listed}) AND value_1 IS NOT NULL\n"
            "ORDER BY round, item_id, code"
        )

    return found, notes, query


def _of_candidates(study: Study, value: str, group: Side, where: str) -> Found:
    from faultatlas.data import queries

    with study.reading() as reader:
        sides = tuple(covariate(reader, each) for each in (value, group.given))
        refuse_labels_only(sides)
        if where:
            queries.refuse_odd_condition(reader, "--where", where)
        base = candidates_query(sides, where)
        rows = reader.rows(f"SELECT value_1, value_2 FROM ({base}) ORDER BY artifact_id")
    grouped = [(row["value_2"], row["value_1"]) for row in rows if row["value_2"] is not None]
    found, missing = _numbers(value, grouped)
    notes = [f"Counted: {counted(len(rows), 'artifact')} of the view candidates."]
    notes += _missing(missing, value)
    if len(grouped) < len(rows):
        notes.append(f"{len(rows) - len(grouped):,} artifacts have no value of {group.given}.")

    def query(groups: Sequence[str]) -> str:
        listed = ", ".join(map(literal, groups))
        return (
            f"SELECT * FROM (\n{base}\n) AS found\n"
            f"WHERE value_2 IN ({listed}) AND value_1 IS NOT NULL\nORDER BY ALL"
        )

    return found, notes, query


def _numbers(value: str, rows: Any) -> tuple[dict[str, tuple[float, ...]], int]:
    """The values of each group as numbers, and how many rows have none."""
    groups: dict[str, list[float]] = {}
    missing = 0
    for name, text in rows:
        if text is None:
            missing += 1
            continue
        try:
            number = float(text)
        except ValueError:
            raise StudyError(
                f"{plain(text)!r} is a value of {value}, and no number",
                "Give a number, such as comment_count, days_to_close, or length(body).",
            ) from None
        if math.isfinite(number):
            groups.setdefault(name, []).append(number)
        else:
            missing += 1
    return {name: tuple(groups[name]) for name in in_order(groups)}, missing


def file_values(
    path: Path, values: Sequence[str], group: str, paired: Sequence[str] = ()
) -> dict[str, Any]:
    """Columns of a table as they go into the parameters of a result: numbers, groups, pairs."""
    from faultatlas.data.sheets import read_sheet

    grid = read_sheet(path)
    wanted = list(dict.fromkeys(grid.column(each) for each in values))
    by = grid.column(group)
    pair = [grid.column(each) for each in paired]
    if len(grid.rows) * len(wanted) > MOST_ROWS:
        raise StudyError(
            f"{path} has more than {MOST_ROWS:,} values, too many to be kept with a result",
            "Compare fewer columns, or a sample of the rows.",
        )
    rows: dict[str, list[Any]] = {name: [] for name in wanted}
    for row in grid.rows:
        for name in wanted:
            text = grid.cell(row, name).strip()
            try:
                number = float(without_thousands(text)) if text else math.nan
            except ValueError:
                number = math.inf
            if abs(number) > LARGEST:
                raise StudyError(
                    f"{path}:{row.number}: {plain(text)!r} in column {name} is no number",
                    "Leave cells without a value empty; decimals stand behind a point.",
                )
            rows[name].append(None if math.isnan(number) else number)
    table = {
        "name": path.name,
        "values": rows,
        "group": [grid.cell(row, by).strip() for row in grid.rows],
    }
    if pair:
        table["pair"] = [
            " / ".join(grid.cell(row, each).strip() for each in pair) for row in grid.rows
        ]
    return table


def of_table(table: dict[str, Any], value: str) -> Measured:
    """A column of a table by its groups, in pairs if the table has them."""
    column = table["values"][value]
    if "pair" in table:
        return _paired(table, value)
    rows = zip(table["group"], column, strict=True)
    kept = [(name, each) for name, each in rows if name]
    found, missing = _numbers(value, kept)
    notes = [f"The values were given ({table['name']}); no rows of the study stand behind them."]
    return _checked(Measured(value, found, (*notes, *_missing(missing, value))), "the groups")


def _paired(table: dict[str, Any], value: str) -> Measured:
    names = sorted({name for name in table["group"] if name})
    if len(names) != 2:
        raise StudyError(f"pairs are of two groups, not of {len(names)}", "Choose two groups.")
    of_pair: dict[str, dict[str, float]] = {}
    for name, pair, each in zip(table["group"], table["pair"], table["values"][value], strict=True):
        if name and each is not None and math.isfinite(each):
            if name in of_pair.setdefault(pair, {}):
                raise StudyError(
                    f"the pair {plain(pair)!r} has two values in group {plain(name)!r}",
                    "A pair has one value in each group; --paired can name several columns.",
                )
            of_pair[pair][name] = each
    whole = [each for _pair, each in sorted(of_pair.items()) if len(each) == 2]
    groups = {name: tuple(each[name] for each in whole) for name in names}
    notes = [f"{len(whole):,} pairs; {len(of_pair) - len(whole):,} without a partner: left out."]
    return _checked(Measured(value, groups, tuple(notes), paired=True), "the groups")


def _missing(count: int, value: str) -> list[str]:
    return [f"{count:,} rows without a value of {value} are left out."] if count else []


def _checked(measured: Measured, what: str) -> Measured:
    """The groups that have two values or more; one group is refused."""
    small = [name for name, values in measured.groups.items() if len(values) < 2]
    kept = {name: each for name, each in measured.groups.items() if len(each) > 1}
    if len(kept) < 2:
        raise StudyError(
            f"{counted(len(kept), 'group')} with two values of {measured.value} or more: nothing "
            "to compare",
            f"Look at the values of {what}, and whether the artifacts were fetched: miner status",
        )
    if len(kept) > MOST_GROUPS:
        raise StudyError(
            f"{what} makes {len(kept):,} groups, too many to compare in pairs",
            "Group them with a CASE, or a level: TAXONOMY:1.",
        )
    notes = measured.notes
    if small:
        notes = (*notes, f"Groups with fewer than two values are left out: {', '.join(small)}.")
    return Measured(measured.value, kept, notes, measured.paired, measured.rows_query)
