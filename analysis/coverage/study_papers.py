"""The papers that a study coded itself: a corpus beside the shipped one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.coverage.corpus import FAULTS, TECHNIQUES, UNPLACED, Corpus, names_of
from faultatlas.data.evidence import Paper, PaperCode

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

CODED = (*FAULTS, TECHNIQUES)
LONGEST_NAME = 40  # letters of a title that stand for the paper

# Of the study's codes those that may count: of papers that were not excluded and are there.
USED = (
    "artifact_id IN (SELECT artifact_id FROM papers "
    "WHERE screening_decision IS DISTINCT FROM 'excluded' AND gone_at IS NULL)"
)


@dataclass(frozen=True)
class StudyPapers:
    """The coded papers of a study, and what of its papers is not used."""

    corpus: Corpus = field(default_factory=lambda: Corpus((), ()))
    excluded: int = 0  # coded, but excluded in screening
    screening_open: int = 0  # coded and used, although screening has not decided
    undecided: int = 0  # codes that the shipped version of their taxonomy does not decide

    def notes(self) -> tuple[str, ...]:
        """What a reader must know of them."""
        found = []
        if self.corpus.papers:
            unplaced = sum(code.support == UNPLACED for code in self.corpus.codes)
            found.append(
                f"The study has {len(self.corpus.papers):,} coded papers of its own; {unplaced:,} "
                "of their codes have no recorded place and count as support of their own kind "
                f"({UNPLACED})."
            )
        for count, words in (
            (self.excluded, "coded papers were excluded in screening and are left out"),
            (self.screening_open, "coded papers count although their screening is not finished"),
            (
                self.undecided,
                "codes of papers are left out: the shipped version decides none",
            ),
        ):
            if count:
                found.append(f"{count:,} {words}.")
        return tuple(found)


def study_papers(reader: Reader, directory: Path, library: TaxonomyLibrary) -> StudyPapers:
    """The papers that the study coded with techniques or faults, in the shipped versions.

    Codes of other versions are carried as labels are; every place counts with its support.
    """
    from faultatlas.annotation.taxonomies.versions import carrier

    marks = ", ".join("?" for _ in CODED)
    rows = reader.rows(
        "SELECT artifact_id, taxonomy, taxonomy_version, code, support, place FROM paper_codes "
        f"WHERE taxonomy IN ({marks}) AND {USED} ORDER BY ALL",
        list(CODED),
    )
    excluded = reader.value(
        "SELECT count(DISTINCT artifact_id) FROM paper_codes JOIN papers USING (artifact_id) "
        f"WHERE taxonomy IN ({marks}) AND screening_decision = 'excluded'",
        list(CODED),
    )
    if not rows:
        return StudyPapers(excluded=excluded)
    carriers = {
        name: carrier(reader, directory, name, library.taxonomy(name).version)
        for name in sorted({row["taxonomy"] for row in rows})
    }
    codes: list[PaperCode] = []
    undecided = 0
    for row in rows:
        name, support = row["taxonomy"], row["support"] or UNPLACED
        carried = carriers[name](row["taxonomy_version"], row["code"])
        undecided += carried is None
        codes += [
            PaperCode(row["artifact_id"], name, code, support, row["place"] or "", "")
            for code in sorted(carried or ())
        ]
    papers = reader.rows(
        "SELECT artifact_id, title, year, venue, doi, authors, screening_decision FROM papers "
        "WHERE list_contains(?, artifact_id) ORDER BY artifact_id",
        [sorted({code.paper for code in codes})],
    )
    screened = reader.value("SELECT count(*) FROM screenings")
    open_ones = sum(row["screening_decision"] is None for row in papers) if screened else 0
    names = {row["artifact_id"]: names_of(row["doi"], row["title"]) for row in papers}
    corpus = Corpus(_named(papers), tuple(codes), names)
    return StudyPapers(corpus, excluded, open_ones, undecided)


def _named(rows: Iterable[dict[str, Any]]) -> tuple[Paper, ...]:
    """The papers, each with a name of its own: its tool, else author and year, else its title."""
    found = [
        Paper(
            paper=row["artifact_id"],
            first_author=_surname(row["authors"]),
            year=row["year"] or 0,
            name=_tool(row["title"]),
            venue=row["venue"] or "",
            reference="",
            note="",
        )
        for row in rows
    ]
    titles = {row["artifact_id"]: _short(row["title"]) for row in rows}
    labels = Counter(_label(paper, titles) for paper in found)
    named = []
    for paper in found:
        label = _label(paper, titles)
        unique = label if labels[label] == 1 else f"{label} ({paper.paper})"
        named.append(paper if unique == paper.label else _renamed(paper, unique))
    return tuple(named)


def _renamed(paper: Paper, name: str) -> Paper:
    return Paper(**{**vars(paper), "name": name})


def _label(paper: Paper, titles: dict[str, str]) -> str:
    if paper.name or (paper.first_author and paper.year):
        return paper.label
    return titles[paper.paper]


def _tool(title: str) -> str:
    """What stands before the colon of a title, if that is a name and no sentence."""
    before, colon, _after = title.partition(":")
    name = " ".join(before.split())
    return name if colon and len(name) <= LONGEST_NAME and len(name.split()) <= 2 else ""


def _short(title: str) -> str:
    text = " ".join(title.split())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1].rstrip() + "…"


def _surname(authors: list[str] | None) -> str:
    """Of the first author: `Cao, Jialun` and `Jialun Cao` are the same."""
    if not authors or not authors[0].strip():
        return ""
    before, comma, _after = authors[0].partition(",")
    words = (before if comma else authors[0]).split()
    return " ".join(words) if comma else words[-1]
