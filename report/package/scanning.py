"""The last look at a package: whether anything is in it that must not be published.

A second line behind the policy: a finding stops the packaging. What was found is not printed,
only where, and of which kind; names of raters and authors are named, or nobody could find them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.people import UNKNOWN, scrub
from faultatlas.data.redaction import redact
from faultatlas.report.formatting import counted, plain
from faultatlas.report.package.cleaning import HOME, Cleaner, is_ordinary, whole_word
from faultatlas.report.package.policy import TABLES, Treatment

if TYPE_CHECKING:
    import pyarrow as pa

# In files that strangers' texts are not in. Not every drive letter: JSON spells a line feed \n.
_PLACE = re.compile(
    r"(?<![\w.:/~<-])(?:file:/{2,3}\w|/(?:home|Users|root|mnt|media|Volumes|private|srv|scratch|nfs"
    r"|tmp|workspace)/)[\w.-]+|\b[A-Za-z]:\\{1,4}(?i:users|documents|temp|windows|projects)\\"
)
_TEXT_COLUMNS = frozenset({"title", "body", "message", "text", "section", "comment", "quote",
                           "description", "evidence", "detail", "cells"})  # fmt: skip
_NAMED = 5


@dataclass(frozen=True)
class Finding:
    """Something that must not be published, and where it stands."""

    place: str
    kind: str


class Scanner:
    """What is looked for."""

    def __init__(self, cleaner: Cleaner, places: Iterable[str], *, double_blind: bool) -> None:
        raters = {name for name in cleaner.raters if cleaner.raters[name] != name}
        self._names = {
            "the name of a rater": whole_word(
                (name for name in raters if not is_ordinary(name, cleaner.vocabulary)),
                in_paths=double_blind,
            ),
            "a name of this machine, its user or an author": whole_word(
                cleaner.own_names, in_paths=double_blind, in_any_case=double_blind
            ),
        }
        self._places = tuple(places)

    def text(self, text: str, *, of_strangers: bool = False) -> Iterator[str]:
        """What is in a text that must not be published; strangers may name their disks."""
        if redact(text) != text:
            yield "a secret"
        if "@" in text and scrub(text, lambda login: login) != text:
            yield "an address of mail"
        if HOME.search(text) or (not of_strangers and _PLACE.search(text)):
            yield "a path of a disk"
        if any(place in text for place in self._places):
            yield "the path of the study"
        if of_strangers:
            if "@" in text and scrub(text, lambda _login: UNKNOWN) != text:
                yield "a mention of a person"
            return
        for kind, pattern in self._names.items():
            if pattern and (found := pattern.search(text)):
                yield f"{kind} ({plain(found[0])})"

    def table(self, name: str, rows: pa.Table) -> Iterator[Finding]:
        """The values of a table."""
        import pyarrow as pa

        for column in rows.column_names:
            values = rows.column(column)
            if pa.types.is_list(values.type):
                values = pa.chunked_array([pa.concat_arrays([c.flatten() for c in values.chunks])])
            if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
                continue
            strangers = column in _TEXT_COLUMNS or _treatment(name, column) in {
                Treatment.TEXT,
                Treatment.CELLS,
            }
            for value in values.unique().to_pylist():
                if value:
                    for kind in self.text(value, of_strangers=strangers):
                        yield Finding(f"{name}.{column}", kind)


def scan(
    scanner: Scanner, tables: Mapping[str, pa.Table], files: Mapping[str, bytes], *, loose: str
) -> list[Finding]:
    """All findings; files whose name begins with `loose` may show texts of strangers."""
    found = [each for name, rows in tables.items() for each in scanner.table(name, rows)]
    for name, content in files.items():
        if name.endswith((".parquet", ".pdf")) or name.startswith("data/"):
            continue  # looked at as tables; what a PDF draws, its SVG says
        text = content.decode("utf-8", errors="replace")
        strangers = bool(loose) and name.startswith(loose)
        kinds = scanner.text(f"{name.replace('/', ' ')}\n{text}", of_strangers=False)
        found += [
            Finding(name, kind) for kind in kinds if not (strangers and kind == "a path of a disk")
        ]
    return list(dict.fromkeys(found))


def refuse(found: list[Finding]) -> None:
    """Stop if anything was found."""
    if not found:
        return
    listed = "; ".join(f"{each.place}: {each.kind}" for each in found[:_NAMED])
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    raise StudyError(
        f"the package would publish {counted(len(found), 'thing')} that must not be: "
        f"{listed}{more}",
        "Nothing was written. Take it out of the study (names of rounds and samples, conditions, "
        "taxonomies, claims.toml); a word that is no name: --allow WORD",
    )


def _treatment(table: str, column: str) -> Treatment | None:
    return TABLES.get(table, {}).get(column)
