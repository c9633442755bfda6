"""The versions of a taxonomy that a study knows, and how labels are carried between them.

The text of every version that labels were given with is kept in the study; the file is the
newest. How one became the other stands in the file, and in the study once it was migrated.
Labels are never rewritten: they are carried where they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.config_files import Problem
from faultatlas.data.errors import StudyError
from faultatlas.data.old.taxonomy_revisions import revision_problems
from faultatlas.data.taxonomy import Change, Revision, Taxonomy
from faultatlas.data.taxonomy_changes import (
    Alternatives,
    Step,
    contradictions,
    decided,
    followed,
    version_key,
    way_between,
)
from faultatlas.data.taxonomy_library import TaxonomyLibrary, refusal, taxonomy_of_text

if TYPE_CHECKING:
    from faultatlas.annotation.ratings import Carry
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Versions:
    """All versions of one taxonomy that a study knows, and the steps between them."""

    name: str
    texts: Mapping[str, Taxonomy]  # by version
    recorded: tuple[Revision, ...]  # what a migration stored

    @classmethod
    def known(cls, reader: Reader, directory: Path, name: str) -> Versions:
        """Those of the study, of its folder and of the shipped taxonomies."""
        library = TaxonomyLibrary(directory)
        on_disk = {each.version: each for each in library.versions(name)}
        versions = cls._of(reader, name, on_disk)
        if not versions.texts:
            library.taxonomy(name)  # complains, and names those that there are
        return versions

    @classmethod
    def stored(cls, reader: Reader, name: str) -> Versions:
        """Those that the study itself keeps: the ones that were used or migrated to."""
        return cls._of(reader, name, {})

    @classmethod
    def _of(cls, reader: Reader, name: str, on_disk: Mapping[str, Taxonomy]) -> Versions:
        texts = dict(on_disk)
        rows = reader.rows(
            "SELECT version, text FROM store.taxonomy_text WHERE taxonomy = ?", [name]
        )
        for row in rows:
            kept = taxonomy_of_text(row["text"], name)
            file = on_disk.get(kept.version)
            # The file may say more of the way here than its text did when it was first used.
            texts[kept.version] = (
                replace(kept, revisions=file.revisions or kept.revisions, path=file.path)
                if file
                else kept
            )
        ordered = {version: texts[version] for version in sorted(texts, key=version_key)}
        return cls(name, ordered, _recorded(reader, name))

    @property
    def newest(self) -> Taxonomy:
        """The highest version."""
        return list(self.texts.values())[-1]

    def taxonomy(self, version: str) -> Taxonomy:
        """The taxonomy in that version; one that is not known is refused."""
        try:
            return self.texts[version]
        except KeyError:
            raise unknown_version(version, self.name, self.texts) from None

    def before(self, version: str) -> str | None:
        """The version that one was made of: as declared, else the next lower one."""
        starts = {each.from_version for each in self.revisions if each.to_version == version}
        lower = [each for each in self.texts if version_key(each) < version_key(version)]
        candidates = [each for each in lower if each in starts] or lower
        return candidates[-1] if candidates else None

    @cached_property
    def revisions(self) -> tuple[Revision, ...]:
        """All declared ways between known versions; what a migration stored wins."""
        found = {(each.from_version, each.to_version): each for each in self.recorded}
        for taxonomy in self.texts.values():
            for each in taxonomy.revisions:
                found.setdefault((each.from_version, each.to_version), each)
        return tuple(
            each
            for each in found.values()
            if each.from_version in self.texts and each.to_version in self.texts
        )

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        return tuple(
            Step(self.texts[each.from_version], self.texts[each.to_version], each)
            for each in self.revisions
        )

    def way(self, start: str, end: str) -> list[Mapping[str, Alternatives]]:
        """What leads from one version to another, each step held against both of its versions.

        Where nothing leads there, or a step is wrong, that is refused.
        """
        if start not in self.texts:  # imported by an earlier faultatlas, which kept no texts
            raise StudyError(
                f"labels were given with {self.name} {start}, but {self.name} is {end} here, and "
                f"the study has no text of {start}",
                "Use the version of faultatlas that they were given with, or label again.",
            )
        found = way_between(self._steps, start, end)
        if found is None:
            raise StudyError(
                f"nothing says how {self.name} {start} became {end}",
                f"See what to write: annotation taxonomy diff {self.name} {start} {end}",
            )
        for step, _forwards in found:
            problems = revision_problems(step.old, step.new, step.revision)
            if problems:
                raise refusal(step.new.path, problems)
        low, high = sorted((start, end), key=version_key)
        for path, problem in self.contradictions(low, high):
            raise refusal(path, [problem])
        return [step.forward if forwards else step.backward for step, forwards in found]

    def contradictions(self, start: str, end: str) -> Iterator[tuple[Path, Problem]]:
        """Where two declared ways between versions do not lead to the same, with the file."""
        for step, text in contradictions(self._steps, start, end):
            yield step.new.path, Problem(step.revision.line, text)

    def alternatives(self, start: str, end: str, code: str) -> Alternatives:
        """What a code of one version may be in another."""
        if code.startswith("~") or start == end:
            return frozenset((code,))
        if (start, end) not in self._ways:
            self._ways[start, end] = self.way(start, end)
        return followed(code, self._ways[start, end])

    @cached_property
    def _ways(self) -> dict[tuple[str, str], list[Mapping[str, Alternatives]]]:
        return {}


def unknown_version(version: str, name: str, known: Iterable[str]) -> StudyError:
    """That a version of a taxonomy is not known, with those that are."""
    return StudyError(
        f"the study knows no version {version} of {name}", f"Known: {', '.join(known)}."
    )


def refuse_other_tree(file: Taxonomy, kept: Taxonomy) -> None:
    """A file must have the codes of the version that it says it is, as the study kept them."""
    if _tree(kept) != _tree(file):
        raise StudyError(
            f"{file.path}: its codes are not those of {file.name} {file.version} that the study "
            "has labels of",
            "Raise its version, then ask again.",
        )


def _tree(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    return [(node.code, node.parent) for node in taxonomy.nodes]


def carrier(reader: Reader, directory: Path, taxonomy_name: str, to_version: str) -> Carry:
    """Carries codes of any version of a taxonomy into one.

    It gives the codes; none where the label ends; None where the changes do not decide it.
    """
    versions = Versions.known(reader, directory, taxonomy_name)
    versions.taxonomy(to_version)

    def carry(from_version: str, code: str) -> frozenset[str] | None:
        return decided(versions.alternatives(from_version, to_version, code))

    return carry


def _recorded(reader: Reader, name: str) -> tuple[Revision, ...]:
    found: dict[tuple[str, str], list[Change]] = {}
    rows = reader.rows(
        "SELECT * FROM store.taxonomy_change WHERE taxonomy = ? "
        "ORDER BY from_version, to_version, position",
        [name],
    )
    for row in rows:
        change = Change(
            row["kind"], tuple(row["old_codes"]), tuple(row["new_codes"]), row["reason"]
        )
        found.setdefault((row["from_version"], row["to_version"]), []).append(change)
    return tuple(Revision(*key, tuple(changes)) for key, changes in found.items())
