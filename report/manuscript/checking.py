"""Checks claims files: finds the kind of each entry and asks it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Protocol, cast

from faultatlas.data.errors import StudyError
from faultatlas.report.manuscript import entries, kinds
from faultatlas.report.manuscript.entries import ClaimsFile, Entry
from faultatlas.report.manuscript.outcomes import STATUS_OF, Finding, Outcome


class Kind(Protocol):
    """A kind of check: a module in `kinds`.

    `FIELDS` says what each field is; `EXAMPLE` is an entry that is consistent.
    """

    NAME: str
    ABOUT: str
    FIELDS: dict[str, str]
    EXAMPLE: str

    def check(self, entry: Entry) -> Outcome:
        """What the numbers of an entry say."""
        ...


@cache
def known_kinds() -> dict[str, Kind]:
    """Every kind of check that has a module, by name."""
    found = (
        cast("Kind", importlib.import_module(f"{kinds.__name__}.{module.name}"))
        for module in pkgutil.iter_modules(kinds.__path__)
    )
    return {each.NAME: each for each in sorted(found, key=lambda each: each.NAME)}


@cache
def shipped() -> tuple[str, ...]:
    """The studies whose printed numbers are shipped."""
    folder = files("faultatlas.data").joinpath("manuscripts")
    return tuple(sorted(Path(each.name).stem for each in folder.iterdir() if each.is_file()))


def check(path_or_name: Path | str) -> list[Finding]:
    """Every claim of a file, or of a shipped study, with its verdict, in the file's order."""
    return check_claims(_claims(path_or_name))


def check_claims(claims: ClaimsFile) -> list[Finding]:
    """Every claim with its verdict."""
    return [_finding(claims.study, entry) for entry in claims.entries]


def _claims(path_or_name: Path | str) -> ClaimsFile:
    if isinstance(path_or_name, str) and path_or_name in shipped():
        name = f"{path_or_name}.toml"
        text = files("faultatlas.data").joinpath("manuscripts", name).read_text(encoding="utf-8")
        return entries.parsed(text, name, path_or_name)
    path = Path(path_or_name)
    if not path.exists():
        raise StudyError(
            f"{path} does not exist",
            f"Name a claims file, or with --shipped one of: {', '.join(shipped())}.",
        )
    return entries.read(path)


def _finding(study: str, entry: Entry) -> Finding:
    if entry.kind not in known_kinds():
        raise entry.error(f"{entry.kind!r} is no kind", f"known: {', '.join(known_kinds())}")
    figure, place, what = (entry.words(name, "") for name in ("figure", "place", "what"))
    entry.choice("inputs", entries.INPUTS)
    outcome = known_kinds()[entry.kind].check(entry)
    entry.all_asked()
    printed = entry.fields.get("printed", [])
    said = " / ".join(map(str, printed if isinstance(printed, list) else [printed]))
    return Finding(
        study=study,
        entry_id=entry.entry_id,
        figure_id=figure,
        kind=entry.kind,
        place=place,
        what=what,
        printed=outcome.printed or said,
        computed=outcome.computed,
        value=outcome.value,
        verdict=outcome.verdict,
        status=STATUS_OF[outcome.verdict],
        reason=outcome.reason,
        rule=outcome.rule,
    )
