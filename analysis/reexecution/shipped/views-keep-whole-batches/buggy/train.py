"""Looks up the vectors of batches of words, and keeps one coordinate of each for a chart."""

import numpy as np

WORDS, WIDTH = 1000, 500
BATCHES, ROWS = 50, 200

rng = np.random.default_rng(4)
table = rng.random((WORDS, WIDTH))
first = []
for _ in range(BATCHES):
    vectors = table[rng.integers(0, WORDS, size=ROWS)]
    first.append(vectors[:, 0])

print(f"points of the chart: {np.concatenate(first).size}")
