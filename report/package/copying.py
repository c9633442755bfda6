"""The rows of a study as they go into a package: each column as the policy says."""

from __future__ import annotations

import functools
import getpass
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.people import UNKNOWN, pseudonym, study_key
from faultatlas.report.package import cleaning
from faultatlas.report.package.cleaning import Cleaner
from faultatlas.report.package.policy import LEFT_BEHIND, LEFT_OUT, TABLES, Treatment

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.settings import About
    from faultatlas.data.study import Reader, Study

# Licences of published packages that let everybody hand their rows on, if the source is named.
_FREE = re.compile(r"\b(?:CC[ -]BY(?:-SA)?|CC0|MIT|Apache|BSD|ODC-By)\b")
_KEY = "study.key"
_INDEXES = ("openalex", "scopus")  # sources of papers that are no files
_OF_LISTS = "VARCHAR[]"


@dataclass(frozen=True)
class Options:
    """How a package is made."""

    with_texts: bool = False
    double_blind: bool = False
    allowed: tuple[str, ...] = ()  # words that look like a name and are none


@dataclass(frozen=True)
class LeftOut:
    """What of published packages stays behind, because no licence allows to hand it on."""

    packages: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()


def cleaner_of(study: Study, reader: Reader, options: Options, about: About) -> Cleaner:
    """What everybody is called in the package."""
    raters = _values(reader, Treatment.RATER)
    width = max(2, len(str(len(raters))))
    files = [name for name in _values(reader, Treatment.FILE) if name not in _INDEXES]
    allowed = cleaning.words_of(options.allowed)
    vocabulary = _vocabulary(reader) | allowed
    blind = options.double_blind
    # A taxonomy may name its authors: that it has the word does not make it an ordinary one.
    names = [name for name in _of_authors(about) if not cleaning.is_ordinary(name, allowed)]
    machine = [name for name in _of_machine() if not cleaning.is_ordinary(name, vocabulary)]
    return Cleaner(
        # In the order of their names, so that nothing that depends on it changes.
        raters={name: f"rater-{at:0{width}}" for at, name in enumerate(raters, 1)},
        vocabulary=vocabulary,
        own_names=(*machine, *(names if blind else ())),
        is_blind=blind,
        people=_numbered("person", _values(reader, Treatment.PERSON)) if blind else {},
        runs=_numbered("run", _values(reader, Treatment.RUN)) if blind else {},
        servers=_numbered("server", _values(reader, Treatment.SERVER)),
        files={name: f"file-{at}{_suffix(name)}" for at, name in enumerate(files, 1)},
        who=_who(study.directory),
    )


def left_out(reader: Reader) -> LeftOut:
    """The published packages whose rows, and the rounds of labels from them, stay behind."""
    names = [row["package"] for row in reader.rows("SELECT DISTINCT package FROM package_files")]
    kept = {each.source_id for each in evidence.sources() if _FREE.search(each.licence)}
    closed = sorted(set(names) - kept)
    if not closed:
        return LeftOut()
    rounds = reader.rows(
        r"SELECT DISTINCT round FROM store.item WHERE regexp_replace(place, ' row [0-9]+$', '') IN "
        "(SELECT parse_filename(file) FROM store.package_file "
        "WHERE package IN (SELECT unnest(?::VARCHAR[]))) ORDER BY round",
        [closed],
    )
    return LeftOut(tuple(closed), tuple(row["round"] for row in rounds))


def cleaned_tables(
    reader: Reader, cleaner: Cleaner, options: Options, without: LeftOut
) -> Iterator[tuple[str, pa.Table]]:
    """All tables of the package that have rows."""
    columns = _columns(reader)
    _refuse_unknown(columns)
    for table in sorted(TABLES):
        where, parameters = _wanted(table, columns[table], without)
        sql = ", ".join(
            f"{_expression(name, kind, TABLES[table][name], options)} AS {name}"
            for name, kind in columns[table].items()
        )
        rows = reader.arrow(f"SELECT {sql} FROM store.{table} {where} ORDER BY rowid", parameters)
        if rows.num_rows:
            yield table, _cleaned(table, rows, cleaner, options)


@dataclass(frozen=True)
class _Kind:
    name: str
    is_nullable: bool


def _columns(reader: Reader) -> dict[str, dict[str, _Kind]]:
    found: dict[str, dict[str, _Kind]] = {}
    for row in reader.rows(
        "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
        "WHERE schema_name = 'store' ORDER BY table_name, column_index"
    ):
        kind = _Kind(row["data_type"], row["is_nullable"])
        found.setdefault(row["table_name"], {})[row["column_name"]] = kind
    return found


def _refuse_unknown(columns: Mapping[str, Mapping[str, _Kind]]) -> None:
    """A column that the policy does not know is not published."""
    unknown = [
        f"{table}.{name}"
        for table, names in columns.items()
        if table not in LEFT_BEHIND
        for name in names
        if name not in TABLES.get(table, {})
    ]
    if unknown:
        raise StudyError(
            f"nobody has decided whether to publish {', '.join(unknown)}",
            "This is a fault of the program; nothing was written.",
        )


def _expression(name: str, kind: _Kind, treatment: Treatment, options: Options) -> str:
    blind, texts = options.double_blind, options.with_texts
    if treatment is Treatment.ABSTRACT or (treatment is Treatment.TEXT and not texts):
        return f"CASE WHEN {name} = '' THEN '' WHEN {name} IS NOT NULL THEN '{LEFT_OUT}' END"
    if treatment is Treatment.EMPTY or (treatment is Treatment.AUTHORS and blind):
        return f"NULL::{kind.name}" if kind.is_nullable else _nothing(kind.name)
    if treatment is Treatment.TIME and blind:
        return f"date_trunc('day', {name})"
    return f"{name}::VARCHAR" if kind.name == "JSON" else name


def _nothing(kind: str) -> str:
    empty = {"JSON": "'{}'", "BLOB": "''::BLOB", _OF_LISTS: "[]::VARCHAR[]"}
    return empty.get(kind, "''")


def _wanted(
    table: str, columns: Mapping[str, _Kind], without: LeftOut
) -> tuple[str, list[list[str]]]:
    """Which rows go into the package."""
    if table == "forgotten":  # whom the study has forgotten is nobody's business
        return "WHERE kind = 'artifact'", []
    if "package" in columns:
        return "WHERE package NOT IN (SELECT unnest(?::VARCHAR[]))", [list(without.packages)]
    if "round" in columns:
        return "WHERE round NOT IN (SELECT unnest(?::VARCHAR[]))", [list(without.rounds)]
    return "", []


def _cleaned(table: str, rows: pa.Table, cleaner: Cleaner, options: Options) -> pa.Table:
    clean: Mapping[Treatment, Callable[[str], str]] = {
        Treatment.WORDS: cleaner.words,
        Treatment.TAGS: cleaner.tag,
        Treatment.RATER: cleaner.rater,
        Treatment.RUN: lambda name: cleaner.runs.get(name, name),
        Treatment.PERSON: cleaner.person,
        Treatment.SERVER: lambda name: cleaner.servers.get(name, name),
        Treatment.FILE: lambda name: cleaner.files.get(name, name),
        Treatment.PLACE: cleaning.row_of,
        Treatment.ARGUMENTS: cleaner.arguments,
        Treatment.ADDRESS: cleaning.bare_address,
        Treatment.REQUEST: cleaning.request_kind,
        Treatment.DEFINITION: cleaner.definition,
        Treatment.CELLS: cleaner.cells,
        **({Treatment.TEXT: cleaner.text} if options.with_texts else {}),
    }
    for at, name in enumerate(rows.column_names):
        treatment = TABLES[table][name]
        if treatment is Treatment.SUBJECT:
            rows = rows.set_column(at, name, _numbered_subjects(rows.column(at)))
        elif treatment in clean:
            rows = rows.set_column(at, name, _mapped(rows.column(at), clean[treatment]))
    return rows


def _mapped(column: pa.ChunkedArray, clean: Callable[[str], str]) -> pa.ChunkedArray:
    """A column of texts or of lists of them, each different one cleaned once."""
    import pyarrow as pa

    if pa.types.is_list(column.type):
        once = functools.cache(clean)
        lists = [each and [word and once(word) for word in each] for each in column.to_pylist()]
        return pa.chunked_array([pa.array(lists, column.type)])
    coded = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
    made = []
    for chunk in coded.chunks:
        parts = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        known = [None if value is None else clean(value) for value in parts.dictionary.to_pylist()]
        made.append(pa.array(known, pa.string()).take(parts.indices))
    return pa.chunked_array(made, pa.string())


def _numbered_subjects(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """`github:forgotten-1`: where it was from, and nothing else."""
    import pyarrow as pa

    sources = [str(subject).partition(":")[0] for subject in column.to_pylist()]
    made = [f"{source}:forgotten-{at}" for at, source in enumerate(sources, 1)]
    return pa.chunked_array([pa.array(made, pa.string())])


def _values(reader: Reader, treatment: Treatment) -> list[str]:
    """What stands in all columns of a treatment, sorted."""
    selects = [
        f"SELECT {name} AS value FROM store.{table}"
        for table, columns in TABLES.items()
        for name, each in columns.items()
        if each is treatment
    ]
    sql = " UNION ".join(selects)
    return sorted(row["value"] for row in reader.rows(sql) if row["value"])


def _numbered(word: str, names: Iterable[str]) -> dict[str, str]:
    """Other names, in the same order."""
    listed = list(names)
    width = len(str(len(listed)))
    return {name: f"{word}-{at:0{width}}" for at, name in enumerate(listed, 1)}


def _vocabulary(reader: Reader) -> frozenset[str]:
    """Words that stand in every package: of taxonomies, and names of columns."""
    texts = [row["text"] for row in reader.rows("SELECT text FROM store.taxonomy_text")]
    names = [row["name"] for row in reader.rows("SELECT column_name AS name FROM duckdb_columns()")]
    return cleaning.words_of([*texts, *names])


def _of_machine() -> Iterator[str]:
    """What this machine and its user are called."""
    for ask in (getpass.getuser, lambda: Path.home().name, socket.gethostname):
        try:
            if name := ask():
                yield name
        except (OSError, KeyError, RuntimeError):  # a user without a name, as in a container
            continue


def _of_authors(about: About) -> Iterator[str]:
    for author in about.authors:
        family, _comma, given = author.name.partition(",")
        yield from filter(None, (author.name, family.strip(), author.orcid, author.affiliation))
        if given:
            yield f"{given.strip()} {family.strip()}"
        else:  # Jane Doe
            yield family.split()[-1]
    if about.paper:
        yield about.paper


def _who(directory: Path) -> Callable[[str], str]:
    """Pseudonyms of people that texts mention: the study's own, if it has a key."""
    if not (directory / _KEY).exists():
        return lambda _login: UNKNOWN
    key = study_key(directory)
    return lambda login: pseudonym(key, "github.com", login)


def _suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return suffix if suffix in {".bib", ".ris", ".csv"} else ""
