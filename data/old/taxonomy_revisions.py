"""Two versions of a taxonomy side by side: what differs, and whether that is explained.

What is not explained is a problem that says which line to write; `proposed` writes all of
them, as far as the trees tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from faultatlas.data.config_files import Problem
from faultatlas.data.taxonomy import Change, Revision, Taxonomy, folded
from faultatlas.data.taxonomy_changes import ENDED, Alternatives, Step, fates

_CODED = ("rename", "merge", "split", "retire")  # they say what became of an old code


@dataclass(frozen=True)
class Difference:
    """Something that is another thing in the other version."""

    kind: str  # renamed, moved, added, removed, texts
    code: str
    before: str
    after: str


def differences(old: Taxonomy, new: Taxonomy) -> list[Difference]:
    """What differs: names, parents and texts of codes in both; codes in one of them only."""
    found = []
    for node in new.nodes:
        if node.code not in old:
            found.append(Difference("added", node.code, "", node.name))
            continue
        was = old.node(node.code)
        if was.name != node.name:
            found.append(Difference("renamed", node.code, was.name, node.name))
        if was.parent != node.parent:
            found.append(Difference("moved", node.code, was.parent, node.parent))
        for text, before, after in (
            ("definition", was.definition, node.definition),
            ("not", was.not_this, node.not_this),
            ("example", was.example, node.example),
        ):
            if before != after:
                found.append(Difference(text, node.code, before, after))
    removed = (node for node in old.nodes if node.code not in new)
    found.extend(Difference("removed", node.code, node.name, "") for node in removed)
    return found


def revision_problems(old: Taxonomy, new: Taxonomy, revision: Revision) -> list[Problem]:
    """What is wrong with the changes between two versions, and what they leave unsaid."""
    problems = [*_wrong(old, new, revision)]
    if not problems:  # what is wrong would be told again as unexplained
        problems = [*_unexplained(old, new, revision)]
    return problems


def _wrong(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Problem]:
    if (old.choice, new.choice) == ("multiple", "single"):
        yield Problem(
            revision.line,
            f"choice was multiple in {old.version}: items that have several codes could not be "
            "carried; it must stay",
        )
    said: dict[str, int] = {}
    for change in revision.changes:
        what = f"{change.kind} {', '.join(change.old or change.new)}"
        known_old = new if change.kind == "move" else old
        for code in change.old:
            if code not in known_old:
                yield Problem(change.line, f"{what}: {known_old.version} has no code {code}")
            if change.kind in _CODED:
                if code in said:
                    line = f", first on line {said[code]}"
                    yield Problem(change.line, f"{what}: {code} is spoken of twice{line}")
                said[code] = change.line
        for code in change.new:
            if code and not code.startswith("~") and code not in new:
                yield Problem(change.line, f"{what}: {new.version} has no code {code}")
    yield from _wrong_kinds(old, new, revision)


def _wrong_kinds(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Problem]:
    step = Step(old, new, revision)
    for change in revision.changes:
        what = f"{change.kind} {', '.join(change.old or change.new)}"
        complaint = None
        if change.kind == "rename":
            complaint = _wrong_rename(step, *change.old, *change.new)
        elif change.kind == "move" and change.under is not None and change.new[0] in new:
            complaint = _wrong_move(step, change.new[0], change.under)
        elif change.kind == "add":
            known = [code for code in change.new if code in old]
            complaint = f"{old.version} has {', '.join(known)} already" if known else None
        if complaint:
            yield Problem(change.line, f"{what}: {complaint}")


def _wrong_rename(step: Step, code: str, target: str) -> str | None:
    others = [each for each, led in step.forward.items() if target in (led or ()) and each != code]
    if others:
        return f"{', '.join(others)} leads to {target} as well; say merge"
    if code == target and code in step.old and code in step.new:
        is_same = step.old.node(code).name == step.new.node(code).name
        return "code and name are what they were" if is_same else None
    return None


def _wrong_move(step: Step, code: str, under: str) -> str | None:
    parent = step.new.node(code).parent
    stands = f"under {parent}" if parent else "at the top"
    if parent != under:
        return f"in {step.new.version} it stands {stands}"
    if code in step.old and step.old.node(code).parent == parent:
        return f"it stood {stands} before"
    return None


def _unexplained(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Problem]:
    here = revision.line
    for change in missing_changes(old, new, revision):
        yield Problem(here, f"{_cause(change, old, new)}; add the step `{flow(change)}`")
    declared = fates(revision)
    chosen = {node.code for node in new.selectable}
    for node in old.selectable:
        led = declared.get(node.code)
        lost = sorted(each for each in led or () if each in new and each not in chosen)
        if lost:
            yield Problem(
                here, f"code {node.code}: {lost[0]} has codes below it and cannot be chosen"
            )


def _cause(change: Change, old: Taxonomy, new: Taxonomy) -> str:
    code = (change.old or change.new)[0]
    if change.kind == "rename":
        if code in new:
            return f"code {code}: was called {old.node(code).name!r}, now {new.node(code).name!r}"
        return f"code {code}: gone, and {change.new[0]} has its name"
    if change.kind == "move":
        return f"code {code}: stands under {new.node(code).parent or 'nothing'}, as it did not"
    if change.kind == "add":
        return f"new: {', '.join(change.new)}"
    if code in new:
        return f"code {code}: cannot be chosen any more"
    return f"code {code}: gone (`to: CODE` carries its labels, `to: []` ends them)"


def missing_changes(old: Taxonomy, new: Taxonomy, revision: Revision) -> list[Change]:
    """The steps that a revision lacks, as far as the trees tell what they are.

    A code that is gone while a new one has its name was renamed. One that cannot be chosen any
    more was split into what is below it, and so was one that is gone while several new ones
    begin with it. Codes that stood below one that can now be chosen were merged into it. Any
    other that is gone was retired, and its labels wait.
    """
    found = [*_missing_fates(old, new, revision)]
    whole = Revision(revision.from_version, revision.to_version, (*revision.changes, *found))
    found += _missing_names(old, new, whole)
    whole = Revision(revision.from_version, revision.to_version, (*revision.changes, *found))
    found += _missing_moves(old, new, whole)
    fresh = _fresh(old, new, whole)
    added = tuple(node.code for node in new.nodes if node.code in fresh)
    if added:
        found.append(Change("add", (), added))
    return found


def _missing_fates(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Change]:
    declared = fates(revision)
    is_chosen = {node.code for node in new.selectable}
    fresh = _fresh(old, new, revision)
    merged: dict[str, list[str]] = {}
    for node in old.nodes:
        if node.code in declared:
            continue
        if node.code not in new:
            parts = _beginning(node.code, fresh & is_chosen)
            renamed = _of_name(new, node.name, fresh)
            if renamed and (renamed in is_chosen or not _is_chosen(old, node.code)):
                fresh -= {renamed}
                yield Change("rename", (node.code,), (renamed,))
            elif len(parts) > 1:
                yield Change("split", (node.code,), parts)
            elif node.parent in is_chosen and not _is_chosen(old, node.parent):
                merged.setdefault(node.parent, []).append(node.code)
            else:
                yield Change("retire", (node.code,), ())
        elif _is_chosen(old, node.code) and node.code not in is_chosen:
            parts = tuple(each for each in new.leaves_of(node.code) if each in is_chosen)
            # One part only: everything that was above is now in it.
            yield Change("split" if len(parts) > 1 else "retire", (node.code,), parts)
    for parent, codes in merged.items():
        yield Change("merge", tuple(codes), (parent,))


def _fresh(old: Taxonomy, new: Taxonomy, revision: Revision) -> set[str]:
    """New codes that nothing is said of."""
    led = {code for each in fates(revision).values() for code in each or ()}
    added = {code for each in revision.changes if each.kind == "add" for code in each.new}
    return {node.code for node in new.nodes if node.code not in old} - led - added


def _of_name(taxonomy: Taxonomy, name: str, among: AbstractSet[str]) -> str | None:
    wanted = folded(name)
    found = (node.code for node in taxonomy.nodes if folded(node.name) == wanted)
    return next((code for code in found if code in among), None)


def _beginning(code: str, among: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(sorted(each for each in among if each.startswith(code)))


def _is_chosen(taxonomy: Taxonomy, code: str) -> bool:
    return code in taxonomy and (taxonomy.select == "any" or taxonomy.is_leaf(code))


def _missing_names(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Change]:
    declared = fates(revision)
    for node in old.nodes:
        if node.code in new and node.code not in declared and new.node(node.code).name != node.name:
            yield Change("rename", (node.code,), (node.code,))


def _missing_moves(old: Taxonomy, new: Taxonomy, revision: Revision) -> Iterator[Change]:
    """Codes that are the same thing, under a parent that is not what became of their parent."""
    ways = Step(old, new, revision).forward
    moved = {code for each in revision.changes if each.kind == "move" for code in each.new}
    renamed = {
        each.new[0]: each.old[0] for each in revision.changes if each.kind == "rename"
    }  # fmt: skip
    declared = fates(revision)
    for node in new.nodes:
        origin = renamed.get(node.code, node.code)
        same = node.code in renamed or (node.code in old and node.code not in declared)
        if not same or node.code in moved:
            continue
        parent = old.node(origin).parent
        if node.parent not in _places(parent, ways, new):
            yield Change("move", (node.code,), (node.code,), under=node.parent)


def _places(parent: str, ways: Mapping[str, Alternatives], new: Taxonomy) -> set[str]:
    """Where what stood under a code may stand without having been moved."""
    if not parent:
        return {""}
    return {*(ways.get(parent) or ()), *({parent} if parent in new else ())}


def flow(change: Change) -> str:
    """A step on one line, as it stands in a file."""
    listed = change.kind in {"merge", "add"}
    parts = [f"{change.kind}: {_several(change.old or change.new, listed=listed)}"]
    if change.kind == "move":
        parts.append(f"under: {_quoted(change.under or '')}")
    elif change.new == (ENDED,):
        parts.append("to: []")
    elif change.kind != "add" and change.new:
        parts.append(f"to: {_several(change.new, listed=change.kind == 'split')}")
    return f"{{{', '.join(parts)}}}"


def block(revision: Revision) -> str:
    """A revision as the lines of a taxonomy file."""
    lines = ["changes:", f'  - from: "{revision.from_version}"']
    if revision.changes:
        lines += ["    steps:", *(f"      - {flow(change)}" for change in revision.changes)]
    else:
        lines.append("    steps: []")
    return "\n".join(lines)


def proposed(old: Taxonomy, new: Taxonomy) -> Revision:
    """The changes between two versions as far as the trees tell; a person has to check them."""
    empty = Revision(old.version, new.version, ())
    return Revision(old.version, new.version, tuple(missing_changes(old, new, empty)))


def _several(codes: Sequence[str], *, listed: bool) -> str:
    quoted = [_quoted(code) for code in codes]
    return f"[{', '.join(quoted)}]" if listed or len(quoted) != 1 else quoted[0]


def _quoted(code: str) -> str:
    return f'"{code}"'
