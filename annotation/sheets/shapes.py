"""How a sheet holds what raters said: a column each, pairs of rater and tag, a file each, long."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import translate
from typing import Protocol

from faultatlas.annotation.sheets.codes import Codebook, Said
from faultatlas.annotation.sheets.spellings import LEFT_OUT
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import Row
from faultatlas.data.sheets import Sheet as Grid
from faultatlas.data.taxonomy import folded
from faultatlas.report.formatting import counted

_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Rating:
    """A cell that says something: who, as which of the row's raters, and what."""

    rater: str
    number: int
    said: Said
    confidence: float | None = None
    labelled_at: datetime | None = None
    stage: str = ""
    version: str = ""  # of the taxonomy, if the sheet says so


class Shape(Protocol):
    """Where a sheet keeps the ratings of a row."""

    def whose(self, grid: Grid, row: Row) -> str:
        """Where an artifact may stand in a row for each rater: who, and at which stage."""

    @property
    def notes(self) -> list[str]:
        """What a person must be told of the sheet."""

    def ratings(self, grid: Grid, row: Row, book: Codebook) -> Iterator[Rating]:
        """The ratings of a row; a wrong cell is refused when its turn comes."""


@dataclass
class RaterColumns:
    """A column for each rater, who is called as the column is."""

    columns: Sequence[str]
    stage: str = ""
    notes: list[str] = field(default_factory=list)

    def whose(self, _grid: Grid, _row: Row) -> str:
        """A row is for all raters."""
        return ""

    @classmethod
    def of(cls, patterns: Sequence[str], grid: Grid, but: set[str]) -> RaterColumns:
        """The columns that patterns mean, without those that hold something else."""
        columns: list[str] = []
        for pattern in patterns:
            found = [column for column in grid.matching(pattern) if column not in but]
            if not found:
                raise StudyError(
                    f"{grid.path}:1: no column is like {pattern!r}",
                    f"Its columns: {', '.join(grid.columns) or 'none'}.",
                )
            columns += found
        return cls(tuple(dict.fromkeys(columns)))

    def ratings(self, grid: Grid, row: Row, book: Codebook) -> Iterator[Rating]:
        """One for each column that is not empty."""
        for number, column in enumerate(self.columns, start=1):
            said = book.of_cell(grid, row, column)
            if said:
                stage = grid.cell(row, self.stage).strip() if self.stage else ""
                yield Rating(column.strip(), number, said, stage=stage)


@dataclass
class Pairs:
    """Pairs of columns, such as Evaluator1 and Tag1: the rater's name, and what she said."""

    pairs: Sequence[tuple[int, str, str]]  # number, rater's column, code's column
    without_code: Sequence[str]  # columns of raters that have no partner
    untagged: int = 0
    doubled: list[int] = field(default_factory=list)  # rows that say the same of one rater twice

    def whose(self, _grid: Grid, _row: Row) -> str:
        """A row is for all raters."""
        return ""

    @classmethod
    def of(cls, text: str, grid: Grid) -> Pairs:
        """The pairs that `Evaluator*/Tag*` means: those where the star stands for the same."""
        who, separator, what = text.partition("/")
        if not separator or who.count("*") != 1 or what.count("*") != 1:
            raise StudyError(
                f"{text!r} says not which columns are pairs", "Write it as 'Evaluator*/Tag*'."
            )
        raters, codes = _starred(grid, who), _starred(grid, what)
        if not raters or not codes:
            raise StudyError(
                f"{grid.path}:1: no columns are like {text!r}",
                f"Its columns: {', '.join(grid.columns) or 'none'}.",
            )
        alone = [column for star, column in codes.items() if star not in raters]
        if alone:
            raise StudyError(
                f"{grid.path}:1: nobody stands beside {', '.join(map(repr, alone))}",
                f"Each needs a column like {who!r}.",
            )
        numbered = [
            (int(star) if star.isdecimal() else number, column, codes.get(star))
            for number, (star, column) in enumerate(raters.items(), start=1)
        ]
        return cls(
            [(number, column, partner) for number, column, partner in numbered if partner],
            [column for _number, column, partner in numbered if not partner],
        )

    def ratings(self, grid: Grid, row: Row, book: Codebook) -> Iterator[Rating]:
        """One for each pair with a code; a rater without one is counted."""
        self.untagged += sum(bool(grid.cell(row, column).strip()) for column in self.without_code)
        before: dict[str, Said] = {}
        for number, who, what in self.pairs:
            rater, cell = grid.cell(row, who).strip(), grid.cell(row, what)
            if cell.strip() and not rater:
                raise StudyError(f"{what!r} has a code, but {who!r} names no rater")
            if rater and not cell.strip():
                self.untagged += 1
            said = book.of_cell(grid, row, what)
            if said and before.setdefault(rater, said) is not said and before[rater] == said:
                self.doubled.append(row.number)
            elif said:
                yield Rating(rater, number, said)

    @property
    def notes(self) -> list[str]:
        """What is missing."""
        found = [f"there is no column for the codes of {column!r}" for column in self.without_code]
        if self.untagged:
            named = "1 rater is" if self.untagged == 1 else f"{self.untagged:,} raters are"
            found.append(f"{named} named without a code: not stored")
        if self.doubled:
            rows = ", ".join(map(str, dict.fromkeys(self.doubled)))
            found.append(f"the same rater says the same twice, counted once, in row {rows}")
        return found


@dataclass(frozen=True)
class CodeFrom:
    """Where a column says a word (`Yes`), a code is meant."""

    column: str
    word: str
    code: str

    @classmethod
    def of(cls, text: str, grid: Grid, book: Codebook) -> CodeFrom:
        """From `COL=WORD:CODE`."""
        found = re.fullmatch(r"(.+)=([^=:]+):([^=:]+)", text, flags=re.DOTALL)
        if not found:
            raise StudyError(
                f"{text!r} says not where a code is from",
                "Write it as 'Extrinsic Bug=Yes:extrinsic'.",
            )
        code = found[3].strip()
        return cls(
            grid.column(found[1].strip()),
            folded(found[2]),
            LEFT_OUT if code == LEFT_OUT else book.code(code),
        )


@dataclass
class OneRater:
    """A sheet of one rater: a column with codes, columns with Yes and No, or both."""

    rater: str
    column: str = ""
    codes_from: Sequence[CodeFrom] = ()
    comment: str = ""
    contradictions: list[int] = field(default_factory=list)  # rows
    others: Counter[tuple[str, str]] = field(default_factory=Counter)  # columns and other words

    def whose(self, _grid: Grid, _row: Row) -> str:
        """All rows are hers."""
        return ""

    def ratings(self, grid: Grid, row: Row, book: Codebook) -> Iterator[Rating]:
        """One, if the row says anything. Columns with words count before the one with codes."""
        said = self._said(grid, row, book)
        if said:
            note = grid.cell(row, self.comment) if self.comment else ""
            if note.strip():
                words = f"{said.comment}\n{note}" if said.comment else note
                said = Said(said.codes, words, said.proposed)
            yield Rating(self.rater, 1, said)

    def _said(self, grid: Grid, row: Row, book: Codebook) -> Said | None:
        meant = tuple(dict.fromkeys(self._words(grid, row)))
        if len(meant) > 1 and book.taxonomy.choice == "single":
            raise StudyError(f"the row says both {' and '.join(meant)}")
        said = book.of_cell(grid, row, self.column) if self.column else None
        if not meant:
            return said
        if said and not set(said.codes) <= set(meant):
            self.contradictions.append(row.number)
        return Said(meant, said.comment if said and said.codes == meant else None)

    def _words(self, grid: Grid, row: Row) -> Iterator[str]:
        """The codes that words stand for; where several words do, another is a mistake."""
        rules: dict[str, dict[str, str]] = {}
        for each in self.codes_from:
            rules.setdefault(each.column, {})[each.word] = each.code
        for column, words in rules.items():
            cell = grid.cell(row, column)
            code = words.get(folded(cell))
            if code is None and len(words) > 1 and cell.strip():
                known = ", ".join(map(repr, words))
                raise StudyError(
                    f"{column!r} says {cell.strip()!r}: --codes-from knows {known}; "
                    "WORD:- leaves a word out"
                )
            if code is None and cell.strip():
                self.others[column, folded(cell) or cell.strip()] += 1
            elif code not in {None, LEFT_OUT}:
                yield str(code)

    @property
    def notes(self) -> list[str]:
        """Words that no rule names, and rows that contradict themselves."""
        return [*self._ignored(), *self._contradicting()]

    def _ignored(self) -> Iterator[str]:
        for column in dict.fromkeys(each for each, _word in self.others):
            words = [
                f"{word!r} ({count:,})"
                for (each, word), count in self.others.most_common()
                if each == column
            ]
            total = sum(count for (each, _word), count in self.others.items() if each == column)
            shown = ", ".join(words[:_MOST_SHOWN]) + (" ..." if len(words) > _MOST_SHOWN else "")
            yield f"{counted(total, 'cell')} of {column!r} stand for no code: {shown}"

    def _contradicting(self) -> list[str]:
        if not self.contradictions:
            return []
        columns = ", ".join(dict.fromkeys(repr(each.column) for each in self.codes_from))
        rows = ", ".join(map(str, self.contradictions))
        count = counted(len(self.contradictions), "row")
        return [f"{count} with contradictions, where {columns} counts, not {self.column!r}: {rows}"]


@dataclass
class Long:
    """A row for each rater and item, as `annotation export --long` writes it."""

    rater: str
    column: str
    comment: str = ""
    proposed: str = ""
    confidence: str = ""
    labelled_at: str = ""
    stage: str = ""
    version: str = ""
    notes: list[str] = field(default_factory=list)

    def whose(self, grid: Grid, row: Row) -> str:
        """Also where no code stands yet: the row is hers."""
        columns = (self.rater, self.stage) if self.stage else (self.rater,)
        return "\0".join(grid.cell(row, column).strip() for column in columns)

    def ratings(self, grid: Grid, row: Row, book: Codebook) -> Iterator[Rating]:
        """One, if the row says anything."""
        version = grid.cell(row, self.version).strip() if self.version else ""
        said = book.of_version(version).of_cell(grid, row, self.column)
        if not said:
            return
        rater, comment, proposed, sure, when, stage = (
            grid.cell(row, column) if column else ""
            for column in (
                self.rater, self.comment, self.proposed, self.confidence, self.labelled_at,
                self.stage,
            )
        )  # fmt: skip
        if not rater.strip():
            raise StudyError(f"{self.column!r} has a code, but {self.rater!r} names no rater")
        yield Rating(
            rater.strip(),
            1,
            Said(said.codes, comment or said.comment, proposed or said.proposed),
            _confidence(sure),
            _time(when),
            stage.strip(),
            version,
        )


def _confidence(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 5:
        raise StudyError(f"a confidence of {text.strip()!r}: it is from 1 (guess) to 5 (sure)")
    return value


def _time(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise StudyError(f"{text.strip()!r} is no time such as 2024-05-31T12:00:00") from None
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _starred(grid: Grid, pattern: str) -> dict[str, str]:
    """What the star stands for, and the column, in the order of numbers."""
    before, _, after = (folded(part) for part in pattern.partition("*"))
    look = re.compile(translate(f"{before}*{after}"))
    found = {}
    for column in grid.columns:
        plain = folded(column)
        if look.fullmatch(plain):
            star = plain[len(before) : len(plain) - len(after)].strip()
            found[star] = grid.column(column)
    return dict(sorted(found.items(), key=lambda each: (not each[0].isdigit(), len(each[0]), each)))
