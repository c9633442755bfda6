"""Reads from a study what it adds to the shipped evidence, and puts the chosen papers together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.analysis.coverage.corpus import Corpus, shipped_corpus
from faultatlas.analysis.coverage.live import Live
from faultatlas.analysis.coverage.rows import paper_rows
from faultatlas.analysis.coverage.study_labels import StudyLabels, study_labels
from faultatlas.analysis.coverage.study_papers import StudyPapers, study_papers
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.data.taxonomy_library import TaxonomyLibrary


def gathered(
    study: Study,
    library: TaxonomyLibrary,
    round_name: str = "",
    *,
    labels_wanted: bool,
    papers_wanted: bool,
) -> Live:
    """The study's own papers and labels. What cannot be used is an error only where it is wanted.

    Without a study there is nothing, unless its labels are wanted.
    """
    if not study.exists and not labels_wanted:
        return Live()
    papers, labels = StudyPapers(), StudyLabels()
    problems = []
    with study.reading() as reader:
        try:
            labels = study_labels(reader, study.directory, library, round_name)
            if labels_wanted:
                labels.require(round_name)
        except StudyError as error:
            if labels_wanted:
                raise
            problems.append(f"The study's labels are left out: {error.message}.")
        try:
            papers = study_papers(reader, study.directory, library)
        except StudyError as error:
            if papers_wanted:
                raise
            problems.append(f"The study's papers are left out: {error.message}.")
    if labels.twice:
        labels = StudyLabels()
        problems.append(
            "The study's labels are left out: artifacts have final labels in several rounds and "
            "would count twice. Choose a round with --evidence corpus --round."
        )
    return Live(papers, labels, problems=tuple(problems))


def chosen_corpus(
    chosen: tuple[bool, bool], own: Corpus, without: tuple[str, ...], support: tuple[str, ...]
) -> tuple[Corpus, str | None]:
    """The corpus of the chosen papers (shipped, the study's own), and the rows of the study behind.

    There are none where no paper of the study is in it.
    """
    nobody = Corpus((), ())
    shipped = shipped_corpus() if chosen[0] else nobody
    if not chosen[0] and not own.papers:
        raise StudyError(
            "the study has no coded papers of its own",
            "Bring some in and code them (miner papers --help), or leave --papers out.",
        )
    added = own if chosen[1] else nobody
    corpus = shipped.joined(added).without(without)
    if support:
        corpus = corpus.supported_by(support)
    left = {paper.paper for paper in corpus.papers}
    same = shipped.same_papers(added)
    gone = {each.paper for each in added.papers if same.get(each.paper, each.paper) not in left}
    return corpus, paper_rows(gone, support) if added.papers else None
