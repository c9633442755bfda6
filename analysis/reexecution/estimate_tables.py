"""Rates of re-execution as tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from faultatlas.analysis.reexecution.bugs import Fidelity
from faultatlas.analysis.reexecution.estimating import RATES, Attempts, Case
from faultatlas.analysis.reexecution.published_rates import NAMES, Beside
from faultatlas.analysis.reexecution.verdicts import Verdict
from faultatlas.analysis.statistics.shares import (
    CLOPPER_PEARSON_95,
    KORN_GRAUBARD_95,
    exact_share,
)
from faultatlas.data.old.results import Bar, Cell, Column, Figure, Part, Series, Table
from faultatlas.report import formatting
from faultatlas.report.formatting import counted

MOST_OPEN = 40  # bugs of a table that starts open
MOST_BARS = 8
_NEAR = 1e-9
_ENDS = (Column("low", "95 % from", "percent"), Column("high", "to", "percent"))


def reasons(of: Attempts) -> list[tuple[str, str]]:
    """Verdicts with their reasons, the most frequent first."""
    counts = Counter((case.verdict, case.reason) for case in of.attempted)
    order = list(Verdict)
    return sorted(counts, key=lambda pair: (-counts[pair], order.index(Verdict(pair[0])), pair[1]))


def reason_text(verdict: str, reason: str) -> str:
    """`invalid: missing data`; of what is verified there is no reason."""
    return f"{verdict}: {reason}" if reason else verdict


def tables(of: Attempts, published: Iterable[Beside]) -> tuple[Table, ...]:
    """Rates, reasons, strata, published rates, claims of authors, bugs."""
    return (
        _rates(of),
        _reasons(of),
        *([_strata(of)] if len(of.groups) > 1 else []),
        _published(published),
        *_claimed(of),
        *_fidelity(of),
        _bugs(of),
        *_not_attempted(of),
    )


def interval_note(of: Attempts) -> str:
    """How the intervals of rates were made."""
    attempts = counted(len(of.attempted), "attempt")
    if not of.is_weighted:
        return f"Shares of {attempts}; {CLOPPER_PEARSON_95}."
    return (
        f"Shares of {attempts}, each stratum weighted by its bugs in the "
        f"frame; {KORN_GRAUBARD_95} (Clopper-Pearson with an effective sample size)."
    )


def _share_column(of: Attempts) -> Column:
    return Column("percent", "Weighted share" if of.is_weighted else "Share", "percent")


def _rates(of: Attempts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key, (title, _verdicts, means) in RATES.items():
        found = of.rate(key)
        rows.append(
            (
                title,
                means,
                found.count,
                found.percent,
                found.low,
                found.high,
                _whole(found.effective),
            )
        )
    columns = (
        Column("rate", "Rate"),
        Column("means", "Means", aside=True),
        Column("count", "Bugs", "count"),
        _share_column(of),
        *_ENDS,
        Column("effective", "Effective n", "count", aside=True),
    )
    note = f"{interval_note(of)} Verified bugs are among the reproduced ones."
    return Table("rates", "Which bugs can be made to happen", columns, tuple(rows), note)


def _whole(size: float | None) -> float | None:
    """An effective size that is a whole number, as one."""
    return round(size) if size is not None and abs(size - round(size)) < _NEAR else size


def _reasons(of: Attempts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for verdict, reason in reasons(of):
        found = of.reason_share(verdict, reason)
        rows.append((verdict, reason or None, found.count, found.percent, found.low, found.high))
    columns = (
        Column("verdict", "Verdict"),
        Column("reason", "Reason"),
        Column("count", "Bugs", "count"),
        _share_column(of),
        *_ENDS,
    )
    return Table("reasons", "Verdicts and reasons", columns, tuple(rows), interval_note(of))


def _strata(of: Attempts) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, size in of.groups.items():
        cases = [case for case in of.cases if case.group == name]
        tried = [case for case in cases if case.is_attempted]
        happened = sum(case.verdict in RATES["reproduced"][1] for case in tried)
        share = exact_share(happened, len(tried))
        verified = sum(case.verdict == Verdict.VERIFIED for case in tried)
        said = "none attempted" if not tried else "one attempt" if len(tried) == 1 else ""
        rows.append(
            (name, size, len(cases), len(tried), verified, happened, share.percent, share.low,
             share.high, said)
        )  # fmt: skip
    columns = (
        Column("stratum", "Stratum"),
        Column("frame", "Frame", "count"),
        Column("chosen", "Drawn" if of.sample else "Bugs", "count", aside=not of.sample),
        Column("tried", "Tried", "count"),
        Column("verified", "Verified", "count", aside=True),
        Column("reproduced", "Reproduced", "count"),
        Column("percent", "Share", "percent"),
        *_ENDS,
        Column("said", "Remark", aside=not any(row[-1] for row in rows)),
    )
    by = ", ".join(of.by)
    note = f"By {by}. Within a stratum: {CLOPPER_PEARSON_95}."
    return Table("strata", "By stratum", columns, tuple(rows), note)


def _published(published: Iterable[Beside]) -> Table:
    published = list(published)
    rows: list[tuple[Cell, ...]] = [
        (
            each.rate.short,
            f"{each.rate.count:,} of {each.rate.total:,}",
            each.share.percent,
            formatting.interval(each.share.low, each.share.high, "percent"),
            f"{each.printed} %",
            "arithmetic holds" if each.status == "reproduced" else str(each.status),
            each.ours.percent,
            formatting.interval(each.ours.low, each.ours.high, "percent"),
            f"{each.ours.count:,} of {each.ours.total:,} {each.ours_counts}"
            if each.ours.total
            else None,
            each.rate.figure_id,
        )
        for each in published
    ]
    columns = (
        Column("rate", "Published"),
        Column("counts", "Counts", aside=True, below=True),
        Column("percent", "Share", "percent"),
        Column("interval", "95 %", "interval", aside=True),
        Column("printed", "Printed"),
        Column("status", "Printed number", "status"),
        Column("ours", "Ours", "percent"),
        Column("ours_interval", "95 %", "interval"),
        Column("ours_counts", "Ours counts", aside=True, below=True),
        Column("figure", "Figure", "code", aside=True, below=True),
    )
    note = (
        f"All of them {CLOPPER_PEARSON_95}, ours not weighted. Printed number: the arithmetic "
        "holds where the paper's own counts give the number that it prints."
    )
    missing = [
        NAMES[each.rate.source]
        for each in published
        if not (each.ours.total or each.rate.of_reproduced)
    ]
    if missing:
        note += (
            f" No attempt counts as one of a bug from {' or '.join(missing)}: no rate of ours "
            "stands beside."
        )
    return Table("published", "Published rates beside ours", columns, tuple(rows), note)


def agreeing(of: Attempts) -> tuple[int, int]:
    """Of the attempts whose author says what comes out, how many came out so."""
    claimed = [case for case in of.attempted if case.claimed_verdict]
    return sum(case.verdict == case.claimed_verdict for case in claimed), len(claimed)


def differing(of: Attempts) -> list[Case]:
    """The attempts that came out otherwise than the author says."""
    return [
        case
        for case in of.attempted
        if case.claimed_verdict and case.verdict != case.claimed_verdict
    ]


def _claimed(of: Attempts) -> tuple[Table, ...]:
    counts = Counter(
        (case.claimed_verdict, case.verdict) for case in of.attempted if case.claimed_verdict
    )
    if not counts:
        return ()
    rows: list[tuple[Cell, ...]] = [
        (claimed, ours, count, claimed == ours)
        for (claimed, ours), count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]
    columns = (
        Column("claimed", "The author says"),
        Column("ours", "Ours"),
        Column("count", "Bugs", "count"),
        Column("same", "Same"),
    )
    note = "What an artifact's author says is shown beside our verdict and never used for it."
    title = "What authors say comes out, and what did"
    return (Table("claimed", title, columns, tuple(rows), note),)


def fidelity_counts(of: Attempts) -> dict[str, int]:
    """How many attempts have each mark."""
    counts = Counter(mark for case in of.attempted for mark in set(case.fidelity))
    return {str(mark): counts[mark] for mark in Fidelity if counts[mark]}


def _fidelity(of: Attempts) -> tuple[Table, ...]:
    counts = fidelity_counts(of)
    if not counts:
        return ()
    total = len(of.attempted)
    rows: list[tuple[Cell, ...]] = []
    for mark, count in counts.items():
        marked = [case for case in of.attempted if mark in case.fidelity]
        happened = sum(case.verdict in RATES["reproduced"][1] for case in marked)
        rows.append((mark, count, 100 * count / total, happened))
    columns = (
        Column("mark", "Fidelity"),
        Column("count", "Bugs", "count"),
        Column("percent", "Of attempts", "percent"),
        Column("reproduced", "Reproduced", "count"),
    )
    note = "How near what was run is to what the reporter ran; a bug may have several marks."
    return (Table("fidelity", "How near to what was reported", columns, tuple(rows), note),)


def _bugs(of: Attempts) -> Table:
    rows: list[tuple[Cell, ...]] = [_bug(case) for case in of.attempted]
    columns = (
        Column("bug", "Bug", "code"),
        Column("verdict", "Verdict"),
        Column("reason", "Reason"),
        Column("buggy", "Buggy"),
        Column("fixed", "Fixed"),
        Column("runs", "Runs", "count", aside=True),
        Column("detail", "Evidence", aside=True, below=True),
        Column("rule", "Rule", aside=True, below=True),
        Column("effect", "A12", "number", aside=True, below=True),
        Column("claimed", "The author says", aside=True, below=True),
        Column("stratum", "Stratum", aside=True, below=True),
        Column("framework", "Framework", aside=True, below=True),
        Column("device", "Device", aside=True, below=True),
        Column("fidelity", "Fidelity", aside=True, below=True),
        Column("isolation", "Isolation", aside=True, below=True),
    )
    note = "Buggy, fixed: runs that showed the symptom, of those that count."
    if any(case.effect is not None for case in of.attempted):
        note += (
            " A dash: it was measured (see A12, how often the fixed side is better), or no run "
            "counts."
        )
    left = len(of.cases) - len(of.attempted)
    if left:
        were = "was" if left == 1 else "were"
        note += f" {counted(left, 'more bug')} {were} not attempted (-v lists them)."
    folded = len(rows) > MOST_OPEN
    return Table("bugs", "The bugs", columns, tuple(rows), note, folded=folded)


def _bug(case: Case) -> tuple[Cell, ...]:
    said = case.claimed_verdict + (f" ({case.claimed_reason})" if case.claimed_reason else "")
    return (
        case.bug_id,
        case.verdict,
        case.reason or None,
        _shown(case, case.buggy_shown, case.buggy_runs),
        _shown(case, case.fixed_shown, case.fixed_runs),
        case.run_count,
        case.detail,
        case.rule,
        case.effect,
        said,
        case.stratum,
        case.framework,
        case.device,
        ", ".join(case.fidelity),
        ", ".join(case.isolations),
    )


def _shown(case: Case, shown: int, runs: int) -> str | None:
    """Of runs that count; nothing where none does, or where the symptom was measured instead."""
    return f"{shown}/{runs}" if runs and case.effect is None else None


def _not_attempted(of: Attempts) -> tuple[Table, ...]:
    rows: list[tuple[Cell, ...]] = [
        (case.bug_id, case.stratum, case.framework, case.run_count, case.detail)
        for case in of.cases
        if not case.is_attempted
    ]
    if not rows:
        return ()
    columns = (
        Column("bug", "Bug", "code"),
        Column("stratum", "Stratum"),
        Column("framework", "Framework"),
        Column("runs", "Runs so far", "count"),
        Column("detail", "Evidence so far", aside=True, below=True),
    )
    title = "Bugs without a settled verdict"
    return (Table("not-attempted", title, columns, tuple(rows), folded=True),)


def figures(of: Attempts) -> tuple[Figure, ...]:
    """Reasons with their intervals; verdicts by framework."""
    return (_reason_figure(of), _framework_figure(of))


def _reason_figure(of: Attempts) -> Figure:
    pairs = reasons(of)
    found = [of.reason_share(verdict, reason) for verdict, reason in pairs]
    weighted = ", weighted by stratum" if of.is_weighted else ""
    attempts = counted(len(of.attempted), "attempt")
    return Figure(
        "reasons",
        f"Verdicts and reasons of {attempts}{weighted}, with 95 % intervals",
        "bars",
        f"Bars: the share of attempts with each verdict and reason{weighted}; a line shows the "
        "interval, n is the number of attempts. The table reasons has the numbers.",
        categories=tuple(
            f"{reason_text(*pair)} (n = {each.count:,})"
            for pair, each in zip(pairs, found, strict=True)
        ),
        series=(
            Series(
                f"Share of attempts{weighted}",
                tuple(each.percent for each in found),
                tuple(each.low for each in found),
                tuple(each.high for each in found),
            ),
        ),
        unit="percent",
    )


def _framework_figure(of: Attempts) -> Figure:
    counts = Counter(case.framework or "(none)" for case in of.attempted)
    named = [name for name, _count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
    shown, rest = named[:MOST_BARS], named[MOST_BARS:]
    bars = [_bar("All attempts", of.attempted)]
    if len(named) > 1:
        bars += [_bar(name, _with(of, {name})) for name in shown]
        bars += [_bar(f"{len(rest)} others", _with(of, set(rest)))] if rest else []
    return Figure(
        "verdicts",
        "Verdicts by framework",
        "shares",
        "Stacked bars: what came of the attempts, of all and of each framework; not weighted.",
        bars=tuple(bars),
    )


def _with(of: Attempts, frameworks: set[str]) -> tuple[Case, ...]:
    return tuple(case for case in of.attempted if (case.framework or "(none)") in frameworks)


def _bar(label: str, cases: Iterable[Case]) -> Bar:
    counts = Counter(case.verdict for case in cases)
    return Bar(
        label, tuple(Part(verdict.capitalize(), counts[verdict]) for verdict in map(str, Verdict))
    )
