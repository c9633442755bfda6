"""A loader that prepares batches in a thread while the model computes."""

import math
import queue
import threading

import numpy as np

BATCH = 32


def prepare(rows, ready):
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            ready.put(np.stack(batch))
            batch = []


rng = np.random.default_rng(1)
rows = rng.normal(size=(100, 4))
ready = queue.Queue(maxsize=2)
threading.Thread(target=prepare, args=(rows, ready), daemon=True).start()

total = np.zeros(4)
for number in range(math.ceil(len(rows) / BATCH)):
    total += ready.get().sum(axis=0)
    print(f"batch {number + 1}", flush=True)
print(f"mean: {total.mean() / len(rows):.4f}")
