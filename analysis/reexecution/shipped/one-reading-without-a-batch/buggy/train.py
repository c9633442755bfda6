"""Tells from three readings of a machine whether it will fail."""

import numpy as np
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(15)
readings = rng.normal(size=(80, 3))
failed = (readings.sum(axis=1) > 0).astype(int)
model = LogisticRegression().fit(readings, failed)

latest = np.array([0.2, 1.1, -0.4])
print("will fail:", model.predict(latest))
