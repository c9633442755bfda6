import numpy as np
from sklearn.preprocessing import StandardScaler

print(StandardScaler().fit_transform(np.array([["1"], ["2"]], dtype=float)))
