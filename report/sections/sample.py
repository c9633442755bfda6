"""What was drawn: frame, size and its rule, strata, seed, and whether the sample fits its frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.statistics.tables import fit_to_frame
from faultatlas.data.old.results import Cell, Claim, Column, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import count as written
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section
from faultatlas.report.sections.numbers import count

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

POSITION = 30
KEY = "sample"

_FOLDED_FROM = 25
_ON_PURPOSE = ("equal", "optimal", "each")  # allocations that differ from the frame
_FORMULA = (
    "Computed sizes follow n = n0 / (1 + (n0 - 1) / N) with n0 = z² · 0.25 / e²: Cochran's "
    "formula for a share, with the correction for a finite frame of N artifacts."
)
_STRATA = """
SELECT f.stratum, count(*) AS frame, count(s.artifact_id) AS drawn
FROM store.frame_member f
LEFT JOIN store.sampled s ON s.artifact_id = f.artifact_id AND s.sample = $1
WHERE f.frame_hash = $2 GROUP BY ALL ORDER BY f.stratum
"""

_GROUPS = """
SELECT coalesce(a.{by}, '') AS name, count(*) AS frame, count(s.artifact_id) AS drawn
FROM store.frame_member f JOIN artifacts a USING (artifact_id)
LEFT JOIN store.sampled s ON s.artifact_id = f.artifact_id AND s.sample = $1
WHERE f.frame_hash = $2 GROUP BY ALL ORDER BY name
"""


@dataclass(frozen=True)
class Stratum:
    """A stratum of a frame, and how much of it was drawn."""

    sample: str
    stratum: str
    frame: int
    drawn: int


def section(material: Material) -> Section | None:
    """The samples; None without any."""
    reader = material.reader
    draws = reader.rows("SELECT * FROM sample_draws ORDER BY sample, draw")
    if not draws:
        return None
    last = {draw["sample"]: draw for draw in draws}
    strata = [each for draw in last.values() for each in strata_of(reader, draw)]
    computed = any(draw["confidence"] is not None for draw in draws)
    fits = tuple(row for draw in last.values() for row in _fits(reader, draw))
    tables = (_draws(draws), _strata(strata), _fit_table(fits), _frames(draws))
    return Section(
        KEY,
        "Sample",
        text=tuple(_told(draw, strata) for draw in last.values()),
        claims=tuple(_claims(reader, last)),
        tables=tuple(table for table in tables if table.rows),
        notes=(
            *((_FORMULA,) if computed else ()),
            (
                "Draws are ordered by a hash of seed, stratum and artifact id: the same frame and "
                "seed give the same sample on every machine."
            ),
        ),
    )


def strata_of(reader: Reader, draw: dict[str, Any]) -> list[Stratum]:
    """The strata of the frame that a draw was made from; nothing without strata."""
    if not draw["strata"]:
        return []
    rows = reader.rows(_STRATA, [draw["sample"], draw["frame_hash"]])
    return [Stratum(draw["sample"], row["stratum"], row["frame"], row["drawn"]) for row in rows]


def _told(draw: dict[str, Any], strata: list[Stratum]) -> str:
    text = (
        f"{draw['sample']}: {counted(draw['size'], 'artifact')} of a frame of "
        f"{written(draw['frame_count'])}, {_method(draw)}, seed {draw['seed']}. "
        f"Size: {draw['size_rule'].rstrip('.')}."
    )
    own = [each for each in strata if each.sample == draw["sample"]]
    return text + (f" {_covered(draw, own)}" if own else "")


def _method(draw: dict[str, Any]) -> str:
    if draw["method"] == "highest":
        return f"the highest by {draw['ordered_by']} (no random sample)"
    if draw["method"] == "stratified":
        return f"stratified by {', '.join(draw['strata'])} ({draw['allocation']} allocation)"
    return "drawn at random"


def _covered(draw: dict[str, Any], strata: list[Stratum]) -> str:
    covered = sum(1 for each in strata if each.drawn)
    told = f"{covered} of {counted(len(strata), 'stratum', 'strata')} have a drawn artifact."
    if draw["allocation"] in _ON_PURPOSE:
        return f"{told} The allocation differs from the frame on purpose: weight by stratum."
    return f"{told} Their shares are fixed by the allocation."


def _fits(reader: Reader, draw: dict[str, Any]) -> Iterator[tuple[Cell, ...]]:
    """Groups that a random draw was free in, compared with the frame."""
    if draw["method"] != "simple":
        return
    for by in ("source", "kind", "project"):
        groups = reader.rows(_GROUPS.format(by=by), [draw["sample"], draw["frame_hash"]])
        if len(groups) > 1:
            fit = fit_to_frame([row["drawn"] for row in groups], [row["frame"] for row in groups])
            yield (
                draw["sample"], by, len(groups), fit.statistic, fit.degrees, fit.p_value, fit.method
            )  # fmt: skip


def _fit_table(rows: tuple[tuple[Cell, ...], ...]) -> Table:
    return Table(
        "fit",
        "Whether the sample looks like its frame",
        (
            Column("sample", "Sample"),
            Column("by", "Compared by"),
            Column("groups", "Groups", "count"),
            Column("statistic", "Chi-square", "number"),
            Column("degrees", "Degrees of freedom", "count"),
            Column("p_value", "p", "number"),
            Column("method", "Method"),
        ),
        rows,
    )


def _claims(reader: Reader, last: dict[str, dict[str, Any]]) -> Iterator[Claim]:
    for name in last:
        yield count(
            reader,
            (KEY, name, "size"),
            f"artifacts in the sample {name}",
            f"SELECT artifact_id, stratum, run_id FROM samples WHERE sample = {literal(name)} "
            "ORDER BY position",
        )
        yield count(
            reader,
            (KEY, name, "labelled"),
            f"artifacts of the sample {name} with a final label",
            f"SELECT artifact_id, stratum, run_id FROM samples WHERE sample = {literal(name)} "
            "AND artifact_id IN (SELECT artifact_id FROM final_labels) ORDER BY position",
        )


def _draws(draws: list[dict[str, Any]]) -> Table:
    return Table(
        "draws",
        "Draws",
        (
            Column("sample", "Sample"),
            Column("draw", "Draw", "count"),
            Column("method", "Method"),
            Column("frame_count", "Frame", "count"),
            Column("size", "Size", "count"),
            Column("confidence", "Confidence", "percent"),
            Column("margin", "Margin", "percent"),
            Column("rounding", "Rounding"),
            Column("seed", "Seed", "code"),
        ),
        tuple(
            (
                draw["sample"], draw["draw"], _method(draw), draw["frame_count"], draw["size"],
                draw["confidence"], draw["margin"], draw["rounding"], str(draw["seed"]),
            )
            for draw in draws
        ),
    )  # fmt: skip


def _frames(draws: list[dict[str, Any]]) -> Table:
    return Table(
        "frames",
        "The queries that gave the frames",
        (
            Column("sample", "Sample"),
            Column("draw", "Draw", "count"),
            Column("query", "Query"),
            Column("hash", "Hash of the frame", "code"),
        ),
        tuple(
            (draw["sample"], draw["draw"], draw["frame_query"], draw["frame_hash"])
            for draw in draws
        ),
        folded=True,
    )


def _strata(strata: list[Stratum]) -> Table:
    totals: dict[str, list[int]] = {}
    for each in strata:
        total = totals.setdefault(each.sample, [0, 0])
        total[0] += each.frame
        total[1] += each.drawn
    return Table(
        "strata",
        "Strata of frame and sample",
        (
            Column("sample", "Sample"),
            Column("stratum", "Stratum"),
            Column("frame", "Frame", "count"),
            Column("of_frame", "Share of frame", "percent"),
            Column("drawn", "Sample", "count"),
            Column("of_sample", "Share of sample", "percent"),
        ),
        tuple(
            (
                each.sample,
                each.stratum,
                each.frame,
                100 * each.frame / totals[each.sample][0],
                each.drawn,
                100 * each.drawn / totals[each.sample][1] if totals[each.sample][1] else None,
            )
            for each in strata
        ),
        folded=len(strata) > _FOLDED_FROM,
        grouped_by="sample",
    )
