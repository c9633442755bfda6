r"""The names of claims in LaTeX, where a command consists of letters.

`coverage-gap.faults.untargeted` is `\FAcoverageGapFaultsUntargeted`: the words of the id, each
but the first with a capital, digits spelled out. A name depends on nothing but the id. Only where
two ids of a study come to the same name, or an id has letters that LaTeX does not, six letters of
a digest of the id stand behind it; and the short name means no number at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from faultatlas.data.errors import StudyError

PREFIX = "FA"

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_WORD = re.compile(r"[A-Za-z]+|[0-9]")
_LONGEST = 200


def checked_prefix(prefix: str) -> str:
    """What stands before every name, if LaTeX takes it."""
    if not re.fullmatch(r"[A-Za-z]{1,20}", prefix):
        raise StudyError(
            f"{prefix!r} cannot stand before the name of a LaTeX command",
            "Letters only, at most 20: --prefix FA",
        )
    return prefix


def command_names(claim_ids: Iterable[str], prefix: str = PREFIX) -> dict[str, str]:
    r"""By claim the name of its command, without the backslash."""
    ids = list(dict.fromkeys(claim_ids))
    short = {claim_id: prefix + _camel(claim_id) for claim_id in ids}
    taken = Counter(short.values())
    return {
        claim_id: name if taken[name] == 1 and _is_whole(claim_id) else f"{name}{_digest(claim_id)}"
        for claim_id, name in short.items()
    }


def ambiguous_names(claim_ids: Iterable[str], prefix: str = PREFIX) -> dict[str, list[str]]:
    """The short names that several claims would have, with their claims."""
    found: dict[str, list[str]] = {}
    for claim_id in dict.fromkeys(claim_ids):
        found.setdefault(prefix + _camel(claim_id), []).append(claim_id)
    return {name: ids for name, ids in sorted(found.items()) if len(ids) > 1}


def _camel(claim_id: str) -> str:
    plain = unicodedata.normalize("NFKD", claim_id).encode("ascii", "ignore").decode()
    words = [
        _DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:]
        for word in _WORD.findall(plain)
    ]
    name = "".join(words)[:_LONGEST] or "X"
    return name[0].lower() + name[1:]


def _is_whole(claim_id: str) -> bool:
    """Whether the name says all letters of the id."""
    plain = unicodedata.normalize("NFKD", claim_id).encode("ascii", "ignore").decode()
    return plain == claim_id and any(map(str.isalnum, plain)) and len(_camel(claim_id)) < _LONGEST


def _digest(claim_id: str) -> str:
    """Six letters, the first a capital; the same for the same id."""
    import hashlib  # not at the top: a cli imports this module, and OpenSSL takes its time

    number = int.from_bytes(hashlib.sha256(claim_id.encode("utf-8", "surrogatepass")).digest()[:8])
    letters = ""
    for _ in range(6):
        number, at = divmod(number, 26)
        letters += chr(ord("a") + at)
    return letters.capitalize()
