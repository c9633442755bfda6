"""The papers of the corpus and the codes they carry: what research targets, and how."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import get_args

from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.evidence import Paper, PaperCode, Support
from faultatlas.data.identity import MAX_LENGTH, title_key

FAULTS = ("humbatova", "new-faults")
TECHNIQUES = "debugging-techniques"
EVALUATION = "evaluation"  # a paper that only evaluates targets nothing
UNPLACED = "unplaced"  # a final code of a study's paper for which no place is recorded
SUPPORTS = (*(kind for kind in get_args(Support) if kind != EVALUATION), UNPLACED)
_LONG_TITLE = 16  # letters: a shorter one, such as Editorial, says nothing


@dataclass(frozen=True)
class Corpus:
    """Papers with their codes."""

    papers: tuple[Paper, ...]
    codes: tuple[PaperCode, ...]
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)  # DOI and title by paper

    def without(self, names: Collection[str]) -> Corpus:
        """The corpus less some papers, named by id or by the name of their tool."""
        known = {paper.paper for paper in self.papers}
        by_label: dict[str, list[str]] = {}
        for each in self.papers:
            by_label.setdefault(each.label.casefold(), []).append(each.paper)
        gone = set()
        for name in names:
            found = [name] if name in known else by_label.get(name.casefold(), [])
            if len(found) > 1:
                raise StudyError(
                    f"{name!r} stands for several papers",
                    f"Name one by its id: {', '.join(found)}.",
                )
            if not found:
                near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
                raise StudyError(
                    f"the corpus has no paper {name!r}",
                    f"Did you mean: {', '.join(near)}?"
                    if near
                    else f"Known: {', '.join(sorted(known))}.",
                )
            gone.update(found)
        return Corpus(
            tuple(paper for paper in self.papers if paper.paper not in gone),
            tuple(code for code in self.codes if code.paper not in gone),
            self.names,
        )

    def supported_by(self, supports: Collection[str]) -> Corpus:
        """The corpus with only the codes that have one of these kinds of support."""
        for support in supports:
            if support not in SUPPORTS:
                raise StudyError(
                    f"there is no support {support!r}", f"Known: {', '.join(SUPPORTS)}."
                )
        kept = tuple(code for code in self.codes if code.support in supports)
        return Corpus(self.papers, kept, self.names)

    def joined(self, other: Corpus) -> Corpus:
        """Both together; a paper that is in both counts once, with the codes of both."""
        same = self.same_papers(other)
        return Corpus(
            (*self.papers, *(paper for paper in other.papers if paper.paper not in same)),
            (
                *self.codes,
                *(replace(code, paper=same.get(code.paper, code.paper)) for code in other.codes),
            ),
            {**other.names, **self.names},
        )

    def same_papers(self, other: Corpus) -> dict[str, str]:
        """Papers of the other corpus that are in this one, by the id that they have here.

        DOI and title say so, else the tool and the surname of its first author.
        """
        by_name = {name: each.paper for each in self.papers for name in self._names(each)}
        found = {}
        for theirs in other.papers:
            ours = [by_name[name] for name in sorted(other._names(theirs)) if name in by_name]
            if ours:
                found[theirs.paper] = ours[0]
        return found

    def _names(self, paper: Paper) -> frozenset[str]:
        """All by which a paper may be known elsewhere; a year is not asked."""
        tool = paper.name.removesuffix(f" ({paper.paper})")  # as papers of one name are told apart
        said = f"tool:{_folded(tool)} {_folded(paper.first_author)}"
        return self.names.get(paper.paper, frozenset()) | ({said} if tool else set())

    @cached_property
    def papers_by_fault(self) -> dict[str, tuple[str, ...]]:
        """Fault code (leaf, category or new fault) to the papers coded with it, sorted."""
        return self._by_code(FAULTS)

    @cached_property
    def papers_by_technique(self) -> dict[str, tuple[str, ...]]:
        """Technique code to the papers coded with it, sorted."""
        return self._by_code((TECHNIQUES,))

    def label(self, paper: str) -> str:
        """How a reader knows a paper."""
        return self._labels[paper]

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {paper.paper: paper.label for paper in self.papers}

    def _by_code(self, taxonomies: Collection[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for code in self.codes:
            evaluates = code.taxonomy in FAULTS and code.support == EVALUATION
            if code.taxonomy in taxonomies and not evaluates:
                found.setdefault(code.code, set()).add(code.paper)
        return {code: tuple(sorted(papers)) for code, papers in found.items()}


def shipped_corpus() -> Corpus:
    """The papers that the survey names, with the codes that its text supports."""
    return Corpus(evidence.papers(), evidence.paper_codes(), _shipped_names())


def names_of(doi: str | None, title: str) -> frozenset[str]:
    """The names of a paper that no other has."""
    known = {f"doi:{doi.lower()}"} if doi else set()
    key = title_key(title[:MAX_LENGTH])
    return frozenset(known | ({f"title:{key}"} if len(key) >= _LONG_TITLE else set()))


@cache
def _shipped_names() -> dict[str, frozenset[str]]:
    """DOI and title of the survey's papers, as its reference list has them."""
    text = (files("faultatlas.miner.papers") / "known_lists" / "survey.csv").read_text(
        encoding="utf-8"
    )
    rows = csv.DictReader(text.splitlines())
    return {row["paper"]: names_of(row["doi"], row["title"]) for row in rows}


def _folded(text: str) -> str:
    return title_key(text[:MAX_LENGTH]) or text.casefold()
