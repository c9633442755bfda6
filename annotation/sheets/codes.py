"""What a cell says: codes by code, name, alias or a confirmed spelling; unknown ones are noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from faultatlas.annotation.labels import SPECIAL
from faultatlas.annotation.sheets.spellings import LEFT_OUT, Proposal, propose, special
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import Row
from faultatlas.data.sheets import Sheet as Grid
from faultatlas.data.taxonomy import Taxonomy, folded

_SEPARATOR = ";"  # between codes in a cell, where the taxonomy allows several


@dataclass(frozen=True, slots=True)
class Said:
    """What a cell says."""

    codes: tuple[str, ...]
    comment: str | None = None  # the words of the cell, where they say more than the code
    proposed: str | None = None  # the words of a rater who was free to choose them


@dataclass
class Codebook:
    """Reads cells, and keeps count of how they were understood."""

    taxonomy: Taxonomy
    table: Mapping[str, str] = field(default_factory=dict)  # folded spelling -> code
    otherwise: str = ""  # the code of free text
    accepting: bool = False  # whether what is proposed counts as confirmed
    used: dict[str, str] = field(default_factory=dict)  # spellings that were looked up
    unknown: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)  # proposals that count as confirmed
    free: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    errors: list[str] = field(default_factory=list)  # of cells since they were last asked for
    older: Callable[[str], Taxonomy] | None = None  # finds another version of the taxonomy
    _books: dict[str, Codebook] = field(default_factory=dict)  # of those
    _proposed: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)  # of spellings that differ in case only

    def __post_init__(self) -> None:
        if self.otherwise:
            self.otherwise = self.code(self.otherwise)

    @cached_property
    def _selectable(self) -> frozenset[str]:
        return frozenset(node.code for node in self.taxonomy.selectable)

    def code(self, text: str) -> str:
        """The code that an option names."""
        found = self.taxonomy.find(text) or special(text)
        if found is None or (found not in SPECIAL and found not in self._selectable):
            raise StudyError(
                f"{text!r} is no code of {self.taxonomy.name}",
                f"Its codes: annotation taxonomy show {self.taxonomy.name}",
            )
        return found

    def of_version(self, version: str) -> Codebook:
        """The book that reads codes of that version, as an export wrote them; "" is this one."""
        if version in {"", self.taxonomy.version}:
            return self
        if version not in self._books:
            if self.older is None:
                # Most sheets need no other version, nor what reads those of a study.
                from faultatlas.annotation.taxonomies.versions import unknown_version

                raise unknown_version(version, self.taxonomy.name, [self.taxonomy.version])
            self._books[version] = Codebook(self.older(version), errors=self.errors)
        return self._books[version]

    def of_cell(self, grid: Grid, row: Row, column: str) -> Said | None:
        """What a cell of a sheet says; None if nothing. What is wrong becomes one of `errors`."""
        try:
            return self.read(grid.code_cell(row, column, self._selectable))
        except StudyError as error:
            self.errors.append(error.message)
            return None

    def read(self, cell: str) -> Said | None:
        """What a text says; None if nothing. What is unknown becomes one of the `errors`."""
        several = self.taxonomy.choice == "multiple"
        parts = cell.split(_SEPARATOR) if several else [cell]
        codes: list[str] = []
        words: list[str] = []
        free: list[str] = []
        for part in filter(None, map(str.strip, parts)):
            code, is_mapped, is_free = self._meant(part)
            self.left_out += code == LEFT_OUT
            if code in {LEFT_OUT, ""}:
                continue
            codes.append(code)
            words += [part] if is_mapped else []
            free += [part] if is_free else []
        if not codes:
            return None
        return Said(
            tuple(dict.fromkeys(codes)),
            f"{_SEPARATOR} ".join(words) or None,
            f"{_SEPARATOR} ".join(free) or None,
        )

    def _meant(self, part: str) -> tuple[str, bool, bool]:
        """Its code, whether a table says so, and whether it is free text."""
        confirmed = self.table.get(folded(part))
        if confirmed is not None:
            self.used[part] = confirmed
            # The code that stands for free text keeps the words as such.
            return confirmed, confirmed != self.otherwise, confirmed == self.otherwise
        code = self.taxonomy.find(part) or special(part)
        if code in self._selectable or code in SPECIAL:
            return str(code), False, False
        guess = self._guess(part)
        if self.otherwise and guess is None:
            self.free[part] += 1
            return self.otherwise, False, True
        if self.accepting and guess and guess[0]:
            self.used[part] = guess[0]
            self.accepted[self._first.setdefault(folded(part), part)] += 1
            return guess[0], guess[0] != self.otherwise, guess[0] == self.otherwise
        self.unknown[self._first.setdefault(folded(part), part)] += 1
        what = "no code of" if code is None else "a category of"
        end = "" if code is None else ": a leaf is wanted"
        self.errors.append(f"{part!r} is {what} {self.taxonomy.name}{end}")
        return "", False, False

    def taken_errors(self) -> list[str]:
        """The errors so far, which are then forgotten."""
        errors = [*self.errors]
        self.errors.clear()  # the list stays the same: books of other versions share it
        return errors

    def _guess(self, part: str) -> tuple[str, str] | None:
        if part not in self._proposed:
            is_category = self.taxonomy.find(part) is not None
            self._proposed[part] = (
                ("", "a category: a leaf is wanted")
                if is_category
                else propose(part, self.taxonomy, self.otherwise)
            )
        return self._proposed[part]

    @property
    def proposals(self) -> list[Proposal]:
        """What the spellings mean that nobody has confirmed, accepted ones too."""
        nothing = ("", "like nothing here")
        return [
            Proposal(text, count, *(self._guess(text) or nothing))
            for text, count in (self.unknown + self.accepted).items()
        ]
