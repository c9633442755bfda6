"""The gap between the faults that practice meets and the faults that research targets."""
