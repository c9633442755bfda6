"""The `changes` of a taxonomy file: how this version was made of earlier ones.

Only what a file says by itself is judged here; `data.taxonomy_revisions` holds it against
both versions.
"""

from __future__ import annotations

import re

from faultatlas.data.taxonomy import Change, Revision
from faultatlas.data.taxonomy_changes import ENDED, KINDS, version_key
from faultatlas.data.yaml_fields import Fields
from faultatlas.data.yaml_lines import Mapping, Problem

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


def read_revisions(fields: Fields, version: str) -> tuple[Revision, ...]:
    """The blocks of `changes`, each from one earlier version to this one."""
    found: dict[str, Revision] = {}
    for entry in fields.entries("changes"):
        block = Fields(entry, fields.problems, "changes")
        block.expect(("from", "steps"))
        start = block.matching("from", VERSION, VERSION_MEANING)
        if start and start in found:
            block.complain(f"from {start} stands twice, first on line {found[start].line}", "from")
        both_are_versions = VERSION.match(start) and VERSION.match(version)
        if both_are_versions and version_key(start) >= version_key(version):
            block.complain(f"from {start}: version {version} must be higher; raise it", "from")
        # An empty list says that nothing but texts has changed.
        steps = block.entries("steps") if entry.values.get("steps") != [] else []
        changes = tuple(_change(each, fields.problems) for each in steps)
        found[start] = Revision(start, version, changes, entry.line)
    return tuple(found.values())


def _change(entry: Mapping, problems: list[Problem]) -> Change:
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
