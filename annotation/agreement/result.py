"""What was measured, as a result: its quantities, tables, figures and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.agreement.choices import By, escaped
from faultatlas.annotation.agreement.figures import all_figures
from faultatlas.annotation.agreement.measuring import statistic_of
from faultatlas.annotation.agreement.printed import RULE, interval_of
from faultatlas.annotation.agreement.tables import Scale, all_tables, parts_of
from faultatlas.annotation.rows_behind import compared_labels
from faultatlas.data.results import Quantity, Result
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.gate import Gate
    from faultatlas.annotation.agreement.measuring import Measured, Part
    from faultatlas.annotation.agreement.overview import Entry, Overview

_FEW = 3
_FIRST = (
    "The statistic that was fixed before the first label stands first; reporting only the most "
    "favourable one is an antipattern (ACM SIGSOFT Empirical Standards)."
)
_WORDS = {By.CATEGORY: "category", By.PAIR: "pair", By.STRATUM: "stratum", By.LEVEL: "level"}


def result_of(overview: Overview, gates: Sequence[Gate] = (), by: Iterable[By] = ()) -> Result:
    """The result that is stored and shown; tables that were asked for are open."""
    scale = Scale(overview.choice.scale)
    entries = (*overview.entries, *overview.pools)
    return Result(
        name=overview.choice.result_name,
        title=_title(overview),
        quantities=tuple(_quantities(overview)),
        summary=tuple(
            line
            for entry in entries
            for line in (_summary(overview, entry, scale, gates), *_beside(entry))
        ),
        tables=all_tables(overview, gates, by, scale),
        figures=all_figures(overview),
        notes=_notes(overview, scale),
        sources=_sources(entries, scale),
        data={
            **_document(overview.entries, scale, "rounds"),
            **_document(overview.pools, scale, "together"),
            "trend": [
                {
                    "taxonomy": trend.taxonomy,
                    "round": point.round,
                    "stage": point.stage,
                    "threshold": point.threshold,
                    **_measured(point.measured, scale),
                }
                for trend in overview.trends
                for point in trend.points
            ],
            "left_out": list(overview.left_out),
            "gates": [_gate(gate) for gate in gates],
        },
    )


def _title(overview: Overview) -> str:
    names = ", ".join(entry.name for entry in overview.entries)
    if len(overview.entries) > _FEW:
        names = f"{len(overview.entries)} rounds"
    after = " after discussion" if overview.choice.stage == "negotiated" else ""
    return f"Agreement of raters{after}: {names}"


def _summary(overview: Overview, entry: Entry, scale: Scale, gates: Sequence[Gate]) -> str:
    main, counts = entry.found.main, entry.found.counts
    word = scale.word(main)
    how = "fixed beforehand" if entry.fixed.beforehand else "not fixed beforehand"
    low, high = interval_of(main)
    behind = (
        "" if low is None else f"95 % interval {formatting.interval(low, high)}",
        f"{word}, {scale.title}" if word else "",
        how,
    )
    value = (
        f"{main.title} {formatting.number(main.estimate.value)} ({'; '.join(filter(None, behind))})"
        if main.estimate.value is not None
        else f"{main.title} has no value: {main.estimate.reason}"
    )
    gate = next((each for each in gates if entry.path == ("rounds", each.round)), None)
    passed = "" if gate is None else f" Gate {'passed' if gate.is_passed else 'NOT passed'}."
    told = f" [{overview.choice.told}]" if overview.choice.told else ""
    return (
        f"{entry.name}{told}: {value}. {formatting.count(counts.compared)} of "
        f"{formatting.counted(counts.items, 'item')} with two ratings or more, "
        f"{formatting.counted(counts.raters, 'rater')}.{passed}"
    )


def _beside(entry: Entry) -> Iterator[str]:
    """What was printed, beside ours."""
    for measured, comparison in entry.compared:
        yield (
            f"{entry.name}: {measured.title} printed {comparison.printed.text}, computed "
            f"{formatting.measure(measured.estimate.value)}: {comparison.status}."
        )


# --- quantities ------------------------------------------------------------------------


def _quantities(overview: Overview) -> Iterator[Quantity]:
    """The leading statistic of every round first: a page shows the first ones large."""
    entries = (*overview.entries, *overview.pools)
    for entry in entries:
        yield from _statistics(overview, entry, entry.found.measures[:1])
    for entry in entries:
        seen = {measured.key for measured in entry.found.measures}
        extra = [measured for measured, _ in entry.compared if measured.key not in seen]
        yield from _statistics(overview, entry, (*entry.found.measures[1:], *extra))
    for entry in entries:
        for by, dimension in _WORDS.items():
            for part in parts_of(by, entry):
                if part.measured.estimate.value is not None:
                    yield _quantity(
                        {**_place(overview, entry), "by": dimension, dimension: part.key},
                        f"{part.measured.title} of {_told(overview, entry)}, "
                        f"{dimension} {part.label}",
                        part.measured,
                        _rows(overview, entry, by, part),
                    )


def _statistics(
    overview: Overview, entry: Entry, measures: Iterable[Measured]
) -> Iterator[Quantity]:
    for measured in {measured.key: measured for measured in measures}.values():
        if measured.estimate.value is not None:
            quantity = _quantity(
                {**_place(overview, entry), "statistic": measured.key},
                f"{measured.title} of {_told(overview, entry)}",
                measured,
                _rows(overview, entry),
            )
            yield _with_printed(quantity, entry, measured)


def _place(overview: Overview, entry: Entry) -> dict[str, str]:
    """The dimensions that name the round, or the rounds; none where the result has only one."""
    if len(overview.choice.rounds) == 1:
        return {}
    return {"of": escaped(entry.path[0]), "round": escaped(entry.path[1])}


def _quantity(
    dimensions: dict[str, str], statement: str, measured: Measured, query: str
) -> Quantity:
    low, high = interval_of(measured)
    return Quantity(
        dimensions,
        measured.estimate.value,
        low,
        high,
        n=measured.estimate.items,
        unit="coefficient",
        statement=f"{statement} ({formatting.counted(measured.estimate.items, 'item')})",
        query=query,
        method=_method(measured),
    )


def _with_printed(quantity: Quantity, entry: Entry, measured: Measured) -> Quantity:
    """The quantity with what a paper printed for it, if anything."""
    for ours, comparison in entry.compared:
        if ours.key == measured.key:
            return replace(
                quantity,
                printed=comparison.printed.value,
                status=comparison.status,
                reason=comparison.reason,
            )
    return quantity


def _rows(overview: Overview, entry: Entry, by: By | None = None, part: Part | None = None) -> str:
    """The labels behind a number: of the whole round, or of a pair or a stratum of it."""
    raters = overview.choice.raters
    if part is not None and by is By.PAIR:
        one, _, other = part.key.partition("~")
        raters = tuple(each for each in entry.found.coding.raters if escaped(each) in {one, other})
    return compared_labels(
        [each.name for each in entry.found.rated.rounds],
        discussed=entry.found.rated.stage == "negotiated",
        raters=raters,
        stratum=part.key if part is not None and by is By.STRATUM else None,
    )


def _told(overview: Overview, entry: Entry) -> str:
    names = [each.name for each in entry.found.rated.rounds]
    after = " after discussion" if entry.found.rated.stage == "negotiated" else ""
    told = f" [{overview.choice.told}]" if overview.choice.told else ""
    return f"round{'s' if len(names) > 1 else ''} {', '.join(names)}{after}{told}"


def _method(measured: Measured) -> str:
    estimate = measured.estimate
    if estimate.bootstrap_low is not None:
        return f"percentile bootstrap over items, {estimate.resamples:,} resamples, 95 %"
    return estimate.method


# --- plain values --------------------------------------------------------------------


def _document(entries: Sequence[Entry], scale: Scale, key: str) -> dict[str, Any]:
    return {key: {entry.path[1]: _plain(entry, scale) for entry in entries}} if entries else {}


def _plain(entry: Entry, scale: Scale) -> dict[str, Any]:
    found = entry.found
    rated = found.rated
    return {
        "stage": rated.stage,
        "taxonomy": rated.taxonomy.name,
        "taxonomy_version": rated.taxonomy.version,
        "rounds": [each.name for each in rated.rounds],
        "raters": list(found.coding.raters),
        "counts": asdict(found.counts),
        "main": found.main.key,
        "fixed_beforehand": entry.fixed.beforehand,
        "how_chosen": entry.fixed.said,
        "threshold": entry.fixed.threshold,
        "scale": scale.name,
        "statistics": {
            each.key: _measured(each, scale)
            for each in (*found.measures, *(ours for ours, _ in entry.compared))
        },
        **{
            word: {part.key: _part(part, scale) for part in parts_of(by, entry)}
            for by, word in _WORDS.items()
        },
        "confused": [asdict(each) for each in found.confused],
        "cautions": [asdict(each) for each in entry.cautions],
        "printed": [
            {
                "statistic": measured.key,
                "printed": comparison.printed.text,
                "computed": measured.estimate.value,
                "status": comparison.status,
                "reason": comparison.reason,
            }
            for measured, comparison in entry.compared
        ],
    }


def _measured(measured: Measured, scale: Scale) -> dict[str, Any]:
    estimate = measured.estimate
    return {
        "statistic": measured.key,
        "title": measured.title,
        "value": estimate.value,
        "word": scale.word(measured),
        "items": estimate.items,
        "raters": estimate.raters,
        "ratings": estimate.ratings,
        "analytic": {"low": estimate.low, "high": estimate.high, "method": estimate.method},
        "bootstrap": {
            "low": estimate.bootstrap_low,
            "high": estimate.bootstrap_high,
            "resamples": estimate.resamples,
        },
        "reason": estimate.reason,
    }


def _gate(gate: Gate) -> dict[str, Any]:
    """Without the time, which the view `gates` has: a result is the same at any time."""
    return {name: value for name, value in vars(gate).items() if name != "decided_at"}


def _part(part: Part, scale: Scale) -> dict[str, Any]:
    return {
        "label": part.label,
        **_measured(part.measured, scale),
        "agreeing_percent": part.percent,
        "count": part.count,
    }


# --- words ---------------------------------------------------------------------------


def _notes(overview: Overview, scale: Scale) -> tuple[str, ...]:
    choice = overview.choice
    resampled = (
        f"Intervals are percentiles of a bootstrap over items ({choice.resamples:,} resamples, "
        f"seed {choice.seed}), analytic where resamples give none; the analytic ones stand "
        "beside them. Perfect agreement has none."
        if choice.resamples
        else "Intervals are analytic. Perfect agreement has none."
    )
    notes = [
        resampled,
        f"Words are those of {scale.source}. A scale is a habit, no law.",
        _FIRST,
        "Answers that are no code (unclear, not a fault, a new code) "
        + ("count as codes." if choice.special == "as-code" else "count as missing."),
    ]
    if choice.raters:
        notes.append(f"Only labels of {', '.join(choice.raters)}.")
    if choice.version:
        notes.append(f"Labels of other versions of the taxonomy, carried to {choice.version}.")
    if choice.first is not None:
        notes.append(
            f"Only the first {choice.first} raters of each item: in the order of the sheet's "
            "columns, or of the raters of the round."
        )
    if any(entry.compared for entry in overview.entries):
        notes.append(RULE)
    if overview.left_out:
        notes.append(
            f"Rounds without an item that two raters labelled: {', '.join(overview.left_out)}."
        )
    return tuple(notes)


def _sources(entries: Sequence[Entry], scale: Scale) -> tuple[str, ...]:
    from faultatlas.analysis.statistics.agreement import coefficients

    used = {statistic_of(each.key) for entry in entries for each in entry.found.measures}
    cited = (
        f"{coefficients()[name].title}: {coefficients()[name].source}" for name in sorted(used)
    )
    rules = {each.source for entry in entries for each in entry.cautions if each.source}
    return (*cited, f"Scale: {scale.source}", *sorted(rules))
