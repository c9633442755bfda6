"""The result of a replication: every published figure, and what else the package shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.replication.claims import (
    ANALYSIS,
    claims_of,
    come_out,
    result_name,
    unit_of,
)
from faultatlas.analysis.replication.figures import Also
from faultatlas.analysis.replication.judging import RULE
from faultatlas.analysis.replication.outcomes import Outcome, outcomes, shown
from faultatlas.analysis.replication.package import Package
from faultatlas.analysis.replication.published import published_study
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import STATUSES, Column, Result, Table, rows_of
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.analysis.replication.figures import PublishedStudy, Value
    from faultatlas.data.old.results import Cell
    from faultatlas.data.study import Study

SEED = 0

_NUMBERS = re.compile(r"[\d.,]+(?: ?/ ?[\d.,]+)*")
_COLUMNS = (
    Column("figure_id", "Figure", "code"),
    Column("statement", "What was printed"),
    Column("printed", "Printed"),
    Column("ours", "Ours"),
    Column("status", "Status", "status"),
    Column("interval", "Interval", "interval"),
    Column("basis", "Basis"),
    Column("reason", "Reason"),
    Column("place", "Place", aside=True),
)
_VALUE_COLUMNS = (
    Column("figure_id", "Figure", "code"),
    Column("key", "Value", "code"),
    Column("printed", "Printed"),
    Column("ours", "Ours"),
    Column("interval", "Interval", "interval"),
    Column("status", "Status", "status"),
)


def replicated(study: Study, parameters: dict[str, Any]) -> Result:
    """All figures of a published study from the rows that were imported."""
    of = published_study(parameters["study"])
    with study.reading() if study.exists else nullcontext() as reader:
        package = Package(reader, of.name, parameters["seed"])
        found = outcomes(of, package)
        try:
            also = of.also(package)
        except StudyError as error:
            also = Also(notes=(f"What else the package shows is left out: {error.message}.",))
        files = package.names()
    return _result(of, parameters, found, also, files)


def _result(
    of: PublishedStudy,
    parameters: dict[str, Any],
    found: tuple[Outcome, ...],
    also: Also,
    files: list[str],
) -> Result:
    counts = Counter(each.judged.status for each in found)
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    source = next(each for each in evidence.sources() if each.source_id == of.source)
    return Result(
        analysis=ANALYSIS,
        name=result_name(of.name),
        title=f"{of.title}: the published figures, computed again",
        parameters=parameters,
        summary=(
            f"{len(found)} published figures: {told}.",
            _about_files(of, files),
        ),
        # What has no data or no number comes last: a page shows the first ones large.
        claims=tuple(
            sorted(
                claims_of(parameters, found, also),
                key=lambda claim: claim.status == "no data" or claim.value is None,
            )
        ),
        tables=(_figures_table(found), *_values_tables(found), *also.tables),
        figures=also.figures,
        notes=(
            f"Status: {RULE}",
            *(
                f"{each.figure.figure_id}: other readings: {each.readings}."
                for each in found
                if each.readings
            ),
            *also.notes,
        ),
        sources=(source.citation,),
        document={
            "study": of.name,
            "files": files,
            "counts": {status: counts[status] for status in STATUSES},
            "figures": {each.figure.figure_id: _document(each) for each in found},
            "also": {value.key: _value_document(value) for value in also.values},
        },
    )


def _about_files(of: PublishedStudy, files: list[str]) -> str:
    if of.data_of:
        return f"It has no package of its own: what files give comes from that of {of.data_of}."
    if not of.files:
        return "The study has no public package: printed numbers only."
    absent = [
        each.name for each in of.files if not any(fnmatchcase(name, each.name) for name in files)
    ]
    missing = f"; not there: {', '.join(absent)}" if absent else ""
    return f"Files of its package: {len(files):,}{missing}."


def _figures_table(found: Iterable[Outcome]) -> Table:
    records = [
        {
            "figure_id": each.figure.figure_id,
            "statement": each.figure.statement,
            "place": each.figure.place,
            "printed": _with_unit(each.figure.printed, each),
            "ours": _with_unit(each.ours, each) or None,
            "interval": _interval(each.compared[0].value) if len(each.compared) == 1 else None,
            "basis": each.basis,
            "status": each.judged.status,
            "reason": each.judged.reason,
        }
        for each in found
    ]
    return Table("figures", "Published figures", _COLUMNS, rows_of(_COLUMNS, records))


def _with_unit(text: str, outcome: Outcome) -> str:
    """A number of percent as one; other texts say what they are."""
    units = {each.value.unit for each in outcome.compared}
    bare = _NUMBERS.fullmatch(text) and len(units) == 1 and formatting.is_percent(*units)
    return f"{text} %" if bare else text


def _values_tables(found: Sequence[Outcome]) -> Iterator[Table]:
    records = [
        {
            "figure_id": outcome.figure.figure_id,
            "key": each.value.key,
            "printed": each.printed.text if each.printed else None,
            "ours": shown(each.value.value, each.printed),
            "interval": _interval(each.value),
            "status": each.judged.status,
        }
        for outcome in found
        if len(outcome.compared) > 1
        for each in outcome.compared
    ]
    if records:
        yield Table(
            "values", "Figures of several values, one by one", _VALUE_COLUMNS,
            rows_of(_VALUE_COLUMNS, records), folded=True,
        )  # fmt: skip


def _interval(value: Value) -> Cell:
    if value.low is None or value.high is None:
        return None
    return formatting.interval(value.low, value.high, unit_of(value))


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "statement": outcome.figure.statement,
        "printed": outcome.figure.printed,
        "ours": outcome.ours,
        "basis": outcome.basis,
        "status": outcome.judged.status,
        "reason": outcome.judged.reason,
        "readings": outcome.readings,
        "come_out": come_out(outcome),
        "values": {
            each.value.key: {
                **_value_document(each.value),
                "printed": each.printed.value if each.printed else None,
                "status": each.judged.status,
            }
            for each in outcome.compared
        },
    }


def _value_document(value: Value) -> dict[str, Any]:
    return {
        "value": value.value,
        "unit": value.unit,
        "count": value.count,
        "total": value.total,
        "interval": [value.low, value.high],
        "method": value.method,
    }
