"""The schema of a study, read from `schema.toml`, and what follows from it.

DDL and comments, the words of `docs/schema.md`, what packages contain, what `miner forget` erases,
what `miner merge` joins, and whether a database has this schema and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

Execute = Callable[..., Any]
Package = Literal[
    "kept", "omitted", "numbered", "tags", "words", "texts", "never", "document", "address", "row",
    "cells", "arguments", "request", "subject",
]  # fmt: skip
Blind = Literal["", "numbered", "day", "omitted"]
Forget = Literal["", "names", "logins"] | tuple[str, ...]
MergeKind = Literal[
    "derived", "new", "agree", "ledger", "whole", "commits", "responses", "server", "taxonomy",
    "never",
]  # fmt: skip

VERSION_TABLE = "schema_version"
_SOURCE = re.compile(r"\bstore\.(\w+)")
_SEQUENCE = re.compile(r"nextval\('store\.(\w+)'\)")
# What a database has, as DuckDB writes it down: without comments, which may change.
_CATALOG = """
SELECT 'table', schema_name || '.' || table_name, sql FROM duckdb_tables() WHERE NOT internal
    AND database_name = current_database()
UNION ALL SELECT 'view', schema_name || '.' || view_name, sql FROM duckdb_views() WHERE NOT internal
    AND database_name = current_database()
UNION ALL SELECT 'index', schema_name || '.' || index_name, sql FROM duckdb_indexes()
    WHERE database_name = current_database()
UNION ALL SELECT 'sequence', schema_name || '.' || sequence_name, '' FROM duckdb_sequences()
    WHERE database_name = current_database()
UNION ALL SELECT 'function', schema_name || '.' || function_name, macro_definition
    FROM duckdb_functions() WHERE NOT internal AND database_name = current_database()
UNION ALL SELECT 'type', schema_name || '.' || type_name, '' FROM duckdb_types()
    WHERE NOT internal AND database_name = current_database()
UNION ALL SELECT 'trigger', schema_name || '.' || trigger_name, '' FROM duckdb_triggers()
    WHERE database_name = current_database()
"""


def literal(text: str) -> str:
    """A text as it is written in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Texts for the brackets of IN; without any, a value that nothing equals."""
    return ", ".join(map(literal, texts)) or "NULL"


def quoted(name: str) -> str:
    """A name from a catalog for a statement: a foreign file may call a table anything."""
    return '"' + name.replace('"', '""') + '"'


class Column(NamedTuple):
    """A column of a table."""

    type: str  # as in CREATE TABLE: `VARCHAR NOT NULL`
    privacy: str
    words: str

    @property
    def value_type(self) -> str:
        """The type of its values: `VARCHAR`."""
        return self.type.partition(" ")[0]

    @property
    def is_nullable(self) -> bool:
        """Whether it may be NULL; of a column of the key it is not asked."""
        return "NOT NULL" not in self.type


@dataclass(frozen=True)
class Privacy:
    """What becomes of the columns of a class in packages and when somebody is forgotten."""

    package: Package
    blind: Blind = ""
    forget: Forget = ""


@dataclass(frozen=True)
class Merge:
    """How rows of another study join those of a table."""

    how: MergeKind
    key: tuple[str, ...] = ()
    agree: tuple[str, ...] = ()
    called: str = ""  # what differs, for a message
    within: str = ""
    subject: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the schema `store`."""

    name: str
    about: str
    columns: Mapping[str, Column]
    merge: Merge
    key: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    erase: str = ""
    orphaned: str = ""
    package: bool = True


@dataclass(frozen=True)
class View:
    """A documented view. What changes without the study itself changing is not `steady`."""

    name: str
    about: str
    sql: str
    steady: bool = True
    mined: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        """The tables and views that it reads, in their order."""
        views = re.findall(r"\b(?:FROM|JOIN|,)\s+(\w+)\b(?!\.)", self.sql)
        return list(dict.fromkeys([*_SOURCE.findall(self.sql), *views]))


class Erasure(NamedTuple):
    """A column in which the names of what is forgotten are looked for."""

    table: str
    column: str
    logins: bool  # a login may stand alone: it was typed
    entries: tuple[str, ...]  # of a JSON document; empty for all


@dataclass(frozen=True)
class Schema:
    """All tables and views, each after what it refers to."""

    version: int
    privacy: Mapping[str, Privacy]
    tables: Mapping[str, Table]
    views: Mapping[str, View]

    # What a database gets

    def create(self, execute: Execute, *, comments: bool = True) -> None:
        """Make all tables and views, with comments on views and their columns."""
        execute("CREATE SCHEMA store")
        execute(f"CREATE TABLE store.{VERSION_TABLE} (version INTEGER NOT NULL)")
        execute(f"INSERT INTO store.{VERSION_TABLE} VALUES ({self.version})")
        for table in self.tables.values():
            lines = [f'"{name}" {column.type}' for name, column in table.columns.items()]
            for name in _SEQUENCE.findall(" ".join(lines)):
                execute(f"CREATE SEQUENCE store.{name}")
            lines += [f"PRIMARY KEY ({', '.join(table.key)})"] if table.key else []
            lines += [f"UNIQUE ({', '.join(table.unique)})"] if table.unique else []
            execute(f"CREATE TABLE store.{table.name} ({', '.join(lines)})")
        for view in self.views.values():
            execute(f"CREATE VIEW {view.name} AS {view.sql}")
        if comments:
            self._comment(execute)

    def _comment(self, execute: Execute) -> None:
        for view in self.views.values():
            execute(f"COMMENT ON VIEW {view.name} IS {literal(view.about)}")
        columns = execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' "
            "AND database_name = current_database() AND NOT internal"
        ).fetchall()
        for view_name, column in columns:
            words = literal(self.words(view_name, column))
            execute(f'COMMENT ON COLUMN {view_name}."{column}" IS {words}')

    def words(self, view_name: str, column: str) -> str:
        """What a column of a view means; raise LookupError where nothing says so."""
        view = self.views[view_name]
        if column in view.words:
            return view.words[column]
        for source in view.sources:
            if source in self.tables and column in self.tables[source].columns:
                return self.tables[source].columns[column].words
            if source in self.views and source != view_name:
                with suppress(LookupError):
                    return self.words(source, column)
        raise LookupError(f"{view_name}.{column} has no words in schema.toml")

    # What others derive

    def publication(self, table: str, column: str) -> Privacy:
        """What becomes of a column in a package."""
        return self.privacy[self.tables[table].columns[column].privacy]

    def packaged(self) -> Iterator[Table]:
        """The tables of a package."""
        return (table for table in self.tables.values() if table.package)

    def erase_rules(self) -> list[Erasure]:
        """The columns in which `miner forget` looks for names, in the order of the tables."""
        rules = []
        for table in self.tables.values():
            for name, column in table.columns.items() if not table.erase else ():
                forget = self.privacy[column.privacy].forget
                if forget:
                    entries = forget if isinstance(forget, tuple) else ()
                    rules.append(Erasure(table.name, name, forget == "logins", entries))
        return rules

    def merge_rules(self) -> dict[str, Merge]:
        """How `miner merge` joins each table, in the order of the tables: parents come first."""
        return {table.name: table.merge for table in self.tables.values()}

    def steady_views(self) -> frozenset[str]:
        """The views that change only when what is studied changes."""
        return frozenset(view.name for view in self.views.values() if view.steady)

    def mined_views(self) -> frozenset[str]:
        """The views that mining fills."""
        return frozenset(view.name for view in self.views.values() if view.mined)


@cache
def schema() -> Schema:
    """The schema of this version of the program."""
    from pydantic import TypeAdapter

    raw = tomllib.loads(_text())
    common = raw.pop("words")
    for name, table in raw["tables"].items():
        table["name"] = name
        for key, column in table["columns"].items():
            if len(column) == 2:
                column.append(common[key])
        for key, (_type, privacy, _words) in table["columns"].items():
            if privacy not in raw["privacy"]:
                raise ValueError(f"{name}.{key} has the unknown privacy class {privacy!r}")
        merge = table["merge"]
        merge.setdefault("key", table.get("key", ()))
    for name, view in raw["views"].items():
        view["name"] = name
        view["words"] = view.pop("columns", {})
    return TypeAdapter(Schema).validate_python(raw)


# --- is a database of this schema? -------------------------------------------------------


def catalog(execute: Execute) -> list[tuple[str, str, str]]:
    """What a database has: kind, name and definition of every object."""
    return sorted(execute(_CATALOG).fetchall())


def is_of_this_schema(execute: Execute, program: str, make: Callable[[], Execute]) -> bool:
    """Whether a database has exactly the objects of this schema.

    `make` gives an empty database to compare with, `program` names the version of DuckDB, which
    writes definitions in its own way. To make the schema takes 0.1 s, so its hash is kept.
    """
    key = hashlib.sha256(f"{program}\0{_CATALOG}\0{_text()}".encode()).hexdigest()
    return _hash(catalog(execute)) == _expected_hash(key, make)


def difference(execute: Execute, make: Callable[[], Execute]) -> str:
    """The first object in which a database differs, in words; empty if there is none."""
    expected = {(kind, name): sql for kind, name, sql in _expected(make())}
    actual = {(kind, name): sql for kind, name, sql in catalog(execute)}
    for kind, name in sorted(expected.keys() | actual.keys()):
        shown = f"the {kind} {name.removeprefix('main.')}"
        if (kind, name) not in actual:
            return f"{shown} is missing"
        if (kind, name) not in expected:
            return f"{shown} is not part of it"
        if actual[kind, name] != expected[kind, name]:
            return f"{shown} is defined differently"
    return ""


def _expected(execute: Execute) -> list[tuple[str, str, str]]:
    schema().create(execute, comments=False)
    return catalog(execute)


@cache
def _expected_hash(key: str, make: Callable[[], Execute]) -> str:
    with suppress(OSError, RuntimeError, UnicodeDecodeError):  # no home, perhaps
        kept = _cache() / f"schema-{key[:32]}"
        if re.fullmatch(r"[0-9a-f]{64}", text := kept.read_text(encoding="ascii")):
            return text
    value = _hash(_expected(make()))
    with suppress(OSError, RuntimeError):  # then it is made again each time
        kept = _cache() / f"schema-{key[:32]}"
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = kept.with_name(f"{kept.name}.{os.getpid()}")
        draft.write_text(value, encoding="ascii")
        draft.replace(kept)
    return value


def _hash(objects: Iterable[tuple[str, str, str]]) -> str:
    return hashlib.sha256(repr(list(objects)).encode()).hexdigest()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "faultatlas"


@cache
def _text() -> str:
    return (files("faultatlas.data") / "schema.toml").read_text(encoding="utf-8")
