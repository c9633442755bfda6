"""A result as the store, the pages and the package of today know it."""

from __future__ import annotations

from faultatlas.data.old.results import Claim
from faultatlas.data.old.results import Result as OldResult
from faultatlas.data.results import Quantity, Result
from faultatlas.report.rendering import sentences, unit_shown


def as_stored(result: Result) -> OldResult:
    """The result with each quantity as a claim."""
    analysis = result.command.partition(" ")[2]
    leading = [result.by_id[quantity_id] for quantity_id in result.leading]
    others = [quantity for quantity in result.quantities if quantity.id not in result.leading]
    return OldResult(
        analysis=analysis,
        name=result.name,
        title=result.title,
        parameters=dict(result.arguments),
        summary=tuple(sentences(result)),
        claims=tuple(_claim(result, analysis, quantity) for quantity in (*leading, *others)),
        tables=result.listings(),
        figures=result.drawings(),
        notes=result.notes,
        sources=result.sources,
        document=dict(result.data),
        headlines=len(leading) or None,
    )


def _claim(result: Result, analysis: str, quantity: Quantity) -> Claim:
    given = ", ".join(f"{name}={value}" for name, value in result.arguments.items())
    return Claim(
        claim_id=f"{result.name}.{quantity.id}",
        statement=quantity.statement,
        value=quantity.value,
        unit=unit_shown(quantity),
        query=f"{analysis}({given}): {quantity.id}",
        count=quantity.count,
        total=None if quantity.count is None else quantity.n,
        low=quantity.low,
        high=quantity.high,
        method=quantity.method,
        printed=quantity.printed,
        status=quantity.status,
        reason=quantity.reason,
        rows_query=quantity.query or None,
    )
