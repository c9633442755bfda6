"""Every published figure of a study beside what its rows give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultatlas.analysis.replication.figures import (
    Found,
    Plan,
    PrintedOnly,
    PublishedStudy,
    Recomputed,
    Unavailable,
    Value,
)
from faultatlas.analysis.replication.judging import Judged, judge, judge_all, judge_word, numbers_in
from faultatlas.analysis.replication.printed_numbers import from_printed_numbers
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import old_status
from faultatlas.report.published import Printed, parse

if TYPE_CHECKING:
    from faultatlas.analysis.replication.package import Package
    from faultatlas.data.evidence import PublishedFigure

NO_DATA = "no data"
PRINTED_NUMBERS = "printed numbers"
PRINTED_AND_FILES = f"{PRINTED_NUMBERS}, package beside"
_MOST_SHOWN = 6


@dataclass(frozen=True)
class Compared:
    """A value beside the printed number it stands for, if there is one."""

    value: Value
    printed: Printed | None
    judged: Judged


@dataclass(frozen=True)
class Outcome:
    """What came of a published figure."""

    figure: PublishedFigure
    basis: str  # package, printed numbers, no data
    judged: Judged
    ours: str = ""
    compared: tuple[Compared, ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # package and file
    readings: str = ""


def outcomes(study: PublishedStudy, package: Package) -> tuple[Outcome, ...]:
    """All figures of a study in their order."""
    plans = {plan.figure_id: plan for plan in study.figures}
    figures = [each for each in evidence.published_figures() if each.study == study.name]
    return tuple(_outcome(each, plans[each.figure_id], package) for each in figures)


def _outcome(figure: PublishedFigure, plan: Plan, package: Package) -> Outcome:
    if isinstance(plan, Unavailable):
        return _without(figure, plan.reason)
    if isinstance(plan, PrintedOnly):
        return _with_files_beside(_from_manuscript(figure), plan, package)
    missing = package.missing(plan.needs)
    if missing and plan.or_printed:
        return _from_manuscript(figure)
    if missing:
        return _without(figure, f"not in the folder: {', '.join(missing)}")
    try:
        found = plan.compute(package)
    except StudyError as error:
        return _without(figure, error.message)
    if plan.rather and not package.missing(plan.rather):
        plan = replace(plan, needs=(*plan.needs, *plan.rather), basis="package")
    files = tuple(package.files_of(plan.needs))
    return compared_outcome(figure, plan, found, files)


def compared_outcome(
    figure: PublishedFigure, plan: Recomputed, found: Found, files: tuple[tuple[str, str], ...]
) -> Outcome:
    """What was found beside what was printed, by the one rule."""
    if not found.values:
        return replace(_without(figure, found.note or "the rows do not give it"), files=files)
    compared = _compared(figure, plan, found.values)
    if any(each.printed is None and isinstance(each.value.value, float | int) for each in compared):
        judged = Judged(
            "not reproduced", "the rows give another number of values than were printed"
        )
    else:
        judged = judge_all([each.judged for each in compared])
    if found.contradiction:
        judged = Judged("inconsistent", found.contradiction)
    if found.note:
        judged = replace(judged, reason=f"{judged.reason}; {found.note}")
    ours = found.text or _shown(compared)
    return Outcome(figure, plan.basis, judged, ours, compared, files, found.readings)


def _compared(
    figure: PublishedFigure, plan: Recomputed, values: Sequence[Value]
) -> tuple[Compared, ...]:
    wanted = tuple(map(parse, plan.printed)) or numbers_in(figure.printed)
    fits = len(wanted) == len(values)
    found = []
    for index, value in enumerate(values):
        if isinstance(value.value, str):
            found.append(Compared(value, None, judge_word(value.value, figure.printed)))
        elif fits:
            judged = judge(value.value, wanted[index], value.unit)
            found.append(Compared(value, wanted[index], judged))
        else:
            found.append(Compared(value, None, Judged("not reproduced", "nothing to compare")))
    return tuple(found)


def judged_beside(value: Value) -> tuple[Printed | None, Judged]:
    """A value beyond the published figures beside what the paper prints for it, if anything."""
    if not value.printed or isinstance(value.value, str):
        return None, Judged("", "")
    printed = parse(value.printed)
    return printed, judge(value.value, printed, value.unit)


def _without(figure: PublishedFigure, reason: str) -> Outcome:
    return Outcome(figure, NO_DATA, Judged("no data", reason))


def _from_manuscript(figure: PublishedFigure) -> Outcome:
    found = from_printed_numbers(figure)
    if found is None:
        return _without(figure, "no printed numbers that give it are recorded")
    judged = Judged(old_status(found.status), found.reason)
    computed = [value for value in found.values if value is not None]
    printed = numbers_in(figure.printed)
    if len(computed) == 1:
        beside = printed[0] if len(printed) == 1 else None
        compared = [Compared(Value("value", computed[0]), beside, judged)]
    else:  # the checker judges them together
        compared = [
            Compared(Value(f"value-{at}", value), None, Judged("", ""))
            for at, value in enumerate(computed, start=1)
        ]
    return Outcome(figure, PRINTED_NUMBERS, judged, found.computed, tuple(compared))


def _with_files_beside(outcome: Outcome, plan: PrintedOnly, package: Package) -> Outcome:
    """What the printed numbers give, and what the files say of it."""
    if plan.beside is None or package.missing(plan.needs):
        return outcome
    try:
        said = plan.beside(package)
    except StudyError as error:
        said = error.message
    return replace(outcome, basis=PRINTED_AND_FILES, readings=said)


def _shown(compared: Sequence[Compared]) -> str:
    """The values as a reader sees them; of many, how many come out."""
    if len(compared) > _MOST_SHOWN:
        out = sum(each.judged.status == "reproduced" for each in compared)
        return f"{out} of {len(compared)} values"
    return " / ".join(shown(each.value.value, each.printed) for each in compared)


def shown(value: float | str, printed: Printed | None = None) -> str:
    """A value with one digit more than was printed."""
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return f"{value:.0f}"
    if printed is None or "e" in printed.text.lower():
        return f"{value:.4g}"
    digits = len(printed.text.partition(".")[2])
    return f"{value:.{digits + 1}f}"
