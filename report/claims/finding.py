"""The claim that somebody means: by its id, the start of it, or its LaTeX command."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from faultatlas.data.errors import StudyError
from faultatlas.report.claims.naming import PREFIX, command_names
from faultatlas.report.formatting import plain


def find_claim(claim_ids: Sequence[str], meant: str, prefix: str = PREFIX) -> str:
    """The id of the claim that is meant; what could be meant is named where it is not clear."""
    if meant in claim_ids:
        return meant
    names = command_names(claim_ids, prefix)
    command = meant.removeprefix("\\").removesuffix("{}")
    by_name = [claim_id for claim_id, name in names.items() if name == command]
    found = by_name or [claim_id for claim_id in claim_ids if claim_id.startswith(meant)]
    if len(found) == 1:
        return found[0]
    if found:
        raise StudyError(
            f"{len(found):,} claims begin with {plain(meant)!r}",
            f"Say which: {_listed(found)}",
        )
    near = nearest(meant, (*claim_ids, *names.values()))
    hint = f"Did you mean {_listed(near)}?" if near else "See them all: report claims list"
    raise StudyError(
        f"the study has no claim {plain(meant)!r}",
        hint if claim_ids else "It has none yet: run an analysis, such as analysis coverage-gap",
    )


def nearest(meant: str, known: Sequence[str]) -> list[str]:
    """What is spelled most like it."""
    return difflib.get_close_matches(meant.lstrip("\\"), known, n=3, cutoff=0.5)


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(plain, names[:most]))
    return f"{shown}, ..." if len(names) > most else shown
