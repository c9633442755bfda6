"""Who gets a loan: the share of good customers that each group's members are granted."""

import numpy as np

SHIFT = -2.5  # the agency scores one group lower, for the same customers

rng = np.random.default_rng(10)


def people(count, shift):
    good = rng.integers(0, 2, size=count)
    scores = rng.normal(size=(count, 2)) + 2.0 * good[:, None] + shift
    return scores, good


def with_one(features):
    return np.hstack([features, np.ones((len(features), 1))])


def fitted(features, good):
    """Logistic regression by Newton's method; weights are kept small."""
    inputs = with_one(features)
    penalty = np.diag([1.0, 1.0, 1.0, 0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(20):
        chances = 1.0 / (1.0 + np.exp(-inputs @ weights))
        slope = inputs.T @ (chances - good) + penalty @ weights
        bend = (inputs.T * (chances * (1.0 - chances))) @ inputs + penalty
        weights -= np.linalg.solve(bend, slope)
    return weights


def granted(weights, features, good):
    return (with_one(features) @ weights > 0)[good == 1].mean()


many, many_good = people(2000, 0.0)
few, few_good = people(5, SHIFT)
features = np.vstack([many, few])
group = np.repeat([0.0, 1.0], [len(many), len(few)])[:, None]
weights = fitted(np.hstack([features, group]), np.concatenate([many_good, few_good]))
shares = []
for number, shift in enumerate([0.0, SHIFT]):
    scores, good = people(2000, shift)
    with_group = np.hstack([scores, np.full((len(scores), 1), float(number))])
    shares.append(granted(weights, with_group, good))
print(f"gap between the groups: {abs(shares[0] - shares[1]):.3f}")
