"""The labelling page: what a rater sees of an artifact and its taxonomy, and what she answers."""
