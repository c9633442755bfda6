"""The product of a matrix and its transpose."""

import numpy as np

table = np.arange(6).reshape(2, 3)
print("product:", (table @ table.T).shape)
