"""A stored result by its name, computed again: for tests that begin with what a study gives."""

from __future__ import annotations

from faultatlas.data import provenance
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study
from faultatlas.report.claims.check import recompute


def recomputed(study: Study, name: str) -> Result:
    """The newest result of that name, computed again; nothing is stored."""
    with study.reading() as reader:
        stored = provenance.latest(reader, name)
    return recompute(study, stored)
