"""The rows of a package: cleaned tables for its verification, views as Parquet and CSV for readers.

What becomes of a column follows from its privacy class in `data/schema.toml`.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import evidence
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.schema import Column, Table, schema
from faultatlas.data.settings import SETTINGS, Settings
from faultatlas.data.sheets import csv_text
from faultatlas.data.study import Study
from faultatlas.report.formatting import plain
from faultatlas.report.package.people import Cleaner, bare_address, request_kind, row_of

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Reader

ROWS = "study"  # the folder with the rows, taxonomies and choices of the study
READING = "data"  # the folder with the views for readers
CLAIMS = "claims.csv"
IDS = "ids.csv"
ID_COLUMNS = ("artifact_id", "kind", "source", "project", "url")
OWN_FOLDERS = ("taxonomies", "crosswalks")
OMITTED = "[omitted]"  # in place of a text: that there was one matters to some numbers

# Views that are computed, that no reader asks for, or that claims.json has.
_NOT_SHOWN = frozenset(
    {
        "assignments", "candidates", "claims", "dumps", "git_walks", "package_rows", "responses",
        "results",
    }
)  # fmt: skip
# Columns of texts: without texts a view does not have them, rather than empty.
_TEXTS = frozenset({"title", "body", "message", "abstract", "text", "section", "comment", "quote",
                    "description", "evidence", "detail"})  # fmt: skip
_NO_TEXT = {None, "", OMITTED}
_BATCH = 4096


@dataclass(frozen=True)
class Options:
    """How a package is made."""

    with_texts: bool = False
    double_blind: bool = False
    allowed: tuple[str, ...] = ()  # words that look like names and are not


@dataclass(frozen=True)
class Omitted:
    """Published packages, and rounds with their labels, that no licence allows to redistribute."""

    packages: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()


def omitted(reader: Reader) -> Omitted:
    """What of the published packages in a study must stay behind."""
    names = [row["package"] for row in reader.rows("SELECT DISTINCT package FROM package_files")]
    free = {source.source_id for source in evidence.sources() if source.redistributable}
    closed = sorted(set(names) - free)
    if not closed:
        return Omitted()
    rounds = reader.rows(
        r"SELECT DISTINCT round FROM store.item WHERE regexp_replace(place, ' row [0-9]+$', '') IN "
        "(SELECT parse_filename(file) FROM store.package_file "
        "WHERE package IN (SELECT unnest(?::VARCHAR[]))) ORDER BY round",
        [closed],
    )
    return Omitted(tuple(closed), tuple(row["round"] for row in rounds))


# --- cleaned tables ----------------------------------------------------------------------


def cleaned_tables(
    reader: Reader, cleaner: Cleaner, options: Options, without: Omitted
) -> Iterator[tuple[str, pa.Table]]:
    """All tables of the package that have rows, sorted by name."""
    for table in sorted(schema().packaged(), key=lambda table: table.name):
        where, parameters = _selected(table, without)
        columns = ", ".join(
            f"{_expression(table, name, options)} AS {name}" for name in table.columns
        )
        rows = reader.arrow(
            f"SELECT {columns} FROM store.{table.name} {where} ORDER BY rowid", parameters
        )
        if rows.num_rows:
            yield table.name, _cleaned(table, rows, cleaner, options)


def _selected(table: Table, without: Omitted) -> tuple[str, list[list[str]]]:
    """The condition on the rows of a table."""
    if table.name == "forgotten":  # which persons the study has forgotten stays in the study
        return "WHERE kind = 'artifact'", []
    for column, names in (("package", without.packages), ("round", without.rounds)):
        if column in table.columns:
            return f"WHERE {column} NOT IN (SELECT unnest(?::VARCHAR[]))", [list(names)]
    return "", []


def _expression(table: Table, name: str, options: Options) -> str:
    """A column in SQL, without what the package must not have."""
    column = table.columns[name]
    privacy = schema().publication(table.name, name)
    blind = privacy.blind if options.double_blind else ""
    if privacy.package == "never" or (privacy.package == "texts" and not options.with_texts):
        return f"CASE WHEN {name} = '' THEN '' WHEN {name} IS NOT NULL THEN '{OMITTED}' END"
    if "omitted" in {privacy.package, blind}:
        is_nullable = column.is_nullable and name not in table.key
        return f"NULL::{column.value_type}" if is_nullable else _empty(column)
    if blind == "day":
        return f"date_trunc('day', {name})"
    return f"{name}::VARCHAR" if column.value_type == "JSON" else name


def _empty(column: Column) -> str:
    if column.value_type.endswith("[]"):
        return f"[]::{column.value_type}"
    return {"JSON": "'{}'", "BLOB": "''::BLOB"}.get(column.value_type, "''")


def _cleaned(table: Table, rows: pa.Table, cleaner: Cleaner, options: Options) -> pa.Table:
    for place, name in enumerate(rows.column_names):
        privacy = schema().publication(table.name, name)
        if privacy.package == "subject":
            rows = rows.set_column(place, name, _numbered_subjects(rows.column(place)))
        elif clean := _cleaning(table.columns[name].privacy, cleaner, options):
            rows = rows.set_column(place, name, _mapped(rows.column(place), clean))
    return rows


def _cleaning(privacy: str, cleaner: Cleaner, options: Options) -> Callable[[str], str] | None:
    """What is done with the values of a privacy class; None if they stay as they are."""
    if privacy == "person":
        return cleaner.person
    if privacy in cleaner.names:
        new = cleaner.names[privacy]
        return lambda name: new.get(name, name)
    cleaning: Mapping[str, Callable[[str], str]] = {
        "words": cleaner.words,
        "tags": cleaner.tag,
        "row": row_of,
        "arguments": cleaner.arguments,
        "address": bare_address,
        "request": request_kind,
        "document": cleaner.document,
        "cells": cleaner.cells,
        **({"texts": cleaner.text} if options.with_texts else {}),
    }
    return cleaning.get(schema().privacy[privacy].package)


def _mapped(column: pa.ChunkedArray, clean: Callable[[str], str]) -> pa.ChunkedArray:
    """A column of texts or of lists of them, each different one cleaned once."""
    import pyarrow as pa

    if pa.types.is_list(column.type):
        once = functools.cache(clean)
        lists = [words and [word and once(word) for word in words] for words in column.to_pylist()]
        return pa.chunked_array([pa.array(lists, column.type)])
    cleaned = []
    coded = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
    for chunk in coded.chunks:
        parts = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        texts = [None if text is None else clean(text) for text in parts.dictionary.to_pylist()]
        cleaned.append(pa.array(texts, pa.string()).take(parts.indices))
    return pa.chunked_array(cleaned, pa.string())


def _numbered_subjects(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """`github:forgotten-1`: the source, and nothing else."""
    import pyarrow as pa

    sources = [str(subject).partition(":")[0] for subject in column.to_pylist()]
    names = [f"{source}:forgotten-{number}" for number, source in enumerate(sources, 1)]
    return pa.chunked_array([pa.array(names, pa.string())])


# --- a study made of them ----------------------------------------------------------------


def load(
    directory: Path, tables: Iterable[tuple[str, pa.Table]], files: Mapping[str, str]
) -> Study:
    """A new study with these rows, which may come in parts, and these files by path."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    study = Study(directory)
    try:
        with study.writing() as writer:
            for table, rows in tables:
                arrow_rows.insert(writer, f"store.{table}", rows)
    except STATEMENT_ERRORS as error:
        reason = plain(str(error).partition("\n")[0])
        raise StudyError(
            f"the rows of the package do not fit a study: {reason}",
            "It may be damaged, or made by another version: get it again.",
        ) from error
    return study


def own_files(directory: Path, settings: Settings) -> dict[str, str]:
    """The choices of a study that its results need, its taxonomies and crosswalks, by path."""
    texts = {SETTINGS: _settings_text(settings)}
    for folder in OWN_FOLDERS:
        for path in sorted((directory / folder).glob("*.yaml")):
            try:
                texts[f"{folder}/{path.name}"] = path.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise StudyError(
                    f"{path} cannot be read: {plain(error)}", "It must be a text file in UTF-8."
                ) from None
    return texts


def _settings_text(settings: Settings) -> str:
    rule = {
        name: getattr(settings, name)
        for name in ("statistic", "threshold", "scale")
        if getattr(settings, name) is not None
    }
    sections = {"study": {"title": settings.title} if settings.title else {}, "agreement": rule}
    lines = []
    for section, values in sections.items():
        if values:
            lines += [f"[{section}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
            lines.append("")
    return "\n".join(lines)


def _toml(value: str | float) -> str:
    """A value in TOML: a text is written as in JSON, except for one character."""
    return json.dumps(value).replace("\x7f", "\\u007f") if isinstance(value, str) else str(value)


# --- files for readers -------------------------------------------------------------------


def views(reader: Reader) -> Iterator[tuple[str, pa.Table]]:
    """The documented views that have rows, without columns of texts that were omitted."""
    for row in reader.rows(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
    ):
        name = row["view_name"]
        if name in _NOT_SHOWN:
            continue
        rows = reader.arrow(f"SELECT * FROM {name} ORDER BY ALL")
        empty = [
            column
            for column in rows.column_names
            if column in _TEXTS and {*rows.column(column).unique().to_pylist()} <= _NO_TEXT
        ]
        if rows.num_rows:
            yield name, rows.drop_columns(empty)


def artifact_ids(reader: Reader) -> pa.Table:
    """The artifacts whose texts can be fetched again, with their addresses."""
    return reader.arrow(
        f"SELECT {', '.join(ID_COLUMNS)} FROM artifacts WHERE kind IS NOT NULL ORDER BY artifact_id"
    )


def parquet(rows: pa.Table) -> bytes:
    """A table as Parquet, the same bytes for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pa.BufferOutputStream()
    bare = rows.replace_schema_metadata(None)
    pq.write_table(bare, file, compression="zstd", store_schema=False, version="2.6")
    return bytes(file.getvalue())


def csv_bytes(rows: pa.Table) -> bytes:
    """A table as CSV: lists as JSON, times in ISO 8601."""
    return b"".join(_csv_parts(rows))


def _csv_parts(rows: pa.Table) -> Iterator[bytes]:
    """The same in parts: Python's values take ten times the memory of the table."""
    yield encoded(csv_text([rows.column_names]))
    for batch in rows.to_batches(max_chunksize=_BATCH):
        columns = [column.to_pylist() for column in batch.columns]
        yield encoded(csv_text(zip(*columns, strict=True)))


def claims_csv(claims: Iterable[Mapping[str, Any]]) -> bytes:
    """Claims as a table; nothing where there are none."""
    rows = list(claims)
    return encoded(csv_text([[*rows[0]], *([*row.values()] for row in rows)])) if rows else b""


def encoded(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which broken sources deliver, has no bytes there."""
    return text.encode("utf-8", errors="backslashreplace")


def differing_files(copy: Study, folder: Path, claims: bytes) -> Iterator[str]:
    """The files for readers that differ from what the rows and the claims give.

    The numbers are computed from `study/`; people read `data/` and `claims.csv`. They must not
    say anything else, and none of them may be missing.
    """
    if not _has_bytes(folder / CLAIMS, [claims]):
        yield CLAIMS
    expected = set()
    with copy.reading() as reader:
        for name, rows in views(reader):
            expected |= {f"{name}.csv", f"{name}.parquet"}
            if not _has_bytes(folder / READING / f"{name}.csv", _csv_parts(rows)):
                yield f"{READING}/{name}.csv"
            if not _has_rows(folder / READING / f"{name}.parquet", rows):
                yield f"{READING}/{name}.parquet"
    for path in sorted((folder / READING).rglob("*")):
        if path.is_file() and path.name not in expected:
            yield path.relative_to(folder).as_posix()


def _has_bytes(path: Path, parts: Iterable[bytes]) -> bool:
    """Whether a file has this content; one that is missing is empty."""
    with path.open("rb") if path.is_file() else io.BytesIO() as file:
        return all(file.read(len(part)) == part for part in parts) and not file.read(1)


def _has_rows(path: Path, rows: pa.Table) -> bool:
    """Whether a Parquet file has these rows. The same program writes the same bytes."""
    import pyarrow as pa

    ours = parquet(rows)
    if _has_bytes(path, [ours]):
        return True
    try:  # another version of its library may write others: it is read if it is of similar size
        if not path.is_file() or path.stat().st_size > 2 * len(ours) + 2**16:
            return False
        theirs = pa.concat_tables(parquet_parts(path, 2 * rows.nbytes + 2**16))
        return bool(theirs.equals(rows.replace_schema_metadata(None)))
    except (pa.ArrowException, OSError, TooLargeError):
        return False


# --- Parquet of strangers ----------------------------------------------------------------


class TooLargeError(Exception):
    """A Parquet file would take more memory than it is allowed to."""


def parquet_parts(path: Path, most: int) -> Iterator[pa.Table]:
    """The rows of a Parquet file in parts, which together have at most so many bytes.

    A text that is stored once and meant a million times is the bomb of this format. So texts are
    read as they are stored, and what they would become is computed before they become it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = pq.read_schema(path)
    texts = [column.name for column in columns if pa.types.is_string(column.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        groups = (file.metadata.row_group(at) for at in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > most:
            raise TooLargeError(f"it has more than {most:,} bytes")
        for batch in file.iter_batches(_BATCH):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                most -= _size(column)
                if most < 0:
                    raise TooLargeError(f"its column {plain(name)} has too many bytes")
            yield pa.Table.from_batches([batch]).cast(columns)


def _size(column: pa.Array) -> int:
    """The bytes of a column when each text is written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64()).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0) + 4 * len(column)
