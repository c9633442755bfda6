"""Two versions of a taxonomy compared: what differs, what is said of it, what it touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.taxonomies.mentions import stale_mentions
from faultatlas.annotation.taxonomies.outcomes import current_answers, current_decisions, follow
from faultatlas.annotation.taxonomies.relabelling import is_later
from faultatlas.annotation.taxonomies.versions import Versions, refuse_other_tree
from faultatlas.annotation.taxonomies.view import taxonomy_codes_below
from faultatlas.data.config_files import Problem
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.data.old.taxonomy_revisions import (
    Difference,
    block,
    differences,
    proposed,
    revision_problems,
)
from faultatlas.data.taxonomy import Change, Revision, Taxonomy
from faultatlas.data.taxonomy_changes import ENDED, Alternatives, Step, decided
from faultatlas.data.taxonomy_library import TaxonomyLibrary

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.data.study import Reader

_LONGEST = 60  # characters of a text in the table of differences


@dataclass(frozen=True)
class Comparison:
    """What differs between two versions, and what the changes do to labels."""

    old: Taxonomy
    new: Taxonomy
    differences: tuple[Difference, ...]
    revision: Revision
    is_declared: bool
    problems: tuple[Problem, ...]
    touched: Counter[tuple[str, str, str]]  # (round, raters or final, code of the old version)

    @property
    def block(self) -> str:
        """The changes as the file says them, or as it may."""
        return block(self.revision)

    @property
    def notes(self) -> list[str]:
        """Texts that should be looked at."""
        return [*stale_mentions(self.old, self.new)]

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "taxonomy": self.new.name,
            "from_version": self.old.version,
            "to_version": self.new.version,
            "differences": [vars(each) for each in self.differences],
            "declared": self.is_declared,
            "changes": self._changes(),
            "block": "" if self.is_declared else self.block,
            "problems": [f"{each.line}: {each.text}" for each in self.problems],
            "notes": self.notes,
        }

    def _changes(self) -> list[dict[str, Any]]:
        ways = Step(self.old, self.new, self.revision).forward
        rows = []
        for change in self.revision.changes:
            if not (change.old or change.new):
                continue
            codes = self._moved(change, ways) if change.kind == "move" else list(change.old)
            labels = [
                {"round": name, "labels": kind, "count": count}
                for (name, kind), count in self._count(codes).items()
            ]
            rows.append(
                {"kind": change.kind, "old": list(change.old), "new": list(change.new),
                 "reason": change.reason, "outcome": _outcome(change, ways), "touches": labels}
            )  # fmt: skip
        return rows

    def _moved(self, change: Change, ways: Mapping[str, Alternatives]) -> list[str]:
        """The old codes whose labels are below another category now."""
        below = {code for each in change.new for code in taxonomy_codes_below(self.new, each)}
        return [code for code, led in ways.items() if below & (led or frozenset())]

    def _count(self, codes: list[str]) -> dict[tuple[str, str], int]:
        counts: Counter[tuple[str, str]] = Counter()
        for (name, kind, code), count in self.touched.items():
            if code in codes:
                counts[name, kind] += count
        return dict(sorted(counts.items()))

    def tables(self) -> tuple[Table, Table]:
        """The differences, and the changes with what they touch."""
        different = (
            Column("kind", "What", "status"),
            Column("code", "Code", "code"),
            Column("before", f"In {self.old.version}"),
            Column("after", f"In {self.new.version}"),
        )
        rows = [
            {**vars(each), "before": _short(each.before), "after": _short(each.after)}
            for each in self.differences
        ]
        changed = (
            Column("kind", "Change", "status"),
            Column("old", "From", "code"),
            Column("new", "To", "code"),
            Column("outcome", "Labels are"),
            Column("touches", "Touches"),
        )
        said = "Changes that the file declares" if self.is_declared else "Changes, as proposed"
        title = f"{self.new.name}: from {self.old.version} to {self.new.version}"
        return (
            Table("differences", title, different, rows_of(different, rows)),
            Table("changes", said, changed, rows_of(changed, map(_flat, self._changes()))),
        )


def compare(
    reader: Reader | None, directory: Path, name: str, old: str | None, new: str | None
) -> Comparison:
    """Compare two versions; without any, the highest with the one that it was made of."""
    versions = _known(reader, directory, name)
    after = versions.taxonomy(new) if new else versions.newest
    start = old or versions.before(after.version)
    if start is None:
        raise StudyError(
            f"there is no earlier version of {name} than {after.version}",
            f"Copy it into the study and change it there: annotation taxonomy copy {name}"
            if TaxonomyLibrary(directory).is_shipped(name)
            else f"Change the file ({after.path}), raise its version, and ask again.",
        )
    before = versions.taxonomy(start)
    declared = [
        each
        for each in versions.revisions
        if (each.from_version, each.to_version) == (before.version, after.version)
    ]
    revision = declared[0] if declared else proposed(before, after)
    problems = revision_problems(before, after, revision) if declared else []
    problems += [each for _path, each in versions.contradictions(before.version, after.version)]
    touched: Counter[tuple[str, str, str]] = Counter()
    if reader is not None:
        touched = _touched(reader, versions, before.version)
    return Comparison(
        before, after, tuple(differences(before, after)), revision,
        bool(declared) or before.version == after.version,
        tuple(problems), touched,
    )  # fmt: skip


def _known(reader: Reader | None, directory: Path, name: str) -> Versions:
    library = TaxonomyLibrary(directory)
    if reader is None:
        on_disk = library.versions(name) or (library.taxonomy(name),)
        return Versions(name, {each.version: each for each in on_disk}, ())
    versions = Versions.known(reader, directory, name)
    for file in library.versions(name):
        refuse_other_tree(file, versions.texts[file.version])
    return versions


def _leads(versions: Versions, start: str, end: str) -> bool:
    try:
        versions.way(start, end)
    except StudyError:
        return False
    return True


def _touched(reader: Reader, versions: Versions, version: str) -> Counter[tuple[str, str, str]]:
    """How often each code of a version stands in labels, earlier ones carried there.

    What was said again in a later version is not touched any more.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for kind, found in (
        ("raters", current_answers(reader, versions.name)),
        ("final", current_decisions(reader, versions.name)),
    ):
        later = {said.place for said in found if is_later(said.version, version)}
        near = [
            said
            for said in found
            if said.place not in later and _leads(versions, said.version, version)
        ]
        for each in follow(versions, near, version):
            if each.outcome == "carried":
                for code in decided(each.alternatives) or ():
                    counts[each.said.round, kind, code] += 1
    return counts


def _outcome(change: Change, ways: Any) -> str:
    if change.kind == "add":
        return ""
    if change.kind == "move":
        return "carried"
    led: list[Alternatives] = [ways.get(code) for code in change.old]
    if any(decided(each) is None for each in led):
        return "to be given again"
    return "ended" if change.new == (ENDED,) else "carried"


def _flat(change: dict[str, Any]) -> dict[str, Any]:
    touches = [f"{each['count']:,} {_whose(each)}" for each in change["touches"]]
    return {
        **change,
        "old": ", ".join(change["old"]) or None,
        "new": ", ".join(filter(None, change["new"])) or None,
        "touches": "; ".join(touches) or None,
    }


def _whose(touch: dict[str, Any]) -> str:
    return f"{'final ' if touch['labels'] == 'final' else ''}in {touch['round']}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
