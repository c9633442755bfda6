"""How raters compare with the final labels, as a result: tables, a figure, claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.statistics.tables import TREND, TREND_SOURCES
from faultatlas.annotation.result_names import result_name
from faultatlas.annotation.rows_behind import labels_beside_final, labels_beside_others
from faultatlas.annotation.settling.accuracy import BY_ROUND, BY_TIME
from faultatlas.annotation.settling.queue import named
from faultatlas.data.old.results import Claim, Column, Figure, Result, Series, Table
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.shares import Share
    from faultatlas.annotation.settling.accuracy import Accuracy, Confusion
    from faultatlas.data.taxonomy import Taxonomy

ANALYSIS = "accuracy"
_MOST_SHOWN = 3  # codes that were given instead
_ALPHA = 0.05
_FINAL_NOTE = (
    "Raters take part in what becomes final, so this is agreement with the final label, not with "
    "the truth. Compare --against others: what most of the other raters say has no part of the "
    "rater's own label."
)
_OTHERS_NOTE = (
    "Each label is compared with what more than half of the item's other raters gave; items "
    "without such a code are left out for that rater."
)


@dataclass(frozen=True)
class Measured:
    """All that was found."""

    round: str
    version: str | None
    with_others: bool
    parts: int
    taxonomy: Taxonomy
    raters: tuple[Accuracy, ...]
    confusions: tuple[Confusion, ...]
    basis: Mapping[str, str]  # by what the labels of a rater are in order
    items: int
    settled_by: Mapping[str, int]

    @property
    def whom(self) -> str:
        """What raters are compared with."""
        return "most of the other raters" if self.with_others else "the final label"

    @property
    def options(self) -> dict[str, Any]:
        """What makes it another result."""
        given = {"version": self.version, "against": "others" if self.with_others else ""}
        return {name: value for name, value in given.items() if value}

    @property
    def name(self) -> str:
        """The name of the result: of its folder."""
        return result_name(ANALYSIS, [self.round], self.options)


def result_of(measured: Measured) -> Result:
    """The result that is stored and shown."""
    note = _OTHERS_NOTE if measured.with_others else _FINAL_NOTE
    return Result(
        analysis=ANALYSIS,
        name=measured.name,
        title=f"Raters of round {measured.round} beside {measured.whom}",
        parameters={"round": measured.round, **measured.options, "parts": measured.parts},
        summary=tuple(_summary(measured)),
        claims=tuple(_claims(measured)),
        tables=(_raters(measured), _drift(measured), _confusions(measured)),
        figures=(_figure(measured),),
        notes=(note, *_notes(measured)),
        sources=TREND_SOURCES,
        document=_document(measured),
    )


def _summary(measured: Measured) -> Iterator[str]:
    how = ", ".join(f"{count:,} {by}" for by, count in sorted(measured.settled_by.items()))
    yield (
        f"{formatting.counted(measured.items, 'item')} and "
        f"{formatting.counted(len(measured.raters), 'rater')} compared with {measured.whom}"
        + (f" ({how})." if how else ".")
    )
    drifting = [each for each in measured.raters if _is_low(each.adjusted)]
    for rater in drifting:
        way = "rises" if (rater.trend.statistic or 0) > 0 else "falls"
        yield (
            f"{rater.rater}: agreement {way} {_when(measured.basis[rater.rater])} "
            f"({_path(rater.parts)}; p = {formatting.number(rater.adjusted or 0.0)} after Holm)."
        )
    if not drifting:
        yield "No rater's agreement rises or falls in the course more than chance explains."


def _raters(measured: Measured) -> Table:
    columns = (
        Column("rater", "Rater"),
        Column("n", "Labels", "count"),
        Column("percent", "Agree", "percent"),
        Column("interval", "95 % interval", "interval"),
        Column("cohen", "Cohen's kappa", "number"),
        Column("cohen_interval", "95 % interval", "interval"),
        Column("disputed", "Disputed", "count", aside=True),
        Column("disputed_percent", "Agree there", "percent"),
    )
    rows = tuple(
        (
            each.rater,
            each.share.total,
            each.share.percent,
            formatting.interval(each.share.low, each.share.high, "%"),
            each.cohen.value,
            formatting.interval(each.cohen.low, each.cohen.high),
            each.disputed.total,
            each.disputed.percent,
        )
        for each in measured.raters
    )
    title = f"Agreement with {measured.whom}"
    note = "Agree there: on items whose raters differ. " + (
        _OTHERS_NOTE if measured.with_others else _FINAL_NOTE
    )
    return Table("raters", title, columns, rows, note)


def _drift(measured: Measured) -> Table:
    columns = (
        Column("rater", "Rater"),
        *(Column(f"part_{at}", f"Part {at}", "percent") for at in range(1, measured.parts + 1)),
        Column("z", "z", "number"),
        Column("p", "p", "number"),
        Column("p_holm", "p (Holm)", "number"),
        Column("ordered_by", "In the order of", aside=True),
    )
    rows = tuple(
        (
            each.rater,
            *(part.percent for part in each.parts),
            each.trend.statistic,
            each.trend.p_value,
            each.adjusted,
            measured.basis[each.rater],
        )
        for each in measured.raters
    )
    note = f"{TREND}; p adjusted for {formatting.counted(len(rows), 'test')} after Holm."
    title = f"Agreement with {measured.whom} in the course of the work"
    return Table("drift", title, columns, rows, note)


def _confusions(measured: Measured) -> Table:
    columns = (
        Column("wanted", "Final code" if not measured.with_others else "Code of the others"),
        Column("labels", "Labels", "count"),
        Column("percent", "The same", "percent"),
        Column("interval", "95 % interval", "interval", aside=True),
        Column("instead", "Most often instead"),
    )
    rows = tuple(
        (
            named(each.wanted, measured.taxonomy),
            each.share.total,
            each.share.percent,
            formatting.interval(each.share.low, each.share.high, "%"),
            "; ".join(
                f"{named(codes, measured.taxonomy)} ({count:,})"
                for codes, count in each.given[:_MOST_SHOWN]
            ),
        )
        for each in measured.confusions
    )
    return Table(
        "confusions", "What raters gave instead, by code", columns, rows, folded=len(rows) > 12
    )


def _figure(measured: Measured) -> Figure:
    series = tuple(
        Series(
            each.rater,
            tuple(part.percent for part in each.parts),
            tuple(part.low for part in each.parts),
            tuple(part.high for part in each.parts),
        )
        for each in measured.raters
    )
    told = "; ".join(f"{each.rater}: {_path(each.parts)}" for each in measured.raters)
    return Figure(
        "drift",
        f"Agreement with {measured.whom} in the course of the work",
        "trend",
        f"Share of labels that agree, in parts of the work, with 95 % Wilson intervals. {told}.",
        categories=tuple(f"Part {at}" for at in range(1, measured.parts + 1)),
        series=series,
        unit="%",
    )


def _notes(measured: Measured) -> Iterator[str]:
    for basis in sorted(set(measured.basis.values())):
        whose = [rater for rater, each in measured.basis.items() if each == basis]
        yield f"Labels stand in {basis}: {', '.join(whose)}."
    if any(basis == BY_ROUND for basis in measured.basis.values()):
        yield "A sheet does not say when a label was given: its order need not be that of the work."


def _claims(measured: Measured) -> Iterator[Claim]:
    inside = ", ".join(f"{key}={value}" for key, value in measured.options.items())
    called = f"{ANALYSIS}(round={measured.round}{', ' if inside else ''}{inside})"
    rows_of = labels_beside_others if measured.with_others else labels_beside_final
    for each in measured.raters:
        rows_query = rows_of(measured.round, each.rater)
        about = f"of rater {each.rater} in round {measured.round} with {measured.whom}"
        yield Claim(
            claim_id=f"{measured.name}.{each.rater}.percent",
            statement=f"Agreement {about}",
            value=each.share.percent,
            unit="%",
            query=f"{called}: raters.{each.rater}.percent",
            count=each.share.count,
            total=each.share.total,
            low=each.share.low,
            high=each.share.high,
            method=each.share.method,
            rows_query=rows_query,
        )
        if each.cohen.value is not None:
            yield Claim(
                claim_id=f"{measured.name}.{each.rater}.cohen",
                statement=f"Cohen's kappa {about}",
                value=each.cohen.value,
                unit="",
                query=f"{called}: raters.{each.rater}.cohen",
                low=each.cohen.low,
                high=each.cohen.high,
                method=each.cohen.method,
                rows_query=rows_query,
            )


def _document(measured: Measured) -> dict[str, Any]:
    return {
        "round": measured.round,
        "taxonomy": measured.taxonomy.name,
        "taxonomy_version": measured.taxonomy.version,
        "against": "others" if measured.with_others else "final",
        "items": measured.items,
        "settled_by": dict(sorted(measured.settled_by.items())),
        "raters": {
            each.rater: {
                **_plain(each.share),
                "cohen": each.cohen.value,
                "cohen_low": each.cohen.low,
                "cohen_high": each.cohen.high,
                "cohen_reason": each.cohen.reason,
                "disputed": _plain(each.disputed),
                "ordered_by": measured.basis[each.rater],
                "parts": [_plain(part) for part in each.parts],
                "trend": {
                    "z": each.trend.statistic,
                    "p": each.trend.p_value,
                    "p_holm": each.adjusted,
                    "reason": each.trend.reason,
                },
            }
            for each in measured.raters
        },
        "confusions": [
            {
                "codes": sorted(each.wanted),
                **_plain(each.share),
                "instead": [
                    {"codes": sorted(codes), "count": count} for codes, count in each.given
                ],
            }
            for each in measured.confusions
        ],
    }


def _plain(share: Share) -> dict[str, Any]:
    return {
        "count": share.count, "n": share.total, "percent": share.percent, "low": share.low,
        "high": share.high,
    }  # fmt: skip


def _path(parts: tuple[Share, ...]) -> str:
    return ", ".join(
        "none" if part.percent is None else formatting.percent(part.percent) for part in parts
    )


def _when(basis: str) -> str:
    return "over time" if basis == BY_TIME else f"along {basis}"


def _is_low(p_value: float | None) -> bool:
    return p_value is not None and p_value < _ALPHA
