"""Own claims, computed: each SELECT gives one number of the study's views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.replication.judging import RULE
from faultatlas.analysis.statistics.shares import wilson_share
from faultatlas.data import queries
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Column, Result, Table
from faultatlas.report import formatting
from faultatlas.report.published import compare, parse

if TYPE_CHECKING:
    from faultatlas.analysis.own_claims.files import OwnClaim
    from faultatlas.data.study import Reader, Study

ANALYSIS = "claims"

_MOST_NAMED = 3  # in the first sentence


def result_of(study: Study, own: Sequence[OwnClaim]) -> Result:
    """The claims as a result; its parameters hold all of them."""
    with study.reading() as reader:
        claims = tuple(_claim(reader, each) for each in own)
    compared = [claim for claim in claims if claim.status]
    out = sum(claim.status == "reproduced" for claim in compared)
    summary = [_lead(claims)] if claims else []
    summary.append(f"{formatting.counted(len(claims), 'number')} of this study, bound in SQL.")
    if compared:
        summary.append(f"{out:,} of {len(compared):,} printed numbers come out.")
    return Result(
        analysis=ANALYSIS,
        name=ANALYSIS,
        title="Own claims",
        # A list: stored parameters do not keep the order of names.
        parameters={"claims": [{"name": each.name, **each.definition} for each in own]},
        summary=tuple(summary),
        claims=claims,
        tables=(_table(claims),),
        notes=(f"Printed numbers: {RULE}",) if compared else (),
        document={
            "numbers": {
                each.name: {"value": claim.value, "count": claim.count, "total": claim.total}
                for each, claim in zip(own, claims, strict=True)
            }
        },
    )


def _lead(claims: Sequence[Claim]) -> str:
    """The first numbers in a sentence, and which of them do not come out."""
    told = []
    for claim in claims[:_MOST_NAMED]:
        apart = f" ({claim.status})" if claim.status == "not reproduced" else ""
        known = claim.value is not None
        value = formatting.measure(claim.value, claim.unit) if known else "no data"
        told.append(f"{claim.statement.rstrip('.')}: {value}{apart}")
    more = len(claims) - len(told)
    return "; ".join(told) + (f"; and {more:,} more." if more else ".")


def _claim(reader: Reader, own: OwnClaim) -> Claim:
    owner = f"claim {own.name!r}"
    counted = queries.checked(reader, owner, own.sql or own.numerator)
    number: dict[str, Any]
    if own.sql:
        number = {"value": _number(reader, owner, counted), "unit": own.unit}
    else:
        number = _share(reader, owner, counted, queries.checked(reader, owner, own.denominator))
    rows = queries.checked(reader, f"the rows of {owner}", own.rows) if own.rows else None
    return Claim(
        claim_id=f"{ANALYSIS}.{own.name}",
        statement=own.statement,
        query=f"{ANALYSIS}(): numbers.{own.name}.value",
        rows_query=rows or queries.counted_rows(reader, counted) or counted,
        **number,
        **_beside_printed(own, number),
    )


def _share(reader: Reader, owner: str, numerator: str, denominator: str) -> dict[str, Any]:
    parts = [_number(reader, owner, query) for query in (numerator, denominator)]
    counts = [int(part) for part in parts if part is not None and part == int(part)]
    if len(counts) < len(parts) or not 0 <= counts[0] <= counts[1]:
        raise StudyError(
            f"{owner} is no share: {parts[0]} of {parts[1]}",
            "Its numerator counts some of what its denominator counts.",
        )
    share = wilson_share(*counts)
    return {
        "value": share.percent, "unit": "percent", "count": share.count, "total": share.total,
        "low": share.low, "high": share.high, "method": share.method,
    }  # fmt: skip


def _number(reader: Reader, owner: str, query: str) -> float | None:
    """The one number that a query gives; None for NULL."""
    rows = queries.rows_of(reader, owner, query, 2)
    if len(rows) != 1 or len(rows[0]) != 1:
        found = f"{len(rows[0])} columns" if rows and len(rows[0]) > 1 else _rows_told(len(rows))
        raise StudyError(
            f"the SQL of {owner} gives {found}, not one number",
            "Such as: SELECT count(*) FROM issues",
        )
    (value,) = rows[0].values()
    if value is None:
        return None
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        raise StudyError(
            f"the SQL of {owner} gives {formatting.plain(value)!r}, no number",
            "Such as: SELECT count(*) FROM issues",
        )
    if not math.isfinite(value):
        raise StudyError(f"the SQL of {owner} gives {value}", "Divide by nullif(..., 0).")
    return float(value)


def _rows_told(count: int) -> str:
    return "no row" if not count else "more than one row"


def _beside_printed(own: OwnClaim, number: dict[str, Any]) -> dict[str, Any]:
    if not own.printed:
        return {}
    printed = parse(own.printed)
    if number["value"] is None:
        return {"printed": printed.value, "status": "no data", "reason": "the SQL gives NULL"}
    unit = "percent" if formatting.is_percent(number["unit"]) else number["unit"]
    judged = compare(number["value"], printed, unit)
    return {"printed": printed.value, "status": judged.status, "reason": judged.reason}


def _table(claims: Sequence[Claim]) -> Table:
    """Every number as it is written; the claims have the exact ones."""
    columns = (
        Column("claim", "Claim", "code"),
        Column("statement", "Number"),
        Column("value", "Value", "number"),
        Column("interval", "95 % interval", "interval"),
        Column("printed", "Printed", "number"),
        Column("status", "Status", "status"),
    )
    rows = tuple(
        (
            claim.claim_id.partition(".")[2],
            claim.statement,
            formatting.measure(claim.value, claim.unit),
            formatting.interval(claim.low, claim.high, claim.unit),
            None if claim.printed is None else formatting.printed(claim.printed, claim.unit),
            claim.status,
        )
        for claim in claims
    )
    return Table("numbers", "Own claims", columns, rows)
