"""The figures of a replication as claims, each with the stored rows behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.replication.outcomes import (
    PRINTED_NUMBERS,
    Compared,
    Outcome,
    judged_beside,
)
from faultatlas.analysis.tallies.naming import called
from faultatlas.data.old.results import Claim
from faultatlas.data.schema import literals

if TYPE_CHECKING:
    from faultatlas.analysis.replication.figures import Also, Value

ANALYSIS = "replicate"


def result_name(study: str) -> str:
    """The name of the stored result."""
    return f"{ANALYSIS}-{study}"


def come_out(outcome: Outcome) -> int:
    """How many values of a figure come out."""
    return sum(each.judged.status == "reproduced" for each in outcome.compared)


def claims_of(parameters: dict[str, Any], found: Iterable[Outcome], also: Also) -> Iterator[Claim]:
    """A claim for each value that was compared, for each figure as a whole, and for what else."""
    package = parameters["study"]
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
        printed, judged = judged_beside(value)
        yield Claim(
            claim_id=_claim_id(parameters, value.key),
            statement=value.statement,
            printed=printed.value if printed else None,
            status=judged.status,
            reason=judged.reason,
            query=_query(parameters, f"also.{value.key}.value"),
            rows_query=rows_query([(package, file) for file in value.files], value.rows),
            **_numbers(value),
        )


def _figure_claim(parameters: dict[str, Any], outcome: Outcome) -> Claim:
    """A figure as a whole: how many of its values come out, if there are any."""
    several = 0 if outcome.basis.startswith(PRINTED_NUMBERS) else len(outcome.compared)
    path = "come_out" if several else "status"
    return Claim(
        claim_id=_claim_id(parameters, outcome.figure.figure_id.lower()),
        statement=f"{outcome.figure.statement} (values that come out)"
        if several
        else outcome.figure.statement,
        value=come_out(outcome) if several else None,
        unit="values" if several else "",
        query=_query(parameters, f"figures.{outcome.figure.figure_id}.{path}"),
        count=come_out(outcome) if several else None,
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
        printed=each.printed.value if each.printed and _has_number(outcome) else None,
        status=judged.status,
        reason=judged.reason,
        rows_query=rows_query(files, value.rows) if files else None,
        **_numbers(value),
    )


def _has_number(outcome: Outcome) -> bool:
    """Whether numbers were printed, not only a word that means one."""
    return any(sign.isdigit() for sign in outcome.figure.printed)


def _numbers(value: Value) -> dict[str, Any]:
    return {
        "value": None if isinstance(value.value, str) else value.value,
        "unit": unit_of(value),
        "count": value.count,
        "total": value.total,
        "low": value.low,
        "high": value.high,
        "method": value.method,
    }


def unit_of(value: Value) -> str:
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
    return f"{called(ANALYSIS, parameters)}: {path}"
