"""Checks taxonomy and crosswalk files, all of them before it complains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultatlas.annotation.taxonomies.mentions import stale_mentions
from faultatlas.annotation.taxonomies.versions import Versions, refuse_other_tree
from faultatlas.data.errors import StudyError
from faultatlas.data.old.taxonomy_revisions import revision_problems
from faultatlas.data.study import Study
from faultatlas.data.taxonomy import Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary, refusal


@dataclass(frozen=True)
class Checked:
    """Files that are right, and what may be looked at in them."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...]


def validate(study_directory: Path, files: Sequence[Path]) -> Checked:
    """The files that were checked; a StudyError with every problem if one is wrong.

    What other commands refuse is refused here as well. The changes of a taxonomy are held
    against the versions that the study knows.
    """
    library = TaxonomyLibrary(study_directory)
    checked = list(files) or library.paths
    problems: list[StudyError] = []
    notes: list[str] = []
    for path in checked:
        try:
            found = library.check_file(path)
            if isinstance(found, Taxonomy):
                kept = _kept(study_directory, found.name)
                refuse_other_tree(found, kept.get(found.version, found))
                if found.revisions:
                    on_disk = {each.version: each for each in library.versions(found.name)}
                    _check_changes(found, {**on_disk, **kept})
                    notes += _notes(found, {**on_disk, **kept})
        except StudyError as error:
            problems.append(error)
    if problems:
        raise StudyError("\n".join(error.message for error in problems), problems[-1].hint)
    return Checked(tuple(checked), tuple(notes))


def _notes(taxonomy: Taxonomy, earlier: Mapping[str, Taxonomy]) -> list[str]:
    made_of = {each.from_version for each in taxonomy.revisions} & {*earlier}
    return [
        note for version in sorted(made_of) for note in stale_mentions(earlier[version], taxonomy)
    ]


def _check_changes(taxonomy: Taxonomy, earlier: Mapping[str, Taxonomy]) -> None:
    problems = [
        problem
        for revision in taxonomy.revisions
        if revision.from_version in earlier
        for problem in revision_problems(earlier[revision.from_version], taxonomy, revision)
    ]
    if not problems:
        versions = Versions(taxonomy.name, {**earlier, taxonomy.version: taxonomy}, ())
        problems = [
            problem
            for start in versions.texts
            for _path, problem in versions.contradictions(start, taxonomy.version)
        ]
    if problems:
        raise refusal(taxonomy.path, problems)


def _kept(directory: Path, name: str) -> Mapping[str, Taxonomy]:
    study = Study(directory)
    if not study.exists:
        return {}
    with study.reading() as reader:
        return Versions.stored(reader, name).texts
