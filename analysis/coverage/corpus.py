"""The papers of the corpus and the codes they carry: what research targets, and how."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

from data import evidence
from data.errors import StudyError
from data.evidence import Paper, PaperCode, Support

FAULTS = ("humbatova", "new-faults")
TECHNIQUES = "debugging-techniques"
EVALUATION = "evaluation"  # a paper that only evaluates targets nothing
UNPLACED = "unplaced"  # a final code of a study's paper for which no place is recorded
SUPPORTS = (*(kind for kind in get_args(Support) if kind != EVALUATION), UNPLACED)


@dataclass(frozen=True)
class Corpus:
    """Papers with their codes."""

    papers: tuple[Paper, ...]
    codes: tuple[PaperCode, ...]

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
        )

    def supported_by(self, supports: Collection[str]) -> Corpus:
        """The corpus with only the codes that have one of these kinds of support."""
        for support in supports:
            if support not in SUPPORTS:
                raise StudyError(
                    f"there is no support {support!r}", f"Known: {', '.join(SUPPORTS)}."
                )
        return Corpus(self.papers, tuple(code for code in self.codes if code.support in supports))

    def joined(self, other: Corpus) -> Corpus:
        """Both together; a paper that is in both counts once, with the codes of both."""
        same = self.same_papers(other)
        return Corpus(
            (*self.papers, *(paper for paper in other.papers if paper.paper not in same)),
            (
                *self.codes,
                *(replace(code, paper=same.get(code.paper, code.paper)) for code in other.codes),
            ),
        )

    def same_papers(self, other: Corpus) -> dict[str, str]:
        """Papers of the other corpus that are in this one, by the id that they have here."""
        return {
            theirs.paper: ours.paper
            for theirs in other.papers
            for ours in self.papers
            if _is_same(ours, theirs)
        }

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
    return Corpus(evidence.papers(), evidence.paper_codes())


def _is_same(one: Paper, other: Paper) -> bool:
    """Whether two papers are one: the same tool by the same first author. A year is not asked."""
    return bool(one.name) and (one.name.casefold(), one.first_author.casefold()) == (
        other.name.casefold(),
        other.first_author.casefold(),
    )
