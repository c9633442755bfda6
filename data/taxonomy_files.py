"""The format of taxonomy and crosswalk files: fields, and what is wrong with them.

Only a file by itself is judged here; `faultatlas.data.taxonomy_library` finds the files and checks
crosswalks against the taxonomies that they join.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faultatlas.data.config_files import Fields, Problem, Section, UnreadableYamlError, load
from faultatlas.data.taxonomy import Change, Crosswalk, Node, Pair, Revision, Taxonomy, folded
from faultatlas.data.taxonomy_changes import ENDED, KINDS, version_key

CHOICES = ("single", "multiple")
SELECTS = ("leaves", "any")
RELATIONS = ("exact", "narrower", "broader", "related", "none")

CODE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")
VERSION = re.compile(r"^\d+\.\d+\.\d+$")
VERSION_MEANING = "three numbers in quotes such as '1.0.0'"

_OPTIONS = ("to", "under", "reason")
_NO_CODE = ("~unclear", "~not-a-fault")  # answers that labels of a retired code can become
_ONE_OLD = {"rename", "move", "split", "retire"}
# How many codes `to` may name, and how that is told.
_TARGETS = {
    "rename": (1, 1, "`to` names one code"),
    "merge": (1, 1, "`to` names one code"),
    "split": (2, None, "`to` is a list of two codes or more"),
    "retire": (0, 1, "`to` names one code; several are a split"),
    "move": (0, 0, "it has no `to`, but `under`"),
    "add": (0, 0, "it has no `to`"),
}
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


def _top(path: Path, content: bytes | None = None) -> tuple[Section | None, list[Problem]]:
    try:
        value: Any = load(path, content)
    except UnreadableYamlError as error:
        return None, list(error.problems)
    if not isinstance(value, Section):
        return None, [Problem(1, "must be a YAML mapping with keys such as version and source")]
    return value, []


def _node(entry: Section, problems: list[Problem]) -> Node:
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


def _pair(entry: Section, problems: list[Problem]) -> Pair:
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


def _called(entry: Section, key: str) -> str:
    code = " ".join(entry.written.get(key, "").split())
    return f"code {code}" if code else ""


def _repeated(codes: Iterable[tuple[str, int]]) -> Iterable[Problem]:
    first: dict[str, int] = {}
    for code, line in codes:
        if code in first:
            yield Problem(line, f"code {code}: occurs twice, first on line {first[code]}")
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
            yield _about(node, f"its parent {parent} must come before it, not on line {line}")
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


# --- changes: how this version was made of earlier ones -------------------------------------


def read_revisions(fields: Fields, version: str) -> tuple[Revision, ...]:
    """The blocks of `changes`, each from one earlier version to this one."""
    found: dict[str, Revision] = {}
    for entry in fields.entries("changes"):
        block = Fields(entry, fields.problems, "changes")
        block.expect(("from", "steps"))
        start = block.matching("from", VERSION, VERSION_MEANING)
        if start and start in found:
            block.complain(f"from {start} occurs twice, first on line {found[start].line}", "from")
        both_are_versions = VERSION.match(start) and VERSION.match(version)
        if both_are_versions and version_key(start) >= version_key(version):
            block.complain(f"from {start}: version {version} must be higher; raise it", "from")
        # An empty list says that nothing but texts has changed.
        steps = block.entries("steps") if entry.values.get("steps") != [] else []
        changes = tuple(_change(each, fields.problems) for each in steps)
        found[start] = Revision(start, version, changes, entry.line)
    return tuple(found.values())


def _change(entry: Section, problems: list[Problem]) -> Change:
    kinds = [key for key in entry.values if key in KINDS]
    kind = kinds[0] if kinds else "add"
    fields = Fields(entry, problems, "changes")
    fields.expect(KINDS, _OPTIONS)
    if len(kinds) != 1:
        fields.complain(f"every step is one of {', '.join(KINDS)}")
    old, new = fields.codes(kind), fields.codes("to")
    _check(fields, kind, old, new)
    reason = fields.text("reason", required=False)
    under = fields.text("under", required=False) if kind == "move" else None
    if kind == "add":
        old, new = (), old
    elif kind == "move":
        new = old
    elif kind == "retire" and not new and "to" in entry.values:
        new = (ENDED,)
    return Change(kind, old, new, reason, entry.line, under)


def _check(fields: Fields, kind: str, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    what = f"{kind} {', '.join(old)}" if old else kind
    if not old or (kind in _ONE_OLD and len(old) != 1):
        wanted = "one code" if kind in _ONE_OLD else "codes"
        fields.complain(f"{what}: it names {wanted}", kind)
    fewest, most, meaning = _TARGETS[kind]
    if len(new) < fewest or (most is not None and len(new) > most):
        fields.complain(f"{what}: {meaning}", "to")
    if kind != "move" and "under" in fields.mapping.values:
        fields.complain(f"{what}: only move has `under`", "under")
    for code in (*old, *new):
        if not CODE.match(code) and not (kind == "retire" and code in _NO_CODE):
            fields.complain(f"{what}: {code!r} is no code", kind)
