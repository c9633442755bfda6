"""What was measured, as a result: with claims, so that every number can be traced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.agreement.choices import ANALYSIS, By, escaped
from faultatlas.annotation.agreement.figures import all_figures
from faultatlas.annotation.agreement.measuring import statistic_of
from faultatlas.annotation.agreement.printed import RULE, interval_of
from faultatlas.annotation.agreement.tables import Scale, all_tables, parts_of
from faultatlas.annotation.rows_behind import compared_labels
from faultatlas.data.old.results import Claim, Result
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


def result_of(
    overview: Overview,
    gates: Sequence[Gate] = (),
    by: Iterable[By] = (),
    beyond: Mapping[str, Any] | None = None,
) -> Result:
    """The result that is stored and shown; tables for what was asked for stand open.

    `beyond` is what it was called with besides the choice, to be stored with its parameters.
    """
    scale = Scale(overview.choice.scale)
    entries = (*overview.entries, *overview.pools)
    return Result(
        analysis=ANALYSIS,
        name=overview.choice.result_name,
        title=_title(overview),
        parameters={**overview.choice.parameters, **(beyond or {})},
        summary=tuple(
            line
            for entry in entries
            for line in (_summary(overview, entry, scale, gates), *_beside(entry))
        ),
        claims=tuple(_claims(overview)),
        tables=all_tables(overview, gates, by, scale),
        figures=all_figures(overview),
        notes=_notes(overview, scale),
        sources=_sources(entries, scale),
        document={
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


# --- claims --------------------------------------------------------------------------


def _claims(overview: Overview) -> Iterator[Claim]:
    """The leading statistic of every round first: a page shows the first ones large."""
    entries = (*overview.entries, *overview.pools)
    for entry in entries:
        yield from _statistic_claims(overview, entry, entry.found.measures[:1])
    for entry in entries:
        seen = {measured.key for measured in entry.found.measures}
        extra = [measured for measured, _ in entry.compared if measured.key not in seen]
        yield from _statistic_claims(overview, entry, (*entry.found.measures[1:], *extra))
    for entry in entries:
        yield from _part_claims(overview, entry)


def _statistic_claims(
    overview: Overview, entry: Entry, measures: Iterable[Measured]
) -> Iterator[Claim]:
    for measured in {each.key: each for each in measures}.values():
        if measured.estimate.value is not None:
            yield _claim(
                _claim_id(overview, entry, measured.key),
                f"{measured.title} of {_told(overview, entry)}",
                _place(overview, entry, "statistics", measured.key),
                measured,
                _rows(overview, entry),
                entry=entry,
            )


def _part_claims(overview: Overview, entry: Entry) -> Iterator[Claim]:
    for by, word in _WORDS.items():
        for part in parts_of(by, entry):
            if part.measured.estimate.value is not None:
                yield _claim(
                    _claim_id(overview, entry, word, part.key),
                    f"{part.measured.title} of {_told(overview, entry)}, {word} {part.label}",
                    _place(overview, entry, word, part.key),
                    part.measured,
                    _rows(overview, entry, by, part),
                )


def _claim_id(overview: Overview, entry: Entry, *words: str) -> str:
    """Dots part its words. Only the last, which may be a code such as 4.2, has dots of its own."""
    alone = len(overview.choice.rounds) == 1  # then the round is in the result's name
    path = () if alone else map(escaped, entry.path)
    return ".".join((overview.choice.result_name, *path, *words))


def _place(overview: Overview, entry: Entry, *words: str) -> str:
    """Where in the document the value stands; a dot inside of a word is `%2E`."""
    return f"{overview.choice.called}: {'.'.join(map(escaped, (*entry.path, *words, 'value')))}"


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


def _claim(
    claim_id: str,
    statement: str,
    query: str,
    measured: Measured,
    rows_query: str,
    *,
    entry: Entry | None = None,
) -> Claim:
    low, high = interval_of(measured)
    printed = next(
        (each for ours, each in (entry.compared if entry else ()) if ours.key == measured.key), None
    )
    return Claim(
        claim_id=claim_id,
        statement=f"{statement} ({formatting.counted(measured.estimate.items, 'item')})",
        value=measured.estimate.value,
        unit="",
        query=query,
        low=low,
        high=high,
        method=_method(measured),
        printed=None if printed is None else printed.printed.value,
        status="" if printed is None else printed.status,
        reason="" if printed is None else printed.reason,
        rows_query=rows_query,
    )


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
    from faultatlas.analysis.statistics.agreement.measuring import statistics

    used = {statistic_of(each.key) for entry in entries for each in entry.found.measures}
    cited = (f"{statistics()[name].title}: {statistics()[name].source}" for name in sorted(used))
    rules = {each.source for entry in entries for each in entry.cautions if each.source}
    return (*cited, f"Scale: {scale.source}", *sorted(rules))
