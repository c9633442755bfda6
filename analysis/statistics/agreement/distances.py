"""Distances between categories as matrices: 0 for the same category, 1 for the farthest.

A coefficient uses a distance as it is and never squares it. Krippendorff writes the same quantity
as a squared difference, and agreement weights are one minus it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Distances: TypeAlias = NDArray[np.float64]
Path = Sequence[Hashable]  # from the top of a tree to a category, the category included
Category = TypeVar("Category")


def nominal(k: int) -> Distances:
    """Any two categories are as far apart as any other two."""
    return 1.0 - np.eye(k)


def linear(k: int) -> Distances:
    """Categories in order: the steps between two by those of the whole scale."""
    steps = np.arange(k, dtype=np.float64)
    return np.abs(steps[:, None] - steps) / max(k - 1, 1)


def quadratic(k: int) -> Distances:
    """Categories in order: the square of the linear distance (Fleiss and Cohen 1973)."""
    return linear(k) ** 2


def tree_distances(paths: Sequence[Path]) -> Distances:
    """Categories in a tree: 1 - 2 * depth of the deepest common ancestor / both depths together.

    One minus the similarity of Wu and Palmer (1994). Different branches are at distance 1, as are
    categories outside the tree; in a tree of two levels, two codes of one branch are at 0.5.
    """

    def distance(one: Path, other: Path) -> float:
        common = 0
        for here, there in zip(one, other, strict=False):
            if here != there:
                break
            common += 1
        return 1.0 - 2.0 * common / max(len(one) + len(other), 1)

    return _between([tuple(path) for path in paths], distance)


def jaccard(sets: Sequence[AbstractSet[Hashable]]) -> Distances:
    """Sets of codes: one minus the share of common codes (Jaccard 1912)."""
    return _between(sets, lambda one, other: 1.0 - len(one & other) / max(len(one | other), 1))


def masi(sets: Sequence[AbstractSet[Hashable]]) -> Distances:
    """Sets of codes: one minus Jaccard's share times a factor (Passonneau 2006).

    The factor is 2/3 where one set contains the other, 1/3 where they overlap, 0 where they do not.
    """

    def distance(one: AbstractSet[Hashable], other: AbstractSet[Hashable]) -> float:
        common = len(one & other)
        if not common:
            return 1.0
        factor = 2 / 3 if one <= other or other <= one else 1 / 3
        return 1.0 - factor * common / len(one | other)

    return _between(sets, distance)


def checked(distances: Distances | None, k: int) -> Distances:
    """The distances of `k` categories, or an error if they cannot be; nominal by default."""
    if distances is None:
        return nominal(k)
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.shape != (k, k):
        raise ValueError(f"{k} categories need {k} by {k} distances, not {matrix.shape}")
    if not ((matrix >= 0) & (matrix <= 1)).all():  # a comparison with NaN is false
        raise ValueError("a distance lies between 0 and 1")
    if np.diagonal(matrix).any() or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-12):
        raise ValueError("distances are symmetric, and a category is at 0 from itself")
    return matrix


def _between(
    categories: Sequence[Category], distance: Callable[[Category, Category], float]
) -> Distances:
    matrix = np.zeros((len(categories), len(categories)))
    for row, one in enumerate(categories):
        for column, other in enumerate(categories[:row]):
            if one != other:
                matrix[row, column] = matrix[column, row] = distance(one, other)
    return matrix
