"""The sheets of the six rounds and of the interviews, whatever their columns are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from faultatlas.analysis.replication.package import Package
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal
from faultatlas.data.taxonomy import Taxonomy, folded
from faultatlas.data.taxonomy_library import TaxonomyLibrary

ROUNDS = tuple(f"round_{number}.xlsx" for number in range(1, 7))
CODING = "interview_open_coding.xlsx"
TAGS = "Interview_Tags.xlsx"
ACCEPTED, REJECTED, NOTHING = "A", "R", "-"
KINDS = {"so": "Stack Overflow", "commit": "commits", "issue": "issues", "pull": "pull requests"}

_REMARK = re.compile(r"\s*\(.*", flags=re.DOTALL)
_ARROW = "->"


@dataclass(frozen=True)
class Analysed:
    """An artifact of a round: what each rater said of it, in their order, without empty cells."""

    line: int
    kind: str  # so, commit, issue, pull
    is_conflict: bool
    tags: tuple[str, ...]
    has_two: bool  # whether the sheet has a column for each of the first two raters


@dataclass(frozen=True)
class Relevant:
    """An artifact that shows a fault: its tag and the category that the sheet gives it."""

    file: str
    line: int
    kind: str
    tag: str
    category: str  # "-" for what did not enter the taxonomy

    @property
    def is_inserted(self) -> bool:
        """Whether it entered the taxonomy."""
        return self.category not in {NOTHING, ""}

    @property
    def leaf(self) -> str:
        """Its leaf of the taxonomy."""
        return leaf_of(self.tag)


@dataclass(frozen=True)
class Mention:
    """A passage of an interview: a fault that was accepted or rejected, or nothing."""

    line: int
    interview: str
    tag: str
    status: str

    @property
    def leaf(self) -> str:
        """Its leaf of the taxonomy."""
        return leaf_of(self.tag)


@dataclass(frozen=True)
class Sheet:
    """One sheet of a workbook: its rows, and where its columns stand."""

    file: str
    title: str
    names: tuple[str, ...]  # of the columns, as they are written
    rows: tuple[tuple[int, list[str | None]], ...]

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of the columns but for case and blanks."""
        return tuple(map(folded, self.names))

    def column(self, *names: str) -> int:
        """The place of the column that is called one of these, from 0."""
        for name in names:
            if name in self.header:
                return self.header.index(name)
        raise StudyError(
            f"{self.file} has no column {names[0]!r} in its sheet {self.title!r}",
            f"Its columns: {', '.join(filter(None, self.names))}.",
        )

    def where(self, condition: str = "") -> str:
        """SQL: the rows below its header for which something holds."""
        also = f" AND {condition}" if condition else ""
        return f"sheet = {literal(self.title)} AND line > 1{also}"


def sheet_of(package: Package, file: str, ending: str = "") -> Sheet:
    """The sheet of a workbook whose title ends so; the first one without an ending."""
    titles = [each for each in package.sheets(file) if each.endswith(ending)]
    if not titles:
        raise StudyError(f"{file} has no sheet {ending!r}", f"It has: {package.sheets(file)}.")
    (_line, header), *rows = package.rows(file, titles[0]) or [(1, [])]
    return Sheet(file, titles[0], tuple(cell or "" for cell in header), tuple(rows))


def analysed(package: Package, file: str) -> tuple[Analysed, ...]:
    """Every artifact of a round."""
    sheet = sheet_of(package, file, "All")
    kind, link = sheet.column("entitytype"), sheet.column("link")
    conflict = sheet.column("conflict", "conflicts")
    tags = [at for at, name in enumerate(sheet.header) if re.fullmatch(r"tag ?[0-9]+", name)]
    has_two = {"tag1", "tag2"} <= {sheet.header[at].replace(" ", "") for at in tags}
    return tuple(
        Analysed(
            line,
            _kind(_cell(cells, kind), _cell(cells, link)),
            _cell(cells, conflict) == "1",
            tuple(filter(None, (_cell(cells, at) for at in tags))),
            has_two,
        )
        for line, cells in sheet.rows
        if _cell(cells, link)
    )


def relevant(package: Package, file: str) -> tuple[Relevant, ...]:
    """The artifacts of a round that show a fault."""
    sheet = sheet_of(package, file, "Relevant")
    kind, link = sheet.column("entitytype"), sheet.column("link")
    tag = sheet.column("taxonomy tag", "taxonomy label")
    category = sheet.column("taxonomy cat", "taxonomy category")
    return tuple(
        Relevant(
            file,
            line,
            _kind(_cell(cells, kind), _cell(cells, link)),
            _cell(cells, tag),
            _cell(cells, category),
        )
        for line, cells in sheet.rows
        if _cell(cells, link)
    )


def inserted(package: Package) -> list[Relevant]:
    """The artifacts of all rounds that entered the taxonomy, in their order."""
    return [each for file in ROUNDS for each in relevant(package, file) if each.is_inserted]


def mentions(package: Package) -> tuple[Mention, ...]:
    """Every passage of the interviews that was coded."""
    sheet = sheet_of(package, CODING)
    columns = [sheet.column(name) for name in ("interview num", "tag", "status")]
    return tuple(
        Mention(line, *(_cell(cells, at) for at in columns))
        for line, cells in sheet.rows
        if _cell(cells, columns[0])
    )


def accepted(package: Package) -> list[Mention]:
    """The mentions of the interviews that entered the taxonomy."""
    return [each for each in mentions(package) if each.status == ACCEPTED]


def spellings(package: Package) -> dict[str, str]:
    """What the tags of the interviews mean; those that were only ever rejected are left out."""
    rows = [row for row in mentions(package) if row.tag]
    found = dict.fromkeys((row.tag for row in rows), NOTHING)
    known = faults()
    return found | {
        row.tag: row.leaf for row in rows if row.status == ACCEPTED and row.leaf in known
    }


def lines(rows: Sequence[Relevant | Mention | Analysed]) -> str:
    """SQL: these lines of a sheet."""
    return f"line IN ({', '.join(str(row.line) for row in rows)})" if rows else "false"


@cache
def leaf_of(tag: str) -> str:
    """The leaf that a tag means: its code, or the tag itself, if the taxonomy does not know it.

    A remark in parentheses is none of the name; of two tags with an arrow the one behind it
    counts. Spellings are those of the taxonomy's aliases and of the shipped table.
    """
    last = tag.rpartition(_ARROW)[2].strip()
    tree, known = faults(), _spellings()
    for text in (last, _REMARK.sub("", last)):
        found = known.get(folded(text)) or tree.find(text)
        if found and tree.is_leaf(found):
            return found
    return folded(_REMARK.sub("", last))


@cache
def faults() -> Taxonomy:
    """The taxonomy as it is shipped."""
    return TaxonomyLibrary(as_shipped=True).taxonomy("humbatova")


@cache
def _spellings() -> dict[str, str]:
    return {folded(spelling): code for spelling, code in evidence.tag_spellings().items()}


def new_leaves(package: Package) -> Iterator[tuple[str, tuple[Relevant, ...]]]:
    """For each round the artifacts whose leaf no artifact before them has."""
    known: set[str] = set()
    for file in ROUNDS:
        first: list[Relevant] = []
        for each in relevant(package, file):
            if each.is_inserted and each.leaf not in known:
                known.add(each.leaf)
                first.append(each)
        yield file, tuple(first)


def _kind(entity: str, link: str) -> str:
    """Pull requests are among the issues of the sheets; their links tell them apart."""
    kind = entity.partition("-")[0].lower()
    return "pull" if kind == "issue" and "/pull/" in link else kind


def _cell(cells: Sequence[str | None], at: int) -> str:
    return (cells[at] or "").strip() if at < len(cells) else ""
