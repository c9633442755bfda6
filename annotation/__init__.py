"""Rounds, raters, labels and taxonomies."""
