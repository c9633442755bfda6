"""Which feature a linear model relies on, for the people it decides about."""

import json
from pathlib import Path

import numpy as np

NAMES = ["age", "income", "rooms", "distance"]

rng = np.random.default_rng(12)
features = rng.normal(size=(300, 4))
wishes = features @ np.array([0.3, 2.0, -0.1, -0.8]) + 0.1 * rng.normal(size=300)
weights, *_ = np.linalg.lstsq(features, wishes, rcond=None)

order = np.argsort(weights)
explanation = {"most important": NAMES[order[0]], "least important": NAMES[order[-1]]}
Path("explanation.json").write_text(json.dumps(explanation), encoding="utf-8")
print("explanation written")
