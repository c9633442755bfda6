"""`report package --verify`: every number of a package, computed again from the package alone.

The study of the package is made in a temporary folder, in a database that reaches neither files
nor the network; nothing of it is left.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim
from faultatlas.data.schema import schema
from faultatlas.data.settings import SETTINGS
from faultatlas.data.study import Reader, Study
from faultatlas.report.claims.check import Difference
from faultatlas.report.formatting import plain
from faultatlas.report.package import archive, reading_copies
from faultatlas.report.package.computing import Entry, is_excused, verified
from faultatlas.report.package.loading import Content, load
from faultatlas.report.package.policy import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

CLAIMS = "claims.json"
KIND = "faultatlas replication package"
FORMAT = 1
ROWS = "study"  # the folder of the study's rows, taxonomies and choices

Verdict = Literal["verified", "differs", "cannot be verified"]

_MOST_CELLS = 4 * 2**30  # bytes of a table in memory
_MOST_VALUES = 500_000_000  # in all columns of a table
_LONGEST_S = 600.0  # for the queries of one result
_NAMED = 5
_FOLDERS = ("taxonomies", "crosswalks")


@dataclass(frozen=True)
class Outcome:
    """A claim of the package, and what came of computing it again."""

    claim: Claim
    verdict: Verdict
    now: Claim | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "claim_id": self.claim.claim_id,
            "verdict": self.verdict,
            "value": self.claim.value,
            "now": None if self.now is None else self.now.value,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Verified:
    """All claims of a package."""

    title: str
    version: str  # of the program that made it
    outcomes: tuple[Outcome, ...]
    differences: tuple[Difference, ...]
    unclaimed: tuple[str, ...] = ()  # that come out of its rows, and that it says it does not claim
    unlike: tuple[str, ...] | None = ()  # files for readers that say something else; none: unknown

    def of(self, verdict: Verdict) -> list[Outcome]:
        """The claims of which that is true."""
        return [each for each in self.outcomes if each.verdict == verdict]


def verify(source: Path) -> Verified:
    """Compute all claims of a package again: a zip file, or the folder that it was unpacked to."""
    if not source.exists():
        raise StudyError(f"there is no {source}", "Name a package: report package --verify FILE")
    with tempfile.TemporaryDirectory(prefix="faultatlas-") as temporary:
        workshop = Path(temporary)
        place = archive.opened(source, workshop / "unpacked")
        about, entries = read_claims(place)
        loaded = load(workshop / "study", _content(place / ROWS))
        outcomes: list[Outcome] = []
        differences: list[Difference] = []
        unclaimed: list[str] = []
        copy = _Bounded(workshop / "study")
        # Another version may show a table otherwise: only the numbers are the same in all.
        is_ours = about["version"] == provenance.program_version()
        unlike = tuple(reading_copies.unlike(loaded, place, entries)) if is_ours else None
        for entry, found in verified(copy, entries):
            differences += (each for each in found if not is_excused(entry, each))
            unclaimed += (
                each.claim_id for each in found if each.stored is None and is_excused(entry, each)
            )
            outcomes += _outcomes(entry, found)
    return Verified(
        about["title"], about["version"], tuple(outcomes), tuple(differences), tuple(unclaimed),
        unlike,
    )  # fmt: skip


class _Bounded(Study):
    """A study whose conditions and values in SQL are those of strangers: they may have no end."""

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The study for queries that end."""
        try:
            with super().reading() as reader, reader.limited_to(_LONGEST_S):
                yield reader
        except TimeoutError as error:
            raise StudyError(
                f"it needs more than {_LONGEST_S:g} s or the memory there is",
                "Do not trust this package, or verify it on a larger machine.",
            ) from error


def claims_text(title: str, version: str, entries: list[Entry], **more: object) -> str:
    """What a package says of its numbers, and how they are computed."""
    document = {
        "kind": KIND,
        "format": FORMAT,
        "title": title,
        "version": version,
        "schema": schema().version,
        **more,
        "results": [each.to_json() for each in entries],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_claims(place: Path) -> tuple[dict[str, Any], list[Entry]]:
    """What `claims_text` wrote."""
    try:
        found: Any = json.loads((place / CLAIMS).read_text(encoding="utf-8"))
        entries = [Entry.from_json(each) for each in found["results"]]
        known = {key: str(found[key]) for key in ("title", "version")}
        newest = int(found["schema"]), int(found["format"]), found["kind"]
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StudyError(
            f"{CLAIMS} of the package cannot be read ({type(error).__name__}: {plain(error)})",
            "Get the package again from where it is published.",
        ) from error
    if newest[2] != KIND:
        raise StudyError(f"{CLAIMS} is of another kind", "Name a package of report package.")
    if newest[0] > schema().version or newest[1] > FORMAT:
        raise StudyError(
            f"the package was made by a newer faultatlas ({plain(known['version'])})",
            "Upgrade faultatlas, and verify it again.",
        )
    return known, entries


def _content(place: Path) -> Content:
    import pyarrow as pa

    tables: dict[str, pa.Table] = {}
    for path in sorted(place.glob("*.parquet")):
        if path.stem not in TABLES:
            raise _strange(path.name, "a study has no such table")
        try:
            tables[path.stem] = _table(path)
        except (pa.ArrowException, OSError) as error:
            raise _strange(path.name, plain(error)) from error
    files = [place / SETTINGS, *(each for name in _FOLDERS for each in (place / name).glob("*"))]
    texts = {}
    for path in sorted(each for each in files if each.is_file()):
        try:
            texts[path.relative_to(place).as_posix()] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _strange(path.name, plain(error)) from error
    return Content(tables, texts)


def _table(path: Path) -> pa.Table:
    """The rows of a table, if they fit into memory.

    A text that stands once in the file and is meant a million times is the bomb of this format:
    so texts are read as they stand there, and what they would become is computed first.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    columns = pq.read_schema(path)
    if unknown := sorted(set(columns.names) - set(TABLES[path.stem])):
        names = ", ".join(map(plain, unknown[:_NAMED]))
        raise _strange(path.name, f"the table has no {names}")
    texts = [each.name for each in columns if pa.types.is_string(each.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        size = sum(each.total_byte_size for each in groups)
        values = sum(
            each.column(at).num_values for each in groups for at in range(each.num_columns)
        )
        if size > _MOST_CELLS or values > _MOST_VALUES:
            raise _strange(path.name, f"it has {size:,} bytes and {values:,} values")
        rows = file.read()
    for name in texts:
        chunks = rows.column(name).chunks
        lengths = [pc.binary_length(each.dictionary).take(each.indices) for each in chunks]
        size = sum(pc.sum(each.cast(pa.int64())).as_py() or 0 for each in lengths)
        if size > _MOST_CELLS:
            raise _strange(path.name, f"its column {plain(name)} would have {size:,} bytes")
    return rows.cast(columns)


def _strange(name: str, why: str) -> StudyError:
    return StudyError(
        f"{plain(name)} of the package cannot be read: {why}",
        "Get the package again from where it is published.",
    )


def _outcomes(entry: Entry, found: list[Difference]) -> list[Outcome]:
    differing = {each.claim_id: each for each in found}
    outcomes = []
    for claim in entry.result.claims:
        each = differing.get(claim.claim_id)
        if each is None:
            outcomes.append(Outcome(claim, "verified", claim))
        elif claim.claim_id in entry.cannot:
            why = entry.cannot[claim.claim_id]
            outcomes.append(Outcome(claim, "cannot be verified", each.now, why))
        else:
            outcomes.append(Outcome(claim, "differs", each.now, each.problem))
    known = {claim.claim_id for claim in entry.result.claims}
    outcomes += [
        Outcome(each.now, "differs", each.now, "the package does not name it")
        for each in found
        if each.now is not None and each.claim_id not in known and not is_excused(entry, each)
    ]
    return outcomes
