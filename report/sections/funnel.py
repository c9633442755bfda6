"""How what is studied was selected: the steps of the funnel, with counts by source."""

from __future__ import annotations

from typing import Any

from faultatlas.data.old.results import Cell, Claim, Column, Figure, Series, Table
from faultatlas.data.schema import literal
from faultatlas.report.formatting import count as written
from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material, Section
from faultatlas.report.sections.numbers import number
from faultatlas.report.sections.summary import kind_words

POSITION = 20
KEY = "funnel"

_EVERYTHING = "all"


def section(material: Material) -> Section | None:
    """The funnel; None where nothing was selected."""
    reader = material.reader
    steps = reader.rows(
        "SELECT step, position, any_value(predicate) AS predicate, sum(rows_in)::BIGINT AS came, "
        "sum(rows_out)::BIGINT AS passed, sum(rows_unknown)::BIGINT AS unknown "
        "FROM funnel GROUP BY ALL ORDER BY position"
    )
    if len(steps) < 2:  # everything that was mined is no selection
        return None
    groups = reader.rows(
        "SELECT step, source, kind, rows_in, rows_out FROM funnel ORDER BY position, source, kind"
    )
    first, last = steps[0]["passed"], steps[-1]["passed"]
    return Section(
        KEY,
        "Selection",
        text=(
            (
                f"{counted(len(steps) - 1, 'step')} led from {written(first)} artifacts to "
                f"{written(last)}. Every step asks those that the step before let through."
            ),
        ),
        claims=tuple(_claim(step) for step in steps),
        tables=(_steps(steps), _by_source(steps, groups)),
        figures=(_figure(steps),),
    )


def _claim(step: dict[str, Any]) -> Claim:
    name = step["step"]
    told = (
        "artifacts before any selection"
        if name == _EVERYTHING
        else f"artifacts that passed the step {name}"
    )
    rows = f"SELECT artifact_id, run_id FROM selected WHERE step = {literal(name)} "
    return number((KEY, name), told, float(step["passed"]), f"{rows}ORDER BY artifact_id")


def _steps(steps: list[dict[str, Any]]) -> Table:
    return Table(
        "steps",
        "Steps of the selection",
        (
            Column("step", "Step"),
            Column("predicate", "Asks for"),
            Column("came", "Came", "count"),
            Column("passed", "Passed", "count"),
            Column("left_out", "Left out", "count"),
            Column("unknown", "Of these unknown", "count"),
        ),
        tuple(
            (
                step["step"], step["predicate"], step["came"], step["passed"],
                step["came"] - step["passed"], step["unknown"],
            )
            for step in steps
        ),
        "Unknown: the condition says nothing about them, as a value is missing.",
    )  # fmt: skip


def _by_source(steps: list[dict[str, Any]], groups: list[dict[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (each["step"], f"{each['source']} {kind_words(each['kind'])}", each["rows_in"],
         each["rows_out"], each["rows_in"] - each["rows_out"])
        for step in steps
        for each in groups
        if each["step"] == step["step"]
    ]  # fmt: skip
    return Table(
        "by-source",
        "The selection by source",
        (
            Column("step", "Step"),
            Column("what", "What"),
            Column("came", "Came", "count"),
            Column("passed", "Passed", "count"),
            Column("left_out", "Left out", "count"),
        ),
        tuple(rows),
        folded=len(rows) > 12,
        grouped_by="step",
    )


def _figure(steps: list[dict[str, Any]]) -> Figure:
    """The counts that each step left, as bars."""
    return Figure(
        "funnel",
        "Artifacts that each step of the selection left",
        "bars",
        "; ".join(f"{step['step']}: {written(step['passed'])}" for step in steps) + ".",
        categories=tuple(step["step"] for step in steps),
        series=(Series("Artifacts", tuple(float(step["passed"]) for step in steps)),),
    )
