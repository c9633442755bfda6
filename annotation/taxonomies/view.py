"""Taxonomies and crosswalks on the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, TypeVar

from rich.text import Text
from rich.tree import Tree

from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.data.taxonomy import Node, Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary

Kind = TypeVar("Kind")
_NAME = Column("name", "Name", "code")  # never broken: it is typed again


def list_document(library: TaxonomyLibrary) -> dict[str, Any]:
    """All taxonomies and crosswalks, as plain values; of wrong files, what is wrong."""
    problems: list[StudyError] = []
    taxonomies = [*_right(library.taxonomy, library.names, problems)]
    crosswalks = [*_right(library.crosswalk_named, library.crosswalk_names, problems)]
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
        "problems": [{"problem": each.message, "next": each.hint} for each in problems],
    }


def refuse_listed(listed: dict[str, Any]) -> None:
    """A StudyError with every wrong file that `list_document` came across."""
    problems = listed["problems"]
    if problems:
        hints = dict.fromkeys(each["next"] for each in problems)
        raise StudyError("\n".join(each["problem"] for each in problems), "\n".join(hints))


def _right(
    load: Callable[[str], Kind], names: Iterable[str], problems: list[StudyError]
) -> Iterator[Kind]:
    for name in names:
        try:
            yield load(name)
        except StudyError as error:
            problems.append(error)


def list_tables(listed: dict[str, Any]) -> tuple[Table, Table]:
    """What `list_document` gave, for a person: the taxonomies and the crosswalks."""
    taxonomies = (
        _NAME,
        Column("version", "Version", "code"),
        Column("nodes", "Nodes", "count"),
        Column("leaves", "Leaves", "count"),
        Column("choice", "Choice"),
        Column("title", "Title"),
    )
    crosswalks = (
        _NAME,
        Column("version", "Version", "code"),
        Column("codes", "Codes", "count"),
        Column("without_counterpart", "Without counterpart", "count"),
    )
    return (
        _table("taxonomies", "Taxonomies", taxonomies, listed["taxonomies"]),
        _table("crosswalks", "Crosswalks", crosswalks, listed["crosswalks"]),
    )


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


def crosswalk_document(library: TaxonomyLibrary, name: str, code: str) -> dict[str, Any]:
    """A crosswalk, or what it says of the codes at or below one, as plain values."""
    crosswalk = library.crosswalk_named(name)
    source = library.taxonomy(crosswalk.source_taxonomy)
    target = library.taxonomy(crosswalk.target_taxonomy)
    wanted = set(taxonomy_codes_below(source, code))
    return {
        "crosswalk": crosswalk.name,
        "version": crosswalk.version,
        "from": source.name,
        "from_version": source.version,
        "to": target.name,
        "to_version": target.version,
        "source": crosswalk.source,
        "pairs": [
            {
                "from": pair.code,
                "name": source.node(pair.code).name,
                "to": [{"code": each, "name": target.node(each).name} for each in pair.targets],
                "relation": pair.relation,
                "basis": pair.basis,
            }
            for pair in crosswalk.pairs
            if pair.code in wanted
        ],
    }


def crosswalk_table(shown: dict[str, Any], *, basis: bool) -> Table:
    """What `crosswalk_document` gave, for a person."""
    columns = [
        Column("from", "Code", "code"),
        Column("name", "Name"),
        Column("to", "Counterparts"),
        Column("relation", "Relation", "status"),
        Column("basis", "Basis"),
    ]
    rows = [
        {**pair, "to": "; ".join(f"{each['code']} {each['name']}" for each in pair["to"]) or None}
        for pair in shown["pairs"]
    ]
    title = f"{shown['crosswalk']} {shown['version']}: from {shown['from']} to {shown['to']}"
    return _table("crosswalk", title, tuple(columns if basis else columns[:-1]), rows)


def taxonomy_codes_below(taxonomy: Taxonomy, code: str) -> list[str]:
    """A code and all below it; of "" all codes."""
    if code:
        taxonomy.node(code)  # an unknown code is refused
    below = [each for child in taxonomy.children(code) for each in
             taxonomy_codes_below(taxonomy, child.code)]  # fmt: skip
    return [code, *below] if code else below


def _table(
    name: str, title: str, columns: tuple[Column, ...], rows: Iterable[dict[str, Any]]
) -> Table:
    return Table(name, title, columns, rows_of(columns, rows))


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
