"""The mean of a column that was read as text."""

import csv
import io

import numpy as np

TABLE = "age,score\n31,0.5\n42,0.75\n27,0.25\n"

scores = np.array([row["score"] for row in csv.DictReader(io.StringIO(TABLE))])
print("mean score:", np.mean(scores))
