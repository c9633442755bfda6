"""Trains for some epochs, keeps a checkpoint of each, and goes on from the last one."""

from pathlib import Path

import numpy as np

EPOCHS = 5
FOLDER = Path("checkpoints")


def name(epoch):
    return FOLDER / f"weights-{epoch:02d}.npy"


FOLDER.mkdir(exist_ok=True)
rng = np.random.default_rng(3)
weights = rng.normal(size=4)
for epoch in range(1, EPOCHS + 1):
    weights = 0.9 * weights
    np.save(name(epoch), weights)

restored = np.load(name(EPOCHS))
print(f"restored: {np.abs(restored).sum():.4f}")
