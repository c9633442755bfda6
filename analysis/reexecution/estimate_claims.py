"""Rates of re-execution as claims, as a document and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from faultatlas.analysis.reexecution import estimate_tables
from faultatlas.analysis.reexecution.estimating import RATES, Attempts
from faultatlas.analysis.reexecution.published_rates import WHY, Beside
from faultatlas.analysis.reexecution.storing import SHIPPED
from faultatlas.analysis.statistics.shares import Share, WeightedShare, exact_share
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.data.old.results import Claim
from faultatlas.data.schema import literal, literals
from faultatlas.report import formatting
from faultatlas.report.formatting import counted

ANALYSIS = "reproducibility"
_MOST_STRATA = 5  # that a note lists
_MOST_NAMED = 5  # bugs that a sentence lists


def claims(
    of: Attempts, published: Sequence[Beside], name: str, parameters: dict[str, Any]
) -> tuple[Claim, ...]:
    """Every rate, every reason, what authors claim, and the published rates."""
    query = called(ANALYSIS, parameters)
    attempted = f"attempts of {_whole(of)}{', weighted by stratum' * of.is_weighted}"
    found = []
    for each, (title, verdicts, means) in RATES.items():
        rate = of.rate(each)
        found.append(
            _claim(
                f"{name}.{each}",
                f"{title} among {attempted}: {means}",
                f"{query}: rates.{each}.percent",
                rate,
                of.rows_query(f"v.verdict IN ({literals(verdicts)})"),
            )
        )
    for verdict, reason in estimate_tables.reasons(of):
        if reason:
            share = of.reason_share(verdict, reason)
            where = key(f"{verdict}-{reason}".replace(" ", "-"))
            rows = of.rows_query(f"v.verdict = {literal(verdict)}", f"v.reason = {literal(reason)}")
            found.append(
                _claim(
                    f"{name}.reason.{where}",
                    f"{verdict.capitalize()} for the reason {reason}, among {attempted}",
                    f"{query}: reasons.{where}.percent",
                    share,
                    rows,
                )
            )
    same, total = estimate_tables.agreeing(of)
    if total:
        found.append(
            _claim(
                f"{name}.as-claimed",
                "Attempts whose verdict is the one that the artifact's author names",
                f"{query}: as_claimed.percent",
                exact_share(same, total),
                of.rows_query(
                    "v.claimed_verdict <> ''",
                    "v.verdict = v.claimed_verdict",
                ),
            )
        )
    return (*found, *_published_claims(published, name, query))


def _published_claims(published: Sequence[Beside], name: str, query: str) -> list[Claim]:
    return [
        Claim(
            f"{name}.published.{each.rate.key}",
            f"{each.statement} ({each.place})",
            each.share.percent,
            "percent",
            f"{query}: published.{each.rate.key}.percent",
            count=each.share.count,
            total=each.share.total,
            low=each.share.low,
            high=each.share.high,
            method=each.share.method,
            printed=each.printed_value,
            status=each.status,
            reason=each.reason,
        )
        for each in published
    ]


def _claim(
    claim_id: str, statement: str, query: str, share: WeightedShare | Share, rows: str
) -> Claim:
    return Claim(
        claim_id,
        statement,
        share.percent,
        "percent",
        query,
        count=share.count,
        total=share.tried if isinstance(share, WeightedShare) else share.total,
        low=share.low,
        high=share.high,
        method=share.method,
        rows_query=rows,
    )


def document(of: Attempts, published: Sequence[Beside]) -> dict[str, Any]:
    """All of it as plain values."""
    same, total = estimate_tables.agreeing(of)
    said = exact_share(same, total)
    return {
        "sample": of.sample,
        "draw": of.draw,
        "sets": list(of.sets),
        "strata": list(of.columns),
        "frame": of.frame_count,
        "chosen": len(of.cases),
        "attempts": len(of.attempted),
        "unsettled": of.unsettled,
        "left": of.left,
        "forgotten": of.forgotten,
        "reproduced_if_none_or_all_of_left": list(of.bounds("reproduced")),
        "is_census": of.is_census,
        "rates": {each: _plain(of.rate(each)) for each in RATES},
        "reasons": {
            key(f"{verdict}-{reason}".replace(" ", "-")): {
                "verdict": verdict,
                "reason": reason,
                **_plain(of.reason_share(verdict, reason)),
            }
            for verdict, reason in estimate_tables.reasons(of)
            if reason
        },
        "as_claimed": {"count": same, "total": total, "percent": said.percent},
        "fidelity": estimate_tables.fidelity_counts(of),
        "published": {
            each.rate.key: {
                "figure": each.rate.figure_id,
                "percent": each.share.percent,
                "printed": each.printed,
                "status": each.status,
                "ours": each.ours.percent,
                "ours_interval": [each.ours.low, each.ours.high],
                "ours_counts": each.ours_counts,
            }
            for each in published
        },
        "bugs": {
            case.bug_id: {
                "verdict": case.verdict or None,
                "reason": case.reason,
                "evidence": case.detail,
            }
            for case in of.cases
        },
    }


def _plain(share: WeightedShare) -> dict[str, Any]:
    return {
        "count": share.count,
        "percent": share.percent,
        "interval": [share.low, share.high],
        "effective": share.effective,
        "method": share.method,
    }


def summary(of: Attempts, published: Sequence[Beside]) -> tuple[str, ...]:
    """What can be reproduced, and what is in the way of the rest."""
    reproduced, verified = of.rate("reproduced"), of.rate("verified")
    told = [
        (
            f"Of {_whole(of)}, {counted(len(of.attempted), 'was', 'were')} attempted: "
            f"{'weighted by stratum, ' * of.is_weighted}{_percent(reproduced)} can be reproduced, "
            f"{_percent(verified)} with the fix verified."
        ),
        *_of_demonstration(of),
    ]
    if reproduced.missed:
        told.append(
            f"{counted(reproduced.missed, 'stratum', 'strata')} with "
            f"{formatting.percent(reproduced.missed_percent)} of the bugs "
            f"{_verb(reproduced.missed, 'has', 'have')} no attempt: these rates do not speak for "
            f"{_verb(reproduced.missed, 'it', 'them')}."
        )
    happened = RATES["reproduced"][1]
    others = [pair for pair in estimate_tables.reasons(of) if pair[0] not in happened]
    if others:
        counts = Counter((case.verdict, case.reason) for case in of.attempted)
        listed = ", ".join(
            f"{estimate_tables.reason_text(*pair)} ({counts[pair]:,})" for pair in others[:4]
        )
        more = f", {len(others) - 4} more" if len(others) > 4 else ""
        told.append(f"The rest is {listed}{more}.")
    same, total = estimate_tables.agreeing(of)
    if total:
        told.append(
            f"{same:,} of {counted(total, 'verdict')} {_verb(same, 'is', 'are')} what the "
            f"artifact's author says{_differing(of)}."
        )
    rates = ", ".join(
        f"{formatting.percent(each.share.percent or 0)} ({each.share.count:,} of "
        f"{each.share.total:,})"
        for each in published
    )
    told.append(
        f"Published: {rates}; these are bugs as reported, ours artifacts prepared to be run."
    )
    return tuple(told)


def _of_demonstration(of: Attempts) -> list[str]:
    """A warning where bugs count that were written to be counted."""
    own = sum(case.bug_id.startswith(f"{SHIPPED}/") for case in of.attempted)
    if not own:
        return []
    whose = "Demonstration bugs come" if own > 1 else "A demonstration bug comes"
    if own < len(of.attempted):
        whose = f"{own:,} of the attempts are demonstration bugs, which come"
        whose = "1 of the attempts is a demonstration bug, which comes" if own == 1 else whose
    return [
        (
            f"{whose} with the program, written to show every verdict: such rates say nothing "
            "about bugs of others."
        )
    ]


def _differing(of: Attempts) -> str:
    """Which verdicts are others, by name."""
    others = estimate_tables.differing(of)
    return differing_words(
        [(case.bug_id, case.verdict, case.claimed_verdict) for case in others], lead="; not so "
    )


def differing_words(others: Sequence[tuple[str, str, str]], *, lead: str) -> str:
    """Bugs by name with our verdict and the claimed one; nothing without any."""
    if not others:
        return ""
    listed = ", ".join(
        f"{bug_id} ({ours}, claimed {claimed})" for bug_id, ours, claimed in others[:_MOST_NAMED]
    )
    more = f" and {len(others) - _MOST_NAMED:,} more" if len(others) > _MOST_NAMED else ""
    return f"{lead}{listed}{more}"


def _verb(number: int, one: str, several: str) -> str:
    return one if number == 1 else several


def notes(of: Attempts) -> tuple[str, ...]:
    """How the numbers came about, and what threatens them."""
    return (*_of_sampling(of), *_of_runs(of), WHY)


def _whole(of: Attempts) -> str:
    own = all(case.bug_id.startswith(f"{SHIPPED}/") for case in of.cases)
    bugs = counted(len(of.cases), "demonstration bug" if own else "bug")
    if of.sample:
        return f"{bugs} of sample {of.sample}"
    return f"{bugs} of {', '.join(of.sets)}"


def _percent(share: WeightedShare) -> str:
    if share.percent is None or share.low is None or share.high is None:
        return "none"
    ends = formatting.interval(share.low, share.high, "percent")
    return f"{formatting.percent(share.percent)} (95 % {ends})"


def _of_sampling(of: Attempts) -> list[str]:
    told = [
        (
            "Attempts are the denominator: invalid artifacts and what this host could not run are "
            'shares of their own, never "not reproduced".'
        )
    ]
    if of.is_census:
        told.append(
            f"{_everything(of)} attempted: there is no error of "
            "sampling, only that of judging. The intervals say how exact the shares would be for a "
            "larger population of such bugs."
        )
    elif of.sample:
        strata = f" in strata of {', '.join(of.columns)}" if of.columns else ""
        told.append(
            f"Sample {of.sample}: {len(of.cases):,} of {of.frame_count:,} bugs of "
            f"{', '.join(of.sets)}{strata}, drawn by hash with seed {of.seed} (draw {of.draw}). "
            "The intervals take no account of the finite frame: exact ones have no such "
            "correction, and without it they are conservative."
        )
    else:
        told.append(
            f"No sample was drawn: {len(of.attempted):,} of {counted(of.frame_count, 'bug')} "
            f"{_verb(len(of.attempted), 'was', 'were')} attempted "
            "because somebody chose them. They stand for themselves; the intervals hold only if "
            "the choice was as good as chance. Draw one: analysis reexecute --sample N."
        )
    left = len(of.cases) - len(of.attempted)
    if left:
        told.append(
            f"{counted(left, 'bug')} of the {'sample' if of.sample else 'frame'} "
            f"{'has' if left == 1 else 'have'} no settled verdict"
            + (f"; runs of {of.unsettled:,} have not settled it yet" if of.unsettled else "")
            + "."
            + (_left_out(of) if of.sample else "")
        )
    if of.forgotten:
        told.append(
            f"{counted(of.forgotten, 'bug')} of the frame as it was drawn "
            f"{'is' if of.forgotten == 1 else 'are'} forgotten since, and left out of it."
        )
    rate = of.rate("reproduced")
    if rate.missed:
        told.append(
            f"{counted(rate.missed, 'stratum', 'strata')} with "
            f"{formatting.percent(rate.missed_percent)} of the frame "
            f"{'has' if rate.missed == 1 else 'have'} no attempt: the rates speak for the others."
        )
    if rate.single:
        told.append(
            f"{counted(rate.single, 'stratum', 'strata')} with one attempt: there the variance is "
            "taken to be that of one draw with the overall rate."
        )
    return told


def _everything(of: Attempts) -> str:
    count = of.frame_count
    return "The one bug of the frame was" if count == 1 else f"All {count:,} bugs of the frame were"


def _left_out(of: Attempts) -> str:
    """Where attempts are missing, and how far they could move the rate."""
    drawn = Counter(case.stratum for case in of.cases)
    worst = sorted(of.left.items(), key=lambda each: (-each[1] / drawn[each[0]], each[0]))
    listed = ", ".join(
        f"{name} {count:,} of {drawn[name]:,}" for name, count in worst[:_MOST_STRATA]
    )
    more = f" and {len(worst) - _MOST_STRATA} more" if len(worst) > _MOST_STRATA else ""
    by = f" By stratum: {listed}{more}." if len(of.frame) > 1 else ""
    ends = formatting.interval(*of.bounds("reproduced"), "percent")
    return (
        f"{by} What runs long is the likeliest to be left when a budget ends, so that they are not "
        f"missing by chance: if none or all of them could be reproduced, the rate would be {ends}."
    )


def _of_runs(of: Attempts) -> list[str]:
    told = []
    marks = estimate_tables.fidelity_counts(of)
    other = {mark: count for mark, count in marks.items() if mark != "declared"}
    if other:
        listed = ", ".join(f"{mark} {count:,}" for mark, count in other.items())
        told.append(
            f"Threat: not all of it is what the reporters ran ({listed} of "
            f"{counted(len(of.attempted), 'attempt')})."
        )
    devices = Counter(case.device for case in of.attempted)
    gpu = sum(case.about_gpu for case in of.attempted)
    if set(devices) == {"cpu"}:
        about = f", and {gpu:,} of the bugs {_verb(gpu, 'is', 'are')} about a GPU" if gpu else ""
        told.append(
            f"Threat: everything ran on a CPU{about}; what needs a GPU is "
            'infrastructure, not "not reproduced".'
        )
    kinds = Counter(kind for case in of.attempted for kind in case.isolations)
    idle = sum(not case.isolations for case in of.attempted)
    if kinds:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
        listed += f", {idle:,} not started" if idle else ""
        weak = " Without isolation a run may have seen the host and a network." * ("none" in kinds)
        told.append(f"Isolation of the runs, by bugs: {listed}.{weak}")
    stale = sum(not case.oracle_is_current for case in of.attempted)
    if stale:
        told.append(
            f"{counted(stale, 'verdict')} of another oracle than the bug has now: "
            "analysis reexecute --judge-again."
        )
    sources = Counter(" and ".join(case.label_from) or "nobody" for case in of.attempted)
    if of.columns or of.by:
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(sources.items()))
        told.append(
            f"Labels of the bugs are those of the study where it has final ones, else those of "
            f"bug.toml; by bugs: {listed}."
        )
    return told
