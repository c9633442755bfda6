"""What artifacts can be grouped and measured by: a name, or any SQL value of `candidates`.

A covariate is an SQL expression on a row `l` that has an `artifact_id` (a final label or a
candidate) and the joins that it needs, so that the rows behind a number can be asked for with
the same words that it was counted with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from faultatlas.data import queries
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

_ARTIFACT = "LEFT JOIN artifacts AS a ON a.artifact_id = l.artifact_id"
_PAPER = "LEFT JOIN papers AS p ON p.artifact_id = l.artifact_id"
_POST = "LEFT JOIN posts AS t ON t.artifact_id = l.artifact_id"
_ITEM = "LEFT JOIN items AS i ON i.round = l.round AND i.item_id = l.item_id"
# What was labelled in a sheet need not have been mined: its id says project and source.
_FROM_ID = "regexp_extract(l.artifact_id, '^(?:github|gitee|git):([^#@]+)[#@]', 1)"
_PROJECT = (
    "coalesce(a.project, CASE WHEN regexp_matches(l.artifact_id, '^gitee:[^/]+/[^/]+#') "
    f"THEN 'gitee.com/' || {_FROM_ID} ELSE nullif({_FROM_ID}, '') END)"
)
_SOURCE = (
    "coalesce(a.source, CASE WHEN regexp_matches(l.artifact_id, '^(doi|paper):') THEN 'paper' "
    "ELSE regexp_extract(l.artifact_id, '^[a-z]+') END)"
)
_QUARTER = "strftime(a.created_at, '%Y') || '-Q' || quarter(a.created_at)"

# Values of `candidates` that are no column of it.
_COMPUTED = {
    "days_to_close": "date_diff('second', created_at, closed_at) / 86400.0",
    "body_length": "length(body)",
}


@dataclass(frozen=True)
class Covariate:
    """A value of each artifact: as it was asked for, as SQL on `l`, and what must be joined."""

    given: str
    value: str
    joins: tuple[str, ...] = ()
    of_labels: bool = False  # only what was labelled has it

    @property
    def text(self) -> str:
        """The value as text."""
        return f"CAST({self.value} AS VARCHAR)"


def names() -> tuple[str, ...]:
    """The covariates that have a name of their own."""
    return (*_named(), *_COMPUTED)


def covariate(reader: Reader, given: str) -> Covariate:
    """The covariate of that name, else what the text means as SQL."""
    wanted = given.strip()
    if wanted in _named():
        return _named()[wanted]
    value = _COMPUTED.get(wanted, wanted)
    if not value:
        raise StudyError("a covariate needs a name or an SQL value", _hint())
    try:
        queries.refuse_odd_value(reader, f"{wanted!r}", value)
    except StudyError as error:
        raise StudyError(error.message, f"{_hint()} {error.hint}") from error
    frame = queries.frame(reader, value)
    own = f"c_{hashlib.sha256(value.encode()).hexdigest()[:8]}"
    join = (
        f"LEFT JOIN (SELECT artifact_id, (\n{value}\n) AS value FROM {frame}) AS {own} "
        f"ON {own}.artifact_id = l.artifact_id"
    )
    return Covariate(wanted, f"{own}.value", (join,))


def joined(all_of_them: tuple[Covariate, ...]) -> str:
    """The joins of covariates, each once."""
    return "\n".join(dict.fromkeys(join for each in all_of_them for join in each.joins))


@cache
def _named() -> Mapping[str, Covariate]:
    year = "coalesce(year(a.created_at), p.year)"
    return {
        each.given: each
        for each in (
            Covariate("project", _PROJECT, (_ARTIFACT,)),
            Covariate("framework", _framework(), (_ARTIFACT, _POST)),
            Covariate("source", _SOURCE, (_ARTIFACT,)),
            Covariate("kind", "a.kind", (_ARTIFACT,)),
            Covariate("year", year, (_ARTIFACT, _PAPER)),
            Covariate("quarter", _QUARTER, (_ARTIFACT,)),
            Covariate("month", "strftime(a.created_at, '%Y-%m')", (_ARTIFACT,)),
            Covariate("stratum", "nullif(i.stratum, '')", (_ITEM,), of_labels=True),
            Covariate("round", "l.round", of_labels=True),
        )
    }


def _framework() -> str:
    """The alias of a project, else the project; of a post the one alias among its tags."""
    from faultatlas.miner.projects import names_of_aliases

    known = names_of_aliases()
    cases = " ".join(
        f"WHEN {literal(name)} THEN {literal(alias)}"
        for alias, all_names in known.items()
        for name in all_names
    )
    tags = f"list_intersect(t.tags, [{', '.join(map(literal, known))}])"
    return (
        f"CASE WHEN t.tags IS NOT NULL THEN CASE WHEN len({tags}) = 1 THEN {tags}[1] END "
        f"ELSE CASE {_PROJECT} {cases} ELSE {_PROJECT} END END"
    )


def _hint() -> str:
    return f"Known names: {', '.join(names())}; else an SQL value."
