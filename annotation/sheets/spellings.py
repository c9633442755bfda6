"""How raters spell codes: a table that an import proposes, and that a person confirms.

The table is a CSV file with the columns spelling, count, code, why. In `code` stands a code of the
taxonomy, `~unclear`, `~not-a-fault`, or `-` for cells that are to be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from faultatlas.annotation.labels import NEW_CODE, NOT_A_FAULT, SPECIAL, UNCLEAR
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import csv_text, read_sheet
from faultatlas.data.taxonomy import Taxonomy, folded

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
# What stands in a cell although nobody wrote it there as a word.
_NO_WORDS = {
    r"#(?:N/?A|REF!|NAME\?|VALUE!|DIV/0!|NULL!|NUM!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|"
    r"GETTING_DATA|ERROR!|#+)|Err:[0-9]+": "an error of a spreadsheet",
    r"true|false|yes|no|wahr|falsch": "yes or no: which code?",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+]+)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}|"
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?": "a date or time",
}
_NEGATION = re.compile(r"\b(?:not|no|non|none|never|neither|nor|without|cannot)\b|n['\u2019]t\b")
_JOINED = re.compile(r"[;,/|&+?\n]|\b(?:and|or|vs)\b", flags=re.IGNORECASE)  # generic/unclear


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

    With `otherwise` free text is expected: what merely mentions a code is taken for that. Where
    the code is "", only a person can tell.
    """
    known = _known(taxonomy)
    return _certain(text, known) or _guessed(folded(text), known, otherwise)


def _certain(text: str, known: Mapping[str, str]) -> tuple[str, str] | None:
    """What a text means without guessing, or why nobody should guess."""
    plain = folded(text)
    if plain in _SAYS_NOTHING:
        return LEFT_OUT, "says nothing"
    if plain in known:
        return known[plain], f"means {plain!r}"
    for pattern, why in _NO_WORDS.items():
        if re.fullmatch(pattern, text.strip(), flags=re.IGNORECASE):
            return "", why
    joined = {known[part] for part in map(folded, _JOINED.split(text)) if part in known}
    if len(joined) > 1:
        return "", f"names several codes: {', '.join(sorted(joined))}"
    return None


def _guessed(plain: str, known: Mapping[str, str], otherwise: str) -> tuple[str, str] | None:
    guess = (
        _beginning(plain, known)
        or _alike(plain, known)
        or (None if otherwise else _same_words(plain, known))
        or _mentioning(plain, known)
    )
    if guess is None:
        return None
    code = known[guess.spelling]
    if otherwise and guess.is_mention and code != otherwise:
        return otherwise, f"{guess.why}, but begins otherwise"
    if _negations(plain) != _negations(guess.spelling):
        return "", f"{guess.why}, but says no or not"
    if otherwise and guess.is_mention:
        return None  # no doubt about it
    return code, guess.why


@dataclass(frozen=True, slots=True)
class _Guess:
    """A known spelling that a text may stand for."""

    spelling: str
    why: str
    is_mention: bool = False


def _known(taxonomy: Taxonomy) -> dict[str, str]:
    known = dict(_WORDS)
    for node in taxonomy.selectable:
        known |= {folded(text): node.code for text in (node.code, node.name, *node.aliases)}
    return known


def _negations(plain: str) -> int:
    """How often a text says no, but for remarks in brackets."""
    return len(_NEGATION.findall(re.sub(r"\(.*", "", plain)))


def _beginning(plain: str, known: Mapping[str, str]) -> _Guess | None:
    fits = [
        spelling
        for spelling in known
        if plain.startswith(spelling)
        and (len(spelling) >= _RUN_TOGETHER or not plain[len(spelling)].isalnum())
    ]
    if fits:
        longest = max(fits, key=len)
        return _Guess(longest, f"begins with {longest!r}")
    longer = [spelling for spelling in known if spelling.startswith(plain)]
    if len(plain) >= _SHORTEST and len({known[spelling] for spelling in longer}) == 1:
        return _Guess(longer[0], "an abbreviation")
    return None


def _alike(plain: str, known: Mapping[str, str]) -> _Guess | None:
    ratios = {
        spelling: SequenceMatcher(None, plain, spelling, autojunk=False).ratio()
        for spelling in known
        if 2 * min(len(plain), len(spelling)) >= _ALIKE * (len(plain) + len(spelling))
    }
    best = max(ratios, key=lambda each: ratios[each], default="")
    if ratios.get(best, 0) < _ALIKE:
        return None
    return _Guess(best, f"like {best!r} ({ratios[best]:.2f})")


def _same_words(plain: str, known: Mapping[str, str]) -> _Guess | None:
    words = set(re.findall(r"\w+", plain))
    shares = {}
    for spelling in known:
        others = set(re.findall(r"\w+", spelling))
        shares[spelling] = len(words & others) / max(1, len(words | others))
    best = max(shares, key=lambda each: shares[each])
    if shares[best] < _SAME_WORDS:
        return None
    return _Guess(best, f"shares words with {best!r}")


def _mentioning(plain: str, known: Mapping[str, str]) -> _Guess | None:
    found = [
        spelling
        for spelling in known
        if len(spelling) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", plain)
    ]
    if not found:
        return None
    longest = max(found, key=len)
    return _Guess(longest, f"mentions {longest!r}", is_mention=True)


def read_spellings(path: Path, taxonomy: Taxonomy) -> dict[str, str]:
    """The table that a person confirmed: folded spelling to code. Empty codes are undecided."""
    grid = read_sheet(path)
    spelling, code = grid.require(["spelling", "code"])
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
    ordered = sorted(proposals, key=lambda one: (-one.count, one.spelling))
    rows = ([each.spelling, each.count, each.code, each.why] for each in ordered)
    return csv_text([COLUMNS, *rows])
