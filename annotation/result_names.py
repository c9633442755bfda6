"""What the results of labelling are called: the analysis, its rounds, and what else was chosen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 80
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_DIGEST = re.compile(r"-[0-9a-f]{8}")  # what a name of several parts ends with


def result_name(
    analysis: str, rounds: Sequence[str], options: Mapping[str, Any] | None = None
) -> str:
    """`agreement` for all rounds, `agreement-pilot` for one.

    Whatever else was chosen stands behind it, with a digest: a round may be called as another
    round and an option together are. No name has a dot, which parts claim ids, and each can be
    that of a folder, whatever rounds are called.
    """
    import hashlib  # not at the top: a cli imports this module, and OpenSSL takes its time

    chosen = dict(options or {})
    words = [*rounds]
    for key, value in chosen.items():
        words += [key, *map(str, value if isinstance(value, list) else [value])]
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "-", word).strip("-") for word in words]
    name = "-".join(filter(None, (analysis, *plain)))
    if not words or (len(words) == 1 and _speaks_for_itself(words[0])):
        return name
    said = json.dumps([list(rounds), chosen], sort_keys=True)
    digest = hashlib.sha256(said.encode()).hexdigest()[:8]
    return f"{name[:_LONGEST]}-{digest}"


def _speaks_for_itself(name: str) -> bool:
    """Whether no other choice can lead to the name of this round."""
    return bool(
        _PLAIN.fullmatch(name)
        and name == name.strip("-")
        and len(name) <= _LONGEST
        and not _DIGEST.fullmatch(name[-9:])
    )
