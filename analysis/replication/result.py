"""The result of a replication: every published figure, and what else the package shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, get_args

from analysis.replication.figures import Also
from analysis.replication.judging import RULE
from analysis.replication.outcomes import PRINTED_NUMBERS, Compared, Outcome, outcomes, shown
from analysis.replication.package import Package
from analysis.replication.published import published_study
from data import evidence
from data.errors import StudyError
from data.queries import literals
from data.results import Claim, ClaimStatus, Column, Result, Table, rows_of
from report import formatting

if TYPE_CHECKING:
    from analysis.replication.figures import PublishedStudy, Value
    from data.results import Cell
    from data.store import Study

ANALYSIS = "replicate"
SEED = 0
STATUSES: tuple[ClaimStatus, ...] = tuple(filter(None, get_args(ClaimStatus)))

_COLUMNS = (
    Column("figure_id", "Figure", "code"),
    Column("statement", "What was printed"),
    Column("place", "Place", aside=True),
    Column("printed", "Printed"),
    Column("ours", "Ours"),
    Column("interval", "Interval", "interval"),
    Column("basis", "Basis"),
    Column("status", "Status", "status"),
    Column("reason", "Reason"),
)
_VALUE_COLUMNS = (
    Column("figure_id", "Figure", "code"),
    Column("key", "Value", "code"),
    Column("printed", "Printed"),
    Column("ours", "Ours"),
    Column("interval", "Interval", "interval"),
    Column("status", "Status", "status"),
)


def result_name(study: str) -> str:
    """The name of the stored result."""
    return f"{ANALYSIS}-{study}"


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
        claims=tuple(_claims(parameters, found, also, of.name)),
        tables=(_figures_table(found), *_values_tables(found), *also.tables),
        figures=also.figures,
        notes=(f"Status: {RULE}", *also.notes),
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
            "printed": each.figure.printed,
            "ours": each.ours or None,
            "interval": _interval(each.compared[0].value) if len(each.compared) == 1 else None,
            "basis": each.basis,
            "status": each.judged.status,
            "reason": each.judged.reason,
        }
        for each in found
    ]
    return Table("figures", "Published figures", _COLUMNS, rows_of(_COLUMNS, records))


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
    return formatting.interval(value.low, value.high, _unit(value))


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "statement": outcome.figure.statement,
        "printed": outcome.figure.printed,
        "ours": outcome.ours,
        "basis": outcome.basis,
        "status": outcome.judged.status,
        "reason": outcome.judged.reason,
        "come_out": _come_out(outcome),
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


def _come_out(outcome: Outcome) -> int:
    return sum(each.judged.status == "reproduced" for each in outcome.compared)


def _claims(
    parameters: dict[str, Any], found: Iterable[Outcome], also: Also, package: str
) -> Iterator[Claim]:
    for outcome in found:
        figure_id = outcome.figure.figure_id
        if len(outcome.compared) == 1:
            [only] = outcome.compared
            path = f"figures.{figure_id}.values.{only.value.key}.value"
            yield _value_claim(parameters, outcome, only, figure_id.lower(), path)
            continue
        yield _figure_claim(parameters, outcome)
        for each in outcome.compared:
            path = f"figures.{figure_id}.values.{each.value.key}.value"
            name = f"{figure_id.lower()}.{each.value.key}"
            yield _value_claim(parameters, outcome, each, name, path)
    for value in also.values:
        yield Claim(
            claim_id=f"{result_name(package)}.{value.key}",
            statement=value.statement,
            query=_query(parameters, f"also.{value.key}.value"),
            rows_query=rows_query([(package, file) for file in value.files], value.rows),
            **_numbers(value),
        )


def _figure_claim(parameters: dict[str, Any], outcome: Outcome) -> Claim:
    """A figure as a whole: how many of its values come out, if there are any."""
    several = 0 if outcome.basis == PRINTED_NUMBERS else len(outcome.compared)
    path = "come_out" if several else "status"
    return Claim(
        claim_id=_claim_id(parameters, outcome.figure.figure_id.lower()),
        statement=f"{outcome.figure.statement} (values that come out)"
        if several
        else outcome.figure.statement,
        value=_come_out(outcome) if several else None,
        unit="values" if several else "",
        query=_query(parameters, f"figures.{outcome.figure.figure_id}.{path}"),
        count=_come_out(outcome) if several else None,
        total=several or None,
        status=outcome.judged.status,
        reason=outcome.judged.reason,
        rows_query=rows_query(outcome.files) if outcome.files else None,
    )


def _value_claim(
    parameters: dict[str, Any], outcome: Outcome, each: Compared, name: str, path: str
) -> Claim:
    value = each.value
    alone = len(outcome.compared) == 1
    files = [
        (package, file) for package, file in outcome.files if not value.files or file in value.files
    ]
    statement = value.statement or outcome.figure.statement
    judged = outcome.judged if alone else each.judged
    return Claim(
        claim_id=_claim_id(parameters, name),
        statement=statement if alone or value.statement else f"{statement}: {value.key}",
        query=_query(parameters, path),
        printed=each.printed.value if each.printed else None,
        status=judged.status,
        reason=judged.reason,
        rows_query=rows_query(files, value.rows) if files else None,
        **_numbers(value),
    )


def _numbers(value: Value) -> dict[str, Any]:
    return {
        "value": None if isinstance(value.value, str) else value.value,
        "unit": _unit(value),
        "count": value.count,
        "total": value.total,
        "low": value.low,
        "high": value.high,
        "method": value.method,
    }


def _unit(value: Value) -> str:
    """A coefficient is read without a unit."""
    return "" if value.unit == "coefficient" else value.unit


def rows_query(files: Iterable[tuple[str, str]], condition: str = "") -> str:
    """The stored rows of files: what a claim was computed from."""
    listed = ", ".join(f"({literals(each)})" for each in files)
    also = f" AND ({condition})" if condition else ""
    return (
        "SELECT package, file, sheet, line, cells, run_id FROM package_rows "
        f"WHERE (package, file) IN ({listed}){also} ORDER BY package, file, sheet, line"
    )


def _claim_id(parameters: dict[str, Any], name: str) -> str:
    return f"{result_name(parameters['study'])}.{name}"


def _query(parameters: dict[str, Any], path: str) -> str:
    given = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{ANALYSIS}({given}): {path}"
