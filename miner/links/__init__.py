"""Links between artifacts: what texts and trackers say, and texts that are nearly the same."""

THRESHOLD = 0.7  # how alike two texts are at least that are suggested as duplicates
