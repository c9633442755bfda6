"""Bugs in machine learning-based systems: the faultload benchmark defect4ML.

Most of its figures follow from other printed numbers; its public repository describes 70 of the
113 bugs, so that the counts of the paper cannot come from there.
"""

from __future__ import annotations

from collections import Counter

from faultatlas.analysis.replication.dl import rounds, sheets, taxonomy
from faultatlas.analysis.replication.figures import (
    Also,
    Found,
    PrintedOnly,
    PublishedStudy,
    Recomputed,
    Unavailable,
    Value,
    Wanted,
)
from faultatlas.analysis.replication.package import Package
from faultatlas.data import evidence
from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.data.taxonomy import folded

FILE = "bugs.csv"
_COLUMNS = ("bug", "python", "source", "framework")
_SOURCES = {"github": "GitHub", "stackoverflow": "Stack Overflow"}

_CITED = tuple(f"dl-faults:{name}" for name in (*sheets.ROUNDS, sheets.CODING))
_PRINTED = (
    "K057", "K058", "K059", "K060", "K061", "K062", "K063", "K064", "K065", "K066", "K067", "K070",
)  # fmt: skip


def _cited_data_set(package: Package) -> Found:
    """The size that is cited: by the rows of dl-faults, if they are there, else by its counts."""
    cited = package.other("dl-faults")
    if not package.missing(_CITED):
        both = rounds.sizes(cited)
        types = sum(map(len, taxonomy.leaves(cited)))
        inserted = " / ".join(str(entered) for _relevant, entered in both.values())
        return Found(
            (
                *(Value(name, relevant, "artifacts") for name, (relevant, _in) in both.items()),
                Value("types", types, "leaves"),
            ),
            note="relevant rows of the rounds of dl-faults, and leaves of its taxonomy",
            readings=f"artifacts that entered the taxonomy {inserted}",
        )
    leaves = evidence.occurrences().values()
    return Found(
        (
            Value("github", sum(each.github for each in leaves), "artifacts"),
            Value("stackoverflow", sum(each.stackoverflow for each in leaves), "artifacts"),
            Value("types", len(leaves), "leaves"),
        ),
        note="artifacts that entered the taxonomy of dl-faults, and its leaves",
    )


def _public_bugs(package: Package) -> Also:
    """The bugs of the public repository by source and framework."""
    if not package.names(FILE):
        return Also()
    rows = package.records(FILE, _COLUMNS)
    counts = Counter((folded(row["source"]), folded(row["framework"])) for row in rows)
    frameworks = sorted({framework for _source, framework in counts})
    columns = (
        Column("source", "Source"),
        *(Column(each, each, "count") for each in frameworks),
        Column("all", "All", "count"),
    )
    sources = sorted({source for source, _framework in counts})
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (
            _SOURCES.get(source, source),
            *(counts[source, each] for each in frameworks),
            sum(counts[source, each] for each in frameworks),
        )
        for source in sources
    )
    total = len(rows)
    by_source = Counter(folded(row["source"]) for row in rows)
    values = tuple(
        Value(
            f"public-bugs.{name}",
            by_source[name],
            "bugs",
            by_source[name],
            total,
            files=(FILE,),
            rows=f"lower(cells[3]) = '{name}'",
            statement=f"Bugs from {title} that the public repository describes",
        )
        for name, title in _SOURCES.items()
    )
    note = (
        f"The repository describes {total} bugs; the paper counts 113 (75 and 38), so that its "
        "counts are checked against its own tables."
    )
    table = Table("public-bugs", "Bugs of the public repository", columns, lines, note)
    return Also(values, (table,))


STUDY = PublishedStudy(
    name="defect4ml",
    title="Bugs in machine learning-based systems: a faultload benchmark",
    source="defect4ml",
    files=(Wanted(FILE, (FILE,), "the metadata of the bugs in the public repository"),),
    figures=(
        *map(PrintedOnly, _PRINTED),
        Recomputed("K068", (), _cited_data_set, basis="shipped facts", rather=_CITED),
        Unavailable("K069", "the data set of Islam et al. is not part of this package"),
    ),
    also=_public_bugs,
)
