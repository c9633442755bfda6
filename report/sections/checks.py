"""Whether the data of a study fill what a checklist asks for: one small function an item.

Each gives a state, the evidence in words, and the key of the section where it stands. What the
data cannot show is never called filled.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from faultatlas.report.sections import checks_of_labelling, checks_of_papers, checks_of_study
from faultatlas.report.sections.facts import Facts, Found

APPLIES: dict[str, tuple[Callable[[Facts], bool], str]] = {
    "always": (lambda _: True, ""),
    "mined": (lambda facts: facts.artifacts > 0, "Nothing was mined."),
    "labelled": (lambda facts: facts.labels > 0 or bool(facts.rounds), "Nothing was labelled."),
    "sampled": (
        lambda facts: facts.labels > 0 or bool(facts.rounds or facts.draws or facts.bug_draws),
        "Nothing was labelled, and no sample was drawn.",
    ),
    "papers": (lambda facts: facts.papers > 0, "The study has no papers."),
}

CHECKS: dict[str, Callable[[Facts], Found]] = {
    name: check
    for module in (checks_of_study, checks_of_labelling, checks_of_papers)
    for name, check in inspect.getmembers(module, inspect.isfunction)
    if check.__module__ == module.__name__ and not name.startswith("_")
}
