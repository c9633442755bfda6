"""An image classifier: pooling, then one linear layer."""

import numpy as np

SIDE = 28
POOL = 2
CLASSES = 10


def pool(images):
    """Every image at half its size: the mean of each square of four pixels."""
    half = SIDE // POOL
    return images.reshape(-1, half, POOL, half, POOL).mean(axis=(2, 4))


class Linear:
    def __init__(self, inputs, outputs, rng):
        self.weights = rng.normal(scale=0.1, size=(inputs, outputs))
        self.bias = np.zeros(outputs)

    def __call__(self, rows):
        return rows @ self.weights + self.bias


class Network:
    def __init__(self, rng):
        self.head = Linear((SIDE // POOL) ** 2, CLASSES, rng)

    def __call__(self, images):
        flat = pool(images).reshape(len(images), -1)
        return self.head(flat)
