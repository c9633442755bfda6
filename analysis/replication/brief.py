"""A replication on the terminal: figures with data one by one, the others by what they lack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.data.old.results import Result
    from faultatlas.report.old.console import Output

_FIGURES = "figures"
_ABSENT = "not in the folder: "
_LONGEST = 160  # characters of a reason


def show(output: Output, result: Result, page: Path) -> None:
    """Print a replication; who asks for more gets all tables."""
    from faultatlas.report import publish

    if output.verbose:
        publish.show(output, result, page)
        return
    table = next(each for each in result.tables if each.name == _FIGURES)
    rows = [dict(zip((each.key for each in table.columns), row, strict=True)) for row in table.rows]
    others = tuple(each for each in result.tables if each is not table)
    publish.show(output, replace(result, tables=others), page, first=_lines(rows))


def _lines(rows: Sequence[dict[str, Any]]) -> list[Any]:
    from faultatlas.report.lists import listed

    with_data = [each for each in rows if each["status"] != "no data"]
    lacking: dict[str, list[str]] = {}
    for each in rows:
        if each["status"] == "no data":
            lacking.setdefault(each["reason"], []).append(each["figure_id"])
    gone = [(f"no data: {spans(ids)}: {_lack(reason)}",) for reason, ids in lacking.items()]
    more = [("With -v: all figures as a table, with place and basis.",)]
    return [*listed([_item(each) for each in with_data]), "", *listed([*gone, *more])]


def _item(row: dict[str, Any]) -> tuple[str, ...]:
    interval = f" ({row['interval']})" if row["interval"] else ""
    reason = row["reason"]
    if len(reason) > _LONGEST:
        reason = f"{reason[: _LONGEST - 1].rstrip()}…"
    beside = f"printed {row['printed']}, ours {row['ours'] or 'none'}{interval}"
    return f"{row['figure_id']}  {row['status']}: {beside}", row["statement"], reason


def _lack(reason: str) -> str:
    return f"needs {reason.removeprefix(_ABSENT)}" if reason.startswith(_ABSENT) else reason


def spans(ids: Sequence[str]) -> str:
    """Ids in short: K003, K004, K006-K025."""
    groups: list[list[str]] = [[ids[0]]]
    for before, now in pairwise(ids):
        if _number(now) == _number(before) + 1:
            groups[-1].append(now)
        else:
            groups.append([now])
    return ", ".join(
        f"{each[0]}-{each[-1]}" if len(each) > 2 else ", ".join(each) for each in groups
    )


def _number(figure_id: str) -> int:
    return int(re.sub(r"\D", "", figure_id) or 0)
