"""Taxonomies and crosswalks as values: nodes, trees, and what means what.

Where they come from is `faultatlas.data.taxonomy_library`; how their files look and what can be
wrong with them is `faultatlas.data.taxonomy_files`; what a change does to labels is
`faultatlas.data.taxonomy_changes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from faultatlas.data.errors import StudyError

_INVERSE = {"exact": "exact", "narrower": "broader", "broader": "narrower", "related": "related"}


@dataclass(frozen=True)
class Node:
    """A node: what it is called, what it is, what it is not."""

    code: str
    name: str
    parent: str  # "" for a root
    definition: str
    not_this: str
    example: str
    aliases: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Change:
    """What became of codes in the next version. No new codes: it is not decided.

    Of a move both are the code as it is called in the next version. A retired code whose
    labels end leads to "".
    """

    kind: str  # rename, move, merge, split, retire, add
    old: tuple[str, ...]
    new: tuple[str, ...]
    reason: str = ""
    line: int = 1
    under: str | None = None  # of a move: the new parent


@dataclass(frozen=True)
class Revision:
    """How one version of a taxonomy became another."""

    from_version: str
    to_version: str
    changes: tuple[Change, ...]
    line: int = 1


@dataclass(frozen=True)
class Taxonomy:
    """A validated taxonomy. Nodes stand parent first, as in the file."""

    name: str
    version: str
    title: str
    source: str
    choice: str
    select: str
    question: str
    nodes: tuple[Node, ...]
    path: Path
    revisions: tuple[Revision, ...] = ()  # what earlier versions this one was made of, and how

    @cached_property
    def _by_code(self) -> dict[str, Node]:
        return {node.code: node for node in self.nodes}

    @cached_property
    def _children(self) -> dict[str, list[Node]]:
        children: dict[str, list[Node]] = {}
        for node in self.nodes:
            children.setdefault(node.parent, []).append(node)
        return children

    @cached_property
    def _by_spelling(self) -> dict[str, str]:
        spellings: dict[str, str] = {}
        chosen = {node.code for node in self.selectable}
        # Codes win over all; then the names and aliases of what a rater may choose, so that a
        # leaf is found although a category above it has the same name. First come, first kept.
        for node in self.nodes:
            spellings.setdefault(folded(node.code), node.code)
        selectable_first = sorted(self.nodes, key=lambda node: node.code not in chosen)
        for node in selectable_first:
            for text in (node.name, *node.aliases):
                spellings.setdefault(folded(text), node.code)
        return spellings

    def __contains__(self, code: str) -> bool:
        return code in self._by_code

    def node(self, code: str) -> Node:
        """The node of that code."""
        try:
            return self._by_code[code]
        except KeyError:
            raise StudyError(
                f"taxonomy {self.name} has no code {code!r}",
                f"Its codes: annotation taxonomy show {self.name}",
            ) from None

    def find(self, text: str) -> str | None:
        """The code that a sheet's text means: a code, a name or an alias, in any case."""
        return text if text in self else self._by_spelling.get(folded(text))

    def children(self, code: str = "") -> tuple[Node, ...]:
        """The children of a node; of "" the roots."""
        return tuple(self._children.get(code, ()))

    def is_leaf(self, code: str) -> bool:
        """Whether the node has no children."""
        return code not in self._children

    @cached_property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes without children."""
        return tuple(node for node in self.nodes if self.is_leaf(node.code))

    @cached_property
    def categories(self) -> tuple[Node, ...]:
        """The nodes with children."""
        return tuple(node for node in self.nodes if not self.is_leaf(node.code))

    @property
    def selectable(self) -> tuple[Node, ...]:
        """The nodes that a rater may choose."""
        return self.nodes if self.select == "any" else self.leaves

    def ancestors(self, code: str) -> tuple[str, ...]:
        """The codes above a node, nearest first."""
        found = []
        parent = self.node(code).parent
        while parent:
            found.append(parent)
            parent = self.node(parent).parent
        return tuple(found)

    def lineage(self, code: str) -> tuple[str, ...]:
        """From the root to a code; what is no code of the tree stands alone."""
        return (*reversed(self.ancestors(code)), code) if code in self else (code,)

    def leaves_of(self, code: str) -> tuple[str, ...]:
        """The leaves at or below a node."""
        if self.is_leaf(code):
            return (self.node(code).code,)
        return tuple(leaf for child in self.children(code) for leaf in self.leaves_of(child.code))


@dataclass(frozen=True)
class Pair:
    """What a crosswalk says of one code; no targets means: no counterpart."""

    code: str
    targets: tuple[str, ...]
    relation: str
    basis: str
    line: int


@dataclass(frozen=True)
class Crosswalk:
    """Which codes of one taxonomy mean which of another."""

    name: str
    version: str
    source_taxonomy: str
    source_version: str
    target_taxonomy: str
    target_version: str
    source: str
    pairs: tuple[Pair, ...]
    path: Path

    @cached_property
    def _by_code(self) -> dict[str, Pair]:
        return {pair.code: pair for pair in self.pairs}

    def pair(self, code: str) -> Pair | None:
        """What the crosswalk says of a code; None if it says nothing."""
        return self._by_code.get(code)

    def inverted(self, source_codes: Iterable[str]) -> Crosswalk:
        """The crosswalk read backwards, with a pair for each of the codes it now starts from.

        A code that several lead to keeps their relation if it is the same for all;
        otherwise it is "related".
        """
        leading: dict[str, list[Pair]] = {code: [] for code in source_codes}
        for pair in self.pairs:
            for target in dict.fromkeys(pair.targets):
                leading.setdefault(target, []).append(pair)
        return Crosswalk(
            name=f"{self.target_taxonomy}--{self.source_taxonomy}",
            version=self.version,
            source_taxonomy=self.target_taxonomy,
            source_version=self.target_version,
            target_taxonomy=self.source_taxonomy,
            target_version=self.source_version,
            source=f"The inverse of {self.name}. {self.source}",
            pairs=tuple(self._inverse(code, pairs) for code, pairs in leading.items()),
            path=self.path,
        )

    def _inverse(self, code: str, leading: list[Pair]) -> Pair:
        relations = {_INVERSE[pair.relation] for pair in leading}
        relation = relations.pop() if len(relations) == 1 else "related" if relations else "none"
        codes = "1 code" if len(leading) == 1 else f"{len(leading) or 'no'} codes"
        return Pair(
            code=code,
            targets=tuple(pair.code for pair in leading),
            relation=relation,
            basis=f"The inverse of {self.name}, which maps {codes} here.",
            line=leading[0].line if leading else 1,
        )


def folded(text: str) -> str:
    """A spelling without what raters are careless about: case, spaces, - and _."""
    return " ".join(text.replace("-", " ").replace("_", " ").split()).casefold()
