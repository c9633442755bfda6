"""What becomes of every column of a study in a package.

Each table and each column is named here, so that a new one cannot be published by oversight: a
test compares this list with the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from faultatlas.data.schema import VERSION_TABLE, schema

LEFT_OUT = "[left out]"  # where a text was: that there was one matters to some numbers


class Treatment(Enum):
    """What is done with the values of a column."""

    KEEP = "kept"
    WORDS = "the team's own words: kept without people, secrets, paths and raters' names"
    TAGS = "short words of strangers that results count: kept without people and secrets"
    TEXT = "left out unless texts are asked for; then people and secrets are taken out"
    ABSTRACT = "left out always: publishers hold the rights; that there is one is told"
    EMPTY = "left out"
    RATER = "raters get other names"
    PERSON = "a pseudonym; another one for double-blind review"
    RUN = "the id of a run; for double-blind review a number"
    TIME = "a time of a run; for double-blind review the day"
    AUTHORS = "authors of papers; left out for double-blind review"
    SERVER = "servers get other names"
    FILE = "names of files get other names"
    PLACE = "of a file and a row, the row"
    ARGUMENTS = "of a command's arguments those that name no file and no person"
    ADDRESS = "without what stands behind the question mark"
    REQUEST = "the kind of request only"
    DEFINITION = "as words, in all its entries"
    CELLS = "rows of published packages whose licence allows it, without people and secrets"
    SUBJECT = "that something was forgotten, not what"


_OF_CLASS = {
    "run": Treatment.RUN,
    "time": Treatment.TIME,
    "person": Treatment.PERSON,
    "rater": Treatment.RATER,
    "server": Treatment.SERVER,
    "file": Treatment.FILE,
    "authors": Treatment.AUTHORS,
}
_OF_PACKAGE = {
    "kept": Treatment.KEEP,
    "omitted": Treatment.EMPTY,
    "tags": Treatment.TAGS,
    "words": Treatment.WORDS,
    "texts": Treatment.TEXT,
    "never": Treatment.ABSTRACT,
    "document": Treatment.DEFINITION,
    "address": Treatment.ADDRESS,
    "row": Treatment.PLACE,
    "cells": Treatment.CELLS,
    "arguments": Treatment.ARGUMENTS,
    "request": Treatment.REQUEST,
    "subject": Treatment.SUBJECT,
}

LEFT_BEHIND = frozenset(table.name for table in schema().tables.values() if not table.package) | {
    VERSION_TABLE
}
TABLES: Mapping[str, Mapping[str, Treatment]] = {
    table.name: {
        name: _OF_CLASS.get(column.privacy)
        or _OF_PACKAGE[schema().publication(table.name, name).package]
        for name, column in table.columns.items()
    }
    for table in schema().packaged()
}
