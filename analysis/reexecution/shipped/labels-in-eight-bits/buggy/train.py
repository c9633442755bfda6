"""Brings the labels of a table into the form that the trainer loads."""

import csv
from pathlib import Path

import numpy as np

with Path("data/labels.csv").open(encoding="utf-8") as file:
    labels = np.array([int(row["label"]) for row in csv.DictReader(file)])

np.save("labels.npy", labels.astype(np.int8))
print(f"{len(labels)} labels stored")
