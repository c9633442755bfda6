"""Queries that users and analyses write on the study's views: one SELECT that can be repeated.

For own claims and for the rows behind any claim. Nothing is asked of chance, of the clock, of
files, of the network, or of what storing a result changes itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from faultatlas.data.conditions import parsed, unrepeatable
from faultatlas.data.errors import StudyError
from faultatlas.data.migration import shipped_migrations
from faultatlas.data.store import STATEMENT_ERRORS

if TYPE_CHECKING:
    from faultatlas.data.store import Reader

LONGEST_S = 120.0  # for one number, or for the rows behind it

# Every command that stores something adds to these.
_UNSTEADY = frozenset({"runs", "results", "claims"})
_VIEW = re.compile(r"^CREATE (?:OR REPLACE )?VIEW (\w+)", re.MULTILINE)
_HINT = (
    "Write one SELECT on the views of docs/schema.md; texts stand in single quotes: "
    "SELECT count(*) FROM issues WHERE state = 'open'"
)


@cache
def steady_views() -> frozenset[str]:
    """The documented views that change only when what is studied changes."""
    named = {name for each in shipped_migrations() for name in _VIEW.findall(each.sql)}
    return frozenset(named) - _UNSTEADY


def checked(reader: Reader, owner: str, sql: str) -> str:
    """A query that may be run, without a semicolon at its end; `owner` is such as `claim 'x'`."""
    query = sql.strip().rstrip(";").rstrip()
    with asking(reader, owner):
        problem = reader.problem(query, "it is not one SELECT")
    if problem is None and (tree := parsed(reader, query))["error"]:
        problem = str(tree["error_message"])
    if problem is not None:
        raise _problem(owner, problem)
    if found := unrepeatable(reader, query, steady_views()):
        raise StudyError(
            f"the SQL of {owner} cannot be repeated: it asks {found}",
            "Write dates out and ask only views that change with the study itself "
            "(docs/schema.md): neither runs, results and claims, nor tables, files or chance.",
        )
    return query


def rows_of(reader: Reader, owner: str, query: str, most: int) -> list[dict[str, Any]]:
    """The first rows of a query that was checked."""
    with asking(reader, owner):
        return reader.rows(f"SELECT * FROM (\n{query}\n) AS found LIMIT {int(most)}")


@contextmanager
def asking(reader: Reader, owner: str) -> Iterator[None]:
    """While a query that was checked runs, or others on its rows: what goes wrong is its fault."""
    try:
        with reader.no_longer_than(LONGEST_S):
            yield
    except TimeoutError as error:
        raise StudyError(
            f"the SQL of {owner} needs more than {LONGEST_S:g} s or the memory there is",
            "Ask less: a recursion may have no end, or a join may lack its condition.",
        ) from error
    except STATEMENT_ERRORS as error:
        raise _problem(owner, str(error)) from error


def counted_rows(reader: Reader, query: str) -> str | None:
    """For a query that counts rows, `SELECT count(*) FROM ...`, the one that lists them."""
    tree = parsed(reader, query)
    node = tree["statements"][0]["node"]
    columns = node.get("select_list") or [{}]
    counts = (
        node.get("type") == "SELECT_NODE"
        and len(columns) == 1
        and columns[0].get("function_name") == "count_star"
        and not any(node.get(name) for name in ("group_expressions", "having", "qualify"))
        and not columns[0].get("filter")
        and node.get("aggregate_handling") == "STANDARD_HANDLING"  # no GROUP BY ALL
        and not node.get("modifiers")
    )
    if not counts:
        return None
    every = parsed(reader, "SELECT * FROM artifacts")["statements"][0]["node"]["select_list"]
    node["select_list"] = every
    listed = reader.value("SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)])
    return f"{listed} ORDER BY ALL"


def _problem(owner: str, said: str) -> StudyError:
    words = " ".join(said.partition("\n\n")[0].split()).partition(" Candidate functions:")[0]
    return StudyError(f"the SQL of {owner} does not work: {words}", _HINT)
