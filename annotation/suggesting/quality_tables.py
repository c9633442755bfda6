"""The quality of a model as a table and as claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.annotation.labels import SPECIAL
from faultatlas.data.old.results import Claim, Column, Table, rows_of
from faultatlas.report.formatting import interval

if TYPE_CHECKING:
    from faultatlas.annotation.suggesting.quality import Quality
    from faultatlas.data.taxonomy import Taxonomy

_COLUMNS = (
    Column("code", "Code", "code"),
    Column("name", "Name"),
    Column("examples", "Labelled", "count"),
    Column("found", "Found", "percent"),
    Column("found_interval", "95 %", "interval", aside=True),
    Column("right", "Right when proposed", "percent"),
    Column("right_interval", "95 %", "interval", aside=True),
)


def codes_table(taxonomy: Taxonomy, measured: Quality) -> Table:
    """For each code how many were found and how often the proposal was right."""
    records = [
        {
            "code": each.code,
            "name": SPECIAL.get(each.code)
            or (taxonomy.node(each.code).name if each.code in taxonomy else ""),
            "examples": each.examples,
            "found": each.found.percent,
            "found_interval": interval(each.found.low, each.found.high),
            "right": each.right.percent,
            "right_interval": interval(each.right.low, each.right.high),
        }
        for each in measured.codes
    ]
    return Table(
        "codes",
        "The model for each code, on texts that it had not seen",
        _COLUMNS,
        rows_of(_COLUMNS, records),
        note="Found: of the items with the code. Right: of those for which it was proposed first.",
    )


def claims(round_name: str, measured: Quality, rows_query: str | None = None) -> tuple[Claim, ...]:
    """The numbers that a paper would cite; the rows behind all of them are the same."""
    shares = {
        "hits": ("items for which the model's first proposal is right", measured.hits),
        "baseline": (f"items with the most frequent code, {measured.baseline_code}",
                     measured.baseline),
        "top_three": ("items whose code is among the first three proposals", measured.top_three),
    }  # fmt: skip
    return tuple(
        Claim(
            claim_id=f"suggest.{round_name}.{key}",
            statement=f"Share of {words}",
            value=share.percent,
            unit="%",
            query=f"suggest(round={round_name}): {key}.percent",
            count=share.count,
            total=share.total,
            low=share.low,
            high=share.high,
            method=share.method,
            rows_query=rows_query,
        )
        for key, (words, share) in shares.items()
    )
