"""A curve through a few measured points."""

import numpy as np

DEGREE = 15

rng = np.random.default_rng(14)


def measure(count):
    where = np.sort(rng.uniform(-1, 1, size=count))
    return where, np.sin(3 * where) + 0.2 * rng.normal(size=count)


train_x, train_y = measure(18)
test_x, test_y = measure(200)
curve = np.polynomial.Polynomial.fit(train_x, train_y, DEGREE, domain=[-1, 1])
for name, x, y in [("training", train_x, train_y), ("test", test_x, test_y)]:
    print(f"{name} error: {np.sqrt(np.mean((curve(x) - y) ** 2)):.4f}")
