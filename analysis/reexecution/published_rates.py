"""What others could reproduce: the rates of the defect4ML paper, and ours beside them."""

from __future__ import annotations

from dataclasses import dataclass

from faultatlas.analysis.reexecution.estimating import RATES, Attempts, Case
from faultatlas.analysis.reexecution.verdicts import Verdict
from faultatlas.analysis.statistics.shares import Share, exact_share
from faultatlas.data import evidence
from faultatlas.data.old.results import ClaimStatus
from faultatlas.report.published import compare, parse

SOURCE = (
    "Mohammad Mehdi Morovati, Amin Nikanjam, Foutse Khomh, Zhen Ming (Jack) Jiang: Bugs in Machine "
    "Learning-based Systems: A Faultload Benchmark. Empirical Software Engineering 28, 2023, "
    "doi:10.1007/s10664-023-10291-1"
)
WHY = (
    "Published rates and ours count different things. The paper's authors went through bugs as "
    "they were reported, of which most had no code, data or versions, and tried each by hand; here "
    "artifacts are run that somebody has prepared for it, with both versions, commands and pins. A "
    "higher rate says that prepared artifacts still run, not that reported bugs can be reproduced. "
    "The paper's share of verified fixes is that of its reproduced GitHub bugs whose fix the tests "
    "of the project itself can show; ours is that of bugs whose symptom runs of both sides show to "
    "be gone."
)


@dataclass(frozen=True)
class PublishedRate:
    """A rate of the paper, and which of our attempts it is put beside."""

    key: str
    short: str
    figure_id: str  # of the shipped published figures
    count: int
    total: int
    source: str  # of our bugs
    of_reproduced: bool = False  # a share of what was reproduced, not of the attempts


@dataclass(frozen=True)
class Beside:
    """A published rate with its interval, and ours."""

    rate: PublishedRate
    statement: str
    place: str
    printed: str
    printed_value: float
    share: Share
    status: ClaimStatus
    reason: str
    ours: Share
    ours_counts: str


RATES_OF_PAPER = (
    PublishedRate("github", "GitHub bugs reproduced", "K065", 75, 1423, "github"),
    PublishedRate("stackoverflow", "Posts reproduced", "K066", 25, 750, "stackoverflow"),
    PublishedRate("verified", "Fixes verified", "K067", 10, 75, "github", of_reproduced=True),
)

NAMES = {"github": "GitHub", "stackoverflow": "Stack Overflow"}


def beside(of: Attempts) -> tuple[Beside, ...]:
    """The published rates beside ours, with exact intervals; ours are not weighted here."""
    figures = {each.figure_id: each for each in evidence.published_figures()}
    return tuple(_beside(of, rate, figures[rate.figure_id]) for rate in RATES_OF_PAPER)


def _beside(of: Attempts, rate: PublishedRate, figure: evidence.PublishedFigure) -> Beside:
    share = exact_share(rate.count, rate.total)
    printed = parse(figure.printed)
    found = compare(share.percent or 0.0, printed, "percent")
    # The paper's own counts are in the same sentence: where they give another number than the
    # printed one, to the printed digits, nothing of ours is compared, the paper is with itself.
    is_same = found.status == "reproduced"
    status: ClaimStatus = "reproduced" if is_same else "inconsistent"
    reason = (
        f"{rate.count:,} of {rate.total:,}, {found.reason}"
        if is_same
        else f"{rate.count:,} of {rate.total:,} is {share.percent:.2f} %, not {figure.printed} %"
    )
    cases, words = _ours(of, rate)
    counted = (Verdict.VERIFIED,) if rate.of_reproduced else RATES["reproduced"][1]
    ours = exact_share(sum(case.verdict in counted for case in cases), len(cases))
    return Beside(
        rate, figure.statement, figure.place, figure.printed, printed.value, share, status, reason,
        ours, words,
    )  # fmt: skip


def _ours(of: Attempts, rate: PublishedRate) -> tuple[tuple[Case, ...], str]:
    """Attempts of bugs of the rate's source; of them what it is a share of."""
    own = tuple(case for case in of.attempted if case.source == rate.source)
    if not rate.of_reproduced:
        return own, f"reproduced among attempts from {NAMES[rate.source]}"
    happened = tuple(case for case in own if case.verdict in RATES["reproduced"][1])
    return happened, f"verified among reproduced bugs from {NAMES[rate.source]}"
