"""One file a symptom, found by discovery: each has `SYMPTOM`, `ABOUT` and `seen`.

`seen(bug, observed, across) -> Sighting` says whether one run shows the symptom. `across` are the
runs of the other side: how long is long, and how far is far enough, is read off them. It must be
symmetric: which side is called buggy may not matter, or swapping the sides would not flip verdicts.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.invalidity import unusable
from faultatlas.analysis.reexecution.sightings import Observed, Sighting


@functools.cache
def oracles() -> dict[Symptom, ModuleType]:
    """The modules of this package by their symptom."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {module.SYMPTOM: module for module in modules}


def look(bug: Bug, observed: Observed, across: Sequence[Observed]) -> Sighting:
    """What one run shows, by the oracle of the bug's symptom."""
    nothing = unusable(bug, observed)
    if nothing is not None:
        return nothing
    found: Sighting = oracles()[bug.oracle.symptom].seen(bug, observed, across)
    return found
