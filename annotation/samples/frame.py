"""The frame: everything that a sample could have been drawn from, as it was at the draw."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from faultatlas.annotation.samples.definition import Definition, step_and_where
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.queries import (
    condition_problem,
    frame,
    refuse_odd_condition,
    refuse_odd_value,
    value_type,
)

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer

NONE = "(none)"
SEPARATOR = " / "
# What reads like no value gets a backslash, as does what reads like a separator.
_ONE = r"regexp_replace({value}, '^(\\*\(none\))$', '\\\1')"
_OF_SEVERAL = r"regexp_replace(replace({value}, '\', '\\'), '(^| )/', '\1\\/', 'g')"
_NUMBER = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|FLOAT|DOUBLE|DECIMAL\(.*\)|BOOLEAN|\"NULL\""
)
_TIME = re.compile(r"DATE|TIMESTAMP.*")


@dataclass(frozen=True, slots=True)
class Member:
    """An artifact that can be drawn, with its stratum and the value that orders or varies."""

    artifact_id: str
    stratum: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Frame:
    """All members, in the order of their ids."""

    members: tuple[Member, ...]
    query: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the lines `id NUL stratum NUL value`; a value that is not there is empty."""
        found = hashlib.sha256()
        for each in self.members:
            value = "" if each.value is None else repr(each.value)
            found.update(f"{each.artifact_id}\0{each.stratum}\0{value}\n".encode())
        return found.hexdigest()

    @cached_property
    def strata(self) -> Mapping[str, int]:
        """Members of each stratum, by name."""
        return dict(sorted(Counter(each.stratum for each in self.members).items()))

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all members."""
        return frozenset(each.artifact_id for each in self.members)


def frame_of(members: Iterable[Member], query: str = "") -> Frame:
    """A frame, its members put in order."""
    return Frame(tuple(sorted(members, key=lambda each: each.artifact_id)), query)


def read_frame(reader: Reader, definition: Definition) -> Frame:
    """The frame as the study gives it now; what a user wrote is checked before it is run."""
    query = frame_query(reader, definition)
    try:
        found = reader.arrow(query)
    except STATEMENT_ERRORS as error:
        raise condition_problem(f"sample {definition.sample!r}", str(error)) from error
    columns = (found.column(name).to_pylist() for name in ("artifact_id", "stratum", "rank_value"))
    return frame_of(map(Member, *columns), query)


def frame_query(reader: Reader, definition: Definition) -> str:
    """The query that gives the frame."""
    step, where = step_and_where(definition.frame)
    owner = f"sample {definition.sample!r}"
    if step is not None:
        refuse_unknown_step(reader, step)
    if where:
        refuse_odd_condition(reader, owner, where)
    stratum = stratum_value(reader, owner, definition.strata)
    value = "NULL"
    if definition.ordered_by:
        refuse_odd_value(reader, owner, definition.ordered_by)
        value = _number(reader, definition)
    wanted = (where, *definition.strata, definition.ordered_by or None)
    asked = definition.frame if step is not None or not where else f"(\n{where}\n)"
    condition = f" WHERE {asked}" if asked else ""
    return (
        f"SELECT artifact_id, {stratum} AS stratum, ({value})::DOUBLE AS rank_value "
        f"FROM {frame(reader, *wanted)}{condition} ORDER BY artifact_id"
    )


def stratum_value(reader: Reader, owner: str, columns: Iterable[str]) -> str:
    """The expression that names a stratum; what a user wrote is checked."""
    named = list(columns)
    for column in named:
        refuse_odd_value(reader, owner, column)
    return stratum_name(named)


def stratum_name(columns: Sequence[str]) -> str:
    """The expression that names a stratum.

    Two strata never have the same name: a value that reads like none at all, or like several,
    has backslashes in it.
    """
    parts = [_ONE.format(value=f"(\n{column}\n)::VARCHAR") for column in columns]
    if len(parts) > 1:
        parts = [_OF_SEVERAL.format(value=part) for part in parts]
    joined = f" || '{SEPARATOR}' || ".join(f"coalesce({part}, '{NONE}')" for part in parts)
    return joined or "''"


def refuse_unknown_step(reader: Reader, step: str) -> None:
    """A step must be in the funnel."""
    rows = reader.rows("SELECT step FROM store.funnel_step ORDER BY position")
    names = [row["step"] for row in rows]
    if step not in names:
        raise StudyError(
            f"there is no step {step!r} in the funnel",
            f"Known: {', '.join(names)}." if names else "There is no funnel: leave --from out.",
        )


def last_step(reader: Reader) -> str | None:
    """The step that holds the study's population; None without a funnel."""
    found = reader.value(
        "SELECT step FROM store.funnel_step WHERE position > 0 ORDER BY position DESC LIMIT 1"
    )
    return None if found is None else str(found)


def stored_frame(reader: Reader, digest: str) -> Frame:
    """A frame as it was stored with a draw."""
    found = reader.arrow(
        "SELECT artifact_id, stratum, rank_value FROM store.frame_member WHERE frame_hash = ?",
        [digest],
    )
    columns = (found.column(name).to_pylist() for name in ("artifact_id", "stratum", "rank_value"))
    return frame_of(map(Member, *columns))


def put_frame(writer: Writer, found: Frame, run: Run) -> None:
    """Store a frame, once for each state of it."""
    import pyarrow as pa

    if writer.value(
        "SELECT 1 FROM store.frame_member WHERE frame_hash = ? LIMIT 1", [found.digest]
    ):
        return
    count = len(found.members)
    arrow_rows.insert(
        writer,
        "store.frame_member",
        pa.table(
            {
                "frame_hash": [found.digest] * count,
                "artifact_id": [each.artifact_id for each in found.members],
                "stratum": [each.stratum for each in found.members],
                "rank_value": pa.array([each.value for each in found.members], pa.float64()),
                "run_id": [run.run_id] * count,
            }
        ),
    )


def _number(reader: Reader, definition: Definition) -> str:
    """What orders or varies, as a number; of a time its seconds. What is no number is NULL."""
    kind = value_type(reader, definition.ordered_by)
    value = f"(\n{definition.ordered_by}\n)"
    if _TIME.fullmatch(kind):
        return f"epoch({value})"
    if not _NUMBER.fullmatch(kind):
        option = "--highest" if definition.method == "highest" else "--spread"
        raise StudyError(
            f"{option} {definition.ordered_by} is no number, it is {kind}",
            f"Name a number or a date: {option} score.",
        )
    number = f"{value}::DOUBLE"
    if definition.method == "highest":
        return f"nullif({number}, 'nan'::DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number} END"
