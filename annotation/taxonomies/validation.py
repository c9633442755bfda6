"""Checks taxonomy and crosswalk files, all of them before it complains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from data.errors import StudyError
from data.taxonomy_library import TaxonomyLibrary


def validate(study_directory: Path, files: Sequence[Path]) -> list[Path]:
    """The files that were checked; a StudyError with every problem if one is wrong."""
    library = TaxonomyLibrary(study_directory)
    checked = list(files) or library.paths
    problems: list[StudyError] = []
    for path in checked:
        try:
            library.check_file(path)
        except StudyError as error:
            problems.append(error)
    if problems:
        raise StudyError("\n".join(error.message for error in problems), problems[-1].hint)
    return checked
