"""Taxonomies on the terminal and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from data.taxonomy import Node, Taxonomy
from data.taxonomy_library import TaxonomyLibrary


def list_table(library: TaxonomyLibrary) -> Table:
    """All taxonomies and crosswalks, a line each."""
    table = Table(title="Taxonomies", title_justify="left")
    table.add_column("Name", no_wrap=True)
    table.add_column("Version")
    table.add_column("Nodes", justify="right")
    table.add_column("Leaves", justify="right")
    table.add_column("Choice")
    table.add_column("Title")
    for name in library.names:
        each = library.taxonomy(name)
        table.add_row(
            each.name, each.version, f"{len(each.nodes):,}", f"{len(each.leaves):,}", each.choice,
            each.title,
        )  # fmt: skip
    return table


def crosswalk_table(library: TaxonomyLibrary) -> Table:
    """All crosswalks, a line each."""
    table = Table(title="Crosswalks", title_justify="left")
    table.add_column("Name", no_wrap=True)
    table.add_column("Version")
    table.add_column("Codes", justify="right")
    table.add_column("Without counterpart", justify="right")
    for name in library.crosswalk_names:
        each = library.crosswalk_named(name)
        none = sum(pair.relation == "none" for pair in each.pairs)
        table.add_row(each.name, each.version, f"{len(each.pairs):,}", f"{none:,}")
    return table


def list_document(library: TaxonomyLibrary) -> dict[str, Any]:
    """What `list_table` and `crosswalk_table` show, as plain values."""
    taxonomies = [library.taxonomy(name) for name in library.names]
    crosswalks = [library.crosswalk_named(name) for name in library.crosswalk_names]
    return {
        "taxonomies": [
            {
                "name": each.name,
                "version": each.version,
                "title": each.title,
                "choice": each.choice,
                "nodes": len(each.nodes),
                "leaves": len(each.leaves),
            }
            for each in taxonomies
        ],
        "crosswalks": [
            {
                "name": each.name,
                "version": each.version,
                "codes": len(each.pairs),
                "without_counterpart": sum(pair.relation == "none" for pair in each.pairs),
            }
            for each in crosswalks
        ],
    }


def tree(taxonomy: Taxonomy, code: str, *, definitions: bool) -> Tree:
    """A taxonomy, or what is below one of its codes, as a tree."""
    if code:
        root = Tree(_label(taxonomy.node(code), definitions=definitions))
    else:
        root = Tree(Text(f"{taxonomy.name} {taxonomy.version}: {taxonomy.title}", style="bold"))
    _grow(root, taxonomy, code, definitions=definitions)
    return root


def document(taxonomy: Taxonomy, code: str) -> dict[str, Any]:
    """A taxonomy, or what is below one of its codes, as plain values."""
    wanted = set(taxonomy_codes_below(taxonomy, code))
    nodes = []
    for node in taxonomy.nodes:
        if node.code in wanted:
            fields = asdict(node)
            fields["not"] = fields.pop("not_this")
            del fields["line"]
            nodes.append(fields)
    return {
        "taxonomy": taxonomy.name,
        "version": taxonomy.version,
        "title": taxonomy.title,
        "source": taxonomy.source,
        "choice": taxonomy.choice,
        "select": taxonomy.select,
        "question": taxonomy.question,
        "nodes": nodes,
    }


def taxonomy_codes_below(taxonomy: Taxonomy, code: str) -> list[str]:
    """A code and all below it; of "" all codes."""
    if code:
        taxonomy.node(code)  # an unknown code is refused
    below = [each for child in taxonomy.children(code) for each in
             taxonomy_codes_below(taxonomy, child.code)]  # fmt: skip
    return [code, *below] if code else below


def _grow(branch: Tree, taxonomy: Taxonomy, code: str, *, definitions: bool) -> None:
    for child in taxonomy.children(code):
        twig = branch.add(_label(child, definitions=definitions))
        _grow(twig, taxonomy, child.code, definitions=definitions)


def _label(node: Node, *, definitions: bool) -> Text:
    text = Text.assemble((node.code, "cyan"), " ", node.name)
    if definitions:
        text.append(f"\n{node.definition}")
        text.append(f"\nNot: {node.not_this}", style="dim")
        if node.example:
            text.append(f"\nExample: {node.example}", style="italic")
    return text
