"""`report package --verify`: every number of a package, computed again from the package alone.

The study of the package is made in a temporary folder, in a database that reaches neither files
nor the network, and it is deleted afterwards.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim
from faultatlas.data.results import Quantity, Result
from faultatlas.data.schema import schema
from faultatlas.data.settings import SETTINGS
from faultatlas.data.study import Reader, Study
from faultatlas.report.claims.check import Difference, differences_table
from faultatlas.report.formatting import counted, plain
from faultatlas.report.package import archive, contents
from faultatlas.report.package.claims import Entry, verified
from faultatlas.report.package.make import (
    CLAIMS,
    FORMAT,
    KIND,
    claim_records,
    reasons,
)

if TYPE_CHECKING:
    import pyarrow as pa

Verdict = Literal["verified", "differs", "cannot be verified"]

MOST_ROW_BYTES = 4 * 2**30  # of all rows in memory
_ROW_BYTES, _RATIO = 256 * 2**20, 100  # so many bytes, and so many times the size of the files
_LARGEST_TEXT = 64 * 2**20  # of claims.json, a taxonomy or study.toml
_LONGEST_S = 600.0  # for the queries of one result
_SHOWN = 5
_SHOWN_CLAIMS = 20
_AGAIN = "Get the package again from where it is published."


@dataclass(frozen=True)
class ClaimCheck:
    """A claim of the package, and the outcome of computing it again."""

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
class Verification:
    """All claims of a package, checked."""

    title: str
    version: str  # of the program that made it
    checks: tuple[ClaimCheck, ...]
    differences: tuple[Difference, ...]
    unclaimed: tuple[str, ...] = ()  # numbers that its rows give and it says it does not claim
    differing_files: tuple[str, ...] | None = ()  # of those for readers; None if not compared

    def of(self, verdict: Verdict) -> list[ClaimCheck]:
        """The claims with that verdict."""
        return [check for check in self.checks if check.verdict == verdict]


def verify_package(source: Path) -> Verification:
    """Compute all claims of a package again: a zip file, or the folder that it was unpacked to."""
    if not source.exists():
        raise StudyError(f"there is no {source}", "Name a package: report package --verify FILE")
    with tempfile.TemporaryDirectory(prefix="faultatlas-") as temporary:
        workshop = Path(temporary)
        folder = archive.open_package(source, workshop / "unpacked")
        about, entries = read_claims(folder)
        rows = folder / contents.ROWS
        loaded = contents.load(workshop / "study", _tables(rows), _texts(rows))
        # Another version may show a table differently: only the numbers are the same in all.
        differing = None
        if about["version"] == provenance.program_version():
            claims = contents.claims_csv(claim_records(entries))
            differing = tuple(contents.differing_files(loaded, folder, claims))
        checks: list[ClaimCheck] = []
        differences: list[Difference] = []
        unclaimed: list[str] = []
        for entry, differing_claims in verified(_BoundedStudy(workshop / "study"), entries):
            checks += _checks(entry, differing_claims)
            for difference in differing_claims:
                if not entry.excuses(difference):
                    differences.append(difference)
                elif difference.stored is None:
                    unclaimed.append(difference.claim_id)
    return Verification(
        about["title"], about["version"], tuple(checks), tuple(differences), tuple(unclaimed),
        differing,
    )  # fmt: skip


class _BoundedStudy(Study):
    """A study with conditions and values in SQL of strangers, which may not come to an end."""

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


def _checks(entry: Entry, differences: Sequence[Difference]) -> Iterator[ClaimCheck]:
    by_id = {difference.claim_id: difference for difference in differences}
    for claim in entry.result.claims:
        difference = by_id.pop(claim.claim_id, None)
        if difference is None:
            yield ClaimCheck(claim, "verified", claim)
        elif claim.claim_id in entry.unverifiable:
            reason = entry.unverifiable[claim.claim_id]
            yield ClaimCheck(claim, "cannot be verified", difference.now, reason)
        else:
            yield ClaimCheck(claim, "differs", difference.now, difference.problem)
    for difference in by_id.values():
        if difference.now is not None and not entry.excuses(difference):
            yield ClaimCheck(
                difference.now, "differs", difference.now, "the package does not name it"
            )


# --- reading a package -------------------------------------------------------------------


def read_claims(folder: Path) -> tuple[dict[str, str], list[Entry]]:
    """Title and version of a package, and its results."""
    try:
        document: Any = json.loads(_text(folder / CLAIMS))
        entries = [Entry.from_json(result) for result in document["results"]]
        about = {name: str(document[name]) for name in ("title", "version")}
        kind, version = document["kind"], (int(document["schema"]), int(document["format"]))
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError,
            OverflowError) as error:  # fmt: skip
        raise StudyError(
            f"{CLAIMS} of the package cannot be read ({type(error).__name__}: {plain(error)})",
            _AGAIN,
        ) from error
    if kind != KIND:
        raise StudyError(f"{CLAIMS} is of another kind", "Name a package of report package.")
    if version[0] > schema().version or version[1] > FORMAT:
        raise StudyError(
            f"the package was made by a newer faultatlas ({plain(about['version'])})",
            "Upgrade faultatlas, and verify it again.",
        )
    return about, entries


def _tables(folder: Path) -> Iterator[tuple[str, pa.Table]]:
    """The rows of all tables in parts, which together must fit into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = sorted(folder.glob("*.parquet"))
    size = sum(path.stat().st_size for path in paths)
    left = min(MOST_ROW_BYTES, _ROW_BYTES + _RATIO * size)
    known = {table.name: table for table in schema().packaged()}
    for path in paths:
        if path.stem not in known:
            raise _unreadable(path.name, "a study has no such table")
        try:
            names = pq.read_schema(path).names
            if unknown := sorted(set(names) - set(known[path.stem].columns)):
                shown = ", ".join(map(plain, unknown[:_SHOWN]))
                raise _unreadable(path.name, f"the table has no {shown}")
            for rows in contents.parquet_parts(path, left):
                left -= rows.nbytes
                yield path.stem, rows
        except (pa.ArrowException, OSError, contents.TooLargeError) as error:
            raise _unreadable(path.name, plain(error)) from error


def _texts(folder: Path) -> dict[str, str]:
    """The choices, taxonomies and crosswalks of the study, by path."""
    paths = [folder / SETTINGS]
    for name in contents.OWN_FOLDERS:
        paths += sorted((folder / name).glob("*"))
    texts = {}
    for path in paths:
        if path.is_file():
            try:
                texts[path.relative_to(folder).as_posix()] = _text(path)
            except (OSError, ValueError) as error:
                raise _unreadable(path.name, plain(error)) from error
    return texts


def _text(path: Path) -> str:
    if path.stat().st_size > _LARGEST_TEXT:
        raise ValueError(f"it is larger than {_LARGEST_TEXT:,} bytes")
    return path.read_text(encoding="utf-8")


def _unreadable(name: str, reason: str) -> StudyError:
    return StudyError(f"{plain(name)} of the package cannot be read: {reason}", _AGAIN)


# --- what the command prints -------------------------------------------------------------


def verification_result(verification: Verification, *, with_all: bool = False) -> Result:
    """The outcome as a result; it is incomplete where anything differs."""
    checks = verification.checks
    by_verdict: dict[Verdict, list[ClaimCheck]] = {
        verdict: verification.of(verdict)
        for verdict in ("verified", "differs", "cannot be verified")
    }
    differing_files = verification.differing_files
    listed = (differences_table(verification.differences),) if verification.differences else ()
    return Result(
        _headline(verification, by_verdict),
        quantities=tuple(
            Quantity({"claims": verdict}, len(claims), n=len(checks))
            for verdict, claims in by_verdict.items()
        ),
        tables=listed,
        summary=tuple(_sentences(verification, by_verdict["cannot be verified"])),
        notes=tuple(f"{check.claim.claim_id}: {check.verdict}" for check in checks if with_all),
        missing=tuple(_missing(verification)),
        data={
            "title": verification.title,
            "made_with": verification.version,
            "verified": len(by_verdict["verified"]),
            "differs": [check.to_json() for check in by_verdict["differs"]],
            "cannot_be_verified": [check.to_json() for check in by_verdict["cannot be verified"]],
            "unclaimed": list(verification.unclaimed),
            "differing_files": None if differing_files is None else list(differing_files),
        },
    )


def _headline(verification: Verification, by_verdict: dict[Verdict, list[ClaimCheck]]) -> str:
    open_count = len(by_verdict["cannot be verified"])
    rest = f"; {open_count:,} cannot be verified from the package" if open_count else ""
    claims = counted(len(verification.checks), "claim")
    return (
        f"{plain(verification.title)}: {len(by_verdict['verified']):,} of {claims} verified{rest}."
    )


def _sentences(verification: Verification, unverifiable: Sequence[ClaimCheck]) -> Iterator[str]:
    """Which numbers nobody but the package gives: a reader must know them."""
    yield from reasons(check.reason for check in unverifiable)
    if unverifiable:
        names = _names([check.claim.claim_id for check in unverifiable])
        others = sum(check.now is not None for check in unverifiable)
        rest = f" (its rows give another number for {others:,})" if others else ""
        yield (
            "These numbers cannot be recomputed from the package; you have to trust its authors"
            f"{rest}: {names}"
        )
    if verification.unclaimed:
        yield (
            f"{counted(len(verification.unclaimed), 'number')} of its rows "
            f"{'is' if len(verification.unclaimed) == 1 else 'are'} not among its claims: "
            f"{_names(verification.unclaimed)}"
        )
    if verification.differing_files is None:
        yield "data/ and claims.csv were not compared: another version made the package."


def _missing(verification: Verification) -> Iterator[str]:
    if verification.differences:
        names = [difference.claim_id for difference in verification.differences]
        yield (
            f"{counted(len(names), 'claim')} of the package "
            f"{'differs' if len(names) == 1 else 'differ'} from what its rows give: {_names(names)}"
        )
        yield (
            "The rows, the numbers or the program changed since it was made (with faultatlas "
            f"{plain(verification.version)}): ask its authors."
        )
    if verification.differing_files:
        names = list(verification.differing_files)
        yield (
            f"{counted(len(names), 'file')} for readers of the package "
            f"{'is' if len(names) == 1 else 'are'} not what its rows and claims give: "
            f"{_names(names)}"
        )
        yield "Somebody changed it after it was made: ask its authors."


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_CLAIMS:,} more" if len(names) > _SHOWN_CLAIMS else ""
    return f"{', '.join(map(plain, names[:_SHOWN_CLAIMS]))}{more}"
