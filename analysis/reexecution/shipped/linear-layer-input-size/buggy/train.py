import numpy as np

from network import SIDE, Network

rng = np.random.default_rng(7)
images = rng.random((64, SIDE, SIDE))
scores = Network(rng)(images)
print("scores:", scores.shape)
