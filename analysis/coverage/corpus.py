"""The papers of the corpus and the codes they carry: what research targets, and how."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from data import evidence
from data.errors import StudyError
from data.evidence import Paper, PaperCode, Support

FAULTS = ("humbatova", "new-faults")
TECHNIQUES = "debugging-techniques"
# A paper that only evaluates targets nothing.
SUPPORTS = tuple(kind for kind in get_args(Support) if kind != "evaluation")


@dataclass(frozen=True)
class Corpus:
    """Papers with their codes."""

    papers: tuple[Paper, ...]
    codes: tuple[PaperCode, ...]

    def without(self, names: Collection[str]) -> Corpus:
        """The corpus less some papers, named by id or by the name of their tool."""
        known = {paper.paper for paper in self.papers}
        by_label = {paper.label.casefold(): paper.paper for paper in self.papers}
        gone = set()
        for name in names:
            paper = name if name in known else by_label.get(name.casefold())
            if paper is None:
                near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
                raise StudyError(
                    f"the corpus has no paper {name!r}",
                    f"Did you mean: {', '.join(near)}?"
                    if near
                    else f"Known: {', '.join(sorted(known))}.",
                )
            gone.add(paper)
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
        return next(entry.label for entry in self.papers if entry.paper == paper)

    def _by_code(self, taxonomies: Collection[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for code in self.codes:
            if code.taxonomy in taxonomies:
                found.setdefault(code.code, set()).add(code.paper)
        return {code: tuple(sorted(papers)) for code, papers in found.items()}


def shipped_corpus() -> Corpus:
    """The papers that the survey names, with the codes that its text supports."""
    return Corpus(evidence.papers(), evidence.paper_codes())
