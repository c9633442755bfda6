"""Faults above, techniques below and the papers between them: the data of the figure.

After the survey's figure 2: in categories for two columns of a paper, in components and groups
of techniques for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from faultatlas.analysis.coverage.alignment import component_of_code
from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.faults import STATUSES, Fault
from faultatlas.data import evidence
from faultatlas.data.old.results import Figure, Link, Node, Part
from faultatlas.data.taxonomy import Taxonomy

_TOLD_LINKS = 8  # of the description; the table of faults and techniques has them all


@dataclass(frozen=True)
class _Box:
    """A node before its papers are known."""

    key: str
    label: str
    group: str


def alignment_figures(
    faults: Taxonomy, techniques: Taxonomy, corpus: Corpus, statuses: Sequence[Fault]
) -> tuple[Figure, Figure]:
    """The alignment by category and technique, and by component and group of techniques."""
    new = {each.code: each.parent for each in evidence.new_faults()}

    def category(code: str) -> _Box:
        path = _path(faults, new.get(code, code))
        if code in new:
            name = next(each.name for each in statuses if each.code == code)
            return _Box(code, name, faults.node(path[0]).name)
        at = path[0] if faults.is_leaf(path[1]) else path[1]
        return _Box(at, faults.node(at).name, faults.node(path[0]).name)

    def component(code: str) -> _Box:
        name = component_of_code(faults, code)
        return _Box(name, name, "")

    def technique(code: str) -> _Box:
        path = _path(techniques, code)
        root = techniques.node(path[0]).name
        if len(path) == 1:
            used = corpus.papers_by_technique
            alone = not any(code in techniques.ancestors(each) for each in used)
            return _Box(code, root if alone else f"{root}, not said how", root)
        return _Box(path[1], techniques.node(path[1]).name, root)

    def group(code: str) -> _Box:
        root = _path(techniques, code)[0]
        return _Box(root, techniques.node(root).name, "")

    return (
        _figure("alignment", "by category and technique",
                _above(faults, corpus, statuses, category),
                _below(techniques, corpus, technique)),
        _figure("alignment-components", "by component and group of techniques",
                _above(faults, corpus, statuses, component), _below(techniques, corpus, group)),
    )  # fmt: skip


def _path(taxonomy: Taxonomy, code: str) -> list[str]:
    """The codes from the root to this one."""
    return [*reversed(taxonomy.ancestors(code)), code]


def _above(
    taxonomy: Taxonomy, corpus: Corpus, statuses: Sequence[Fault], box: Callable[[str], _Box]
) -> list[tuple[Node, set[str]]]:
    """The boxes of faults in the order of their groups, each with its papers."""
    papers: dict[str, set[str]] = {}
    for code, coded in corpus.papers_by_fault.items():
        for leaf in taxonomy.leaves_of(code) if code in taxonomy else (code,):
            papers.setdefault(box(leaf).key, set()).update(coded)
    boxes: dict[str, _Box] = {}
    counts: dict[str, dict[str, int]] = {}
    for fault in statuses:
        each = box(fault.code)
        boxes.setdefault(each.key, each)
        of = counts.setdefault(each.key, dict.fromkeys(STATUSES, 0))
        of[fault.status] += 1
    groups = list(dict.fromkeys(each.group for each in boxes.values()))
    ordered = sorted(boxes.values(), key=lambda each: groups.index(each.group))
    return [
        _node(
            each,
            papers.get(each.key, set()),
            (Part(status.capitalize(), n) for status, n in counts[each.key].items() if n),
        )
        for each in ordered
    ]


def _below(
    taxonomy: Taxonomy, corpus: Corpus, box: Callable[[str], _Box]
) -> list[tuple[Node, set[str]]]:
    """The boxes of techniques that papers use, in the order of their taxonomy."""
    boxes: dict[str, _Box] = {}
    papers: dict[str, set[str]] = {}
    used: Mapping[str, tuple[str, ...]] = corpus.papers_by_technique
    for node in taxonomy.nodes:
        if node.code in used:
            each = box(node.code)
            boxes.setdefault(each.key, each)
            papers.setdefault(each.key, set()).update(used[node.code])
    groups = list(dict.fromkeys(each.group for each in boxes.values()))
    ordered = sorted(boxes.values(), key=lambda each: groups.index(each.group))
    return [_node(each, papers[each.key]) for each in ordered]


def _node(box: _Box, papers: set[str], parts: Iterable[Part] = ()) -> tuple[Node, set[str]]:
    return Node(box.key, box.label, box.group, len(papers), tuple(parts)), papers


def _figure(
    name: str, how: str, above: list[tuple[Node, set[str]]], below: list[tuple[Node, set[str]]]
) -> Figure:
    links = tuple(
        Link(fault.key, technique.key, len(papers & using))
        for fault, papers in above
        for technique, using in below
        if papers & using
    )
    labels = {node.key: node.label for node, _papers in (*above, *below)}
    linked = {link.above for link in links}
    bare = [node.label for node, _papers in above if node.key not in linked]
    strong = sorted(links, key=lambda link: -link.weight)[:_TOLD_LINKS]
    told = "; ".join(
        f"{labels[each.above]} and {labels[each.below]} {each.weight}" for each in strong
    )
    return Figure(
        name,
        f"Faults and the techniques that address them, {how}",
        "alignment",
        "Faults above, split by status; techniques below; a line where papers use the technique on "
        f"the fault, the thicker the more papers. Most papers: {told or 'none'}. No line leads to: "
        f"{', '.join(bare) or 'none'}.",
        unit="papers",
        above=tuple(node for node, _papers in above),
        below=tuple(node for node, _papers in below),
        links=links,
    )
