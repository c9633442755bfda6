"""The nearest neighbour of every point."""

import numpy as np

POINTS, DIMENSIONS = 2000, 32

rng = np.random.default_rng(9)
points = rng.normal(size=(POINTS, DIMENSIONS))


BLOCK = 50


def nearest(points):
    squares = (points**2).sum(axis=1)
    found = np.empty(len(points))
    for start in range(0, len(points), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(points)))
        distances = squares[rows, None] + squares - 2 * points[rows] @ points.T
        distances[np.arange(len(rows)), rows] = np.inf
        found[rows] = np.sqrt(distances.min(axis=1))
    return found


print(f"mean distance: {nearest(points).mean():.4f}")
