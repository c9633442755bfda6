"""Exit code 1: the stored labels are not those of the table; 2: they cannot be compared."""

import csv
import sys
from pathlib import Path

import numpy as np

try:
    stored = np.load("labels.npy")
    with Path("data/labels.csv").open(encoding="utf-8") as file:
        given = np.array([int(row["label"]) for row in csv.DictReader(file)])
    differ = int((stored != given).sum())
except (OSError, ValueError) as error:
    print(f"cannot be compared: {error}")
    sys.exit(2)
print(f"{differ} of {len(given)} labels differ")
sys.exit(1 if differ else 0)
