"""From the words of a set's authors to the codes of our taxonomies."""

from __future__ import annotations

import difflib
from functools import lru_cache

from faultatlas.analysis.reexecution.artifacts.problems import quoted
from faultatlas.data.taxonomy import Taxonomy

_LIKE = 0.87  # how near a slip of the pen is to a name


def code(text: str, taxonomy: str) -> tuple[str, str]:
    """The code that a text means, and a line for people where it means none, or nearly one."""
    words = " ".join(text.split())
    if not words:
        return "", ""
    known = _taxonomy(taxonomy)
    if found := known.find(words):
        return found, ""
    names = {
        name.lower(): node.code for node in known.selectable for name in (node.name, *node.aliases)
    }
    near = difflib.get_close_matches(words.lower(), names, n=1, cutoff=_LIKE)
    if near:
        return names[near[0]], f"{quoted(words)} was read as {quoted(near[0])} of {taxonomy}"
    return "", f"{quoted(words)} is no name of {taxonomy}: label it by hand"


@lru_cache(maxsize=8)
def _taxonomy(name: str) -> Taxonomy:
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    return TaxonomyLibrary(as_shipped=True).taxonomy(name)
