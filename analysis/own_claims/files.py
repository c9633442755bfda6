"""The file `claims.toml`: a table for each claim, with its SQL."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import is_percent, plain
from faultatlas.report.published import Printed, parse

FILE = "claims.toml"

_EXAMPLE = (
    'Such as: [claims.open-defects] statement = "Open defects" '
    "sql = \"SELECT count(*) FROM issues WHERE state = 'open'\" (docs/claims.md)"
)
_NAME = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")
_TEXTS = ("statement", "sql", "unit", "rows", "numerator", "denominator", "printed")


@dataclass(frozen=True)
class OwnClaim:
    """A number of the user's own: one value, or a share of two counts."""

    name: str
    statement: str
    sql: str = ""  # of a value
    numerator: str = ""  # of a share, both in SQL
    denominator: str = ""
    unit: str = ""
    printed: str = ""  # with the digits that the manuscript has
    rows: str = ""  # SQL that lists what is counted

    @property
    def definition(self) -> dict[str, str]:
        """As the file has it, without what is not said."""
        return {name: getattr(self, name) for name in _TEXTS if getattr(self, name)}


def read_claims(directory: Path) -> tuple[OwnClaim, ...]:
    """The claims of a study's file."""
    path = directory / FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise StudyError(f"there is no {path}", f"Write the numbers there. {_EXAMPLE}") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", _EXAMPLE) from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is no TOML: {plain(error)}", _EXAMPLE) from error
    strange = sorted(content.keys() - {"claims"})
    if strange or not isinstance(content.get("claims"), dict) or not content["claims"]:
        said = f"does not know {strange[0]!r}" if strange else "has no claims"
        raise StudyError(f"{path} {said}", _EXAMPLE)
    return tuple(_own_claim(name, given) for name, given in _flat(content["claims"]).items())


def read_definitions(definitions: Iterable[Mapping[str, Any]]) -> tuple[OwnClaim, ...]:
    """Claims as the parameters of a result have them."""
    return tuple(
        _own_claim(given["name"], {key: each for key, each in given.items() if key != "name"})
        for given in definitions
    )


def _flat(definitions: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """In TOML, `[claims.open.defects]` is a table in a table; here its name is open.defects."""
    found: dict[str, Any] = {}
    for key, given in definitions.items():
        name = f"{start}{key}"
        if isinstance(given, dict) and given and all(isinstance(v, dict) for v in given.values()):
            more = _flat(given, f"{name}.")
        else:
            more = {name: given}
        if twice := sorted(found.keys() & more.keys()):
            raise StudyError(
                f"claim {plain(twice[0])!r} is there twice", "Rename one, with quotes or without."
            )
        found |= more
    return found


def _own_claim(name: str, given: Any) -> OwnClaim:
    owner = f"claim {plain(name)!r}"
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{owner} cannot be called that",
            "Lower-case letters, digits, dashes and dots: open-defects",
        )
    if not isinstance(given, dict):
        raise StudyError(f"{owner} is no table", _EXAMPLE)
    strange = sorted(given.keys() - {*_TEXTS})
    if strange:
        raise StudyError(
            f"{owner} does not know {plain(strange[0])!r}", f"Known: {', '.join(_TEXTS)}."
        )
    texts = {key: _text(owner, key, value) for key, value in given.items()}
    claim = OwnClaim(name, **{"statement": "", **texts})
    if not claim.statement:
        raise StudyError(f"{owner} has no statement", 'Say what the number is: statement = "..."')
    is_share = bool(claim.numerator and claim.denominator)
    if bool(claim.numerator) != bool(claim.denominator) or is_share == bool(claim.sql):
        raise StudyError(
            f"{owner} is neither a value nor a share",
            "Write sql for a value, or numerator and denominator for a share.",
        )
    in_percent = bool(claim.printed) and _printed(owner, claim).percent
    if in_percent and claim.sql and not is_percent(claim.unit):
        raise StudyError(
            f"{owner} is printed in percent, and its unit is {claim.unit or 'none'!r}",
            'Write unit = "percent" for SQL that gives 46.9, not 0.469; or make it a share: '
            "numerator and denominator.",
        )
    return claim


def _printed(owner: str, claim: OwnClaim) -> Printed:
    try:
        return parse(claim.printed)
    except ValueError as error:
        raise StudyError(
            f"what {owner} has printed is no number: {plain(error)}",
            'As the manuscript has it, without words: printed = "46.9"',
        ) from error


def _text(owner: str, key: str, value: Any) -> str:
    if key == "printed" and type(value) is float:
        raise StudyError(
            f"printed of {owner} stands without quotes",
            f'Its digits count: printed = "{value}", or "{value}0" if the manuscript has that.',
        )
    if key in {"printed", "denominator", "numerator"} and type(value) is int:
        return str(value) if key == "printed" else f"SELECT {value}"
    if not isinstance(value, str) or not value.strip():
        raise StudyError(f"{key} of {owner} is no text", _EXAMPLE)
    return value.strip()
