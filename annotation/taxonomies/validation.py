"""Checks taxonomy and crosswalk files, all of them before it complains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from annotation.taxonomies.versions import Versions
from data.errors import StudyError
from data.store import Study
from data.taxonomy import Taxonomy
from data.taxonomy_library import TaxonomyLibrary, refusal
from data.taxonomy_revisions import revision_problems


def validate(study_directory: Path, files: Sequence[Path]) -> list[Path]:
    """The files that were checked; a StudyError with every problem if one is wrong.

    The changes of a taxonomy are held against the versions that the study knows.
    """
    library = TaxonomyLibrary(study_directory)
    checked = list(files) or library.paths
    problems: list[StudyError] = []
    for path in checked:
        try:
            found = library.check_file(path)
            if isinstance(found, Taxonomy) and found.revisions:
                _check_changes(found, _earlier(study_directory, library, found.name))
        except StudyError as error:
            problems.append(error)
    if problems:
        raise StudyError("\n".join(error.message for error in problems), problems[-1].hint)
    return checked


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


def _earlier(directory: Path, library: TaxonomyLibrary, name: str) -> Mapping[str, Taxonomy]:
    on_disk = {each.version: each for each in library.versions(name)}
    study = Study(directory)
    if not study.exists:
        return on_disk
    with study.reading() as reader:
        return {**on_disk, **Versions.stored(reader, name).texts}
