"""Standard scores of a batch, one column at a time."""

import numpy as np

rng = np.random.default_rng(16)
batch = rng.normal(size=(40, 6))
means = batch.mean(axis=0)
spread = batch.std(axis=0)
scores = (batch - means) / deviations
print(f"largest score: {np.abs(scores).max():.3f}")
