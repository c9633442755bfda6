"""The format of taxonomy and crosswalk files: fields, and what is wrong with them.

Only a file by itself is judged here; `faultatlas.data.taxonomy_library` finds the files and checks
crosswalks against the taxonomies that they join.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faultatlas.data.taxonomy import Crosswalk, Node, Pair, Taxonomy, folded
from faultatlas.data.taxonomy_change_files import CODE, VERSION, VERSION_MEANING, read_revisions
from faultatlas.data.yaml_fields import Fields
from faultatlas.data.yaml_lines import Mapping, Problem, UnreadableYamlError, load

CHOICES = ("single", "multiple")
SELECTS = ("leaves", "any")
RELATIONS = ("exact", "narrower", "broader", "related", "none")

_NAME = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*$")

_TAXONOMY_KEYS = ("taxonomy", "version", "title", "source", "choice", "select", "question", "nodes")
_NODE_KEYS = ("code", "name", "definition", "not")
_NODE_OPTIONS = ("parent", "example", "aliases")
_CROSSWALK_KEYS = (
    "crosswalk", "version", "from", "from_version", "to", "to_version", "source", "pairs",
)  # fmt: skip
_PAIR_KEYS = ("from", "to", "relation", "basis")
_DEEPEST = 50  # levels; ours have four, and whoever walks the tree may recurse
_SHOWN = 10  # codes at either end of a long cycle


def read_taxonomy(
    path: Path, content: bytes | None = None
) -> tuple[Taxonomy | None, list[Problem]]:
    """The file's content, and everything that is wrong with it."""
    top, problems = _top(path, content)
    if top is None:
        return None, problems
    fields = Fields(top, problems)
    fields.expect(_TAXONOMY_KEYS, ("changes",))
    name = fields.matching("taxonomy", _NAME, "a name of lower-case words joined by -")
    if name and name != path.stem:
        fields.complain(f"taxonomy {name!r} must be in a file {name}.yaml", "taxonomy")
    nodes = tuple(_node(entry, problems) for entry in fields.entries("nodes"))
    problems.extend(_tree_problems(nodes))
    version = fields.matching("version", VERSION, VERSION_MEANING)
    taxonomy = Taxonomy(
        name=name,
        version=version,
        title=fields.text("title"),
        source=fields.text("source"),
        choice=fields.one_of("choice", CHOICES),
        select=fields.one_of("select", SELECTS),
        question=fields.text("question"),
        nodes=nodes,
        path=path,
        revisions=read_revisions(fields, version) if "changes" in top.values else (),
    )
    problems.extend(_spelling_problems(taxonomy))
    return taxonomy, problems


def read_crosswalk(path: Path) -> tuple[Crosswalk | None, list[Problem]]:
    """The file's content, and everything that is wrong with it but for its codes."""
    top, problems = _top(path)
    if top is None:
        return None, problems
    fields = Fields(top, problems)
    fields.expect(_CROSSWALK_KEYS)
    name = fields.text("crosswalk")
    source, target = fields.text("from"), fields.text("to")
    if name and not (name == path.stem == f"{source}--{target}"):
        fields.complain(f"must be called {source}--{target}, as the file and in it", "crosswalk")
    pairs = tuple(_pair(entry, problems) for entry in fields.entries("pairs"))
    problems.extend(_repeated((pair.code, pair.line) for pair in pairs))
    content = Crosswalk(
        name=name,
        version=fields.matching("version", VERSION, VERSION_MEANING),
        source_taxonomy=source,
        source_version=fields.text("from_version"),
        target_taxonomy=target,
        target_version=fields.text("to_version"),
        source=fields.text("source"),
        pairs=pairs,
        path=path,
    )
    return content, problems


def _top(path: Path, content: bytes | None = None) -> tuple[Mapping | None, list[Problem]]:
    try:
        value: Any = load(path, content)
    except UnreadableYamlError as error:
        return None, list(error.problems)
    if not isinstance(value, Mapping):
        return None, [Problem(1, "must be a YAML mapping with keys such as version and source")]
    return value, []


def _node(entry: Mapping, problems: list[Problem]) -> Node:
    fields = Fields(entry, problems, _called(entry, "code"))
    fields.expect(_NODE_KEYS, _NODE_OPTIONS)
    return Node(
        code=fields.matching("code", CODE, "letters, digits, dots and dashes"),
        name=fields.text("name"),
        parent=fields.text("parent", required=False),
        definition=fields.text("definition"),
        not_this=fields.text("not"),
        example=fields.text("example", required=False),
        aliases=fields.texts("aliases"),
        line=entry.line,
    )


def _pair(entry: Mapping, problems: list[Problem]) -> Pair:
    fields = Fields(entry, problems, _called(entry, "from"))
    fields.expect(_PAIR_KEYS)
    pair = Pair(
        code=fields.text("from"),
        targets=fields.texts("to"),
        relation=fields.one_of("relation", RELATIONS),
        basis=fields.text("basis"),
        line=entry.line,
    )
    if (pair.relation == "none") != (not pair.targets):
        fields.complain("`relation: none` goes with `to: []`, and the other way round", "relation")
    return pair


def _called(entry: Mapping, key: str) -> str:
    code = " ".join(entry.written.get(key, "").split())
    return f"code {code}" if code else ""


def _repeated(codes: Iterable[tuple[str, int]]) -> Iterable[Problem]:
    first: dict[str, int] = {}
    for code, line in codes:
        if code in first:
            yield Problem(line, f"code {code}: stands twice, first on line {first[code]}")
        elif code:
            first[code] = line


def _spelling_problems(taxonomy: Taxonomy) -> Iterable[Problem]:
    """Spellings that mean two nodes: a sheet's text would silently go to the first."""
    first: dict[str, Node] = {}
    for node in taxonomy.selectable:
        spellings = {folded(text): text for text in (*node.aliases, node.name)}
        for spelling, text in spellings.items():
            other = first.setdefault(spelling, node)
            if spelling and other.code != node.code:
                yield _about(node, f"{text!r} is also a name of {other.code}, on line {other.line}")


def _tree_problems(nodes: tuple[Node, ...]) -> Iterable[Problem]:
    yield from _repeated((node.code, node.line) for node in nodes)
    positions: dict[str, int] = {}
    for position, node in enumerate(nodes):
        if node.code:
            positions.setdefault(node.code, position)
    parents = {code: nodes[position].parent for code, position in positions.items()}
    depths, circles = _depths(parents)
    for circle in circles:
        start = min(circle, key=positions.__getitem__)
        turn = circle.index(start)
        way = " -> ".join(_shortened([*circle[turn:], *circle[:turn], start]))
        yield _about(nodes[positions[start]], f"cycle {way}")
    for position, node in enumerate(nodes):
        parent = node.parent
        if parent and parent not in positions:
            yield _about(node, f"unknown parent {parent}")
        # What hangs on a circle has no depth; the circle is told, and its order means nothing.
        elif parent in depths and positions[parent] > position:
            line = nodes[positions[parent]].line
            yield _about(node, f"its parent {parent} must stand above it, not on line {line}")
        if depths.get(node.code) == _DEEPEST + 1:  # once a branch, not again further down
            yield _about(node, f"more than {_DEEPEST} levels deep")


def _depths(parents: dict[str, str]) -> tuple[dict[str, int], list[list[str]]]:
    """The depth of every code that has one (a root: 1), and the circles, each once.

    Every code is walked over once: a walk ends where an earlier one has been.
    """
    depths: dict[str, int] = {}
    circles: list[list[str]] = []
    endless: set[str] = set()  # on a circle or leading into one
    for start in parents:
        way: dict[str, int] = {}
        code = start
        while code in parents and code not in depths and code not in endless and code not in way:
            way[code] = len(way)
            code = parents[code]
        if code in way:
            circles.append(list(way)[way[code] :])
        if code in way or code in endless:
            endless.update(way)
        else:
            top = depths.get(code, 0)
            depths.update({each: top + len(way) - steps for each, steps in way.items()})
    return depths, circles


def _shortened(codes: list[str]) -> list[str]:
    return codes if len(codes) <= 2 * _SHOWN else [*codes[:_SHOWN], "...", *codes[-_SHOWN:]]


def _about(node: Node, text: str) -> Problem:
    return Problem(node.line, f"code {node.code}: {text}" if node.code else text)
