"""A network of two layers learns where two clouds of points lie."""

import numpy as np

UNITS, STEPS, RATE = 16, 500, 5.0

rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, size=(300, 2))
inside = (np.sign(points[:, 0]) == np.sign(points[:, 1])).astype(float)
train, test = slice(0, 200), slice(200, 300)

first, first_bias = np.zeros((2, UNITS)), np.zeros(UNITS)
second, second_bias = np.zeros(UNITS), 0.0


def forward(rows):
    hidden = np.tanh(rows @ first + first_bias)
    return hidden, 1 / (1 + np.exp(-(hidden @ second + second_bias)))


for _ in range(STEPS):
    hidden, output = forward(points[train])
    error = (output - inside[train]) / 200
    back = np.outer(error, second) * (1 - hidden**2)
    second -= RATE * hidden.T @ error
    second_bias -= RATE * error.sum()
    first -= RATE * points[train].T @ back
    first_bias -= RATE * back.sum(axis=0)

accuracy = np.mean((forward(points[test])[1] > 0.5) == inside[test])
print(f"test accuracy: {accuracy:.3f}")
