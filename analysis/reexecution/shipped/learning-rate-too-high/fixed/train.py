"""Linear regression by gradient descent."""

import numpy as np

RATE = 0.1
STEPS = 2000

rng = np.random.default_rng(5)
features = rng.normal(size=(200, 8))
targets = features @ rng.normal(size=8) + 0.1 * rng.normal(size=200)

weights = np.zeros(8)
for step in range(STEPS):
    error = features @ weights - targets
    weights = weights - RATE * features.T @ error / len(error)
    if step % 500 == 0:
        print(f"step {step}: loss {np.mean(error**2):.4g}")
print(f"final loss: {np.mean((features @ weights - targets) ** 2):.4g}")
