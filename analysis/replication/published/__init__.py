"""One file a published study, found by discovery: each has `STUDY`, a `PublishedStudy`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from faultatlas.analysis.replication.figures import PublishedStudy
from faultatlas.data.errors import StudyError


@cache
def published_studies() -> dict[str, PublishedStudy]:
    """The studies by name, in the order of their names."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    )
    studies: list[PublishedStudy] = [module.STUDY for module in modules]
    return {study.name: study for study in sorted(studies, key=lambda each: each.name)}


def published_study(name: str) -> PublishedStudy:
    """The study of that name."""
    studies = published_studies()
    if name not in studies:
        raise StudyError(
            f"there is no published study {name!r}",
            f"Known: {', '.join(studies)}. What each can give: analysis replicate --list",
        )
    return studies[name]
