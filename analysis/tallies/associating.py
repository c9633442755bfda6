"""Two things counted against each other: test, effect sizes, and which cells stand out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from faultatlas.analysis.statistics import effect_sizes, tables
from faultatlas.analysis.statistics.estimates import Estimate
from faultatlas.analysis.statistics.shares import wilson_share
from faultatlas.analysis.tallies import printed as printed_numbers
from faultatlas.analysis.tallies import words
from faultatlas.analysis.tallies.homogeneity import Association, associated
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim

ANALYSIS = "associate"
SEED = 1
_NAMED = 4  # groups in a title
PRINTABLE = ("p", "chi2", "v", "odds-ratio", "risk-ratio", "difference")
SOURCES = tables.SOURCES

RowsQuery = Callable[[str | None, str | None], str]


@dataclass(frozen=True)
class Question:
    """A table of counts with its names, and what is asked of it."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    row_title: str
    column_title: str
    name: str
    parameters: dict[str, Any]
    printed: tuple[printed_numbers.Printed, ...] = ()
    rows_query: RowsQuery | None = None
    row_titles: Mapping[str, str] = field(default_factory=dict)
    column_titles: Mapping[str, str] = field(default_factory=dict)
    of_groups: bool = False  # of which one count is of interest, with the rest beside it

    @property
    def title(self) -> str:
        """What is associated; groups with their counts."""
        if not self.of_groups or len(self.rows) > _NAMED:
            return f"{self.row_title} and {self.column_title}"
        *first, last = self.rows
        counts = " against ".join(f"{row[0]}/{sum(row)}" for row in self.counts)
        return f"{', '.join(first)} and {last}: {counts}"

    @property
    def row_names(self) -> tuple[str, ...]:
        """The rows as a reader sees them: a code with its name."""
        return tuple(self.row_titles.get(each, each) for each in self.rows)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns as a reader sees them."""
        return tuple(self.column_titles.get(each, each) for each in self.columns)

    @cached_property
    def found(self) -> Association:
        """Test and effect; one row or one column is refused."""
        found = associated(self.counts, SEED)
        if found is None:
            filled = [name for name, row in zip(self.rows, self.counts, strict=True) if sum(row)]
            raise StudyError(
                f"there is nothing to associate: {len(filled)} of {self.row_title} and "
                f"{sum(map(bool, map(sum, zip(*self.counts, strict=True))))} of "
                f"{self.column_title} occur",
                "Both sides need two values that occur.",
            )
        return found

    @property
    def chi2(self) -> float | None:
        """The statistic of the chi-square test; none where Fisher's was made."""
        test = self.found.test
        return test.statistic if test.name == tables.CHI_SQUARE else None

    @property
    def is_two_by_two(self) -> bool:
        """Whether there are odds and shares to compare."""
        return len(self.found.counts) == len(self.found.counts[0]) == 2

    @cached_property
    def two_by_two(self) -> dict[str, tuple[str, Estimate, str]]:
        """By key the effects of two by two: title, estimate, scale."""
        if not self.is_two_by_two:
            return {}
        return {
            key: (size.title, size.estimate(self.found.counts), size.scale)
            for key, size in effect_sizes("two-by-two").items()
        }

    @cached_property
    def beside(self) -> tuple[printed_numbers.Beside, ...]:
        """The printed numbers beside ours."""
        ours: dict[str, float | None] = dict.fromkeys(PRINTABLE)
        ours |= {"p": self.found.test.p_value, "chi2": self.chi2, "v": self.found.v.value}
        ours |= {name: each.value for name, (_title, each, _scale) in self.two_by_two.items()}
        return printed_numbers.compare(self.printed, ours)


def summary(of: Question) -> tuple[str, ...]:
    """What was found, in sentences."""
    told = [f"{of.found.summary.removesuffix('.')}{_differing(of)}."]
    if of.is_two_by_two:
        title, ratio, scale = of.two_by_two["odds-ratio"]
        _title, difference, _scale = of.two_by_two["difference"]
        told.append(
            f"{words.estimate_text(title, ratio, scale)}; "
            f"{words.estimate_text('difference of shares', difference)} percentage points."
        )
    standing = [each for each in residuals(of) if words.is_below(each.adjusted, 0.05)]
    told.append(
        f"{len(standing)} of {len(of.rows) * len(of.columns)} cells differ from independence "
        "(adjusted residuals, 0.05 after Holm)."
    )
    return (*told, *map(printed_numbers.sentence, of.beside))


def _differing(of: Question) -> str:
    """The printed numbers that do not come out: they belong into the first sentence."""
    apart = [each.printed for each in of.beside if each.status == "not reproduced"]
    told = ", ".join(f"{each.key} of {each.text}" for each in apart)
    return f"; not reproduced: the printed {told}" if apart else ""


def claims(of: Question) -> tuple[Claim, ...]:
    """Test, effect sizes, and the share of every row in the first column."""
    query = called(ANALYSIS, of.parameters)
    rows = of.rows_query(None, None) if of.rows_query else None
    beside = {each.printed.key: each for each in of.beside}

    def beside_ours(name: str) -> dict[str, Any]:
        if name not in beside:
            return {}
        found = beside[name]
        return {
            "printed": found.printed.value,
            "status": found.status,
            "reason": found.reason,
        }

    what = of.title
    test, v = of.found.test, of.found.v
    event, one, other = of.column_names[0], of.row_names[0], of.row_names[-1]
    ways = {
        "odds-ratio": f"Odds of {event} in {one} by those in {other}",
        "risk-ratio": f"Share of {event} in {one} by that in {other}",
        "difference": f"Share of {event} in {one} less that in {other}",
    }
    found = [
        Claim(f"{of.name}.p", f"p-value of {what} ({test.name})",
              max(test.p_value or 0.0, words.LEAST_P), "p",
              f"{query}: test.p", method=test.detail or test.name, rows_query=rows,
              total=test.n, **beside_ours("p")),
        Claim(f"{of.name}.v", f"Cramer's V of {what}", v.value, "", f"{query}: test.v.value",
              low=v.low, high=v.high, method=v.method, total=v.n, rows_query=rows,
              **beside_ours("v")),
    ]  # fmt: skip
    if of.chi2 is not None:
        found.append(
            Claim(f"{of.name}.chi2", f"Chi-square of {what}", of.chi2, "",
                  f"{query}: test.statistic", method=test.detail or test.name, rows_query=rows,
                  total=test.n, **beside_ours("chi2"))
        )  # fmt: skip
    for name, (_title, each, _scale) in of.two_by_two.items():
        if each.value is None:
            continue
        found.append(
            Claim(f"{of.name}.{name}", ways[name], each.value,
                  "percentage points" if name == "difference" else "",
                  f"{query}: effects.{name}.value", low=each.low, high=each.high,
                  method=each.method, total=each.n, rows_query=rows, **beside_ours(name))
        )  # fmt: skip
    for name, told, row in zip(of.rows, of.row_names, of.counts, strict=True):
        share = wilson_share(row[0], sum(row))
        found.append(
            Claim(f"{of.name}.rows.{key(name)}", f"Share of {event} in {told}",
                  share.percent, "percent", f"{query}: rows.{key(name)}.percent",
                  count=share.count, total=share.total, low=share.low, high=share.high,
                  method=share.method,
                  rows_query=of.rows_query(name, of.columns[0]) if of.rows_query else None)
        )  # fmt: skip
    return tuple(found)


def document(of: Question) -> dict[str, Any]:
    """All of it as plain values."""
    shares = {
        key(name): {
            "name": name,
            "counts": dict(zip(of.columns, row, strict=True)),
            "percent": wilson_share(row[0], sum(row)).percent,
        }
        for name, row in zip(of.rows, of.counts, strict=True)
    }
    return {
        "n": sum(map(sum, of.counts)),
        "test": of.found.document(),
        "effects": {
            name: words.estimate_document(each, scale)
            for name, (_title, each, scale) in of.two_by_two.items()
        },
        "rows": shares,
        "printed": [
            {
                "measure": each.printed.key,
                "printed": each.printed.value,
                "ours": each.ours,
                "status": each.status,
                "reason": each.reason,
            }
            for each in of.beside
        ],
    }


def notes(of: Question, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Assumptions, and what was counted."""
    scales = [words.scale_note("odds-ratio")] if of.is_two_by_two else []
    return (*more, *of.found.assumptions, *scales, *([printed_numbers.RULE] if of.printed else []))


def residuals(of: Question) -> list[tables.Residual]:
    """Of every cell how far it is from independence."""
    return tables.residuals(of.counts)
