"""The mean number of errors of a batch."""

import numpy as np

errors = [int(each) for each in np.array([1, 2, 2])]
mean = sum(errors) / len(errors)
print("mean errors: %.4f" % mean)
