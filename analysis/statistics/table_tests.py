"""Whether rows and columns of a table of counts are independent, and which cells say otherwise.

Pearson's chi-square where the expected counts allow it, else Fisher's exact test (for larger
tables that of Freeman and Halton, from seeded tables with the same margins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from faultatlas.analysis.statistics.estimates import Test

Table = Sequence[Sequence[int]]

CHI_SQUARE = "Pearson's chi-square"
YATES = "Pearson's chi-square with Yates's correction"
FISHER = "Fisher's exact test"
FREEMAN_HALTON = "Fisher-Freeman-Halton test"
TABLES = 9_999  # simulated ones
_AT_ONCE = 2_000_000  # cells in memory
RULE = (
    "Chi-square where every expected count is at least 1 and at most a fifth of them are below 5 "
    "(in a table of two by two: none), else Fisher's exact test (Cochran 1954)."
)
SOURCES = (
    (
        "Cochran, W. G.: Some methods for strengthening the common chi-squared tests. Biometrics "
        "10 (1954), 417-451."
    ),
    (
        "Freeman, G. H., Halton, J. H.: Note on an exact treatment of contingency, goodness of fit "
        "and other problems of significance. Biometrika 38 (1951), 141-149."
    ),
    (
        "Haberman, S. J.: The analysis of residuals in cross-classified tables. Biometrics 29 "
        "(1973), 205-220."
    ),
    (
        "Holm, S.: A simple sequentially rejective multiple test procedure. Scandinavian Journal "
        "of Statistics 6 (1979), 65-70."
    ),
)


@dataclass(frozen=True)
class Expected:
    """What the expected counts allow."""

    smallest: float
    below_five: int
    cells: int
    enough: bool

    @property
    def told(self) -> str:
        """In words."""
        share = f"{self.below_five} of {self.cells} expected counts are below 5"
        return f"{share}, the smallest is {self.smallest:.2f}"


@dataclass(frozen=True)
class Independence:
    """The test that the expected counts ask for, and what they are."""

    test: Test
    expected: Expected


@dataclass(frozen=True)
class Residual:
    """A cell: how far it is from independence, in standard deviations, and its p-values."""

    row: int
    column: int
    expected: float
    residual: float | None
    p_value: float | None
    adjusted: float | None  # after Holm, over all cells that say something of their own


def without_empty(table: Table) -> list[list[int]]:
    """The table without rows and columns that are empty."""
    columns = [at for at, column in enumerate(zip(*table, strict=True)) if sum(column)]
    return [[row[at] for at in columns] for row in table if sum(row)]


def independence(table: Table, *, seed: int = 1) -> Independence | None:
    """Chi-square or Fisher by the expected counts; None without two rows and two columns."""
    counts = without_empty(table)
    if len(counts) < 2 or len(counts[0]) < 2:
        return None
    expected = expected_counts(counts)
    test = chi_square(counts) if expected.enough else fisher(counts, seed=seed)
    return Independence(test, expected)


def expected_counts(table: Table) -> Expected:
    """What the expected counts of a table without empty rows and columns allow."""
    from scipy.stats.contingency import expected_freq

    flat = expected_freq(table).ravel()
    below = int((flat < 5).sum())
    allowed = 0 if len(flat) == 4 else len(flat) / 5
    return Expected(float(flat.min()), below, len(flat), bool(flat.min() >= 1 and below <= allowed))


def chi_square(table: Table, *, yates: bool = False) -> Test:
    """Pearson's test of independence; Yates's correction (for two by two) only if asked for."""
    from scipy.stats import chi2_contingency

    found = chi2_contingency(table, correction=yates)
    n = sum(map(sum, table))
    name = YATES if yates and len(table) == len(table[0]) == 2 else CHI_SQUARE
    return Test(name, float(found.statistic), float(found.pvalue), n, float(found.dof))


def fisher(table: Table, *, seed: int = 1) -> Test:
    """Fisher's exact test of two by two; of a larger table from seeded tables."""
    from scipy.stats import fisher_exact

    n = sum(map(sum, table))
    if len(table) == len(table[0]) == 2:
        return Test(FISHER, None, float(fisher_exact(table).pvalue), n)
    return Test(
        FREEMAN_HALTON, None, _simulated(table, seed), n,
        detail=f"from {TABLES:,} tables with the same margins, seed {seed}",
    )  # fmt: skip


def residuals(table: Table) -> list[Residual]:
    """Adjusted standardised residuals of all cells (Haberman 1973), two-sided, with Holm."""
    import numpy as np
    from scipy.special import ndtr

    counts = np.asarray(table, dtype=float)
    n = counts.sum()
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / n
    spread = np.sqrt(expected * np.outer(1 - rows / n, 1 - columns / n))
    cells: list[tuple[int, int, float | None, float | None]] = []
    for (row, column), wide in np.ndenumerate(spread):
        if wide == 0:
            cells.append((row, column, None, None))
            continue
        residual = float((counts[row, column] - expected[row, column]) / wide)
        cells.append((row, column, residual, 2 * float(ndtr(-abs(residual)))))
    adjusted = _adjusted([p for _row, _column, _residual, p in cells], *counts.shape)
    return [
        Residual(row, column, float(expected[row, column]), residual, p, after)
        for (row, column, residual, p), after in zip(cells, adjusted, strict=True)
    ]


def _adjusted(p_values: list[float | None], rows: int, columns: int) -> list[float | None]:
    """After Holm. Of two columns, or rows, one only mirrors the other and is no test more."""
    from faultatlas.analysis.statistics.multiple_tests import holm

    places = [divmod(at, columns) for at in range(rows * columns)]
    own = [(0 if rows == 2 else row, 0 if columns == 2 else column) for row, column in places]
    tested = {place: p for place, p in zip(places, p_values, strict=True) if place in set(own)}
    after = dict(zip(tested, holm(list(tested.values())), strict=True))
    return [after[place] for place in own]


def _simulated(table: Table, seed: int) -> float:
    """How many tables with the same margins are as unlikely as this one, or more."""
    import numpy as np
    from scipy.special import gammaln
    from scipy.stats import random_table

    counts = np.asarray(table, dtype=np.int64)
    margins = random_table(counts.sum(axis=1), counts.sum(axis=0))
    generator = np.random.Generator(np.random.PCG64(seed))
    # With the margins fixed, the probability is one over the product of the cells' factorials.
    limit = float(gammaln(counts + 1).sum())
    most = max(1, _AT_ONCE // counts.size)
    as_unlikely = 0
    for start in range(0, TABLES, most):
        drawn = margins.rvs(min(most, TABLES - start), random_state=generator)
        as_unlikely += int((gammaln(drawn + 1).sum(axis=(1, 2)) >= limit - 1e-9).sum())
    return (as_unlikely + 1) / (TABLES + 1)
