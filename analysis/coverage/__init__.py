"""The gap between the faults that practice meets and the faults that research targets."""

SEED = 1  # of rank intervals; it stands here for the command line, which imports nothing heavy
