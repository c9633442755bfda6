"""The mean error of predicted sequences of different lengths."""

import numpy as np

LENGTHS = np.array([2, 5, 3])
LONGEST = 5


def loss(predicted, targets):
    valid = np.arange(LONGEST) < LENGTHS[:, None]
    return np.sum(valid * (predicted - targets) ** 2) / valid.sum()


targets = np.zeros((3, LONGEST))
predicted = np.zeros((3, LONGEST))
for row, length in enumerate(LENGTHS):
    targets[row, :length] = 1.0
    predicted[row, :length] = 0.5  # wrong by a half, wherever there is something to predict
print(f"loss: {loss(predicted, targets):.4f}")
