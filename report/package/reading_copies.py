"""Whether what readers of a package open says the same as what its verification loads.

The numbers are computed from `study/`; people read `data/` and `claims.csv`. They must not tell
another story, nor may one of them be missing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.report.package import rows

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Study
    from faultatlas.report.package.computing import Entry

CLAIMS = "claims.csv"
FOLDER = "data"


def claims_csv(entries: Sequence[Entry]) -> bytes:
    """The claims as a table; nothing where there are none."""
    found = [
        {"result": entry.result.name, **vars(claim), "cannot": entry.cannot.get(claim.claim_id)}
        for entry in entries
        for claim in entry.result.claims
    ]
    return rows.csv_of([*found[0]], ([*row.values()] for row in found)) if found else b""


def unlike(copy: Study, place: Path, entries: Sequence[Entry]) -> Iterator[str]:
    """The files for readers that are not what the rows and the list of claims give."""
    if _bytes(place / CLAIMS) != claims_csv(entries):
        yield CLAIMS
    known = set()
    with copy.reading() as reader:
        for name, table in rows.views(reader):
            known |= {f"{name}.csv", f"{name}.parquet"}
            if _bytes(place / FOLDER / f"{name}.csv") != rows.csv_bytes(table):
                yield f"{FOLDER}/{name}.csv"
            if not _is_same(_bytes(place / FOLDER / f"{name}.parquet"), table):
                yield f"{FOLDER}/{name}.parquet"
    for path in sorted((place / FOLDER).rglob("*")):
        if path.is_file() and path.name not in known:
            yield path.relative_to(place).as_posix()


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _is_same(content: bytes, table: pa.Table) -> bool:
    """Whether a Parquet file has these rows. The same program writes the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ours = rows.parquet(table)
    if content == ours:
        return True
    try:  # another version of its library may write others: then they are read, if of like size
        if len(content) > 2 * len(ours) + 2**16:
            return False
        theirs = pq.ParquetFile(io.BytesIO(content))
        if theirs.metadata.num_rows != table.num_rows:
            return False
        return bool(theirs.read().equals(pq.read_table(io.BytesIO(ours))))
    except (pa.ArrowException, OSError):
        return False
