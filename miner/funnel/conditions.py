"""The SQL in a step of the funnel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.data.queries import refuse_odd_condition, refuse_odd_value

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.miner.funnel.steps import Step


def refuse_odd_sql(reader: Reader, step: Step) -> None:
    """Before anything is run: what a user wrote must be one condition or one value."""
    owner, draw = f"step {step.name!r}", step.draw
    if step.where:
        refuse_odd_condition(reader, owner, step.where)
    for value in (draw.by, draw.highest) if draw else ():
        if value:
            refuse_odd_value(reader, owner, value)
