"""A result in words and as one JSON document; tables and pages are drawn elsewhere."""

from __future__ import annotations

import re
from typing import Any

from faultatlas.data.results import Quantity, Result
from faultatlas.report import formatting

_REFERENCE = re.compile(r"\{([^{}:]+)(?::(\w+))?\}")  # {id} or {id:field}


def sentences(result: Result) -> list[str]:
    """The summary with its numbers."""

    def number(reference: re.Match[str]) -> str:
        quantity = result.by_id.get(reference[1])
        return reference[0] if quantity is None else words(quantity, reference[2] or "value")

    return [_REFERENCE.sub(number, sentence) for sentence in result.summary]


def words(quantity: Quantity, field: str = "value") -> str:
    """A field of a quantity for a reader: `47.9 %`, `46 of 96 (47.9 %)` for `share`."""
    if field == "share":
        value = "no share" if quantity.value is None else formatting.measure(quantity.value, "%")
        return f"{words(quantity, 'count')} of {words(quantity, 'n')} ({value})"
    if field == "interval":
        return formatting.interval(quantity.low, quantity.high, unit_shown(quantity))
    value = getattr(quantity, field)
    if field in {"n", "count"} or quantity.unit == "count":
        return formatting.MISSING if value is None else formatting.count(value)
    return formatting.measure(value, unit_shown(quantity))


def unit_shown(quantity: Quantity) -> str:
    """The unit as it is written behind a number; a count and a coefficient have none."""
    return "" if quantity.unit in {"count", "coefficient"} else quantity.unit


def document(result: Result) -> dict[str, Any]:
    """The document that `--json` prints."""
    from faultatlas.data.provenance import program_version

    return {
        "command": result.command,
        "result": result.name,
        "version": program_version(),
        "arguments": dict(result.arguments),
        "title": result.title,
        "summary": sentences(result),
        "quantities": {
            quantity.id: {
                "dimensions": dict(quantity.dimensions),
                **{
                    name: value
                    for name, value in quantity.facts().items()
                    if value is not None and value != ""
                },
            }
            for quantity in result.quantities
        },
        "tables": {table.name: table.records() for table in result.listings()},
        "notes": list(result.notes),
        "missing": list(result.missing),
        "data": dict(result.data),
        "report": result.page or None,
    }
