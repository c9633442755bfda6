"""Numbered SQL files: the schema's only home. Applied in order, each once, each whole."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

_FILE_NAME = re.compile(r"^(\d{4})_([a-z_]+)\.sql$")

_RECORD_TABLE = """
CREATE SCHEMA IF NOT EXISTS store;
CREATE TABLE IF NOT EXISTS store.schema_migration (
    number INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    checksum VARCHAR NOT NULL,
    applied_at TIMESTAMP NOT NULL
);
"""


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    sql: str

    @cached_property
    def checksum(self) -> str:
        """Of the text with Unix line ends, so that a checkout on Windows has the same."""
        return hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()

    def apply(self, execute: Callable[..., Any]) -> None:
        """Run the step and record it; the caller holds the transaction."""
        execute(_RECORD_TABLE)
        execute(self.sql)
        execute(
            "INSERT INTO store.schema_migration VALUES (?, ?, ?, now()::TIMESTAMP)",
            [self.number, self.name, self.checksum],
        )


@cache
def shipped_migrations() -> tuple[Migration, ...]:
    """The steps that this version of the program knows, in order."""
    found = []
    for entry in files("faultatlas.data").joinpath("migrations").iterdir():
        match = _FILE_NAME.match(entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))
