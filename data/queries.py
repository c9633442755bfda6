"""SQL that users and analyses write: conditions, values and queries that can be repeated.

They must be one expression or one SELECT on the study's views, and give the same whenever they
are asked of the same study: not by chance, not by the clock, not from files or the network, and
not from what storing a result changes itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import schema

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

LONGEST_S = 120.0  # for one number, or for the rows behind it

_HINT = (
    "Write one SELECT on the views of docs/schema.md; texts stand in single quotes: "
    "SELECT count(*) FROM issues WHERE state = 'open'"
)
_OF_ARTIFACTS = frozenset(
    {"artifact_id", "kind", "source", "project", "title", "body", "author", "created_at", "url"}
)
_TABLE_FUNCTIONS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
_CLOCK = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)
# DuckDB says that these are steady, as macros have no word about it.
_CLOCK_FUNCTIONS = frozenset(
    {"ago", "pg_conf_load_time", "pg_postmaster_start_time", "current_localtime",
     "current_localtimestamp", "version"}
)  # fmt: skip
_UNSTEADY_FUNCTIONS = """
SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions()
WHERE stability <> 'CONSISTENT' OR (function_type LIKE '%macro' AND NOT internal)
"""


_RELATIONS = """
SELECT lower(table_name) AS name FROM duckdb_tables() WHERE schema_name IN ('main', 'pg_catalog')
UNION SELECT lower(view_name) FROM duckdb_views() WHERE schema_name IN ('main', 'pg_catalog')
"""
_ERROR_CLASS = re.compile(r"^(Binder|Catalog|Parser) Error: ")  # words of DuckDB's, not of a user's
_LOOKED_UP: WeakKeyDictionary[Reader, tuple[frozenset[str], frozenset[str]]] = WeakKeyDictionary()


# --- conditions and values on `candidates` --------------------------------------------------


def condition_query(where: str) -> str:
    """The candidates for which a condition holds; its own line, as it may end in a comment."""
    return f"SELECT artifact_id FROM candidates WHERE (\n{where}\n)"


def value_query(value: str) -> str:
    """Whether a value can be had of each candidate: not a count of them, nor their order."""
    return condition_query(f"({value}\n) IS NULL")


def condition_problem(owner: str, said: str) -> StudyError:
    """A condition that DuckDB does not take; its owner is such as `step 'bug-words'`."""
    words = " ".join(said.partition("\n\n")[0].split())
    words = _ERROR_CLASS.sub("", words)
    return StudyError(
        f"the condition of {owner} does not work: {words}",
        "Columns are those of the view candidates (docs/schema.md); texts stand in single quotes: "
        "--where \"kind = 'post' AND accepted_answer_id IS NOT NULL\".",
    )


def refuse_odd_condition(reader: Reader, owner: str, where: str) -> None:
    """Before anything is run: what a user wrote must be one condition."""
    _refuse_odd(reader, owner, where, condition_query(where))


def refuse_odd_value(reader: Reader, owner: str, value: str) -> None:
    """Before anything is run: what a user wrote must be one value of each candidate."""
    _refuse_odd(reader, owner, value, value_query(value))


def _refuse_odd(reader: Reader, owner: str, written: str, query: str) -> None:
    # In other brackets, too: what closes a bracket that it did not open would leave its own.
    alone = parsed(reader, f"SELECT [\n{written}\n]")
    if problem := reader.problem(query) or (alone["error"] and alone["error_message"]):
        raise condition_problem(owner, problem)
    if found := unrepeatable(reader, query, schema().mined_views()):
        raise StudyError(
            f"the condition of {owner} cannot be repeated: it asks {found}",
            "Write dates out, draw with --size or --confidence, which have a seed, and ask only "
            "views that mining fills (docs/schema.md).",
        )


def frame(reader: Reader, *written: str | None) -> str:
    """What a condition or values are asked of: the candidates, or as much of them as is needed.

    Their view joins all there is to know, and most conditions ask little of it.
    """
    trees = [parsed(reader, value_query(each)) for each in written if each]
    nodes = [node for each in trees for node in _nodes(each)]
    names = {node["column_names"][-1].lower() for node in nodes if _is(node, "COLUMN_REF")}
    if names <= _OF_ARTIFACTS and not any(_is(node, "STAR") for node in nodes):
        columns = ", ".join(sorted(_OF_ARTIFACTS))
        kept = "gone_at IS NULL AND kind IS NOT NULL"
        return f"(SELECT {columns} FROM artifacts WHERE {kept}) AS candidates"
    return "candidates"


def value_type(reader: Reader, value: str) -> str:
    """The type of a value, as DuckDB calls it."""
    (column,) = reader.rows(f"DESCRIBE SELECT (\n{value}\n) AS value FROM candidates")
    return str(column["column_type"])


def unrepeatable(reader: Reader, query: str, views: AbstractSet[str]) -> str | None:
    """What in a query gives something else another time; it may ask these views only."""
    unsteady, relations = _looked_up(reader)
    tree = parsed(reader, query)
    # A name that a view has as well means that view where the query's own does not reach.
    own = {name.lower() for node in _nodes(tree) for name in _named(node)} - relations
    found = (_unsteady(node, unsteady, own | views) for node in _nodes(tree))
    return next(filter(None, found), None)


def _looked_up(reader: Reader) -> tuple[frozenset[str], frozenset[str]]:
    """The unsteady functions, and what is asked by a name alone; once, as it takes long."""
    if reader not in _LOOKED_UP:
        functions, relations = (
            frozenset(row["name"] for row in reader.rows(sql))
            for sql in (_UNSTEADY_FUNCTIONS, _RELATIONS)
        )
        _LOOKED_UP[reader] = functions | _CLOCK_FUNCTIONS, relations
    return _LOOKED_UP[reader]


def _named(node: Mapping[str, Any]) -> list[str]:
    """The tables that a query names itself: WITH name AS (...)."""
    tables = node.get("cte_map") or {}
    return [each["key"] for each in tables.get("map", ())]


def _unsteady(
    node: Mapping[str, Any], functions: AbstractSet[str], tables: AbstractSet[str]
) -> str | None:
    found = None
    if node.get("sample"):
        found = "for a sample of rows"
    elif node.get("type") == "BASE_TABLE":
        schema, table = node["schema_name"].lower(), node["table_name"].lower()
        if schema not in ("", "main") or table not in tables:
            found = f"the table {schema}.{table}".replace(" .", " ")
    elif node.get("type") == "SHOW_REF":  # DESCRIBE, SUMMARIZE, SHOW TABLES
        found = "what tables there are"
    elif node.get("type") == "TABLE_FUNCTION":
        name = node["function"].get("function_name", "").lower()
        found = None if name in _TABLE_FUNCTIONS else f"{name}()"
    elif _is(node, "FUNCTION"):
        name = node["function_name"].lower()
        arguments = node.get("arguments") or node.get("children") or ()  # by version of DuckDB
        of_now = name == "age" and len(arguments) == 1
        found = f"{name}()" if of_now or name in functions else None
    elif _is(node, "COLUMN_REF"):
        found = next((name for name in node["column_names"] if name.lower() in _CLOCK), None)
    return found


def parsed(reader: Reader, query: str) -> Any:
    """The tree of a query; `error` and `error_message` where there is none."""
    return json.loads(reader.value("SELECT json_serialize_sql(?)", [query]))


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    if isinstance(tree, dict | list):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _nodes(each)


def _is(node: Mapping[str, Any], name: str) -> bool:
    return node.get("class") == name


# --- whole queries ----------------------------------------------------------------------------


def checked(reader: Reader, owner: str, sql: str) -> str:
    """A query that may be run, without a semicolon at its end; `owner` is such as `claim 'x'`."""
    query = sql.strip().rstrip(";").rstrip()
    with asking(reader, owner):
        problem = reader.problem(query, "it is not one SELECT")
    if problem is None and (tree := parsed(reader, query))["error"]:
        problem = str(tree["error_message"])
    if problem is not None:
        raise _problem(owner, problem)
    if found := unrepeatable(reader, query, schema().steady_views()):
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
        with reader.limited_to(LONGEST_S):
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
