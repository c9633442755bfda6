"""How raters spell codes: a table that an import proposes, and that a person confirms.

The table is a CSV file with the columns spelling, count, code, why. In `code` stands a code of the
taxonomy, `~unclear`, `~not-a-fault`, or `-` for cells that are to be left out.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from annotation.labels import NEW_CODE, NOT_A_FAULT, SPECIAL, UNCLEAR
from annotation.sheets.cells import harmless
from annotation.sheets.csv_files import read_csv
from data.errors import StudyError
from data.taxonomy import Taxonomy, folded

LEFT_OUT = "-"
COLUMNS = ("spelling", "count", "code", "why")
FOLDER = "spellings"
_ALIKE = 0.7  # of difflib's ratio: what is less alike is not proposed
_SAME_WORDS = 0.6
_SHORTEST = 3  # letters of what may be an abbreviation
_RUN_TOGETHER = 6  # letters of what is recognised also without a gap behind it
_SAYS_NOTHING = {"", "/", "n/a", "na", "none", "null", "tbd", "."}  # folded: "-" is ""
_WORDS = {
    "unclear": UNCLEAR,
    "?": UNCLEAR,
    "unsure": UNCLEAR,
    "unknown": UNCLEAR,
    "not sure": UNCLEAR,
    "not a fault": NOT_A_FAULT,
    "not a bug": NOT_A_FAULT,
    "no bug": NOT_A_FAULT,
    "false positive": NOT_A_FAULT,
    "a new code is needed": NEW_CODE,
}


@dataclass(frozen=True)
class Proposal:
    """What a spelling may mean."""

    spelling: str
    count: int
    code: str  # "" where nothing is like it
    why: str


def special(text: str) -> str | None:
    """The answer that is no code, if the text is one: `~unclear`, `unclear`."""
    plain = folded(text)
    for code, name in SPECIAL.items():
        if text.strip() == code or plain == folded(name):
            return code
    return None


def propose(text: str, taxonomy: Taxonomy, otherwise: str = "") -> tuple[str, str] | None:
    """The code that a spelling may mean, and why; None if it is like nothing.

    With `otherwise` free text is expected: what merely mentions a code is taken for that.
    """
    plain = folded(text)
    if plain in _SAYS_NOTHING:
        return LEFT_OUT, "says nothing"
    known = _known(taxonomy)
    if plain in known:
        return known[plain], f"means {plain!r}"
    return (
        _beginning(plain, known)
        or _alike(plain, known)
        or (None if otherwise else _same_words(plain, known))
        or _mentioning(plain, known, otherwise)
    )


def _known(taxonomy: Taxonomy) -> dict[str, str]:
    known = dict(_WORDS)
    for node in taxonomy.selectable:
        known |= {folded(text): node.code for text in (node.code, node.name, *node.aliases)}
    return known


def _beginning(plain: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    fits = [
        spelling
        for spelling in known
        if plain.startswith(spelling)
        and (len(spelling) >= _RUN_TOGETHER or not plain[len(spelling)].isalnum())
    ]
    if fits:
        longest = max(fits, key=len)
        return known[longest], f"begins with {longest!r}"
    codes = {code for spelling, code in known.items() if spelling.startswith(plain)}
    if len(plain) >= _SHORTEST and len(codes) == 1:
        return codes.pop(), "an abbreviation"
    return None


def _alike(plain: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    ratios = {
        spelling: SequenceMatcher(None, plain, spelling, autojunk=False).ratio()
        for spelling in known
        if 2 * min(len(plain), len(spelling)) >= _ALIKE * (len(plain) + len(spelling))
    }
    best = max(ratios, key=lambda each: ratios[each], default="")
    if ratios.get(best, 0) < _ALIKE:
        return None
    return known[best], f"like {best!r} ({ratios[best]:.2f})"


def _same_words(plain: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    words = set(re.findall(r"\w+", plain))
    shares = {}
    for spelling in known:
        others = set(re.findall(r"\w+", spelling))
        shares[spelling] = len(words & others) / max(1, len(words | others))
    best = max(shares, key=lambda each: shares[each])
    if shares[best] < _SAME_WORDS:
        return None
    return known[best], f"shares words with {best!r}"


def _mentioning(plain: str, known: Mapping[str, str], otherwise: str) -> tuple[str, str] | None:
    found = [
        spelling
        for spelling in known
        if len(spelling) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", plain)
    ]
    if not found:
        return None
    longest = max(found, key=len)
    if otherwise:
        if known[longest] == otherwise:
            return None  # no doubt about it
        return otherwise, f"mentions {longest!r}, but begins otherwise"
    return known[longest], f"mentions {longest!r}"


def read_spellings(path: Path, taxonomy: Taxonomy) -> dict[str, str]:
    """The table that a person confirmed: folded spelling to code. Empty codes are undecided."""
    grid = read_csv(path)
    spelling, code = grid.found(["spelling", "code"])
    selectable = {node.code for node in taxonomy.selectable}
    table: dict[str, str] = {}
    for row in grid.rows:
        text, meant = (row.cells.get(name, "").strip() for name in (spelling, code))
        if not meant:
            continue
        if meant != LEFT_OUT and meant not in SPECIAL:
            found = taxonomy.find(meant)
            if found not in selectable:
                raise StudyError(
                    f"{path}:{row.number}: {meant!r} is no code of {taxonomy.name}",
                    f"Codes: annotation taxonomy show {taxonomy.name}; or ~unclear, ~not-a-fault, "
                    "~new; or - to leave such cells out. Nothing was stored.",
                )
            meant = found or meant
        if table.setdefault(folded(text), meant) != meant:
            raise StudyError(
                f"{path}:{row.number}: {text!r} stands there twice, with different codes",
                "Leave one of them. Nothing was stored.",
            )
    return table


def table_text(proposals: Iterable[Proposal]) -> str:
    """The table as CSV, most frequent first."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in sorted(proposals, key=lambda one: (-one.count, one.spelling)):
        writer.writerow([harmless(each.spelling), each.count, harmless(each.code), each.why])
    return written.getvalue()
