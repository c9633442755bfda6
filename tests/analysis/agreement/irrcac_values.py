"""Values of irrCAC, recorded in irrcac_values.json beside this file. Not a test.

irrCAC needs an older pandas than ours, so it runs in an environment of its own:

    uv venv /tmp/irr --python 3.11
    uv pip install --python /tmp/irr/bin/python irrCAC==0.4.2 "pandas<2" "numpy<2"
    /tmp/irr/bin/python tests/analysis/agreement/irrcac_values.py

It makes data sets with missing ratings from seeds, measures them, and writes both.
"""

from __future__ import annotations

import importlib.metadata
import json
import random
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from irrCAC.datasets import raw_4raters
from irrCAC.raw import CAC

Rows = list[list[int | None]]

PLACE = Path(__file__).with_name("irrcac_values.json")
COEFFICIENTS = ("fleiss", "gwet", "krippendorff")
PLANS = (  # items, raters, categories, how often a rater is right, how often a rating is missing
    (20, 2, 2, 0.8, 0.0),
    (20, 3, 2, 0.5, 0.2),
    (25, 4, 3, 0.7, 0.3),
    (30, 3, 5, 0.9, 0.1),
    (40, 6, 4, 0.6, 0.5),
    (60, 5, 7, 0.75, 0.25),
    (60, 4, 3, 0.2, 0.4),
    (100, 6, 8, 0.85, 0.0),
)
# A tree: the first two categories in one branch, the next two in another, the rest alone.
BRANCHES = (0, 0, 1, 1, 2, 3, 4, 5)


def generated(seed: int, plan: tuple[int, int, int, float, float]) -> Rows:
    """Ratings from 1 on, None where one is missing; every category is used."""
    items, raters, categories, right, missing = plan
    chance = random.Random(seed)  # noqa: S311  (made-up ratings)
    rows: Rows = []
    for item in range(items):
        truth = item % categories + 1 if item < categories else chance.randint(1, categories)
        row: list[int | None] = []
        for rater in range(raters):
            given = truth if chance.random() < right else chance.randint(1, categories)
            gone = chance.random() < missing and not (item < categories and rater == 0)
            row.append(None if gone else truth if item < categories and rater == 0 else given)
        rows.append(row)
    return rows


def published() -> Rows:
    """Four raters, twelve units, five categories: the example of Gwet's handbook."""
    table = raw_4raters()
    return [
        [None if pd.isna(value) else int(value) for value in row]
        for row in table.to_numpy().tolist()
    ]


def tree_weights(categories: int) -> list[list[float]]:
    """Agreement weights: 1 for the same, 1/2 inside a branch."""
    return [
        [
            1.0 if one == other else 0.5 if BRANCHES[one] == BRANCHES[other] else 0.0
            for other in range(categories)
        ]
        for one in range(categories)
    ]


def measured(rows: Rows) -> dict[str, Any]:
    """Every coefficient with every weight: value and interval, with the digits irrCAC gives."""
    table = pd.DataFrame(rows, dtype=float)
    categories = max(value for row in rows for value in row if value is not None)
    weights: dict[str, Any] = {
        "nominal": "identity",
        "linear": "linear",
        "quadratic": "quadratic",
        "tree": tree_weights(categories),
    }
    found: dict[str, Any] = {}
    for name, given in weights.items():
        for coefficient in COEFFICIENTS:
            est = getattr(CAC(table.copy(), weights=given), coefficient)()["est"]
            low, high = est["confidence_interval"]
            found.setdefault(name, {})[coefficient] = {
                "value": float(est["coefficient_value"]),
                "low": float(low),
                "high": float(high),
                "agreement": float(est["pa"]),
            }
    return found


def main() -> None:
    """Write the file."""
    warnings.simplefilter("ignore")
    sets = {"gwet-4-raters": published()}
    for seed, plan in enumerate(PLANS):
        sets[f"seed-{seed}"] = generated(seed, plan)
    document = {
        "made_by": Path(__file__).name,
        "versions": {
            name: importlib.metadata.version(name) for name in ("irrCAC", "numpy", "pandas")
        },
        "sets": {name: {"rows": rows, "values": measured(rows)} for name, rows in sets.items()},
    }
    PLACE.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(sets)} sets in {PLACE.name}")  # noqa: T201  (a script)


if __name__ == "__main__":
    main()
