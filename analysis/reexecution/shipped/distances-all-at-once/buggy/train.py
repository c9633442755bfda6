"""The nearest neighbour of every point."""

import numpy as np

POINTS, DIMENSIONS = 2000, 32

rng = np.random.default_rng(9)
points = rng.normal(size=(POINTS, DIMENSIONS))


def nearest(points):
    differences = points[:, None, :] - points[None, :, :]
    distances = np.sqrt((differences**2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1)


print(f"mean distance: {nearest(points).mean():.4f}")
