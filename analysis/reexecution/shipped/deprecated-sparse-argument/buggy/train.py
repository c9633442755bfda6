"""Prices of houses from their district and size."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import OneHotEncoder

districts = np.array([["north"], ["south"], ["harbour"], ["south"], ["north"], ["harbour"]])
sizes = np.array([[72.0], [55.0], [90.0], [61.0], [80.0], [101.0]])
prices = np.array([310.0, 180.0, 455.0, 205.0, 335.0, 490.0])

encoder = OneHotEncoder(sparse=False)
features = np.hstack([encoder.fit_transform(districts), sizes])
model = Ridge().fit(features, prices)
print(f"fit: {model.score(features, prices):.3f}")
