"""Taxonomies: looking at them, checking them, changing them."""
