"""The six labelling rounds: what was analysed, where raters differed, which leaves were new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from faultatlas.analysis.replication.agreeing import agreement, share
from faultatlas.analysis.replication.dl import sheets
from faultatlas.analysis.replication.dl.sheets import KINDS, ROUNDS
from faultatlas.analysis.replication.figures import Also, Found, Value
from faultatlas.analysis.replication.package import Package
from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.taxonomy_library import TaxonomyLibrary

STATISTIC = "krippendorff"
TAXONOMY = "screening"
OTHERWISE = "fault"  # what a tag says that is no word of the screening
_RATERS = 2
_GITHUB = ("commit", "issue", "pull")


@dataclass(frozen=True)
class Round:
    """How many artifacts a round analysed, and on how many the sheet marks a conflict."""

    file: str

    def __call__(self, package: Package) -> Found:
        """The two counts."""
        rows = sheets.analysed(package, self.file)
        where = sheets.sheet_of(package, self.file, "All").where
        conflicts = [row for row in rows if row.is_conflict]
        rate = share("rate", len(conflicts), len(rows))
        return Found(
            (
                Value(
                    "analysed", len(rows), "artifacts", files=(self.file,),
                    rows=where(sheets.lines(rows)),
                ),
                Value(
                    "conflicts", len(conflicts), "artifacts", len(conflicts), len(rows),
                    files=(self.file,), rows=where(sheets.lines(conflicts)),
                ),
            ),
            note=f"conflicts {rate.value:.2f} %, 95 % {rate.low:.1f} to {rate.high:.1f}"
            if rows
            else "",
        )  # fmt: skip


def by_kind(package: Package) -> Found:
    """All artifacts of the rounds, and those of each kind."""
    counts = Counter(row.kind for file in ROUNDS for row in sheets.analysed(package, file))
    known = {key: counts.pop(key, 0) for key in KINDS}
    other = sum(counts.values())
    return Found(
        (
            Value("all", sum(known.values()) + other, "artifacts"),
            *(Value(key, count, "artifacts") for key, count in known.items()),
        ),
        text=", ".join(map(str, (sum(known.values()) + other, *known.values()))),
        note="pull requests are the issues whose link says so"
        + (f"; {other} of another kind" if other else ""),
    )


def inserted(package: Package) -> Found:
    """The artifacts that entered the taxonomy, by round and in all."""
    by_round = {file: sheets.relevant(package, file) for file in ROUNDS}
    entered = {file: [row for row in rows if row.is_inserted] for file, rows in by_round.items()}
    total = sum(map(len, entered.values()))
    every = sum(map(len, by_round.values()))
    return _by_round(
        package, entered, "artifacts",
        f"{every} relevant rows, less {every - total} without a category",
    )  # fmt: skip


def new_leaves(package: Package) -> Found:
    """The leaves that no round before had, by round and in all."""
    return _by_round(
        package, dict(sheets.new_leaves(package)), "leaves",
        "a leaf is a tag without its remark in parentheses, behind an arrow if there is one",
    )  # fmt: skip


def _by_round(
    package: Package,
    rows: dict[str, list[sheets.Relevant]] | dict[str, tuple[sheets.Relevant, ...]],
    unit: str,
    note: str,
) -> Found:
    values = [
        Value(
            _key(file), len(found), unit, files=(file,),
            rows=sheets.sheet_of(package, file, "Relevant").where(sheets.lines(found)),
        )
        for file, found in rows.items()
    ]  # fmt: skip
    total = sum(len(found) for found in rows.values())
    shown = "/".join(str(len(found)) for found in rows.values())
    return Found((*values, Value("all", total, unit)), text=f"{shown} = {total}", note=note)


def alphas(package: Package) -> Iterator[Value]:
    """Krippendorff's alpha of the first two raters of each row on the words of the screening."""
    for file in package.names("round_*.xlsx"):
        every = sheets.analysed(package, file)
        if not any(row.has_two for row in every):
            continue  # round 2 has no column for the second rater
        rows = [first_two(row.tags) for row in every]
        found = agreement(f"alpha.{_key(file)}", rows, STATISTIC, seed=package.seed, files=(file,))
        if found:
            yield replace(
                found,
                rows=sheets.sheet_of(package, file, "All").where(),
                statement="Krippendorff's alpha of the first two raters in "
                f"{_title(file).lower()}: fault, false positive, generic or unclear",
            )


def first_two(tags: tuple[str, ...]) -> list[str | None]:
    """What the first two raters of a row who said something said, as classes of the screening."""
    classes = [screened(tag) for tag in tags]
    return [*(each for each in classes if each), None, None][:_RATERS]


@cache
def screened(tag: str) -> str | None:
    """The class of a tag, as `annotation import --otherwise fault --accept-spellings` has it."""
    said = _codebook().read(tag)
    return said.codes[0] if said else None


@cache
def _codebook() -> Codebook:
    tree = TaxonomyLibrary(as_shipped=True).taxonomy(TAXONOMY)
    return Codebook(tree, otherwise=OTHERWISE, accepting=True)


def by_round(package: Package) -> Also:
    """A table of the rounds, with the agreement of their raters."""
    files = package.names("round_*.xlsx")
    if not files:
        return Also()
    values = {value.key: value for value in alphas(package)}
    known = dict(sheets.new_leaves(package)) if set(ROUNDS) <= set(files) else {}
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        every = sheets.analysed(package, file)
        alpha = values.get(f"alpha.{_key(file)}")
        rows.append(
            (
                _title(file),
                len(every),
                sum(row.is_conflict for row in every),
                sum(row.is_inserted for row in sheets.relevant(package, file)),
                len(known[file]) if file in known else None,
                alpha.value if alpha else None,
                alpha.low if alpha else None,
                alpha.high if alpha else None,
            )
        )
    columns = (
        Column("round", "Round"),
        Column("analysed", "Analysed", "count"),
        Column("conflicts", "Conflicts", "count"),
        Column("inserted", "Entered the taxonomy", "count"),
        Column("new", "New leaves", "count"),
        Column("alpha", "Alpha", "number"),
        Column("low", "95 % from", "number"),
        Column("high", "to", "number"),
    )
    note = (
        "Alpha: Krippendorff's, of the first two raters of each row who said something, on four "
        "classes. It needs a column for each of them."
    )
    table = Table("rounds", "Labelling rounds", columns, tuple(rows), note)
    return Also(tuple(values.values()), (table,))


def sizes(package: Package) -> dict[str, tuple[int, int]]:
    """Relevant and inserted artifacts of all rounds, of GitHub and of Stack Overflow."""
    rows = [row for file in ROUNDS for row in sheets.relevant(package, file)]
    both = {"github": _GITHUB, "stackoverflow": ("so",)}
    return {
        name: (
            sum(row.kind in kinds for row in rows),
            sum(row.kind in kinds and row.is_inserted for row in rows),
        )
        for name, kinds in both.items()
    }


def _key(file: str) -> str:
    return file.removesuffix(".xlsx").replace("_", "-")


def _title(file: str) -> str:
    return file.removesuffix(".xlsx").replace("_", " ").capitalize()
