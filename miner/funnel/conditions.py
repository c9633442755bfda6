"""The SQL in a step of the funnel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data.conditions import condition_query, refuse_odd_query, value_query

if TYPE_CHECKING:
    from data.store import Reader
    from miner.funnel.steps import Step


def refuse_odd_sql(reader: Reader, step: Step) -> None:
    """Before anything is run: what a user wrote must be one condition or one value."""
    draw = step.draw
    queries = [condition_query(step.where)] if step.where else []
    queries += [value_query(each) for each in (draw.by, draw.highest) if each] if draw else []
    for query in queries:
        refuse_odd_query(reader, f"step {step.name!r}", query)
