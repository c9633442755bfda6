"""`annotation places`: the quoted places of codes, and finished codings of papers.

Places are append-only, as labels are: a row that says otherwise of the same place supersedes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.rounds import Item, Round, add_rater, find_round, put_items, put_round
from faultatlas.annotation.screening.coding import round_stem
from faultatlas.annotation.screening.paper_names import PaperNames
from faultatlas.annotation.screening.place_sheets import WITHDRAWN, Place, PlaceSheet, read_places
from faultatlas.annotation.settling.settlements import Decision, Settled, settle
from faultatlas.annotation.sheets.problems import listed
from faultatlas.annotation.sheets.storing import RULE
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_library import TaxonomyLibrary
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.data.taxonomy import Taxonomy

_MOST_SHOWN = 20
_COLUMNS = ("artifact_id", "taxonomy", "code", "rater", "place")


@dataclass(frozen=True)
class Taken:
    """What became of a sheet."""

    file: str
    rows: int
    new: int = 0
    changed: int = 0
    known: int = 0
    rounds: Mapping[str, Settled] | None = None  # of codes that were taken as well
    problems: Mapping[int, str] | None = None
    dropped: tuple[str, ...] = ()  # codes that papers had and the sheet does not have

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "file": self.file,
            "rows": self.rows,
            "places": {"new": self.new, "changed": self.changed, "known": self.known},
            "rounds": {name: vars(each) for name, each in (self.rounds or {}).items()},
            "dropped": list(self.dropped),
            "problems": [{"row": row, "problem": said} for row, said in self.wrong],
        }

    @property
    def wrong(self) -> list[tuple[int, str]]:
        """Rows that were left out, in their order, and why."""
        return sorted((self.problems or {}).items())

    def words(self) -> list[str]:
        """For a reader."""
        lines = [
            f"{name}: {counted(each.new, 'paper')} with final codes, {each.changed:,} changed, "
            f"{each.known:,} known"
            for name, each in (self.rounds or {}).items()
        ]
        if self.dropped:
            more = len(self.dropped) - _MOST_SHOWN
            lines.append(
                f"{counted(len(self.dropped), 'code')} no more final, since the sheet has the "
                f"paper without: {'; '.join(self.dropped[:_MOST_SHOWN])}"
                + (f"; and {more:,} more" if more > 0 else "")
            )
        return [
            *lines,
            f"{counted(self.new, 'place')} new, {self.changed:,} changed, {self.known:,} known",
        ]

    def refuse_if_partial(self) -> None:
        """Rows that were left out are a failure, after the others were stored."""
        if not self.wrong:
            return
        wrong = [f"{self.file}:{row}: {said}" for row, said in self.wrong]
        raise StudyError(
            listed(wrong, _MOST_SHOWN),
            f"{counted(len(self.wrong), 'row')} of {self.rows:,} left out, the others are stored. "
            "Mend them, and run this again: nothing is doubled.",
        )


def take_places(study: Study, path: Path, rater: str, *, with_codes: bool) -> Taken:
    """Read a sheet and store what is right in it."""
    with study.reading() as reader:
        names = PaperNames.of(reader)
    if not names.ids:
        raise StudyError("the study has no papers", "Bring them in first: miner papers --from FILE")
    library = TaxonomyLibrary(study.directory)
    sheet = read_places(path, names, library, rater, with_codes=with_codes)
    arguments = {"file": path.name, "rater": rater, "codes": with_codes,
                 "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}  # fmt: skip
    run = provenance.begin("annotation places", arguments)
    with study.writing() as writer:
        before = _finals(writer)
        rounds = _take_codes(writer, sheet, library, run) if with_codes else {}
        dropped = tuple(map(" ".join, sorted(before - _finals(writer)))) if rounds else ()
        new, changed, known = _append(writer, _borne_out(writer, sheet), run)
        if new or changed or any(each.new or each.changed for each in rounds.values()):
            provenance.record(writer, run, "partial" if sheet.problems else "ok")
    return Taken(str(path), sheet.rows, new, changed, known, rounds, sheet.problems, dropped)


def _take_codes(
    writer: Writer, sheet: PlaceSheet, library: TaxonomyLibrary, run: Run
) -> dict[str, Settled]:
    """Final codes of papers, each in the round of its taxonomy, which is made if it is new."""
    found: dict[str, dict[str, set[str]]] = {}
    for place in sheet.places:
        of_paper = found.setdefault(place.taxonomy, {}).setdefault(place.paper, set())
        if place.support != WITHDRAWN:
            of_paper.add(place.code)
    settled = {}
    for name, papers in found.items():
        coded = {paper: codes for paper, codes in papers.items() if codes}
        if coded:
            of = _round(writer, library.taxonomy(name), run)
            settled[of.name] = _settle(writer, of, coded, run)
    return settled


def _round(writer: Writer, taxonomy: Taxonomy, run: Run) -> Round:
    name = round_stem(taxonomy.name)
    if not writer.value("SELECT 1 FROM store.round WHERE round = ?", [name]):
        new = Round(name, "imported", taxonomy.name, taxonomy.version, "multiple", ())
        put_round(writer, new, taxonomy, run)
    of = find_round(writer, name)
    if of.origin != "imported" or of.taxonomy != taxonomy.name:
        raise StudyError(
            f"round {name!r} is there, and raters label it: its codes come from them",
            f"Settle it (annotation adjudicate {typed(name)}), then bring in the places without "
            "--codes. Nothing was stored.",
        )
    return of


def _settle(writer: Writer, of: Round, coded: Mapping[str, set[str]], run: Run) -> Settled:
    rows = writer.rows(
        "SELECT item_id, a.artifact_id FROM store.item i JOIN store.alias a "
        "ON a.alias = i.artifact_id AND a.kind = 'paper' WHERE i.round = ?",
        [of.name],
    )
    known = {row["artifact_id"]: row["item_id"] for row in rows}  # under another id
    new = [Item(paper, paper) for paper in sorted(coded) if paper not in known]
    put_items(writer, of.name, new, run)
    decisions = [
        Decision(known.get(paper, paper), tuple(sorted(codes)), "imported", RULE,
                 of.taxonomy_version)
        for paper, codes in sorted(coded.items())
    ]  # fmt: skip
    return settle(writer, of.name, decisions, run)


def _borne_out(writer: Writer, sheet: PlaceSheet) -> list[Place]:
    """Places of codes that the paper finally has; others become problems of the sheet."""
    finals = _finals(writer)
    kept = []
    for place in sheet.places:
        if not place.support:
            continue
        if place.support == WITHDRAWN or (place.paper, place.taxonomy, place.code) in finals:
            kept.append(place)
        else:
            sheet.problems[place.row] = (
                f"{place.paper} has no final code {place.code} of {place.taxonomy}: settle it "
                "first, or bring in codes and places together with --codes"
            )
    return kept


def _finals(reader: Reader) -> set[tuple[str, str, str]]:
    """Paper, taxonomy and code of every final code."""
    rows = reader.rows("SELECT DISTINCT artifact_id, taxonomy, code FROM paper_codes")
    return {(row["artifact_id"], row["taxonomy"], row["code"]) for row in rows}


def _append(writer: Writer, places: Sequence[Place], run: Run) -> tuple[int, int, int]:
    """Store places; how many were new, changed what was there, or known."""
    holding = _holding(writer)
    new = changed = known = 0
    rows = []
    for each in places:
        key = (each.paper, each.taxonomy, each.code, each.rater, each.place)
        before = holding.get(key)
        if before is None and each.support == WITHDRAWN:
            known += 1  # nothing to take back
            continue
        if before is not None and before[1:] == (each.support, each.quote):
            known += 1
            continue
        supersedes = before[0] if before else None
        text = repr((key, each.support, each.quote, supersedes))
        place_id = hashlib.sha256(text.encode()).hexdigest()[:16]
        holding[key] = (place_id, each.support, each.quote)
        new += before is None
        changed += before is not None
        rows.append([place_id, each.paper, each.taxonomy, each.code, each.rater, each.support,
                     each.place, each.quote, each.origin, supersedes, run.run_id])  # fmt: skip
    for rater in dict.fromkeys(str(row[4]) for row in rows):
        add_rater(writer, rater, run, may_be_alike=True)
    for row in rows:
        writer.execute(f"INSERT INTO store.code_place VALUES ({', '.join('?' * len(row))})", row)
    return new, changed, known


def _holding(reader: Reader) -> dict[tuple[str, ...], tuple[str, str, str | None]]:
    """The places that no other supersedes."""
    rows = reader.rows(
        "SELECT c.* REPLACE (coalesce(a.artifact_id, c.artifact_id) AS artifact_id) "
        "FROM store.code_place c LEFT JOIN store.alias a ON a.alias = c.artifact_id "
        "AND a.kind = 'paper' WHERE place_id NOT IN "
        "(SELECT supersedes FROM store.code_place WHERE supersedes IS NOT NULL)"
    )
    return {
        tuple(row[name] for name in _COLUMNS): (row["place_id"], row["support"], row["quote"])
        for row in rows
    }
