"""A gradient by hand, and the numerical one beside it."""

import numpy as np


def loss(weights, features, targets):
    return np.mean((np.tanh(features @ weights) - targets) ** 2)


def gradient(weights, features, targets):
    output = np.tanh(features @ weights)
    return 2 * features.T @ (output - targets) / len(targets)


rng = np.random.default_rng(8)
features = rng.normal(size=(50, 5))
targets = rng.choice([-1.0, 1.0], size=50)
weights = rng.normal(size=5)

step = 1e-6
numerical = np.array(
    [
        (loss(weights + e, features, targets) - loss(weights - e, features, targets)) / (2 * step)
        for e in step * np.eye(5)
    ]
)
print(f"largest difference: {np.abs(gradient(weights, features, targets) - numerical).max():.2e}")
