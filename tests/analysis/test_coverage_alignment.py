"""The alignment of faults and techniques: what the figure holds, and how it is drawn."""

from __future__ import annotations

from matplotlib.patches import PathPatch

from faultatlas.analysis.coverage.alignment_figure import alignment_figures
from faultatlas.analysis.coverage.corpus import Corpus, shipped_corpus
from faultatlas.analysis.coverage.faults import survey_faults
from faultatlas.data.evidence import Paper, PaperCode
from faultatlas.data.old.results import Figure
from faultatlas.data.taxonomy_library import TaxonomyLibrary
from faultatlas.report.figures import draw

LIBRARY = TaxonomyLibrary()
FAULTS, TECHNIQUES = LIBRARY.taxonomy("humbatova"), LIBRARY.taxonomy("debugging-techniques")


def both(corpus: Corpus) -> tuple[Figure, Figure]:
    return alignment_figures(FAULTS, TECHNIQUES, corpus, survey_faults(FAULTS, corpus))


def coded(*codes: tuple[str, str]) -> Corpus:
    papers = tuple(Paper(name, "", 2020, name, "", "", "") for name, _ in codes)
    taxonomies = {"T": "debugging-techniques", "R": "debugging-techniques", "N": "new-faults"}
    rows = [
        PaperCode(name, taxonomies.get(code[0], "humbatova"), code, "explicit", "", "")
        for name, all_codes in codes
        for code in all_codes.split()
    ]
    return Corpus(papers, tuple(rows))


def test_every_fault_is_in_one_box_and_untargeted_categories_have_no_link() -> None:
    wide, narrow = both(shipped_corpus())
    for figure in (wide, narrow):
        assert sum(part.count for node in figure.above for part in node.parts) == 92 + 4
    linked = {link.above for link in wide.links}
    bare = {node.label for node in wide.above if node.key not in linked}
    assert {"GPU Usage", "Wrong Input", "Preprocessing of Training Data"} <= bare
    assert "GPU Usage" in wide.description
    assert {node.label for node in narrow.above if node.count == 0} == {"GPU usage"}


def test_a_link_counts_papers_once_however_many_codes_they_carry() -> None:
    wide, narrow = both(
        coded(("a", "1.1.L1 1.1.L2 T2.2.1 T2.2.2"), ("b", "1 T2.2"), ("c", "N1 T1"), ("d", "5.1"))
    )
    assert {(link.above, link.below): link.weight for link in wide.links} == {
        ("1.1", "T2.2"): 2,  # b is coded with the whole theme
        ("1.2", "T2.2"): 1,
        ("N1", "T1"): 1,
    }
    assert {(link.above, link.below): link.weight for link in narrow.links} == {
        ("Structural", "T2"): 2, ("Structural", "T1"): 1,
    }  # fmt: skip
    # A paper on a fault without a technique counts at the fault, and leads nowhere.
    assert next(node.count for node in wide.above if node.key == "5.1") == 1


def test_it_is_drawn_in_two_columns_and_aggregated_in_one() -> None:
    wide, narrow = both(shipped_corpus())
    for figure, inches in ((wide, 504 / 72), (narrow, 240 / 72)):
        drawing = draw(figure)
        axes = drawing.axes[0]
        assert drawing.get_figwidth() == inches
        ribbons = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
        assert len(ribbons) == len(figure.links) + 2  # and two in the key
        words = " ".join(text.get_text() for text in axes.texts)
        assert "Structural" in words or "Hyperparameters" in words
        edges = [text.get_window_extent() for text in axes.texts]
        assert min(edge.x0 for edge in edges) >= -1
        assert max(edge.x1 for edge in edges) <= drawing.bbox.width + 1
    # Asked for less room than its boxes need, it takes what they need.
    assert 240 / 72 < draw(wide, 240).get_figwidth() < 504 / 72


def test_without_papers_there_are_boxes_and_no_drawing_of_nothing() -> None:
    wide, _narrow = both(Corpus((), ()))
    assert wide.links == ()
    assert draw(wide).axes[0].texts[0].get_text() == "no data"
